"""The decomposition of one graph: blocks, cut nodes, and SPQR nodes with their canonical walks.

``Decomposition`` holds slices of the packed arrays; the objects that people like to read are built from them when first asked
for. What it promises is written in section 3 of the design and verified by ``check()``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..graphs.graph import Graph, counted

TYPES = "SPQR"  # spqr_type -> letter


class SkeletonEdge(NamedTuple):
    """An edge of a skeleton: real (``edge`` is its id in the graph) or virtual (``other`` is the SPQR node behind it)."""

    u: int
    v: int
    edge: int | None
    other: int | None


@dataclass(frozen=True)
class SpqrNode:
    """A node C of the SPQR tree of a block.

    Attributes:
        index: its position in ``Decomposition.spqr_nodes``.
        type: "S" cycle, "P" bond, "Q" one edge, "R" rigid.
        nodes: the graph's nodes in the skeleton, in the order of their first visit by the walk (kappa).
        edges: the skeleton's edges, in the order in which the walk meets them.
        walk: source node of each dart of the canonical walk.
        walk_edges: edge id of each dart, None where it is virtual.
        kappa: order of first visit of the dart's source, from 1.
        positions: position of each dart in the walk, from 1 (in P both darts of an edge share one).
        parent: index of the parent SPQR node in the block, None at the root.
        theta: position in the parent's walk at which the common virtual edge is met first, 0 at the root.
        level: height in the SPQR tree of the block, leaves 0.
        block: index of its block.
        is_set: True for a rigid component that is not planar, and for a component whose walk could only be chosen by telling such
            components apart; its darts come in pairs d, reverse of d, without order, kappa = positions = 0.
    """

    index: int
    type: str
    nodes: tuple[int, ...]
    edges: tuple[SkeletonEdge, ...]
    walk: tuple[int, ...]
    walk_edges: tuple[int | None, ...]
    kappa: tuple[int, ...]
    positions: tuple[int, ...]
    parent: int | None
    theta: int
    level: int
    block: int
    is_set: bool

    @property
    def real_edges(self) -> tuple[SkeletonEdge, ...]:
        """The skeleton's edges that are edges of the graph."""
        return tuple(e for e in self.edges if e.edge is not None)

    @property
    def virtual_edges(self) -> tuple[SkeletonEdge, ...]:
        """The skeleton's edges that stand for another SPQR node."""
        return tuple(e for e in self.edges if e.edge is None)


@dataclass(frozen=True)
class Block:
    """A biconnected component: its nodes (ascending), its edges (ids, ascending), the root of its SPQR tree, its SPQR nodes.

    ``level`` is the height in the block-cut tree, ``parent_cut`` the index of the parent cut node, None at a root.
    """

    index: int
    nodes: tuple[int, ...]
    edges: tuple[int, ...]
    root: int
    spqr_nodes: tuple[int, ...]
    level: int
    parent_cut: int | None


@dataclass(frozen=True)
class CutNode:
    """A node whose removal disconnects its component: ``node`` in the graph, the blocks it lies in, and its place in the tree."""

    index: int
    node: int
    blocks: tuple[int, ...]
    level: int
    parent_block: int | None


