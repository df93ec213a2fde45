"""The graph6 format (McKay): a graph without labels as one line of printable characters.

N(n) is the number of nodes in 1, 4 or 8 characters (n <= 62, n < 2^18, n < 2^36); then follow the bits of the upper triangle of the
adjacency matrix column by column, six to a character, padded with zeros. Each character is its value plus 63. The line is as long
as n^2 / 12 whatever the number of edges, so the format suits small graphs.
"""

from __future__ import annotations

import numpy as np

from ...errors import FormatError, InvalidGraphError
from ..graph import Graph, check_size

HEADER = b">>graph6<<"
BITS = ((np.arange(64)[:, None] >> np.arange(5, -1, -1)) & 1).astype(bool)  # value -> its six bits


def from_graph6(text: str | bytes) -> Graph:
    """The graph of one line of graph6, with or without the header ``>>graph6<<``.

    >>> from_graph6("C~").num_edges
    6
    >>> from_graph6("C")
    Traceback (most recent call last):
    ...
    planegraph.errors.FormatError: graph6: 4 nodes need 1 characters after the size; found 0
    """
    data = as_bytes(text, "graph6")
    n, body = _split(data)
    k = np.flatnonzero(body)  # characters with edges
    row, bit = np.nonzero(BITS[body[k]])
    return Graph._trusted(n, edges_of(6 * k[row].astype(np.int64) + bit))


def to_graph6(graph: Graph, header: bool = False) -> str:
    """One line of graph6 without the line end; labels are not part of the format and are left out.

    >>> import planegraph as pg
    >>> to_graph6(pg.families.complete(4))
    'C~'
    """
    n = graph.num_nodes
    body = np.full(body_length(n), 63, np.uint8)
    low, high = graph.edges.min(axis=1), graph.edges.max(axis=1)
    k = high * (high - 1) // 2 + low
    np.add.at(body, k // 6, (32 >> (k % 6)).astype(np.uint8))
    line = (HEADER if header else b"") + size_characters(n) + body.tobytes()
    return line.decode("ascii")


def size_characters(n: int) -> bytes:
    """N(n)."""
    if n <= 62:
        size = [n]
    elif n < 1 << 18:
        size = [63, *((n >> s) & 63 for s in (12, 6, 0))]
    else:
        size = [63, 63, *((n >> s) & 63 for s in range(30, -1, -6))]
    return bytes(63 + x for x in size)


def as_bytes(text: str | bytes, format: str) -> bytes:
    """The line without blanks at its ends."""
    if not isinstance(text, str | bytes | bytearray | memoryview):
        raise FormatError(f"{format}: a graph is a string or bytes; found {type(text).__name__}")
    # a lone surrogate becomes bytes that no line has; "replace" would make it '?', which is a graph
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
    return data.strip(b"\r\n \t")


def check_characters(data: bytes, format: str) -> np.ndarray:
    """The values (0..63) of the characters of a line."""
    values = np.frombuffer(data, np.uint8)
    if values.min(initial=63) < 63 or values.max(initial=63) > 126:
        at = int(np.argmax((values < 63) | (values > 126)))
        raise FormatError(f"{format}: character {at} is {chr(data[at])!r}; only '?' to '~' may occur")
    return values - np.uint8(63)


def split_size(values: np.ndarray, format: str) -> tuple[int, np.ndarray]:
    """The number of nodes that N(n) says, and the values after it."""
    start, end = (0, 1) if not len(values) or values[0] < 63 else (1, 4) if len(values) < 2 or values[1] < 63 else (2, 8)
    if len(values) < end:
        raise FormatError(f"{format}: the size takes {end} characters; found {len(values)}")
    n = 0
    for x in values[start:end].tolist():
        n = 64 * n + x
    return n, values[end:]


def _split(data: bytes) -> tuple[int, np.ndarray]:
    """The number of nodes and the values (0..63) of the characters after it."""
    data = data.removeprefix(HEADER)
    if not data:
        raise FormatError("graph6: the line is empty")
    if data[:1] == b":":
        raise FormatError("graph6: this is sparse6; Graph.from_sparse6 reads it")
    if data[:1] == b";":
        raise FormatError("graph6: this is incremental sparse6, which is not supported")
    if data[:1] == b"&":
        raise FormatError("graph6: this is digraph6; planegraph reads undirected graphs")
    n, body = split_size(check_characters(data, "graph6"), "graph6")
    if len(body) != body_length(n):
        raise FormatError(f"graph6: {n} nodes need {body_length(n)} characters after the size; found {len(body)}")
    try:
        check_size(n, "nodes")
    except InvalidGraphError as error:
        raise FormatError(f"graph6: {error}") from None
    spare = 6 * len(body) - n * (n - 1) // 2
    if len(body) and int(body[-1]) & ((1 << spare) - 1):
        raise FormatError("graph6: the bits that pad the last character must be zero")
    return n, body


def body_length(n: int) -> int:
    return (n * (n - 1) // 2 + 5) // 6


def edges_of(k: np.ndarray) -> np.ndarray:
    """Rows (i, j), i < j, of the bits with numbers k = j (j - 1) / 2 + i."""
    j = ((1 + np.sqrt(1 + 8 * k.astype(np.float64))) / 2).astype(np.int64)
    j -= j * (j - 1) // 2 > k  # the root was rounded up
    j += (j + 1) * j // 2 <= k
    return np.stack([k - j * (j - 1) // 2, j], axis=1)
