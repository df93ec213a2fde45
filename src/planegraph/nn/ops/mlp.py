r"""MLP( x_1 \| x_2 \| ... ) of rows whose parts live elsewhere, and sums of it over segments of rows.

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
    from ..dropout import Dropout
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


def mlp(
    parts: Sequence[Tensor | At],
    first: Sequence[Linear],
    first_norm: BatchNorm | None,
    last: Linear,
    last_norm: BatchNorm | None,
    ends: bool,
    dropout: Dropout | None,
    mask: Tensor | None,
    into: Incidence | None,
    plus: Tensor | None,
) -> Tensor:
    """See :class:`planegraph.nn.mlp.MLP`."""
    for part in parts:
        if isinstance(part, At):
            part.incidence.check(part.x)
    pairs = list(zip(parts, first, strict=True))
    dense = [(part, map.weight) for part, map in pairs if isinstance(part, Tensor)]
    tables = [(part, map.weight) for part, map in pairs if isinstance(part, At)]
    fused = dropout is None and triton_mlp is not None and triton_mlp.can_fuse(dense, tables, first_norm, last, last_norm, ends)
    if not fused:
        dense = [(x.to(weight.dtype), weight) for x, weight in dense]
        tables = [(At(x.to(weight.dtype), incidence), weight) for (x, incidence), weight in tables]
        plus = None if plus is None else plus.to(last.weight.dtype)
    tables = [At(linear(x, weight), incidence) for (x, incidence), weight in tables]
    if fused:
        return triton_mlp.mlp(dense, tables, first_norm, last, last_norm, mask, into, plus)
    x = _first(dense, tables, first[0].bias)
    x = torch.relu_(x) if first_norm is None else first_norm(x, mask)  # in place: no one else has x
    x = linear(x if dropout is None else dropout(x), last.weight, last.bias)
    if ends:
        x = torch.relu_(x) if last_norm is None else last_norm(x, mask)
    return x if into is None else add_sums(plus, into, x)


def kept_dtype(x: Tensor) -> torch.dtype:
    """How representations like x are kept between MLPs with batch norms in training: with bf16 products as bf16, if kernels read them."""
    return x.dtype if triton_mlp is None else triton_mlp.kept_dtype(x)


def _first(dense: Sequence[tuple[Tensor, Tensor]], tables: Sequence[At], bias: Tensor | None) -> Tensor:
    """The value of the first linear map."""
    x = None
    for part, weight in dense:
        y = linear(part, weight, bias if x is None else None)
        x = y if x is None else x + y
    if x is None and bias is not None:
        x = bias.unsqueeze(-2).expand(*bias.shape[:-1], tables[0].incidence.rows.count, bias.shape[-1])
    for table in tables:
        x = add_sums(x, table.incidence, table.x)
    return x
