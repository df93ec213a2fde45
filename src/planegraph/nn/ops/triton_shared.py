"""The sum of several tensors on CUDA in one kernel."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import triton
import triton.language as tl
from torch import Tensor

from .triton_tools import on_device, runs, takes_dtype

_MOST = 8
_BLOCK = 1024


@triton.jit
def _add_kernel(x0, x1, x2, x3, x4, x5, x6, x7, out, size, NUMBER: tl.constexpr, BLOCK: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = place < size
    total = tl.load(x0 + place, mask=inside).to(tl.float32) + tl.load(x1 + place, mask=inside)
    if NUMBER > 2:
        total += tl.load(x2 + place, mask=inside)
    if NUMBER > 3:
        total += tl.load(x3 + place, mask=inside)
    if NUMBER > 4:
        total += tl.load(x4 + place, mask=inside)
    if NUMBER > 5:
        total += tl.load(x5 + place, mask=inside)
    if NUMBER > 6:
        total += tl.load(x6 + place, mask=inside)
    if NUMBER > 7:
        total += tl.load(x7 + place, mask=inside)
    tl.store(out + place, total, mask=inside)


def can_fuse(xs: Sequence[Tensor]) -> bool:
    """Whether the kernel takes these: dense tensors of one shape, and no gradient of the sum is wanted."""
    first, plain = xs[0], not torch.is_grad_enabled()
    alike = all(takes_dtype(x) and x.shape == first.shape and x.is_contiguous() for x in xs)
    return plain and len(xs) >= 2 and alike and runs(first) and first.numel() > 0


def add(xs: Sequence[Tensor], dtype: torch.dtype) -> Tensor:
    """Their sum."""
    while len(xs) > _MOST:
        xs = [add(xs[:_MOST], torch.float32), *xs[_MOST:]]
    out = torch.empty_like(xs[0], dtype=dtype)
    with on_device(out):
        _add_kernel[(triton.cdiv(out.numel(), _BLOCK),)](
            *xs, *[xs[0]] * (_MOST - len(xs)), out, out.numel(), NUMBER=len(xs), BLOCK=_BLOCK
        )
    return out
