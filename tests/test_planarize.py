"""Maps with crossings against an arrangement that is computed with fractions, and at sizes that fractions cannot reach."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import seeds

import planegraph as pg


def cross(o, p, q):
    return (p[0] - o[0]) * (q[1] - o[1]) - (p[1] - o[1]) * (q[0] - o[0])


def meetings(a, b, c, d) -> set:
    """The ends of the common part of two segments, or the point where they cross."""
    found = {p for p in (c, d) if on_segment(p, a, b)} | {p for p in (a, b) if on_segment(p, c, d)}
    if not found and cross(a, b, c) * cross(a, b, d) < 0 and cross(c, d, a) * cross(c, d, b) < 0:
        t = cross(c, d, a) / (cross(c, d, a) - cross(c, d, b))
        found = {(a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]))}
    return found


def on_segment(p, a, b) -> bool:
    return cross(a, b, p) == 0 and min(a, b) <= p <= max(a, b)


def by_angle(at, points):
    """Counter-clockwise from downwards, exactly."""
    right = [p for p in points if p > at]
    left = [p for p in points if p < at]

    def slope(p):  # a monotone function of the angle in each half
        dx, dy = p[0] - at[0], p[1] - at[1]
        return (1, Fraction(0)) if dx == 0 else (0, dy / dx)

    return sorted(right, key=slope) + sorted(left, key=slope)


def assert_arrangement(xy, edges) -> pg.Planarization:
    """The result is the arrangement that fractions give."""
    shown = f"points {np.asarray(xy).tolist()}, edges {list(edges)}"
    found = pg.planarize(pg.Graph(len(xy), edges), np.array(xy, float).reshape(-1, 2))
    exact = [(Fraction(float(x)), Fraction(float(y))) for x, y in xy]
    on_edge = [{exact[u], exact[v]} | {p for p in exact if on_segment(p, exact[u], exact[v])} for u, v in edges]
    for e, f in combinations(range(len(edges)), 2):
        common = meetings(*(exact[v] for v in (*edges[e], *edges[f])))
        on_edge[e] |= common
        on_edge[f] |= common
    point = dict(enumerate(exact))
    pieces = {}
    for e, (u, v) in enumerate(edges):
        way = sorted(on_edge[e], reverse=exact[u] > exact[v])
        parts = found.parts[found.part_ptr[e] : found.part_ptr[e + 1]]
        assert len(parts) == len(way) - 1, shown
        at = u
        for k, (p, q) in zip(parts, pairwise(way), strict=True):
            ends = found.graph.edges[k].tolist()
            assert at in ends, shown
            assert point.setdefault(at, p) == p, shown
            pieces.setdefault(frozenset((p, q)), (e, k))
            if found.source[k] == e:
                assert ends[0] == at, shown
                t = [float((r[0] - p0[0]) / (p1[0] - p0[0]) if p1[0] != p0[0] else (r[1] - p0[1]) / (p1[1] - p0[1]))
                     for p0, p1 in [(exact[u], exact[v])] for r in (p, q)]  # fmt: skip
                assert found.along[k].tolist() == pytest.approx(t, abs=1e-9), shown
            at = sum(ends) - at
        assert at == v, shown
    assert len(pieces) == found.graph.num_edges, shown
    assert sorted(found.source) == sorted(e for e, _ in pieces.values()), shown  # overlaps belong to the first
    assert len(set(point.values())) == len(point) == found.graph.num_nodes, shown
    size = max((abs(c) for p in exact for c in p), default=Fraction(0))
    for v, p in point.items():
        assert all(
            abs(Fraction(c) - x) <= size * Fraction(1, 2**48) for c, x in zip(found.positions[v].tolist(), p, strict=True)
        ), shown
    number = {p: v for v, p in point.items()}
    around = {v: [] for v in point}
    for p, q in (tuple(pair) for pair in pieces):
        around[number[p]].append(q)
        around[number[q]].append(p)
    e = found.embedding
    e.check()
    for v, others in around.items():
        expected = [number[q] for q in by_angle(point[v], others)]
        given_ = e.rotation(v).tolist()
        k = given_.index(expected[0]) if expected else 0
        assert given_[k:] + given_[:k] == expected, shown
    for face in e.outer_faces:
        walk = [point[v] for v in e.face(face).tolist()]
        assert sum(p[0] * q[1] - q[0] * p[1] for p, q in zip(walk, walk[1:] + walk[:1], strict=True)) <= 0, shown
    return found


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


@given(st.integers(3, 9), st.integers(1, 14), seeds)
def test_huge_and_tiny_coordinates(n, m, seed):
    rng = random.Random(seed)
    values = [s * 2.0**k for s in (1.0, -1.0, 1.5) for k in (-199, -1, 0, 1, 248)] + [0.0]
    xy = rng.sample([(x, y) for x in values for y in values], n)
    edges = random_edges(n, m, rng)
    found = pg.planarize(pg.Graph(n, edges), xy)
    found.embedding.check()
    assert_arrangement(xy, edges)


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
