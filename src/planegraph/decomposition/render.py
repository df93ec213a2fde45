"""A decomposition as text: its trees, drawn for a terminal.

One tree per connected component: blocks and cut nodes alternate as in the block-cut tree; the SPQR tree of a block with more than one
SPQR node stands under the block. No recursion: trees may be deep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..io.text import printable

if TYPE_CHECKING:
    from .objects import Decomposition

_TYPES, _CYCLE = "SPQR", 0
_SHAPE = {"S": "cycle of {}", "P": "bond of {}", "Q": "edge", "R": "rigid, {} edges"}


def render(d: Decomposition, max_lines: int = 200, width: int = 100) -> str:
    """The tree as text: at most ``max_lines`` lines, each cut at ``width`` characters. Nodes have their names.

    >>> import planegraph as pg
    >>> print(render(pg.decompose(pg.Graph(4, [(0, 1), (1, 2), (2, 0), (2, 3)]))).splitlines()[0])
    4 nodes, 4 edges: 2 blocks, 1 cut node; S 1, P 0, Q 1, R 0
    """
    return _Renderer(d, max_lines, width).text()


class _Renderer:
    """Looks up what it draws in the arrays, so that the first lines of a huge tree cost little more than sorting it."""

    def __init__(self, d: Decomposition, max_lines: int, width: int) -> None:
        self.d, self.max_lines, self.width = d, max_lines, width
        a = d.arrays
        self.below = {
            "cuts of block": _Groups(a["cut_parent_block"], max_lines + 1),
            "blocks of cut": _Groups(a["block_parent_cut"], max_lines + 1),
            "children of spqr": _Groups(a["spqr_parent"], max_lines + 1),
        }
        blocks = len(a["block_root"])
        self.spqr_count = np.bincount(a["spqr_block"], minlength=blocks)
        self.node_count = np.bincount(a["node_block_block"], minlength=blocks)
        real = a["walk_edge"] >= 0
        owner = a["walk_spqr"][real]
        self.edge_count = np.bincount(a["spqr_block"][owner], 1 / self.darts(owner), blocks).astype(int)

    def darts(self, c: np.ndarray) -> np.ndarray:
        """How often the walks of SPQR nodes meet an edge of theirs."""
        return np.where((self.d.arrays["spqr_type"][c] == _CYCLE) & (self.d.arrays["spqr_set"][c] == 0), 1, 2)

    def text(self) -> str:
        d = self.d
        lines = [repr(d)[len("Decomposition(") : -1]]
        roots = [("block", b) for b in self.below["blocks of cut"].of(-1)]
        roots += [("cut", c) for c in self.below["cuts of block"].of(-1)]
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
            return [("block", b) for b in self.below["blocks of cut"].of(index)]
        if kind == "spqr":
            return [("spqr", c) for c in self.below["children of spqr"].of(index)]
        inner = [("spqr", int(self.d.arrays["block_root"][index]))] if self.spqr_count[index] > 1 else []
        return inner + [("cut", c) for c in self.below["cuts of block"].of(index)]

    def describe(self, kind: str, index: int) -> str:
        if kind == "cut":
            return f"cut node {self.nodes(self.d.arrays['cut_node'][index : index + 1])}"
        if kind == "spqr":
            return self.spqr(index)
        if self.spqr_count[index] == 1:
            return f"block {index}: {self.spqr(int(self.d.arrays['block_root'][index]))}"
        return f"block {index}: {self.node_count[index]} nodes, {self.edge_count[index]} edges, {self.spqr_count[index]} SPQR nodes"

    def spqr(self, c: int) -> str:
        a = self.d.arrays
        kind, is_set, walk = _TYPES[a["spqr_type"][c]], bool(a["spqr_set"][c]), slice(*np.searchsorted(a["walk_spqr"], (c, c + 1)))
        darts = int(self.darts(np.array(c)))
        shape = _SHAPE[kind].format((walk.stop - walk.start) // darts) + (", as a set" if is_set else "")
        virtual = int((a["walk_other"][walk] >= 0).sum()) // darts
        where = f", at theta {a['spqr_theta'][c]}" if a["spqr_parent"][c] >= 0 else ""
        more = f", {virtual} virtual" if virtual else ""
        nodes, first = np.unique(a["walk_node"][walk], return_index=True)
        nodes = nodes if is_set else a["walk_node"][walk][np.sort(first)]  # in the order of first visits
        return f"{kind} ({shape}{more}{where}) {self.nodes(nodes)}"

    def isolated(self) -> np.ndarray:
        alone = np.ones(self.d.graph.num_nodes, bool)
        alone[self.d.graph.edges.ravel()] = False
        return np.flatnonzero(alone)

    def nodes(self, nodes: np.ndarray, most: int = 40) -> str:
        text = " ".join(printable(str(name)) for name in self.d.graph.named(nodes[:most]).tolist())
        return text if len(nodes) <= most else text + " ..."


class _Groups:
    """The first ``most`` rows of each value of a column, ascending."""

    def __init__(self, values: np.ndarray, most: int) -> None:
        self.order, self.most = np.argsort(values, kind="stable"), most
        self.values = values[self.order]

    def of(self, value: int) -> list[int]:
        first, end = np.searchsorted(self.values, (value, value + 1))
        return self.order[first : min(end, first + self.most)].tolist()
