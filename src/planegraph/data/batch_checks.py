"""What must hold of a batch before a model reads it: kernels take addresses, and would read whatever lies there.

- :func:`check_tensors`: types, contiguity and numbers of rows, which the host knows. O(1), in every forward pass.
- :func:`check_entries`: every id is that of a row, every offset and position within its bounds. O(length of the buffer), once for a batch
  that was made by hand; collation checks all it reads. On a GPU the check runs there and nothing waits for it: a bad entry ends the process
  with a device-side assertion. ``PLANEGRAPH_CHECK_IDS=0`` switches that off.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ..errors import InvalidGraphError
from .layout import COUNTS, SECTION_NAMES, SECTIONS, UNIT_OF, Kind, Layout

if TYPE_CHECKING:
    from .batch import PlanarBatch

SETTING = "PLANEGRAPH_CHECK_IDS"
_ADVICE = "take index, layout and features from one batch, as PackedDataset and PackedLoader make it"
_LAST_TYPE = 3


def check_tensors(batch: PlanarBatch) -> None:
    """Raises InvalidGraphError unless the tensors are those that the layout describes."""
    index, layout = batch.index, batch.layout
    if index.dtype != torch.int32 or not index.is_contiguous() or index.dim() > 2 or index.shape[-1] != layout.length:
        raise InvalidGraphError(
            f"index must be contiguous int32 of shape (length,) or (replicas, length), length {layout.length}; found {index.dtype}, "
            f"shape {tuple(index.shape)}, strides {index.stride()}: {_ADVICE}"
        )
    lead = index.shape[:-1]
    for name, values, rows, per in (
        ("x", batch.x, layout.num_nodes, "node"),
        ("edge_attr", batch.edge_attr, layout.num_rows, "row of edge features"),
    ):
        if values is None:
            continue
        if not isinstance(values, Tensor) or values.layout != torch.strided:
            raise InvalidGraphError(f"{name} must be a dense tensor; found {getattr(values, 'layout', type(values).__name__)}")
        if values.shape[:-1] != (*lead, rows) or values.device != index.device:
            wanted = ", ".join(map(str, (*lead, rows, "width")))
            raise InvalidGraphError(
                f"{name} must have shape ({wanted}) on {index.device}, a row per {per}; found {tuple(values.shape)} on "
                f"{values.device}: {_ADVICE}"
            )


def check_entries(batch: PlanarBatch) -> None:
    """Raises InvalidGraphError unless all entries of the index buffer are within their bounds; asserts it where the batch is, on a GPU."""
    index = batch.index
    if index.is_meta or (index.is_cuda and os.environ.get(SETTING) == "0"):
        return
    low, high = torch.empty_like(index), torch.empty_like(index)
    for start, stop, least, most in _bounds(batch.layout):
        low[..., start:stop].fill_(least)  # not from a table: nothing is copied to a device, so that a step can be captured
        high[..., start:stop].fill_(most)
    inside = (index >= low) & (index <= high)
    if index.is_cuda:
        torch._assert_async(inside.all(), f"index of {batch} holds entries out of range; {_ADVICE}")
    elif not inside.all():
        _refuse(index, inside, low, high, batch.layout)


def _bounds(layout: Layout) -> Iterator[tuple[int, int, int, int]]:
    """Stretches of the buffer: start, stop, and the least and the largest entry that may be there."""
    for k, unit in enumerate(COUNTS):
        rows = getattr(layout, f"num_{unit}")
        yield k, k + 1, 0 if layout.padded else rows, rows
    for name, (start, stop) in layout.offsets.items():
        if name != "counts":
            yield start, stop, *_range(layout, name)


def _range(layout: Layout, name: str) -> tuple[int, int]:
    section = SECTIONS[name]
    if section.kind == Kind.VALUE:
        return section.pad, _LAST_TYPE if name == "spqr_type" else layout.max_position
    rows = getattr(layout, f"num_{UNIT_OF[section.target]}")
    return (-1, rows - 1) if section.pad < 0 else (0, rows)  # an id, or where a run begins or ends


def _refuse(index: Tensor, inside: Tensor, low: Tensor, high: Tensor, layout: Layout) -> None:
    where = (~inside).nonzero()[0]
    at, place = int(where[-1]), tuple(where.tolist())
    name = next(name for name in SECTION_NAMES if layout.offsets[name][0] <= at < layout.offsets[name][1])
    replica = f"replica {place[0]}: " if len(place) > 1 else ""
    raise InvalidGraphError(
        f"{replica}{name}[{at - layout.offsets[name][0]}] of the batch must be {int(low[place])} to {int(high[place])}; found "
        f"{int(index[place])}. The index is damaged or of another batch: {_ADVICE}"
    )
