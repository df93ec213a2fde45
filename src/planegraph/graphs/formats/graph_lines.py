"""Lines of graph6 and sparse6, which files may mix as nauty's tools do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...errors import FormatError, PlanegraphError
from ..batch import GraphBatch, offsets
from ..graph import Graph
from .graph6 import BITS, HEADER, as_bytes, body_length, edges_of, from_graph6
from .sparse6 import HEADER as SPARSE_HEADER
from .sparse6 import from_sparse6

HEADERS = (HEADER, SPARSE_HEADER)
"""Lines that some programs write before the first graph."""


def read_line(line: str | bytes) -> Graph:
    """The graph of one line of graph6 or sparse6.

    >>> read_line("Bg") == read_line(":Bd")
    True
    """
    data = as_bytes(line, "graph6")
    return from_sparse6(data) if data.startswith((b":", SPARSE_HEADER)) else from_graph6(data)


def read_lines(lines: Sequence[str | bytes]) -> tuple[GraphBatch, np.ndarray, dict[int, PlanegraphError]]:
    """Many lines of graph6 or sparse6 at once: the batch, the positions of its graphs among the lines, and the errors of the other lines.

    Small graphs of one size in graph6 are read together, at far less cost than one by one.

    >>> batch, where, errors = read_lines(["Bw", "B", "C~"])
    >>> len(batch), where.tolist(), list(errors)
    (2, [0, 2], [1])
    """
    data = [as_bytes(line, "graph6").removeprefix(HEADER) for line in lines]
    sizes = np.full(len(data), -1, np.int64)  # -1: not read yet
    owners, pairs = [np.empty(0, np.int64)], [np.empty((0, 2), np.int64)]
    errors: dict[int, PlanegraphError] = {}
    for n, where in _equal_sizes(data).items():
        good, owner, edges = _read_equal(n, [data[i] for i in where])
        index = np.asarray(where)
        sizes[index[good]] = n
        owners.append(index[owner])
        pairs.append(edges)
    for i in np.flatnonzero(sizes < 0).tolist():
        try:
            graph = read_line(data[i])
        except FormatError as error:
            errors[i] = error
            continue
        sizes[i] = graph.num_nodes
        owners.append(np.full(graph.num_edges, i))
        pairs.append(graph.edges)
    return _assemble(sizes, np.concatenate(owners), np.concatenate(pairs)), np.flatnonzero(sizes >= 0), errors


def _equal_sizes(data: list[bytes]) -> dict[int, list[int]]:
    """Positions of the lines with 1 <= n <= 62 and the right length, by n."""
    groups: dict[int, list[int]] = {}
    for i, line in enumerate(data):
        if line and 63 < line[0] < 126 and len(line) == 1 + body_length(line[0] - 63):
            groups.setdefault(line[0] - 63, []).append(i)
    return groups


def _read_equal(n: int, data: list[bytes]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which of these lines of n nodes are well-formed, and the edges of those: (positions, owner of each edge, edges)."""
    body = np.frombuffer(b"".join(data), np.uint8).reshape(len(data), -1)[:, 1:] - np.uint8(63)
    good = np.flatnonzero((body < 64).all(axis=1))
    bits = BITS[body[good]].reshape(len(good), 6 * body.shape[1])
    clean = ~bits[:, n * (n - 1) // 2 :].any(axis=1)
    good, bits = good[clean], bits[clean]
    row, k = np.nonzero(bits)
    return good, good[row], edges_of(k.astype(np.int64))


def _assemble(sizes: np.ndarray, owner: np.ndarray, edges: np.ndarray) -> GraphBatch:
    order = np.argsort(owner, kind="stable")
    read = sizes >= 0
    counts = np.bincount(owner, minlength=len(sizes))[read] if len(sizes) else sizes
    return GraphBatch._trusted(offsets(sizes[read]), offsets(counts), edges[order], None, None, None)
