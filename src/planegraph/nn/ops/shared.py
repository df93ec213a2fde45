"""One tensor for several readers, whose gradients are then added up in one pass.

PyTorch adds gradients up two at a time, and each time reads both and writes their sum: 21 passes over memory for eight readers, where nine
do.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

try:
    from . import triton_shared
except ImportError:  # no Triton: torch operations do
    triton_shared = None


def shared(x: Tensor, readers: int, dtype: torch.dtype | None = None) -> tuple[Tensor, ...]:
    """x for each of its readers; for all but the first in ``dtype``, if that is given."""
    return _Shared.apply(x, readers, x.dtype if dtype is None else dtype)


class _Shared(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, readers: int, dtype: torch.dtype) -> tuple[Tensor, ...]:
        ctx.set_materialize_grads(False)
        ctx.dtype, other = x.dtype, x.to(dtype)
        return x.view_as(x), *(other.view_as(other) for _ in range(readers - 1))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, None, None]:
        there = [g for g in gradients if g is not None]
        if not there:
            return None, None, None
        if triton_shared is not None and triton_shared.can_fuse(there):
            return triton_shared.add(there, ctx.dtype), None, None
        return sum((g.to(ctx.dtype) for g in there[1:]), start=there[0].to(ctx.dtype)), None, None
