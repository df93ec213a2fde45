"""Batch norm with its ReLU on CUDA: three kernels forward, two and a small sum backward, whatever the number of replicas.

Each column is normed over the real rows. Statistics are taken by chunks of rows, each about its first row and into memory of its own: no
atomics, so that the same input always gives the same bits, and no squares of large means in which a variance would drown.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

_TILE = 2048  # elements of one program at a time
_PROGRAMS = 512  # about so many share the sums


@triton.jit
def _moments_kernel(
    x, mask, out, rows, width, chunk, HAS_MASK: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, ACCUMULATE: tl.constexpr
):  # fmt: skip
    """Of each chunk of rows: the number of real ones, their mean and the sum of squares about it."""
    replica = tl.program_id(1).to(tl.int64)
    column = tl.arange(0, COLUMNS)
    inside = column < width
    start = tl.program_id(0) * chunk
    about = tl.load(x + (replica * rows + start) * width + column, mask=inside, other=0.0).to(ACCUMULATE)  # keeps squares small
    count = tl.zeros((ROWS,), dtype=ACCUMULATE)
    first = tl.zeros((ROWS, COLUMNS), dtype=ACCUMULATE)
    second = tl.zeros((ROWS, COLUMNS), dtype=ACCUMULATE)
    for k in range(start, tl.minimum(start + chunk, rows), ROWS):
        row = k + tl.arange(0, ROWS)
        real = (row < start + chunk) & (row < rows)
        if HAS_MASK:
            real = real & (tl.load(mask + replica * rows + row, mask=real, other=0) != 0)
        here = real[:, None] & inside[None, :]
        value = tl.load(x + (replica * rows + row)[:, None] * width + column[None, :], mask=here, other=0.0).to(ACCUMULATE)
        centred = tl.where(here, value - about[None, :], 0.0)
        count += real.to(ACCUMULATE)
        first += centred
        second += centred * centred
    number = tl.sum(count, 0) + tl.zeros((COLUMNS,), dtype=ACCUMULATE)
    mean = tl.sum(first, 0) / tl.maximum(number, 1.0)
    to = out + ((replica * tl.num_programs(0) + tl.program_id(0)) * 3) * width + column
    tl.store(to, number, mask=inside)
    tl.store(to + width, about + mean, mask=inside)
    tl.store(to + 2 * width, tl.sum(second, 0) - number * mean * mean, mask=inside)


@triton.jit
def _statistics_kernel(
    partial, running_mean, running_var, weight, bias, mean, inverse, scale, offset, counts, chunks, width,
    MOMENTUM: tl.constexpr, EPS: tl.constexpr, COLUMNS: tl.constexpr, ACCUMULATE: tl.constexpr,
):  # fmt: skip
    """Mean, 1 / deviation and the affine map that norms, from the moments of all chunks; the running averages move on."""
    replica = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = column < width
    count = tl.zeros((COLUMNS,), dtype=ACCUMULATE)
    centre = tl.zeros((COLUMNS,), dtype=ACCUMULATE)
    squares = tl.zeros((COLUMNS,), dtype=ACCUMULATE)
    for k in range(chunks):  # two sets of rows joined, again and again
        here = partial + ((replica * chunks + k) * 3) * width + column
        more = tl.load(here, mask=inside, other=0.0)
        away = tl.load(here + width, mask=inside, other=0.0) - centre
        share = more / tl.maximum(count + more, 1.0)
        squares += tl.load(here + 2 * width, mask=inside, other=0.0) + away * away * count * share
        centre += away * share
        count += more
    own = replica * width + column
    rows = tl.maximum(count, 1.0)
    variance = tl.maximum(squares / rows, 0.0)
    factor = 1.0 / tl.sqrt(variance + EPS)
    a = factor * tl.load(weight + own, mask=inside, other=0.0)
    tl.store(mean + own, centre, mask=inside)
    tl.store(inverse + own, factor, mask=inside)
    tl.store(scale + own, a, mask=inside)
    tl.store(offset + own, tl.load(bias + own, mask=inside, other=0.0) - centre * a, mask=inside)
    tl.store(counts + own, rows, mask=inside)
    old_mean = tl.load(running_mean + own, mask=inside, other=0.0)
    old_var = tl.load(running_var + own, mask=inside, other=1.0)
    unbiased = squares / tl.maximum(count - 1.0, 1.0)
    tl.store(running_mean + own, tl.where(count > 0, old_mean + MOMENTUM * (centre - old_mean), old_mean), mask=inside)
    tl.store(running_var + own, tl.where(count > 1, old_var + MOMENTUM * (unbiased - old_var), old_var), mask=inside)


@triton.jit
def _products_kernel(
    x, gradient, mask, mean, scale, offset, out, rows, width, chunk, HAS_MASK: tl.constexpr, ROWS: tl.constexpr,
    COLUMNS: tl.constexpr, ACCUMULATE: tl.constexpr,
):  # fmt: skip
    """Of each chunk of rows: the sums of the gradient past the ReLU, and of it times x - mean."""
    replica = tl.program_id(1).to(tl.int64)
    column = tl.arange(0, COLUMNS)
    inside = column < width
    own = replica * width + column
    about = tl.load(mean + own, mask=inside, other=0.0)[None, :]
    a = tl.load(scale + own, mask=inside, other=0.0)[None, :]
    b = tl.load(offset + own, mask=inside, other=0.0)[None, :]
    first = tl.zeros((ROWS, COLUMNS), dtype=ACCUMULATE)
    second = tl.zeros((ROWS, COLUMNS), dtype=ACCUMULATE)
    start = tl.program_id(0) * chunk
    for k in range(start, tl.minimum(start + chunk, rows), ROWS):
        row = k + tl.arange(0, ROWS)
        real = (row < start + chunk) & (row < rows)
        if HAS_MASK:
            real = real & (tl.load(mask + replica * rows + row, mask=real, other=0) != 0)
        here = real[:, None] & inside[None, :]
        at = (replica * rows + row)[:, None] * width + column[None, :]
        value = tl.load(x + at, mask=here, other=0.0)
        g = tl.load(gradient + at, mask=here & (value * a + b > 0), other=0.0).to(ACCUMULATE)
        first += g
        second += g * (value - about)
    to = out + ((replica * tl.num_programs(0) + tl.program_id(0)) * 2) * width + column
    tl.store(to, tl.sum(first, 0), mask=inside)
    tl.store(to + width, tl.sum(second, 0), mask=inside)


@triton.jit
def _apply_kernel(x, scale, offset, out, rows, width, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """relu(scale x + offset)."""
    replica = tl.program_id(1).to(tl.int64)
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, COLUMNS)
    inside = column < width
    here = (row < rows)[:, None] & inside[None, :]
    a = tl.load(scale + replica * width + column, mask=inside, other=0.0)[None, :]
    b = tl.load(offset + replica * width + column, mask=inside, other=0.0)[None, :]
    at = (replica * rows + row)[:, None] * width + column[None, :]
    tl.store(out + at, tl.maximum(tl.load(x + at, mask=here, other=0.0) * a + b, 0.0), mask=here)


@triton.jit
def _gradient_kernel(
    x, gradient, mask, mean, inverse, scale, offset, counts, sums, out, rows, width, HAS_MASK: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """scale (g - mean of g - normed x times the mean of g times normed x), g being the gradient past the ReLU; 0 at pad rows."""
    replica = tl.program_id(1).to(tl.int64)
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, COLUMNS)
    inside = column < width
    stored = row < rows
    here = stored[:, None] & inside[None, :]
    own = replica * width + column
    a = tl.load(scale + own, mask=inside, other=0.0)[None, :]
    b = tl.load(offset + own, mask=inside, other=0.0)[None, :]
    centre = tl.load(mean + own, mask=inside, other=0.0)[None, :]
    factor = tl.load(inverse + own, mask=inside, other=0.0)[None, :]
    count = tl.load(counts + own, mask=inside, other=1.0)[None, :]
    g_sum = tl.load(sums + replica * 2 * width + column, mask=inside, other=0.0)[None, :]
    gx_sum = tl.load(sums + (replica * 2 + 1) * width + column, mask=inside, other=0.0)[None, :]
    real = here
    if HAS_MASK:
        real = here & (tl.load(mask + replica * rows + row, mask=stored, other=0) != 0)[:, None]
    at = (replica * rows + row)[:, None] * width + column[None, :]
    value = tl.load(x + at, mask=here, other=0.0)
    g = tl.load(gradient + at, mask=real & (value * a + b > 0), other=0.0)
    result = a * (g - g_sum / count - (value - centre) * factor * factor * gx_sum / count)
    tl.store(out + at, tl.where(real, result, 0.0), mask=here)


def _columns(width: int) -> int:
    return triton.next_power_of_2(width)


def _grids(x: Tensor) -> tuple[int, int, int, int]:
    """Rows of a program at a time, rows of a chunk, chunks, and replicas."""
    rows, replicas = x.shape[-2], x.shape[0]
    tile = max(_TILE // _columns(x.shape[-1]), 1)
    chunk = triton.cdiv(max(triton.cdiv(rows * replicas, _PROGRAMS), 4 * tile), tile) * tile
    return tile, chunk, max(triton.cdiv(rows, chunk), 1), replicas


class NormReLU(torch.autograd.Function):
    """relu(batch norm of x) for contiguous x (replicas, rows, width); the running averages are changed in place."""

    @staticmethod
    def forward(ctx, x, mask, weight, bias, running_mean, running_var, momentum, eps):
        width, accumulate = x.shape[-1], tl.float64 if x.dtype == torch.float64 else tl.float32
        tile, chunk, chunks, replicas = _grids(x)
        columns = _columns(width)
        options = {"COLUMNS": columns, "num_warps": 4}
        partial = x.new_empty(replicas, chunks, 3, width)
        mean, inverse, scale, offset, counts = x.new_empty(5, replicas, width).unbind()
        out = torch.empty_like(x)
        with torch.cuda.device(x.device):
            _moments_kernel[(chunks, replicas)](
                x, x if mask is None else mask, partial, x.shape[-2], width, chunk, HAS_MASK=mask is not None, ROWS=tile,
                ACCUMULATE=accumulate, **options,
            )  # fmt: skip
            _statistics_kernel[(replicas, triton.cdiv(width, 32))](
                partial, running_mean, running_var, weight, bias, mean, inverse, scale, offset, counts, chunks, width,
                MOMENTUM=momentum, EPS=eps, COLUMNS=32, ACCUMULATE=accumulate, num_warps=1,
            )  # fmt: skip
            _apply_kernel[(triton.cdiv(x.shape[-2], tile), replicas)](
                x, scale, offset, out, x.shape[-2], width, ROWS=tile, **options
            )
        ctx.save_for_backward(x, mask, mean, inverse, scale, offset, counts)
        return out

    @staticmethod
    def backward(ctx, gradient):
        x, mask, mean, inverse, scale, offset, counts = ctx.saved_tensors
        gradient = gradient.contiguous()
        width = x.shape[-1]
        tile, chunk, chunks, replicas = _grids(x)
        options = {"ROWS": tile, "COLUMNS": _columns(width), "num_warps": 4}
        accumulate = tl.float64 if x.dtype == torch.float64 else tl.float32
        partial = x.new_empty(replicas, chunks, 2, width)
        out, rows_mask = torch.empty_like(x), x if mask is None else mask
        with torch.cuda.device(x.device):
            _products_kernel[(chunks, replicas)](
                x, gradient, rows_mask, mean, scale, offset, partial, x.shape[-2], width, chunk,
                HAS_MASK=mask is not None, ACCUMULATE=accumulate, **options,
            )  # fmt: skip
            sums = partial.sum(1)
            _gradient_kernel[(triton.cdiv(x.shape[-2], tile), replicas)](
                x, gradient, rows_mask, mean, inverse, scale, offset, counts, sums, out, x.shape[-2], width,
                HAS_MASK=mask is not None, **options,
            )  # fmt: skip
        return out, None, sums[:, 1] * inverse, sums[:, 0], None, None, None, None


def can_fuse(x: Tensor) -> bool:
    """Whether the kernels take this tensor."""
    return x.is_cuda and x.dim() in (2, 3) and x.shape[-1] <= 1024 and x.shape[-2] > 0


def norm_relu(
    x: Tensor,
    mask: Tensor | None,
    weight: Tensor,
    bias: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
) -> Tensor:
    """relu(weight (x - mean) / sqrt(variance + eps) + bias) over the rows where ``mask`` is True; the running averages are updated."""
    lead = (x if x.dim() == 3 else x.unsqueeze(0)).contiguous()
    rows = None if mask is None else mask.reshape(lead.shape[:2]).contiguous().view(torch.uint8)
    shaped = [t if x.dim() == 3 else t.unsqueeze(0) for t in (weight, bias, running_mean, running_var)]
    out = NormReLU.apply(lead, rows, *shaped, momentum, eps)
    return out if x.dim() == 3 else out.squeeze(0)
