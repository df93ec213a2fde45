"""Multi-layer perceptrons, and the two ways in which the model saves work around them without changing the function.

A linear map of a concatenation is a sum of linear maps: each part is mapped where it lives (nodes, edges, positions) and then gathered.
A sum of linear maps is a linear map of the sum: the last map of an MLP under a sum is applied once per sum, its bias times the number
of summands.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from .config import Norm
from .dropout import make_dropout
from .incidence import Incidence
from .linear import Linear
from .mapped import Mapped
from .norm import make_norm


class MLP(nn.Module):
    """Linear maps with ReLU between them (none at the end), ``depth`` of them; an optional norm and dropout before each ReLU's successor.

    Maps that a batch norm follows have no bias: it would be taken away again with the mean.

    Args:
        inputs, outputs, width: widths of the input, the output and in between.
        bias: whether the last map has one.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        width: int,
        depth: int = 2,
        norm: Norm = "none",
        dropout: float = 0.0,
        replicas: int | None = None,
        bias: bool = True,
    ) -> None:
        super().__init__()
        widths = [inputs, *[width] * (depth - 1), outputs]
        biases = [norm != "batch"] * (depth - 1) + [bias]
        self.linears = nn.ModuleList(Linear(*ab, replicas, has) for ab, has in zip(pairwise(widths), biases, strict=True))
        norms = [make_norm(norm, w, replicas) for w in widths[1:-1]]
        self.norms = nn.ModuleList(n for n in norms if n is not None)
        self.dropout = make_dropout(dropout, replicas)

    @property
    def first(self) -> Linear:
        """The first linear map."""
        return self.linears[0]

    @property
    def last(self) -> Linear:
        """The last linear map."""
        return self.linears[-1]

    @property
    def is_simple(self) -> bool:
        """Two linear maps and a ReLU between them, nothing else: what can be composed with its neighbours."""
        return len(self.linears) == 2 and len(self.norms) == 0 and (self.dropout is None or not self.training)

    def activate(self, x: Tensor, k: int, mask: Tensor | None) -> Tensor:
        """What follows the k-th linear map, unless that is the last."""
        x = self.norms[k].relu(x, mask) if len(self.norms) else torch.relu(x)
        return x if self.dropout is None else self.dropout(x)

    def after_first(self, x: Tensor, mask: Tensor | None = None) -> Mapped:
        """The rest of the MLP, given the value of its first linear map; the last one is not multiplied out."""
        if len(self.linears) == 1:
            return Mapped(x)
        return Mapped(self.before_last(x, mask), self.last.weight, self.last.bias).settled()

    def before_last(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """The input of the last linear map, given the value of the first."""
        for k, layer in enumerate(self.linears[1:-1]):
            x = layer(self.activate(x, k, mask))
        return self.activate(x, len(self.linears) - 2, mask)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.after_first(self.first(x), mask).value()


class SumOfMLP(MLP):
    """sum over the entries i of a row of MLP( part_1[i] || part_2[i] || ... ); see the head of this file for how.

    Args:
        widths: of the parts.
    """

    def __init__(self, widths: Sequence[int], outputs: int, width: int, **options) -> None:
        super().__init__(sum(widths), outputs, width, **options)
        self.widths = tuple(widths)

    def parts_of_first(self) -> tuple[Tensor, ...]:
        """The weight of the first linear map, by part."""
        return self.first.weight.split(self.widths, dim=-1)

    def sums(self, entries: Tensor, segments: Incidence, mask: Tensor | None = None) -> Tensor:
        """The sums of what the last linear map gets, given the first one's values at the entries (bias included)."""
        if len(self.linears) == 1:
            return segments @ entries
        return segments @ self.before_last(entries, mask)

    def finish(self, sums: Tensor) -> Mapped:
        """The sums of the MLP's values, given those of the last map's inputs: its bias is to be added once per entry."""
        return Mapped(sums) if len(self.linears) == 1 else Mapped(sums, self.last.weight, self.last.bias)
