"""The trees of a decomposition as text for Graphviz. Needs no other package."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .objects import Block, Decomposition, SpqrNode, TreeName

_NODES = 8  # most that a label names
_SHAPE = {"S": "ellipse", "P": "diamond", "Q": "plaintext", "R": "box"}


def to_dot(d: Decomposition, tree: TreeName = "spqr", block: int | None = None) -> str:
    """A tree in the DOT language: ``"spqr"``, of one block or all of them, or ``"block-cut"``.

    Labels name the first nodes; edges of SPQR trees have the poles of their virtual edges.

    >>> import planegraph as pg
    >>> print(pg.decompose(pg.families.path(3)).to_dot("block-cut"))
    graph "block-cut" {
      node [shape=box];
      b0 [label="block 0: 0 1"];
      b1 [label="block 1: 1 2"];
      c0 [label="1", shape=circle];
      c0 -- b0;
      c0 -- b1;
    }
    """
    if tree not in ("spqr", "block-cut"):
        raise ValueError(f"tree must be 'spqr' or 'block-cut'; found {tree!r}")
    if tree == "block-cut":
        if block is not None:
            raise ValueError("a block-cut tree is that of the whole graph; leave block out")
        lines = _block_cut(d)
    else:
        lines = _spqr(d, d.spqr_nodes if block is None else (d.spqr_nodes[c] for c in d.blocks[block].spqr_nodes))
    return "\n".join([f'graph "{tree}" {{', *(f"  {line};" for line in lines), "}"])


def _block_cut(d: Decomposition) -> Iterator[str]:
    yield "node [shape=box]"
    for b in d.blocks:
        yield f"b{b.index} [label={_label(d, f'block {b.index}: ', b)}]"
    for cut in d.cut_nodes:
        yield f"c{cut.index} [label={_quoted(_names(d, [cut.node]))}, shape=circle]"
    for cut in d.cut_nodes:
        yield from (f"c{cut.index} -- b{b}" for b in cut.blocks)


def _spqr(d: Decomposition, nodes: Iterable[SpqrNode]) -> Iterator[str]:
    for c in nodes:
        yield f"s{c.index} [label={_label(d, f'{c.type} {c.index}: ', c)}, shape={_SHAPE[c.type]}]"
        if c.parent is not None:
            up = next(e for e in c.edges if e.other == c.parent)
            yield f"s{c.parent} -- s{c.index} [label={_quoted(_names(d, [up.u, up.v]))}]"


def _label(d: Decomposition, title: str, part: Block | SpqrNode) -> str:
    more = " ..." if len(part.nodes) > _NODES else ""
    return _quoted(f"{title}{_names(d, part.nodes[:_NODES])}{more}")


def _names(d: Decomposition, nodes: Iterable[int]) -> str:
    return " ".join(str(name) for name in d.named(list(nodes)).tolist())


def _quoted(text: str) -> Any:
    return json.dumps(text, ensure_ascii=False)
