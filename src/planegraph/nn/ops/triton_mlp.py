r"""The MLP with batch norms on CUDA, so that each row is read and written about once per linear map.

One kernel multiplies, adds what is gathered from tables, and takes the moments of the result by chunks of rows. The next makes the scale
and offset of the norm of them, activates, relu(scale x + offset), and multiplies again. Backwards, one kernel norms the gradient,
multiplies it by the weight, takes it past the ReLU before, and collects both the gradient of the weight and the sums that the norm before
needs. With z the input of a norm, c = z - mean, s = 1 / sqrt(variance + eps), w its weight and g the gradient past its ReLU, over n real
rows:

    dz = w s ( g - sum(g) / n - c s^2 sum(g c) / n ),    dw = s sum(g c),    db = sum(g).

Moments and gradients of weights are taken by chunks of rows, each into its own memory: no atomics, so the same input always gives the
same bits. Variances are taken about a value of the chunk, so that no square of a large mean drowns them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from .incidence import Incidence, Rows
from .norm_relu import EPS
from .triton_linear import add_up, chunks_of
from .triton_sums import sum_rows
from .triton_tools import on_device, power_of_two, products_in, relu, runs, storage

if TYPE_CHECKING:
    from ..linear import Linear
    from ..norm import BatchNorm
    from .mlp import At

_WIDEST = 128
_MOST_DENSE, _MOST_TABLES = 3, 2
_PROGRAMS, _PROGRAMS_BACK = 264, 132  # about so many share the rows: two, and one, for each multiprocessor of an H200


# ---- forward ----------------------------------------------------------------------------------------------------------------------


@triton.jit
def _times(
    product, x, w, replica, row, inside, rows, k, width, DOT: tl.constexpr, PRECISION: tl.constexpr, INNER: tl.constexpr,
    COLUMNS: tl.constexpr,
):  # fmt: skip
    """product + x w^T."""
    column = tl.arange(0, COLUMNS)
    for start in range(0, k, INNER):
        inner = start + tl.arange(0, INNER)
        known = inner < k
        value = tl.load(
            x + replica * rows * k + row[:, None] * k + inner[None, :], mask=inside[:, None] & known[None, :], other=0.0
        ).to(tl.float32)
        weight = w + replica * width * k + column[None, :] * k + inner[:, None]
        weight = tl.load(weight, mask=known[:, None] & (column < width)[None, :], other=0.0)
        product = tl.dot(value.to(DOT), weight.to(DOT), product, input_precision=PRECISION)
    return product


@triton.jit
def _gathered(product, table, index, replica, row, here, inside, column, table_rows, width, index_replica):
    """product + a row of a table each."""
    source = tl.load(index + replica * index_replica + row, mask=inside, other=-1)
    at = table + replica * table_rows * width + source[:, None] * width + column[None, :]
    return product + tl.load(at, mask=here & (source >= 0)[:, None], other=0.0)


@triton.jit
def _is_real(mask, replica, row, inside, rows, HAS_MASK: tl.constexpr):
    real = inside
    if HAS_MASK:
        real = inside & (tl.load(mask + replica * rows + row, mask=inside, other=0) != 0)
    return real


@triton.jit
def _store_moments(partial, replica, column, known, width, count, about, first, second):
    """Of a chunk of rows: how many are real, their mean, and the sum of their squares about it."""
    number = tl.sum(count, 0)
    mean = first / tl.maximum(number, 1.0)
    to = partial + ((replica * tl.num_programs(0) + tl.program_id(0)) * 3) * width + column
    tl.store(to, number + tl.zeros_like(mean), mask=known)
    tl.store(to + width, about + mean, mask=known)
    tl.store(to + 2 * width, second - number * mean * mean, mask=known)


@triton.jit
def _first_kernel(
    x0, x1, x2, w0, w1, w2, t0, t1, i0, i1, mask, z, partial, rows, width, k0, k1, k2, t0_rows, t1_rows, i0_replica, i1_replica,
    chunk, DENSE: tl.constexpr, TABLES: tl.constexpr, HAS_MASK: tl.constexpr, DOT: tl.constexpr, PRECISION: tl.constexpr,
    ROWS: tl.constexpr, INNER: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """z = x_0 w_0^T + ... + rows of tables, and the moments of each chunk of rows."""
    replica = tl.program_id(1).to(tl.int64)
    column = tl.arange(0, COLUMNS)
    known = column < width
    start = tl.program_id(0) * chunk
    stop = tl.minimum(start + chunk, rows)
    about = tl.zeros((COLUMNS,), dtype=tl.float32)
    count = tl.zeros((ROWS,), dtype=tl.float32)
    first = tl.zeros((COLUMNS,), dtype=tl.float32)
    second = tl.zeros((COLUMNS,), dtype=tl.float32)
    for begin in range(start, stop, ROWS):
        row = begin + tl.arange(0, ROWS)
        inside = row < stop
        real = _is_real(mask, replica, row, inside, rows, HAS_MASK)
        here = inside[:, None] & known[None, :]
        product = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
        if DENSE > 0:
            product = _times(product, x0, w0, replica, row, inside, rows, k0, width, DOT, PRECISION, INNER, COLUMNS)
        if DENSE > 1:
            product = _times(product, x1, w1, replica, row, inside, rows, k1, width, DOT, PRECISION, INNER, COLUMNS)
        if DENSE > 2:
            product = _times(product, x2, w2, replica, row, inside, rows, k2, width, DOT, PRECISION, INNER, COLUMNS)
        if TABLES > 0:
            product = _gathered(product, t0, i0, replica, row, here, inside, column, t0_rows, width, i0_replica)
        if TABLES > 1:
            product = _gathered(product, t1, i1, replica, row, here, inside, column, t1_rows, width, i1_replica)
        tl.store(z + replica * rows * width + row[:, None] * width + column[None, :], product, mask=here)
        if begin == start:
            about = tl.sum(tl.where((row == start)[:, None], product, 0.0), 0)
        centred = tl.where(real[:, None], product - about[None, :], 0.0)
        count += real.to(tl.float32)
        first += tl.sum(centred, 0)
        second += tl.sum(centred * centred, 0)
    _store_moments(partial, replica, column, known, width, count, about, first, second)


@triton.jit
def _norm(
    partial, weight, bias, running_mean, running_var, out, replica, column, known, chunks, width, momentum, write,
    EPSILON: tl.constexpr, CHUNKS: tl.constexpr,
):  # fmt: skip
    """Scale and offset of a batch norm from the moments of all chunks. One program writes the statistics; running averages move on."""
    chunk = tl.arange(0, CHUNKS)
    at = partial + ((replica * chunks + chunk)[:, None] * 3) * width + column[None, :]
    here = (chunk < chunks)[:, None] & known[None, :]
    counts = tl.load(at, mask=here, other=0.0)
    means = tl.load(at + width, mask=here, other=0.0)
    squares = tl.load(at + 2 * width, mask=here, other=0.0)
    own = replica * width + column
    w = tl.load(weight + own, mask=known, other=0.0)
    b = tl.load(bias + own, mask=known, other=0.0)
    count = tl.sum(counts, 0)
    rows = tl.maximum(count, 1.0)
    mean = tl.sum(means * counts, 0) / rows
    away = means - mean[None, :]
    squares = tl.maximum(tl.sum(squares + counts * away * away, 0), 0.0)
    inverse = 1.0 / tl.sqrt(squares / rows + EPSILON)
    scale = inverse * w
    offset = b - mean * scale
    if write:
        to = out + replica * 5 * width + column
        tl.store(to, mean, mask=known)
        tl.store(to + width, inverse, mask=known)
        tl.store(to + 2 * width, scale, mask=known)
        tl.store(to + 3 * width, offset, mask=known)
        tl.store(to + 4 * width, rows, mask=known)
        old_mean = tl.load(running_mean + own, mask=known, other=0.0)
        old_var = tl.load(running_var + own, mask=known, other=1.0)
        unbiased = squares / tl.maximum(count - 1.0, 1.0)
        tl.store(running_mean + own, tl.where(count > 0, old_mean + momentum * (mean - old_mean), old_mean), mask=known)
        tl.store(running_var + own, tl.where(count > 1, old_var + momentum * (unbiased - old_var), old_var), mask=known)
    return scale, offset


@triton.jit
def _statistics_kernel(
    partial, weight, bias, running_mean, running_var, out, chunks, width, momentum, EPSILON: tl.constexpr, CHUNKS: tl.constexpr,
    COLUMNS: tl.constexpr,
):  # fmt: skip
    """Statistics alone, where what reads them is many small programs."""
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    _norm(partial, weight, bias, running_mean, running_var, out, tl.program_id(0).to(tl.int64), column, column < width, chunks, width,
          momentum, True, EPSILON, CHUNKS)  # fmt: skip


@triton.jit
def _last_kernel(
    x, moments, norm_weight, norm_bias, running_mean, running_var, statistics, w, bias, mask, z, partial, rows, k, width,
    chunks, momentum, chunk, HAS_BIAS: tl.constexpr, MOMENTS: tl.constexpr, HAS_MASK: tl.constexpr, EPSILON: tl.constexpr,
    CHUNKS: tl.constexpr, DOT: tl.constexpr, PRECISION: tl.constexpr, ROWS: tl.constexpr, INNER: tl.constexpr,
    COLUMNS: tl.constexpr,
):  # fmt: skip
    """z = relu(norm(x)) w^T, plus a bias or with the moments of each chunk of rows."""
    replica = tl.program_id(1).to(tl.int64)
    column = tl.arange(0, COLUMNS)
    inner = tl.arange(0, INNER)
    known = column < width
    within = inner < k
    weight = tl.load(
        w + replica * width * k + column[None, :] * k + inner[:, None], mask=within[:, None] & known[None, :], other=0.0
    )
    weight = weight.to(DOT)
    scale, offset = _norm(moments, norm_weight, norm_bias, running_mean, running_var, statistics, replica, inner, within, chunks, k,
                          momentum, tl.program_id(0) == 0, EPSILON, CHUNKS)  # fmt: skip
    start = tl.program_id(0) * chunk
    stop = tl.minimum(start + chunk, rows)
    about = tl.zeros((COLUMNS,), dtype=tl.float32)
    count = tl.zeros((ROWS,), dtype=tl.float32)
    first = tl.zeros((COLUMNS,), dtype=tl.float32)
    second = tl.zeros((COLUMNS,), dtype=tl.float32)
    for begin in range(start, stop, ROWS):
        row = begin + tl.arange(0, ROWS)
        inside = row < stop
        value = tl.load(
            x + replica * rows * k + row[:, None] * k + inner[None, :], mask=inside[:, None] & within[None, :], other=0.0
        ).to(tl.float32)
        real = _is_real(mask, replica, row, inside, rows, HAS_MASK)
        value = relu(value * scale[None, :] + offset[None, :])
        product = tl.dot(value.to(DOT), weight, input_precision=PRECISION)
        if HAS_BIAS:
            product += tl.load(bias + replica * width + column, mask=known, other=0.0)[None, :]
        tl.store(
            z + replica * rows * width + row[:, None] * width + column[None, :], product, mask=inside[:, None] & known[None, :]
        )
        if MOMENTS:
            if begin == start:
                about = tl.sum(tl.where((row == start)[:, None], product, 0.0), 0)
            centred = tl.where(real[:, None], product - about[None, :], 0.0)
            count += real.to(tl.float32)
            first += tl.sum(centred, 0)
            second += tl.sum(centred * centred, 0)
    if MOMENTS:
        _store_moments(partial, replica, column, known, width, count, about, first, second)


@triton.jit
def _apply_kernel(z, statistics, out, rows, width, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """relu(scale z + offset)."""
    replica = tl.program_id(1).to(tl.int64)
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, COLUMNS)
    known = column < width
    here = (row < rows)[:, None] & known[None, :]
    own = statistics + replica * 5 * width + column
    a = tl.load(own + 2 * width, mask=known, other=0.0)[None, :]
    b = tl.load(own + 3 * width, mask=known, other=0.0)[None, :]
    at = replica * rows * width + row[:, None] * width + column[None, :]
    tl.store(out + at, relu(tl.load(z + at, mask=here, other=0.0).to(tl.float32) * a + b), mask=here)


# ---- backward ---------------------------------------------------------------------------------------------------------------------


@triton.jit
def _of_segments(index, replica, row, inside, index_replica, HAS_INDEX: tl.constexpr):
    """The row that holds the gradient of each row, and whether there is one."""
    source = row
    got = inside
    if HAS_INDEX:
        source = tl.load(index + replica * index_replica + row, mask=inside, other=-1)
        got = source >= 0
    return source, got


@triton.jit
def _sums_kernel(
    gradient, index, z, mask, statistics, partial, rows, gradient_rows, width, index_replica, chunk, HAS_INDEX: tl.constexpr,
    HAS_MASK: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Of each chunk of rows: the sums of g, the gradient past the ReLU, and of g c."""
    replica = tl.program_id(1).to(tl.int64)
    column = tl.arange(0, COLUMNS)
    known = column < width
    own = statistics + replica * 5 * width + column
    mean = tl.load(own, mask=known, other=0.0)[None, :]
    a = tl.load(own + 2 * width, mask=known, other=0.0)[None, :]
    b = tl.load(own + 3 * width, mask=known, other=0.0)[None, :]
    first = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    second = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    start = tl.program_id(0) * chunk
    stop = tl.minimum(start + chunk, rows)
    for begin in range(start, stop, ROWS):
        row = begin + tl.arange(0, ROWS)
        inside = row < stop
        source, got = _of_segments(index, replica, row, inside, index_replica, HAS_INDEX)
        real = _is_real(mask, replica, row, inside, rows, HAS_MASK)
        here = inside[:, None] & known[None, :]
        value = tl.load(z + replica * rows * width + row[:, None] * width + column[None, :], mask=here, other=0.0).to(tl.float32)
        g = gradient + replica * gradient_rows * width + source[:, None] * width + column[None, :]
        g = tl.load(g, mask=here & got[:, None], other=0.0).to(tl.float32)
        g = tl.where((value * a + b > 0) & real[:, None], g, 0.0)
        first += g
        second += g * (value - mean)
    to = partial + ((replica * tl.num_programs(0) + tl.program_id(0)) * 2) * width + column
    tl.store(to, tl.sum(first, 0), mask=known)
    tl.store(to + width, tl.sum(second, 0), mask=known)


