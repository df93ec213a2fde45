"""The canonical code as bytes: decoding it to a graph, and encoding a graph in its own numbering (format: docs/code.md).

The core writes codes. ``encode`` here says the same thing in a few plain lines, for reading and for tests:
``canonical_form(g).code == encode(g.relabel(canonical_form(g).labelling))``. ``decode`` takes O(bytes) and refuses anything that is
not a code; the memory it takes is bounded by the length of its input, whatever sizes the input claims.
"""

from __future__ import annotations

import numpy as np

from ..errors import FormatError
from ..graphs.graph import MAX_SIZE, Graph

VERSION = 1
NODE_FLOAT, EDGE_FLOAT, DARTS_DIFFER = 1, 2, 4


def decode(code: bytes) -> Graph:
    """The graph of a canonical code; node i is the i-th in canonical order, edges in the order of the code.

    >>> import planegraph as pg
    >>> decode(bytes([1, 0, 3, 2, 0, 0, 2, 0, 0, 0, 0])).edges.tolist()  # a path: node 0 in the middle
    [[0, 1], [0, 2]]
    """
    reader = _Reader(code)
    version, flags = reader.byte("version"), reader.byte("flags")
    if version != VERSION:
        raise FormatError(f"this is a code of version {version}; this planegraph reads version {VERSION}")
    if flags > 7:
        raise FormatError(f"code: unknown flags {flags:#04x}")
    n, m, node_width, edge_width = reader.varints(4, "sizes").tolist()
    if max(n, m, node_width, edge_width) > MAX_SIZE:
        raise FormatError(f"code: sizes {n}, {m}, {node_width}, {edge_width} must be between 0 and 2^28")
    if (node_width and not n) or (edge_width and not m):
        raise FormatError(f"code: labels of width {node_width} on {n} nodes, {edge_width} on {m} edges")
    if flags & ~(NODE_FLOAT * (node_width > 0) | (EDGE_FLOAT | DARTS_DIFFER) * (edge_width > 0)):
        raise FormatError(f"code: flags {flags:#04x} speak of labels, whose widths are {node_width} and {edge_width}")
    nodes = reader.labels((n, node_width), bool(flags & NODE_FLOAT), "node labels")
    edges = _edges(reader.varints(n + m, "edges"), n, m)
    rows = 2 if flags & DARTS_DIFFER else 1
    labels = reader.labels((m, rows, edge_width), bool(flags & EDGE_FLOAT), "edge labels")
    reader.end()
    if rows == 2 and np.array_equal(labels[:, 0], labels[:, 1]):
        raise FormatError(f"code: flags {flags:#04x} say that the labels of an edge's directions differ, but none do")
    nodes = nodes if node_width else None
    if not edge_width:
        return Graph._trusted(n, edges, nodes)
    return Graph._trusted(n, edges, nodes, None, labels) if rows == 2 else Graph._trusted(n, edges, nodes, labels[:, 0])


def encode(graph: Graph) -> bytes:
    """The bytes that say this graph in its own numbering: its canonical code if the numbering is canonical.

    >>> import planegraph as pg
    >>> g = pg.Graph(3, [(2, 0), (0, 1)], node_labels=[7, -1, -1])
    >>> decode(encode(g)) == g
    True
    """
    edges, darts = graph._sorted()
    nodes = graph.node_labels
    differ = darts is not None and not np.array_equal(darts[:, 0], darts[:, 1])
    flags = NODE_FLOAT * _floats(nodes) | EDGE_FLOAT * _floats(darts) | DARTS_DIFFER * differ
    widths = [0 if x is None else x.shape[-1] for x in (nodes, darts)]
    out = bytearray([VERSION, flags])
    for size in (graph.num_nodes, graph.num_edges, *widths):
        _put(out, size)
    if nodes is not None:
        _put_labels(out, nodes)
    later: list[list[int]] = [[] for _ in range(graph.num_nodes)]
    for i, j in edges.tolist():
        later[i].append(j)
    for i, neighbours in enumerate(later):
        _put(out, len(neighbours))
        for previous, j in zip([i, *neighbours], neighbours, strict=False):
            _put(out, j - previous - 1)
    if darts is not None:
        _put_labels(out, darts if differ else darts[:, 0])
    return bytes(out)


