"""The two directions of every edge in the ``edge_index`` of one graph or of many.

PyG stores each undirected edge as two columns, (u, v) and (v, u), anywhere in the graph's part of ``edge_index``. Here every column
finds its partner, for all graphs at once, by one sort: O(E log E). The *edge* is then called by the column that comes first, and runs
in that column's direction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InvalidGraphError
from .batch import locate, offsets, shift_of


@dataclass(frozen=True, eq=False)
class Directions:
    """Columns of each edge: ``first`` (ascending) and ``second``; ``reverse`` maps every column to its partner; ``edge_ptr`` holds the
    offsets of the graphs along the edges."""

    first: np.ndarray
    second: np.ndarray
    reverse: np.ndarray
    edge_ptr: np.ndarray


def pair_directions(index: np.ndarray, column_ptr: np.ndarray, node_ptr: np.ndarray) -> Directions:
    """Pairs the columns of ``index``, shape (2, E), node ids local to their graph.

    >>> d = pair_directions(np.array([[0, 1, 1, 2], [1, 2, 0, 1]]), np.array([0, 4]), np.array([0, 3]))
    >>> d.first.tolist(), d.second.tolist(), d.reverse.tolist()
    ([0, 1], [2, 3], [2, 3, 0, 1])
    """
    _check_ends(index, column_ptr, node_ptr)
    total = int(node_ptr[-1])
    u, v = index.astype(np.int64, copy=False) + shift_of(column_ptr, node_ptr)
    keys = np.minimum(u, v) * total + np.maximum(u, v)
    order = np.argsort(keys)
    ordered = keys[order]
    a, b = order[0::2], order[1::2]
    twos = len(a) == len(b) and (ordered[0::2] == ordered[1::2]).all() and (ordered[1:-1:2] != ordered[2::2]).all()
    if not (twos and (u[a] == v[b]).all()):
        _refuse(index, column_ptr, u * total + v, v * total + u)
    reverse = np.empty(len(keys), np.int64)
    reverse[a], reverse[b] = b, a
    first = np.flatnonzero(reverse > np.arange(len(keys)))
    edge_ptr = offsets(np.diff(column_ptr) // 2)
    return Directions(first, reverse[first], reverse, edge_ptr)


def by_edge(columns: np.ndarray, d: Directions) -> np.ndarray:
    """Rows of the columns as (edges, width) if both directions of every edge are equal, else as (edges, 2, width)."""
    there, back = columns[d.first], columns[d.second]
    return there if np.array_equal(there, back) else np.stack([there, back], axis=1)


def _check_ends(index: np.ndarray, column_ptr: np.ndarray, node_ptr: np.ndarray) -> None:
    counts = np.repeat(np.diff(node_ptr), np.diff(column_ptr))
    outside = ((index < 0) | (index >= counts)).any(axis=0)
    if outside.any():
        c = int(np.argmax(outside))
        raise _error(index, column_ptr, c, f"names a node that does not exist; the graph has {counts[c]} nodes")
    loops = index[0] == index[1]
    if loops.any():
        c = int(np.argmax(loops))
        raise _error(index, column_ptr, c, "is a self-loop; drop it with torch_geometric.utils.remove_self_loops")


def _refuse(index: np.ndarray, column_ptr: np.ndarray, there: np.ndarray, back: np.ndarray) -> None:
    """Says which column is there twice, or lacks its partner."""
    order = np.argsort(there, kind="stable")
    twice = there[order][1:] == there[order][:-1]
    if twice.any():
        at = int(np.argmax(twice))
        one, other = (locate(column_ptr, int(order[at + k]))[1] for k in (0, 1))
        raise _error(index, column_ptr, int(order[at]), f"is there twice, at {one} and {other}; use torch_geometric.utils.coalesce")
    alone = ~np.isin(there, back)
    c = int(np.argmax(alone))
    u, v = index[:, c].tolist()
    raise _error(index, column_ptr, c, f"has no ({v}, {u}); give both directions, as torch_geometric.utils.to_undirected does")


def _error(index: np.ndarray, column_ptr: np.ndarray, column: int, what: str) -> InvalidGraphError:
    g, at = locate(column_ptr, column)
    u, v = index[:, column].tolist()
    return InvalidGraphError(f"graph {g}: edge_index[:, {at}] = ({u}, {v}) {what}", g)
