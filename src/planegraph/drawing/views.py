"""The three views of a scene as SVG: the graph, the block-cut tree, the SPQR trees.

With ``titles`` parts say what they are, as a still picture needs; the page says more. Parts have ids, by which the page links them:
``v3`` node, ``e3`` edge, ``k3`` the shade of a block, ``r3`` the ring of a cut node,
``b3`` and ``c3`` block and cut node in the block-cut tree, ``s3`` SPQR node. Colours come from ``views.css`` by classes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from ..decomposition.tables import TYPES
from ..errors import InvalidEmbeddingError
from ..graphs.graph import Graph
from ..io.text import counted
from ..planarity.find import embedding
from .markup import dots, element, line, text
from .places import UNIT, forest
from .scene import Scene, Skeleton
from .style import TINTS, still_style

LABELLED = 8
"""Radius of nodes, in units of the picture, from which on there is room for labels."""

_WIDTH = 1000.0
_BADGES = {  # of SPQR nodes: a letter in a shape each
    "S": '<circle r="8.5"/>',
    "P": '<path d="M0 -10.5L10.5 0L0 10.5L-10.5 0Z"/>',
    "Q": '<rect x="-9" y="-7" width="18" height="14" rx="7"/>',
    "R": '<path d="M-9 0L-4.5 -8.5H4.5L9 0L4.5 8.5H-4.5Z"/>',
}
_CALLED = {"S": "cycle of {}", "P": "bond of {}", "Q": "edge", "R": "rigid, {}"}


@dataclass(frozen=True)
class View:
    """A drawing with its size."""

    width: float
    height: float
    body: str

    def svg(self, **attributes: object) -> str:
        """The SVG element."""
        size = f"0 0 {self.width:.1f} {self.height:.1f}"
        return element("svg", self.body, xmlns="http://www.w3.org/2000/svg", viewBox=size, **attributes)


# ---- the graph --------------------------------------------------------------------------------------------------------------


def graph_view(scene: Scene, titles: bool = False) -> View:
    """Blocks are shaded, cut nodes have a ring; nodes have labels if there is room."""
    points, radius = _scaled(scene)
    labelled = radius >= LABELLED
    cuts = scene.decomposition.arrays["cut_node"].tolist()
    at = points.tolist()
    edges = scene.graph.edges.tolist()
    lines = [1] * len(edges) if scene.lines is None else scene.lines.tolist()
    bonds = (
        element("path", id=f"e{e}", d=_edge(points[u], points[v], k, radius))
        for e, ((u, v), k) in enumerate(zip(edges, lines, strict=True))
    )
    nodes = (
        element("circle", *_title(titles, f"{scene.node_word} {v}: {scene.labels[v]}"), id=f"v{v}", cx=x, cy=y, r=radius)
        for v, (x, y) in enumerate(at)
    )
    ring = max(1.5, 0.28 * radius)
    rings = (element("circle", id=f"r{c}", cx=at[v][0], cy=at[v][1], r=radius + ring) for c, v in enumerate(cuts))
    body = [
        element("g", *_shades(scene, points, 2.6 * radius), class_="shades"),
        element("g", *bonds, class_="edges", stroke_width=max(0.9, 0.16 * radius)),
        element("g", *rings, class_="rings", stroke_width=ring * 0.75),
        element("g", *nodes, class_="nodes", stroke_width=max(0.6, 0.13 * radius)),
    ]
    if labelled:
        body.append(element("g", *(label(scene.labels[v], x, y, radius) for v, (x, y) in enumerate(at)), class_="labels"))
    width, height = (points.max(axis=0) + 3 * radius + 6).tolist() if len(at) else (300, 80)
    widths = f"--stroke:{max(0.9, 0.16 * radius):.1f}px;--outline:{max(0.6, 0.13 * radius):.1f}px"
    return View(width, height, element("g", *body, class_="graph labelled" if labelled else "graph", style=widths))


def _title(wanted: bool, words: str) -> list[str]:
    return [element("title", text(words))] if wanted else []


def label(words: str, x: float, y: float, radius: float) -> str:
    """A text that fits a circle."""
    size = radius * min(1.15, 2.6 / max(len(words), 1))
    return element("text", text(words), x=x, y=y + 0.36 * size, font_size=size)


def _scaled(scene: Scene) -> tuple[np.ndarray, float]:
    """The points in a picture of standard width, and the radius of the nodes."""
    points = scene.points.astype(float)
    if not len(points):
        return points, 10.0
    low = points.min(axis=0)
    extent = points.max(axis=0) - low
    edges = scene.graph.edges

    ends = points[edges]
    lengths = np.hypot(*(ends[:, 0] - ends[:, 1]).T)
    room = (_WIDTH - 70) / max(extent[0], 1e-9), (0.9 * _WIDTH - 70) / max(extent[1], 1e-9)
    scale = min(room) if extent.max() > 0 else 1.0
    if len(edges):
        scale = min(scale, 190 / max(float(np.median(lengths)), 1e-9))  # small graphs are not blown up
    typical = float(np.quantile(lengths, 0.15)) * scale if len(edges) else 80.0
    radius = 0.3 * typical if 0.3 * typical >= LABELLED else 0.2 * typical
    if 1 < len(points) <= 400:  # of few nodes, none shall hide another
        apart = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
        np.fill_diagonal(apart, np.inf)
        radius = min(radius, 0.45 * float(apart.min()) * scale)
    radius = float(np.clip(radius, 1.6, 26))
    return (points - low) * scale + 3 * radius + 6, radius


def _edge(a: np.ndarray, b: np.ndarray, count: int, radius: float) -> str:
    """A line, or parallel lines of a double or triple bond."""
    if count == 1:
        return line([a, b])
    along = b - a
    side = np.array([-along[1], along[0]]) / (float(np.hypot(*along)) or 1.0) * 0.36 * radius
    offsets = (np.arange(count) - (count - 1) / 2) * (1 if count == 2 else 1.2)
    return "".join(line([a + k * side, b + k * side]) for k in offsets)


def _shades(scene: Scene, points: np.ndarray, width: float) -> list[str]:
    """The areas of blocks, large ones first, so that those inside others lie on top."""
    tint, found = tints(scene), []
    for block in scene.decomposition.blocks:
        edges = scene.graph.edges[list(block.edges)]
        d_, area = _outline(np.array(block.nodes), edges, points)
        shape = element("path", id=f"k{block.index}", d=d_, class_=f"t{tint[block.index]}", stroke_width=width)
        found.append((-area, block.index, shape))
    return [shape for _, _, shape in sorted(found)]


def _outline(nodes: np.ndarray, edges: np.ndarray, points: np.ndarray) -> tuple[str, float]:
    """Path data around a block, and its area; of a block whose edges cross, as in some molecules, its edges."""
    if len(edges) > 1:
        new = np.searchsorted(nodes, edges)
        try:
            e = embedding(Graph(len(nodes), new), points[nodes])
        except InvalidEmbeddingError:
            pass
        else:
            around = points[nodes[e.face(int(e.outer_faces[0]))]]
            x, y = around.T
            return line(around.tolist(), closed=True), abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))
    return "".join(line(points[row].tolist()) for row in edges), 0.0


def tints(scene: Scene) -> list[int]:
    """A tint for each block, which differs from that of the block above it in the block-cut tree."""
    a = scene.decomposition.arrays
    above = np.append(a["cut_parent_block"], -1)[a["block_parent_cut"]].tolist()
    tint, used = [0] * len(above), Counter[int]()
    for b in np.argsort(-a["block_level"], kind="stable").tolist():  # from the roots down
        p = above[b]
        tint[b] = (tint[p] + 1 + used[p] % (TINTS - 1)) % TINTS if p >= 0 else used[p] % TINTS
        used[p] += 1
    return tint


# ---- the block-cut tree -----------------------------------------------------------------------------------------------------


def block_cut_view(scene: Scene, titles: bool = False) -> View:
    """Blocks are boxes with their numbers, in the tints of the graph's view; cut nodes are rings."""
    a = scene.decomposition.arrays
    sizes = np.bincount(a["node_block_block"], minlength=len(a["block_root"])).tolist()
    blocks, cuts, tint = len(sizes), a["cut_node"].tolist(), tints(scene)
    parent = [blocks + c if c >= 0 else -1 for c in a["block_parent_cut"].tolist()] + a["cut_parent_block"].tolist()
    boxes = [(34.0 + 4 * min(np.sqrt(k - 2), 16), 26.0) for k in sizes] + [(26.0, 26.0)] * len(cuts)
    centres, lines, _, width, height = forest(parent, boxes, 20, 12, 3)
    parts = [element("path", d="".join(lines), class_="branches")] if lines else []
    for b, k in enumerate(sizes):
        (x, y), (w, h) = centres[b], boxes[b]
        words = _title(titles, f"block {b}: {counted(k, 'node')}")
        rect = element("rect", x=x - w / 2, y=y - h / 2, width=w, height=h, rx=7.0, class_=f"t{tint[b]}")
        parts.append(element("g", *words, rect, _centred(f"B{b}", x, y, 11), id=f"b{b}", class_="block"))
    for c, v in enumerate(cuts):
        x, y = centres[blocks + c]
        words = _title(titles, f"cut node: {scene.node_word} {v}: {scene.labels[v]}")
        rings = element("circle", cx=x, cy=y, r=12.0) + element("circle", cx=x, cy=y, r=9.0)
        name = scene.labels[v]
        parts.append(element("g", *words, rings, _centred(name, x, y, min(10, 26 / max(len(name), 1))), id=f"c{c}", class_="cut"))
    return _framed(parts, width, height, (290, 100), "block-cut")


