"""Linear maps, with or without a leading replica dimension, so that many seeds train in one step with the same modules.

A module made with ``replicas=R`` has parameters with a leading dimension R and maps (R, rows, width) tensors, each replica by its own
weights. Everything else in this folder is written for either.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from .ops.linear import linear


class Linear(nn.Module):
    """A linear map from ``inputs`` to ``outputs``, with or without a bias; initialised as ``torch.nn.Linear``.

    Args:
        fan_in: inputs of the whole map, where this is only the part of it that maps one part of a concatenation.
        he: weights start with variance 2 / fan_in (He et al.), so that values stay about as large however many maps and ReLUs follow one
            another; with 1 / (3 fan_in), PyTorch's, they shrink to 0.4 each time, unless norms correct it.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        replicas: int | None = None,
        bias: bool = True,
        fan_in: int | None = None,
        he: bool = False,
    ) -> None:
        super().__init__()
        self.he = he
        self.fan_in, lead = inputs if fan_in is None else fan_in, () if replicas is None else (replicas,)
        self.weight = nn.Parameter(torch.empty(*lead, outputs, inputs))
        self.bias = nn.Parameter(torch.empty(*lead, outputs)) if bias else None
        if not self.weight.is_meta:  # where weights are about to be loaded, drawing them would take most of the time
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform within 1 / sqrt(fan_in), with ``he`` weights within sqrt(6 / fan_in)."""
        bound = 1 / math.sqrt(self.fan_in)
        of_weight = math.sqrt(6) * bound if self.he else bound
        nn.init.uniform_(self.weight, -of_weight, of_weight)
        if self.bias is not None:
            nn.init.uniform_(self.bias, -bound, bound)

    def forward(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias)

    @property
    def inputs(self) -> int:
        """The width of the input."""
        return self.weight.shape[-1]

    @property
    def outputs(self) -> int:
        """The width of the output."""
        return self.weight.shape[-2]

    def extra_repr(self) -> str:
        return f"{self.inputs}, {self.outputs}{'' if self.bias is not None else ', bias=False'}"
