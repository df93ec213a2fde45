"""Sums along an incidence on CUDA: one program per few rows, no atomics, so the same input always gives the same bits.

The rows that are summed may be activated on the way, relu(scale x + offset), so that a norm with its ReLU needs no separate pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import triton
import triton.language as tl
from torch import Tensor

from .triton_tools import on_device, relu, replica_stride, runs

if TYPE_CHECKING:
    from .incidence import Rows

__all__ = ["runs", "sum_rows"]

_TILE = 1024  # elements of one program
_WIDEST = 256  # columns of one program


@triton.jit
def _sum_kernel(
    x, scale, offset, index, begin, end, base, out, rows, width, x_replica, x_row, index_replica, bounds_replica, base_replica,
    base_row, out_replica, out_row, scale_replica, HAS_INDEX: tl.constexpr, HAS_BOUNDS: tl.constexpr, HAS_BASE: tl.constexpr,
    ACTIVATE: tl.constexpr, ACCUMULATE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    replica = tl.program_id(2).to(tl.int64)
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = row < rows
    known = column < width
    if HAS_BOUNDS:
        first = tl.load(begin + replica * bounds_replica + row, mask=inside, other=0)
        count = tl.load(end + replica * bounds_replica + row, mask=inside, other=0) - first
    else:
        first = row
        count = inside.to(tl.int32)
    if ACTIVATE:
        a = tl.load(scale + replica * scale_replica + column, mask=known, other=0.0)[None, :]
        b = tl.load(offset + replica * scale_replica + column, mask=known, other=0.0)[None, :]
    mask = inside[:, None] & known[None, :]
    sums = tl.zeros((ROWS, COLUMNS), dtype=ACCUMULATE)
    if HAS_BASE:
        begun = base + replica * base_replica + row[:, None] * base_row + column[None, :]
        sums += tl.load(begun, mask=mask, other=0.0).to(ACCUMULATE)
    for k in range(tl.max(count)):
        here = k < count
        if HAS_INDEX:
            source = tl.load(index + replica * index_replica + first + k, mask=here, other=-1)
        else:
            source = tl.where(here, first + k, -1)
        real = (source[:, None] >= 0) & known[None, :]
        at = x + replica * x_replica + source[:, None] * x_row + column[None, :]
        value = tl.load(at, mask=real, other=0.0).to(ACCUMULATE)
        if ACTIVATE:
            value = tl.where(real, relu(value * a + b), 0.0)
        sums += value
    to = out + replica * out_replica + row[:, None] * out_row + column[None, :]
    tl.store(to, sums.to(out.dtype.element_ty), mask=mask)


def sum_rows(
    x: Tensor, rows: Rows, out: Tensor, base: Tensor | None = None, activation: tuple[Tensor, Tensor] | None = None
) -> Tensor:
    """out = base + the sums of the rows of x; at most one replica dimension.

    Args:
        activation: scale and offset (..., width); what is summed is then relu(scale x + offset).
    """
    x, base = (t if t is None or t.stride(-1) == 1 else t.contiguous() for t in (x, base))
    width = x.shape[-1]
    columns = min(triton.next_power_of_2(width), _WIDEST)
    tile = max(_TILE // columns, 1)
    bounds = rows.index if rows.begin is None else rows.begin
    index = bounds if rows.index is None else rows.index
    scale, offset = (x, x) if activation is None else activation
    start = out if base is None else base
    grid = (triton.cdiv(rows.count, tile), triton.cdiv(width, columns), x.shape[0] if x.dim() == 3 else 1)
    with on_device(x):
        _sum_kernel[grid](
            x, scale, offset, index, bounds, bounds if rows.end is None else rows.end, start, out, rows.count, width,
            replica_stride(x), x.stride(-2), replica_stride(index, 1), replica_stride(bounds, 1), replica_stride(start),
            start.stride(-2), replica_stride(out), out.stride(-2), replica_stride(scale, 1), HAS_INDEX=rows.index is not None,
            HAS_BOUNDS=rows.begin is not None, HAS_BASE=base is not None, ACTIVATE=activation is not None,
            ACCUMULATE=tl.float64 if x.dtype == torch.float64 else tl.float32, ROWS=tile, COLUMNS=columns,
        )  # fmt: skip
    return out
