"""Graphs as read from raw files, before they are decomposed: flat arrays, with as few Python objects per graph as possible."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..errors import FormatError, InvalidGraphError
from ..graphs.batch import GraphBatch
from ..graphs.directions import pair_directions
from ..tasks import PARTS
from .files import UNREADABLE


@dataclass(frozen=True, eq=False)
class RawGraphs:
    """Structure, features and targets; ``attrs`` has a row per graph, ``split`` among them where the split is given.

    Every array has exactly the rows it should have, and all targets are finite: :class:`InvalidGraphError` otherwise.
    """

    batch: GraphBatch
    x: np.ndarray | None = None
    edge_attr: np.ndarray | None = None
    y: np.ndarray | None = None
    attrs: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        nodes, edges, graphs = self.batch.num_nodes, self.batch.num_edges, len(self)
        check_rows("x", self.x, nodes, "nodes")
        check_rows("edge_attr", self.edge_attr, edges, "edges")
        for name, values in {"y": self.y, **self.attrs}.items():
            check_rows(name, values, graphs, "graphs")
        if self.y is not None:
            _refuse_where("y", self.y, ~np.isfinite(self.y), "a finite number")

    def __len__(self) -> int:
        return len(self.batch)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turns errors about the contents of this file into a :class:`FormatError` that names it."""
    try:
        yield
    except FormatError:
        raise
    except (ValueError, TypeError, IndexError) as error:
        raise FormatError(f"{path}: {error}") from None


def load_arrays(path: Path, names: Sequence[str]) -> dict[str, np.ndarray]:
    """The named arrays of an ``.npz`` file, never unpickling; :class:`FormatError` if it is damaged or lacks one."""
    try:
        found = np.load(path, allow_pickle=False)
        if isinstance(found, np.ndarray):
            raise FormatError(f"{path} must be an .npz file with {', '.join(names)}; found a single array, as in .npy files")
        with found as file:
            missing = [name for name in names if name not in file.files]
            if missing:
                raise FormatError(f"{path} lacks {', '.join(missing)}; found {', '.join(file.files)}")
            return {name: file[name] for name in names}
    except (OSError, *UNREADABLE) as error:
        if isinstance(error, FormatError | FileNotFoundError):
            raise
        raise FormatError(f"{path} is damaged, or not an .npz file: {error}") from None


def check_rows(name: str, values: np.ndarray | None, count: int, what: str) -> None:
    """Raises :class:`InvalidGraphError` unless there is a row for each of ``count`` nodes, edges or graphs, or no array at all."""
    if values is not None and values.shape[:1] != (count,):
        raise InvalidGraphError(f"{name} must have a row for each of {count:,} {what}; found shape {values.shape}")


def as_integers(name: str, values: np.ndarray) -> np.ndarray:
    """Integers as int64; other numbers are refused, not rounded.

    >>> as_integers("edge_index", np.array([[0, 1], [1, 0]], np.uint8)).dtype
    dtype('int64')
    """
    if values.size and values.dtype.kind not in "iu":
        raise InvalidGraphError(f"{name} must be integers; found dtype {values.dtype}")
    return values.astype(np.int64)


def as_split(split: np.ndarray) -> np.ndarray:
    """The number of each graph's part (see :data:`PARTS`) as (G,) int8."""
    split = as_integers("split", split)
    if split.ndim != 1:
        raise InvalidGraphError(f"split must be one number for each graph; found shape {split.shape}")
    _refuse_where("split", split, (split < 0) | (split >= len(PARTS)), f"0 to {len(PARTS) - 1}")
    return split.astype(np.int8)


def as_target(y: np.ndarray, binary: bool = False) -> np.ndarray:
    """One number for each graph as (G, 1) float32; a ``binary`` one is 0 or 1.

    >>> as_target(np.array([1, 0], np.int8), binary=True).tolist()
    [[1.0], [0.0]]
    """
    if y.ndim == 0 or y.shape[1:] not in ((), (1,)) or y.dtype.kind not in "biuf":
        raise InvalidGraphError(f"y must be one number for each graph; found shape {y.shape}, dtype {y.dtype}")
    if binary:
        _refuse_where("y", y, ~np.isin(y, (0, 1)), "0 or 1")
    return y.reshape(-1, 1).astype(np.float32)


