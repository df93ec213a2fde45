r"""The MLP with batch norms on CUDA, so that each row is read and written about once per linear map.

One kernel activates its input, relu(scale x + offset), multiplies, adds what is gathered from tables, and takes the statistics of the
result, from which a small one makes the next scale and offset. Backwards one kernel norms the gradient, multiplies it by the weight, takes
it past the ReLU before, and collects both the gradient of the weight and the sums that the norm before needs. With z the input of a norm,
c = z - mean, s = 1 / sqrt(variance + eps), w its weight and g the gradient past its ReLU, over n real rows:

    dz = w s ( g - sum(g) / n - c s^2 sum(g c) / n ),    dw = s sum(g c),    db = sum(g).

Statistics and gradients of weights are taken by chunks of rows, each into its own memory: no atomics, so the same input always gives the
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

from .incidence import Incidence, sum_rows
from .norm_relu import EPS
from .triton_sums import sum_rows as sum_activated
from .triton_tools import on_device, precision, relu, runs

if TYPE_CHECKING:
    from ..linear import Linear
    from ..norm import BatchNorm
    from .mlp import At

_WIDEST = 128
_MOST_DENSE, _MOST_TABLES = 3, 2
_PROGRAMS, _PROGRAMS_BACK = 528, 264  # about so many share the rows: four, and two, for each multiprocessor of an H200


# ---- forward ----------------------------------------------------------------------------------------------------------------------


@triton.jit
def _times(
    product, x, w, statistics, replica, row, inside, rows, k, width, w_replica, w_row, ACTIVATE: tl.constexpr,
    PRECISION: tl.constexpr, INNER: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """product + x w^T, or with x activated."""
    column = tl.arange(0, COLUMNS)
    for start in range(0, k, INNER):
        inner = start + tl.arange(0, INNER)
        known = inner < k
        at = x + (replica * rows + row)[:, None] * k + inner[None, :]
        value = tl.load(at, mask=inside[:, None] & known[None, :], other=0.0)
        if ACTIVATE:
            own = statistics + replica * 5 * k + inner
            a = tl.load(own + 2 * k, mask=known, other=0.0)[None, :]
            b = tl.load(own + 3 * k, mask=known, other=0.0)[None, :]
            value = relu(value * a + b)
        weight = w + replica * w_replica + column[None, :] * w_row + inner[:, None]
        weight = tl.load(weight, mask=known[:, None] & (column < width)[None, :], other=0.0)
        product = tl.dot(value, weight, product, input_precision=PRECISION)
    return product


@triton.jit
def _gathered(product, table, index, replica, row, here, inside, column, table_rows, width, index_replica):
    """product + a row of a table each."""
    source = tl.load(index + replica * index_replica + row, mask=inside, other=-1)
    at = table + (replica * table_rows + source)[:, None] * width + column[None, :]
    return product + tl.load(at, mask=here & (source >= 0)[:, None], other=0.0)


@triton.jit
def _product_kernel(
    x0, x1, x2, w0, w1, w2, statistics, bias, t0, t1, i0, i1, mask, z, partial, rows, width, k0, k1, k2, w_replica, w_row,
    t0_rows, t1_rows, i0_replica, i1_replica, chunk, DENSE: tl.constexpr, TABLES: tl.constexpr, ACTIVATE: tl.constexpr,
    HAS_BIAS: tl.constexpr, STATISTICS: tl.constexpr, HAS_MASK: tl.constexpr, PRECISION: tl.constexpr, ROWS: tl.constexpr,
    INNER: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """z = x_0 w_0^T + ... + rows of tables + bias, and of each chunk of rows: how many are real, their mean, their squares about it."""
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
        here = inside[:, None] & known[None, :]
        product = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
        if DENSE > 0:
            product = _times(product, x0, w0, statistics, replica, row, inside, rows, k0, width, w_replica, w_row, ACTIVATE,
                             PRECISION, INNER, COLUMNS)  # fmt: skip
        if DENSE > 1:
            product = _times(product, x1, w1, statistics, replica, row, inside, rows, k1, width, w_replica, w_row, False,
                             PRECISION, INNER, COLUMNS)  # fmt: skip
        if DENSE > 2:
            product = _times(product, x2, w2, statistics, replica, row, inside, rows, k2, width, w_replica, w_row, False,
                             PRECISION, INNER, COLUMNS)  # fmt: skip
        if TABLES > 0:
            product = _gathered(product, t0, i0, replica, row, here, inside, column, t0_rows, width, i0_replica)
        if TABLES > 1:
            product = _gathered(product, t1, i1, replica, row, here, inside, column, t1_rows, width, i1_replica)
        if HAS_BIAS:
            product += tl.load(bias + replica * width + column, mask=known, other=0.0)[None, :]
        tl.store(z + (replica * rows + row)[:, None] * width + column[None, :], product, mask=here)
        if STATISTICS:
            real = inside
            if HAS_MASK:
                real = inside & (tl.load(mask + replica * rows + row, mask=inside, other=0) != 0)
            if begin == start:
                about = tl.sum(tl.where((row == start)[:, None], product, 0.0), 0)
            centred = tl.where(real[:, None], product - about[None, :], 0.0)
            count += real.to(tl.float32)
            first += tl.sum(centred, 0)
            second += tl.sum(centred * centred, 0)
    if STATISTICS:
        number = tl.sum(count, 0) + tl.zeros((COLUMNS,), dtype=tl.float32)
        mean = first / tl.maximum(number, 1.0)
        to = partial + ((replica * tl.num_programs(0) + tl.program_id(0)) * 3) * width + column
        tl.store(to, number, mask=known)
        tl.store(to + width, about + mean, mask=known)
        tl.store(to + 2 * width, second - number * mean * mean, mask=known)


@triton.jit
def _statistics_kernel(
    partial, running_mean, running_var, weight, bias, out, chunks, width, momentum, EPSILON: tl.constexpr, CHUNKS: tl.constexpr,
    COLUMNS: tl.constexpr,
):  # fmt: skip
    """Mean, 1 / deviation, the affine map that norms, and the number of rows, from the moments of all chunks; running averages move."""
    replica = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    known = column < width
    chunk = tl.arange(0, CHUNKS)
    at = partial + ((replica * chunks + chunk)[:, None] * 3) * width + column[None, :]
    here = (chunk < chunks)[:, None] & known[None, :]
    counts = tl.load(at, mask=here, other=0.0)
    means = tl.load(at + width, mask=here, other=0.0)
    squares = tl.load(at + 2 * width, mask=here, other=0.0)
    count = tl.sum(counts, 0)
    rows = tl.maximum(count, 1.0)
    mean = tl.sum(means * counts, 0) / rows
    away = means - mean[None, :]
    squares = tl.maximum(tl.sum(squares + counts * away * away, 0), 0.0)
    own = replica * width + column
    inverse = 1.0 / tl.sqrt(squares / rows + EPSILON)
    scale = inverse * tl.load(weight + own, mask=known, other=0.0)
    to = out + replica * 5 * width + column
    tl.store(to, mean, mask=known)
    tl.store(to + width, inverse, mask=known)
    tl.store(to + 2 * width, scale, mask=known)
    tl.store(to + 3 * width, tl.load(bias + own, mask=known, other=0.0) - mean * scale, mask=known)
    tl.store(to + 4 * width, rows, mask=known)
    old_mean = tl.load(running_mean + own, mask=known, other=0.0)
    old_var = tl.load(running_var + own, mask=known, other=1.0)
    unbiased = squares / tl.maximum(count - 1.0, 1.0)
    tl.store(running_mean + own, tl.where(count > 0, old_mean + momentum * (mean - old_mean), old_mean), mask=known)
    tl.store(running_var + own, tl.where(count > 1, old_var + momentum * (unbiased - old_var), old_var), mask=known)


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
    at = (replica * rows + row)[:, None] * width + column[None, :]
    tl.store(out + at, relu(tl.load(z + at, mask=here, other=0.0) * a + b), mask=here)


# ---- backward ---------------------------------------------------------------------------------------------------------------------


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
    first = tl.zeros((COLUMNS,), dtype=tl.float32)
    second = tl.zeros((COLUMNS,), dtype=tl.float32)
    start = tl.program_id(0) * chunk
    stop = tl.minimum(start + chunk, rows)
    for begin in range(start, stop, ROWS):
        row = begin + tl.arange(0, ROWS)
        real = row < stop
        if HAS_MASK:
            real = real & (tl.load(mask + replica * rows + row, mask=real, other=0) != 0)
        source = row
        if HAS_INDEX:
            source = tl.load(index + replica * index_replica + row, mask=real, other=-1)
            real = real & (source >= 0)
        here = real[:, None] & known[None, :]
        value = tl.load(z + (replica * rows + row)[:, None] * width + column[None, :], mask=here, other=0.0)
        at = gradient + (replica * gradient_rows + source)[:, None] * width + column[None, :]
        g = tl.load(at, mask=here & (value * a + b > 0), other=0.0)
        first += tl.sum(g, 0)
        second += tl.sum(g * (value - mean), 0)
    to = partial + ((replica * tl.num_programs(0) + tl.program_id(0)) * 2) * width + column
    tl.store(to, first, mask=known)
    tl.store(to + width, second, mask=known)


@triton.jit
def _settle_kernel(partial, statistics, out, chunks, width, CHUNKS: tl.constexpr, COLUMNS: tl.constexpr):
    """sum(g) / n, s^2 sum(g c) / n, s sum(g c) and sum(g), from the sums of all chunks."""
    replica = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    known = column < width
    chunk = tl.arange(0, CHUNKS)
    at = partial + ((replica * chunks + chunk)[:, None] * 2) * width + column[None, :]
    here = (chunk < chunks)[:, None] & known[None, :]
    first = tl.sum(tl.load(at, mask=here, other=0.0), 0)
    second = tl.sum(tl.load(at + width, mask=here, other=0.0), 0)
    own = statistics + replica * 5 * width + column
    inverse = tl.load(own + width, mask=known, other=0.0)
    rows = tl.load(own + 4 * width, mask=known, other=1.0)
    to = out + replica * 4 * width + column
    tl.store(to, first / rows, mask=known)
    tl.store(to + width, inverse * inverse * second / rows, mask=known)
    tl.store(to + 2 * width, inverse * second, mask=known)
    tl.store(to + 3 * width, first, mask=known)


@triton.jit
def _back_kernel(
    gradient, index, z, mask, statistics, settled, x, x_statistics, weight, dz, dx, dw, db, partial, rows, gradient_rows, width, k,
    w_replica, w_row, index_replica, chunk, HAS_INDEX: tl.constexpr, NORM: tl.constexpr, PAST_RELU: tl.constexpr,
    HAS_MASK: tl.constexpr, HAS_X: tl.constexpr, ACTIVATE: tl.constexpr, WANT_DX: tl.constexpr, STORE_DZ: tl.constexpr,
    HAS_BIAS: tl.constexpr, PRECISION: tl.constexpr, ROWS: tl.constexpr, INNER: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """dz from the gradient, then dx = dz w, past the ReLU of x if x is activated, and of each chunk of rows dz^T x and sums for x's norm."""
    replica = tl.program_id(1).to(tl.int64)
    column = tl.arange(0, COLUMNS)
    inner = tl.arange(0, INNER)
    known = column < width
    within = inner < k
    number = replica * tl.num_programs(0) + tl.program_id(0)
    if NORM:
        own = statistics + replica * 5 * width + column
        mean = tl.load(own, mask=known, other=0.0)[None, :]
        a = tl.load(own + 2 * width, mask=known, other=0.0)[None, :]
        b = tl.load(own + 3 * width, mask=known, other=0.0)[None, :]
        c0 = tl.load(settled + replica * 4 * width + column, mask=known, other=0.0)[None, :]
        c1 = tl.load(settled + (replica * 4 + 1) * width + column, mask=known, other=0.0)[None, :]
    if ACTIVATE:
        own_x = x_statistics + replica * 5 * k + inner
        x_mean = tl.load(own_x, mask=within, other=0.0)[None, :]
        x_scale = tl.load(own_x + 2 * k, mask=within, other=0.0)[None, :]
        x_offset = tl.load(own_x + 3 * k, mask=within, other=0.0)[None, :]
    if WANT_DX:
        w = weight + replica * w_replica + column[:, None] * w_row + inner[None, :]
        w = tl.load(w, mask=known[:, None] & within[None, :], other=0.0)
    product = tl.zeros((COLUMNS, INNER), dtype=tl.float32)
    total = tl.zeros((COLUMNS,), dtype=tl.float32)
    first = tl.zeros((INNER,), dtype=tl.float32)
    second = tl.zeros((INNER,), dtype=tl.float32)
    start = tl.program_id(0) * chunk
    stop = tl.minimum(start + chunk, rows)
    for begin in range(start, stop, ROWS):
        row = begin + tl.arange(0, ROWS)
        inside = row < stop
        real = inside
        if HAS_MASK:
            real = inside & (tl.load(mask + replica * rows + row, mask=inside, other=0) != 0)
        source = row
        got = real
        if HAS_INDEX:
            source = tl.load(index + replica * index_replica + row, mask=real, other=-1)
            got = real & (source >= 0)
        at = (replica * rows + row)[:, None] * width + column[None, :]
        g = gradient + (replica * gradient_rows + source)[:, None] * width + column[None, :]
        g = tl.load(g, mask=got[:, None] & known[None, :], other=0.0)
        if NORM:
            value = tl.load(z + at, mask=real[:, None] & known[None, :], other=0.0)
            if not PAST_RELU:
                g = tl.where(value * a + b > 0, g, 0.0)
            g = tl.where(real[:, None], a * (g - c0 - (value - mean) * c1), 0.0)
        if STORE_DZ:
            tl.store(dz + at, g, mask=inside[:, None] & known[None, :])
        if HAS_BIAS:
            total += tl.sum(g, 0)
        if HAS_X:
            at = (replica * rows + row)[:, None] * k + inner[None, :]
            raw = tl.load(x + at, mask=real[:, None] & within[None, :], other=0.0)
            active = raw
            if ACTIVATE:
                active = relu(raw * x_scale + x_offset)
            product = tl.dot(tl.trans(g), active, product, input_precision=PRECISION)
            if WANT_DX:
                d = tl.dot(g, w, input_precision=PRECISION)
                if ACTIVATE:
                    d = tl.where((active > 0) & real[:, None], d, 0.0)
                    first += tl.sum(d, 0)
                    second += tl.sum(d * (raw - x_mean), 0)
                tl.store(dx + at, d, mask=inside[:, None] & within[None, :])
    if HAS_X:
        to = dw + number * width * k + column[:, None] * k + inner[None, :]
        tl.store(to, product, mask=known[:, None] & within[None, :])
    if HAS_BIAS:
        tl.store(db + number * width + column, total, mask=known)
    if ACTIVATE:
        tl.store(partial + number * 2 * k + inner, first, mask=within)
        tl.store(partial + (number * 2 + 1) * k + inner, second, mask=within)