def _centred(words: str, x: float, y: float, size: float) -> str:
    return element("text", text(words), x=float(x), y=float(y + 0.36 * size), font_size=float(size))


# ---- the SPQR trees ---------------------------------------------------------------------------------------------------------


def spqr_view(scene: Scene, titles: bool = False) -> View:
    """Each tree lies on the tint of its block; each SPQR node is a picture of its skeleton with a badge. Equal pictures stand once."""
    nodes, tint = scene.decomposition.spqr_nodes, tints(scene)
    parent = [-1 if c.parent is None else c.parent for c in nodes]
    sides = [_side(s) for s in scene.skeletons]
    centres, lines, boxes, width, height = forest(parent, [(k, k) for k in sides], 26, 16, 1.5)
    pictures: dict[str, str] = {}
    tiles = []
    for s, side, (x, y) in zip(scene.skeletons, sides, centres.tolist(), strict=True):
        c = s.node
        scale = (side - 2 * _margin(side)) / UNIT
        corner = f"translate({_margin(side)} {_margin(side)}) scale({scale:.5f})"
        drawn = pictures.setdefault(element("g", skeleton(s, 1 / scale), transform=corner), f"p{len(pictures)}")
        words = _title(titles, f"{c.type}{c.index}: {_CALLED[c.type].format(counted(len(c.edges), 'edge'))}")
        frame = element("rect", width=side, height=side, rx=8, class_="tile")
        marks = element("use", href=f"#{drawn}") + element("use", href=f"#{c.type}", x=4, y=4, class_="badge")
        place = f"translate({x - side / 2:.1f} {y - side / 2:.1f})"
        tiles.append(element("g", *words, frame, marks, id=f"s{c.index}", class_=f"spqr {c.type}", transform=place))
    shared = [element("g", picture, id=name, class_="skeleton") for picture, name in pictures.items()]
    shared += [_badge(kind, id=kind) for kind in _BADGES]
    grounds = [
        element("rect", x=x - 6, y=y - 6, width=w + 12, height=h + 12, rx=12, class_=f"tree t{tint[nodes[root].block]}")
        for root, (x, y, w, h) in boxes.items()
    ]
    branches = [element("path", d="".join(lines), class_="branches")] if lines else []
    return _framed(
        [element("defs", *shared), *grounds, *branches, *tiles] if tiles else [], width, height, (340, 235), "spqr-trees"
    )


