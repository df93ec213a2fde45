"""A decomposition as text: its trees, drawn for a terminal.

One tree per connected component: blocks and cut nodes alternate as in the block-cut tree; the SPQR tree of a block with more than one
SPQR node stands under the block. No recursion: trees may be deep.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..io.text import printable
from .rows import Groups
from .tables import TYPES

if TYPE_CHECKING:
    from .objects import Decomposition

_NODES = 40  # most of one SPQR node that are named
_SHAPE = {"S": "cycle of {}", "P": "bond of {}", "Q": "edge", "R": "rigid, {} edges"}


def render(d: Decomposition, max_lines: int = 200, width: int = 100) -> str:
    """The tree as text: at most ``max_lines`` lines, each cut at ``width`` characters. Nodes have their names.

    >>> import planegraph as pg
    >>> print(render(pg.decompose(pg.Graph(4, [(0, 1), (1, 2), (2, 0), (2, 3)]))).splitlines()[0])
    4 nodes, 4 edges: 2 blocks, 1 cut node; S 1, P 0, Q 1, R 0
    """
    return _Renderer(d, max_lines, width).text()


class _Renderer:
    """Looks up what it draws in the arrays, so that the first lines of a huge tree cost a few passes over columns."""

    def __init__(self, d: Decomposition, max_lines: int, width: int) -> None:
        self.d, self.max_lines, self.width = d, max_lines, width
        a = d.arrays
        self.cuts_of_block = Groups(a["cut_parent_block"])
        self.blocks_of_cut = Groups(a["block_parent_cut"])
        self.spqr_of_block = Groups(a["spqr_block"])
        self.children_of_spqr = Groups(a["spqr_parent"])
        self.rows_of_block = Groups(a["node_block_block"])
        self.spqr_count = np.bincount(a["spqr_block"], minlength=len(a["block_root"]))

    def text(self) -> str:
        d = self.d
        lines = [repr(d)[len("Decomposition(") : -1]]
        roots = [("block", b) for b in self.first(np.flatnonzero(d.arrays["block_parent_cut"] < 0))]
        roots += [("cut", c) for c in self.first(np.flatnonzero(d.arrays["cut_parent_block"] < 0))]
        stack = [("", i == 0, 0, root) for i, root in enumerate(reversed(roots))]
        total = len(self.spqr_count) + len(d.arrays["cut_node"]) + int(self.spqr_count[self.spqr_count > 1].sum())
        while stack and len(lines) < self.max_lines:
            prefix, last, depth, item = stack.pop()
            lines.append(prefix + ("└─ " if last else "├─ ") + self.describe(*item))
            below = prefix + ("   " if last else "│  ")
            if len(below) > self.width // 2 or below.startswith("["):
                below = f"[depth {depth + 1}] "  # too deep to draw
            children = self.children(*item)
            stack.extend((below, i == 0, depth + 1, child) for i, child in enumerate(reversed(children)))
        omitted = total + 1 - len(lines)
        if omitted:
            lines.append(f"... and {omitted} more lines")
        isolated = self.isolated()
        if len(isolated):
            lines.append(f"isolated: {self.nodes(isolated)}")
        return "\n".join(line if len(line) <= self.width else line[: self.width - 3] + "..." for line in lines)

    def children(self, kind: str, index: int) -> list[tuple[str, int]]:
        if kind == "cut":
            return [("block", b) for b in self.first(self.blocks_of_cut.of(index))]
        if kind == "spqr":
            return [("spqr", c) for c in self.first(self.children_of_spqr.of(index))]
        inner = [("spqr", int(self.d.arrays["block_root"][index]))] if self.spqr_count[index] > 1 else []
        return inner + [("cut", c) for c in self.first(self.cuts_of_block.of(index))]

    def first(self, rows: np.ndarray) -> list[int]:
        """Rows that may still fit."""
        return rows[: self.max_lines + 1].tolist()

    def describe(self, kind: str, index: int) -> str:
        if kind == "cut":
            return f"cut node {self.nodes(self.d.arrays['cut_node'][index : index + 1])}"
        if kind == "spqr":
            return self.spqr(index)
        if self.spqr_count[index] == 1:
            return f"block {index}: {self.spqr(int(self.d.arrays['block_root'][index]))}"
        nodes, edges = len(self.rows_of_block.of(index)), self.edge_count[index]
        return f"block {index}: {nodes} nodes, {edges} edges, {self.spqr_count[index]} SPQR nodes"

    @cached_property
    def edge_count(self) -> np.ndarray:
        return np.bincount(self.d.edge_block, minlength=len(self.spqr_count))

    def spqr(self, c: int) -> str:
        a = self.d.arrays
        kind, is_set = TYPES[a["spqr_type"][c]], bool(a["spqr_set"][c])
        walk = slice(*np.searchsorted(a["walk_spqr"], np.array([c, c + 1], np.int32)))
        node, kappa = a["walk_node"][walk], a["walk_kappa"][walk]
        darts = 1 if kind == "S" and not is_set else 2  # with which the walk meets an edge
        shape = _SHAPE[kind].format(len(node) // darts) + (", as a set" if is_set else "")
        if kind == "Q" and node[0] == node[1]:
            shape = "loop"
        virtual = int((a["walk_other"][walk] >= 0).sum()) // darts
        where = f", at theta {a['spqr_theta'][c]}" if a["spqr_parent"][c] >= 0 else ""
        more = f", {virtual} virtual" if virtual else ""
        if is_set:
            nodes = np.unique(node)
        else:  # in the order of first visits
            early = np.flatnonzero(kappa <= _NODES + 1)
            nodes = node[early[np.unique(kappa[early], return_index=True)[1]]]
        return f"{kind} ({shape}{more}{where}) {self.nodes(nodes)}"

    def isolated(self) -> np.ndarray:
        alone = np.ones(self.d.graph.num_nodes, bool)
        alone[self.d.graph.edges.ravel()] = False
        return np.flatnonzero(alone)

    def nodes(self, nodes: np.ndarray) -> str:
        text = " ".join(printable(str(name)) for name in self.d.named(nodes[:_NODES]).tolist())
        return text if len(nodes) <= _NODES else text + " ..."
