"""Norms whose statistics ignore padding: batch norm over the real rows, layer norm per row, or nothing; each with the ReLU that follows."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .config import Norm
from .norm_relu import NormReLU

try:
    from . import triton_norm
except ImportError:
    triton_norm = None

_EPS = 1e-5


def make_norm(kind: Norm, width: int, replicas: int | None) -> nn.Module | None:
    """The norm of this kind, or None."""
    if kind == "none":
        return None
    return (BatchNorm if kind == "batch" else LayerNorm)(width, replicas)


def set_momentum(module: nn.Module, momentum: float) -> None:
    """How far the running averages of all batch norms in a module move with each batch."""
    for part in module.modules():
        if isinstance(part, BatchNorm):
            part.momentum = momentum


class _Affine(nn.Module):
    def __init__(self, width: int, replicas: int | None = None) -> None:
        super().__init__()
        lead = () if replicas is None else (replicas,)
        self.weight = nn.Parameter(torch.ones(*lead, width))
        self.bias = nn.Parameter(torch.zeros(*lead, width))


class LayerNorm(_Affine):
    """Each row to mean 0 and variance 1, then an affine map."""

    def relu(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """The norm, then ReLU."""
        mean = x.mean(-1, keepdim=True)
        centred = x - mean
        variance = centred.square().mean(-1, keepdim=True)
        normed = centred * torch.rsqrt(variance + _EPS)
        return torch.relu(normed * self.weight.unsqueeze(-2) + self.bias.unsqueeze(-2))


class BatchNorm(_Affine):
    """Each column to mean 0 and variance 1 over the real rows of the batch (in evaluation: by running averages), then an affine map.

    As ``torch.nn.BatchNorm1d``, but rows where ``mask`` is False do not count, and a batch with a single row or none is no error: it has no
    variance, so its running average is left as it was.
    """

    def __init__(self, width: int, replicas: int | None = None, momentum: float = 0.1) -> None:
        super().__init__(width, replicas)
        self.momentum = momentum
        self.register_buffer("running_mean", torch.zeros_like(self.weight.data))
        self.register_buffer("running_var", torch.ones_like(self.weight.data))

    def relu(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """The norm, then ReLU, in one."""
        if not self.training:
            scale = self.weight * torch.rsqrt(self.running_var + _EPS)
            return torch.addcmul((self.bias - self.running_mean * scale).unsqueeze(-2), x, scale.unsqueeze(-2)).relu()
        if triton_norm is not None and triton_norm.can_fuse(x):
            own = (self.weight, self.bias, self.running_mean, self.running_var)
            return triton_norm.norm_relu(x, mask, *own, self.momentum, _EPS)
        real = None if mask is None else mask.unsqueeze(-1).to(x.dtype)
        out, mean, variance, count = NormReLU.apply(x, real, self.weight.unsqueeze(-2), self.bias.unsqueeze(-2), _EPS)
        self._remember(mean, variance, count)
        return out

    def _remember(self, mean: Tensor, variance: Tensor, count: Tensor) -> None:
        some, several = (count > 0).to(mean.dtype), (count > 1).to(mean.dtype)
        unbiased = variance * count / (count - 1).clamp(min=1)
        with torch.no_grad():
            self.running_mean += (self.momentum * some * (mean - self.running_mean.unsqueeze(-2))).squeeze(-2)
            self.running_var += (self.momentum * several * (unbiased - self.running_var.unsqueeze(-2))).squeeze(-2)
