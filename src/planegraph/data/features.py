"""Features of nodes, edges, darts and graphs as plain arrays, and the labels that follow from them.

Integers and booleans are categories and become int32; floats stay float32 or float64. NaN is refused, and so is a category that
int32 does not hold; the message names the graph. The labels that break ties in canonical walks are the features themselves, as
exact 64-bit keys (see labels.py), so that a walk can depend on nothing the model does not read, and the model reads nothing that
the walks ignored. O(size).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import FormatError, InvalidGraphError
from ..graphs.batch import GraphBatch, locate
from ..graphs.labels import to_keys, to_numpy

_INT32 = np.iinfo(np.int32)


@dataclass(frozen=True, eq=False)
class Features:
    """What a dataset knows beside structure: ``x`` (nodes, width), ``edges`` (edges, width) or, where directions differ, (edges, 2, width),
    ``y`` (graphs, ...) and further arrays with one row per graph in ``attrs``; ``orbits`` (nodes,), the number of each node's orbit
    under the automorphisms of its graph, from 0 in each graph."""

    x: np.ndarray | None = None
    edges: np.ndarray | None = None
    y: np.ndarray | None = None
    attrs: Mapping[str, np.ndarray] = field(default_factory=dict)
    orbits: np.ndarray | None = None

    @property
    def edge_attr(self) -> np.ndarray | None:
        """``edges`` with a row per edge, or None."""
        return None if self.edges is None or self.edges.ndim == 3 else self.edges

    @property
    def dart_attr(self) -> np.ndarray | None:
        """``edges`` with a row per direction, or None."""
        return None if self.edges is None or self.edges.ndim != 3 else self.edges

    def select(self, nodes: np.ndarray, edges: np.ndarray, graphs: np.ndarray) -> Features:
        """The rows with these numbers."""
        attrs = {name: values[graphs] for name, values in self.attrs.items()}
        return Features(_take(self.x, nodes), _take(self.edges, edges), _take(self.y, graphs), attrs, _take(self.orbits, nodes))

    def check(self, node_ptr: np.ndarray, edges: int) -> None:
        """Raises FormatError unless shapes and types fit the nodes of each graph and so many edges."""
        nodes, graphs = int(node_ptr[-1]), len(node_ptr) - 1
        for name, lead in (("x", (nodes,)), ("edge_attr", (edges,)), ("dart_attr", (edges, 2))):
            values = getattr(self, name)
            if values is not None and (values.shape[:-1] != lead or values.dtype not in (np.int32, np.float32, np.float64)):
                wanted = ", ".join(map(str, (*lead, "width")))
                raise FormatError(
                    f"{name} must have shape ({wanted}) and be int32, float32 or float64; found {values.shape}, {values.dtype}"
                )
        for name, values in {"y": self.y, **self.attrs}.items():
            if values is not None and (values.ndim == 0 or len(values) != graphs):
                raise FormatError(f"{name} must have a row for each of {graphs} graphs; found shape {values.shape}")
        if self.orbits is not None:
            _check_orbits(self.orbits, node_ptr)


def _check_orbits(orbits: np.ndarray, node_ptr: np.ndarray) -> None:
    """A batch counts on it that a graph has no more orbits than nodes."""
    if orbits.shape != (node_ptr[-1],) or orbits.dtype != np.int32:
        raise FormatError(f"orbits must be int32 of shape ({node_ptr[-1]},); found {orbits.dtype}, {orbits.shape}")
    sizes = np.diff(node_ptr)
    bad = (orbits < 0) | (orbits >= np.repeat(sizes, sizes))
    if bad.any():
        graph, node = locate(node_ptr, int(np.argmax(bad)))
        raise FormatError(f"orbits of graph {graph} must be 0 to {sizes[graph] - 1}; found {orbits[bad][0]} at node {node}")


def _take(array: np.ndarray | None, rows: np.ndarray) -> np.ndarray | None:
    return None if array is None else array[rows]


def as_features(values: Any, ptr: np.ndarray, name: str, sides: tuple[int, ...] = ()) -> np.ndarray | None:
    """Features as an int32, float32 or float64 array of shape (rows, *sides, width); None if width is 0.

    ``ptr`` holds the offsets of the graphs along the rows. ``sides`` is (2,) for features of darts.

    >>> as_features([True, False], np.array([0, 2]), "x").tolist()
    [[1], [0]]
    """
    if values is None:
        return None
    array, lead = to_numpy(values, name), (int(ptr[-1]), *sides)
    if array.shape[: len(lead)] != lead or array.ndim > len(lead) + 1:
        wanted = ", ".join(map(str, lead))
        raise InvalidGraphError(f"{name} must have shape ({wanted}) or ({wanted}, width); found shape {array.shape}")
    array = array.reshape(*lead, *(array.shape[len(lead) :] or (1,)))
    if array.dtype.kind == "f" and not hasattr(values, "dtype"):
        array = array.astype(np.float32)  # a list of Python floats asks for no precision
    array = _kept(array, ptr, name)
    return array if array.shape[-1] else None


def _kept(array: np.ndarray, ptr: np.ndarray, name: str) -> np.ndarray:
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "f" and size <= 8:
        bad = np.isnan(array)
        if bad.any():
            _refuse(array, bad, ptr, name, "replace it by a number of your choice")
        return np.ascontiguousarray(array, np.float64 if size == 8 else np.float32)
    if kind in "iu" and size >= 4 and array.size:
        bad = (array < _INT32.min) | (array > _INT32.max) if kind == "i" else array > _INT32.max
        if bad.any():
            _refuse(array, bad, ptr, name, "integers are categories and must fit 32 bits: number them from 0, or use floats")
    if kind not in "biu":
        raise InvalidGraphError(f"{name} must hold integers, booleans or floats of at most 64 bits; found dtype {array.dtype}")
    return np.ascontiguousarray(array, np.int32)


def _refuse(array: np.ndarray, bad: np.ndarray, ptr: np.ndarray, name: str, advice: str) -> None:
    where = tuple(int(i) for i in np.argwhere(bad)[0])
    g, row = locate(ptr, where[0])
    at = ", ".join(map(str, (row, *where[1:])))
    raise InvalidGraphError(f"graph {g}: {name}[{at}] is {array[where]}; {advice}", g)


def as_targets(values: Any, count: int, name: str, of: str = "graphs") -> np.ndarray | None:
    """One row for each of so many graphs or nodes, of any shape and numeric type; NaN may mean "not measured" here and is kept."""
    if values is None:
        return None
    array = to_numpy(values, name)
    if array.ndim == 0 or len(array) != count:
        raise InvalidGraphError(f"{name} must have one row for each of the {count} {of}; found shape {array.shape}")
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        raise InvalidGraphError(f"{name} must hold numbers of at most 64 bits; found dtype {array.dtype}")
    if array.dtype.kind == "f" and not hasattr(values, "dtype"):
        array = array.astype(np.float32)
    return np.ascontiguousarray(array)


def labelled(batch: GraphBatch, nodes: Mapping[str, np.ndarray], edges: Mapping[str, np.ndarray]) -> GraphBatch:
    """The graphs of the batch with these arrays as labels; those of edges have shape (edges, width) or (edges, 2, width)."""
    arrays = list(edges.values())
    by_dart = any(a.ndim == 3 for a in arrays)
    if by_dart:
        arrays = [np.repeat(a[:, None], 2, axis=1) if a.ndim == 2 else a for a in arrays]
    keys = _keys(arrays)
    return GraphBatch._trusted(
        batch.node_ptr, batch.edge_ptr, batch.edges, _keys(nodes.values()), None if by_dart else keys, keys if by_dart else None
    )


def _keys(arrays: Iterable[np.ndarray]) -> np.ndarray | None:
    """The columns of all arrays side by side as exact int64 keys, which is what the core compares; None if there are none."""
    # + 0.0: -0.0 becomes 0.0
    keys = [to_keys(a.astype(np.float64) + 0.0) if a.dtype.kind == "f" else a.astype(np.int64) for a in arrays if a.size]
    return np.concatenate(keys, axis=-1) if len(keys) > 1 else keys[0] if keys else None
