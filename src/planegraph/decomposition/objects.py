"""The decomposition of one graph: blocks, cut nodes, and SPQR nodes with their canonical walks.

``Decomposition`` holds slices of the packed arrays; the objects that people like to read are built from them when they are asked
for, and not kept. What it promises is written in section 3 of the design and verified by ``check()``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from ..graphs.graph import Graph, read_only
from ..graphs.multigraph import MultiGraph
from ..io.text import counted
from .connectivity import Q, SeparationPairs, spqr_of_edges
from .rows import Groups, Rows
from .tables import TYPES

TreeName = Literal["spqr", "block-cut"]


class SkeletonEdge(NamedTuple):
    """An edge of a skeleton: real (``edge`` is its id in the graph) or virtual (``other`` is the SPQR node behind it)."""

    u: int
    v: int
    edge: int | None
    other: int | None


@dataclass(frozen=True, eq=False, repr=False)
class SpqrNode:
    """A node C of the SPQR tree of a block. What grows with its skeleton is read from the tables when it is asked for.

    Attributes:
        index: its position in ``Decomposition.spqr_nodes``.
        type: "S" cycle, "P" bond, "Q" one edge, "R" rigid.
        parent: index of the parent SPQR node in the block, None at the root.
        theta: position in the parent's walk at which the common virtual edge is met first, 0 at the root.
        level: height in the SPQR tree of the block, leaves 0.
        block: index of its block.
        is_set: True for a rigid component that is not planar, and for a component whose walk could only be chosen by telling such
            components apart; its darts come in pairs d, reverse of d, without order, kappa = positions = 0.
    """

    index: int
    type: str
    parent: int | None
    theta: int
    level: int
    block: int
    is_set: bool
    _walks: Mapping[str, np.ndarray]
    _rows: slice

    def _column(self, name: str) -> list[int]:
        return self._walks[name][self._rows].tolist()

    @cached_property
    def nodes(self) -> tuple[int, ...]:
        """The graph's nodes in the skeleton, in the order of their first visit by the walk (kappa)."""
        return tuple(sorted(set(self.walk)) if self.is_set else dict.fromkeys(self.walk))

    @cached_property
    def edges(self) -> tuple[SkeletonEdge, ...]:
        """The skeleton's edges, in the order in which the walk meets them."""
        return _skeleton(self.type, self.is_set, self.walk, self._column("walk_edge"), self._column("walk_other"))

    @cached_property
    def walk(self) -> tuple[int, ...]:
        """Source node of each dart of the canonical walk."""
        return tuple(self._column("walk_node"))

    @cached_property
    def walk_edges(self) -> tuple[int | None, ...]:
        """Edge id of each dart, None where it is virtual."""
        return tuple(map(_or_none, self._column("walk_edge")))

    @cached_property
    def kappa(self) -> tuple[int, ...]:
        """Order of first visit of the dart's source, from 1."""
        return tuple(self._column("walk_kappa"))

    @cached_property
    def positions(self) -> tuple[int, ...]:
        """Position of each dart in the walk, from 1 (in P both darts of an edge share one)."""
        return tuple(self._column("walk_pos"))

    @property
    def real_edges(self) -> tuple[SkeletonEdge, ...]:
        """The skeleton's edges that are edges of the graph."""
        return tuple(e for e in self.edges if e.edge is not None)

    @property
    def virtual_edges(self) -> tuple[SkeletonEdge, ...]:
        """The skeleton's edges that stand for another SPQR node."""
        return tuple(e for e in self.edges if e.edge is None)

    def _key(self) -> tuple:
        place = (self.index, self.type, self.parent, self.theta, self.level, self.block, self.is_set)
        return (*place, self.walk, self.kappa, self.positions, self.edges)

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, SpqrNode) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        sizes = f"{counted(len(self.nodes), 'node')}, {counted(len(self.edges), 'edge')}"
        return f"SpqrNode({self.index}: {self.type} of {sizes}{', as a set' if self.is_set else ''}; block {self.block})"


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


class CutNodes(Rows[CutNode]):
    """All cut nodes, in canonical order; ``cut_nodes.node`` are their numbers 0..n-1 as an array."""

    __slots__ = ("node",)

    def __init__(self, node: np.ndarray, build: Callable[[int, int], Sequence[CutNode]]) -> None:
        super().__init__(len(node), build)
        self.node = node


