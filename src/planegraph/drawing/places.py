"""Where things stand: nodes of a graph and of skeletons, boxes on shelves, and trees of boxes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from ..decomposition.objects import SpqrNode
from ..errors import MissingDependencyError, PlanegraphWarning
from ..graphs.graph import Graph
from ..planarity.layout import planar_layout

UNIT = 1000
"""Skeletons have coordinates from 0 to this."""

FOLD = 12
"""Nodes of a tree with one child each, in a row, from which on they stand in a winding line instead of under each other."""

BEND = 140  # most units between the parallel edges of a bond


def graph_points(graph: Graph, component: np.ndarray) -> np.ndarray:
    """Shape (n, 2), y downwards: a straight-line drawing without crossings; components on shelves, the largest first."""
    points = _planar(Graph(graph.num_nodes, graph.edges))
    points[:, 1] *= -1
    if graph.num_nodes == 0:
        return points
    count = int(component.max()) + 1
    low, high = np.full((count, 2), np.inf), np.full((count, 2), -np.inf)
    np.minimum.at(low, component, points)
    np.maximum.at(high, component, points)
    order = np.argsort(-np.bincount(component), kind="stable")
    extent = high - low
    gap = float(extent.max() / np.sqrt(np.bincount(component).max())) or 1.0  # about the distance of two nodes
    at = np.empty_like(low)
    at[order] = columns(extent[order].tolist(), 1.3, gap)[0]
    return points - low[component] + at[component]


def _planar(graph: Graph) -> np.ndarray:
    """Tutte's drawing, or one on the grid where that needs scipy, which is missing, or more digits than doubles have."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PlanegraphWarning)
            return np.asarray(planar_layout(graph, "tutte"), float)
    except MissingDependencyError:
        return np.asarray(planar_layout(graph, "grid"), float)


