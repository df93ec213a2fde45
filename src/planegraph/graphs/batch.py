"""Many graphs as flat arrays plus offsets: nothing per graph in Python.

Graph i owns nodes ``node_ptr[i]:node_ptr[i + 1]`` and edges ``edge_ptr[i]:edge_ptr[i + 1]``. Node ids in ``edges`` are local to the
graph, from 0. Shapes, dtypes and offsets are checked when a batch is made; that each graph is simple is checked by the core when
the batch is used, and the error then says which graph is meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, overload

import numpy as np

from ..errors import InvalidGraphError
from ..io.text import counted
from .graph import MAX_SIZE, Graph, as_edges, check_size
from .labels import as_labels, if_any


class GraphBatch:
    """A batch of graphs.

    Args:
        node_ptr, edge_ptr: shape (graphs + 1,), offsets that start at 0 and never fall.
        edges: shape (edges of all graphs, 2), node ids local to their graph, each undirected edge once.
        node_labels: one row per node of the batch; edge_labels: one per edge; dart_labels: two per edge (see :class:`Graph`).

    >>> import planegraph as pg
    >>> b = pg.GraphBatch([0, 3, 5], [0, 3, 4], [(0, 1), (1, 2), (2, 0), (0, 1)])
    >>> b
    GraphBatch(2 graphs, 5 nodes, 4 edges)
    >>> b[1]
    Graph(2 nodes, 1 edge)
    """

    __slots__ = ("__weakref__", "dart_labels", "edge_labels", "edge_ptr", "edges", "node_labels", "node_ptr")

    node_ptr: np.ndarray
    edge_ptr: np.ndarray
    edges: np.ndarray
    node_labels: np.ndarray | None
    edge_labels: np.ndarray | None
    dart_labels: np.ndarray | None

    def __init__(
        self,
        node_ptr: Any,
        edge_ptr: Any,
        edges: Any,
        node_labels: Any = None,
        edge_labels: Any = None,
        dart_labels: Any = None,
    ) -> None:
        node_ptr, edge_ptr = _as_offsets(node_ptr, "node_ptr"), _as_offsets(edge_ptr, "edge_ptr")
        if len(node_ptr) != len(edge_ptr):
            raise InvalidGraphError(
                f"node_ptr and edge_ptr must have the same length, one more than there are graphs; "
                f"found {len(node_ptr)} and {len(edge_ptr)}"
            )
        _check_sizes(node_ptr, "nodes")
        _check_sizes(edge_ptr, "edges")
        pairs = as_edges(edges)
        if len(pairs) != edge_ptr[-1]:
            raise InvalidGraphError(f"edge_ptr ends at {edge_ptr[-1]}, but there are {len(pairs)} edges")
        if edge_labels is not None and dart_labels is not None:
            raise InvalidGraphError("give edge_labels (one per edge) or dart_labels (one per direction), not both")
        n, m = int(node_ptr[-1]), len(pairs)
        self._set(
            node_ptr,
            edge_ptr,
            pairs,
            as_labels(node_labels, (n,), "node_labels"),
            as_labels(edge_labels, (m,), "edge_labels"),
            as_labels(dart_labels, (m, 2), "dart_labels"),
        )

    def _set(self, *arrays: np.ndarray | None) -> None:
        names = ("node_ptr", "edge_ptr", "edges", "node_labels", "edge_labels", "dart_labels")
        for name, array in zip(names, arrays, strict=True):
            if name.endswith("_labels"):
                array = if_any(array)
            if array is not None:
                array.flags.writeable = False
            object.__setattr__(self, name, array)

    @classmethod
    def _trusted(cls, *arrays: np.ndarray | None) -> GraphBatch:
        """For the six arrays in the order of the constructor, already normalised and fresh."""
        batch = cls.__new__(cls)
        batch._set(*arrays)
        return batch

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a GraphBatch cannot be changed; make a new one with another {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a GraphBatch cannot be changed")

    def __reduce__(self) -> tuple:
        arrays = (self.node_ptr, self.edge_ptr, self.edges, self.node_labels, self.edge_labels, self.dart_labels)
        return GraphBatch, arrays

    @classmethod
    def from_graphs(cls, graphs: Iterable[Any]) -> GraphBatch:
        """Joins graphs, ours or whatever :func:`planegraph.as_graph` reads; names of nodes are left behind.

        Either all or none carry node labels, of one width and kind (integer or float); the same for edges.
        Graphs without nodes go with any node labels, and graphs without edges with any edge labels: they have none themselves.

        >>> import planegraph as pg
        >>> len(pg.GraphBatch.from_graphs([pg.families.cycle(n) for n in (3, 4, 5)]))
        3
        """
        graphs = [g if isinstance(g, Graph) else _converted(g, i) for i, g in enumerate(graphs)]
        nodes, sizes = [g.num_nodes for g in graphs], [g.num_edges for g in graphs]
        node_ptr, edge_ptr = offsets(nodes), offsets(sizes)
        edges = np.concatenate([np.empty((0, 2), np.int64), *(g.edges for g in graphs)])
        node = _join([g.node_labels for g in graphs], nodes, "node labels")
        if all(g.dart_labels is None for g in graphs):
            edge = _join([g.edge_labels for g in graphs], sizes, "edge labels")
            return cls._trusted(node_ptr, edge_ptr, edges, node, edge, None)
        darts = [g.dart_labels if g.edge_labels is None else np.repeat(g.edge_labels[:, None], 2, axis=1) for g in graphs]
        return cls._trusted(node_ptr, edge_ptr, edges, node, None, _join(darts, sizes, "edge or dart labels"))

    @property
    def num_nodes(self) -> int:
        """The number of nodes of all graphs together."""
        return int(self.node_ptr[-1])

    @property
    def num_edges(self) -> int:
        """The number of edges of all graphs together."""
        return len(self.edges)

    def __len__(self) -> int:
        return len(self.node_ptr) - 1

    @overload
    def __getitem__(self, index: int) -> Graph: ...
    @overload
    def __getitem__(self, index: slice | list[int] | np.ndarray) -> GraphBatch: ...
    def __getitem__(self, index: Any) -> Graph | GraphBatch:
        """One graph, or the batch of the graphs that a slice, a list of positions or a boolean mask selects."""
        if not isinstance(index, int | np.integer):
            return self._select(np.arange(len(self))[index])
        i = int(index)
        if not -len(self) <= i < len(self):
            raise IndexError(f"graph {i} of a batch of {len(self)}")
        i %= len(self)
        nodes = slice(self.node_ptr[i], self.node_ptr[i + 1])
        edges = slice(self.edge_ptr[i], self.edge_ptr[i + 1])
        labels = (_take(self.node_labels, nodes), _take(self.edge_labels, edges), _take(self.dart_labels, edges))
        try:
            return Graph(nodes.stop - nodes.start, self.edges[edges], *labels)
        except InvalidGraphError as error:
            raise InvalidGraphError(f"graph {i}: {error}", i) from None

    def _select(self, which: np.ndarray) -> GraphBatch:
        nodes, node_ptr = rows_of(self.node_ptr, which)
        edges, edge_ptr = rows_of(self.edge_ptr, which)
        return GraphBatch._trusted(
            node_ptr,
            edge_ptr,
            self.edges[edges],
            _take(self.node_labels, nodes),
            _take(self.edge_labels, edges),
            _take(self.dart_labels, edges),
        )

    def __iter__(self) -> Iterator[Graph]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        parts = [counted(len(self), "graph"), counted(self.num_nodes, "node"), counted(self.num_edges, "edge")]
        for name in ("node_labels", "edge_labels", "dart_labels"):
            labels = getattr(self, name)
            if labels is not None:
                parts.append(f"{name}={labels.dtype} x {labels.shape[-1]}")
        return f"GraphBatch({', '.join(parts)})"


def _converted(graph: Any, i: int) -> Graph:
    from .formats.convert import as_graph  # which reads PyG as batches

    try:
        return as_graph(graph)
    except InvalidGraphError as error:
        raise InvalidGraphError(f"graph {i}: {error}", i) from None


def _as_offsets(values: Any, what: str) -> np.ndarray:
    array = np.asarray(values)
    if array.ndim != 1 or len(array) == 0 or array.dtype.kind not in "iu":
        raise InvalidGraphError(
            f"{what} must be a one-dimensional array of integers with at least one entry; "
            f"found shape {array.shape}, dtype {array.dtype}"
        )
    if array.dtype == np.uint64 and array.max() > np.uint64(2**62):
        raise InvalidGraphError(f"{what}[{int(np.argmax(array))}] is {array.max()}, beyond any number of nodes or edges")
    result = array.astype(np.int64, order="C", copy=True)
    if result[0] != 0:
        raise InvalidGraphError(f"{what} must start at 0; found {result[0]}")
    falls = result[1:] < result[:-1]
    if falls.any():
        i = int(np.argmax(falls))
        raise InvalidGraphError(f"{what} must never fall; found {result[i]} at {i} and then {result[i + 1]}")
    return result


def _check_sizes(ptr: np.ndarray, what: str) -> None:
    too_many = np.diff(ptr) > MAX_SIZE
    if too_many.any():
        i = int(np.argmax(too_many))
        check_size(int(ptr[i + 1] - ptr[i]), what, f"graph {i}: ", i)


def offsets(counts: Any) -> np.ndarray:
    """Offsets of consecutive runs of these lengths.

    >>> offsets([3, 0, 2]).tolist()
    [0, 3, 3, 5]
    """
    ptr = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=ptr[1:])
    return ptr


def rows_of(ptr: np.ndarray, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers of the chosen graphs, one after another, and their new offsets."""
    counts = ptr[which + 1] - ptr[which]
    new = offsets(counts)
    return np.repeat(ptr[which] - new[:-1], counts) + np.arange(new[-1]), new


