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
    check_tree([min(p, v - 1) for v, (p, _) in enumerate(rows)], [(side, side) for _, side in rows])


def check_tree(parent: list[int], sizes: list[tuple[float, float]]) -> None:
    centres, lines, trees, width, height = forest(parent, sizes, 26, 16, 1.5)
    boxes = [(x - w / 2, y - h / 2, w, h) for (x, y), (w, h) in zip(centres.tolist(), sizes, strict=True)]
    assert_apart(boxes, 5)
    assert_apart(list(trees.values()), 5)
    assert all(x >= -1e-6 and x + w <= width + 1e-6 and y >= -1e-6 and y + h <= height + 1e-6 for x, y, w, h in boxes)
    for v in range(len(parent)):
        root = v
        while parent[root] >= 0:
            root = parent[root]
        (x, y, w, h), (a, b, c, d) = trees[root], boxes[v]
        assert x - 1e-6 <= a
        assert a + c <= x + w + 1e-6
        assert y - 1e-6 <= b
        assert b + d <= y + h + 1e-6
    inner = [v for v in range(len(parent)) if v in parent]
    assert len(lines) == len(inner)
    for v, path in zip(inner, lines, strict=True):
        for u in (v, *(u for u in range(len(parent)) if parent[u] == v)):
            assert any(on_the_rim(point, boxes[u]) for point in corners(path)), (parent, v, u)


def corners(path: str) -> list[tuple[float, float]]:
    """The ends of the lines of path data."""
    found, x, y = [], 0.0, 0.0
    for letter, numbers in re.findall(r"([MHVh])([^MHVh]*)", path):
        values = [float(number) for number in numbers.split()]
        x = values[0] if letter in "MH" else x + values[0] if letter == "h" else x
        y = values[-1] if letter in "MV" else y
        found.append((x, y))
    return found


def on_the_rim(point: tuple[float, float], box: tuple[float, float, float, float]) -> bool:
    """Whether a point is on the sides of a box, up to rounding."""
    (x, y), (a, b, w, h) = point, box
    outside = max(a - x, x - a - w, b - y, y - b - h)
    return abs(outside) < 0.11


def test_a_long_tree_needs_no_recursion():
    n = 20_000
    centres, _, _, width, height = forest([-1, *range(n - 1)], [(10.0, 10.0)] * n, 20, 12, 1.5)
    assert len(np.unique(centres.round(), axis=0)) == n
    assert max(width, height) < 60 * n**0.5
    _, _, _, width, height = forest([-1, *range(4)], [(10.0, 10.0)] * 5, 20, 12, 1.5)
    assert (width, height) == (10, 5 * 10 + 4 * 20)


@given(st.integers(10, 60), st.integers(0, 3), st.lists(st.sampled_from([10.0, 30.0]), min_size=70, max_size=70))
def test_chains_in_trees(length, leaves, sides):
    """A chain between a root and a fork, with some leaves at both."""
    parent = [-1, *range(length), *([0] * leaves), *([length] * leaves)]
    check_tree(parent, [(side, side) for side in sides[: len(parent)]])


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
