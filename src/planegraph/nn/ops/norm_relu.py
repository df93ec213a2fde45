r"""Batch norm with its ReLU, and its gradient by hand: in the core on the CPU, else in torch operations.

relu( w (x - mean) / sqrt(var + eps) + b ), mean and variance over the rows where ``mask`` is True (None: all). With c = x - mean,
s = 1 / sqrt(var + eps) and g the gradient past the ReLU, over n rows:
dx = w s ( g - sum(g) / n - c s^2 sum(g c) / n ), dw = s sum(g c), db = sum(g).

Where all rows look alike, as in graphs without features, a column may be *flat*: its variance is nothing, or rounding. There s = 0, in
evaluation too. With s = 1 / sqrt(eps) = 316 a norm would enlarge what rounding left of c and of its gradient, and in evaluation what the
running mean lags behind; six such norms follow one another in a layer. A batch of one row is flat, too: a mesh that is one rigid component
has one row of TriEnc, in all batches, and evaluation then reads relu(bias), as training does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from ... import _core

EPS = 1e-5
FLAT = 1e-10  # of 1 + mean^2, the variance of a flat column at most: float32 leaves about 1e-14 of mean^2


class Running(NamedTuple):
    """Averages over the batches (..., width), at first 0 and 1, which move towards each new value by ``momentum`` of the difference; those
    of a column that has been flat in all batches so far take the new value itself."""

    mean: Tensor
    variance: Tensor
    momentum: float


def norm_relu(x: Tensor, mask: Tensor | None, weight: Tensor, bias: Tensor, running: Running) -> Tensor:
    """The values; ``running`` moves on, in place: the variance, over n - 1, where n > 1 or all batches so far were flat.

    Shapes:
        x (..., rows, width), mask (..., rows) or None, weight and bias (..., width) -> x's
    """
    return (_InCore if _fits_core(x, weight, bias, running) else _InTorch).apply(x, mask, weight, bias, running)


def _fits_core(x: Tensor, weight: Tensor, bias: Tensor, running: Running) -> bool:
    """The core takes addresses: everything must be of one type, and what it writes to must lie densely."""
    averages = running.mean, running.variance
    alike = all(t.dtype == x.dtype and t.device.type == "cpu" for t in (x, weight, bias, *averages))
    return alike and x.dtype in (torch.float32, torch.float64) and all(t.is_contiguous() for t in averages)


def is_flat(mean: Tensor, variance: Tensor) -> Tensor:
    """Whether columns of this mean and variance are flat."""
    return variance <= FLAT * (1 + mean.square())


class _InTorch(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, mask: Tensor | None, weight: Tensor, bias: Tensor, running: Running) -> Tensor:
        ctx.dtypes, x = (x.dtype, weight.dtype, bias.dtype), widened(x)
        real = None if mask is None else mask.unsqueeze(-1).to(x.dtype)
        w, b = widened(weight).unsqueeze(-2), widened(bias).unsqueeze(-2)
        n = x.new_full((*x.shape[:-2], 1, 1), float(x.shape[-2])) if real is None else real.sum(-2, keepdim=True)
        at_least_one = n.clamp(min=1)
        mean = _sum(x, real) / at_least_one  # sums by pairs of rows: a product with ones would round more
        c = x - mean
        var = _sum(c.square(), real) / at_least_one
        flat = is_flat(mean, var)
        s = torch.rsqrt(var + EPS).masked_fill(flat, 0)
        out = torch.addcmul(b, c, w * s).relu_()
        ctx.save_for_backward(c, out, real, w, s, at_least_one)
        mean, var, n = mean.squeeze(-2), var.squeeze(-2), n.squeeze(-1)
        unbiased = var * (n / (n - 1).clamp(min=1))
        untouched = (running.mean == 0) & (running.variance == 1)
        was_flat = is_flat(widened(running.mean), widened(running.variance))
        always_flat = flat.squeeze(-2) & (was_flat | untouched) & (n > 0)
        step = torch.full_like(mean, running.momentum).masked_fill_(always_flat, 1)
        for average, new, counts in ((running.mean, mean, n > 0), (running.variance, unbiased, (n > 1) | always_flat)):
            average += step * counts.to(new.dtype) * (new - average)
        return out.to(ctx.dtypes[0])

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        c, out, real, w, s, n = ctx.saved_tensors
        g = torch.ops.aten.threshold_backward(gradient.to(out.dtype), out, 0)
        if real is not None:
            g *= real
        total, along = g.sum(-2, keepdim=True), (g * c).sum(-2, keepdim=True)
        dx = torch.addcmul(g, c, along * (s * s / -n)).sub_(total / n).mul_(w * s)
        if real is not None:
            dx *= real
        gradients = (dx, (s * along).squeeze(-2), total.squeeze(-2))
        dx, dw, db = (t.to(dtype) for t, dtype in zip(gradients, ctx.dtypes, strict=True))
        return dx, None, dw, db, None


def widened(x: Tensor) -> Tensor:
    """In at least 32 bits: half precision ends at 65,504, which sums over the rows of a batch and squares of means exceed."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def _sum(x: Tensor, real: Tensor | None) -> Tensor:
    return (x if real is None else x * real).sum(-2, keepdim=True)


class _InCore(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, mask: Tensor | None, weight: Tensor, bias: Tensor, running: Running) -> Tensor:
        x, weight, bias = x.contiguous(), weight.contiguous(), bias.contiguous()
        mask = None if mask is None else mask.contiguous()
        out, (mean, inverse) = torch.empty_like(x), weight.new_empty(2, *weight.shape)
        averages = zip(_each(running.mean, 1), _each(running.variance, 1), strict=True)
        norms = zip(_norms(x, mask, weight, bias, mean, inverse), averages, _each(out, 2), strict=True)
        (rows, width), double = x.shape[-2:], x.dtype == torch.float64
        ctx.counts = [_core.norm_relu(norm, rows, width, EPS, FLAT, means, running.momentum, y, double) for norm, means, y in norms]
        ctx.save_for_backward(x, mask, weight, bias, mean, inverse)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, mask, weight, bias, mean, inverse = ctx.saved_tensors
        gradient, dx = gradient.contiguous(), torch.empty_like(x)
        dw, db = torch.empty_like(weight), torch.empty_like(bias)
        each = _each(gradient, 2), _each(dx, 2), _each(dw, 1), _each(db, 1)
        (rows, width), double = x.shape[-2:], x.dtype == torch.float64
        for norm, n, g, to, of_weight, of_bias in zip(_norms(x, mask, weight, bias, mean, inverse), ctx.counts, *each, strict=True):
            _core.norm_relu_gradient(norm, rows, width, n, g, to, of_weight, of_bias, double)
        return dx, None, dw, db, None


def _each(x: Tensor, dims: int) -> list[int]:
    """The addresses of the replicas of a dense tensor, each of ``dims`` dimensions."""
    return [x.data_ptr()] if x.dim() == dims else [part.data_ptr() for part in x]


def _norms(x: Tensor, mask: Tensor | None, *columns: Tensor) -> list[tuple[int, ...]]:
    """What the core takes for each replica: the addresses of x, mask, weight, bias, mean and inverse."""
    masks = [0] * (1 if x.dim() == 2 else len(x)) if mask is None else _each(mask, 1)
    return list(zip(_each(x, 2), masks, *(_each(c, 1) for c in columns), strict=True))
