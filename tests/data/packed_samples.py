"""Graphs of many shapes with features, as planegraph graphs and as PyG data whose columns stand in any order."""

from __future__ import annotations

from typing import Any

import numpy as np

import planegraph as pg
from planegraph.graphs import families as f


def shapes() -> list[pg.Graph]:
    """Empty, single, isolated, edgeless, disconnected, trees, cycles, bonds, rigid, nested."""
    return [
        pg.Graph(0, []),
        pg.Graph(1, []),
        pg.Graph(3, []),
        f.path(2),
        f.path(7),
        f.star(5),
        f.cycle(6),
        f.k2n(4),
        f.wheel(5),
        f.prism(4),
        f.nested_k4(3),
        f.cactus(15, seed=1),
        f.caterpillar(4, 3),
        f.random_planar(20, seed=2),
        f.random_tree(30, seed=3),
        f.disjoint_union(f.cycle(3), pg.Graph(2, []), f.path(4), f.wheel(4)),
    ]


def with_labels(graph: pg.Graph, seed: int, by_dart: bool = False) -> pg.Graph:
    rng = np.random.default_rng(seed)
    n, m = graph.num_nodes, graph.num_edges
    nodes = rng.integers(0, 3, (n, 2))
    if by_dart:
        return pg.Graph(n, graph.edges, nodes, dart_labels=rng.integers(0, 2, (m, 2, 1)))
    return pg.Graph(n, graph.edges, nodes, rng.integers(0, 2, (m, 1)))


def as_pyg(graph: pg.Graph, seed: int = 0, features: bool = True, floats: bool = False, **more: Any) -> Any:
    """PyG data with both directions of every edge, in a random order."""
    import torch
    from torch_geometric.data import Data

    m = graph.num_edges
    both = np.concatenate([graph.edges, graph.edges[:, ::-1]])
    order = np.random.default_rng(seed).permutation(2 * m)
    data = Data(edge_index=torch.from_numpy(both[order].T.copy()), num_nodes=graph.num_nodes, **more)
    if not features:
        return data
    nodes = np.zeros((graph.num_nodes, 2), np.int64) if graph.node_labels is None else graph.node_labels
    if graph.dart_labels is not None:
        rows = np.concatenate([graph.dart_labels[:, 0], graph.dart_labels[:, 1]])
    else:
        rows = np.zeros((2 * m, 1), np.int64) if graph.edge_labels is None else np.concatenate([graph.edge_labels] * 2)
    x, edge_attr = torch.tensor(nodes), torch.tensor(rows[order])
    data.x, data.edge_attr = (x.float(), edge_attr.float()) if floats else (x, edge_attr)
    return data


def samples(by_dart: bool = False, floats: bool = False) -> list[Any]:
    """PyG data of all shapes, with features and a target each."""
    import torch

    return [as_pyg(with_labels(g, i, by_dart), i, floats=floats, y=torch.tensor([[float(i), 1.0]])) for i, g in enumerate(shapes())]