def _refuse_where(name: str, values: np.ndarray, bad: np.ndarray, wanted: str) -> None:
    if bad.any():
        where = tuple(np.argwhere(bad)[0].tolist())
        raise InvalidGraphError(f"graph {where[0]}: {name} must be {wanted}; found {values[where]}", where[0])


def from_columns(
    node_ptr: np.ndarray, column_ptr: np.ndarray, edge_index: np.ndarray, edge_attr: np.ndarray | None = None
) -> tuple[GraphBatch, np.ndarray | None]:
    """The batch of graphs whose edges are there in both directions, and the features of each edge, which must agree in both.

    >>> batch, kinds = from_columns(np.array([0, 2]), np.array([0, 2]), np.array([[0, 1], [1, 0]]), np.array([3, 3]))
    >>> batch, kinds.tolist()
    (GraphBatch(1 graph, 2 nodes, 1 edge), [3])
    """
    if edge_index.ndim != 2 or len(edge_index) != 2:
        raise InvalidGraphError(f"edge_index must have shape (2, E), a column per direction of an edge; found {edge_index.shape}")
    columns = GraphBatch(node_ptr, column_ptr, as_integers("edge_index", edge_index).T)
    pairs = pair_directions(columns.edges.T, columns.edge_ptr, columns.node_ptr)
    batch = GraphBatch(columns.node_ptr, pairs.edge_ptr, columns.edges[pairs.first])
    if edge_attr is None:
        return batch, None
    check_rows("edge_attr", edge_attr, columns.num_edges, "columns of edge_index")
    if not np.array_equal(edge_attr[pairs.first], edge_attr[pairs.second]):
        raise InvalidGraphError("the two directions of an edge have different features")
    return batch, edge_attr[pairs.first]


def read_npz(path: Path, extra: Sequence[str] = ()) -> tuple[GraphBatch, dict[str, np.ndarray]]:
    """An ``.npz`` file with ``node_ptr``, ``edge_ptr`` and ``edge_index`` in both directions; ``extra`` arrays as they are.

    ``edge_attr``, if asked for, comes back with one row per edge.
    """
    d = load_arrays(path, ("node_ptr", "edge_ptr", "edge_index", *extra))
    with reading(path):
        batch, edge_attr = from_columns(d["node_ptr"], d["edge_ptr"], d["edge_index"], d.get("edge_attr"))
    found = {name: d[name] for name in extra}
    if edge_attr is not None:
        found["edge_attr"] = edge_attr
    return batch, found


def join(batches: Sequence[GraphBatch]) -> GraphBatch:
    """Batches without labels, one after another."""
    return GraphBatch(
        _offsets([b.node_ptr for b in batches]),
        _offsets([b.edge_ptr for b in batches]),
        np.concatenate([b.edges for b in batches]),
    )


def _offsets(pointers: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.concatenate([np.diff(p) for p in pointers]))]).astype(np.int64)


def check_counts(name: str, raw: RawGraphs, published: Mapping[str, int]) -> None:
    """Raises :class:`FormatError` unless the numbers of graphs, nodes and edges (and graphs of each part) are the published ones."""
    found = {"graphs": len(raw), "nodes": raw.batch.num_nodes, "edges": raw.batch.num_edges}
    if "split" in raw.attrs:
        found |= {part: int((raw.attrs["split"] == i).sum()) for i, part in enumerate(PARTS)}
    wrong = [f"{found[what]:,} {what}, not {wanted:,}" for what, wanted in published.items() if found[what] != wanted]
    if wrong:
        raise FormatError(f"{name}: the raw files hold {'; '.join(wrong)} as published. Nothing was packed; fetch them again")