def skeleton_points(c: SpqrNode) -> np.ndarray:
    """Points of the nodes of a skeleton, in their order, as integers from 0 to ``UNIT``."""
    k = len(c.nodes)
    if k == 2:
        return np.array([(0, UNIT // 2), (UNIT, UNIT // 2)])
    if c.type == "S":
        angle = 2 * np.pi * np.arange(k) / k - np.pi / 2 - (np.pi / k if k % 2 == 0 else 0)
        points = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    else:
        at = {v: i for i, v in enumerate(c.nodes)}
        points = _planar(Graph(k, [(at[e.u], at[e.v]) for e in c.edges]))
    low, high = points.min(axis=0), points.max(axis=0)
    size = float((high - low).max()) or 1.0
    return np.rint(UNIT * ((points - (low + high) / 2) / size + 0.5)).astype(np.int64)


def bends(c: SpqrNode) -> list[int]:
    """How far each edge of a bond bends to the side; nothing for other skeletons."""
    if c.type != "P":
        return []
    k = len(c.edges)
    step = min(2 * BEND, 2 * UNIT // k)
    return [round((j - (k - 1) / 2) * step) for j in range(k)]


# ---- boxes ------------------------------------------------------------------------------------------------------------------


def shelves(sizes: Sequence[Sequence[float]], aspect: float, gap: float = 0.0) -> tuple[list[tuple[float, float]], float, float]:
    """Puts boxes side by side, in their order, on shelves that together are about ``aspect`` times as wide as high.

    Returns the corners with the least x and y, and the width and height of all.

    >>> shelves([(2, 1), (2, 1), (2, 1), (2, 1)], 2)
    ([(0.0, 0.0), (2.0, 0.0), (0.0, 1.0), (2.0, 1.0)], 4.0, 2.0)
    """
    area = sum((w + gap) * (h + gap) for w, h in sizes)
    room = max([float(np.sqrt(aspect * area)) + gap / 2, *(w for w, _ in sizes)])
    corners, x, y, height, width = [], 0.0, 0.0, 0.0, 0.0
    for w, h in sizes:
        if x > 0 and x + w > room * 1.0001:
            x, y, height = 0.0, y + height + gap, 0.0
        corners.append((x, y))
        width, height = max(width, x + w), max(height, h)
        x += w + gap
    return corners, width, y + height


def columns(sizes: Sequence[Sequence[float]], aspect: float, gap: float = 0.0) -> tuple[list[tuple[float, float]], float, float]:
    """As ``shelves``, for boxes from the highest to the lowest: low ones stand on each other, as many as their shelf is high.

    >>> columns([(2, 2), (1, 1), (1, 1)], 1.5)
    ([(0.0, 0.0), (2.0, 0.0), (2.0, 1.0)], 3.0, 2.0)
    """
    area = sum((w + gap) * (h + gap) for w, h in sizes)
    room = max([float(np.sqrt(aspect * area)), *(w for w, _ in sizes)])
    corners: list[tuple[float, float]] = []
    width = height = 0.0  # of all
    x = y = across = high = 0.0  # of the column: where it begins, how far it reaches, how high its shelf is
    for w, h in sizes:
        if corners and y + h <= height + high and x + max(across, w) <= room * 1.0001:
            across = max(across, w)
        elif corners and x + across + gap + w <= room * 1.0001:
            x, y, across = x + across + gap, height, w
        else:
            height += high + gap if corners else 0.0
            x, y, across, high = 0.0, height, w, h
        corners.append((x, y))
        width, y = max(width, x + w), y + h + gap
    return corners, width, height + high


def forest(
    parent: Sequence[int], sizes: Sequence[tuple[float, float]], drop: float, gap: float, aspect: float
) -> tuple[np.ndarray, list[str], dict[int, tuple[float, float, float, float]], float, float]:
    """Places the nodes of rooted trees, each with a box, from the top down: children stand on shelves under their parent, or beside it if
    that is large; long chains wind.

    No two boxes overlap, and lines cross no box. Trees stand on shelves, too, large ones first. No recursion: trees may be deep.

    Args:
        parent: of each node, -1 at a root.
        sizes: width and height of each node.
        drop: from a node down to its children.
        aspect: the width by the height of all, about.

    Returns:
        the centres of the nodes; path data of the lines from parents to children; of each root the rectangle of its tree (x, y,
        width, height); the width and height of all.
    """
    n = len(parent)
    children: list[list[int]] = [[] for _ in range(n)]
    for v, p in enumerate(parent):
        if p >= 0:
            children[p].append(v)
    order = [v for v in range(n) if parent[v] < 0]
    roots = len(order)
    for v in order:  # grows while it is read: parents before children
        order.extend(children[v])
    corner = np.zeros((n, 2))  # of the subtree, in that of the parent
    own = np.zeros(n)  # x of the node's centre in its subtree
    extent: list[tuple[float, float]] = [(0.0, 0.0)] * n
    rows: list[list[list[int]]] = [[] for _ in range(n)]
    beside = np.zeros(n, bool)  # whether the children stand on the right of it
    folded = np.zeros(n, bool)  # whether it is in a winding line, and its child is the next there or under the line
    run = np.zeros(n, np.int64)  # how many nodes with one child each stand in a row from here on
    for v in reversed(order):
        (w, h), below = sizes[v], children[v]
        run[v] = 1 + run[below[0]] if len(below) == 1 else 0
        if run[v] >= FOLD and (parent[v] < 0 or len(children[parent[v]]) > 1):
            line = [v]
            while run[line[-1]] > 1:
                line.append(children[line[-1]][0])
            folded[line] = True
            extent[v] = _wind(line, children[line[-1]][0], sizes, extent, own, corner, gap, drop)
            continue
        if not below:
            own[v], extent[v] = w / 2, (w, h)
            continue
        below.sort(key=lambda u: -extent[u][1])
        places, width, height = shelves([extent[u] for u in below], 1.2 * aspect, gap)
        starts = [i for i, (x, _) in enumerate(places) if x == 0]
        rows[v] = [below[a:b] for a, b in zip(starts, [*starts[1:], len(below)], strict=True)]
        trunk = gap if len(rows[v]) > 1 else 0.0
        if trunk and h > 2 * drop and w * abs(height + drop - h) < h * abs(width + trunk - w):  # less room is lost beside it
            beside[v] = True
            corner[below] = np.add(places, (w + drop, drop))
            own[v], extent[v] = w / 2, (w + drop + width, max(h, drop + height))
            continue
        corner[below] = np.add(places, (trunk, h + drop))
        middle = (corner[below[0], 0] + own[below[0]] + corner[below[-1], 0] + own[below[-1]]) / 2
        centre = w / 2 if trunk else middle
        shift = max(0.0, w / 2 - centre)  # a parent wider than its children
        if not trunk:
            corner[below, 0] += shift
        own[v] = centre + shift
        extent[v] = max(width + trunk + (0.0 if trunk else shift), own[v] + w / 2), h + drop + height
    tops = sorted(order[:roots], key=lambda r: (-extent[r][1], -extent[r][0]))
    places, width, height = columns([extent[r] for r in tops], aspect, 1.6 * gap)
    for r, place in zip(tops, places, strict=True):
        corner[r] = place
    for v in order[roots:]:
        corner[v] += corner[parent[v]]
    centres = np.stack([corner[:, 0] + own, corner[:, 1] + [h / 2 for _, h in sizes]], axis=1) if n else np.zeros((0, 2))
    lines = [
        _link(centres[v], centres[children[v][0]], sizes[v], sizes[children[v][0]])
        if folded[v]
        else _lines(v, rows[v], corner, centres, sizes[v], drop, bool(beside[v]))
        for v in range(n)
        if children[v]
    ]
    boxes = {r: (*corner[r].tolist(), *extent[r]) for r in tops}
    return centres, lines, boxes, width, height


def _wind(
    line: list[int],
    last: int,
    sizes: Sequence[tuple[float, float]],
    extent: list[tuple[float, float]],
    own: np.ndarray,
    corner: np.ndarray,
    gap: float,
    drop: float,
) -> tuple[float, float]:
    """Places a chain of nodes in rows, to the right and back in turn, and the subtree of the last child under them; the size of all."""
    across = int(np.ceil(np.sqrt(len(line))))
    step = max(w for w, _ in (sizes[v] for v in line)) + gap, max(h for _, h in (sizes[v] for v in line)) + drop
    places = []
    for i, v in enumerate(line):
        row, column = divmod(i, across)
        column = across - 1 - column if row % 2 else column
        own[v] = sizes[v][0] / 2
        places.append((column * step[0] + (step[0] - gap - sizes[v][0]) / 2, row * step[1]))
    height = (row + 1) * step[1]
    x = max(0.0, places[-1][0] + own[line[-1]] - own[last])  # under the end of the line
    for before, v, place in zip([None, *places], line, places, strict=False):
        corner[v] = np.subtract(place, before or (0, 0))
    corner[last] = np.subtract((x, height), places[-1])
    own[line[0]] += places[0][0]
    corner[line[1]] += places[0]
    return max(across * step[0] - gap, x + extent[last][0]), height + extent[last][1]


def _link(a: np.ndarray, b: np.ndarray, of_a: tuple[float, float], of_b: tuple[float, float]) -> str:
    """From a node to the next one in a winding line, which is beside or under it, or to the subtree under the line."""
    (x, y), (u, v) = a.tolist(), b.tolist()
    top = v - of_b[1] / 2
    if abs(y - of_a[1] / 2 - top) < 0.1:
        side, level = (1 if u > x else -1), top + min(of_a[1], of_b[1]) / 2
        return f"M{x + side * of_a[0] / 2:.1f} {level:.1f}H{u - side * of_b[0] / 2:.1f}"
    bottom = y + of_a[1] / 2
    return f"M{x:.1f} {bottom:.1f}V{(top + bottom) / 2:.1f}H{u:.1f}V{top:.1f}"


def _lines(
    v: int, rows: list[list[int]], corner: np.ndarray, centres: np.ndarray, size: tuple[float, float], drop: float, beside: bool
) -> str:
    """From a node along a bar above each shelf and down to each child."""
    bars = [corner[row[0], 1] - drop / 2 for row in rows]
    start = corner[v, 1] + size[1]
    if beside:
        x, start = corner[v, 0] + size[0] + drop / 2, bars[0]
    else:
        x = centres[v, 0] if len(rows) == 1 else corner[v, 0] + min(size[0] / 2, drop / 3)
    path = [f"M{x - drop / 2:.1f} {start:.1f}h{drop / 2:.1f}"] if beside else []
    path.append(f"M{x:.1f} {start:.1f}V{bars[-1]:.1f}")
    for row, bar in zip(rows, bars, strict=True):
        ends = [centres[u, 0] for u in row] + [x]
        if max(ends) > min(ends):
            path.append(f"M{min(ends):.1f} {bar:.1f}H{max(ends):.1f}")
        path.extend(f"M{centres[u, 0]:.1f} {bar:.1f}V{corner[u, 1]:.1f}" for u in row)
    return "".join(path)
