"""What goes in and out of a Graph: graph6, networkx, PyG, label keys, and the decoder of canonical codes."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest

import planegraph as pg
from planegraph.canonical import code
from planegraph.graphs import labels
from planegraph.graphs.formats.graph_lines import read_lines

INF = float("inf")


def edge_set(pairs) -> set[frozenset]:
    return {frozenset(e) for e in pairs}


# ---------------------------------------------------------------- graph6


@pytest.mark.parametrize("n", [0, 1, 2, 3, 10, 61, 62, 63, 64, 100, 300])
def test_graph6_is_that_of_networkx(n):
    reference = nx.gnp_random_graph(n, 0.2, seed=n)
    line = nx.to_graph6_bytes(reference).decode()
    g = pg.Graph.from_graph6(line)
    assert g.num_nodes == n
    assert edge_set(g.edges.tolist()) == edge_set(reference.edges)
    assert g.to_graph6(header=True) + "\n" == line
    assert pg.Graph.from_graph6(g.to_graph6().encode()) == g


def test_graph6_of_many_nodes():
    g = pg.families.cycle(20_000)
    assert g.to_graph6()[0] == "~"
    assert pg.Graph.from_graph6(g.to_graph6()) == g


@pytest.mark.parametrize("line", ["", "~", "~??", "~~????", "~~?????~", ":Fa@x^", "&C", "C", "C~~", "Bz", "C\x01", "Cé", "C ~"])
def test_bad_graph6(line):
    with pytest.raises(pg.FormatError, match="graph6"):
        pg.Graph.from_graph6(line)


def test_graph6_lines_at_once():
    lines = [nx.to_graph6_bytes(nx.gnp_random_graph(i % 70, 0.1, seed=i), header=False) for i in range(500)]
    bad = {5: b"G?", 9: b"\x01", 11: b"", 12: b"Bz", 13: b"C\xe9"}
    for i, line in bad.items():
        lines[i] = line
    batch, where, errors = read_lines(lines)
    assert set(errors) == set(bad)
    assert where.tolist() == [i for i in range(500) if i not in bad]
    for g, i in zip(batch, where, strict=True):
        assert g == pg.Graph.from_graph6(lines[i])
    assert len(read_lines([])[0]) == 0


# ---------------------------------------------------------------- networkx and PyG


def test_networkx_round_trip():
    G = nx.petersen_graph()
    for v in G:
        G.nodes[v].update(a=v % 3, b=(v, -v))
    for u, v in G.edges:
        G.edges[u, v]["w"] = u + v / 2
    g = pg.Graph.from_networkx(G, node_attrs=["a", "b"], edge_attrs="w")
    assert g.node_labels.tolist() == [[v % 3, v, -v] for v in G]
    assert g.edge_labels[:, 0].tolist() == [u + v / 2 for u, v in G.edges]
    assert pg.Graph.from_networkx(g.to_networkx(), node_attrs="label", edge_attrs="label") == g


def test_directions_of_a_digraph_are_darts():
    G = nx.DiGraph()
    for u, v, w in [("a", "b", 1), ("b", "c", 3), ("b", "a", 2), ("c", "b", 3)]:
        G.add_edge(u, v, w=w)
    g = pg.Graph.from_networkx(G, edge_attrs="w")
    assert g.edges.tolist() == [[0, 1], [1, 2]]
    assert g.dart_labels.tolist() == [[[1], [2]], [[3], [3]]]
    assert pg.Graph.from_networkx(g.to_networkx(), edge_attrs="label") == g


@pytest.mark.parametrize(
    ("G", "attrs", "message"),
    [
        (nx.DiGraph([(0, 1)]), {}, "to_undirected"),
        (nx.DiGraph([(0, 1), (1, 0), (1, 2)]), {}, "both directions"),
        (nx.MultiGraph([(0, 1), (0, 1)]), {}, "parallel"),
        (nx.Graph([(0, 0)]), {}, "self-loop"),
        (nx.path_graph(2), {"node_attrs": "z"}, "node 0 has no attribute 'z'"),
        (nx.Graph([(0, 1, {"w": None})]), {"edge_attrs": "w"}, "attribute 'w' must be integers"),
        (nx.Graph([(0, 1, {"w": 2**60}), (1, 2, {"w": 0.5})]), {"edge_attrs": "w"}, "no double holds"),
    ],
)
def test_bad_networkx(G, attrs, message):
    with pytest.raises(pg.InvalidGraphError, match=message):
        pg.Graph.from_networkx(G, **attrs)


def test_pyg_in_both_directions():
    x = np.array([[1.0], [2.0], [3.0]])
    both = SimpleNamespace(edge_index=np.array([[0, 2, 1, 1], [1, 1, 0, 2]]), x=x, edge_attr=np.array([5, 6, 5, 6]))
    darts = SimpleNamespace(edge_index=both.edge_index, x=x, edge_attr=np.array([5, 6, 5, 7]))
    g = pg.Graph.from_pyg(both)
    assert g == pg.Graph(3, [(0, 1), (2, 1)], node_labels=x, edge_labels=[5, 6])
    assert g.dart_labels is None
    assert pg.Graph.from_pyg(darts).dart_labels.tolist() == [[[5], [5]], [[6], [7]]]
    assert pg.Graph.from_pyg(darts, edge_attr=None).edge_labels is None
    assert pg.Graph.from_pyg(SimpleNamespace(edge_index=np.empty((2, 0), int), num_nodes=4)).num_nodes == 4


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (SimpleNamespace(x=[1]), "edge_index is missing"),
        (SimpleNamespace(edge_index=[[0, 1], [1, 2], [2, 0]]), "shape"),
        (SimpleNamespace(edge_index=[[0], [1]]), "num_nodes is missing"),
        (
            SimpleNamespace(edge_index=[[0], [1]], num_nodes=2),
            r"^edge_index\[:, 0\] = \(0, 1\) has no \(1, 0\); give both directions",
        ),
        (SimpleNamespace(edge_index=[[0, 1, 1], [1, 0, 2]], num_nodes=3), "both directions"),
        (SimpleNamespace(edge_index=[[0, 0], [1, 1]], num_nodes=2), "is there twice, at 0 and 1"),
        (SimpleNamespace(edge_index=[[0], [5]], num_nodes=2), "does not exist"),
        (SimpleNamespace(edge_index=[[0, 1], [1, 0]], num_nodes=2, edge_attr=[1]), "edge_attr must have one row per column"),
        (SimpleNamespace(edge_index=[[0, 1], [1, 0]], num_nodes=2, edge_attr=5), r"edge_attr must have one row.*found shape \(\)"),
        (SimpleNamespace(edge_index=[[0, 1], [1, 0]], num_nodes=2, x=np.float64(1)), r"x must have one row.*found shape \(\)"),
        (SimpleNamespace(edge_index=3), r"edge_index must be integers of shape \(2, E\); found shape \(\)"),
        (SimpleNamespace(edge_index=[[0, 1], [1, 0]], x=[[1], [1, 2]]), r"x must be a rectangular array"),
        (SimpleNamespace(edge_index=[[0, 1], [1, 0]], x=np.ma.array([1, 2], mask=[0, 1])), r"x must not be a masked array"),
        (SimpleNamespace(edge_index=[[0], [1]], num_nodes="two"), r"num_nodes must be an integer; found 'two'"),
        (SimpleNamespace(edge_index=[[0], [1]], num_nodes=2.5), r"num_nodes must be an integer"),
    ],
)
def test_bad_pyg(data, message):
    with pytest.raises(pg.InvalidGraphError, match=message):
        pg.Graph.from_pyg(data)


# ---------------------------------------------------------------- labels


def test_keys_keep_the_order_of_floats():
    x = np.array([-INF, -1e300, -1.0, -5e-324, 0.0, 5e-324, 1.0, np.pi, INF])
    keys = labels.to_keys(x)
    assert (np.diff(keys) > 0).all()
    assert np.array_equal(labels.from_keys(keys), x)


def test_labels_are_compared_exactly():
    def form(x):
        return pg.canonical_form(pg.Graph(2, [(0, 1)], node_labels=x))

    assert form([0.0, 1.0]) == form([1.0, -0.0])
    assert form([0.1 + 0.2, 0.0]) != form([0.3, 0.0])
    assert form([2**62 + 1, 0]) != form([2**62, 0])
    assert form([True, False]) == form(np.array([0, 1], np.uint8))
    assert form([1, 0]) != form([1.0, 0.0])
    assert form(np.float32([0.5, 2])) == form([2.0, 0.5])


def test_graphs_do_not_change():
    edges = np.array([[0, 1]])
    g = pg.Graph(2, edges, node_labels=[1, 2])
    edges[0, 0] = 1
    assert g.edges.tolist() == [[0, 1]]
    with pytest.raises(ValueError, match="read-only"):
        g.edges[0, 0] = 5
    with pytest.raises(AttributeError):
        g.num_nodes = 3
    assert pickle.loads(pickle.dumps(g)) == g
    assert len({g, pg.Graph(2, [(1, 0)], node_labels=[1, 2])}) == 1


# ---------------------------------------------------------------- codes


def labelled(seed: int) -> pg.Graph:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 40))
    g = pg.families.random_planar(n, float(rng.random()), seed)
    kinds = {
        "node_labels": [None, rng.integers(-(2**63), 2**63 - 1, (n, 2)), rng.normal(size=n)],
        "dart_labels": [None, rng.integers(-2, 2, (g.num_edges, 2, 1)), rng.normal(size=(g.num_edges, 2, 2)).round()],
    }
    return pg.Graph(n, g.edges, **{name: values[rng.integers(3)] for name, values in kinds.items()})


@pytest.mark.parametrize("seed", range(60))
def test_codes_rebuild_the_graph(seed):
    g = labelled(seed)
    f = pg.canonical_form(g)
    assert f.graph() == g.relabel(f.labelling)
    assert code.encode(g.relabel(f.labelling)) == f.code
    assert pg.canonical_form(f.graph()).code == f.code


def test_damaged_codes_are_refused_or_decode():
    rng = np.random.default_rng(0)
    refused = 0
    for seed in range(40):
        whole = code.encode(labelled(seed))
        for _ in range(50):
            damaged = bytearray(whole)
            if rng.random() < 0.5:
                damaged[rng.integers(len(damaged))] = rng.integers(256)
            else:
                del damaged[rng.integers(len(damaged)) :]
            try:
                code.decode(bytes(damaged))
            except pg.FormatError:
                refused += 1
    assert refused > 1000


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x02\x00",
        b"\x01\x08",
        b"\x01\x00",
        b"\x01\x00\xff\xff\xff\xff\x03\x00\x00\x00",
        b"\x01\x00" + b"\xff" * 20,
        bytes([1, 0, 1, 0, 0, 0, 0, 0]),
        bytes([1, 0, 2, 1, 0, 0, 1, 5, 0]),
        bytes([1, 0, 0x80, 0, 0, 0, 0]),
    ],
)
def test_garbage_is_not_a_code(data):
    with pytest.raises(pg.FormatError):
        code.decode(data)


def test_text_of_a_deep_tree_is_short():
    text = str(pg.decompose(pg.families.path(20_000)))
    assert len(text.splitlines()) <= 202
    assert text.splitlines()[-1] == "... and 39798 more lines"
    assert max(map(len, text.splitlines())) <= 100
