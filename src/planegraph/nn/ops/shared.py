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


def shared(x: Tensor, readers: int) -> tuple[Tensor, ...]:
    """x for each of its readers."""
    return _Shared.apply(x, readers)


class _Shared(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, readers: int) -> tuple[Tensor, ...]:
        ctx.set_materialize_grads(False)
        return tuple(x.view_as(x) for _ in range(readers))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, None]:
        there = [g for g in gradients if g is not None]
        if len(there) < 2:
            return (there[0] if there else None), None
        if triton_shared is not None and triton_shared.can_fuse(there):
            return triton_shared.add(there), None
        return sum(there[1:], start=there[0]), None
