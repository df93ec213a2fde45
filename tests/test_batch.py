"""Batches: the same answers as one by one, whatever the number of threads; selection; errors that name the graph."""

from __future__ import annotations

import random

import graphs
import maps
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_planar, planar_graphs

import planegraph as pg


def mixed_batch(count: int, seed: int) -> pg.GraphBatch:
    """Graphs of all sizes, the empty one included."""
    rng = random.Random(seed)
    named = [g for g in graphs.families().values() if g.dart_labels is None]
    made = [rng.choice(named) if rng.random() < 0.3 else maps.planar(rng.randrange(30), 0.6, rng) for _ in range(count)]
    return pg.GraphBatch.from_graphs([g.build() for g in made])


def assert_equal_arrays(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> None:
    assert a.keys() == b.keys()
    for name in a:
        assert np.array_equal(a[name], b[name]), name


@given(st.lists(planar_graphs(12), max_size=8))
def test_a_batch_is_its_graphs(made):
    batch = pg.GraphBatch.from_graphs([g.build() for g in made])
    packed = pg.decompose_batch(batch, threads=1, codes=True)
    assert len(packed) == len(made)
    for i, g in enumerate(made):
        single = pg.decompose(g.build())
        assert_equal_arrays(single.arrays, packed[i].arrays)
        assert packed.codes()[i] == pg.canonical_form(g.build()).code
        packed[i].check()


@given(any_planar())
def test_labels_in_a_batch(g):
    """Three copies in a batch, labels included, each as the single graph."""
    packed = pg.decompose_batch(pg.GraphBatch.from_graphs([g.build()] * 3), threads=1, codes=True)
    form = pg.canonical_form(g.build())
    assert packed.codes() == [form.code] * 3
    for d in packed:
        assert np.array_equal(d.labelling, form.labelling)


@pytest.mark.parametrize("threads", [2, 3, 8, None])
def test_threads_do_not_matter(threads):
    batch = mixed_batch(700, 1)
    one = pg.decompose_batch(batch, threads=1, codes=True)
    more = pg.decompose_batch(batch, threads=threads, codes=True)
    assert_equal_arrays(one.arrays(), more.arrays())
    assert pg.canonical_codes(batch, threads=1) == pg.canonical_codes(batch, threads=threads) == one.codes()


def test_neighbours_in_the_batch_do_not_matter():
    """Working memory is reused from graph to graph: a graph's result must not depend on what came before it."""
    batch = mixed_batch(300, 2)
    order = np.random.default_rng(1).permutation(len(batch))
    codes = pg.canonical_codes(batch, threads=1)
    assert [codes[i] for i in order] == pg.canonical_codes(batch[order], threads=1)
    forwards, backwards = pg.decompose_batch(batch, threads=1), pg.decompose_batch(batch[::-1], threads=1)
    for i in range(len(batch)):
        assert_equal_arrays(forwards[i].arrays, backwards[len(batch) - 1 - i].arrays)


def test_a_failure_leaves_no_trace():
    """A refused graph does not disturb what comes after it on the same threads."""
    good = mixed_batch(50, 3)
    before = pg.canonical_codes(good, threads=1)
    for bad in (graphs.complete(5), graphs.complete_bipartite(3, 3)):
        with pytest.raises(pg.NotPlanarError):
            pg.decompose_batch(pg.GraphBatch.from_graphs([*good, bad.build(), *good]), threads=2)
        assert pg.canonical_codes(good, threads=1) == before


def test_empty_batches():
    empty = pg.GraphBatch([0], [0], np.empty((0, 2), np.int64))
    assert len(pg.decompose_batch(empty)) == 0
    assert pg.canonical_codes(empty) == []
    assert pg.canonical_codes(pg.GraphBatch.from_graphs([])) == []
    nothing = pg.GraphBatch.from_graphs([pg.Graph(0, [])] * 3)
    assert len(set(pg.canonical_codes(nothing))) == 1


def test_selection():
    batch = mixed_batch(40, 4)
    assert [g.num_nodes for g in batch[[3, 3, 1]]] == [batch[3].num_nodes] * 2 + [batch[1].num_nodes]
    mask = np.arange(40) % 3 == 0
    assert list(batch[mask]) == [batch[i] for i in range(0, 40, 3)]
    assert batch[-1] == batch[39]
    with pytest.raises(IndexError):
        batch[40]


def test_the_first_bad_graph_is_named():
    """Self-loops and parallel edges inside a batch are found by the core, which says which graph is meant."""
    node_ptr, edge_ptr = [0, 3, 6, 9], [0, 2, 4, 6]
    for edges, index in (
        ([(0, 1), (1, 2), (0, 1), (1, 1), (0, 1), (1, 0)], 1),
        ([(0, 1), (1, 2), (0, 1), (1, 2), (0, 1), (1, 0)], 2),
        ([(0, 1), (1, 2), (0, 3), (1, 2), (0, 1), (1, 2)], 1),
        ([(0, -1), (1, 2), (0, 1), (1, 2), (0, 0), (1, 2)], 0),
    ):
        batch = pg.GraphBatch(node_ptr, edge_ptr, edges)
        for threads in (1, 2):
            for call in (pg.decompose_batch, pg.canonical_codes):
                with pytest.raises(pg.InvalidGraphError, match=f"graph {index}") as caught:
                    call(batch, threads=threads)
                assert caught.value.graph_index == index


BATCH_FUNCTIONS = [pg.planar_mask, pg.decompose_batch, pg.canonical_codes, pg.automorphism_batch]


@pytest.mark.parametrize("function", BATCH_FUNCTIONS)
def test_several_graphs_of_any_kind(function):
    graphs = [nx.path_graph(3), pg.families.wheel(4), pg.embedding(pg.families.cycle(3))]
    batch = pg.GraphBatch.from_graphs(graphs)
    for several in (graphs, tuple(graphs), iter(graphs), batch):
        found, wanted = list(function(several)), list(function(batch))
        assert [repr(x) for x in found] == [repr(x) for x in wanted]
        assert len(found) == 3


@pytest.mark.parametrize("function", BATCH_FUNCTIONS)
@pytest.mark.parametrize("one", [nx.path_graph(3), pg.families.path(3), pg.MultiGraph(1, []), pg.embedding(pg.families.path(3))])
def test_one_graph_is_not_several(function, one):
    with pytest.raises(
        pg.InvalidGraphError, match=rf"expected several graphs; found one, a {type(one).__name__}: put it into a list"
    ):
        function(one)


@pytest.mark.parametrize("function", BATCH_FUNCTIONS)
@pytest.mark.parametrize("nothing", [None, 3, "C~", b"C~"])
def test_what_is_no_graphs(function, nothing):
    message = f"expected a planegraph.GraphBatch, or several graphs; found {type(nothing).__name__}"
    with pytest.raises(pg.InvalidGraphError, match=message):
        function(nothing)


def test_node_connectivity_of_one_and_many():
    graphs = [pg.families.path(3), pg.families.cycle(4), pg.families.wheel(5), pg.Graph(2, [])]
    packed = pg.decompose_batch(graphs)
    assert packed.node_connectivity.tolist() == [d.node_connectivity for d in packed] == [1, 2, 3, 0]


def test_a_packed_decomposition_counts_what_it_has():
    text = repr(pg.decompose_batch([pg.Graph(3, [(0, 1), (1, 2)])]))
    assert text == "PackedDecomposition(1 graph, 2 blocks, 1 cut node, 2 SPQR nodes, 4 walk entries)"
