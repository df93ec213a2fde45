r"""Batch norm with its ReLU, and its gradient by hand: in the core on the CPU, else in torch operations.

relu( w (x - mean) / sqrt(var + eps) + b ), mean and variance over the rows where ``mask`` is True (None: all). With c = x - mean,
s = 1 / sqrt(var + eps) and g the gradient past the ReLU, over n rows:
dx = w s ( g - sum(g) / n - c s^2 sum(g c) / n ), dw = s sum(g c), db = sum(g).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ... import _core

EPS = 1e-5


def norm_relu(x: Tensor, mask: Tensor | None, weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The values, and the mean, the variance and the number of rows behind them, which have no gradient.

    Shapes:
        x (..., rows, width), mask (..., rows) or None, weight and bias (..., width) -> x's, (..., width) twice, (..., 1)
    """
    in_core = x.device.type == "cpu" and x.dtype in (torch.float32, torch.float64)
    return (_InCore if in_core else _InTorch).apply(x, mask, weight, bias)


class _InTorch(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, mask: Tensor | None, weight: Tensor, bias: Tensor) -> tuple[Tensor, ...]:
        real = None if mask is None else mask.unsqueeze(-1).to(x.dtype)
        w, b = weight.unsqueeze(-2), bias.unsqueeze(-2)
        n = x.new_full((*x.shape[:-2], 1, 1), float(x.shape[-2])) if real is None else real.sum(-2, keepdim=True)
        at_least_one = n.clamp(min=1)
        mean = _sum(x, real) / at_least_one  # sums by pairs of rows: a product with ones would round more
        c = x - mean
        var = _sum(c.square(), real) / at_least_one
        s = torch.rsqrt(var + EPS)
        out = torch.addcmul(b, c, w * s).relu_()
        ctx.save_for_backward(c, out, real, w, s, at_least_one)
        mean, var, n = mean.squeeze(-2), var.squeeze(-2), n.squeeze(-1)
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
        return dx, None, (s * along).squeeze(-2), total.squeeze(-2)


def _sum(x: Tensor, real: Tensor | None) -> Tensor:
    return (x if real is None else x * real).sum(-2, keepdim=True)


class _InCore(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, mask: Tensor | None, weight: Tensor, bias: Tensor) -> tuple[Tensor, ...]:
        x, weight, bias = x.contiguous(), weight.contiguous(), bias.contiguous()
        mask = None if mask is None else mask.contiguous()
        out, (mean, var, inverse) = torch.empty_like(x), weight.new_empty(3, *weight.shape)
        n = x.new_empty(*x.shape[:-2], 1)
        for at, number, y, v in zip(
            _norms(x, mask, weight, bias, mean, inverse), n.view(-1, 1), _each(out, 2), _each(var, 1), strict=True
        ):
            number[0] = _core.norm_relu(at, *x.shape[-2:], EPS, y, v, x.dtype == torch.float64)
        ctx.save_for_backward(x, mask, weight, bias, mean, inverse, n)
        ctx.mark_non_differentiable(mean, var, n)
        return out, mean, var, n

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor, *_: Tensor) -> tuple[Tensor | None, ...]:
        x, mask, weight, bias, mean, inverse, n = ctx.saved_tensors
        gradient, dx = gradient.contiguous(), torch.empty_like(x)
        dw, db = torch.empty_like(weight), torch.empty_like(bias)
        each = _each(gradient, 2), _each(dx, 2), _each(dw, 1), _each(db, 1)
        for at, number, *to in zip(_norms(x, mask, weight, bias, mean, inverse), n.view(-1).tolist(), *each, strict=True):
            _core.norm_relu_gradient(at, *x.shape[-2:], int(number), *to, x.dtype == torch.float64)
        return dx, None, dw, db


def _each(x: Tensor, dims: int) -> list[int]:
    """The addresses of the replicas of a dense tensor, each of ``dims`` dimensions."""
    return [x.data_ptr()] if x.dim() == dims else [part.data_ptr() for part in x]


def _norms(x: Tensor, mask: Tensor | None, *columns: Tensor) -> list[tuple[int, ...]]:
    """What the core takes for each replica: the addresses of x, mask, weight, bias, mean and inverse."""
    masks = [0] * (1 if x.dim() == 2 else len(x)) if mask is None else _each(mask, 1)
    return list(zip(_each(x, 2), masks, *(_each(c, 1) for c in columns), strict=True))
