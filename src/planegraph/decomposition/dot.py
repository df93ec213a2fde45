"""The trees of a decomposition as text for Graphviz. Needs no other package."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from .connectivity import parent_poles
from .rows import Groups
from .trees import LETTERS, Lists, bounds_of

if TYPE_CHECKING:
    from .objects import Decomposition, TreeName

_NODES = 8  # most that a label names
_SHAPE = {"S": "ellipse", "P": "diamond", "Q": "plaintext", "R": "box"}


def to_dot(d: Decomposition, tree: TreeName = "spqr", block: int | None = None) -> str:
    """A tree in the DOT language: ``"spqr"``, of one block or all of them, or ``"block-cut"``.

    Labels name the first nodes; edges of SPQR trees have the poles of their virtual edges.

    >>> import planegraph as pg
    >>> print(pg.decompose(pg.families.path(3)).to_dot("block-cut"))
    graph "block-cut" {
      node [shape=box];
      b0 [label="block 0: 1 0"];
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
        lines = _spqr(d, *bounds_of(d, block))
    return "\n".join([f'graph "{tree}" {{', *(f"  {line};" for line in lines), "}"])


def _block_cut(d: Decomposition) -> Iterator[str]:
    a = d.arrays
    yield "node [shape=box]"
    nodes = Lists(Groups(a["node_block_block"]), len(a["block_root"]), _texts(d, a["node_block_node"]))
    for b in range(len(a["block_root"])):
        yield f'b{b} [label="block {b}: {_first(nodes[b])}"]'
    for c, name in enumerate(_texts(d, a["cut_node"])):
        yield f'c{c} [label="{name}", shape=circle]'
    for b, c in enumerate(a["block_parent_cut"].tolist()):
        if c >= 0:
            yield f"c{c} -- b{b}"
    for c, b in enumerate(a["cut_parent_block"].tolist()):
        if b >= 0:
            yield f"b{b} -- c{c}"


def _spqr(d: Decomposition, first: int, last: int) -> Iterator[str]:
    a = d.arrays
    inside = np.flatnonzero((a["node_spqr_spqr"] >= first) & (a["node_spqr_spqr"] < last))
    nodes = Lists(Groups(a["node_spqr_spqr"][inside] - first), last - first, _texts(d, a["node_spqr_node"][inside]))
    poles = _texts(d, parent_poles(a)[first:last].reshape(-1)).reshape(-1, 2).tolist()
    table = zip(LETTERS[a["spqr_type"][first:last]].tolist(), a["spqr_parent"][first:last].tolist(), poles, strict=True)
    for c, (kind, parent, (u, v)) in enumerate(table, first):
        yield f's{c} [label="{kind} {c}: {_first(nodes[c - first])}", shape={_SHAPE[kind]}]'
        if parent >= 0:
            yield f's{parent} -- s{c} [label="{u} {v}"]'


def _first(names: list[str]) -> str:
    return " ".join(names) if len(names) <= _NODES else " ".join([*names[:_NODES], "..."])


def _texts(d: Decomposition, nodes: np.ndarray) -> np.ndarray:
    """The names of nodes as they stand within quotes."""
    names = d.named(nodes)
    texts = map(str, names.tolist())
    if names.dtype == object:
        texts = (json.dumps(text, ensure_ascii=False)[1:-1] for text in texts)
    return np.fromiter(texts, object, len(names))