@triton.jit
def _back_kernel(
    gradient, index, z, mask, statistics, sums, of_norm, x, x_statistics, weight, dz, dx, dw, db, partial, rows, gradient_rows,
    width, k, index_replica, replicas, chunks, chunk, HAS_INDEX: tl.constexpr, NORM: tl.constexpr, PAST_RELU: tl.constexpr,
    HAS_MASK: tl.constexpr, HAS_X: tl.constexpr, ACTIVATE: tl.constexpr, WANT_DX: tl.constexpr, STORE_DZ: tl.constexpr,
    HAS_BIAS: tl.constexpr, CHUNKS: tl.constexpr, DOT: tl.constexpr, PRECISION: tl.constexpr, ROWS: tl.constexpr,
    INNER: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """dz from the gradient, then dx = dz w, past the ReLU of x if x is activated; of each chunk of rows dz^T x, and sums for x's norm."""
    replica = tl.program_id(1).to(tl.int64)
    column = tl.arange(0, COLUMNS)
    inner = tl.arange(0, INNER)
    known = column < width
    within = inner < k
    number = replica * tl.num_programs(0) + tl.program_id(0)
    if WANT_DX:
        w = tl.load(
            weight + replica * width * k + column[:, None] * k + inner[None, :], mask=known[:, None] & within[None, :], other=0.0
        )
        w = w.to(DOT)
    if NORM:
        every = tl.arange(0, CHUNKS)
        collected = sums + ((replica * chunks + every)[:, None] * 2) * width + column[None, :]
        there = (every < chunks)[:, None] & known[None, :]
        g_sum = tl.sum(tl.load(collected, mask=there, other=0.0), 0)
        gc_sum = tl.sum(tl.load(collected + width, mask=there, other=0.0), 0)
        own = statistics + replica * 5 * width + column
        mean = tl.load(own, mask=known, other=0.0)[None, :]
        inverse = tl.load(own + width, mask=known, other=0.0)
        a = tl.load(own + 2 * width, mask=known, other=0.0)[None, :]
        b = tl.load(own + 3 * width, mask=known, other=0.0)[None, :]
        count = tl.load(own + 4 * width, mask=known, other=1.0)
        c0 = (g_sum / count)[None, :]
        c1 = (inverse * inverse * gc_sum / count)[None, :]
        if tl.program_id(0) == 0:
            tl.store(of_norm + replica * width + column, inverse * gc_sum, mask=known)
            tl.store(of_norm + (replicas + replica) * width + column, g_sum, mask=known)
    if ACTIVATE:
        own_x = x_statistics + replica * 5 * k + inner
        x_mean = tl.load(own_x, mask=within, other=0.0)[None, :]
        x_scale = tl.load(own_x + 2 * k, mask=within, other=0.0)[None, :]
        x_offset = tl.load(own_x + 3 * k, mask=within, other=0.0)[None, :]
    z += replica * rows * width
    dz += replica * rows * width
    x += replica * rows * k
    dx += replica * rows * k
    gradient += replica * gradient_rows * width
    product = tl.zeros((COLUMNS, INNER), dtype=tl.float32)
    total = tl.zeros((COLUMNS,), dtype=tl.float32)
    first = tl.zeros((INNER,), dtype=tl.float32)
    second = tl.zeros((INNER,), dtype=tl.float32)
    start = tl.program_id(0) * chunk
    stop = tl.minimum(start + chunk, rows)
    for begin in range(start, stop, ROWS):
        row = begin + tl.arange(0, ROWS)
        inside = row < stop
        source, got = _of_segments(index, replica, row, inside, index_replica, HAS_INDEX)
        here = inside[:, None] & known[None, :]
        at = row[:, None] * width + column[None, :]
        at_x = row[:, None] * k + inner[None, :]
        if HAS_X:
            raw = tl.load(x + at_x, mask=inside[:, None] & within[None, :], other=0.0).to(tl.float32)
        if NORM:
            value = tl.load(z + at, mask=here, other=0.0).to(tl.float32)
        real = _is_real(mask, replica, row, inside, rows, HAS_MASK)
        g = gradient + source[:, None] * width + column[None, :]
        g = tl.load(g, mask=here & got[:, None], other=0.0).to(tl.float32)
        if NORM:
            if not PAST_RELU:
                g = tl.where(value * a + b > 0, g, 0.0)
            g = a * (g - c0 - (value - mean) * c1)
        g = tl.where(real[:, None], g, 0.0)
        if STORE_DZ:
            tl.store(dz + at, g, mask=here)
        if HAS_BIAS:
            total += tl.sum(g, 0)
        if HAS_X:
            active = raw
            if ACTIVATE:
                active = relu(raw * x_scale + x_offset)
            if WANT_DX:
                d = tl.dot(g.to(DOT), w, input_precision=PRECISION)
                if ACTIVATE:
                    d = tl.where(active > 0, d, 0.0)
                    first += tl.sum(d, 0)
                    second += tl.sum(d * (raw - x_mean), 0)
                tl.store(dx + at_x, d, mask=inside[:, None] & within[None, :])
            product = tl.dot(tl.trans(g.to(DOT)), active.to(DOT), product, input_precision=PRECISION)
    if HAS_X:
        to = dw + number * width * k + column[:, None] * k + inner[None, :]
        tl.store(to, product, mask=known[:, None] & within[None, :])
    if HAS_BIAS:
        tl.store(db + number * width + column, total, mask=known)
    if ACTIVATE:
        tl.store(partial + number * 2 * k + inner, first, mask=within)
        tl.store(partial + (number * 2 + 1) * k + inner, second, mask=within)


# ---- launches ---------------------------------------------------------------------------------------------------------------------


def _tile(width: int) -> dict[str, int]:
    """Rows and columns of a program, and its warps; as measured on an H200. Exact products need twice the shared memory."""
    columns, exact = power_of_two(width), torch.get_float32_matmul_precision() == "highest"
    if columns <= 64:
        return {"ROWS": 64, "COLUMNS": columns, "num_warps": 4, "num_stages": 2}
    return {"ROWS": 32 if exact else 128, "COLUMNS": columns, "num_warps": 8, "num_stages": 1 if exact else 2}


def _tile_back(width: int) -> dict[str, int]:
    return {"ROWS": 64, "COLUMNS": power_of_two(width), "num_warps": 8, "num_stages": 1}


def _of_chunks(weight: Tensor, rows: int) -> tuple[int, ...]:
    """The shape of the gradients of a weight of all chunks of rows."""
    replicas, width, k = weight.shape
    return replicas, chunks_of(rows, replicas, _tile_back(width)["ROWS"], _PROGRAMS_BACK)[1], width, k


def _inner(k: int) -> int:
    """Columns of the input at a time: as many as waste little on padding."""
    return 16 if k % 32 else min(power_of_two(k), 64)


class _Norm(NamedTuple):
    """A batch norm as the kernels read it: (replicas, width) each."""

    weight: Tensor
    bias: Tensor
    running_mean: Tensor
    running_var: Tensor
    momentum: float


def _first(
    dense: Sequence[tuple[Tensor, Tensor]], tables: Sequence[tuple[Tensor, Tensor]], mask: Tensor | None, rows: int, width: int
) -> tuple[Tensor, Tensor]:
    """z of the first map, and the moments of its chunks (replicas, chunks, 3, width).

    Args:
        dense: inputs (replicas, rows, k) with weights (replicas, width, k); tables: (replicas, n, width) with ids (replicas, rows).
    """
    like = dense[0][0] if dense else tables[0][0]
    replicas, tile = len(like), _tile(width)
    chunk, chunks = chunks_of(rows, replicas, tile["ROWS"], _PROGRAMS)
    z = torch.empty(replicas, rows, width, dtype=storage(), device=like.device)
    moments = like.new_empty(replicas, chunks, 3, width)
    xs = [x for x, _ in dense] + [like] * (_MOST_DENSE - len(dense))
    ws = [w for _, w in dense] + [like] * (_MOST_DENSE - len(dense))
    ts = [t for t, _ in tables] + [like] * (_MOST_TABLES - len(tables))
    ids = [i for _, i in tables] + [like] * (_MOST_TABLES - len(tables))
    with on_device(like):
        _first_kernel[chunks, replicas](
            *xs, *ws, *ts, *ids, like if mask is None else mask, z, moments, rows, width, *(x.shape[-1] for x in xs),
            *(t.shape[-2] for t in ts), *(i.stride(0) for i in ids), chunk, DENSE=len(dense), TABLES=len(tables),
            HAS_MASK=mask is not None, **products_in(), INNER=_inner(xs[0].shape[-1]), **tile,
        )  # fmt: skip
    return z, moments


def _last(
    x: Tensor, moments: Tensor, norm: _Norm, weight: Tensor, bias: Tensor | None, mask: Tensor | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """z of the last map of relu(norm(x)), the statistics of that norm (replicas, 5, k) and, without a bias, the moments of z.

    Statistics are mean, 1 / deviation, scale, offset and the number of rows.
    """
    (replicas, rows, k), width = x.shape, weight.shape[1]
    tile = _tile(width)
    chunk, chunks = chunks_of(rows, replicas, tile["ROWS"], _PROGRAMS)
    z = torch.empty(replicas, rows, width, dtype=storage() if bias is None else weight.dtype, device=x.device)
    statistics = weight.new_empty(replicas, 5, k)
    partial = weight.new_empty(replicas, chunks, 3, width) if bias is None else None
    with on_device(x):
        _last_kernel[chunks, replicas](
            x, moments, *norm[:4], statistics, weight, x if bias is None else bias, x if mask is None else mask, z,
            x if partial is None else partial, rows, k, width, moments.shape[1], norm.momentum, chunk, HAS_BIAS=bias is not None,
            MOMENTS=bias is None, HAS_MASK=mask is not None, EPSILON=EPS, CHUNKS=triton.next_power_of_2(moments.shape[1]),
            **products_in(), INNER=power_of_two(k), **tile,
        )  # fmt: skip
    return z, statistics, partial


def _statistics(moments: Tensor, norm: _Norm) -> Tensor:
    """(replicas, 5, width), from the moments of all chunks."""
    replicas, chunks, _, width = moments.shape
    out = moments.new_empty(replicas, 5, width)
    with on_device(moments):
        _statistics_kernel[replicas, triton.cdiv(width, 16)](
            moments, *norm[:4], out, chunks, width, norm.momentum, EPSILON=EPS, CHUNKS=triton.next_power_of_2(chunks), COLUMNS=16
        )
    return out


def _apply(z: Tensor, statistics: Tensor) -> Tensor:
    """relu(norm(z))."""
    out, tile = torch.empty_like(z, dtype=statistics.dtype), _tile(z.shape[-1])
    with on_device(z):
        _apply_kernel[triton.cdiv(z.shape[1], tile["ROWS"]), len(z)](z, statistics, out, z.shape[1], z.shape[2], **tile)
    return out


class _Gradient(NamedTuple):
    """Where the gradient of z comes from.

    Attributes:
        value: (replicas, n, width), with ``index`` (replicas, rows) if a row's is that of a segment.
        z, statistics: of the norm between; None: ``value`` is dz itself.
        sums: (replicas, chunks, 2, width), of g and of g c; past_relu: whether ``value`` is past the ReLU.
    """

    value: Tensor
    index: Tensor | None = None
    z: Tensor | None = None
    statistics: Tensor | None = None
    sums: Tensor | None = None
    past_relu: bool = False


def _before_norm(gradient: Tensor, index: Tensor | None, z: Tensor, statistics: Tensor, mask: Tensor | None) -> _Gradient:
    """The gradient before the norm and ReLU at the end of an MLP."""
    replicas, rows, width = z.shape
    tile = _tile(width)
    chunk, chunks = chunks_of(rows, replicas, tile["ROWS"], _PROGRAMS)
    sums = statistics.new_empty(replicas, chunks, 2, width)
    with on_device(z):
        _sums_kernel[chunks, replicas](
            gradient, gradient if index is None else index, z, z if mask is None else mask, statistics, sums, rows,
            gradient.shape[1], width, 0 if index is None else index.stride(0), chunk, HAS_INDEX=index is not None,
            HAS_MASK=mask is not None, **tile,
        )  # fmt: skip
    return _Gradient(gradient, index, z, statistics, sums)


class _Back(NamedTuple):
    """What :func:`_back` gives; None where it was not asked for."""

    of_norm: tuple[Tensor | None, Tensor | None]  # gradients of the norm's weight and bias
    dz: Tensor | None
    dx: Tensor | None
    dw: Tensor | None  # of each chunk
    db: Tensor | None
    sums: Tensor | None


def _back(
    g: _Gradient,
    rows: int,
    mask: Tensor | None,
    x: Tensor | None = None,
    weight: Tensor | None = None,
    activation: Tensor | None = None,
    want_dx: bool = True,
    store_dz: bool = False,
    bias: bool = False,
    dw: Tensor | None = None,
) -> _Back:
    """Gradients of a linear map: of its value, of its input x (before ``activation``), of weight and bias, and sums for the norm before."""
    (replicas, gradient_rows, width), like = g.value.shape, g.value
    k = width if x is None else x.shape[-1]
    tile = _tile_back(width)
    chunk, chunks = chunks_of(rows, replicas, tile["ROWS"], _PROGRAMS_BACK)
    kept, whole = {"dtype": storage(), "device": like.device}, {"dtype": torch.float32, "device": like.device}
    dz = torch.empty(replicas, rows, width, **kept) if store_dz else None
    dx = torch.empty(replicas, rows, k, **(whole if activation is None else kept)) if x is not None and want_dx else None
    dw = torch.empty(replicas, chunks, width, k, **whole) if x is not None and dw is None else dw
    db = torch.empty(replicas, chunks, width, **whole) if bias else None
    sums = None if activation is None else torch.empty(replicas, chunks, 2, k, **whole)
    of_norm = (None, None) if g.sums is None else torch.empty(2, replicas, width, **whole)
    before = 1 if g.sums is None else g.sums.shape[1]

    def there(t: Tensor | None) -> Tensor:
        return like if t is None else t

    with on_device(like):
        _back_kernel[chunks, replicas](
            g.value, there(g.index), there(g.z), there(mask), there(g.statistics), there(g.sums),
            like if g.sums is None else of_norm, there(x), there(activation), there(weight), there(dz), there(dx), there(dw),
            there(db), there(sums), rows, gradient_rows, width, k, 0 if g.index is None else g.index.stride(0), replicas, before, chunk,
            HAS_INDEX=g.index is not None, NORM=g.sums is not None, PAST_RELU=g.past_relu, HAS_MASK=mask is not None,
            HAS_X=x is not None, ACTIVATE=activation is not None, WANT_DX=dx is not None, STORE_DZ=store_dz, HAS_BIAS=bias,
            CHUNKS=triton.next_power_of_2(before), **products_in(), INNER=power_of_two(k), **tile,
        )  # fmt: skip
    return _Back(tuple(of_norm), dz, dx, dw, None if db is None else add_up(db), sums)


# ---- the whole MLP ----------------------------------------------------------------------------------------------------------------


def _to_table(dz: Tensor, rows: Rows) -> Tensor:
    """The gradient of a table from that of the rows that read it."""
    return sum_rows(dz, rows, torch.empty(len(dz), rows.count, dz.shape[-1], dtype=torch.float32, device=dz.device))


@dataclass(frozen=True)
class _Call:
    """What is no input of the MLP: how many dense parts, the incidences of the tables and of the segments, norms and mask."""

    dense: int
    incidences: tuple[Incidence, ...]
    into: Incidence | None
    first: tuple[Tensor, Tensor, float]  # running mean and variance, momentum
    last: tuple[Tensor, Tensor, float] | None
    mask: Tensor | None
    rows: int


class _MLP(torch.autograd.Function):
    """Inputs: the dense parts, their weights, the tables; weight and bias of the first norm; the last weight; then weight and bias of the
    last norm, or None and the bias of the last map; then what the sums are added to, or None."""

    @staticmethod
    def forward(ctx: Any, call: _Call, *given: Tensor | None) -> Tensor:
        n, t = call.dense, len(call.incidences)
        xs, ws, tables = given[:n], given[n : 2 * n], given[2 * n : 2 * n + t]
        norm_weight, norm_bias, weight, last_weight, last_bias, plus = given[2 * n + t :]
        ids = [(table, incidence.rows.index) for table, incidence in zip(tables, call.incidences, strict=True)]
        ends, norm = call.last is not None, _Norm(norm_weight, norm_bias, *call.first)
        z1, moments = _first(list(zip(xs, ws, strict=True)), ids, call.mask, call.rows, norm_weight.shape[-1])
        z2, s1, moments = _last(z1, moments, norm, weight, None if ends else last_bias, call.mask)
        s2 = _statistics(moments, _Norm(last_weight, last_bias, *call.last)) if ends else None
        ctx.call = call
        ctx.save_for_backward(*xs, *ws, weight, z1, s1, *((z2, s2) if ends else ()))
        if not ends:
            return z2
        if call.into is None:
            return _apply(z2, s2)
        out = weight.new_empty(len(z2), call.into.rows.count, z2.shape[-1])
        return sum_rows(z2, call.into.rows, out, plus, (s2[:, 2], s2[:, 3]))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        call, n = ctx.call, ctx.call.dense
        xs, ws = ctx.saved_tensors[:n], ctx.saved_tensors[n : 2 * n]
        weight, z1, s1, *ends = ctx.saved_tensors[2 * n :]
        gradient = gradient.contiguous()
        last = _Gradient(gradient)
        if ends:
            last = _before_norm(gradient, None if call.into is None else call.into.columns.index, *ends, call.mask)
        alike = 1 + sum(w.shape == weight.shape for w in ws)  # weights whose gradients are added up in one go
        together = torch.empty(alike, *_of_chunks(weight, call.rows), dtype=torch.float32, device=z1.device)
        rooms = iter(together)
        back = _back(last, call.rows, call.mask, z1, weight, s1, bias=not ends, dw=next(rooms))
        first = _Gradient(back.dx, None, z1, s1, back.sums, past_relu=True)
        wanted, dxs, dws = ctx.needs_input_grad[1:], [], []
        found = None
        for k, (x, w) in enumerate(zip(xs, ws, strict=True)):
            room = next(rooms) if w.shape == weight.shape else None
            more = _back(first, call.rows, call.mask, x, w, want_dx=wanted[k], store_dz=k == 0 and bool(call.incidences), dw=room)
            found = more if found is None else found
            dxs.append(more.dx)
            dws.append(more.dw if room is None else None)
        if found is None:
            found = _back(first, call.rows, call.mask, store_dz=True)
        dts = [_to_table(found.dz, incidence.columns) for incidence in call.incidences]
        of_last = back.of_norm if ends else (None, back.db)
        dw, *rest = add_up(together.flatten(0, 1)).unflatten(0, (-1, len(weight)))
        rest = iter(rest)
        dws = [next(rest) if d is None else add_up(d) for d in dws]
        return None, *dxs, *dws, *dts, *found.of_norm, dw, *of_last, gradient if wanted[-1] else None


def can_fuse(
    dense: Sequence[tuple[Tensor, Tensor]], tables: Sequence[At], first: BatchNorm | None, last: BatchNorm | None, ends: bool
) -> bool:
    """Whether the kernels take these: batch norms in training, float32, rows that are not too wide."""
    if first is None or not first.training or (ends and last is None):
        return False
    if len(dense) > _MOST_DENSE or len(tables) > _MOST_TABLES:
        return False
    values = [*(x for x, _ in dense), *(t.x for t in tables)]
    rows = [*(x.shape[-2] for x, _ in dense), *(t.incidence.rows.count for t in tables), *(t.x.shape[-2] for t in tables)]
    fits = all(runs(x) and x.dtype == torch.float32 and x.shape[-1] <= _WIDEST for x in values)
    return fits and min(rows) > 0 and first.weight.shape[-1] <= _WIDEST


def mlp(
    dense: Sequence[tuple[Tensor, Tensor]],
    tables: Sequence[At],
    first: BatchNorm,
    last: Linear,
    last_norm: BatchNorm | None,
    mask: Tensor | None,
    into: Incidence | None,
    plus: Tensor | None,
) -> Tensor:
    """As ``mlp.mlp``, given the dense parts with their weights and the tables that were mapped already."""
    stacked = (dense[0][0] if dense else tables[0].x).dim() == 3

    def lead(x: Tensor | None) -> Tensor | None:
        return x if x is None or stacked else x.unsqueeze(0)

    def rows_of(incidence: Incidence) -> Incidence:
        return incidence if stacked else Incidence(*(type(r)(*map(lead, r)) for r in incidence))

    def running(norm: BatchNorm) -> tuple[Tensor, Tensor, float]:
        return lead(norm.running_mean), lead(norm.running_var), norm.momentum

    rows = dense[0][0].shape[-2] if dense else tables[0].incidence.rows.count
    real = None if mask is None else lead(mask).contiguous().view(torch.uint8)
    ends = (last_norm.weight, last_norm.bias) if last_norm is not None else (None, last.bias)
    call = _Call(
        len(dense),
        tuple(rows_of(t.incidence) for t in tables),
        None if into is None else rows_of(into),
        running(first),
        None if last_norm is None else running(last_norm),
        real,
        rows,
    )
    xs = [lead(x).contiguous() for x, _ in dense]
    given = [*xs, *(lead(w).contiguous() for _, w in dense), *(lead(t.x).contiguous() for t in tables)]
    out = _MLP.apply(call, *given, *map(lead, (first.weight, first.bias, last.weight, *ends, plus)))
    return out if stacked else out.squeeze(0)
