"""Parts along cut nodes and components, against networkx's blocks."""

from __future__ import annotations

import time

import networkx as nx
import numpy as np
import pytest

import planegraph as pg
from planegraph import InvalidGraphError, PlanegraphWarning


def maps() -> list[pg.Graph]:
    found = [pg.families.cactus(60, seed=s) for s in range(4)] + [pg.families.random_tree(50, seed=s) for s in range(4)]
    found += [pg.families.random_planar(60, density, seed=s) for s in range(4) for density in (0.2, 0.35, 0.5)]
    found += [pg.Graph(5, []), pg.Graph(1, []), pg.Graph(0, []), pg.families.path(2)]
    return [pg.families.shuffled(g, seed=s) for s, g in enumerate(found)]


def labelled(g: pg.Graph) -> pg.Graph:
    rows, m = np.arange(g.num_nodes), g.num_edges
    return pg.Graph(g.num_nodes, g.edges, node_labels=rows, edge_labels=100 + np.arange(m), names=[f"n{v}" for v in rows])


@pytest.mark.filterwarnings("ignore:.*stay whole")
@pytest.mark.parametrize("most", [1, 4, 13, 1000])
def test_parts_are_blocks(most):
    """Every block is in one part, every edge once, every node is owned once; parts are full or hold a single block."""
    for g in map(labelled, maps()):
        parts, text = pg.block_parts(g, most), g.to_graph6()
        whole = nx.Graph(g.edges.tolist())
        blocks = [frozenset(map(frozenset, block)) for block in nx.biconnected_component_edges(whole)]
        edges = [{frozenset(e) for e in p.nodes[p.graph.edges].tolist()} for p in parts]
        assert sorted(np.concatenate([p.nodes[p.owned] for p in parts] or [[]])) == list(range(g.num_nodes)), text
        assert sum(map(len, edges)) == g.num_edges, text
        for block in blocks:
            assert sum(block <= own for own in edges) == 1, text
        for p, own in zip(parts, edges, strict=True):
            assert len(p.nodes) <= most or sum(block <= own for block in blocks) == 1, text
            assert np.array_equal(p.graph.node_labels[:, 0], p.nodes), text
            assert p.graph.names is None or p.graph.names.tolist() == [f"n{v}" for v in p.nodes], text
            if p.graph.num_edges:
                assert np.array_equal(p.nodes[p.graph.edges], g.edges[p.graph.edge_labels[:, 0] - 100]), text


def test_large_blocks_stay_whole():
    two = pg.Graph(11, [*pg.families.cycle(8).edges.tolist(), (0, 8), (8, 9), (9, 10)])
    with pytest.warns(PlanegraphWarning, match="1 block of more than 4 nodes stay whole, the largest with 8"):
        sizes = sorted(len(p.nodes) for p in pg.block_parts(two, 4))
    assert sizes == [2, 3, 8]
    with pytest.raises(InvalidGraphError, match="most must be a number of nodes, at least 1; found 0"):
        pg.block_parts(two, 0)


@pytest.mark.parametrize("make", [pg.families.path, pg.families.random_tree, pg.families.star])
def test_deep_trees(make):
    """10^5 blocks above each other, or beside each other, in seconds."""
    g = make(100_000)
    begun = time.process_time()
    parts = pg.block_parts(g, 10_000)
    assert time.process_time() - begun < 5
    assert max(len(p.nodes) for p in parts) <= 10_000
    assert sum(p.owned.sum() for p in parts) == g.num_nodes
