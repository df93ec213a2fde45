"""x W^T + b, for each replica by its own weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

try:
    from . import triton_linear
except ImportError:  # no Triton: torch operations do
    triton_linear = None


class Pair(NamedTuple):
    """a^T b is wanted, for each replica if there are any and, with ``sums``, the sums over the rows of a: gradients of weight and bias.

    ``statistics`` (replicas, 5, k), if given, are those of a norm, and b is relu(norm(b)).
    """

    a: Tensor
    b: Tensor
    sums: bool = False
    statistics: Tensor | None = None


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
    fused = [triton_linear is not None and triton_linear.can_multiply(pair) for pair in pairs]
    found = iter(triton_linear.products([pair for pair, fits in zip(pairs, fused, strict=True) if fits]) if any(fused) else [])
    return [next(found) if fits else _product(pair) for pair, fits in zip(pairs, fused, strict=True)]


def _product(pair: Pair) -> tuple[Tensor, Tensor | None]:
    return pair.a.mT @ pair.b, pair.a.sum(-2) if pair.sums else None
