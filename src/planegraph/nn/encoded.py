"""Representations that are still a product of features and weights, so that linear maps of them can be composed first.

Edge representations are constant over the layers and are only ever read through linear maps. Few categories or columns then make a
product with the composed weights much smaller than one with the representations: W (F^T A) instead of (W F^T) A.
"""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

from .linear import linear, matvec


class Encoded(NamedTuple):
    """rows @ table + bias: ``rows`` (..., F, k) are features, ``table`` (..., k, hidden) their weights, ``bias`` (..., hidden) or None."""

    rows: Tensor
    table: Tensor
    bias: Tensor | None = None

    def map(self, weight: Tensor) -> Tensor:
        """The representations times the weight's transpose."""
        bias = None if self.bias is None else matvec(weight, self.bias)
        return linear(self.rows, weight @ self.table.mT, bias)

    def value(self) -> Tensor:
        """The representations themselves."""
        return linear(self.rows, self.table.mT, self.bias)


def map_edges(edges: Tensor | Encoded, weight: Tensor) -> Tensor:
    """A linear map of edge representations, composed if they allow it."""
    return edges.map(weight) if isinstance(edges, Encoded) else linear(edges, weight)
