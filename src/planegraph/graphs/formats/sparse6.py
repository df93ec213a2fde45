"""The sparse6 format (McKay): a graph without labels as one line of printable characters whose length follows the number of edges.

``:``, the number of nodes as in graph6, and then a stream of bits, six to a character: units of one bit b and a number x of k bits, where
k is what the number n - 1 takes. A reader keeps a current node v, 0 at first. Each unit adds b to v; if x > v, then v becomes x, else
there is an edge between x and v. Ones fill the last character.

Without a loop: after unit i, v_i = max(v_(i-1) + b_i, x_i), so v_i - (b_1 + ... + b_i) is a running maximum.
"""

from __future__ import annotations

import numpy as np

from ...errors import FormatError, InvalidGraphError
from ..graph import Graph
from .graph6 import BITS, as_bytes, check_characters, size_characters, split_size

HEADER = b">>sparse6<<"


def from_sparse6(text: str | bytes) -> Graph:
    """The graph of one line of sparse6, with or without the header ``>>sparse6<<``. Loops and parallel edges are refused.

    >>> from_sparse6(":Bd").edges.tolist()
    [[0, 1], [1, 2]]
    """
    data = as_bytes(text, "sparse6").removeprefix(HEADER)
    if data[:1] != b":":
        raise FormatError(f"sparse6: a line starts with ':'; found {data[:1].decode('latin-1')!r}")
    n, body = split_size(check_characters(data[1:], "sparse6"), "sparse6")
    x, v, is_edge = _units(n, BITS[body].reshape(-1).astype(np.int64))
    if (v[is_edge] >= n).any():
        raise FormatError(f"sparse6: an edge names node {int(v[is_edge].max())}; there are {n}")
    try:
        return Graph(n, np.stack([x, v], axis=1)[is_edge])
    except InvalidGraphError as error:
        raise FormatError(f"sparse6: {error}") from None


def to_sparse6(graph: Graph, header: bool = False) -> str:
    """One line of sparse6 without the line end; labels are not part of the format and are left out.

    >>> import planegraph as pg
    >>> to_sparse6(pg.families.path(3))
    ':Bd'
    """
    return sparse6_line(graph.num_nodes, graph.edges, header)


def sparse6_line(n: int, edges: np.ndarray, header: bool = False) -> str:
    """The line of n nodes and these edges, which may be loops and parallel."""
    k = _width(n)
    low, high = edges.min(axis=1, initial=n), edges.max(axis=1, initial=-1)
    order = np.lexsort((low, high))
    low, high = low[order], high[order]
    step = np.diff(high, prepend=0)
    # a unit for each edge, and before it one that moves v where v grows by more than 1
    owner = np.repeat(np.arange(len(edges)), 1 + (step > 1))
    moves = np.zeros(len(owner), bool)
    moves[:-1] = owner[1:] == owner[:-1]
    b = np.where(moves, 1, step[owner] == 1)
    x = np.where(moves, high[owner], low[owner])
    bits = np.concatenate([b[:, None], (x[:, None] >> np.arange(k - 1, -1, -1)) & 1], axis=1).astype(bool).reshape(-1)
    padding = np.ones(-len(bits) % 6, bool)
    if k < 6 and n == 1 << k and len(padding) > k and len(high) and high[-1] == n - 2:
        padding[0] = False  # or a reader would take the ones for a loop at the last node
    packed = np.packbits(np.concatenate([bits, padding]).reshape(-1, 6), axis=1)[:, 0] >> 2
    line = (HEADER if header else b"") + b":" + size_characters(n) + (packed + np.uint8(63)).tobytes()
    return line.decode("ascii")


def _width(n: int) -> int:
    """Bits of a node, at least one."""
    return max(1, (n - 1).bit_length())


def _units(n: int, bits: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x and v of each unit, and whether it is an edge; the units of the padding are cut off."""
    k = _width(n)
    rows = bits[: len(bits) // (k + 1) * (k + 1)].reshape(-1, k + 1)
    b, x = rows[:, 0], rows[:, 1:] @ (1 << np.arange(k - 1, -1, -1))
    total = np.cumsum(b)
    v = total + np.maximum.accumulate(np.maximum(x - total, 0)) if len(rows) else total
    before = np.concatenate([[0], v[:-1]])[: len(v)] + b
    is_edge = (x <= before) & (before < n)  # beyond the last node there is only padding
    return x, v, is_edge
