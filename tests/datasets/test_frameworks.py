"""Frameworks against networkx's cores and RDKit's scaffolds, and MolHIV's folds."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import planegraph as pg
from planegraph.datasets.frameworks import framework_codes


def core_of(g: pg.Graph) -> pg.Graph:
    """The framework by networkx."""
    kept = nx.k_core(nx.Graph(list(map(tuple, g.edges.tolist()))), 2)
    nodes = sorted(kept)
    number = {node: k for k, node in enumerate(nodes)}
    edges = [k for k, (a, b) in enumerate(g.edges.tolist()) if kept.has_edge(a, b)]
    node_labels = g.node_labels[nodes] if nodes else None
    edge_labels = g.edge_labels[edges] if edges else None
    return pg.Graph(len(nodes), [[number[v] for v in g.edges[k].tolist()] for k in edges], node_labels, edge_labels)


def test_against_networkx():
    rng = np.random.default_rng(0)
    graphs = []
    for seed in range(300):
        g = pg.families.random_planar(int(rng.integers(3, 40)), float(rng.uniform(0, 0.6)), seed=seed)
        graphs.append(pg.Graph(g.num_nodes, g.edges, rng.integers(0, 2, g.num_nodes), rng.integers(0, 2, g.num_edges)))
    for g, code in zip(graphs, framework_codes(pg.GraphBatch.from_graphs(graphs)), strict=True):
        assert code == pg.canonical_form(core_of(g)).code, g.to_graph6()


def test_molecules_with_one_scaffold_have_one_framework():
    pytest.importorskip("rdkit")
    from planegraph.tasks.splits import scaffolds

    smiles = [
        "Cc1ccccc1",
        "OCCc1ccccc1Cl",
        "C1CCCCC1",
        "CC1CCCCC1=O",
        "CCO",
        "CCCC",
        "c1ccc(cc1)CCc1ccccc1",
        "Cc1ccc(cc1)CCc1ccccc1F",
    ]
    molecules = pg.GraphBatch.from_graphs([pg.Graph.from_smiles(text) for text in smiles])
    bonds = None if molecules.edge_labels is None else molecules.edge_labels[:, :1]
    plain = pg.GraphBatch(molecules.node_ptr, molecules.edge_ptr, molecules.edges, molecules.node_labels[:, :1], bonds)
    codes, by_rdkit = framework_codes(plain), scaffolds(smiles)
    for i in range(len(smiles)):
        for j in range(i):
            if by_rdkit[i] == by_rdkit[j]:
                assert codes[i] == codes[j], (smiles[i], smiles[j])
    assert len(set(codes)) == 4  # benzene, cyclohexane (its ketone, too), none, two benzenes


def test_graphs_without_nodes_or_rings():
    codes = framework_codes(pg.GraphBatch.from_graphs([pg.Graph(0, []), pg.Graph(3, []), pg.families.path(40)]))
    assert len(set(codes)) == 1
