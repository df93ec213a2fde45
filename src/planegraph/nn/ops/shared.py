"""One tensor for several readers, whose gradients are then added up in one pass.

PyTorch adds gradients up two at a time, and each time reads both and writes their sum: eight readers cost 21 passes over memory; one sum of
all takes nine.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

try:
    from . import triton_shared
except ImportError:  # no Triton: torch operations do
    triton_shared = None


def shared(x: Tensor, *dtypes: torch.dtype) -> tuple[Tensor, ...]:
    """x for each of its readers, in the dtype that each reads."""
    return _Shared.apply(x, dtypes)


class _Shared(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, dtypes: tuple[torch.dtype, ...]) -> tuple[Tensor, ...]:
        ctx.set_materialize_grads(False)
        ctx.dtype, copies = x.dtype, {dtype: x.to(dtype) for dtype in set(dtypes)}
        return tuple(copies[dtype].view_as(x) for dtype in dtypes)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, None]:
        there = [g for g in gradients if g is not None]
        if not there:
            return None, None
        if triton_shared is not None and triton_shared.can_fuse(there):
            return triton_shared.add(there, ctx.dtype), None
        return sum((g.to(ctx.dtype) for g in there[1:]), start=there[0].to(ctx.dtype)), None
