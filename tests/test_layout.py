"""Drawings without crossings, checked in exact arithmetic; triangulations and orders by their definitions."""

from __future__ import annotations

import itertools
import random
import sys

import crossings
import exhaustive
import graphs
import maps
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plane_checks import check_canonical, check_drawing, check_drawn, check_st_numbering, check_triangulation
from strategies import any_planar, planar_graphs, seeds

import planegraph as pg
from planegraph.planarity import tutte

METHODS = ("grid", "tutte")


@pytest.mark.parametrize("method", METHODS)
def test_all_connected_planar_graphs_of_up_to_seven_nodes(method):
    rng = random.Random(1)
    for plain in (g for n in range(1, 8) for g in exhaustive.connected_planar_graphs(n)):
        g = plain.shuffled(rng)[0].build()
        check_drawing(g, pg.planar_layout(g, method))


@pytest.mark.parametrize("method", METHODS)
def test_every_face_can_be_outside(method):
    for plain in (g for n in range(2, 6) for g in exhaustive.connected_planar_graphs(n)):
        e = pg.embedding(plain.build())
        for face in range(e.num_faces):
            points = pg.planar_layout(e, method, outer_face=face)
            check_drawing(plain.build(), points)
            check_drawn(e.with_outer_face(face), points)


NAMED = {  # what makes triangulating hard: chords on the other side of a face, and nodes that a face passes twice
    "a square whose chord runs outside": "C|",
    "a pentagon with two chords": "D|c",
    "K4 at a node of a triangle": "ExKw",
    "a triangle at a node of a square": "ElCW",
    "a leaf at each node of K4": "G~`@?_",
    "two triangles at a node": "DxK",
    "K2,4 with an edge between the poles": "E}r?",
    "three squares at one edge": "Gr`KAC",
    "a hexagon with leaves, and an edge beside it": "MhEKA?_C?O?_????_",
}


@pytest.mark.parametrize("name", NAMED)
def test_named_graphs(name):
    g = pg.Graph.from_graph6(NAMED[name])
    for e in (pg.embedding(g), pg.embedding(g).mirror()):
        for face in range(e.num_faces):
            for method in METHODS:
                points = pg.planar_layout(e, method, outer_face=face)
                check_drawing(g, points)
                check_drawn(e.with_outer_face(face), points)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", graphs.families())
def test_families(name, method):
    g = graphs.families()[name].shuffled(random.Random(name))[0].build()
    check_drawing(g, pg.planar_layout(g, method), crossings.flaw_by_sweep)


@given(any_planar(), seeds)
def test_random_graphs_on_the_grid(plain, seed):
    g = plain.shuffled(random.Random(seed))[0].build()
    check_drawing(g, pg.planar_layout(g))
    e = pg.embedding(g)
    points = pg.planar_layout(e)
    check_drawing(g, points)
    check_drawn(e, points)


@given(any_planar(), seeds)
def test_random_graphs_by_tutte(plain, seed):
    g = plain.shuffled(random.Random(seed))[0].build()
    e = pg.embedding(g)
    points = pg.planar_layout(e, "tutte")
    check_drawing(g, points)
    check_drawn(e, points)


@given(st.integers(4, 40), seeds)
def test_the_outer_face_of_a_tutte_drawing_is_convex(n, seed):
    g = maps.triangulation(n, random.Random(seed)).build()
    e = pg.embedding(g)
    face = random.Random(seed).randrange(e.num_faces)
    points = pg.planar_layout(e, "tutte", outer_face=face)
    corners = points[e.face(face)]
    assert np.allclose(np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1), np.linalg.norm(corners[0] - corners[1]))
    inside = np.setdiff1d(np.arange(n), e.face(face))
    assert (points[inside].min(axis=0) > corners.min(axis=0)).all()
    assert (points[inside].max(axis=0) < corners.max(axis=0)).all()


