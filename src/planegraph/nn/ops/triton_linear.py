"""Gradients of weights on CUDA: a^T b over many rows, for several pairs of one shape in one launch.

A product of a few tiles over thousands of rows leaves a GPU idle; products of eight pairs for each of ten replicas do not. Where there
are fewer replicas, chunks of rows share a product, and are then added up: no atomics, so the same input always gives the same bits.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import torch
import triton
import triton.language as tl
from torch import Tensor

from .aside import now
from .triton_tools import on_device, power_of_two, products_in, relu, runs, takes_dtype

if TYPE_CHECKING:
    from .linear import Pair

_WIDEST = 128
_TOGETHER = 8  # pairs of a launch
_PROGRAMS = 396  # of a launch that is full: three for each multiprocessor of an H200
_MOST_CHUNKS = 16  # of the rows of a pair
_ROWS = 64
_BLOCK = 4096  # elements that one program adds up


@triton.jit
def _choose(k, x0, x1, x2, x3, x4, x5, x6, x7):
    """x_k."""
    x = x0
    if k == 1:
        x = x1
    if k == 2:
        x = x2
    if k == 3:
        x = x3
    if k == 4:
        x = x4
    if k == 5:
        x = x5
    if k == 6:
        x = x6
    if k == 7:
        x = x7
    return x


@triton.jit(do_not_specialize=[f"n{k}" for k in range(8)])  # not one kernel for every mixture of numbers of rows
def _products_kernel(
    a0, a1, a2, a3, a4, a5, a6, a7, b0, b1, b2, b3, b4, b5, b6, b7, s0, s1, s2, s3, s4, s5, s6, s7, n0, n1, n2, n3, n4, n5, n6, n7,
    out, sums, width, k, chunks, replicas, ACTIVATE: tl.constexpr, SUMS: tl.constexpr, DOT: tl.constexpr, PRECISION: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, INNER: tl.constexpr,
):  # fmt: skip
    """Of a pair, a replica and a chunk of rows: a^T b, and the sums of a."""
    pair = tl.program_id(2)
    replica = tl.program_id(1).to(tl.int64)
    column = tl.arange(0, COLUMNS)
    inner = tl.arange(0, INNER)
    known = column < width
    within = inner < k
    rows = _choose(pair, n0, n1, n2, n3, n4, n5, n6, n7)
    a = _choose(pair, a0, a1, a2, a3, a4, a5, a6, a7) + replica * rows * width
    b = _choose(pair, b0, b1, b2, b3, b4, b5, b6, b7) + replica * rows * k
    if ACTIVATE:
        own = _choose(pair, s0, s1, s2, s3, s4, s5, s6, s7) + replica * 5 * k + inner
        scale = tl.load(own + 2 * k, mask=within, other=0.0)[None, :]
        offset = tl.load(own + 3 * k, mask=within, other=0.0)[None, :]
    product = tl.zeros((COLUMNS, INNER), dtype=tl.float32)
    total = tl.zeros((COLUMNS,), dtype=tl.float32)
    chunk = tl.cdiv(tl.cdiv(rows, chunks), ROWS) * ROWS
    start = tl.program_id(0) * chunk
    stop = tl.minimum(start + chunk, rows)
    for begin in range(start, stop, ROWS):
        row = begin + tl.arange(0, ROWS)
        inside = (row < stop)[:, None]
        left = tl.load(a + row[:, None] * width + column[None, :], mask=inside & known[None, :], other=0.0)
        right = tl.load(b + row[:, None] * k + inner[None, :], mask=inside & within[None, :], other=0.0)
        if ACTIVATE:
            right = relu(right.to(tl.float32) * scale + offset)
        product = tl.dot(tl.trans(left.to(DOT)), right.to(DOT), product, input_precision=PRECISION)
        if SUMS:
            total += tl.sum(left.to(tl.float32), 0)
    number = (pair * replicas + replica) * chunks + tl.program_id(0)
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


def _add_up(x: Tensor, out: Tensor) -> None:
    """out = the sums over the chunks: (replicas, chunks, ...) -> (replicas, ...)."""
    replicas, chunks = x.shape[:2]
    size, wide = x[0, 0].numel(), triton.next_power_of_2(chunks)
    block = max(_BLOCK // wide, 32)
    with on_device(x):
        _add_up_kernel[triton.cdiv(size, block), replicas](x, out, chunks, size, CHUNKS=wide, BLOCK=block)


def can_fuse(x: Tensor, other: Tensor) -> bool:
    """Whether the kernels take these tensors."""
    return runs(x) and takes_dtype(x) and max(x.shape[-1], other.shape[-1]) <= _WIDEST and x.shape[-2] > 0


def can_multiply(pair: Pair) -> bool:
    """Whether :func:`products` takes this pair."""
    a, b = pair.a, pair.b
    return runs(a) and takes_dtype(a) and takes_dtype(b) and max(a.shape[-1], b.shape[-1]) <= _WIDEST and a.shape[-2] > 0


class _Launch:
    """Up to ``room`` pairs of one kind, and the memory for what they give."""

    def __init__(self, first: Pair, room: int) -> None:
        self.pairs: list[Pair] = []
        replicas, _, width = first.a.shape
        whole = {"dtype": torch.float32, "device": first.a.device}
        self.products = torch.empty(room, replicas, width, first.b.shape[-1], **whole)
        self.sums = torch.empty(room, replicas, width, **whole) if first.sums else None

    def add(self, pair: Pair) -> tuple[Tensor, Tensor | None]:
        """Where the results of this pair will be."""
        k = len(self.pairs)
        self.pairs.append(pair)
        return self.products[k], None if self.sums is None else self.sums[k]

    def __call__(self) -> None:
        number, (_, replicas, width, k) = len(self.pairs), self.products.shape
        # whatever the number of pairs: the same bits alone and in company
        chunks = max(min(_PROGRAMS // (_TOGETHER * replicas), _MOST_CHUNKS), 1)
        filled = [*self.pairs, *[self.pairs[0]] * (_TOGETHER - number)]
        activate = filled[0].statistics is not None
        out, sums = self.products, self.sums
        if chunks > 1:
            out = out.new_empty(number, replicas, chunks, width, k)
            sums = None if sums is None else sums.new_empty(number, replicas, chunks, width)
        with on_device(out):
            _products_kernel[chunks, replicas, number](
                *(p.a for p in filled), *(p.b for p in filled), *(p.statistics if activate else out for p in filled),
                *(p.a.shape[1] for p in filled), out, out if sums is None else sums, width, k, chunks, replicas, ACTIVATE=activate,
                SUMS=sums is not None, **products_in(), ROWS=_ROWS, COLUMNS=power_of_two(width), INNER=power_of_two(k), num_warps=8,
            )  # fmt: skip
        if chunks > 1:
            _add_up(out.flatten(0, 1), self.products[:number].flatten(0, 1))
            if sums is not None:
                _add_up(sums.flatten(0, 1), self.sums[:number].flatten(0, 1))


def _kind(pair: Pair) -> Hashable:
    """Pairs of one kind can be computed in one launch."""
    a, b = pair.a, pair.b
    return len(a), a.shape[-1], b.shape[-1], a.dtype, b.dtype, a.device, pair.sums, pair.statistics is None


def products(pairs: Sequence[Pair]) -> list[tuple[Tensor, Tensor | None]]:
    """Of each pair the product and the sums, or None. They are there when this ends, or when ``aside.gradients_aside`` does."""
    if pairs[0].a.dim() == 2:
        found = products([pair._replace(a=pair.a.unsqueeze(0), b=pair.b.unsqueeze(0)) for pair in pairs])
        return [(product.squeeze(0), None if total is None else total.squeeze(0)) for product, total in found]
    aside, found = now(), []
    waiting = {} if aside is None else aside.waiting
    pairs = [pair._replace(a=pair.a.contiguous(), b=pair.b.contiguous()) for pair in pairs]
    kinds = [_kind(pair) for pair in pairs]
    for k, (pair, kind) in enumerate(zip(pairs, kinds, strict=True)):
        if aside is not None:
            aside.wait_and_keep(*(t for t in pair if isinstance(t, Tensor)))
        if kind not in waiting:
            room = _TOGETHER if aside is not None else min(kinds[k:].count(kind), _TOGETHER)
            waiting[kind] = _Launch(pair, room)
        launch = waiting[kind]
        found.append(launch.add(pair))
        if len(launch.pairs) == _TOGETHER:
            del waiting[kind]
            launch() if aside is None else aside.launch(launch)
    if aside is None:
        for launch in waiting.values():
            launch()
    return found
