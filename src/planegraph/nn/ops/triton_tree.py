"""The recursion over trees on CUDA: a slice of rows is one kernel, and so are all narrow slices that follow one another.

A captured step is bound by the number of its kernels, and trees have many small levels. One program computes some rows of one replica from
the rows of its children: gather, product, ReLU, product, ReLU. Where a slice is so narrow that one program holds it, that program goes on
with the next slice. Sums are in the order of the entries and without atomics, so the same input always gives the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from .triton_tools import on_device, products_in, relu, replica_stride, runs

if TYPE_CHECKING:
    from .incidence import Rows
    from .tree import Level, Maps, Tree

_WIDEST = 128
_NARROW, _WIDE, _LARGE = 64, 32, 64  # rows of a program: of one that is alone, of one of many, of one of very many
_MANY = 264 * _LARGE  # rows of all replicas from which on programs are large: each loads both weights


@triton.jit
def _weight(w, replica, width, TRANSPOSED: tl.constexpr, DOT: tl.constexpr, COLUMNS: tl.constexpr):
    """The weight of a replica, or its transpose."""
    column = tl.arange(0, COLUMNS)
    known = column < width
    if TRANSPOSED:
        at = column[None, :] * width + column[:, None]
    else:
        at = column[:, None] * width + column[None, :]
    return tl.load(w + replica * width * width + at, mask=known[:, None] & known[None, :], other=0.0).to(DOT)


@triton.jit
def _up(
    x, below, begin, end, w_first, w_last, first, first_bias, last, last_bias, total, hidden, out, start, stop, replica, rows,
    rows_below, width, bounds_replica, INSIDE: tl.constexpr, HAS_BOUNDS: tl.constexpr, SQUASH: tl.constexpr, RELOAD: tl.constexpr,
    DOT: tl.constexpr, PRECISION: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Rows of one kind: ``total``, ``hidden`` and ``out`` from ``x``, which is h (INSIDE) or p, and the children in ``below``."""
    column = tl.arange(0, COLUMNS)
    known = column < width
    x += replica * rows * width
    total += replica * rows * width
    hidden += replica * rows * width
    out += replica * rows * width
    row = start + tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = row < stop
    if HAS_BOUNDS:
        child = tl.load(begin + replica * bounds_replica + row, mask=inside, other=0)
        count = tl.load(end + replica * bounds_replica + row, mask=inside, other=0) - child
    else:
        child = row
        count = inside.to(tl.int32)
    here = inside[:, None] & known[None, :]
    place = row[:, None] * width + column[None, :]
    own = tl.load(x + place, mask=here, other=0.0)
    sums = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for k in range(tl.max(count)):
        source = below + replica * rows_below * width + (child + k)[:, None] * width + column[None, :]
        sums += tl.load(source, mask=(k < count)[:, None] & known[None, :], other=0.0)
    if INSIDE:
        sums += own
    tl.store(total + place, sums, mask=here)
    if RELOAD:
        w_first = _weight(first, replica, width, True, DOT, COLUMNS)
    inner = tl.dot(sums.to(DOT), w_first, input_precision=PRECISION)
    inner += tl.load(first_bias + replica * width + column, mask=known, other=0.0)[None, :]
    if not INSIDE:
        inner += own
    inner = relu(inner)
    tl.store(hidden + place, inner, mask=here)
    if RELOAD:
        w_last = _weight(last, replica, width, True, DOT, COLUMNS)
    y = tl.dot(inner.to(DOT), w_last, input_precision=PRECISION)
    y = relu(y + tl.load(last_bias + replica * width + column, mask=known, other=0.0)[None, :])
    if SQUASH:
        more = 1.0 + y  # rounded; its logarithm is made good for that, as a small y would be lost
        y = tl.where(more == 1.0, y, tl.log(more) * (y / (more - 1.0)))
    tl.store(out + place, y, mask=here)


