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
_WIDE, _NARROW = 32, 64  # rows of a program: of one of many, and of one that is alone


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
    x, below, begin, end, w_into, w_last, into, last, bias, hidden, out, start, stop, replica, total, total_below, width,
    bounds_replica, HAS_BOUNDS: tl.constexpr, SQUASH: tl.constexpr, RELOAD: tl.constexpr, DOT: tl.constexpr,
    PRECISION: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Rows of one kind: ``hidden`` and ``out`` from ``x`` and the children in ``below``."""
    column = tl.arange(0, COLUMNS)
    known = column < width
    if RELOAD:
        w_into = _weight(into, replica, width, True, DOT, COLUMNS)
        w_last = _weight(last, replica, width, True, DOT, COLUMNS)
    x += replica * total * width
    hidden += replica * total * width
    out += replica * total * width
    row = start + tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = row < stop
    if HAS_BOUNDS:
        first = tl.load(begin + replica * bounds_replica + row, mask=inside, other=0)
        count = tl.load(end + replica * bounds_replica + row, mask=inside, other=0) - first
    else:
        first = row
        count = inside.to(tl.int32)
    sums = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for k in range(tl.max(count)):
        source = below + replica * total_below * width + (first + k)[:, None] * width + column[None, :]
        sums += tl.load(source, mask=(k < count)[:, None] & known[None, :], other=0.0)
    here = inside[:, None] & known[None, :]
    place = row[:, None] * width + column[None, :]
    inner = tl.dot(sums.to(DOT), w_into, input_precision=PRECISION) + tl.load(x + place, mask=here, other=0.0)
    inner = relu(inner)
    tl.store(hidden + place, inner, mask=here)
    y = tl.dot(inner.to(DOT), w_last, input_precision=PRECISION)
    y = relu(y + tl.load(bias + replica * width + column, mask=known, other=0.0)[None, :])
    if SQUASH:
        more = 1.0 + y  # rounded; its logarithm is made good for that, as a small y would be lost
        y = tl.where(more == 1.0, y, tl.log(more) * (y / (more - 1.0)))
    tl.store(out + place, y, mask=here)


@triton.jit
def _down(
    own, parent, d_above, w_into, w_last, into, last, y, hidden, up, g, d, start, stop, replica, total, total_above, width,
    parent_replica, HAS_OWN: tl.constexpr, HAS_PARENT: tl.constexpr, SQUASH: tl.constexpr, RELOAD: tl.constexpr,
    DOT: tl.constexpr, PRECISION: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Rows of one kind: the gradients ``up``, ``g`` and ``d`` from those of the parents, ``d_above``, and from outside, ``own``."""
    column = tl.arange(0, COLUMNS)
    known = column < width
    if RELOAD:
        w_into = _weight(into, replica, width, False, DOT, COLUMNS)
        w_last = _weight(last, replica, width, False, DOT, COLUMNS)
    y += replica * total * width
    hidden += replica * total * width
    up += replica * total * width
    g += replica * total * width
    d += replica * total * width
    if HAS_OWN:
        own += replica * total * width
    row = start + tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = row < stop
    if HAS_PARENT:
        above = tl.load(parent + replica * parent_replica + row, mask=inside, other=-1)
    else:
        above = tl.where(inside, row, -1)
    above = tl.where(above < total_above, above, -1)
    source = d_above + replica * total_above * width + above[:, None] * width + column[None, :]
    arrived = tl.load(source, mask=(above >= 0)[:, None] & known[None, :], other=0.0)
    here = inside[:, None] & known[None, :]
    place = row[:, None] * width + column[None, :]
    tl.store(up + place, arrived, mask=here)
    value = tl.load(y + place, mask=here, other=0.0)
    positive = tl.load(hidden + place, mask=here, other=0.0) > 0
    gradient = tl.dot(arrived.to(DOT), w_into, input_precision=PRECISION)
    if HAS_OWN:
        gradient += tl.load(own + place, mask=here, other=0.0)
    if SQUASH:
        gradient = gradient * tl.exp(-value)
    gradient = tl.where(value > 0, gradient, 0.0)
    tl.store(g + place, gradient, mask=here)
    before = tl.dot(gradient.to(DOT), w_last, input_precision=PRECISION)
    tl.store(d + place, tl.where(positive, before, 0.0), mask=here)