class Decomposition:
    """The decomposition of one graph, as :func:`planegraph.decompose` returns it.

    Nodes and edges go by their numbers in arrays and objects; :meth:`named` and :meth:`ends` give the names that the caller uses.

    >>> import planegraph as pg
    >>> d = pg.decompose(pg.Graph(4, [(0, 1), (1, 2), (2, 0), (2, 3)]))
    >>> d
    Decomposition(4 nodes, 4 edges: 2 blocks, 1 cut node; S 1, P 0, Q 1, R 0)
    >>> d.cut_nodes.node.tolist(), d.ends(d.bridges).tolist()
    ([2], [[2, 3]])
    >>> sorted(c.type for c in d.spqr_nodes)
    ['Q', 'S']
    """

    def __init__(self, graph: Graph | MultiGraph, arrays: dict[str, np.ndarray]) -> None:
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

    # ---- names -------------------------------------------------------------------------------------------------------------------

    def named(self, nodes: Any) -> np.ndarray:
        """The names of these nodes 0..n-1, in an array of the same shape; the nodes themselves if they have no names."""
        return self.graph.named(np.asarray(nodes))

    def ends(self, edges: Any) -> np.ndarray:
        """The ends of these edges by their names: a row (u, v) for each, as it was given.

        >>> import planegraph as pg
        >>> d = pg.decompose(pg.Graph(3, [(0, 1), (1, 2)], names=["home", "bus", "work"]))
        >>> d.ends(d.bridges).tolist()
        [['home', 'bus'], ['bus', 'work']]
        """
        return self.graph.named(self.graph.edges[edges])

    # ---- connectivity ------------------------------------------------------------------------------------------------------------

    @cached_property
    def edge_spqr(self) -> np.ndarray:
        """Shape (m,), int32: the SPQR node whose skeleton holds each edge."""
        return read_only(spqr_of_edges(self.graph.num_edges, self.arrays))

    @cached_property
    def edge_block(self) -> np.ndarray:
        """Shape (m,), int32: the block of each edge."""
        return read_only(self.arrays["spqr_block"][self.edge_spqr])

    @cached_property
    def bridges(self) -> np.ndarray:
        """The edges whose removal disconnects their component, ascending: the blocks of one edge that is no loop.

        >>> import planegraph as pg
        >>> pg.decompose(pg.families.path(3)).bridges.tolist()
        [0, 1]
        """
        u, v = self.graph.edges.T
        return read_only(np.flatnonzero((self.arrays["spqr_type"][self.edge_spqr] == Q) & (u != v)))

    @cached_property
    def separation_pairs(self) -> SeparationPairs:
        """All pairs of nodes whose removal disconnects the rest of their block, in a compact form.

        >>> import planegraph as pg
        >>> list(pg.decompose(pg.families.cycle(4)).separation_pairs)
        [(0, 2), (1, 3)]
        """
        return SeparationPairs(self.graph, self.arrays)

    @property
    def is_biconnected(self) -> bool:
        """Whether the graph is connected, and stays so without any one node; as in networkx true for K2, false for fewer nodes."""
        return self.graph.num_nodes > 1 and self._is_connected and self._proper_blocks == 1

    @property
    def is_triconnected(self) -> bool:
        """Whether there are four or more nodes, and the graph stays connected without any two of them."""
        return self.node_connectivity == 3

    @property
    def node_connectivity(self) -> int:
        """The least number of nodes whose removal disconnects the graph, up to 3, which stands for "3 or more".

        As in networkx, the complete graph of n nodes has n - 1: K1 has 0, K2 has 1, and the triangle has 2. The graph without nodes,
        which networkx refuses, has 0.

        >>> import planegraph as pg
        >>> [pg.decompose(g(5)).node_connectivity for g in (pg.families.path, pg.families.cycle, pg.families.wheel)]
        [1, 2, 3]
        """
        n = self.graph.num_nodes
        if n < 2 or not self._is_connected:
            return 0
        if n == 2 or self._proper_blocks > 1:
            return 1
        return 2 if n == 3 or len(self.separation_pairs) else 3

    @property
    def _is_connected(self) -> bool:
        return not self.components.any()

    @property
    def _proper_blocks(self) -> int:
        """The number of blocks that are no loops."""
        nodes = np.bincount(self.arrays["node_block_block"], minlength=len(self.arrays["block_root"]))
        return int((nodes > 1).sum())

    # ---- objects, each built when it is asked for ----------------------------------------------------------------------------------

    @property
    def spqr_nodes(self) -> Rows[SpqrNode]:
        """All SPQR nodes, in canonical order."""
        return Rows(len(self.arrays["spqr_type"]), self._build_spqr_nodes)

    @property
    def blocks(self) -> Rows[Block]:
        """All blocks, in canonical order."""
        return Rows(len(self.arrays["block_root"]), self._build_blocks)

    @property
    def cut_nodes(self) -> CutNodes:
        """All cut nodes, in canonical order; as an array: ``d.cut_nodes.node``.

        In a multigraph, a node with a loop and another edge is one, too: the loop is a block, so that two blocks meet there.
        """
        return CutNodes(self.arrays["cut_node"], self._build_cut_nodes)

    def _build_spqr_nodes(self, a: int, b: int) -> list[SpqrNode]:
        owner = self.arrays["walk_spqr"]
        bounds = np.searchsorted(owner, np.arange(a, b + 1, dtype=owner.dtype)).tolist()
        names = ("spqr_type", "spqr_parent", "spqr_theta", "spqr_level", "spqr_block", "spqr_set")
        table = zip(*(self.arrays[name][a:b].tolist() for name in names), strict=True)
        return [
            SpqrNode(
                a + i, TYPES[kind], _or_none(parent), theta, level, block, bool(is_set), self.arrays, slice(*bounds[i : i + 2])
            )
            for i, (kind, parent, theta, level, block, is_set) in enumerate(table)
        ]

    def _build_blocks(self, a: int, b: int) -> list[Block]:
        nodes = [self.arrays["node_block_node"][rows] for rows in _each(self._rows_of_block, a, b)]
        edges = list(_each(self._edges_of_block, a, b))
        spqr = list(_each(self._spqr_of_block, a, b))
        table = zip(*(self.arrays[name][a:b].tolist() for name in ("block_root", "block_level", "block_parent_cut")), strict=True)
        return [
            Block(a + i, _ascending(nodes[i]), _ascending(edges[i]), root, _ascending(spqr[i]), level, _or_none(cut))
            for i, (root, level, cut) in enumerate(table)
        ]

    def _build_cut_nodes(self, a: int, b: int) -> list[CutNode]:
        blocks = list(_each(self._blocks_of_cut, a, b))
        table = zip(*(self.arrays[name][a:b].tolist() for name in ("cut_node", "cut_level", "cut_parent_block")), strict=True)
        return [
            CutNode(a + i, node, _ascending(self.arrays["node_block_block"][blocks[i]]), level, _or_none(block))
            for i, (node, level, block) in enumerate(table)
        ]

    @cached_property
    def _rows_of_block(self) -> Groups:
        return Groups(self.arrays["node_block_block"])

    @cached_property
    def _edges_of_block(self) -> Groups:
        return Groups(self.edge_block)

    @cached_property
    def _spqr_of_block(self) -> Groups:
        return Groups(self.arrays["spqr_block"])

    @cached_property
    def _blocks_of_cut(self) -> Groups:
        """The rows of the table of nodes in blocks, by their cut node."""
        cut_of = np.full(self.graph.num_nodes, -1, np.int32)
        cut_of[self.arrays["cut_node"]] = np.arange(len(self.arrays["cut_node"]))
        return Groups(cut_of[self.arrays["node_block_node"]])

    # ---- trees and tables (see trees.py and frames.py) ------------------------------------------------------------------------------

    def block_cut_tree(self) -> Any:
        """See :func:`planegraph.decomposition.trees.block_cut_tree`."""
        from .trees import block_cut_tree

        return block_cut_tree(self)

    def spqr_tree(self, block: int | None = None) -> Any:
        """See :func:`planegraph.decomposition.trees.spqr_tree`."""
        from .trees import spqr_tree

        return spqr_tree(self, block)

    def skeleton(self, index: int) -> Any:
        """See :func:`planegraph.decomposition.trees.skeleton`."""
        from .trees import skeleton

        return skeleton(self, index)

    def to_dot(self, tree: TreeName = "spqr", block: int | None = None) -> str:
        """See :func:`planegraph.decomposition.dot.to_dot`."""
        from .dot import to_dot

        return to_dot(self, tree, block)

    def to_pandas(self) -> dict[str, Any]:
        """See :func:`planegraph.decomposition.frames.to_pandas`."""
        from .frames import to_pandas

        return to_pandas(self)

    def to_parquet(self, folder: str | os.PathLike) -> None:
        """See :func:`planegraph.decomposition.frames.to_parquet`."""
        from .frames import to_parquet

        to_parquet(self, folder)

    # ---- the promise, and text ---------------------------------------------------------------------------------------------------

    def check(self, progress: bool | None = None) -> None:
        """Verifies everything that a decomposition promises; raises AssertionError that says what is wrong.

        Args:
            progress: whether to show a progress bar on stderr; None: where it is a terminal.
        """
        from .check import check_decomposition

        check_decomposition(self, progress)

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


def _each(groups: Groups, a: int, b: int) -> Iterator[np.ndarray]:
    """The rows of each of the groups a..b-1."""
    return (groups.rows[first:last] for first, last in pairwise(groups.bounds(a, b).tolist()))


def _ascending(values: np.ndarray) -> tuple[int, ...]:
    return tuple(sorted(values.tolist()))


def _skeleton(kind: str, is_set: bool, walk: Sequence[int], edge: list[int], other: list[int]) -> tuple[SkeletonEdge, ...]:
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


def _or_none(x: int) -> int | None:
    return None if x < 0 else x