class Decomposition:
    """The decomposition of one graph, as :func:`planegraph.decomposition.api` returns it.

    >>> import planegraph as pg
    >>> d = pg.decompose(pg.Graph(4, [(0, 1), (1, 2), (2, 0), (2, 3)]))
    >>> d
    Decomposition(4 nodes, 4 edges: 2 blocks, 1 cut node; S 1, P 0, Q 1, R 0)
    >>> [c.node for c in d.cut_nodes]
    [2]
    >>> sorted(c.type for c in d.spqr_nodes)
    ['Q', 'S']
    """

    def __init__(self, graph: Graph, arrays: dict[str, np.ndarray]) -> None:
        self.graph = graph
        self.arrays = arrays  # the tables of docs/arrays.md, local to this graph; read-only
        for array in arrays.values():
            array.flags.writeable = False

    @property
    def counts(self) -> dict[str, int]:
        """How many blocks, and SPQR nodes of each type."""
        by_type = np.bincount(self.arrays["spqr_type"], minlength=4).tolist()
        return {"blocks": len(self.arrays["block_root"]), **dict(zip(TYPES, by_type, strict=True))}

    @property
    def labelling(self) -> np.ndarray:
        """Canonical index of each node (meaningful for planar graphs)."""
        return self.arrays["labelling"]

    @property
    def components(self) -> np.ndarray:
        """Connected component of each node."""
        return self.arrays["node_component"]

    @cached_property
    def spqr_nodes(self) -> tuple[SpqrNode, ...]:
        """All SPQR nodes, in canonical order."""
        a = {name: x.tolist() for name, x in self.arrays.items() if name.startswith(("walk_", "spqr_"))}
        count = len(a["spqr_type"])
        bounds = np.searchsorted(self.arrays["walk_spqr"], np.arange(count + 1)).tolist()
        return tuple(_spqr_node(a, c, slice(bounds[c], bounds[c + 1])) for c in range(count))

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """All blocks, in canonical order."""
        a = self.arrays
        count = len(a["block_root"])
        nodes = _grouped(a["node_block_block"], a["node_block_node"], count)
        spqr = _grouped(a["spqr_block"], np.arange(len(a["spqr_block"])), count)
        real = a["walk_edge"] >= 0
        pairs = np.unique(np.stack([a["spqr_block"][a["walk_spqr"][real]], a["walk_edge"][real]], axis=1), axis=0)
        edges = _grouped(pairs[:, 0], pairs[:, 1], count)
        rows = zip(a["block_root"].tolist(), a["block_level"].tolist(), a["block_parent_cut"].tolist(), strict=True)
        return tuple(Block(b, nodes[b], edges[b], root, spqr[b], level, _or_none(cut)) for b, (root, level, cut) in enumerate(rows))

    @cached_property
    def cut_nodes(self) -> tuple[CutNode, ...]:
        """All cut nodes, in canonical order."""
        a = self.arrays
        at = {v: i for i, v in enumerate(a["cut_node"].tolist())}
        blocks: list[list[int]] = [[] for _ in at]
        for v, b in zip(a["node_block_node"].tolist(), a["node_block_block"].tolist(), strict=True):
            if v in at:
                blocks[at[v]].append(b)
        rows = zip(a["cut_node"].tolist(), a["cut_level"].tolist(), a["cut_parent_block"].tolist(), strict=True)
        return tuple(CutNode(i, v, tuple(sorted(blocks[i])), level, _or_none(b)) for i, (v, level, b) in enumerate(rows))

    def check(self) -> None:
        """Verifies everything that a decomposition promises; raises AssertionError that says what is wrong."""
        from .check import check_decomposition

        check_decomposition(self)

    def show(self, **options: Any) -> Any:
        """A drawing of the graph and its trees, which a notebook shows; options are those of :func:`planegraph.draw`.

        >>> import planegraph as pg
        >>> pg.decompose(pg.families.wheel(5)).show()
        Drawing(Graph(6 nodes, 10 edges))
        """
        import planegraph  # drawing is a later layer

        return planegraph.draw(self, **options)

    def __repr__(self) -> str:
        c = self.counts
        types = ", ".join(f"{t} {c[t]}" for t in TYPES)
        size = f"{counted(self.graph.num_nodes, 'node')}, {counted(self.graph.num_edges, 'edge')}"
        cuts = counted(len(self.arrays["cut_node"]), "cut node")
        return f"Decomposition({size}: {counted(c['blocks'], 'block')}, {cuts}; {types})"

    def __str__(self) -> str:
        from .render import render

        return render(self)


def _spqr_node(a: dict[str, list], c: int, rows: slice) -> SpqrNode:
    kind, is_set = TYPES[a["spqr_type"][c]], bool(a["spqr_set"][c])
    walk, kappa = a["walk_node"][rows], a["walk_kappa"][rows]
    if is_set:
        nodes = sorted(set(walk))
    else:
        nodes = list(dict.fromkeys(walk))
    return SpqrNode(
        index=c,
        type=kind,
        nodes=tuple(nodes),
        edges=_skeleton(kind, is_set, walk, a["walk_edge"][rows], a["walk_other"][rows]),
        walk=tuple(walk),
        walk_edges=tuple(map(_or_none, a["walk_edge"][rows])),
        kappa=tuple(kappa),
        positions=tuple(a["walk_pos"][rows]),
        parent=_or_none(a["spqr_parent"][c]),
        theta=a["spqr_theta"][c],
        level=a["spqr_level"][c],
        block=a["spqr_block"][c],
        is_set=is_set,
    )


def _skeleton(kind: str, is_set: bool, walk: list, edge: list, other: list) -> tuple[SkeletonEdge, ...]:
    """Each edge of the skeleton once. In S the walk meets each once; in Q, P and sets the two darts of an edge stand side by
    side; in R they are apart, and are told by the edge id or by the SPQR node behind."""
    k = len(walk)
    if kind == "S" and not is_set:
        chosen = range(k)
    elif kind == "R" and not is_set:
        seen: dict[tuple[int, int], int] = {}
        for i in range(k):
            seen.setdefault((edge[i], other[i]), i)
        chosen = seen.values()
    else:
        chosen = range(0, k, 2)
    return tuple(SkeletonEdge(walk[i], walk[(i + 1) % k], _or_none(edge[i]), _or_none(other[i])) for i in chosen)


def _grouped(group: np.ndarray, values: np.ndarray, count: int) -> list[tuple[int, ...]]:
    """The values of each group, ascending."""
    order = np.lexsort((values, group))
    bounds = np.searchsorted(group[order], np.arange(count + 1)).tolist()
    ordered = values[order].tolist()
    return [tuple(ordered[a:b]) for a, b in pairwise(bounds)]


def _or_none(x: int) -> int | None:
    return None if x < 0 else x
