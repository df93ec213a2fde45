"""Where things stand: boxes do not overlap, lines of trees lead from parents to children, and drawings of graphs have no crossings."""

from __future__ import annotations

import re

import crossings
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_planar

import planegraph as pg
from planegraph.drawing.places import columns, forest, graph_points, shelves, skeleton_points

SIZES = st.lists(st.tuples(st.integers(1, 40).map(float), st.integers(1, 40).map(float)), max_size=30)


def assert_apart(boxes: list[tuple[float, float, float, float]], gap: float = 0.0) -> None:
    """No two of the boxes (x, y, width, height) overlap, or are closer than the gap."""
    for i, (x, y, w, h) in enumerate(boxes):
        for a, b, c, d in boxes[:i]:
            near = 1e-6 - gap
            assert x + w <= a + near or a + c <= x + near or y + h <= b + near or b + d <= y + near


@given(SIZES, st.sampled_from([0.5, 1.0, 3.0]), st.sampled_from([0.0, 5.0]), st.booleans())
def test_boxes_stand_apart(sizes, aspect, gap, stacked):
    if stacked:
        sizes = sorted(sizes, key=lambda s: -s[1])
    corners, width, height = (columns if stacked else shelves)(sizes, aspect, gap)
    boxes = [(*corner, *size) for corner, size in zip(corners, sizes, strict=True)]
    assert_apart(boxes, gap)
    assert width == max((x + w for x, _, w, _ in boxes), default=0)
    assert height == max((y + h for _, y, _, h in boxes), default=0)


@given(st.lists(st.tuples(st.integers(-1, 30), st.sampled_from([10.0, 26.0, 60.0, 300.0])), max_size=40))
def test_trees(rows):
    parent = [min(p, v - 1) for v, (p, _) in enumerate(rows)]
    sizes = [(side, side) for _, side in rows]
    centres, lines, trees, width, height = forest(parent, sizes, 26, 16, 1.5)
    boxes = [(x - w / 2, y - h / 2, w, h) for (x, y), (w, h) in zip(centres.tolist(), sizes, strict=True)]
    assert_apart(boxes, 5)
    assert_apart(list(trees.values()), 5)
    assert all(x >= -1e-6 and x + w <= width + 1e-6 and y >= -1e-6 and y + h <= height + 1e-6 for x, y, w, h in boxes)
    for v in range(len(rows)):
        root = v
        while parent[root] >= 0:
            root = parent[root]
        (x, y, w, h), (a, b, c, d) = trees[root], boxes[v]
        assert x - 1e-6 <= a
        assert a + c <= x + w + 1e-6
        assert y - 1e-6 <= b
        assert b + d <= y + h + 1e-6
    inner = [v for v in range(len(rows)) if v in parent]
    assert len(lines) == len(inner)
    for v, path in zip(inner, lines, strict=True):
        ends = {(float(x), float(y)) for x, y in re.findall(r"M([\d.-]+) [\d.-]+V([\d.-]+)", path)}
        for u in (u for u in range(len(rows)) if parent[u] == v):  # a line ends in the middle of the child's top
            top = (centres[u, 0], boxes[u][1])
            assert any(abs(x - top[0]) < 0.06 and abs(y - top[1]) < 0.06 for x, y in ends)


def test_a_long_tree_needs_no_recursion():
    n = 20_000
    _, _, _, width, height = forest([-1, *range(n - 1)], [(10.0, 10.0)] * n, 20, 12, 1.5)
    assert (width, height) == (10, 10 * n + 20 * (n - 1))


@given(any_planar())
def test_graphs_and_skeletons_have_no_crossings(plain):
    g = plain.build()
    d = pg.decompose(g)
    assert crossings.flaw(g.edges, graph_points(g, d.components)) is None, g.to_graph6()
    for c in d.spqr_nodes:
        points = skeleton_points(c)
        assert points.shape == (len(c.nodes), 2)
        assert points.min() >= 0
        assert points.max() <= 1000
        assert len(np.unique(points, axis=0)) == len(c.nodes)
        if c.type in "SR" and len(c.nodes) < 12:
            at = {v: i for i, v in enumerate(c.nodes)}
            edges = np.array([(at[e.u], at[e.v]) for e in c.edges])
            assert crossings.flaw(edges, points) is None, g.to_graph6()
