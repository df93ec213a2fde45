"""Maps with crossings against an arrangement that is computed with fractions, and at sizes that fractions cannot reach."""

from __future__ import annotations

import pickle
import random
import time
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import seeds
from toolkit_checks import assert_arrangement

import planegraph as pg


def random_edges(n: int, m: int, rng: random.Random) -> list[tuple[int, int]]:
    pairs = list(combinations(range(n), 2))
    return [p if rng.random() < 0.5 else p[::-1] for p in rng.sample(pairs, min(m, len(pairs)))]


@given(st.integers(0, 14), st.integers(0, 20), st.integers(2, 6), seeds)
def test_points_of_a_small_grid(n, m, side, seed):
    """Nodes on edges, overlaps, and many edges through one point."""
    rng = random.Random(seed)
    xy = rng.sample([(x, y) for x in range(side) for y in range(side)], min(n, side * side))
    assert_arrangement(xy, random_edges(len(xy), m, rng))


@given(st.integers(0, 12), st.integers(0, 18), seeds)
def test_random_points(n, m, seed):
    rng = random.Random(seed)
    xy = [(rng.uniform(-1, 1), rng.uniform(-1, 1)) for _ in range(n)]
    assert_arrangement(xy, random_edges(n, m, rng))


@given(st.integers(2, 12), st.integers(1, 18), st.sampled_from([2.0**-45, 2.0**-52, 1e-30]), seeds)
def test_points_that_nearly_are_on_a_grid(n, m, noise, seed):
    """Crossings that doubles cannot tell apart."""
    rng = random.Random(seed)
    xy = [(x + noise * rng.randint(-3, 3), y + noise * rng.randint(-3, 3))
          for x, y in rng.sample([(x, y) for x in range(5) for y in range(5)], n)]  # fmt: skip
    assert_arrangement(xy, random_edges(n, m, rng))


def test_a_crossing_whose_determinants_need_several_doubles():
    """The largest of these doubles alone put it 0.25 away."""
    q = 2.0**-45
    assert_arrangement([(1 - 3 * q, 4), (1 + 3 * q, 0), (1 + 2 * q, 2 + 2 * q), (1 - 2 * q, 3 + 3 * q)], [(0, 1), (2, 3)])


@given(st.integers(3, 9), st.integers(1, 14), seeds)
def test_huge_and_tiny_coordinates(n, m, seed):
    rng = random.Random(seed)
    values = [s * 2.0**k for s in (1.0, -1.0, 1.5) for k in (-199, -1, 0, 1, 248)] + [0.0]
    xy = rng.sample([(x, y) for x in values for y in values], n)
    edges = random_edges(n, m, rng)
    found = pg.planarize(pg.Graph(n, edges), xy)
    found.embedding.check()
    assert_arrangement(xy, edges)


@given(st.integers(3, 16), st.integers(1, 3), seeds)
def test_edges_of_hubs_that_overlap(n, hubs, seed):
    """Several edges of a node in one direction, each over the next."""
    rng = random.Random(seed)
    xy = rng.sample([(x, y) for x in range(-3, 4) for y in range(-2, 3)], n)
    edges = {(h, v) if rng.random() < 0.5 else (v, h) for h in range(min(hubs, n)) for v in range(h + 1, n)}
    assert_arrangement(xy, rng.sample(sorted(edges), len(edges)))


def star(leaves: int) -> tuple[pg.Graph, np.ndarray]:
    angle = np.linspace(0, 2 * np.pi, leaves, endpoint=False)
    return pg.families.star(leaves), np.concatenate([[(0, 0)], np.stack([np.cos(angle), np.sin(angle)], 1)])


def test_a_star_costs_no_pairs():
    """All pairs of 50,000 edges would take half a minute."""
    g, points = star(50_000)
    start = time.thread_time()
    found = pg.planarize(g, points)
    assert time.thread_time() - start < 2
    assert found.graph == g
    assert found.embedding.next.tolist() == pg.embedding(g, points).next.tolist()


def test_a_hub_among_streets():
    """The edges of a star do not keep boxes from separating 20,000 short ones among them."""
    rng = np.random.default_rng(4)
    g, points = star(20_000)
    ends = rng.uniform(-1, 1, (20_000, 2))
    ends = np.stack([ends, ends + 1e-6], 1).reshape(-1, 2)
    n = g.num_nodes
    both = pg.Graph(n + len(ends), np.concatenate([g.edges, n + np.arange(len(ends)).reshape(-1, 2)]))
    start = time.thread_time()
    found = pg.planarize(both, np.concatenate([points, ends]))
    assert time.thread_time() - start < 4
    found.embedding.check()
    assert found.graph.num_nodes > both.num_nodes  # some are crossed