# ---- launches ---------------------------------------------------------------------------------------------------------------------


def _power(width: int) -> int:
    return max(triton.next_power_of_2(width), 16)


def _tile(width: int) -> dict[str, int]:
    """Rows and columns of a program, and its warps."""
    columns = _power(width)
    return {"ROWS": 64 if columns <= 64 else 32, "COLUMNS": columns, "num_warps": 4 if columns <= 64 else 8}


def _chunks(rows: int, replicas: int, tile: int, programs: int) -> tuple[int, int]:
    """Rows of a chunk, and how many chunks a replica has."""
    chunk = triton.cdiv(max(triton.cdiv(rows * replicas, programs), tile), tile) * tile
    return chunk, max(triton.cdiv(rows, chunk), 1)


def _inner(k: int) -> int:
    """Columns of the input at a time: as many as waste little on padding."""
    return 16 if k % 32 else min(_power(k), 64)


def _of_all_chunks(chunks: int) -> dict[str, int]:
    return {"CHUNKS": triton.next_power_of_2(chunks), "COLUMNS": 16, "num_warps": 4}


class _Norm(NamedTuple):
    """A batch norm as the kernels read it: (replicas, width) each."""

    weight: Tensor
    bias: Tensor
    running_mean: Tensor
    running_var: Tensor
    momentum: float


