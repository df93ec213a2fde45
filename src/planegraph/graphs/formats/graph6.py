"""The graph6 format (McKay): a graph without labels as one line of printable characters.

N(n) is the number of nodes in 1, 4 or 8 characters (n <= 62, n < 2^18, n < 2^36); then follow the bits of the upper triangle of the
adjacency matrix column by column, six to a character, padded with zeros. Each character is its value plus 63. The line is as long
as n^2 / 12 whatever the number of edges, so the format suits small graphs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...errors import FormatError, InvalidGraphError, PlanegraphError
from ..batch import GraphBatch, offsets
from ..graph import Graph, check_size

HEADER = b">>graph6<<"
_BITS = ((np.arange(64)[:, None] >> np.arange(5, -1, -1)) & 1).astype(bool)  # value -> its six bits


def from_graph6(text: str | bytes) -> Graph:
    """The graph of one line of graph6, with or without the header ``>>graph6<<``.

    >>> from_graph6("C~").num_edges
    6
    >>> from_graph6("C")
    Traceback (most recent call last):
    ...
    planegraph.errors.FormatError: graph6: 4 nodes need 1 characters after the size; found 0
    """
    data = _as_bytes(text)
    n, body = _split(data)
    k = np.flatnonzero(body)  # characters with edges
    row, bit = np.nonzero(_BITS[body[k]])
    return Graph._trusted(n, _edges_of(6 * k[row].astype(np.int64) + bit))


def to_graph6(graph: Graph, header: bool = False) -> str:
    """One line of graph6 without the line end; labels are not part of the format and are left out.

    >>> import planegraph as pg
    >>> to_graph6(pg.families.complete(4))
    'C~'
    """
    n = graph.num_nodes
    if n <= 62:
        size = [n]
    elif n < 1 << 18:
        size = [63, *((n >> s) & 63 for s in (12, 6, 0))]
    else:
        size = [63, 63, *((n >> s) & 63 for s in range(30, -1, -6))]
    body = np.full(_body_length(n), 63, np.uint8)
    low, high = graph.edges.min(axis=1), graph.edges.max(axis=1)
    k = high * (high - 1) // 2 + low
    np.add.at(body, k // 6, (32 >> (k % 6)).astype(np.uint8))
    line = (HEADER if header else b"") + bytes(63 + x for x in size) + body.tobytes()
    return line.decode("ascii")


def read_lines(lines: Sequence[str | bytes]) -> tuple[GraphBatch, np.ndarray, dict[int, PlanegraphError]]:
    """Many lines at once: the batch, the positions of its graphs among the lines, and the errors of the other lines.

    Small graphs of one size are read together, at far less cost than by :func:`from_graph6` one by one.

    >>> batch, where, errors = read_lines(["Bw", "B", "C~"])
    >>> len(batch), where.tolist(), list(errors)
    (2, [0, 2], [1])
    """
    data = [_as_bytes(line) for line in lines]
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
            graph = from_graph6(data[i])
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
        if line and 63 < line[0] < 126 and len(line) == 1 + _body_length(line[0] - 63):
            groups.setdefault(line[0] - 63, []).append(i)
    return groups


def _read_equal(n: int, data: list[bytes]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which of these lines of n nodes are well-formed, and the edges of those: (positions, owner of each edge, edges)."""
    body = np.frombuffer(b"".join(data), np.uint8).reshape(len(data), -1)[:, 1:] - np.uint8(63)
    good = np.flatnonzero((body < 64).all(axis=1))
    bits = _BITS[body[good]].reshape(len(good), 6 * body.shape[1])
    clean = ~bits[:, n * (n - 1) // 2 :].any(axis=1)
    good, bits = good[clean], bits[clean]
    row, k = np.nonzero(bits)
    return good, good[row], _edges_of(k.astype(np.int64))


def _assemble(sizes: np.ndarray, owner: np.ndarray, edges: np.ndarray) -> GraphBatch:
    order = np.argsort(owner, kind="stable")
    read = sizes >= 0
    counts = np.bincount(owner, minlength=len(sizes))[read] if len(sizes) else sizes
    return GraphBatch._trusted(offsets(sizes[read]), offsets(counts), edges[order], None, None, None)


def _as_bytes(text: str | bytes) -> bytes:
    if not isinstance(text, str | bytes | bytearray | memoryview):
        raise FormatError(f"graph6: a graph is a string or bytes; found {type(text).__name__}")
    # a lone surrogate becomes bytes that no graph6 has; "replace" would make it '?', which is a graph
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
    return data.strip(b"\r\n \t").removeprefix(HEADER)


def _split(data: bytes) -> tuple[int, np.ndarray]:
    """The number of nodes and the values (0..63) of the characters after it."""
    if not data:
        raise FormatError("graph6: the line is empty")
    if data[:1] in (b":", b";"):
        raise FormatError("graph6: this is sparse6, which is not supported")
    if data[:1] == b"&":
        raise FormatError("graph6: this is digraph6; planegraph reads undirected graphs")
    values = np.frombuffer(data, np.uint8)
    if values.min() < 63 or values.max() > 126:
        at = int(np.argmax((values < 63) | (values > 126)))
        raise FormatError(f"graph6: character {at} is {chr(data[at])!r}; only '?' to '~' may occur")
    values = values - np.uint8(63)
    start, end = (0, 1) if values[0] < 63 else (1, 4) if len(values) < 2 or values[1] < 63 else (2, 8)
    if len(values) < end:
        raise FormatError(f"graph6: the size takes {end} characters; found {len(values)}")
    n = 0
    for x in values[start:end].tolist():
        n = 64 * n + x
    body = values[end:]
    if len(body) != _body_length(n):
        raise FormatError(f"graph6: {n} nodes need {_body_length(n)} characters after the size; found {len(body)}")
    try:
        check_size(n, "nodes")
    except InvalidGraphError as error:
        raise FormatError(f"graph6: {error}") from None
    spare = 6 * len(body) - n * (n - 1) // 2
    if len(body) and int(body[-1]) & ((1 << spare) - 1):
        raise FormatError("graph6: the bits that pad the last character must be zero")
    return n, body


def _body_length(n: int) -> int:
    return (n * (n - 1) // 2 + 5) // 6


def _edges_of(k: np.ndarray) -> np.ndarray:
    """Rows (i, j), i < j, of the bits with numbers k = j (j - 1) / 2 + i."""
    j = ((1 + np.sqrt(1 + 8 * k.astype(np.float64))) / 2).astype(np.int64)
    j -= j * (j - 1) // 2 > k  # the root was rounded up
    j += (j + 1) * j // 2 <= k
    return np.stack([k - j * (j - 1) // 2, j], axis=1)
