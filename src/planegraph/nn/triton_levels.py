"""One slice of the tree recursion on CUDA as one kernel: gather, product, ReLU.

A captured step is bound by the number of its kernels, and a tree has many small levels. Sums are in the order of the entries and without
atomics, so the same input always gives the same bits.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from .incidence import Rows

_ROWS, _INNER, _COLUMNS = 16, 32, 64


@triton.jit
def _forward_kernel(
    base,
    source,
    begin,
    end,
    weight,
    out,
    rows,
    width,
    base_replica,
    source_replica,
    bounds_replica,
    weight_replica,
    out_replica,
    HAS_BOUNDS: tl.constexpr,
    PRECISION: tl.constexpr,
    ROWS: tl.constexpr,
    INNER: tl.constexpr,
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
    most = tl.max(count)
    product = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for start in range(0, width, INNER):
        inner = start + tl.arange(0, INNER)
        sums = tl.zeros((ROWS, INNER), dtype=tl.float32)
        for k in range(most):
            at = source + replica * source_replica + (first + k)[:, None].to(tl.int64) * width + inner[None, :]
            sums += tl.load(at, mask=(k < count)[:, None] & (inner < width)[None, :], other=0.0)
        w = weight + replica * weight_replica + column[None, :] * width + inner[:, None]
        product += tl.dot(
            sums,
            tl.load(w, mask=(inner < width)[:, None] & (column < width)[None, :], other=0.0),
            input_precision=PRECISION,
        )
    mask = inside[:, None] & (column < width)[None, :]
    place = row[:, None].to(tl.int64) * width + column[None, :]
    value = product + tl.load(base + replica * base_replica + place, mask=mask, other=0.0)
    tl.store(out + replica * out_replica + place, tl.maximum(value, 0.0), mask=mask)


@triton.jit
def _backward_kernel(
    gradient,
    parent,
    weight,
    value,
    source_gradient,
    above,
    rows,
    width,
    gradient_replica,
    parent_replica,
    weight_replica,
    value_replica,
    source_replica,
    above_replica,
    HAS_PARENT: tl.constexpr,
    PRECISION: tl.constexpr,
    ROWS: tl.constexpr,
    INNER: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    replica = tl.program_id(2).to(tl.int64)
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = row < rows
    if HAS_PARENT:
        up = tl.load(parent + replica * parent_replica + row, mask=inside, other=-1)
    else:
        up = tl.where(inside, row, -1)
    product = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for start in range(0, width, INNER):
        inner = start + tl.arange(0, INNER)
        at = gradient + replica * gradient_replica + up[:, None].to(tl.int64) * width + inner[None, :]
        g = tl.load(at, mask=(up >= 0)[:, None] & (inner < width)[None, :], other=0.0)
        if tl.program_id(1) == 0:
            keep = above + replica * above_replica + row[:, None].to(tl.int64) * width + inner[None, :]
            tl.store(keep, g, mask=inside[:, None] & (inner < width)[None, :])
        w = weight + replica * weight_replica + inner[:, None] * width + column[None, :]
        product += tl.dot(
            g, tl.load(w, mask=(inner < width)[:, None] & (column < width)[None, :], other=0.0), input_precision=PRECISION
        )
    mask = inside[:, None] & (column < width)[None, :]
    place = row[:, None].to(tl.int64) * width + column[None, :]
    positive = tl.load(value + replica * value_replica + place, mask=mask, other=0.0) > 0
    to = source_gradient + replica * source_replica + place
    tl.store(to, tl.load(to, mask=mask, other=0.0) + tl.where(positive, product, 0.0), mask=mask)


def can_fuse(x: Tensor) -> bool:
    """Whether the kernels take this tensor: rows must lie one after the other, replicas may lie apart."""
    return x.is_cuda and x.dtype == torch.float32


def _precision() -> str:
    """Three products of tf32 numbers are as exact as one of float32, and faster."""
    return "tf32x3" if torch.get_float32_matmul_precision() == "highest" else "tf32"


def _replica(x: Tensor | None, rows_dim: int = 2) -> int:
    """Elements between two replicas."""
    return x.stride(0) if x is not None and x.dim() > rows_dim else 0


def _grid(x: Tensor) -> tuple[int, int, int]:
    replicas = x.shape[0] if x.dim() == 3 else 1
    return triton.cdiv(x.shape[-2], _ROWS), triton.cdiv(x.shape[-1], _COLUMNS), replicas


_TILES = {"ROWS": _ROWS, "INNER": _INNER, "COLUMNS": _COLUMNS}


def forward(base: Tensor, source: Tensor, children: Rows | None, weight: Tensor, out: Tensor) -> None:
    """out = relu(base + (sum of children) weight^T); without children, row r of ``source`` is the only child of row r."""
    begin, end = (base, base) if children is None else (children.begin, children.end)
    with torch.cuda.device(base.device):
        _forward_kernel[_grid(base)](
            base,
            source,
            begin,
            end,
            weight,
            out,
            base.shape[-2],
            base.shape[-1],
            _replica(base),
            _replica(source),
            0 if children is None else _replica(begin, 1),
            _replica(weight),
            _replica(out),
            HAS_BOUNDS=children is not None,
            PRECISION=_precision(),
            **_TILES,
        )


def backward(
    gradient: Tensor, parents: Tensor | None, weight: Tensor, value: Tensor, source_gradient: Tensor, above: Tensor
) -> None:
    """above = gradient of each source's parent; source_gradient += (above weight) where the source's value is positive.

    Without parents, row r of ``gradient`` belongs to source r.
    """
    with torch.cuda.device(above.device):
        _backward_kernel[_grid(above)](
            gradient,
            gradient if parents is None else parents,
            weight,
            value,
            source_gradient,
            above,
            above.shape[-2],
            above.shape[-1],
            _replica(gradient),
            0 if parents is None else _replica(parents, 1),
            _replica(weight),
            _replica(value),
            _replica(source_gradient),
            _replica(above),
            HAS_PARENT=parents is not None,
            PRECISION=_precision(),
            **_TILES,
        )
