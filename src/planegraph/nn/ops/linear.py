"""x W^T + b, for each replica by its own weights."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x W^T + b, for each replica if the weight has a leading dimension."""
    return _Affine.apply(x, weight, bias) if x.is_cuda else _linear(x, weight, bias)


def _linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    if weight.dim() == 2:
        return F.linear(x, weight, bias)
    return torch.bmm(x, weight.mT) if bias is None else torch.baddbmm(bias.unsqueeze(-2), x, weight.mT)


class _Affine(torch.autograd.Function):
    """The same on CUDA, with a faster gradient: of the bias as a product with ones, of stacked weights as a sum over parts of the rows."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        return _linear(x, weight, bias)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        wants_x, wants_weight, wants_bias = ctx.needs_input_grad
        ones = gradient.new_ones(*gradient.shape[:-2], 1, gradient.shape[-2]) if wants_bias else None
        return (
            gradient @ weight if wants_x else None,
            _products(gradient, x) if wants_weight else None,
            (ones @ gradient).squeeze(-2) if wants_bias else None,
        )


_PARTS = 8  # products over the rows of each replica are taken in so many parts, as a few tiles leave a GPU idle
_ROWS = 2048  # from so many rows on


def _products(a: Tensor, b: Tensor) -> Tensor:
    """a^T b, for each replica."""
    rows = a.shape[-2]
    if a.dim() == 2 or rows < _ROWS or rows % _PARTS:
        return a.mT @ b
    a, b = (t.reshape(len(t) * _PARTS, rows // _PARTS, t.shape[-1]) for t in (a, b))
    return (a.mT @ b).unflatten(0, (-1, _PARTS)).sum(1)