def _product(
    dense: Sequence[tuple[Tensor, Tensor]],
    tables: Sequence[tuple[Tensor, Tensor]],
    mask: Tensor | None,
    rows: int,
    width: int,
    bias: Tensor | None = None,
    norm: _Norm | None = None,
    activation: Tensor | None = None,
) -> tuple[Tensor, Tensor | None]:
    """z and, with a norm, its statistics (replicas, 5, width): mean, 1 / deviation, scale, offset, number of rows.

    Args:
        dense: inputs (replicas, rows, k) with weights (replicas, width, k); tables: (replicas, n, width) with ids (replicas, rows).
        activation: the statistics of the first input, if it is to be activated.
    """
    like = dense[0][0] if dense else tables[0][0]
    replicas, tile = len(like), _tile(width)
    chunk, chunks = _chunks(rows, replicas, tile["ROWS"], _PROGRAMS)
    z = like.new_empty(replicas, rows, width)
    partial = z if norm is None else like.new_empty(replicas, chunks, 3, width)
    xs = [x for x, _ in dense] + [like] * (3 - len(dense))
    ws = [w for _, w in dense] + [like] * (3 - len(dense))
    ts = [t for t, _ in tables] + [like] * (2 - len(tables))
    ids = [i for _, i in tables] + [like] * (2 - len(tables))
    with on_device(like):
        _product_kernel[chunks, replicas](
            *xs, *ws, like if activation is None else activation, like if bias is None else bias, *ts, *ids, like if mask is None else mask, z, partial, rows,
            width, *(x.shape[-1] for x in xs), ws[0].stride(0), ws[0].stride(1), *(t.shape[-2] for t in ts), *(i.stride(0) for i in ids),
            chunk, DENSE=len(dense), TABLES=len(tables), ACTIVATE=activation is not None, HAS_BIAS=bias is not None,
            STATISTICS=norm is not None, HAS_MASK=mask is not None, PRECISION=precision(), INNER=_inner(xs[0].shape[-1]), **tile,
        )  # fmt: skip
        if norm is None:
            return z, None
        statistics = like.new_empty(replicas, 5, width)
        _statistics_kernel[replicas, triton.cdiv(width, 16)](
            partial, norm.running_mean, norm.running_var, norm.weight, norm.bias, statistics, chunks, width, norm.momentum,
            EPSILON=EPS, **_of_all_chunks(chunks),
        )  # fmt: skip
    return z, statistics


