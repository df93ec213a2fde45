"""examples/nodes.py on tiny maps: its targets against networkx, and that message passing cannot learn the first of them."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from test_demo import load

import planegraph as pg
from planegraph.nn import GIN


@pytest.fixture(scope="module")
def example():
    return load("nodes")


def test_block_map(example):
    graph, sizes = example.block_map(900, seed=3)
    network = nx.Graph(graph.edges.tolist())
    assert nx.is_connected(network)
    assert pg.is_planar(graph)
    assert set(dict(network.degree()).values()) == {3}
    found = np.zeros(graph.num_nodes, int)
    for block in nx.biconnected_components(network):
        found[list(block)] = np.maximum(found[list(block)], len(block))
    assert np.array_equal(found, sizes)
    assert 900 <= graph.num_nodes < 1100


def test_cut_off(example):
    streets = example.street_map(14, seed=1)
    network = nx.Graph([(u, v, {"length": w}) for (u, v), w in zip(streets.edges.tolist(), streets.edge_labels[:, 0], strict=True)])
    total, found = network.size("length"), example.cut_off(streets)
    for node in network:
        others = network.copy()
        others.remove_node(node)
        kept = max(network.subgraph(part | {node}).size("length") for part in nx.connected_components(others))
        assert found[node] == pytest.approx(total - kept, abs=1e-6)
    assert 0.1 < (found > 0).mean() < 0.9


def test_message_passing_gives_all_nodes_one_output(example):
    task = example.blocks(300)
    out = GIN.for_data(task, hidden=8)(task.dataset[:]).detach().numpy()
    assert np.abs(out - out[0]).max() < 1e-5


def test_the_whole(example, capsys):
    rows = example.main(["--blocks", "300", "--side", "14", "--epochs", "2", "--device", "cpu"])
    assert [(r.task, r.model) for r in rows] == [
        *(("blocks", name) for name in ("a constant", "BasePlanE", "GIN")),
        *(("closures", name) for name in ("a constant", "BasePlanE", "GINE")),
    ]
    assert all(np.isfinite([r.test, r.other]).all() for r in rows)
    assert rows[3].other < 0.01  # the mean explains nothing
    assert capsys.readouterr().out.count("\n|") == len(rows) + 1
