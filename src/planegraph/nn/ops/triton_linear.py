"""a^T b over many rows on CUDA, by chunks of rows that are then added up: no atomics, so the same input always gives the same bits."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import triton
import triton.language as tl
from torch import Tensor

from .triton_tools import on_device, power_of_two, products_in, runs

_WIDEST = 128
_PROGRAMS = 264  # about so many share the rows: two for each multiprocessor of an H200
_ROWS = 64
_BLOCK = 4096  # elements that one program adds up


@triton.jit
def _products_kernel(
    a, b, out, sums, rows, width, k, a_replica, a_row, b_replica, b_row, chunk, SUMS: tl.constexpr, DOT: tl.constexpr,
    PRECISION: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, INNER: tl.constexpr,
):  # fmt: skip
    """Of each chunk of rows: a^T b, and the sums of a."""
    replica = tl.program_id(1).to(tl.int64)
    column = tl.arange(0, COLUMNS)
    inner = tl.arange(0, INNER)
    known = column < width
    within = inner < k
    product = tl.zeros((COLUMNS, INNER), dtype=tl.float32)
    total = tl.zeros((COLUMNS,), dtype=tl.float32)
    start = tl.program_id(0) * chunk
    stop = tl.minimum(start + chunk, rows)
    for begin in range(start, stop, ROWS):
        row = begin + tl.arange(0, ROWS)
        inside = (row < stop)[:, None]
        left = tl.load(a + replica * a_replica + row[:, None] * a_row + column[None, :], mask=inside & known[None, :], other=0.0)
        right = tl.load(b + replica * b_replica + row[:, None] * b_row + inner[None, :], mask=inside & within[None, :], other=0.0)
        product = tl.dot(tl.trans(left.to(DOT)), right.to(DOT), product, input_precision=PRECISION)
        if SUMS:
            total += tl.sum(left, 0)
    number = replica * tl.num_programs(0) + tl.program_id(0)
    to = out + number * width * k + column[:, None] * k + inner[None, :]
    tl.store(to, product, mask=known[:, None] & within[None, :])
    if SUMS:
        tl.store(sums + number * width + column, total, mask=known)


@triton.jit
def _add_up_kernel(x, out, chunks, size, CHUNKS: tl.constexpr, BLOCK: tl.constexpr):
    """The sums over the chunks of each replica."""
    replica = tl.program_id(1).to(tl.int64)
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    chunk = tl.arange(0, CHUNKS)
    at = x + (replica * chunks + chunk)[:, None] * size + place[None, :]
    value = tl.load(at, mask=(chunk < chunks)[:, None] & (place < size)[None, :], other=0.0)
    tl.store(out + replica * size + place, tl.sum(value, 0), mask=place < size)


def add_up(x: Tensor) -> Tensor:
    """(replicas, chunks, ...) -> (replicas, ...)."""
    replicas, chunks = x.shape[:2]
    size, out = x[0, 0].numel(), x.new_empty(replicas, *x.shape[2:])
    wide = triton.next_power_of_2(chunks)
    block = max(_BLOCK // wide, 32)
    with on_device(x):
        _add_up_kernel[triton.cdiv(size, block), replicas](x, out, chunks, size, CHUNKS=wide, BLOCK=block)
    return out


def chunks_of(rows: int, replicas: int, tile: int, programs: int) -> tuple[int, int]:
    """Rows of a chunk, and how many chunks a replica has, if about so many programs are to share all rows."""
    chunk = triton.cdiv(max(triton.cdiv(rows * replicas, programs), tile), tile) * tile
    return chunk, max(triton.cdiv(rows, chunk), 1)


def can_fuse(x: Tensor, other: Tensor) -> bool:
    """Whether the kernels take these tensors."""
    return runs(x) and x.dtype == torch.float32 and max(x.shape[-1], other.shape[-1]) <= _WIDEST and x.shape[-2] > 0


def products(pairs: Sequence[tuple[Tensor, Tensor, bool]]) -> list[tuple[Tensor, Tensor | None]]:
    """See ``linear.products``; all of a have one width, and so have all of b."""
    if pairs[0][0].dim() == 2:
        found = products([(a.unsqueeze(0), b.unsqueeze(0), sums) for a, b, sums in pairs])
        return [(product.squeeze(0), None if total is None else total.squeeze(0)) for product, total in found]
    (replicas, _, width), k = pairs[0][0].shape, pairs[0][1].shape[-1]
    _, chunks = chunks_of(max(a.shape[1] for a, _, _ in pairs), replicas, _ROWS, _PROGRAMS)
    partial = pairs[0][0].new_empty(len(pairs), replicas, chunks, width, k)
    totals = partial.new_empty(len(pairs), replicas, chunks, width)
    for pair, to, total in zip(pairs, partial, totals, strict=True):
        _launch(*pair, to, total)
    found = add_up(partial.flatten(0, 1)).unflatten(0, (-1, replicas))
    if not any(sums for _, _, sums in pairs):
        return [(product, None) for product in found]
    of_rows = add_up(totals.flatten(0, 1)).unflatten(0, (-1, replicas))
    return [(product, total if sums else None) for (_, _, sums), product, total in zip(pairs, found, of_rows, strict=True)]


def _launch(a: Tensor, b: Tensor, sums: bool, partial: Tensor, total: Tensor) -> None:
    a, b = (t if t.stride(-1) == 1 else t.contiguous() for t in (a, b))
    (replicas, rows, width), k, chunks = a.shape, b.shape[-1], partial.shape[1]
    chunk = triton.cdiv(triton.cdiv(rows, chunks), _ROWS) * _ROWS
    with on_device(a):
        _products_kernel[chunks, replicas](
            a, b, partial, total, rows, width, k, a.stride(0), a.stride(1), b.stride(0), b.stride(1), chunk, SUMS=sums,
            **products_in(), ROWS=_ROWS, COLUMNS=power_of_two(width), INNER=power_of_two(k), num_warps=8,
        )  # fmt: skip
