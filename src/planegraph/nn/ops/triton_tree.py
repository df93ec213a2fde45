"""The recursion over trees on CUDA: one kernel for a batch of many graphs, and a few for one large graph.

A captured step is bound by the number of its kernels in a row, and trees have many small levels. The trees of a batch of many graphs fall
into parts, and one program goes through all levels of its part: gather, product, ReLU, product, ReLU. Where there are no parts, a level
is one kernel, and so are all narrow levels that follow one another. Sums are in the order of the entries and without atomics, so the same
input always gives the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from .triton_tools import (
    dense_rows,
    load_transposed,
    load_weight,
    on_device,
    once,
    power_of_two,
    products_in,
    relu,
    replica_stride,
    runs,
    takes_dtype,
)

if TYPE_CHECKING:
    from .incidence import Rows
    from .tree import Level, Maps, Parts, Tree

_WIDEST = 128
_NARROW, _WIDE, _LARGE = 64, 32, 64  # rows of a program: of one that is alone, of one of many, of one of very many
_MANY = 264 * _LARGE  # rows of all replicas from which on programs are large: each loads both weights
_PROGRAMS = 264  # about so many share all parts: two for each multiprocessor of an H200
_NUMBERS = ["begin", "count", "number", "parts", "rows_a", "rows_b"]  # one kernel for all batches
_SMALLEST, _MOST = 64, 127  # rows of a part at least, and parts at most


@triton.jit
def _up(
    x, below, begin, end, w_first, w_last, first, first_bias, last, last_bias, total, hidden, out, start, stop, replica, width,
    INSIDE: tl.constexpr, HAS_BOUNDS: tl.constexpr, SQUASH: tl.constexpr, RELOAD: tl.constexpr, DOT: tl.constexpr,
    PRECISION: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Rows of one kind: ``total``, ``hidden`` and ``out`` from ``x``, which is h (INSIDE) or p, and the children in ``below``."""
    column = tl.arange(0, COLUMNS)
    known = column < width
    row = start + tl.arange(0, ROWS)
    inside = row < stop
    if HAS_BOUNDS:
        child = tl.load(begin + row, mask=inside, other=0)
        count = tl.load(end + row, mask=inside, other=0) - child
    else:
        child = row
        count = inside.to(tl.int32)
    here = inside[:, None] & known[None, :]
    place = row[:, None] * width + column[None, :]
    own = tl.load(x + place, mask=here, other=0.0).to(tl.float32)
    sums = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for k in range(tl.max(count)):
        source = below + (child + k)[:, None] * width + column[None, :]
        sums += tl.load(source, mask=(k < count)[:, None] & known[None, :], other=0.0)
    if INSIDE:
        sums += own
    tl.store(total + place, sums, mask=here)
    if RELOAD:
        w_first = load_transposed(first, replica, width, width, DOT, COLUMNS, COLUMNS)
    inner = tl.dot(sums.to(DOT), w_first, input_precision=PRECISION)
    inner += tl.load(first_bias + column, mask=known, other=0.0)[None, :]
    if not INSIDE:
        inner += own
    inner = relu(inner)
    tl.store(hidden + place, inner, mask=here)
    if RELOAD:
        w_last = load_transposed(last, replica, width, width, DOT, COLUMNS, COLUMNS)
    y = tl.dot(inner.to(DOT), w_last, input_precision=PRECISION)
    y = relu(y + tl.load(last_bias + column, mask=known, other=0.0)[None, :])
    if SQUASH:
        more = 1.0 + y  # rounded; its logarithm is made good for that, as a small y would be lost
        y = tl.where(more == 1.0, y, tl.log(more) * (y / (more - 1.0)))
    tl.store(out + place, y, mask=here)


