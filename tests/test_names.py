"""Graphs of other libraries, names of nodes, and labels that are text."""

import pickle
import random

import networkx as nx
import numpy as np
import pytest
import rustworkx
from hypothesis import given
from hypothesis import strategies as st

import planegraph as pg

NAMES = ["b", "a", ("c", 1), 4.5, True]


def named_path() -> nx.Graph:
    return nx.relabel_nodes(nx.path_graph(5), dict(enumerate(NAMES)))


def test_networkx_keeps_its_nodes():
    g = pg.as_graph(named_path())
    assert g.names.tolist() == NAMES
    assert g.named(np.array([[0, 2], [4, 1]])).tolist() == [["b", ("c", 1)], [True, "a"]]
    assert not g.names.flags.writeable
    assert nx.utils.graphs_equal(g.to_networkx(), named_path())
    assert pickle.loads(pickle.dumps(g)).names.tolist() == NAMES


def test_numbers_in_order_are_no_names():
    assert pg.as_graph(nx.path_graph(3)).names is None
    assert pg.Graph(3, [(0, 1)], names=[0, 1, 2]).names is None
    assert pg.Graph(3, [(0, 1)], names=[1, 0, 2]).names.dtype == np.int64
    assert pg.Graph(2, [(0, 1)], names=[False, True]).names.tolist() == [False, True]
    assert pg.Graph(2, [], names=[0, 2**70]).names.tolist() == [0, 2**70]


def test_names_do_not_count_in_equality_and_follow_a_relabelling():
    g = pg.Graph(3, [(0, 1), (1, 2)], names=["x", "y", "z"])
    assert g == pg.Graph(3, [(0, 1), (1, 2)])
    assert hash(g) == hash(pg.Graph(3, [(0, 1), (1, 2)]))
    h = g.relabel([2, 0, 1])
    assert h.names.tolist() == ["y", "z", "x"]
    assert set(map(frozenset, h.named(h.edges).tolist())) == set(map(frozenset, g.named(g.edges).tolist()))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["x"], "a name for each of the 3 nodes; found 1"),
        (["x", "y", "x"], "must differ; found 'x' 2 times"),
        (["x", [], "y"], "must be hashable"),
    ],
)
def test_bad_names(names, message):
    with pytest.raises(pg.InvalidGraphError, match=message):
        pg.Graph(3, [(0, 1)], names=names)


@pytest.mark.parametrize("removed", [None, 1])
def test_rustworkx(removed):
    g = rustworkx.generators.cycle_graph(6)
    if removed is not None:
        g.remove_node(removed)
    ours = pg.as_graph(g)
    assert (None if ours.names is None else ours.names.tolist()) == (None if removed is None else [0, 2, 3, 4, 5])
    assert {frozenset(e) for e in ours.named(ours.edges).tolist()} == {frozenset(e) for e in g.edge_list()}
    with pytest.raises(pg.InvalidGraphError, match="directed"):
        pg.as_graph(rustworkx.generators.directed_cycle_graph(3))


def test_igraph():
    igraph = pytest.importorskip("igraph", reason="igraph is not installed")
    g = igraph.Graph.Ring(5)
    assert pg.as_graph(g) == pg.families.cycle(5)
    with pytest.raises(pg.InvalidGraphError, match="directed"):
        pg.as_graph(igraph.Graph.Ring(5, directed=True))


def test_pyg_brings_its_features():
    from torch import tensor
    from torch_geometric.data import Data

    edge_index = tensor([[0, 1], [1, 0]])
    carbons, bond = Data(x=tensor([[6], [6]]), edge_index=edge_index), Data(x=tensor([[6], [8]]), edge_index=edge_index)
    assert pg.as_graph(bond).node_labels.tolist() == [[6], [8]]
    assert not pg.is_isomorphic(carbons, bond)


def test_what_is_no_graph():
    with pytest.raises(pg.InvalidGraphError, match="found list"):
        pg.decompose([(0, 1)])
    with pytest.raises(pg.InvalidGraphError, match=r"graph 1: expected .* found str"):
        pg.GraphBatch.from_graphs([pg.families.cycle(3), "C~"])