@triton.jit
def _forward_kernel(
    levels, first, count, x_a, x_b, begin_a, end_a, begin_b, end_b, into_a, last_a, bias_a, into_b, last_b, bias_b, hidden_a,
    hidden_b, y_a, m_b, rows_a, rows_b, width, bounds_a, bounds_b, RUNS_OF_A: tl.constexpr, DO_A: tl.constexpr,
    DO_B: tl.constexpr, RELOAD: tl.constexpr, DOT: tl.constexpr, PRECISION: tl.constexpr, ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):  # fmt: skip
    """Some levels, bottom-up. Weights are loaded once, unless there is no room for all of them (RELOAD)."""
    replica = tl.program_id(1).to(tl.int64)
    if DO_A and not RELOAD:
        w_into_a = _weight(into_a, replica, width, True, DOT, COLUMNS)
        w_last_a = _weight(last_a, replica, width, True, DOT, COLUMNS)
    else:
        w_into_a = 0.0
        w_last_a = 0.0
    if DO_B and not RELOAD:
        w_into_b = _weight(into_b, replica, width, True, DOT, COLUMNS)
        w_last_b = _weight(last_b, replica, width, True, DOT, COLUMNS)
    else:
        w_into_b = 0.0
        w_last_b = 0.0
    for k in range(first, first + count):
        if DO_B:
            _up(x_b, y_a, begin_b, end_b, w_into_b, w_last_b, into_b, last_b, bias_b, hidden_b, m_b, tl.load(levels + 4 * k),
                tl.load(levels + 4 * k + 1), replica, rows_b, rows_a, width, bounds_b, RUNS_OF_A, True, RELOAD, DOT, PRECISION,
                ROWS, COLUMNS)  # fmt: skip
            tl.debug_barrier()  # what was written is read next, by other threads
        if DO_A:
            _up(x_a, m_b, begin_a, end_a, w_into_a, w_last_a, into_a, last_a, bias_a, hidden_a, y_a, tl.load(levels + 4 * k + 2),
                tl.load(levels + 4 * k + 3), replica, rows_a, rows_b, width, bounds_a, True, False, RELOAD, DOT, PRECISION, ROWS,
                COLUMNS)  # fmt: skip
            tl.debug_barrier()