@triton.jit
def _down(
    own, own_begin, own_end, parent, above, rows_above, w_first, w_last, first, last, y, hidden, g, d, u, start, stop, replica, width,
    HAS_OWN: tl.constexpr, HAS_PARENT: tl.constexpr, SQUASH: tl.constexpr, RELOAD: tl.constexpr, DOT: tl.constexpr,
    PRECISION: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Rows of one kind: the gradients ``g``, ``d`` and ``u`` from those of the parents, ``above``, and from outside, ``own``, which some
    rows have."""
    column = tl.arange(0, COLUMNS)
    known = column < width
    row = start + tl.arange(0, ROWS)
    inside = row < stop
    if HAS_PARENT:
        source = tl.load(parent + row, mask=inside, other=-1)
    else:
        source = tl.where(inside, row, -1)
    got = (source >= 0) & (source < rows_above)
    here = inside[:, None] & known[None, :]
    place = row[:, None] * width + column[None, :]
    gradient = tl.load(above + source[:, None] * width + column[None, :], mask=got[:, None] & known[None, :], other=0.0)
    gradient = gradient.to(tl.float32)
    value = tl.load(y + place, mask=here, other=0.0).to(tl.float32)
    positive = tl.load(hidden + place, mask=here, other=0.0) > 0
    if HAS_OWN:
        mine = here & ((row >= own_begin) & (row < own_end))[:, None]
        gradient += tl.load(own + (row - own_begin)[:, None] * width + column[None, :], mask=mine, other=0.0)
    if SQUASH:
        gradient = gradient * tl.exp(-value)
    gradient = once(tl.where(value > 0, gradient, 0.0))
    tl.store(g + place, gradient, mask=here)
    if RELOAD:
        w_last = load_weight(last, replica, width, width, DOT, COLUMNS, COLUMNS)
    before = tl.where(positive, tl.dot(gradient.to(DOT), w_last, input_precision=PRECISION), 0.0)
    tl.store(d + place, before, mask=here)
    if RELOAD:
        w_first = load_weight(first, replica, width, width, DOT, COLUMNS, COLUMNS)
    tl.store(u + place, tl.dot(before.to(DOT), w_first, input_precision=PRECISION), mask=here)


@triton.jit
def _weights(first, last, replica, width, WANTED: tl.constexpr, TRANSPOSED: tl.constexpr, DOT: tl.constexpr, COLUMNS: tl.constexpr):
    """Both weights of a kind, if they are wanted."""
    if not WANTED:
        w_first = 0.0
        w_last = 0.0
    elif TRANSPOSED:
        w_first = load_transposed(first, replica, width, width, DOT, COLUMNS, COLUMNS)
        w_last = load_transposed(last, replica, width, width, DOT, COLUMNS, COLUMNS)
    else:
        w_first = load_weight(first, replica, width, width, DOT, COLUMNS, COLUMNS)
        w_last = load_weight(last, replica, width, width, DOT, COLUMNS, COLUMNS)
    return w_first, w_last


@triton.jit
def _bounds(levels, starts, k, replica, number, parts, IS_A: tl.constexpr, IN_PARTS: tl.constexpr, ROWS: tl.constexpr):
    """The rows of one kind that a program computes in level k."""
    if IN_PARTS:
        at = starts + (replica * number + k) * (parts + 1) + tl.program_id(0)
        start = tl.load(at)
        stop = tl.load(at + 1)
    else:
        start = tl.load(levels + 4 * k + 2 * IS_A) + tl.program_id(0) * ROWS
        stop = tl.minimum(start + ROWS, tl.load(levels + 4 * k + 2 * IS_A + 1))
    return start, stop


@triton.jit
def _lowest_level(starts_a, starts_b, replica, number, parts, LEVELS: tl.constexpr):
    """The first level in which a part has rows; it has some in all that follow."""
    k = tl.arange(0, LEVELS)
    at = (replica * number + k) * (parts + 1) + tl.program_id(0)
    inside = k < number
    a = tl.load(starts_a + at + 1, mask=inside, other=0) - tl.load(starts_a + at, mask=inside, other=0)
    b = tl.load(starts_b + at + 1, mask=inside, other=0) - tl.load(starts_b + at, mask=inside, other=0)
    return tl.min(tl.where(a + b > 0, k, number))


@triton.jit
def _pad(levels, starts, x, y, z, k, replica, number, parts, width, IS_A: tl.constexpr, COLUMNS: tl.constexpr):
    """Zeros in the rows of level k that belong to no part."""
    column = tl.arange(0, COLUMNS)
    start = tl.load(starts + (replica * number + k) * (parts + 1) + parts)
    stop = tl.load(levels + 4 * k + 2 * IS_A + 1)
    zeros = tl.zeros((8, COLUMNS), dtype=tl.float32)
    for begin in range(start, stop, 8):
        row = begin + tl.arange(0, 8)
        at = row[:, None] * width + column[None, :]
        here = (row < stop)[:, None] & (column < width)[None, :]
        tl.store(x + at, zeros, mask=here)
        tl.store(y + at, zeros, mask=here)
        tl.store(z + at, zeros, mask=here)


@triton.jit(do_not_specialize=_NUMBERS)
def _forward_kernel(
    levels, starts_a, starts_b, begin, count, number, parts, h_a, x_b, begin_a, end_a, begin_b, end_b, first_a, first_bias_a, last_a,
    last_bias_a, first_b, first_bias_b, last_b, last_bias_b, total_a, total_b, hidden_a, hidden_b, y_a, m_b, rows_a, rows_b, width,
    h_a_replica, x_b_replica, bounds_a, bounds_b, INSIDE_B: tl.constexpr, RUNS_OF_A: tl.constexpr, IN_PARTS: tl.constexpr,
    DO_A: tl.constexpr, DO_B: tl.constexpr, RELOAD: tl.constexpr, DOT: tl.constexpr, PRECISION: tl.constexpr, LEVELS: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Some levels, bottom-up. Weights are loaded once, or each time they are used (RELOAD), where that is once, or memory is short."""
    replica = tl.program_id(1).to(tl.int64)
    h_a += replica * h_a_replica
    x_b += replica * x_b_replica
    begin_a += replica * bounds_a
    end_a += replica * bounds_a
    begin_b += replica * bounds_b
    end_b += replica * bounds_b
    first_bias_a += replica * width
    last_bias_a += replica * width
    first_bias_b += replica * width
    last_bias_b += replica * width
    total_a += replica * rows_a * width
    hidden_a += replica * rows_a * width
    y_a += replica * rows_a * width
    total_b += replica * rows_b * width
    hidden_b += replica * rows_b * width
    m_b += replica * rows_b * width
    has_part = True
    if IN_PARTS:
        has_part = tl.program_id(0) < parts
    if has_part:
        w_first_a, w_last_a = _weights(first_a, last_a, replica, width, DO_A and not RELOAD, True, DOT, COLUMNS)
        w_first_b, w_last_b = _weights(first_b, last_b, replica, width, DO_B and not RELOAD, True, DOT, COLUMNS)
        lowest = begin
        if IN_PARTS:
            lowest = _lowest_level(starts_a, starts_b, replica, number, parts, LEVELS)
        for k in range(lowest, begin + count):
            if DO_B:
                start, stop = _bounds(levels, starts_b, k, replica, number, parts, 0, IN_PARTS, ROWS)
                for tile in range(start, stop, ROWS):
                    _up(x_b, y_a, begin_b, end_b, w_first_b, w_last_b, first_b, first_bias_b, last_b, last_bias_b, total_b, hidden_b,
                        m_b, tile, stop, replica, width, INSIDE_B, RUNS_OF_A, True, RELOAD, DOT, PRECISION, ROWS, COLUMNS)  # fmt: skip
                tl.debug_barrier()  # what was written is read next, by other threads
            if DO_A:
                start, stop = _bounds(levels, starts_a, k, replica, number, parts, 1, IN_PARTS, ROWS)
                for tile in range(start, stop, ROWS):
                    _up(h_a, m_b, begin_a, end_a, w_first_a, w_last_a, first_a, first_bias_a, last_a, last_bias_a, total_a, hidden_a,
                        y_a, tile, stop, replica, width, True, True, False, RELOAD, DOT, PRECISION, ROWS, COLUMNS)  # fmt: skip
                tl.debug_barrier()
    else:
        k = tl.program_id(0) - parts
        _pad(levels, starts_a, total_a, hidden_a, y_a, k, replica, number, parts, width, 1, COLUMNS)
        _pad(levels, starts_b, total_b, hidden_b, m_b, k, replica, number, parts, width, 0, COLUMNS)


@triton.jit(do_not_specialize=[*_NUMBERS, "own_begin", "own_end"])
def _backward_kernel(
    levels, starts_a, starts_b, begin, count, number, parts, gradient, own_begin, own_end, parent_a, parent_b, first_a, last_a,
    first_b, last_b, hidden_a, hidden_b, y_a, m_b, g_a, g_b, d_a, d_b, u_a, u_b, rows_a, rows_b, width, gradient_replica,
    u_b_replica, stride_a, stride_b, PARENT_OF_A: tl.constexpr,
    IN_PARTS: tl.constexpr, DO_A: tl.constexpr, DO_B: tl.constexpr, RELOAD: tl.constexpr, DOT: tl.constexpr,
    PRECISION: tl.constexpr, LEVELS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """The gradients of some levels, top-down."""
    replica = tl.program_id(1).to(tl.int64)
    gradient += replica * gradient_replica
    parent_a += replica * stride_a
    parent_b += replica * stride_b
    hidden_a += replica * rows_a * width
    y_a += replica * rows_a * width
    g_a += replica * rows_a * width
    d_a += replica * rows_a * width
    u_a += replica * rows_a * width
    hidden_b += replica * rows_b * width
    m_b += replica * rows_b * width
    g_b += replica * rows_b * width
    d_b += replica * rows_b * width
    u_b += replica * u_b_replica
    has_part = True
    if IN_PARTS:
        has_part = tl.program_id(0) < parts
    if has_part:
        w_first_a, w_last_a = _weights(first_a, last_a, replica, width, DO_A and not RELOAD, False, DOT, COLUMNS)
        w_first_b, w_last_b = _weights(first_b, last_b, replica, width, DO_B and not RELOAD, False, DOT, COLUMNS)
        lowest = begin
        if IN_PARTS:
            lowest = _lowest_level(starts_a, starts_b, replica, number, parts, LEVELS)
        for done in range(begin + count - lowest):
            k = begin + count - 1 - done
            if DO_A:
                start, stop = _bounds(levels, starts_a, k, replica, number, parts, 1, IN_PARTS, ROWS)
                for tile in range(start, stop, ROWS):
                    _down(gradient, own_begin, own_end, parent_a, u_b, rows_b, w_first_a, w_last_a, first_a, last_a, y_a, hidden_a, g_a,
                          d_a, u_a, tile, stop, replica, width, True, PARENT_OF_A, False, RELOAD, DOT, PRECISION, ROWS,
                          COLUMNS)  # fmt: skip
                tl.debug_barrier()
            if DO_B:
                start, stop = _bounds(levels, starts_b, k, replica, number, parts, 0, IN_PARTS, ROWS)
                for tile in range(start, stop, ROWS):
                    _down(gradient, own_begin, own_end, parent_b, u_a, rows_a, w_first_b, w_last_b, first_b, last_b, m_b, hidden_b, g_b,
                          d_b, u_b, tile, stop, replica, width, False, True, True, RELOAD, DOT, PRECISION, ROWS,
                          COLUMNS)  # fmt: skip
                tl.debug_barrier()
    else:
        k = tl.program_id(0) - parts
        _pad(levels, starts_a, g_a, d_a, u_a, k, replica, number, parts, width, 1, COLUMNS)
        _pad(levels, starts_b, g_b, d_b, u_b, k, replica, number, parts, width, 0, COLUMNS)


# ---- parts ------------------------------------------------------------------------------------------------------------------------


@triton.jit
def _children(parent, start, stop, above, ROWS: tl.constexpr):
    """Where the children of rows from ``above`` on begin: children stand in the order of their parents."""
    before = tl.zeros_like(above)
    for begin in range(start, stop, ROWS):
        row = begin + tl.arange(0, ROWS)
        p = tl.load(parent + row, mask=row < stop, other=-1)
        before += tl.sum(((p >= 0)[:, None] & (p[:, None] < above[None, :])).to(tl.int32), 0)
    return start + before


@triton.jit(do_not_specialize=["number", "parts"])
def _parts_kernel(
    levels, parent_a, parent_b, starts_a, starts_b, number, parts, stride_a, stride_b, PARENT_OF_A: tl.constexpr, ROWS: tl.constexpr,
    PARTS: tl.constexpr,
):  # fmt: skip
    """The top rows in equal parts, and then, level by level, their children."""
    replica = tl.program_id(0).to(tl.int64)
    part = tl.arange(0, PARTS)
    top = tl.load(levels + 4 * number - 2)
    end = tl.load(levels + 4 * number - 1)
    rows = tl.minimum(top + part * tl.cdiv(end - top, parts), end)
    for done in range(number):
        k = number - 1 - done
        if (done > 0) & PARENT_OF_A:
            rows = _children(parent_a + replica * stride_a, tl.load(levels + 4 * k + 2), tl.load(levels + 4 * k + 3), rows, ROWS)
        to = (replica * number + k) * (parts + 1) + part
        tl.store(starts_a + to, rows, mask=part <= parts)
        rows = _children(parent_b + replica * stride_b, tl.load(levels + 4 * k), tl.load(levels + 4 * k + 1), rows, ROWS)
        tl.store(starts_b + to, rows, mask=part <= parts)


def parts_of(tree: Tree) -> Parts | None:
    """See ``tree.in_parts``."""
    from .tree import Parts

    parent_b, levels = tree.parent_of_b, tree.levels
    if not levels:
        return None
    parent_a = parent_b if tree.parent_of_a is None else tree.parent_of_a
    lead, (top, end) = parent_b.shape[:-1], levels[-1].a
    replicas = lead[0] if lead else 1
    rows = tree.children_of_a.count + parent_b.shape[-1]
    parts = min(triton.cdiv(rows, _SMALLEST), max(triton.cdiv(_PROGRAMS, replicas), 1), end - top, _MOST)
    if parts < 2:
        return None
    starts = torch.empty(2, *lead, len(levels), parts + 1, dtype=torch.int32, device=parent_b.device)
    with on_device(parent_b):
        _parts_kernel[(replicas,)](
            _table(tuple(levels), parent_b.device), parent_a, parent_b, starts[0], starts[1], len(levels), parts,
            replica_stride(parent_a, 1), replica_stride(parent_b, 1), PARENT_OF_A=tree.parent_of_a is not None, ROWS=256,
            PARTS=triton.next_power_of_2(parts + 1), num_warps=16,
        )  # fmt: skip
    return Parts(*starts)


# ---- launches ---------------------------------------------------------------------------------------------------------------------


def can_fuse(x: Tensor) -> bool:
    """Whether the kernels take this tensor."""
    return runs(x) and takes_dtype(x) and x.shape[-1] <= _WIDEST


def _table(levels: tuple[Level, ...], device: torch.device) -> Tensor:
    """The bounds of all levels on the device: four numbers each. Kept, because a step that is captured must not copy from the host; for
    ever, if one is captured now, as it is going to read them."""
    table = _made_table(levels, device)
    if device.type == "cuda" and torch.cuda.is_current_stream_capturing():
        _CAPTURED[levels, device] = table
    return table


_CAPTURED: dict[tuple[tuple[Level, ...], torch.device], Tensor] = {}


@lru_cache(maxsize=256)
def _made_table(levels: tuple[Level, ...], device: torch.device) -> Tensor:
    numbers = torch.tensor(levels, dtype=torch.int32).reshape(-1)
    return numbers.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else numbers


class _Launch(NamedTuple):
    """Levels that one kernel computes, which kinds of them, and how."""

    begin: int
    count: int
    grid: tuple[int, int]
    options: dict[str, Any]


def _launches(tree: Tree, x: Tensor) -> Iterator[_Launch]:
    """What is run one after the other, bottom-up."""
    levels, replicas = tree.levels, x.shape[0] if x.dim() == 3 else 1
    sizes = [(b[1] - b[0], a[1] - a[0]) for b, a in levels]
    if tree.parts is not None:
        parts = tree.parts.a.shape[-1] - 1
        rows = 64 if x.shape[-1] > 64 else 16 if max(map(max, sizes)) <= 16 * parts else 32
        options = {"IN_PARTS": True, "DO_A": True, "DO_B": True, **_options(rows, x, reused=True)}
        yield _Launch(0, len(levels), (parts + len(levels), replicas), options)
        return
    k = 0
    while k < len(levels):
        narrow = k
        while narrow < len(levels) and max(sizes[narrow]) <= _NARROW:
            narrow += 1
        if narrow > k:
            options = {"IN_PARTS": False, "DO_A": True, "DO_B": True, **_options(_NARROW, x, reused=True)}
            yield _Launch(k, narrow - k, (1, replicas), options)
            k = narrow
            continue
        for rows, is_a in zip(sizes[k], (False, True), strict=True):
            tile = _LARGE if rows * replicas >= _MANY else _WIDE
            options = {"IN_PARTS": False, "DO_A": is_a, "DO_B": not is_a, **_options(tile, x, reused=False)}
            if rows:
                yield _Launch(k, 1, (triton.cdiv(rows, tile), replicas), options)
        k += 1


def _options(rows: int, x: Tensor, reused: bool) -> dict[str, Any]:
    """For tiles of so many rows; ``reused``: a program needs its weights more than once."""
    columns, products = power_of_two(x.shape[-1]), products_in()
    room = columns <= 64 or products["DOT"] == tl.bfloat16  # in shared memory, for four weights
    warps = 4 if rows * columns <= 2048 else 8
    return products | {"RELOAD": not (reused and room), "ROWS": rows, "COLUMNS": columns, "num_warps": warps, "num_stages": 1}


def _bounds_of(children: Rows | None, like: Rows) -> tuple[Tensor, Tensor]:
    return (like.begin, like.end) if children is None else (children.begin, children.end)


def _where(tree: Tree, table: Tensor) -> tuple[tuple[Tensor, Tensor, Tensor], tuple[int, int], int]:
    """Levels and starts of parts; their numbers; and the power of two that holds all levels, if there are parts."""
    number = len(tree.levels)
    starts = (table, table) if tree.parts is None else tree.parts
    return (table, *starts), (number, starts[0].shape[-1] - 1), 1 if tree.parts is None else triton.next_power_of_2(number)


def forward(tree: Tree, inside: bool, h_a: Tensor, x_b: Tensor, a: Maps, b: Maps, *out: Tensor) -> None:
    """Fills ``out``: total, hidden and what is told to the parent, each of both kinds."""
    h_a, x_b = dense_rows(h_a), dense_rows(x_b)
    maps = [t.contiguous() for t in (*a, *b)]
    where, numbers, wide = _where(tree, _table(tuple(tree.levels), h_a.device))
    of_a, of_b = _bounds_of(tree.children_of_a, tree.children_of_a), _bounds_of(tree.children_of_b, tree.children_of_a)
    with on_device(h_a):
        for launch in _launches(tree, h_a):
            _forward_kernel[launch.grid](
                *where, launch.begin, launch.count, *numbers, h_a, x_b, *of_a, *of_b, *maps, *out, h_a.shape[-2],
                tree.parent_of_b.shape[-1], h_a.shape[-1], replica_stride(h_a), replica_stride(x_b), replica_stride(of_a[0], 1),
                replica_stride(of_b[0], 1), INSIDE_B=inside, RUNS_OF_A=tree.children_of_b is not None, LEVELS=wide, **launch.options,
            )  # fmt: skip


def backward(
    tree: Tree,
    gradient: Tensor,
    rows: tuple[int, int],
    weights: Sequence[Tensor],
    hidden_a: Tensor,
    hidden_b: Tensor,
    y_a: Tensor,
    m_b: Tensor,
    *out: Tensor,
) -> None:
    """Fills ``out``: g, d and u of tree.py, each of both kinds.

    Args:
        gradient: that of ``rows``; weights: first and last of a, then of b.
    """
    gradient = dense_rows(gradient)
    weights = [t.contiguous() for t in weights]
    where, numbers, wide = _where(tree, _table(tuple(tree.levels), y_a.device))
    parent_b = tree.parent_of_b
    parent_a = parent_b if tree.parent_of_a is None else tree.parent_of_a
    with on_device(y_a):
        for launch in reversed(list(_launches(tree, y_a))):
            _backward_kernel[launch.grid](
                *where, launch.begin, launch.count, *numbers, gradient, *rows, parent_a, parent_b, *weights, hidden_a, hidden_b, y_a, m_b,
                *out, y_a.shape[-2], m_b.shape[-2], y_a.shape[-1], replica_stride(gradient), replica_stride(out[-1]),
                replica_stride(parent_a, 1), replica_stride(parent_b, 1),
                PARENT_OF_A=tree.parent_of_a is not None, LEVELS=wide, **launch.options,
            )  # fmt: skip
