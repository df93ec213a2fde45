"""Dropout on CUDA: one kernel that draws the key of a call, and one that drops; the same hash, and so the same values, as dropout.py."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from .triton_tools import on_device, replica_stride, runs, takes_dtype

_BLOCK = 1024


@triton.jit
def _mix(word):
    """As ``dropout.mix``."""
    word = word & 0xFFFFFFFF
    word = ((word ^ (word >> 16)) * 0x85EBCA6B) & 0xFFFFFFFF
    word = ((word ^ (word >> 13)) * 0xC2B2AE35) & 0xFFFFFFFF
    return word ^ (word >> 16)


@triton.jit
def _key_kernel(seed, count, key, number, share, STEP: tl.constexpr, BLOCK: tl.constexpr):
    replica = tl.arange(0, BLOCK)
    inside = replica < number
    calls = tl.load(count + replica, mask=inside, other=0) + 1
    tl.store(count + replica, calls, mask=inside)
    tl.store(key + replica, _mix(tl.load(seed + replica, mask=inside, other=0) + calls * STEP + share), mask=inside)


@triton.jit
def _drop_kernel(x, key, out, size, key_replica, threshold, factor, BLOCK: tl.constexpr):
    replica = tl.program_id(1).to(tl.int64)
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = place < size
    word = _mix(tl.load(key + replica * key_replica) + place.to(tl.int64) * 0x9E3779B1)
    value = tl.load(x + replica * size + place, mask=inside, other=0.0) * tl.where(word >= threshold, factor, 0.0)
    tl.store(out + replica * size + place, value, mask=inside)


def can_drop(x: Tensor) -> bool:
    """Whether the kernel takes this tensor; not of float64, as it would get the factor in float32."""
    return runs(x) and takes_dtype(x)


def next_key(seed: Tensor, count: Tensor, step: int, share: int) -> Tensor:
    """Counts a call, and gives its key."""
    key = torch.empty_like(seed)
    with on_device(seed):
        _key_kernel[(1,)](seed, count, key, seed.numel(), share, STEP=step, BLOCK=triton.next_power_of_2(max(seed.numel(), 1)))
    return key


def dropped(x: Tensor, key: Tensor, threshold: int, factor: float) -> Tensor:
    """Each value of x (..., rows, width) times 0 or ``factor``."""
    return _Dropped.apply(x, key, threshold, factor)


class _Dropped(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, key: Tensor, threshold: int, factor: float) -> Tensor:
        ctx.save_for_backward(key)
        ctx.numbers = (threshold, factor)
        return _drop(x.contiguous(), key, threshold, factor)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        return _Dropped.apply(gradient, *ctx.saved_tensors, *ctx.numbers), None, None, None


def _drop(x: Tensor, key: Tensor, threshold: int, factor: float) -> Tensor:
    out, size = torch.empty_like(x), x.shape[-2] * x.shape[-1]
    if x.numel():
        with on_device(x):
            grid = (triton.cdiv(size, _BLOCK), x.numel() // size)
            _drop_kernel[grid](x, key, out, size, replica_stride(key, 0), threshold, factor, BLOCK=_BLOCK)
    return out