def _apply(z: Tensor, statistics: Tensor) -> Tensor:
    """relu(norm(z))."""
    out, tile = torch.empty_like(z), _tile(z.shape[-1])
    with on_device(z):
        _apply_kernel[triton.cdiv(z.shape[1], tile["ROWS"]), len(z)](z, statistics, out, z.shape[1], z.shape[2], **tile)
    return out


class _Gradient(NamedTuple):
    """Where the gradient of z comes from.

    Attributes:
        value: (replicas, n, width), with ``index`` (replicas, rows) if a row's is that of a segment.
        z, statistics: of the norm between; None: ``value`` is dz itself.
        settled: (replicas, 4, width), see :func:`_settle`; past_relu: whether ``value`` is past the ReLU.
    """

    value: Tensor
    index: Tensor | None = None
    z: Tensor | None = None
    statistics: Tensor | None = None
    settled: Tensor | None = None
    past_relu: bool = False


def _settle(partial: Tensor, statistics: Tensor) -> Tensor:
    """(replicas, 4, width): what the norm takes off the gradient, twice, and the gradients of its weight and bias."""
    replicas, chunks, _, width = partial.shape
    out = partial.new_empty(replicas, 4, width)
    with on_device(partial):
        _settle_kernel[replicas, triton.cdiv(width, 16)](partial, statistics, out, chunks, width, **_of_all_chunks(chunks))
    return out


