r"""Kernels of the MLP with batch norms: each row is read and written about once per linear map. triton_mlp.py launches them.

One kernel multiplies, adds what is gathered from tables, and takes the moments of the result by chunks of rows. The next makes the scale
and offset of the norm of them, activates, relu(scale x + offset), and multiplies again. Backwards, one kernel norms the gradient,
multiplies it by the weight, takes it past the ReLU before, and collects the sums that the norm before needs; gradients of weights are
left to triton_linear.py. With z the input of a norm, c = z - mean, s = 1 / sqrt(variance + eps), w its weight and g the gradient past its
ReLU, over n real rows:

    dz = w s ( g - sum(g) / n - c s^2 sum(g c) / n ),    dw = s sum(g c),    db = sum(g).

Moments are taken by chunks of rows, each into its own memory: no atomics, so the same input always gives the same bits. Variances are
taken about a value of the chunk, so that no square of a large mean drowns them.
"""

from __future__ import annotations

import triton
import triton.language as tl

from .triton_tools import load_transposed, load_weight, relu

# ---- forward ----------------------------------------------------------------------------------------------------------------------


@triton.jit
def _rows_of(x, row, inside, k, INNER: tl.constexpr):
    """Rows of x, (ROWS, INNER) in float32; x points to its replica."""
    inner = tl.arange(0, INNER)
    here = inside[:, None] & (inner < k)[None, :]
    return tl.load(x + row[:, None] * k + inner[None, :], mask=here, other=0.0).to(tl.float32)


@triton.jit
def _store_rows(to, value, row, inside, k, INNER: tl.constexpr):
    """Writes them."""
    inner = tl.arange(0, INNER)
    tl.store(to + row[:, None] * k + inner[None, :], value, mask=inside[:, None] & (inner < k)[None, :])


@triton.jit
def _gathered(product, table, index, replica, row, here, inside, column, table_rows, width, index_replica):
    """product + a row of a table each."""
    source = tl.load(index + replica * index_replica + row, mask=inside, other=-1)
    at = table + replica * table_rows * width + source[:, None] * width + column[None, :]
    return product + tl.load(at, mask=here & (source >= 0)[:, None], other=0.0).to(tl.float32)


@triton.jit
def _is_real(mask, replica, row, inside, rows, HAS_MASK: tl.constexpr):
    real = inside
    if HAS_MASK:
        real = inside & (tl.load(mask + replica * rows + row, mask=inside, other=0) != 0)
    return real


@triton.jit
def _add_moments(about, count, first, second, product, real, row, begin, start):
    """The moments of a chunk so far with those of one more tile, place by place; they are taken about the first row of the chunk."""
    if begin == start:
        about = tl.sum(tl.where((row == start)[:, None], product, 0.0), 0)
    centred = tl.where(real[:, None], product - about[None, :], 0.0)
    return about, count + real.to(tl.float32), first + centred, second + centred * centred


@triton.jit
def _store_moments(partial, replica, column, known, width, count, about, first, second):
    """Of a chunk of rows: how many are real, their mean, and the sum of their squares about it."""
    number = tl.sum(count, 0)
    mean = tl.sum(first, 0) / tl.maximum(number, 1.0)
    to = partial + ((replica * tl.num_programs(0) + tl.program_id(0)) * 3) * width + column
    tl.store(to, number + tl.zeros_like(mean), mask=known)
    tl.store(to + width, about + mean, mask=known)
    tl.store(to + 2 * width, tl.sum(second, 0) - number * mean * mean, mask=known)


