r"""Kernels of the MLP with batch norms: each row is read and written about once per linear map. triton_mlp.py launches them.

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

import triton
import triton.language as tl

from .triton_tools import relu

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
def _add_moments(about, count, first, second, product, real, row, begin, start):
    """The moments of a chunk so far with those of one more tile; they are taken about the first row of the chunk."""
    if begin == start:
        about = tl.sum(tl.where((row == start)[:, None], product, 0.0), 0)
    centred = tl.where(real[:, None], product - about[None, :], 0.0)
    return about, count + real.to(tl.float32), first + tl.sum(centred, 0), second + tl.sum(centred * centred, 0)


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
def first_kernel(
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
        about, count, first, second = _add_moments(about, count, first, second, product, real, row, begin, start)
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
def statistics_kernel(
    partial, weight, bias, running_mean, running_var, out, chunks, width, momentum, EPSILON: tl.constexpr, CHUNKS: tl.constexpr,
    COLUMNS: tl.constexpr,
):  # fmt: skip
    """Statistics alone, where what reads them is many small programs."""
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    _norm(partial, weight, bias, running_mean, running_var, out, tl.program_id(0).to(tl.int64), column, column < width, chunks, width,
          momentum, True, EPSILON, CHUNKS)  # fmt: skip


@triton.jit
def last_kernel(
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
            about, count, first, second = _add_moments(about, count, first, second, product, real, row, begin, start)
    if MOMENTS:
        _store_moments(partial, replica, column, known, width, count, about, first, second)


@triton.jit
def apply_kernel(z, statistics, out, rows, width, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
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
def sums_kernel(
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
def back_kernel(
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
