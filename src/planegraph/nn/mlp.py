"""The one MLP of the model: Linear, norm, ReLU, Linear, norm, ReLU; and the recursion of two of them through a tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from .config import Norm, PlanEConfig
from .dropout import make_dropout
from .linear import Linear
from .norm import BatchNorm
from .ops.incidence import Incidence, add_sums
from .ops.linear import linear
from .ops.mlp import At, fused_mlp, map_parts
from .ops.tree import Bounds, Maps, Tree
from .ops.tree import bottom_up as tree_bottom_up
from .reset import Module


class MLP(Module):
    """Linear, norm, ReLU, Linear, norm, ReLU; f and the output MLP leave out the last norm and ReLU.

    Args:
        widths: of the input; a sequence for an input that is a concatenation of parts, each of which has its own map:
            a linear map of a concatenation is a sum of linear maps.
        outputs: the width of the output.
        norm: none or batch, whose running averages move by ``momentum``. A map that a norm follows has no bias: the norm would take it away
            with the mean.
        replicas: how many MLPs of one shape are trained side by side; None: one, whose tensors have no such dimension.
        hidden: the width in between; by default that of the output.
        ends: whether the last norm and ReLU are there.
        dropout: after the first ReLU.
        he: maps before a ReLU start with larger weights (linear.py), as long chains of MLPs without norms need it.

    Shapes:
        each part (rows, its width), or :class:`At` rows of another table -> (rows, outputs); with ``into``, an incidence of segments by
        rows, the sums over the segments (segments, outputs).
    """

    def __init__(
        self,
        widths: int | Sequence[int],
        outputs: int,
        norm: Norm = "none",
        replicas: int | None = None,
        *,
        momentum: float = 0.1,
        hidden: int | None = None,
        ends: bool = True,
        dropout: float = 0.0,
        he: bool = False,
    ) -> None:
        super().__init__()
        widths, inner = (widths,) if isinstance(widths, int) else tuple(widths), outputs if hidden is None else hidden
        plain, of_norms = norm == "none", [inner, outputs] if ends else [inner]
        self.first: Any = nn.ModuleList(
            Linear(part, inner, replicas, bias=plain and k == 0, fan_in=sum(widths), he=he) for k, part in enumerate(widths)
        )
        self.last = Linear(inner, outputs, replicas, bias=plain or not ends, he=he and ends)
        self.norms: Any = nn.ModuleList() if plain else nn.ModuleList(BatchNorm(size, replicas, momentum) for size in of_norms)
        self.ends, self.dropout = ends, make_dropout(dropout, replicas)

    def forward(
        self, *parts: Tensor | At, mask: Tensor | None = None, into: Incidence | None = None, plus: Tensor | None = None
    ) -> Tensor:
        """The MLP of the concatenation of the parts, row by row; rows where ``mask`` is False do not count in norms.

        With ``into`` its sums over segments, added to ``plus`` if that is given.
        """
        weights = [part.weight for part in self.first]
        fused = None if self.dropout else fused_mlp(parts, weights, self.norms, self.last, mask, into, plus)
        if fused is not None:
            return fused
        x = self.norm_relu(0, map_parts(parts, weights, self.first[0].bias), mask)
        x = self.last(x if self.dropout is None else self.dropout(x))
        x = self.norm_relu(1, x, mask) if self.ends else x
        return x if into is None else add_sums(None if plus is None else plus.to(x.dtype), into, x)

    def norm_relu(self, k: int, x: Tensor, mask: Tensor | None) -> Tensor:
        """The ReLU after the norm of the k-th map, if it has one; without, in place, as nothing else reads x."""
        return self.norms[k](x, mask) if self.norms else torch.relu_(x)

    @property
    def maps(self) -> Maps:
        """Weights and biases of an MLP without norms, as ops/tree.py takes them; of a concatenation, the first part's."""
        return Maps(self.first[0].weight, self.first[0].bias, self.last.weight, self.last.bias)

    def __repr__(self) -> str:
        inputs = " + ".join(str(part.inputs) for part in self.first)
        return (
            f"MLP({inputs}, {self.last.outputs}{', batch norm' if self.norms else ''}{'' if self.ends else ', linear at the end'})"
        )


def bottom_up(
    tree: Tree,
    outer: MLP,
    own: Tensor,
    inner: MLP,
    *,
    beside: Tensor | None = None,
    plus: Tensor | None = None,
    rows: Bounds | None = None,
) -> Tensor:
    """y_r = outer( own_r + sum over children c of log(1 + inner(...)) ), from the leaves of all trees to their roots (ops/tree.py).

    ``inner`` reads y_c beside a position, y_c || beside_c; or y of the rows below c, added to what c has itself, plus_c + sum of y.

    Args:
        rows: the rows that are given; all by default.
    """
    position = None if beside is None else linear(beside, inner.first[1].weight)
    return tree_bottom_up(tree, own, plus, outer.maps, inner.maps, position, rows)


def mlps(config: PlanEConfig, replicas: int | None) -> Callable[..., MLP]:
    """Makes the MLPs that have norms, if the config says so."""
    return partial(MLP, norm=config.norm, replicas=replicas, momentum=config.norm_momentum, he=config.norm == "none")