def _sums(gradient: Tensor, index: Tensor | None, z: Tensor, statistics: Tensor, mask: Tensor | None) -> _Gradient:
    """The gradient before the norm and ReLU at the end of an MLP."""
    replicas, rows, width = z.shape
    tile = _tile(width)
    chunk, chunks = _chunks(rows, replicas, tile["ROWS"], _PROGRAMS)
    partial = z.new_empty(replicas, chunks, 2, width)
    with on_device(z):
        _sums_kernel[chunks, replicas](
            gradient, gradient if index is None else index, z, z if mask is None else mask, statistics, partial, rows,
            gradient.shape[1], width, 0 if index is None else index.stride(0), chunk, HAS_INDEX=index is not None,
            HAS_MASK=mask is not None, **tile,
        )  # fmt: skip
    return _Gradient(gradient, index, z, statistics, _settle(partial, statistics))


class _Back(NamedTuple):
    """What :func:`_back` gives; None where it was not asked for."""

    dz: Tensor | None
    dx: Tensor | None
    dw: Tensor | None
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
) -> _Back:
    """Gradients of a linear map: of its value, of its input x (before ``activation``), of weight and bias, and sums for the norm before."""
    (replicas, gradient_rows, width), like = g.value.shape, g.value
    k = width if x is None else x.shape[-1]
    tile, inner = _tile(max(width, k)), _power(k)
    chunk, chunks = _chunks(rows, replicas, tile["ROWS"], _PROGRAMS_BACK)
    dz = like.new_empty(replicas, rows, width) if store_dz else None
    dx = like.new_empty(replicas, rows, k) if x is not None and want_dx else None
    dw = None if x is None else like.new_empty(replicas, chunks, width, k)
    db = like.new_empty(replicas, chunks, width) if bias else None
    sums = None if activation is None else like.new_empty(replicas, chunks, 2, k)

    def there(t: Tensor | None) -> Tensor:
        return like if t is None else t

    tile |= {"COLUMNS": _power(width), "num_warps": 8, "num_stages": 1}  # much is in registers already
    with on_device(like):
        _back_kernel[chunks, replicas](
            g.value, there(g.index), there(g.z), there(mask), there(g.statistics), there(g.settled), there(x), there(activation),
            there(weight), there(dz), there(dx), there(dw), there(db), there(sums), rows, gradient_rows, width, k,
            *((0, 0) if weight is None else (weight.stride(0), weight.stride(1))), 0 if g.index is None else g.index.stride(0), chunk,
            HAS_INDEX=g.index is not None, NORM=g.statistics is not None, PAST_RELU=g.past_relu, HAS_MASK=mask is not None,
            HAS_X=x is not None, ACTIVATE=activation is not None, WANT_DX=dx is not None, STORE_DZ=store_dz, HAS_BIAS=bias,
            PRECISION=precision(), INNER=inner, **tile,
        )  # fmt: skip
    return _Back(dz, dx, *(None if t is None else t.sum(1) for t in (dw, db)), sums)