@triton.jit(do_not_specialize=["rows", "t0_rows", "t1_rows", "chunk"])  # one kernel for all batches
def first_kernel(
    x0, x1, x2, w0, w1, w2, t0, t1, i0, i1, mask, z, partial, rows, width, k0, k1, k2, t0_rows, t1_rows, i0_replica, i1_replica,
    chunk, DENSE: tl.constexpr, TABLES: tl.constexpr, RELOAD: tl.constexpr, HAS_MASK: tl.constexpr, DOT: tl.constexpr,
    PRECISION: tl.constexpr, ROWS: tl.constexpr, INNER: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """z = x_0 w_0^T + ... + rows of tables, and the moments of each chunk of rows. Weights are loaded once, or (RELOAD) for each tile."""
    replica = tl.program_id(1).to(tl.int64)
    column = tl.arange(0, COLUMNS)
    known = column < width
    start = tl.program_id(0) * chunk
    stop = tl.minimum(start + chunk, rows)
    about = tl.zeros((COLUMNS,), dtype=tl.float32)
    count = tl.zeros((ROWS,), dtype=tl.float32)
    first = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    second = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    if DENSE > 0 and not RELOAD:
        weight_0 = load_transposed(w0, replica, width, k0, DOT, INNER, COLUMNS)
    if DENSE > 1 and not RELOAD:
        weight_1 = load_transposed(w1, replica, width, k1, DOT, INNER, COLUMNS)
    if DENSE > 2 and not RELOAD:
        weight_2 = load_transposed(w2, replica, width, k2, DOT, INNER, COLUMNS)
    x0 += replica * rows * k0
    x1 += replica * rows * k1
    x2 += replica * rows * k2
    for begin in range(start, stop, ROWS):
        row = begin + tl.arange(0, ROWS)
        inside = row < stop
        real = _is_real(mask, replica, row, inside, rows, HAS_MASK)
        here = inside[:, None] & known[None, :]
        product = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
        if DENSE > 0:
            if RELOAD:
                weight_0 = load_transposed(w0, replica, width, k0, DOT, INNER, COLUMNS)
            product = tl.dot(_rows_of(x0, row, inside, k0, INNER).to(DOT), weight_0, product, input_precision=PRECISION)
        if DENSE > 1:
            if RELOAD:
                weight_1 = load_transposed(w1, replica, width, k1, DOT, INNER, COLUMNS)
            product = tl.dot(_rows_of(x1, row, inside, k1, INNER).to(DOT), weight_1, product, input_precision=PRECISION)
        if DENSE > 2:
            if RELOAD:
                weight_2 = load_transposed(w2, replica, width, k2, DOT, INNER, COLUMNS)
            product = tl.dot(_rows_of(x2, row, inside, k2, INNER).to(DOT), weight_2, product, input_precision=PRECISION)
        if TABLES > 0:
            product = _gathered(product, t0, i0, replica, row, here, inside, column, t0_rows, width, i0_replica)
        if TABLES > 1:
            product = _gathered(product, t1, i1, replica, row, here, inside, column, t1_rows, width, i1_replica)
        product = product.to(z.dtype.element_ty).to(tl.float32)  # the norm is that of what is stored
        _store_rows(z + replica * rows * width, product, row, inside, width, COLUMNS)
        about, count, first, second = _add_moments(about, count, first, second, product, real, row, begin, start)
    _store_moments(partial, replica, column, known, width, count, about, first, second)


@triton.jit
def _norm(
    partial, weight, bias, running_mean, running_var, out, replica, column, known, chunks, width, momentum, write,
    EPSILON: tl.constexpr, FLAT: tl.constexpr, CHUNKS: tl.constexpr,
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
    flat = squares / rows <= FLAT * (1.0 + mean * mean)
    inverse = tl.where(flat, 0.0, 1.0 / tl.sqrt(squares / rows + EPSILON))
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
        was_flat = (old_var <= FLAT * (1.0 + old_mean * old_mean)) | ((old_mean == 0.0) & (old_var == 1.0))
        always_flat = flat & was_flat & (count > 0)
        step = tl.where(always_flat, 1.0, momentum)  # as Running says
        tl.store(running_mean + own, tl.where(count > 0, old_mean + step * (mean - old_mean), old_mean), mask=known)
        moves = (count > 1) | always_flat
        tl.store(running_var + own, tl.where(moves, old_var + step * (unbiased - old_var), old_var), mask=known)
    return scale, offset


@triton.jit(do_not_specialize=["chunks"])
def statistics_kernel(
    partial, weight, bias, running_mean, running_var, out, chunks, width, momentum, EPSILON: tl.constexpr, FLAT: tl.constexpr,
    CHUNKS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Statistics alone, where what reads them is many small programs."""
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    _norm(partial, weight, bias, running_mean, running_var, out, tl.program_id(0).to(tl.int64), column, column < width, chunks, width,
          momentum, True, EPSILON, FLAT, CHUNKS)  # fmt: skip


@triton.jit(do_not_specialize=["rows", "chunks", "chunk"])
def last_kernel(
    x, moments, norm_weight, norm_bias, running_mean, running_var, statistics, w, bias, mask, z, partial, rows, k, width,
    chunks, momentum, chunk, HAS_BIAS: tl.constexpr, MOMENTS: tl.constexpr, KNOWN: tl.constexpr, HAS_MASK: tl.constexpr,
    EPSILON: tl.constexpr, FLAT: tl.constexpr, CHUNKS: tl.constexpr, DOT: tl.constexpr, PRECISION: tl.constexpr, ROWS: tl.constexpr,
    INNER: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """z = relu(norm(x)) w^T, plus a bias or with the moments of each chunk of rows. The statistics of the norm may be KNOWN."""
    replica = tl.program_id(1).to(tl.int64)
    column = tl.arange(0, COLUMNS)
    inner = tl.arange(0, INNER)
    known = column < width
    within = inner < k
    weight = load_transposed(w, replica, width, k, DOT, INNER, COLUMNS)
    if KNOWN:
        scale = tl.load(statistics + replica * 5 * k + 2 * k + inner, mask=within, other=0.0)
        offset = tl.load(statistics + replica * 5 * k + 3 * k + inner, mask=within, other=0.0)
    else:
        scale, offset = _norm(moments, norm_weight, norm_bias, running_mean, running_var, statistics, replica, inner, within, chunks,
                              k, momentum, tl.program_id(0) == 0, EPSILON, FLAT, CHUNKS)  # fmt: skip
    start = tl.program_id(0) * chunk
    stop = tl.minimum(start + chunk, rows)
    about = tl.zeros((COLUMNS,), dtype=tl.float32)
    count = tl.zeros((ROWS,), dtype=tl.float32)
    first = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    second = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for begin in range(start, stop, ROWS):
        row = begin + tl.arange(0, ROWS)
        inside = row < stop
        value = _rows_of(x + replica * rows * k, row, inside, k, INNER)
        real = _is_real(mask, replica, row, inside, rows, HAS_MASK)
        value = relu(value * scale[None, :] + offset[None, :])
        product = tl.dot(value.to(DOT), weight, input_precision=PRECISION)
        if HAS_BIAS:
            product += tl.load(bias + replica * width + column, mask=known, other=0.0)[None, :]
        product = product.to(z.dtype.element_ty).to(tl.float32)
        _store_rows(z + replica * rows * width, product, row, inside, width, COLUMNS)
        if MOMENTS:
            about, count, first, second = _add_moments(about, count, first, second, product, real, row, begin, start)
    if MOMENTS:
        _store_moments(partial, replica, column, known, width, count, about, first, second)


@triton.jit(do_not_specialize=["rows"])
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


@triton.jit(do_not_specialize=["rows", "gradient_rows", "chunk"])
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
        value = _rows_of(z + replica * rows * width, row, inside, width, COLUMNS)
        g = _rows_of(gradient + replica * gradient_rows * width, source, inside & got, width, COLUMNS)
        g = tl.where((value * a + b > 0) & real[:, None], g, 0.0)
        first += g
        second += g * (value - mean)
    to = partial + ((replica * tl.num_programs(0) + tl.program_id(0)) * 2) * width + column
    tl.store(to, tl.sum(first, 0), mask=known)
    tl.store(to + width, tl.sum(second, 0), mask=known)


@triton.jit(do_not_specialize=["rows", "gradient_rows", "replicas", "chunks", "chunk"])
def back_kernel(
    gradient, index, z, mask, statistics, sums, of_norm, w0, w1, w2, x, x_statistics, dz, dx0, dx1, dx2, partial, rows,
    gradient_rows, width, k0, k1, k2, index_replica, replicas, chunks, chunk, HAS_INDEX: tl.constexpr, NORM: tl.constexpr,
    PAST_RELU: tl.constexpr, HAS_MASK: tl.constexpr, DENSE: tl.constexpr, ACTIVATE: tl.constexpr, RELOAD: tl.constexpr,
    CHUNKS: tl.constexpr, DOT: tl.constexpr, PRECISION: tl.constexpr, ROWS: tl.constexpr, INNER: tl.constexpr,
    COLUMNS: tl.constexpr,
):  # fmt: skip
    """dz from the gradient, then dx_i = dz w_i; if x_0 = relu(norm(x)), past that ReLU, with the sums of each chunk for that norm."""
    replica = tl.program_id(1).to(tl.int64)
    column = tl.arange(0, COLUMNS)
    inner = tl.arange(0, INNER)
    known = column < width
    within = inner < k0
    if DENSE > 0 and not RELOAD:
        weight_0 = load_weight(w0, replica, width, k0, DOT, INNER, COLUMNS)
    if DENSE > 1 and not RELOAD:
        weight_1 = load_weight(w1, replica, width, k1, DOT, INNER, COLUMNS)
    if DENSE > 2 and not RELOAD:
        weight_2 = load_weight(w2, replica, width, k2, DOT, INNER, COLUMNS)
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
        own_x = x_statistics + replica * 5 * k0 + inner
        x_mean = tl.load(own_x, mask=within, other=0.0)[None, :]
        x_scale = tl.load(own_x + 2 * k0, mask=within, other=0.0)[None, :]
        x_offset = tl.load(own_x + 3 * k0, mask=within, other=0.0)[None, :]
        first = tl.zeros((ROWS, INNER), dtype=tl.float32)
        second = tl.zeros((ROWS, INNER), dtype=tl.float32)
    gradient += replica * gradient_rows * width
    z += replica * rows * width
    dz += replica * rows * width
    x += replica * rows * k0
    dx0 += replica * rows * k0
    dx1 += replica * rows * k1
    dx2 += replica * rows * k2
    start = tl.program_id(0) * chunk
    stop = tl.minimum(start + chunk, rows)
    for begin in range(start, stop, ROWS):
        row = begin + tl.arange(0, ROWS)
        inside = row < stop
        source, got = _of_segments(index, replica, row, inside, index_replica, HAS_INDEX)
        if ACTIVATE:
            raw = _rows_of(x, row, inside, k0, INNER)
        if NORM:
            value = _rows_of(z, row, inside, width, COLUMNS)
        real = _is_real(mask, replica, row, inside, rows, HAS_MASK)
        g = _rows_of(gradient, source, inside & got, width, COLUMNS)
        if NORM:
            if not PAST_RELU:
                g = tl.where(value * a + b > 0, g, 0.0)
            g = a * (g - c0 - (value - mean) * c1)
        g = tl.where(real[:, None], g, 0.0)
        _store_rows(dz, g, row, inside, width, COLUMNS)
        if DENSE > 0:
            if RELOAD:
                weight_0 = load_weight(w0, replica, width, k0, DOT, INNER, COLUMNS)
            d = tl.dot(g.to(DOT), weight_0, input_precision=PRECISION)
            if ACTIVATE:
                d = tl.where(raw * x_scale + x_offset > 0, d, 0.0)
                first += d
                second += d * (raw - x_mean)
            _store_rows(dx0, d, row, inside, k0, INNER)
        if DENSE > 1:
            if RELOAD:
                weight_1 = load_weight(w1, replica, width, k1, DOT, INNER, COLUMNS)
            _store_rows(dx1, tl.dot(g.to(DOT), weight_1, input_precision=PRECISION), row, inside, k1, INNER)
        if DENSE > 2:
            if RELOAD:
                weight_2 = load_weight(w2, replica, width, k2, DOT, INNER, COLUMNS)
            _store_rows(dx2, tl.dot(g.to(DOT), weight_2, input_precision=PRECISION), row, inside, k2, INNER)
    if ACTIVATE:
        to = partial + (replica * tl.num_programs(0) + tl.program_id(0)) * 2 * k0 + inner
        tl.store(to, tl.sum(first, 0), mask=within)
        tl.store(to + k0, tl.sum(second, 0), mask=within)