def test_chosen_nodes_are_outside():
    g = pg.families.prism(5)
    for method in METHODS:
        points = pg.planar_layout(g, method, outer_face=[0, 1, 5, 6])
        e = pg.embedding(g, points)
        assert set(e.face(e.outer_face).tolist()) == {0, 1, 5, 6}
    with pytest.raises(pg.InvalidEmbeddingError, match="on one face"):
        pg.planar_layout(g, outer_face=[0, 7])
    with pytest.raises(ValueError, match="faces have numbers in an embedding"):
        pg.planar_layout(g, outer_face=3)


@pytest.mark.parametrize("method", METHODS)
def test_points_by_name(method):
    graph = nx.relabel_nodes(nx.cycle_graph(5), "abcde".__getitem__)
    points = pg.planar_layout(graph, method)
    assert list(points) == list("abcde")
    assert pg.embedding(graph, points).num_faces == 2
    outside = pg.planar_layout(nx.relabel_nodes(nx.wheel_graph(5), "vwxyz".__getitem__), method, outer_face="vwx")
    assert set(outside) == set("vwxyz")


@pytest.mark.parametrize("method", METHODS)
def test_components_stand_side_by_side(method):
    g = pg.families.disjoint_union(pg.families.wheel(5), pg.Graph(2, []), pg.families.path(2), pg.families.cycle(4))
    points = pg.planar_layout(g, method)
    check_drawing(g, points)
    spans = [(points[list(part), 0].min(), points[list(part), 0].max()) for part in (range(6), (8, 9), range(10, 14), (6,), (7,))]
    assert all(b[0] - a[1] > 0.99 for a, b in itertools.pairwise(spans))
    assert points[:, 1].min() == 0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_without_edges(n, method):
    points = pg.planar_layout(pg.Graph(n, []), method)
    assert points.tolist() == [[k, 0] for k in range(n)]


def test_what_is_refused():
    with pytest.raises(pg.NotPlanarError, match="9 of its edges"):
        pg.planar_layout(pg.families.complete_bipartite(3, 3))
    with pytest.raises(ValueError, match="'grid' or 'tutte'; found 'spring'"):
        pg.planar_layout(pg.families.cycle(3), "spring")
    with pytest.raises(pg.InvalidGraphError, match=r"expected a planegraph\.Graph"):
        pg.planar_layout([(0, 1)])


def test_scipy_is_missing(monkeypatch):
    for name in ("scipy", "scipy.sparse", "scipy.sparse.linalg"):
        monkeypatch.setitem(sys.modules, name, None)
    pg.planar_layout(pg.families.prism(200))
    pg.planar_layout(pg.families.prism(50), "tutte")
    with pytest.raises(pg.MissingDependencyError, match="needs scipy: pip install scipy"):
        pg.planar_layout(pg.families.prism(200), "tutte")


def test_small_and_large_drawings_are_computed_alike(monkeypatch):
    g = pg.families.shuffled(pg.families.random_planar(100, 0.7, seed=2))
    dense = pg.planar_layout(g, "tutte")
    monkeypatch.setattr(tutte, "DENSE", 0)
    assert np.allclose(pg.planar_layout(g, "tutte"), dense)


def test_a_drawing_that_doubles_are_too_coarse_for():
    g = pg.families.nested_k4(2000)
    with pytest.warns(pg.PlanegraphWarning, match="more digits than doubles have"):
        points = pg.planar_layout(g, "tutte")
    check_drawing(g, points, crossings.flaw_by_sweep)


def test_large_drawings_without_recursion():
    n = 50_000
    for g in (pg.families.path(n), pg.families.star(n), pg.families.k2n(n), pg.families.shuffled(pg.families.grid(200, 200), 1)):
        points = pg.planar_layout(g)
        assert pg.embedding(g, points).num_faces == g.num_edges - g.num_nodes + 2