# ---- the whole MLP ----------------------------------------------------------------------------------------------------------------


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
        width, outputs = norm_weight.shape[-1], weight.shape[-2]
        dense = list(zip(xs, ws, strict=True))
        z1, s1 = _product(dense, ids, call.mask, call.rows, width, norm=_Norm(norm_weight, norm_bias, *call.first))
        norm = None if call.last is None else _Norm(last_weight, last_bias, *call.last)
        bias = last_bias if call.last is None else None
        z2, s2 = _product([(z1, weight)], [], call.mask, call.rows, outputs, bias, norm, activation=s1)
        ctx.call = call
        ctx.save_for_backward(*xs, *ws, weight, z1, s1, *(() if s2 is None else (z2, s2)))
        if call.into is None:
            return z2 if s2 is None else _apply(z2, s2)
        out = z2.new_empty(len(z2), call.into.rows.count, outputs)
        return sum_activated(z2, call.into.rows, out, plus, (s2[:, 2], s2[:, 3]))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        call, n = ctx.call, ctx.call.dense
        xs, ws = ctx.saved_tensors[:n], ctx.saved_tensors[n : 2 * n]
        weight, z1, s1, *ends = ctx.saved_tensors[2 * n :]
        gradient = gradient.contiguous()
        last = _Gradient(gradient)
        if ends:
            last = _sums(gradient, None if call.into is None else call.into.columns.index, *ends, call.mask)
        back = _back(last, call.rows, call.mask, z1, weight, s1, bias=not ends)
        of_last = (last.settled[:, 2], last.settled[:, 3]) if ends else (None, back.db)
        settled = _settle(back.sums, s1)
        g1 = _Gradient(back.dx, None, z1, s1, settled, past_relu=True)
        wanted, dz, dxs, dws = ctx.needs_input_grad[1:], None, [], []
        for k, (x, w) in enumerate(zip(xs, ws, strict=True)):
            found = _back(g1, call.rows, call.mask, x, w, want_dx=wanted[k], store_dz=k == 0 and bool(call.incidences))
            dz = found.dz if dz is None else dz
            dxs.append(found.dx)
            dws.append(found.dw)
        if dz is None and call.incidences:
            dz = _back(g1, call.rows, call.mask, store_dz=True).dz
        dts = [sum_rows(dz, incidence.columns) for incidence in call.incidences]
        plus = gradient if wanted[-1] else None
        return None, *dxs, *dws, *dts, settled[:, 2], settled[:, 3], back.dw, *of_last, plus


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
    given = [*xs, *(lead(w) for _, w in dense), *(lead(t.x).contiguous() for t in tables)]
    out = _MLP.apply(call, *given, *map(lead, (first.weight, first.bias, last.weight, *ends, plus)))
    return out if stacked else out.squeeze(0)
