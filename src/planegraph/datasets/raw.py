"""Graphs as the raw files give them, before they are decomposed: flat arrays, nothing per graph in Python where it can be avoided."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..batch import GraphBatch
from ..data.directions import pair_directions
from ..errors import FormatError, InvalidGraphError

SPLITS = ("train", "val", "test")
"""The parts of a split, in the order of their numbers 0, 1, 2 in the array ``split``."""


@dataclass(frozen=True, eq=False)
class RawGraphs:
    """Structure, features and targets; ``attrs`` has a row per graph, ``split`` among them where the split is given."""

    batch: GraphBatch
    x: np.ndarray | None = None
    edge_attr: np.ndarray | None = None
    y: np.ndarray | None = None
    attrs: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.batch)

    def rows(self, start: int, stop: int, edge_features: bool = True) -> dict[str, object]:
        """The graphs ``start`` to ``stop - 1`` as arguments of ``PackedDataset.from_arrays``."""
        nodes, edges = (slice(ptr[start], ptr[stop]) for ptr in (self.batch.node_ptr, self.batch.edge_ptr))
        return {
            "batch": self.batch[start:stop],
            "x": None if self.x is None else self.x[nodes],
            "edge_attr": None if self.edge_attr is None or not edge_features else self.edge_attr[edges],
            "y": None if self.y is None else self.y[start:stop],
            "attrs": {name: values[start:stop] for name, values in self.attrs.items()},
        }


def load_arrays(path: Path, names: Sequence[str]) -> dict[str, np.ndarray]:
    """The named arrays of an ``.npz`` file, never unpickling; :class:`FormatError` if it is damaged or lacks one."""
    try:
        with np.load(path, allow_pickle=False) as file:
            missing = [name for name in names if name not in file.files]
            if missing:
                raise FormatError(f"{path} lacks {', '.join(missing)}; found {', '.join(file.files)}")
            return {name: file[name] for name in names}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        if isinstance(error, FormatError | FileNotFoundError):
            raise
        raise FormatError(f"{path} is damaged or no .npz file: {error}") from None


def from_columns(
    node_ptr: np.ndarray, column_ptr: np.ndarray, edge_index: np.ndarray, edge_attr: np.ndarray | None = None
) -> tuple[GraphBatch, np.ndarray | None]:
    """The batch of graphs whose edges are there in both directions, and the features of each edge, which must agree in both.

    >>> batch, kinds = from_columns(np.array([0, 2]), np.array([0, 2]), np.array([[0, 1], [1, 0]]), np.array([3, 3]))
    >>> batch, kinds.tolist()
    (GraphBatch(1 graph, 2 nodes, 1 edge), [3])
    """
    node_ptr, column_ptr = node_ptr.astype(np.int64), column_ptr.astype(np.int64)
    pairs = pair_directions(edge_index.astype(np.int64), column_ptr, node_ptr)
    batch = GraphBatch(node_ptr, pairs.edge_ptr, edge_index.T[pairs.first].astype(np.int64))
    if edge_attr is None:
        return batch, None
    if not np.array_equal(edge_attr[pairs.first], edge_attr[pairs.second]):
        raise InvalidGraphError("the two directions of an edge have different features")
    return batch, edge_attr[pairs.first]


def read_npz(path: Path, extra: Sequence[str] = ()) -> tuple[GraphBatch, dict[str, np.ndarray]]:
    """An ``.npz`` file with ``node_ptr``, ``edge_ptr`` and ``edge_index`` in both directions; ``extra`` arrays as they are.

    ``edge_attr``, if asked for, comes back with one row per edge.
    """
    d = load_arrays(path, ("node_ptr", "edge_ptr", "edge_index", *extra))
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
        found |= {part: int((raw.attrs["split"] == i).sum()) for i, part in enumerate(SPLITS)}
    wrong = [f"{found[what]:,} {what}, not {wanted:,}" for what, wanted in published.items() if found[what] != wanted]
    if wrong:
        raise FormatError(f"{name}: the raw files hold {'; '.join(wrong)} as published. Nothing was packed; fetch them again")
