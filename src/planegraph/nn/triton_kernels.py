"""Sums along an incidence on CUDA: one program per few rows, no atomics, so the same input always gives the same bits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import triton
import triton.language as tl
from torch import Tensor

if TYPE_CHECKING:
    from .incidence import Rows

_TILE = 1024  # elements of one program
_WIDEST = 256  # columns of one program


@triton.jit
def _sum_kernel(
    x,
    index,
    begin,
    end,
    out,
    rows,
    width,
    x_replica,
    x_row,
    index_replica,
    bounds_replica,
    out_replica,
    out_row,
    HAS_INDEX: tl.constexpr,
    HAS_BOUNDS: tl.constexpr,
    ADD: tl.constexpr,
    ACCUMULATE: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    replica = tl.program_id(2).to(tl.int64)
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = row < rows
    if HAS_BOUNDS:
        first = tl.load(begin + replica * bounds_replica + row, mask=inside, other=0)
        count = tl.load(end + replica * bounds_replica + row, mask=inside, other=0) - first
    else:
        first = row
        count = inside.to(tl.int32)
    sums = tl.zeros((ROWS, COLUMNS), dtype=ACCUMULATE)
    for k in range(tl.max(count)):
        here = k < count
        if HAS_INDEX:
            source = tl.load(index + replica * index_replica + first + k, mask=here, other=-1)
        else:
            source = tl.where(here, first + k, -1)
        at = x + replica * x_replica + source[:, None].to(tl.int64) * x_row + column[None, :]
        sums += tl.load(at, mask=(source[:, None] >= 0) & (column[None, :] < width), other=0.0).to(ACCUMULATE)
    to = out + replica * out_replica + row[:, None].to(tl.int64) * out_row + column[None, :]
    mask = inside[:, None] & (column[None, :] < width)
    if ADD:
        sums += tl.load(to, mask=mask, other=0.0).to(ACCUMULATE)
    tl.store(to, sums.to(out.dtype.element_ty), mask=mask)


def sum_rows(x: Tensor, rows: Rows, out: Tensor, add: bool) -> Tensor:
    """As ``incidence.sum_rows``, into ``out``; at most one replica dimension."""
    if x.stride(-1) != 1:
        x = x.contiguous()
    stacked = x.dim() == 3
    width = x.shape[-1]
    columns = min(triton.next_power_of_2(width), _WIDEST)
    tile = max(_TILE // columns, 1)
    bounds = rows.index if rows.begin is None else rows.begin
    index = bounds if rows.index is None else rows.index
    grid = (triton.cdiv(rows.count, tile), triton.cdiv(width, columns), x.shape[0] if stacked else 1)
    with torch.cuda.device(x.device):
        _sum_kernel[grid](
            x,
            index,
            bounds,
            bounds if rows.end is None else rows.end,
            out,
            rows.count,
            width,
            x.stride(0) if stacked else 0,
            x.stride(-2),
            index.stride(0) if stacked else 0,
            bounds.stride(0) if stacked else 0,
            out.stride(0) if stacked else 0,
            out.stride(-2),
            HAS_INDEX=rows.index is not None,
            HAS_BOUNDS=rows.begin is not None,
            ADD=add,
            ACCUMULATE=tl.float64 if x.dtype == torch.float64 else tl.float32,
            ROWS=tile,
            COLUMNS=columns,
        )
    return out