@triton.jit
def _backward_kernel(
    levels, first, count, gradient, parent_a, parent_b, into_a, last_a, into_b, last_b, hidden_a, hidden_b, y_a, m_b, g_a, g_b,
    d_a, d_b, up_a, up_b, rows_a, rows_b, width, stride_a, stride_b, PARENT_OF_A: tl.constexpr, DO_A: tl.constexpr,
    DO_B: tl.constexpr, RELOAD: tl.constexpr, DOT: tl.constexpr, PRECISION: tl.constexpr, ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):  # fmt: skip
    """The gradients of some levels, top-down. A row's gradient comes through the first map of its parent's kind."""
    replica = tl.program_id(1).to(tl.int64)
    if DO_A and not RELOAD:
        w_into_b = _weight(into_b, replica, width, False, DOT, COLUMNS)
        w_last_a = _weight(last_a, replica, width, False, DOT, COLUMNS)
    else:
        w_into_b = 0.0
        w_last_a = 0.0
    if DO_B and not RELOAD:
        w_into_a = _weight(into_a, replica, width, False, DOT, COLUMNS)
        w_last_b = _weight(last_b, replica, width, False, DOT, COLUMNS)
    else:
        w_into_a = 0.0
        w_last_b = 0.0
    for done in range(count):
        k = first + count - 1 - done
        if DO_A:
            _down(gradient, parent_a, d_b, w_into_b, w_last_a, into_b, last_a, y_a, hidden_a, up_a, g_a, d_a,
                  tl.load(levels + 4 * k + 2), tl.load(levels + 4 * k + 3), replica, rows_a, rows_b, width, stride_a, True,
                  PARENT_OF_A, False, RELOAD, DOT, PRECISION, ROWS, COLUMNS)  # fmt: skip
            tl.debug_barrier()
        if DO_B:
            _down(gradient, parent_b, d_a, w_into_a, w_last_b, into_a, last_b, m_b, hidden_b, up_b, g_b, d_b, tl.load(levels + 4 * k),
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
    tile = _NARROW if rows == _NARROW else _WIDE
    products = products_in()
    room = columns <= 64 or products["DOT"] == tl.bfloat16  # in shared memory, for four weights
    tiles = {"ROWS": tile, "COLUMNS": columns, "num_warps": 4 if tile * columns <= 2048 else 8, "num_stages": 1}
    return products | tiles | {"RELOAD": not room}


def _grid(rows: int, x: Tensor) -> tuple[int, int]:
    return (1 if rows == _NARROW else triton.cdiv(rows, _WIDE)), (x.shape[0] if x.dim() == 3 else 1)


def _bounds(children: Rows | None, like: Rows) -> tuple[Tensor, Tensor]:
    return (like.begin, like.end) if children is None else (children.begin, children.end)


def forward(
    tree: Tree, x_a: Tensor, x_b: Tensor, a: Maps, b: Maps, hidden_a: Tensor, hidden_b: Tensor, y_a: Tensor, m_b: Tensor
) -> None:
    """Fills the last four."""
    x_a, x_b = x_a.contiguous(), x_b.contiguous()
    maps = [t.contiguous() for t in (*a, *b)]
    table, runs = _table(tuple(tree.levels), x_a.device), tree.children_of_b is not None
    of_a, of_b = _bounds(tree.children_of_a, tree.children_of_a), _bounds(tree.children_of_b, tree.children_of_a)
    with on_device(x_a):
        for first, count, rows, do_a, do_b in _launches(tree.levels):
            _forward_kernel[_grid(rows, x_a)](
                table, first, count, x_a, x_b, *of_a, *of_b, *maps, hidden_a, hidden_b, y_a, m_b, x_a.shape[-2], x_b.shape[-2],
                x_a.shape[-1], replica_stride(of_a[0], 1), replica_stride(of_b[0], 1), RUNS_OF_A=runs, DO_A=do_a, DO_B=do_b,
                **_options(rows, x_a),
            )  # fmt: skip


def backward(
    tree: Tree, gradient: Tensor, a: Maps, b: Maps, hidden_a: Tensor, hidden_b: Tensor, y_a: Tensor, m_b: Tensor, *out: Tensor
) -> None:
    """Fills ``out``: g, d and up of tree.py, each of both kinds."""
    into_a, last_a, _, into_b, last_b, _ = (t.contiguous() for t in (*a, *b))
    table, parent_b = _table(tuple(tree.levels), y_a.device), tree.parent_of_b
    parent_a = parent_b if tree.parent_of_a is None else tree.parent_of_a
    with on_device(y_a):
        for first, count, rows, do_a, do_b in reversed(list(_launches(tree.levels))):
            _backward_kernel[_grid(rows, y_a)](
                table, first, count, gradient, parent_a, parent_b, into_a, last_a, into_b, last_b, hidden_a, hidden_b, y_a, m_b,
                *out, y_a.shape[-2], m_b.shape[-2], y_a.shape[-1], replica_stride(parent_a, 1), replica_stride(parent_b, 1),
                PARENT_OF_A=tree.parent_of_a is not None, DO_A=do_a, DO_B=do_b, **_options(rows, y_a),
            )  # fmt: skip
