r"""Linear maps and MLPs of a concatenation x_1 \| x_2 \| ... of parts that live elsewhere.

A linear map of a concatenation is a sum of linear maps of its parts, so each part is mapped where it lives (nodes, edges) and only then
taken to the rows: there are several times more walk entries than nodes. The function is the same; only rounding differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from .incidence import Incidence, add_sums
from .linear import linear

if TYPE_CHECKING:
    from ..linear import Linear
    from ..norm import BatchNorm

try:
    from . import triton_mlp
except ImportError:  # no Triton: torch operations do
    triton_mlp = None


class At(NamedTuple):
    """One row of ``x`` (or nothing, 0) for each row of an incidence."""

    x: Tensor
    incidence: Incidence


def map_parts(parts: Sequence[Tensor | At], weights: Sequence[Tensor], bias: Tensor | None) -> Tensor:
    """A linear map of the concatenation of the parts, row by row: the sum of the maps of the parts, each taken where it lives."""
    dense, tables = _split(parts, weights)
    x = None
    for part, weight in dense:
        y = linear(part.to(weight.dtype), weight, bias if x is None else None)
        x = y if x is None else x + y
    if x is None and bias is not None:
        x = bias.unsqueeze(-2).expand(*bias.shape[:-1], tables[0][0].incidence.rows.count, bias.shape[-1])
    for part, weight in tables:
        x = add_sums(x, part.incidence, linear(part.x.to(weight.dtype), weight))
    return x


def fused_mlp(
    parts: Sequence[Tensor | At],
    weights: Sequence[Tensor],
    norms: Sequence[BatchNorm],
    last: Linear,
    mask: Tensor | None,
    into: Incidence | None,
    plus: Tensor | None,
) -> Tensor | None:
    """The whole MLP by the kernels for CUDA, as :class:`planegraph.nn.mlp.MLP` has it; None where they do not take it."""
    if triton_mlp is None or not norms:
        return None
    dense, tables = _split(parts, weights)
    if not triton_mlp.can_fuse(dense, tables, norms, last):
        return None
    tables = [At(linear(part.x, weight), part.incidence) for part, weight in tables]
    return triton_mlp.mlp(dense, tables, norms[0], last, norms[1] if len(norms) > 1 else None, mask, into, plus)


def _split(parts: Sequence[Tensor | At], weights: Sequence[Tensor]) -> tuple[list[tuple[Tensor, Tensor]], list[tuple[At, Tensor]]]:
    """Parts with a row for each row of the concatenation, and parts in other tables, which are checked; each with its weight."""
    pairs = list(zip(parts, weights, strict=True))
    dense = [(part, weight) for part, weight in pairs if not isinstance(part, At)]
    tables = [(part, weight) for part, weight in pairs if isinstance(part, At)]
    for part, _ in tables:
        part.incidence.check(part.x)
    return dense, tables


def kept_dtype(x: Tensor) -> torch.dtype:
    """How representations like x are kept between MLPs with batch norms in training: with bf16 products as bf16, if kernels read them."""
    return x.dtype if triton_mlp is None else triton_mlp.kept_dtype(x)