def _badge(kind: str, **attributes: object) -> str:
    letter = element("text", kind, y=3.8, font_size=10.5)
    return element("g", _BADGES[kind], letter, class_="mark", **attributes)


def _side(s: Skeleton) -> float:
    if s.node.type == "R":
        return float(np.clip(30 + 14 * np.sqrt(len(s.edges)), 64, 300))
    return 44.0 if s.node.type == "Q" else 58.0


def _margin(side: float) -> float:
    return 13.0 if side > 50 else 10.0


def skeleton(s: Skeleton, scale: float) -> str:
    """Real edges, virtual edges (dashed), and nodes, in units of ``places.UNIT``; ``scale`` units are one of the picture."""
    width = scale * (1.7 if len(s.edges) < 60 else 1.0)
    bent = s.bends or [0] * len(s.edges)
    kinds: dict[bool, list[str]] = {True: [], False: []}
    for (u, v, edge, _), bend in zip(s.edges, bent, strict=True):
        a, b = s.points[u].tolist(), s.points[v].tolist()
        kinds[edge >= 0].append(f"M{a[0]} {a[1]}Q{UNIT // 2} {UNIT // 2 + 2 * bend} {b[0]} {b[1]}" if bend else line([a, b]))
    made = []
    if kinds[True]:
        made.append(element("path", d="".join(kinds[True]), class_="real", stroke_width=width))
    if kinds[False]:
        dash = f"{2.6 * scale:.0f} {2.4 * scale:.0f}"
        made.append(element("path", d="".join(kinds[False]), class_="virtual", stroke_width=width, stroke_dasharray=dash))
    size = scale * (5 if len(s.points) < 40 else 3)
    return "".join([*made, element("path", d=dots(s.points), class_="dots", stroke_width=size)])


