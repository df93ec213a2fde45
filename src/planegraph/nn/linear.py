"""Linear maps, with or without a leading replica dimension, so that many seeds train in one step with the same modules.

A module made with ``replicas=R`` has parameters with a leading dimension R and maps (R, rows, width) tensors, each replica by its own
weights. Everything else in this folder is written for either.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
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


def matvec(weight: Tensor, vector: Tensor) -> Tensor:
    """W v, for each replica."""
    return torch.mv(weight, vector) if weight.dim() == 2 else (weight @ vector.unsqueeze(-1)).squeeze(-1)


class Linear(nn.Module):
    """A linear map from ``inputs`` to ``outputs``, with or without a bias; initialised as ``torch.nn.Linear``."""

    def __init__(self, inputs: int, outputs: int, replicas: int | None = None, bias: bool = True) -> None:
        super().__init__()
        lead = () if replicas is None else (replicas,)
        self.weight = nn.Parameter(torch.empty(*lead, outputs, inputs))
        self.bias = nn.Parameter(torch.empty(*lead, outputs)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform within 1 / sqrt(inputs)."""
        bound = 1 / math.sqrt(self.weight.shape[-1])
        nn.init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            nn.init.uniform_(self.bias, -bound, bound)

    def forward(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias)

    def extra_repr(self) -> str:
        return " x ".join(map(str, self.weight.shape))