@pytest.mark.parametrize("n", [1000, 100_000])
def test_maximal_planar_graphs_by_areas(n):
    """All inner triangles are turned the same way, and fill the outer one: that is a drawing without crossings, whatever the
    sweep says."""
    g = pg.families.shuffled(pg.families.apollonian(n, seed=n), seed=1)
    e = pg.embedding(g)
    points = pg.planar_layout(e)
    a, b, c = (points[e.face_nodes[k::3]] for k in range(3))
    u, v = b - a, c - a
    twice = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    assert (np.diff(e.face_ptr) == 3).all()
    assert (np.delete(twice, e.outer_face) > 0).all()
    assert twice.sum() == 0


@pytest.mark.slow
@pytest.mark.parametrize("density", [0.5, 0.8, 1.0])
@pytest.mark.parametrize("n", [10_000, 100_000])
def test_large_drawings_by_another_sweep(n, density):
    g = pg.families.random_planar(n, density, seed=n)
    check_drawing(g, pg.planar_layout(g), crossings.flaw_by_sweep)


@pytest.mark.slow
def test_all_connected_planar_graphs_of_eight_nodes():
    for plain in exhaustive.connected_planar_graphs(8):
        g = plain.build()
        for method in METHODS:
            check_drawing(g, pg.planar_layout(g, method))


# ---- triangulations and orders


@given(planar_graphs(20), seeds)
def test_triangulations(plain, seed):
    check_triangulation(plain.shuffled(random.Random(seed))[0].build())


@given(planar_graphs(12), seeds)
def test_canonical_orders(plain, seed):
    rng = random.Random(seed)
    g = plain.shuffled(rng)[0].build()
    if g.num_nodes < 3:
        return
    t = pg.triangulate(g)
    t = t.with_outer_face(rng.randrange(t.num_faces))
    check_canonical(t, pg.canonical_order(t).tolist())


def test_canonical_orders_of_discs_and_names():
    g = pg.Graph(6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), *((5, k) for k in range(5))], names="abcdef")  # a wheel
    order = pg.canonical_order(g)
    assert sorted(order.tolist()) == list("abcdef")
    check_canonical(pg.embedding(g), order.tolist())


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (pg.families.path(2), "three nodes or more"),
        (pg.families.disjoint_union(pg.families.cycle(3), pg.families.cycle(3)), "connected"),
        (pg.families.disjoint_union(pg.families.cycle(3), pg.families.path(1)), "connected"),
        (pg.families.grid(3, 3), "face 0 has 4 edges; planegraph.triangulate cuts it"),
        (pg.families.path(3), "passes no node twice"),
    ],
)
def test_no_canonical_order(graph, message):
    with pytest.raises(pg.InvalidEmbeddingError, match=message):
        pg.canonical_order(graph)


@given(st.integers(2, 9), st.floats(0.2, 1), seeds)
def test_st_numberings(n, density, seed):
    check_st_numbering(nx.gnp_random_graph(n, density, seed), *random.Random(seed).sample(range(n), 2))


def test_st_numberings_by_name():
    graph = nx.relabel_nodes(nx.cycle_graph(4), "abcd".__getitem__)
    assert pg.st_numbering(graph, "b", "a") == {"b": 0, "c": 1, "d": 2, "a": 3}
    for s, t, message in (("a", "a", "must differ"), ("a", "x", "'x' is not a node"), (0, 1, "0 is not a node")):
        with pytest.raises(pg.InvalidGraphError, match=message):
            pg.st_numbering(graph, s, t)


def test_st_numberings_without_recursion():
    n = 200_000
    number = pg.st_numbering(pg.families.cycle(n), 0, n - 1)
    assert number.tolist() == list(range(n))


def test_triangulate_refuses_duals_with_loops_or_parallel_edges():
    for g in (pg.families.cycle(4), pg.families.path(3)):
        with pytest.raises(pg.InvalidGraphError):
            pg.triangulate(pg.embedding(g).dual())
    cube = pg.embedding(pg.families.prism(4)).dual()
    assert pg.triangulate(cube).num_edges == 3 * cube.num_nodes - 6