@triton.jit
def _down(
    own, parent, above, w_first, w_last, first, last, y, hidden, g, d, u, start, stop, replica, rows, rows_above, width,
    parent_replica, HAS_OWN: tl.constexpr, HAS_PARENT: tl.constexpr, SQUASH: tl.constexpr, RELOAD: tl.constexpr,
    DOT: tl.constexpr, PRECISION: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Rows of one kind: the gradients ``g``, ``d`` and ``u`` from those of the parents, ``above``, and from outside, ``own``."""
    column = tl.arange(0, COLUMNS)
    known = column < width
    y += replica * rows * width
    hidden += replica * rows * width
    g += replica * rows * width
    d += replica * rows * width
    u += replica * rows * width
    row = start + tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = row < stop
    if HAS_PARENT:
        source = tl.load(parent + replica * parent_replica + row, mask=inside, other=-1)
    else:
        source = tl.where(inside, row, -1)
    got = (source >= 0) & (source < rows_above)
    here = inside[:, None] & known[None, :]
    place = row[:, None] * width + column[None, :]
    gradient = above + replica * rows_above * width + source[:, None] * width + column[None, :]
    gradient = tl.load(gradient, mask=got[:, None] & known[None, :], other=0.0)
    value = tl.load(y + place, mask=here, other=0.0)
    positive = tl.load(hidden + place, mask=here, other=0.0) > 0
    if HAS_OWN:
        gradient += tl.load(own + replica * rows * width + place, mask=here, other=0.0)
    if SQUASH:
        gradient = gradient * tl.exp(-value)
    gradient = tl.where(value > 0, gradient, 0.0)
    tl.store(g + place, gradient, mask=here)
    if RELOAD:
        w_last = _weight(last, replica, width, False, DOT, COLUMNS)
    before = tl.where(positive, tl.dot(gradient.to(DOT), w_last, input_precision=PRECISION), 0.0)
    tl.store(d + place, before, mask=here)
    if RELOAD:
        w_first = _weight(first, replica, width, False, DOT, COLUMNS)
    tl.store(u + place, tl.dot(before.to(DOT), w_first, input_precision=PRECISION), mask=here)


@triton.jit
def _weights(first, last, replica, width, WANTED: tl.constexpr, TRANSPOSED: tl.constexpr, DOT: tl.constexpr, COLUMNS: tl.constexpr):
    """Both weights of a kind, if they are wanted."""
    if WANTED:
        w_first = _weight(first, replica, width, TRANSPOSED, DOT, COLUMNS)
        w_last = _weight(last, replica, width, TRANSPOSED, DOT, COLUMNS)
    else:
        w_first = 0.0
        w_last = 0.0
    return w_first, w_last


@triton.jit
def _forward_kernel(
    levels, begin, count, h_a, x_b, begin_a, end_a, begin_b, end_b, first_a, first_bias_a, last_a, last_bias_a, first_b,
    first_bias_b, last_b, last_bias_b, total_a, total_b, hidden_a, hidden_b, y_a, m_b, rows_a, rows_b, width, bounds_a, bounds_b,
    INSIDE_B: tl.constexpr, RUNS_OF_A: tl.constexpr, DO_A: tl.constexpr, DO_B: tl.constexpr, RELOAD: tl.constexpr,
    DOT: tl.constexpr, PRECISION: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Some levels, bottom-up. Weights are loaded once, or each time they are used (RELOAD), where that is once, or memory is short."""
    replica = tl.program_id(1).to(tl.int64)
    w_first_a, w_last_a = _weights(first_a, last_a, replica, width, DO_A and not RELOAD, True, DOT, COLUMNS)
    w_first_b, w_last_b = _weights(first_b, last_b, replica, width, DO_B and not RELOAD, True, DOT, COLUMNS)
    for k in range(begin, begin + count):
        if DO_B:
            _up(x_b, y_a, begin_b, end_b, w_first_b, w_last_b, first_b, first_bias_b, last_b, last_bias_b, total_b, hidden_b, m_b,
                tl.load(levels + 4 * k), tl.load(levels + 4 * k + 1), replica, rows_b, rows_a, width, bounds_b, INSIDE_B, RUNS_OF_A,
                True, RELOAD, DOT, PRECISION, ROWS, COLUMNS)  # fmt: skip
            tl.debug_barrier()  # what was written is read next, by other threads
        if DO_A:
            _up(h_a, m_b, begin_a, end_a, w_first_a, w_last_a, first_a, first_bias_a, last_a, last_bias_a, total_a, hidden_a, y_a,
                tl.load(levels + 4 * k + 2), tl.load(levels + 4 * k + 3), replica, rows_a, rows_b, width, bounds_a, True, True,
                False, RELOAD, DOT, PRECISION, ROWS, COLUMNS)  # fmt: skip
            tl.debug_barrier()


@triton.jit
def _backward_kernel(
    levels, begin, count, gradient, parent_a, parent_b, first_a, last_a, first_b, last_b, hidden_a, hidden_b, y_a, m_b, g_a, g_b,
    d_a, d_b, u_a, u_b, rows_a, rows_b, width, stride_a, stride_b, PARENT_OF_A: tl.constexpr, DO_A: tl.constexpr,
    DO_B: tl.constexpr, RELOAD: tl.constexpr, DOT: tl.constexpr, PRECISION: tl.constexpr, ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):  # fmt: skip
    """The gradients of some levels, top-down."""
    replica = tl.program_id(1).to(tl.int64)
    w_first_a, w_last_a = _weights(first_a, last_a, replica, width, DO_A and not RELOAD, False, DOT, COLUMNS)
    w_first_b, w_last_b = _weights(first_b, last_b, replica, width, DO_B and not RELOAD, False, DOT, COLUMNS)
    for done in range(count):
        k = begin + count - 1 - done
        if DO_A:
            _down(gradient, parent_a, u_b, w_first_a, w_last_a, first_a, last_a, y_a, hidden_a, g_a, d_a, u_a,
                  tl.load(levels + 4 * k + 2), tl.load(levels + 4 * k + 3), replica, rows_a, rows_b, width, stride_a, True,
                  PARENT_OF_A, False, RELOAD, DOT, PRECISION, ROWS, COLUMNS)  # fmt: skip
            tl.debug_barrier()
        if DO_B:
            _down(gradient, parent_b, u_a, w_first_b, w_last_b, first_b, last_b, m_b, hidden_b, g_b, d_b, u_b, tl.load(levels + 4 * k),
                  tl.load(levels + 4 * k + 1), replica, rows_b, rows_a, width, stride_b, False, True, True, RELOAD, DOT, PRECISION,
                  ROWS, COLUMNS)  # fmt: skip
            tl.debug_barrier()


def can_fuse(x: Tensor) -> bool:
    """Whether the kernels take this tensor."""
    return runs(x) and x.dtype == torch.float32 and x.shape[-1] <= _WIDEST


@lru_cache(maxsize=256)
def _table(levels: tuple[Level, ...], device: torch.device) -> Tensor:
    """The bounds of all levels on the device: four numbers each. Kept, because a step that is captured must not copy from the host."""
    numbers = torch.tensor(levels, dtype=torch.int32).reshape(-1)
    return numbers.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else numbers


def _launches(levels: Sequence[Level]) -> Iterator[tuple[int, int, int, bool, bool]]:
    """What is run one after the other, bottom-up: first level, number of levels, rows, and which kinds."""
    k = 0
    while k < len(levels):
        narrow = k
        while narrow < len(levels) and max(stop - start for start, stop in levels[narrow]) <= _NARROW:
            narrow += 1
        if narrow > k:
            yield k, narrow - k, _NARROW, True, True
            k = narrow
            continue
        for rows, kind in zip((stop - start for start, stop in levels[k]), "ba", strict=True):
            if rows:
                yield k, 1, rows, kind == "a", kind == "b"
        k += 1


def _options(rows: int, x: Tensor) -> dict[str, Any]:
    columns = max(triton.next_power_of_2(x.shape[-1]), 16)
    tile = _tile(rows, x)
    products = products_in()
    room = columns <= 64 or products["DOT"] == tl.bfloat16  # in shared memory, for four weights
    tiles = {"ROWS": tile, "COLUMNS": columns, "num_warps": 4 if tile * columns <= 2048 else 8, "num_stages": 1}
    return products | tiles | {"RELOAD": rows != _NARROW or not room}


def _grid(rows: int, x: Tensor) -> tuple[int, int]:
    return triton.cdiv(rows, _tile(rows, x)), _replicas(x)


def _tile(rows: int, x: Tensor) -> int:
    """Rows of a program, for a slice of so many."""
    if rows == _NARROW:
        return _NARROW
    return _LARGE if rows * _replicas(x) >= _MANY else _WIDE


def _replicas(x: Tensor) -> int:
    return x.shape[0] if x.dim() == 3 else 1


def _bounds(children: Rows | None, like: Rows) -> tuple[Tensor, Tensor]:
    return (like.begin, like.end) if children is None else (children.begin, children.end)


def forward(tree: Tree, inside: bool, h_a: Tensor, x_b: Tensor, a: Maps, b: Maps, *out: Tensor) -> None:
    """Fills ``out``: total, hidden and what is told to the parent, each of both kinds."""
    h_a, x_b = h_a.contiguous(), x_b.contiguous()
    maps = [t.contiguous() for t in (*a, *b)]
    table, runs = _table(tuple(tree.levels), h_a.device), tree.children_of_b is not None
    of_a, of_b = _bounds(tree.children_of_a, tree.children_of_a), _bounds(tree.children_of_b, tree.children_of_a)
    with on_device(h_a):
        for begin, count, rows, do_a, do_b in _launches(tree.levels):
            _forward_kernel[_grid(rows, h_a)](
                table, begin, count, h_a, x_b, *of_a, *of_b, *maps, *out, h_a.shape[-2], x_b.shape[-2], h_a.shape[-1],
                replica_stride(of_a[0], 1), replica_stride(of_b[0], 1), INSIDE_B=inside, RUNS_OF_A=runs, DO_A=do_a, DO_B=do_b,
                **_options(rows, h_a),
            )  # fmt: skip


def backward(
    tree: Tree,
    gradient: Tensor,
    weights: Sequence[Tensor],
    hidden_a: Tensor,
    hidden_b: Tensor,
    y_a: Tensor,
    m_b: Tensor,
    *out: Tensor,
) -> None:
    """Fills ``out``: g, d and u of tree.py, each of both kinds. Weights: first and last of a, then of b."""
    weights = [t.contiguous() for t in weights]
    table, parent_b = _table(tuple(tree.levels), y_a.device), tree.parent_of_b
    parent_a = parent_b if tree.parent_of_a is None else tree.parent_of_a
    with on_device(y_a):
        for begin, count, rows, do_a, do_b in reversed(list(_launches(tree.levels))):
            _backward_kernel[_grid(rows, y_a)](
                table, begin, count, gradient, parent_a, parent_b, *weights, hidden_a, hidden_b, y_a, m_b, *out, y_a.shape[-2],
                m_b.shape[-2], y_a.shape[-1], replica_stride(parent_a, 1), replica_stride(parent_b, 1),
                PARENT_OF_A=tree.parent_of_a is not None, DO_A=do_a, DO_B=do_b, **_options(rows, y_a),
            )  # fmt: skip
