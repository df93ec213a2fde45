"""Text for the terminal: a decomposition as a tree, and escapes for what must not steer it.

One tree per connected component: blocks and cut nodes alternate as in the block-cut tree; the SPQR tree of a block with more than one
SPQR node stands under the block. No recursion: trees may be deep.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .decomposition import Decomposition, SpqrNode

_SHAPE = {"S": "cycle of {}", "P": "bond of {}", "Q": "edge", "R": "rigid, {} edges"}


def printable(text: str) -> str:
    r"""The text with escapes such as ``\x1b`` for control characters: names in a file must not steer the terminal.

    >>> print(printable("\033[31mred"))
    \x1b[31mred
    """
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def render(d: Decomposition, names: Sequence[Any] | None = None, max_lines: int = 200, width: int = 100) -> str:
    """The tree as text: at most ``max_lines`` lines, each cut at ``width`` characters. ``names`` replaces node numbers.

    >>> import planegraph as pg
    >>> print(render(pg.decompose(pg.Graph(4, [(0, 1), (1, 2), (2, 0), (2, 3)]))).splitlines()[0])
    4 nodes, 4 edges: 2 blocks, 1 cut node; S 1, P 0, Q 1, R 0
    """
    return _Renderer(d, names, max_lines, width).text()


class _Renderer:
    def __init__(self, d: Decomposition, names: Sequence[Any] | None, max_lines: int, width: int) -> None:
        self.d, self.names, self.max_lines, self.width = d, names, max_lines, width
        self.cut_children: dict[int, list[int]] = {}  # block -> cut nodes below it
        for cut in d.cut_nodes:
            if cut.parent_block is not None:
                self.cut_children.setdefault(cut.parent_block, []).append(cut.index)
        self.spqr_children: dict[int, list[int]] = {}
        for c in d.spqr_nodes:
            if c.parent is not None:
                self.spqr_children.setdefault(c.parent, []).append(c.index)

    def text(self) -> str:
        d = self.d
        lines = [repr(d)[len("Decomposition(") : -1]]
        roots = [("block", b.index) for b in d.blocks if b.parent_cut is None]
        roots += [("cut", c.index) for c in d.cut_nodes if c.parent_block is None]
        stack = [("", i == 0, 0, root) for i, root in enumerate(reversed(roots))]
        total = len(d.blocks) + len(d.cut_nodes) + sum(len(b.spqr_nodes) for b in d.blocks if len(b.spqr_nodes) > 1)
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
        if isolated:
            lines.append(f"isolated: {self.nodes(isolated)}")
        return "\n".join(line if len(line) <= self.width else line[: self.width - 3] + "..." for line in lines)

    def children(self, kind: str, index: int) -> list[tuple[str, int]]:
        if kind == "cut":
            return [("block", b) for b in self.d.cut_nodes[index].blocks if self.d.blocks[b].parent_cut == index]
        if kind == "spqr":
            return [("spqr", c) for c in self.spqr_children.get(index, [])]
        block = self.d.blocks[index]
        inner = [("spqr", block.root)] if len(block.spqr_nodes) > 1 else []
        return inner + [("cut", c) for c in self.cut_children.get(index, [])]

    def describe(self, kind: str, index: int) -> str:
        if kind == "cut":
            return f"cut node {self.name(self.d.cut_nodes[index].node)}"
        if kind == "spqr":
            return self.spqr(self.d.spqr_nodes[index])
        block = self.d.blocks[index]
        if len(block.spqr_nodes) == 1:
            return f"block {index}: {self.spqr(self.d.spqr_nodes[block.root])}"
        return f"block {index}: {len(block.nodes)} nodes, {len(block.edges)} edges, {len(block.spqr_nodes)} SPQR nodes"

    def spqr(self, c: SpqrNode) -> str:
        shape = _SHAPE[c.type].format(len(c.edges)) + (", as a set" if c.is_set else "")
        virtual = len(c.virtual_edges)
        where = f", at theta {c.theta}" if c.parent is not None else ""
        more = f", {virtual} virtual" if virtual else ""
        return f"{c.type} ({shape}{more}{where}) {self.nodes(c.nodes)}"

    def isolated(self) -> list[int]:
        n, edges = self.d.graph.num_nodes, self.d.graph.edges
        touched = set(edges.ravel().tolist())
        return [v for v in range(n) if v not in touched]

    def nodes(self, nodes: Sequence[int], most: int = 40) -> str:
        text = " ".join(self.name(v) for v in nodes[:most])
        return text if len(nodes) <= most else text + " ..."

    def name(self, v: int) -> str:
        return printable(str(v if self.names is None else self.names[v]))