def test_many_edges_through_one_point():
    rng = random.Random(1)
    spokes = [(x, y) for x, y in ((rng.randint(1, 999), rng.randint(-999, 999)) for _ in range(40))]
    xy = [p for x, y in dict.fromkeys(spokes) for p in ((x, y), (-x, -y))]
    xy = list(dict.fromkeys(xy))
    edges = [(k, xy.index((-x, -y))) for k, (x, y) in enumerate(xy) if x > 0]
    found = assert_arrangement(xy, edges)
    assert found.embedding.rotation(len(xy)).shape == (2 * len(edges),)
    assert found.positions[-1].tolist() == [0, 0]


def test_named_nodes():
    xy = {"a": (0, 0), "b": (2, 2), "c": (2, 0), "d": (0, 2)}
    found = pg.planarize(pg.Graph(4, [(0, 1), (2, 3)], names=list(xy)), xy)
    assert found.graph.names.tolist() == [*xy, ("crossing", 0)]
    assert found.embedding.rotation(("crossing", 0)).tolist() == ["a", "c", "b", "d"]


def test_planarized_twice():
    """Names stay different: new crossings are numbered after those of the first time."""
    xy = {"a": (0, 0), "b": (2, 2), "c": (2, 0), "d": (0, 2)}
    first = pg.planarize(nx.Graph([("a", "b"), ("c", "d")]), xy)
    more = first.graph.to_networkx()
    more.add_edge("e", "f")
    xy = dict(zip(first.graph.names.tolist(), first.positions.tolist(), strict=True)) | {"e": (0, 1), "f": (2, 1.5)}
    found = pg.planarize(more, xy)
    assert set(found.graph.names.tolist()) == {*xy, ("crossing", 1), ("crossing", 2)}
    assert len(found.graph.to_networkx()) == found.graph.num_nodes == 9
    assert pickle.loads(pickle.dumps(found.graph)) == found.graph


def test_nodes_at_one_point_are_refused():
    with pytest.raises(pg.InvalidEmbeddingError, match=r"nodes 'b' and 'c' are both at \(1.0, 0.0\); merge them"):
        pg.planarize(pg.Graph(3, [(0, 1)], names="abc"), [(0, 0), (1, 0), (1, 0)])
    with pytest.raises(pg.InvalidEmbeddingError, match=r"between 2\^-200 and 2\^250"):
        pg.planarize(pg.Graph(2, [(0, 1)]), [(0, 0), (2.0**260, 0)])


def test_a_map_without_crossings_stays_as_it_is():
    g = pg.families.shuffled(pg.families.apollonian(200, seed=1), 2)
    points = pg.planar_layout(g)
    found, e = pg.planarize(g, points), pg.embedding(g, points)
    assert found.graph == g
    assert found.source.tolist() == list(range(g.num_edges))
    assert found.embedding.next.tolist() == e.next.tolist()
    assert found.embedding.outer_faces.tolist() == e.outer_faces.tolist()


def test_a_large_grid_with_overpasses():
    """Every crossing is found: each overpass is a diagonal of a known number of lines."""
    side, k = 300, 60
    v = np.arange(side * side).reshape(side, side)
    streets = np.concatenate([np.stack([a.ravel(), b.ravel()], 1) for a, b in ((v[1:], v[:-1]), (v[:, 1:], v[:, :-1]))])
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, side - 5, (2, k))
    bridges = np.unique(np.stack([v[x, y], v[x + 3, y + 4]], 1), axis=0)  # crosses 2 + 3 lines
    xy = np.stack([v.ravel() // side, v.ravel() % side], 1)
    order = rng.permutation(side * side)
    found = pg.planarize(pg.Graph(side * side, order[np.concatenate([streets, bridges])]), xy[np.argsort(order)])
    found.embedding.check()
    parts = np.diff(found.part_ptr)
    assert (parts[len(streets) :] >= 6).all()
    assert found.graph.num_nodes - side * side >= 5 * len(bridges) - 5
    n, m, f = found.graph.num_nodes, found.graph.num_edges, found.embedding.num_faces
    assert n - m + f == 2