def test_functions_take_networkx_graphs_and_answer_in_their_names():
    g = nx.relabel_nodes(nx.complete_graph(5), "abcde".__getitem__)
    assert not pg.is_planar(g)
    witness = pg.kuratowski_witness(g)
    assert {frozenset(e) for e in witness.tolist()} == {frozenset(e) for e in g.edges}
    for function in (pg.decompose, pg.canonical_form):
        with pytest.raises(pg.NotPlanarError) as error:
            function(g)
        assert error.value.witness.tolist() == witness.tolist()
    g.remove_edge("a", "b")
    assert pg.decompose(g).counts["R"] == 1
    assert pg.canonical_form(g) == pg.canonical_form(pg.as_graph(g))
    assert len(pg.GraphBatch.from_graphs([g, pg.families.cycle(3)])) == 2


@given(st.integers(0, 10**6))
def test_isomorphism_maps_names(seed):
    rng = random.Random(seed)
    g = nx.relabel_nodes(nx.gnp_random_graph(7, 0.3, seed), "abcdefg".__getitem__)
    nodes = list(range(10, 17))
    rng.shuffle(nodes)
    h = nx.relabel_nodes(g, dict(zip(g, nodes, strict=True)))
    if pg.is_planar(g):
        mapping = pg.isomorphism(g, h)
        assert nx.utils.edges_equal([(mapping[u], mapping[v]) for u, v in g.edges], h.edges), nx.to_graph6_bytes(g)


def test_planar_and_not_planar_are_not_isomorphic():
    k33, prism = pg.families.complete_bipartite(3, 3), pg.families.prism(3)
    assert not pg.is_isomorphic(k33, prism)
    assert not pg.is_isomorphic(prism, k33)
    with pytest.raises(pg.NotPlanarError):
        pg.is_isomorphic(k33, k33)


# ---- text ------------------------------------------------------------------------------------------------------------------------


def test_text_labels():
    path = [(0, 1), (1, 2)]
    one, other = pg.Graph(3, path, ["C", "C", "Cl"]), pg.Graph(3, path, ["Cl", "C", "C"])
    assert pg.isomorphism(one, other).tolist() == [2, 1, 0]
    assert not pg.is_isomorphic(one, pg.Graph(3, path, ["C", "Cl", "C"]))
    assert pg.Graph(3, path, np.array(["C", "C", "Cl"])) == one == pg.Graph(3, path, np.array(["C", "C", "Cl"], object))
    long = pg.Graph(3, path, ["Ångström" * 2, "", "x" * 32])
    assert pg.canonical_codes(pg.GraphBatch.from_graphs([one, long])) == [pg.canonical_form(g).code for g in (one, long)]


def test_text_on_edges_darts_and_in_rows():
    path = [(0, 1), (1, 2)]
    assert pg.Graph(3, path, edge_labels=["road", "rail"]).edge_labels.shape == (2, 4)
    there = pg.Graph(3, path, dart_labels=[["up", "down"], ["up", "down"]])
    assert there.dart_labels.shape == (2, 2, 4)
    assert pg.is_isomorphic(there, pg.Graph(3, [(2, 1), (1, 0)], dart_labels=[["up", "down"], ["up", "down"]]))
    assert not pg.is_isomorphic(there, pg.Graph(3, path, dart_labels=[["up", "down"], ["down", "up"]]))
    assert pg.Graph(2, [], [["a", "b"], ["c", "d"]]).node_labels.shape == (2, 8)


@given(st.lists(st.text(max_size=8), min_size=2, max_size=2))
def test_texts_are_equal_labels_exactly_when_they_are_equal(texts):
    if any("\0" in text for text in texts):
        with pytest.raises(pg.InvalidGraphError, match="no NUL"):
            pg.Graph(2, [(0, 1)], texts)
        return
    a, b = pg.Graph(2, [(0, 1)], texts).node_labels
    assert (a.tolist() == b.tolist()) == (texts[0] == texts[1])


def test_text_from_networkx_beside_numbers():
    g = named_path()
    nx.set_node_attributes(g, "stop", "kind")
    nx.set_node_attributes(g, {v: k for k, v in enumerate(g)}, "height")
    assert pg.Graph.from_networkx(g, node_attrs=["kind", "height"]).node_labels.shape == (5, 5)


@pytest.mark.parametrize("labels", [["x" * 33, "y"], ["a\0", "b"], ["a", 1], ["a", None]])
def test_bad_text(labels):
    with pytest.raises(pg.InvalidGraphError, match="node_labels"):
        pg.Graph(2, [(0, 1)], labels)
