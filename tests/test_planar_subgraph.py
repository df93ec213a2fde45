"""Maximal planar subgraphs: planarity and maximality against networkx, the number of edges against brute force and against other ways."""

from __future__ import annotations

import random
from itertools import combinations

import graphs
import maps
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain import Plain
from strategies import glued_graphs, planar_graphs, seeds
from toolkit_checks import assert_maximal

import planegraph as pg


def random_graph(n: int, m: int, rng: random.Random) -> Plain:
    pairs = [(i, j) for i in range(n) for j in range(i)]
    return Plain.of(n, rng.sample(pairs, min(m, len(pairs))))


def fewest(g: Plain) -> int:
    """By brute force."""
    for k in range(len(g.edges)):
        for gone in combinations(range(len(g.edges)), k):
            if pg.is_planar(pg.Graph(g.n, [edge for e, edge in enumerate(g.edges) if e not in gone])):
                return k
    return 0


@given(st.integers(1, 14), st.integers(0, 40), seeds)
def test_random_graphs(n, m, seed):
    assert_maximal(random_graph(n, m, random.Random(seed)))


@given(glued_graphs(10, nonplanar=True))
def test_glued_graphs(glued):
    assert_maximal(glued.graph)


@pytest.mark.parametrize("name", graphs.nonplanar())
def test_families(name):
    g = graphs.nonplanar()[name]
    for version in (g, g.shuffled(random.Random(name))[0]):
        assert assert_maximal(version)


@given(planar_graphs())
def test_planar_graphs_lose_nothing(g):
    assert len(pg.planar_subgraph(g.build()).left_out) == 0, g


@given(st.integers(10, 60), st.integers(1, 6), seeds)
def test_triangulations_with_edges_too_many(n, extra, seed):
    rng = random.Random(seed)
    g = maps.triangulation(n, rng)
    free = sorted({(i, j) for i in range(n) for j in range(i)} - {tuple(sorted(e, reverse=True)) for e in g.edges})
    more = rng.sample(free, min(extra, len(free)))
    left_out = assert_maximal(Plain.of(n, [*g.edges, *more]).shuffled(rng)[0])
    assert len(left_out) >= len(more)  # a triangulation has all edges that a planar graph can have


def test_close_to_the_fewest():
    """On 150 random graphs, at most one edge in eight more than the fewest possible in all."""
    rng = random.Random(5)
    found = best = 0
    for _ in range(150):
        g = random_graph(rng.randint(6, 8), rng.randint(12, 16), rng)
        mine, least = len(pg.planar_subgraph(g.build()).left_out), fewest(g)
        assert mine >= least
        found, best = found + mine, best + least
    assert best > 100
    assert 8 * found <= 9 * best, (found, best)


def grid(side: int, kind: str, k: int, seed: int) -> pg.Graph:
    """A street grid with bridges between nodes that are near each other, or anywhere; shuffled."""
    rng = np.random.default_rng(seed)
    v = np.arange(side * side).reshape(side, side)
    streets = [np.stack([a.ravel(), b.ravel()], 1) for a, b in ((v[1:], v[:-1]), (v[:, 1:], v[:, :-1]))]
    x, y = rng.integers(0, side - 8, (2, k))
    dx, dy = rng.integers(1, 8, (2, k))
    bridges = np.stack([v[x, y], v[x + dx, y + dy]], 1) if kind == "near" else rng.integers(0, side * side, (k, 2))
    edges = np.unique(np.sort(np.concatenate([*streets, bridges[bridges[:, 0] != bridges[:, 1]]]), axis=1), axis=0)
    return pg.families.shuffled(pg.Graph(side * side, edges), seed)


@pytest.mark.parametrize("kind", ["near", "far"])
@pytest.mark.parametrize("side", [40, 120])
def test_overpasses(kind, side):
    """Removing the bridges makes it planar, so as many edges are enough; on the larger grid regions and long edges matter."""
    for seed in range(3):
        g = grid(side, kind, 20, seed)
        found = pg.planar_subgraph(g)
        assert len(found.left_out) <= 22
        assert pg.is_planar(found.graph)
        for e in found.left_out:
            assert not pg.is_planar(pg.Graph(g.num_nodes, g.edges[np.append(found.kept, e)]))


def test_far_from_planar():
    """More than is repaired edge by edge: a random graph of 600 nodes and some 1,500 edges, in which nothing is local."""
    rng = np.random.default_rng(1)
    edges = np.unique(np.sort(rng.integers(0, 600, (1500, 2)), axis=1), axis=0)
    g = pg.Graph(600, edges[edges[:, 0] != edges[:, 1]])
    found = pg.planar_subgraph(g)
    assert pg.is_planar(found.graph)
    for e in found.left_out[::20]:
        assert not pg.is_planar(pg.Graph(600, g.edges[np.append(found.kept, e)]))


def test_names_and_labels_are_kept():
    g = pg.Graph(5, list(combinations(range(5), 2)), node_labels=range(5), dart_labels=np.arange(20).reshape(10, 2), names="abcde")
    found = pg.planar_subgraph(g)
    assert found.graph.names.tolist() == list("abcde")
    assert found.graph.node_labels.ravel().tolist() == list(range(5))
    assert found.graph.dart_labels[:, 0, 0].tolist() == (2 * found.kept).tolist()
    assert pg.planar_subgraph(nx.complete_graph(5)).left_out.tolist() == found.left_out.tolist()


def test_equal_input_gives_an_equal_answer():
    g = grid(60, "near", 20, 9)
    first, second = pg.planar_subgraph(g), pg.planar_subgraph(g)
    assert first.left_out.tolist() == second.left_out.tolist()