def _floats(labels: np.ndarray | None) -> bool:
    return labels is not None and labels.dtype.kind == "f"


def _put(out: bytearray, value: int) -> None:
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)


def _put_labels(out: bytearray, labels: np.ndarray) -> None:
    if _floats(labels):
        out += labels.astype(">f8").tobytes()
        return
    for x in labels.ravel().tolist():
        _put(out, 2 * x if x >= 0 else -2 * x - 1)  # zigzag


def _edges(values: np.ndarray, n: int, m: int) -> np.ndarray:
    """Rows (i, j) from the varints of the edge part: per node a count, then as many gaps."""
    counts, is_gap, at = [], np.ones(n + m, bool), 0
    stream = values.tolist()
    for i in range(n):
        if at >= n + m:
            raise FormatError(f"code: the edges end at node {i} of {n}")
        is_gap[at] = False
        counts.append(stream[at])
        at += 1 + stream[at]
    if at != n + m:
        raise FormatError(f"code: the degrees sum to {sum(counts)}, but the sizes say {m} edges")
    counts = np.array(counts, np.int64)
    gaps = values[is_gap]
    if m and gaps.max() >= n:
        raise FormatError(f"code: an edge leads beyond node {n - 1}")
    steps = np.cumsum(gaps.astype(np.int64) + 1)
    first = np.cumsum(counts) - counts
    before = np.concatenate([[0], steps])[first]
    source = np.repeat(np.arange(n), counts)
    target = source + steps - np.repeat(before, counts)
    if m and target.max() >= n:
        raise FormatError(f"code: an edge leads beyond node {n - 1}")
    return np.stack([source, target], axis=1)


class _Reader:
    """Reads the parts of a code from front to back; every method names the part in its error."""

    def __init__(self, code: bytes) -> None:
        if not isinstance(code, bytes | bytearray | memoryview):
            raise FormatError(f"a code is bytes; found {type(code).__name__}")
        self.data = np.frombuffer(code, np.uint8)
        self.at = 0

    def byte(self, what: str) -> int:
        if self.at >= len(self.data):
            raise FormatError(f"code: it ends at byte {self.at}, within the {what}")
        self.at += 1
        return int(self.data[self.at - 1])

    def varints(self, count: int, what: str) -> np.ndarray:
        """The next ``count`` varints as uint64."""
        if count == 0:
            return np.empty(0, np.uint64)
        rest = self.data[self.at : self.at + 10 * count]
        last = np.flatnonzero(rest < 128)[:count]
        if len(last) < count:
            raise FormatError(f"code: it ends or breaks off within the {what}, after {len(last)} of {count} numbers")
        rest = rest[: last[-1] + 1]
        first = np.concatenate([[0], last[:-1] + 1])
        length = last - first + 1
        top = rest[last]
        if (length > 10).any() or ((length == 10) & (top > 1)).any() or ((length > 1) & (top == 0)).any():
            raise FormatError(f"code: a number in the {what} is too long")
        shift = 7 * (np.arange(len(rest)) - np.repeat(first, length))
        parts = (rest & 127).astype(np.uint64) << shift.astype(np.uint64)
        self.at += len(rest)
        return np.add.reduceat(parts, first)

    def labels(self, shape: tuple[int, ...], floats: bool, what: str) -> np.ndarray:
        count = int(np.prod(shape, dtype=object))
        if floats:
            raw = self.data[self.at : self.at + 8 * count]
            if len(raw) < 8 * count:
                raise FormatError(f"code: it ends within the {what}")
            self.at += 8 * count
            values = np.frombuffer(raw.tobytes(), ">f8").astype(np.float64)
            if np.isnan(values).any() or (np.signbit(values) & (values == 0)).any():
                raise FormatError(f"code: NaN or negative zero among the {what}")
        elif count > len(self.data):
            raise FormatError(f"code: {count} numbers of the {what} in {len(self.data)} bytes")
        else:
            zigzag = self.varints(count, what)
            values = ((zigzag >> np.uint64(1)) ^ (np.uint64(0) - (zigzag & np.uint64(1)))).astype(np.int64)
        return values.reshape(shape)

    def end(self) -> None:
        if self.at != len(self.data):
            raise FormatError(f"code: {len(self.data) - self.at} bytes follow its end")