def _framed(parts: list[str], width: float, height: float, least: tuple[float, float], name: str) -> View:
    """With a margin; small trees are not blown up beyond what fits into the least size."""
    if not parts:
        return View(300, 80, element("text", "none: there are no edges", x=150, y=44, class_="none", font_size=13))
    w, h = max(width + 26, least[0]), max(height + 26, least[1])
    return View(w, h, element("g", *parts, transform=f"translate({(w - width) / 2:.1f} {(h - height) / 2:.1f})", class_=name))


# ---- the still picture ------------------------------------------------------------------------------------------------------


def picture(scene: Scene) -> str:
    """One SVG with all three views."""
    graph, blocks, spqr = (view(scene, titles=True) for view in (graph_view, block_cut_view, spqr_view))
    left, right, top, gap = 680.0, 470.0, 96.0, 44.0
    tall = max(260.0, min(760.0, left * graph.height / graph.width))
    upper = min(max(0.3 * tall, 110.0), right * blocks.height / blocks.width + 4, tall - 140)
    lower = tall - upper - gap
    width, height = left + right + 3 * 24, top + tall + 52
    x = left + 48

    def put(view: View, x: float, y: float, w: float, h: float) -> str:
        return view.svg(x=x, y=y, width=w, height=h)

    def head(words: str, x: float, y: float) -> str:
        return element("text", text(words), x=x, y=y, class_="head", font_size=15)

    d = scene.decomposition
    body = [
        element("title", text(scene.title)),
        element("style", still_style()),
        element("rect", width=width, height=height, class_="paper"),
        element("text", text(scene.title), x=24, y=36, class_="head", font_size=21),
        element(
            "text",
            text(" · ".join([*facts(scene), f"canonical code {scene.digest[:16]}…"])),
            x=24,
            y=60,
            class_="soft",
            font_size=13,
        ),
        head("Graph", 24, top - 10),
        put(graph, 24, top, left, tall),
        head("Block-cut tree", x, top - 10),
        put(blocks, x, top, right, upper),
        head("SPQR trees" if len(d.blocks) != 1 else "SPQR tree", x, top + upper + gap - 12),
        put(spqr, x, top + upper + gap, right, lower),
        *_legend_row(24, height - 20),
    ]
    if scene.notes:
        body.append(element("text", text(scene.notes[0][:150]), x=24, y=78, class_="soft", font_size=11))
    return element(
        "svg",
        *body,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=width,
        height=height,
        class_="planegraph",
        role="img",
    )


def legend() -> list[tuple[float, str]]:
    """The four types of SPQR nodes, virtual edges, and the rings of cut nodes: each with its width."""
    made = []
    for kind, words in (("S", "cycle"), ("P", "bond"), ("Q", "single edge"), ("R", "rigid")):
        badge = element("g", _badge(kind), class_="badge", transform="translate(11 0)")
        made.append((element("g", badge, _soft(words, 26), class_=kind), 28 + 8 * len(words)))
    dashed = element("path", d="M0 0h26", class_="virtual", stroke_width=2, stroke_dasharray="4 4")
    made.append((dashed + _soft("virtual edge", 33), 35 + 8 * 12))
    rings = element("circle", cx=10, r=9) + element("circle", cx=10, r=6)
    made.append((element("g", rings, class_="cut") + _soft("cut node", 26), 28 + 8 * 8))
    return [(float(width), body) for body, width in made]


def _soft(words: str, x: float) -> str:
    return element("text", words, x=float(x), y=4.5, font_size=13, class_="soft")


def _legend_row(x: float, y: float) -> list[str]:
    row = []
    for width, body in legend():
        row.append(element("g", body, transform=f"translate({x:.0f} {y:.0f})"))
        x += width + 18
    return row


def facts(scene: Scene) -> list[str]:
    """Sizes, in words."""
    counts = scene.decomposition.counts
    g = scene.graph
    return [
        counted(g.num_nodes, "node"),
        counted(g.num_edges, "edge"),
        counted(counts["blocks"], "block"),
        counted(len(scene.decomposition.arrays["cut_node"]), "cut node"),
        *(f"{t} {counts[t]}" for t in TYPES),
    ]
