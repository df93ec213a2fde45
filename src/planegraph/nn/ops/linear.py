"""x W^T + b, for each replica by its own weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from .aside import Pair

try:
    from . import triton_linear
except ImportError:  # no Triton: torch operations do
    triton_linear = None


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x W^T + b, for each replica if the weight has a leading dimension."""
    if triton_linear is not None and triton_linear.can_fuse(x, weight.mT):
        return _Affine.apply(x, weight, bias)
    return _linear(x, weight, bias)


def _linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    if bias is not None:
        bias = bias.to(x.dtype)
    if weight.dim() == 2:
        return F.linear(x, weight, bias)
    return torch.bmm(x, weight.mT) if bias is None else torch.baddbmm(bias.unsqueeze(-2), x, weight.mT)


class _Affine(torch.autograd.Function):
    """The same with a faster gradient of the weight, and for rows that are kept in fewer bits than the weight."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        weight = weight.to(x.dtype)
        ctx.save_for_backward(x, weight)
        return _linear(x, weight, bias)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        of_x = gradient @ weight if ctx.needs_input_grad[0] else None
        return of_x, *products([Pair(gradient, x, ctx.needs_input_grad[2])])[0]


def products(pairs: Sequence[Pair]) -> list[tuple[Tensor, Tensor | None]]:
    """Of each pair the product and, if they are wanted, the sums; within ``aside.gradients_aside`` they may come later."""
    if triton_linear is not None and all(map(triton_linear.can_multiply, pairs)):
        return triton_linear.products(pairs)
    return [(pair.a.mT @ pair.b, pair.a.sum(-2) if pair.sums else None) for pair in pairs]
