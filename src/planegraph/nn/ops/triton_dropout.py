"""The factors of dropout on CUDA in one kernel: the same hash, and so the same values, as dropout.py."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from .triton_tools import on_device, runs

__all__ = ["factors", "runs"]

_BLOCK = 1024


@triton.jit
def _factors_kernel(key, out, size, threshold, factor, BLOCK: tl.constexpr):
    replica = tl.program_id(1).to(tl.int64)
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    word = tl.load(key + replica) + place.to(tl.int64) * 0x9E3779B1
    word = word & 0xFFFFFFFF
    word = ((word ^ (word >> 16)) * 0x85EBCA6B) & 0xFFFFFFFF
    word = ((word ^ (word >> 13)) * 0xC2B2AE35) & 0xFFFFFFFF
    word = word ^ (word >> 16)
    value = tl.where(word >= threshold, factor, 0.0)
    tl.store(out + replica * size + place, value.to(out.dtype.element_ty), mask=place < size)


def factors(x: Tensor, key: Tensor, threshold: int, factor: float) -> Tensor:
    """For each value of x (..., rows, width): 0 or ``factor``."""
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    size = x.shape[-2] * x.shape[-1]
    if size:
        with on_device(x):
            _factors_kernel[(triton.cdiv(size, _BLOCK), max(key.numel(), 1))](key, out, size, threshold, factor, BLOCK=_BLOCK)
    return out
