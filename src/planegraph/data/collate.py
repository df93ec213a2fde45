"""Collation: graph ids become the index buffer of a batch and its features, each by one call of the core.

The core gathers, shifts, sorts and transposes without the GIL (cpp/planegraph/collate/collate.hpp); here its results get their memory,
pinned if wanted, and their layout. Nothing per graph in Python; linear in the size of the batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import _core
from .layout import Capacity, DoesNotFitError, Layout


def collate_index(
    tables: _core.Tables,
    ids: np.ndarray,
    rows_per_edge: int,
    capacity: Capacity | None = None,
    pool_ptr: np.ndarray | None = None,
    pin: bool = False,
) -> tuple[Tensor, Layout, int]:
    """The index buffer of a batch, its layout and its real number of graphs."""
    made: list[Tensor] = []

    def allocate(length: int) -> np.ndarray:
        made.append(torch.empty(length, dtype=torch.int32, pin_memory=pin))
        return made[0].numpy()

    wanted = None if capacity is None else capacity.as_tuple()
    shape: Any
    index, shape = _core.collate(tables, ids, rows_per_edge, wanted, pool_ptr, allocate)
    if capacity is None:
        return made[0], Layout(Capacity(*shape), rows_per_edge), shape[0]
    if index is None:
        raise DoesNotFitError(misfit(capacity, Capacity(*shape)), Layout(Capacity(*shape), rows_per_edge))
    return made[0], Layout(capacity, rows_per_edge, padded=True), shape[0]


def misfit(capacity: Capacity, need: Capacity) -> str:
    """The message of DoesNotFitError."""
    pairs = [(name, getattr(capacity, name), getattr(need, name)) for name in capacity.__dataclass_fields__]
    numbers = [
        f"{name} {have} for {wanted}"
        for name, have, wanted in pairs
        if isinstance(have, int) and have <= wanted and name != "graphs"
    ]
    slices = [f"slices of {name} {have} for {wanted}" for name, have, wanted in pairs if isinstance(have, tuple) and have != wanted]
    return (
        "the batch does not fit into the capacity (the last row of each table must stay free): "
        f"graphs {capacity.graphs} for {need.graphs}; {', '.join(numbers + slices)}. Use capacity.grow(error.layout)"
    )


class Feature:
    """Rows of one feature matrix as bytes, and where those of each graph begin (``ptr`` None: one row per graph)."""

    def __init__(self, values: np.ndarray, ptr: np.ndarray | None, rows_per_item: int) -> None:
        items = len(values)
        if ptr is not None and items != ptr[-1]:
            raise ValueError(f"there are {items} rows of features for {ptr[-1]} nodes or edges")
        self.ptr = ptr
        self.tail = values.shape[2:] if rows_per_item == 2 else values.shape[1:]
        self.dtype = torch.from_numpy(np.empty(0, values.dtype)).dtype
        self.rows_per_item = rows_per_item
        flat = np.ascontiguousarray(values).reshape(items, -1) if values.size else np.empty((items, 0), values.dtype)
        self.bytes = flat.view(np.uint8) if values.size else np.empty((items, 0), np.uint8)

    @classmethod
    def of(cls, values: Any, ptr: np.ndarray | None, rows_per_item: int = 1) -> Feature | None:
        """Of an array or a tensor, or None."""
        if values is None:
            return None
        array = values.detach().cpu().numpy() if isinstance(values, Tensor) else np.asarray(values)
        return cls(array, ptr, rows_per_item)

    def take(self, ids: np.ndarray, rows: int, pin: bool) -> Tensor:
        """The rows of these graphs, then zeros: ``rows`` in all."""
        out = torch.empty((rows, *self.tail), dtype=self.dtype, pin_memory=pin)
        if out.numel() == 0:
            return out
        items = rows // self.rows_per_item
        if self.bytes.size == 0:  # there is nothing to take, only padding
            return out.zero_()
        _core.gather_rows(self.bytes, self.ptr, ids, out.numpy().reshape(items, -1).view(np.uint8))
        return out


def as_ids(ids: Any) -> np.ndarray:
    """Graph ids as an int64 array that they do not share."""
    array = np.asarray(ids if not isinstance(ids, Tensor) else ids.cpu().numpy())
    if array.size == 0 and array.ndim == 1:
        return np.empty(0, np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError(f"graph ids must be a one-dimensional sequence of integers; found shape {array.shape}, dtype {array.dtype}")
    return np.array(array, np.int64)
