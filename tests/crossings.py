"""Whether a straight-line drawing is plane, in exact arithmetic: by all pairs, or by a sweep. planegraph has no part in it."""

from __future__ import annotations

import itertools
from collections import defaultdict
from fractions import Fraction
from math import inf, lcm
from typing import Any

Point = tuple[int, int]


def as_integers(points: Any) -> list[Point]:
    """The points on a grid so fine that all coordinates are integers."""
    exact = [(Fraction(x), Fraction(y)) for x, y in points.tolist()]
    scale = lcm(*(c.denominator for p in exact for c in p))
    return [(int(x * scale), int(y * scale)) for x, y in exact]


def side(a: Point, b: Point, c: Point) -> int:
    """Positive if c is on the left of the line from a to b."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def slope(a: Point, b: Point) -> Fraction | float:
    """Of the line from a to the right, or straight up."""
    return Fraction(b[1] - a[1], b[0] - a[0]) if b[0] > a[0] else inf


def flaw(edges: Any, points: Any) -> str | None:
    """What is wrong with the drawing, or None; looks at all pairs."""
    p, pairs = as_integers(points), [tuple(e) for e in edges.tolist()]
    if len(set(p)) < len(p):
        return "two nodes at one point"
    for a, b in pairs:
        for v in range(len(p)):
            if v not in (a, b) and side(p[a], p[b], p[v]) == 0 and min(p[a], p[b]) < p[v] < max(p[a], p[b]):
                return f"node {v} on edge {(a, b)}"
    for k, (a, b) in enumerate(pairs):
        for c, d in pairs[:k]:
            if {a, b} & {c, d}:
                continue  # they could only overlap, and then a node is on an edge
            if side(p[a], p[b], p[c]) * side(p[a], p[b], p[d]) < 0 and side(p[c], p[d], p[a]) * side(p[c], p[d], p[b]) < 0:
                return f"edges {(a, b)} and {(c, d)} cross"
    return None


def flaw_by_sweep(edges: Any, points: Any) -> str | None:
    """The same in O((n + m) log n) steps: edges that become neighbours on a vertical line are compared (Shamos and Hoey)."""
    p = as_integers(points)
    starts, ends = defaultdict(list), defaultdict(int)
    for a, b in edges.tolist():
        a, b = (a, b) if p[a] < p[b] else (b, a)
        starts[a].append(b)
        ends[b] += 1
    line: list[tuple[int, int]] = []  # the edges that the line meets, from below

    def meet(s: tuple[int, int], t: tuple[int, int]) -> bool:
        a, b, c, d = (p[v] for v in (*s, *t))
        shared = len({*s, *t}) < 4
        return not shared and side(a, b, c) * side(a, b, d) <= 0 and side(c, d, a) * side(c, d, b) <= 0

    order = sorted(range(len(p)), key=p.__getitem__)
    for before, v in zip([None, *order], order, strict=False):
        q = p[v]
        if before is not None and p[before] == q:
            return f"nodes {before} and {v} at one point"
        low, high = 0, len(line)
        while low < high:  # the first edge that is not below q
            middle = (low + high) // 2
            if side(p[line[middle][0]], p[line[middle][1]], q) > 0:
                low = middle + 1
            else:
                high = middle
        while high < len(line) and side(p[line[high][0]], p[line[high][1]], q) == 0:
            if line[high][1] != v:
                return f"node {v} on edge {line[high]}"
            high += 1
        if high - low != ends[v]:
            return f"edges that end at node {v} are not together"
        new = sorted(((v, u) for u in starts[v]), key=lambda e: slope(q, p[e[1]]))
        for s, t in itertools.pairwise(new):
            if side(q, p[s[1]], p[t[1]]) == 0:
                return f"edges {s} and {t} overlap"
        line[low:high] = new
        high = low + len(new)
        for k in {low, high}:
            if 0 < k < len(line) and meet(line[k - 1], line[k]):
                return f"edges {line[k - 1]} and {line[k]} meet"
    return None
