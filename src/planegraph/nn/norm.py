"""Batch norm whose statistics ignore padding, together with the ReLU that follows it everywhere in the model."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .ops.norm_relu import EPS, Running, is_flat, norm_relu, widened


class BatchNorm(nn.Module):
    """Each column to mean 0 and variance 1 over the real rows of the batch (in evaluation: by running averages), an affine map, ReLU.

    As ``torch.nn.BatchNorm1d``, but rows where ``mask`` is False do not count; a batch may have a single row, or none: it has no
    variance, so its running average is left as it was, unless all batches so far were such; and a column whose rows are all alike
    becomes relu(bias), in evaluation as in training (ops/norm_relu.py). Running averages move by ``momentum`` of the difference.
    """

    running_mean: Tensor
    running_var: Tensor

    def __init__(self, width: int, replicas: int | None = None, momentum: float = 0.1) -> None:
        super().__init__()
        self.momentum, lead = momentum, () if replicas is None else (replicas,)
        self.weight, self.bias = nn.Parameter(torch.empty(*lead, width)), nn.Parameter(torch.empty(*lead, width))
        self.register_buffer("running_mean", torch.empty(*lead, width))
        self.register_buffer("running_var", torch.empty(*lead, width))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weights and running variances 1, biases and running means 0."""
        for ones, zeros in ((self.weight, self.bias), (self.running_var, self.running_mean)):
            nn.init.ones_(ones)
            nn.init.zeros_(zeros)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """relu(norm(x))."""
        if not self.training:
            mean, variance = widened(self.running_mean), widened(self.running_var)
            scale = self.weight * torch.rsqrt(variance + EPS).masked_fill(is_flat(mean, variance), 0)
            return torch.addcmul((self.bias - mean * scale).unsqueeze(-2), widened(x), scale.unsqueeze(-2)).relu().to(x.dtype)
        return norm_relu(x, mask, self.weight, self.bias, Running(self.running_mean, self.running_var, self.momentum))

    def extra_repr(self) -> str:
        return str(self.weight.shape[-1])
