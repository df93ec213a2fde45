"""Batch norm with its ReLU in a few passes over the rows, and its gradient by hand; triton_mlp.py does the same on CUDA."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

EPS = 1e-5


class NormReLU(torch.autograd.Function):
    r"""relu( w (x - mean) / sqrt(var + eps) + b ), mean and variance over the rows with weight 1 (``real``; None: all).

    With c = x - mean, s = 1 / sqrt(var + eps) and g the gradient past the ReLU, over n rows:
    dx = w s ( g - sum(g) / n - c s^2 sum(g c) / n ), dw = s sum(g c), db = sum(g).

    Shapes:
        x (..., rows, width), real (..., rows, 1) or None, w and b (..., 1, width) -> values, mean and var (..., 1, width), n (..., 1, 1)
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, real: Tensor | None, w: Tensor, b: Tensor) -> tuple[Tensor, ...]:
        n = x.new_full((1, 1), float(x.shape[-2])) if real is None else real.sum(-2, keepdim=True)
        at_least_one = n.clamp(min=1)
        mean = _sum(x, real) / at_least_one  # sums by pairs of rows: a product with ones would round more
        c = x - mean
        var = _sum(c.square(), real) / at_least_one
        s = torch.rsqrt(var + EPS)
        out = torch.addcmul(b, c, w * s).relu_()
        ctx.save_for_backward(c, out, real, w, s, at_least_one)
        ctx.mark_non_differentiable(mean, var, n)
        return out, mean, var, n

    @staticmethod
    def backward(ctx: Any, gradient: Tensor, *_: Tensor) -> tuple[Tensor | None, ...]:
        c, out, real, w, s, n = ctx.saved_tensors
        g = torch.ops.aten.threshold_backward(gradient, out, 0)
        if real is not None:
            g *= real
        total, along = g.sum(-2, keepdim=True), (g * c).sum(-2, keepdim=True)
        dx = torch.addcmul(g, c, along * (s * s / -n)).sub_(total / n).mul_(w * s)
        if real is not None:
            dx *= real
        return dx, None, s * along, total


def _sum(x: Tensor, real: Tensor | None) -> Tensor:
    return (x if real is None else x * real).sum(-2, keepdim=True)