def shift_of(ptr: np.ndarray, into: np.ndarray) -> np.ndarray:
    """For each row of the table with offsets ``ptr``: where its graph begins in the table with offsets ``into``."""
    return np.repeat(into[:-1], np.diff(ptr))


def locate(ptr: np.ndarray, row: int) -> tuple[int, int]:
    """The graph of a row, and its position there."""
    g = int(np.searchsorted(ptr, row, side="right")) - 1
    return g, row - int(ptr[g])


def _take(array: np.ndarray | None, rows: Any) -> np.ndarray | None:
    return None if array is None else array[rows]


def _join(labels: list[np.ndarray | None], rows: list[int], what: str) -> np.ndarray | None:
    """The labels of all graphs, one after another; ``rows`` says how many each has, and those with 0 do not count."""
    given = [i for i, x in enumerate(labels) if x is not None]
    if not given:
        return None
    wanted = _kind(labels[given[0]])
    for i, x in enumerate(labels):
        if rows[i] and _kind(x) != wanted:
            raise InvalidGraphError(
                f"all graphs of a batch need the same {what}: graph {given[0]} has {wanted}, graph {i} has {_kind(x)}", i
            )
    return np.concatenate([labels[i] for i in given])


def _kind(labels: np.ndarray | None) -> str:
    return "none" if labels is None else f"{labels.dtype} of width {labels.shape[-1]}"
