"""Representations that are not multiplied out: h = x W^T + b, kept as x, W and b.

Every MLP of the model ends in a linear map, and whatever reads its output begins with one, sums being linear too. So the last map is left
to the reader, who composes it with its own: one product where there would be two. The function is the same; only rounding differs.
"""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

from .incidence import Incidence
from .linear import linear, matvec


class Mapped(NamedTuple):
    """x W^T + b with x (..., rows, k), W (..., d, k) and b (..., d); without W, x itself; without b, 0."""

    x: Tensor
    weight: Tensor | None = None
    bias: Tensor | None = None

    @staticmethod
    def of(value: Tensor | Mapped, rows: int, what: str) -> Mapped:
        """A tensor or Mapped with so many rows; the sums that follow do not check ids again."""
        mapped = value if isinstance(value, Mapped) else Mapped(value)
        if mapped.x.dim() < 2 or mapped.x.shape[-2] != rows:
            raise ValueError(f"{what} must have {rows} rows, as the batch has; found shape {tuple(mapped.x.shape)}")
        return mapped

    def map(self, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        """The linear map ``weight``, ``bias`` of the representations."""
        return linear(self.x, self.compose(weight), plus(bias, self.shift(weight)))

    def compose(self, weight: Tensor) -> Tensor:
        """The weight that maps x as ``weight`` maps the representations."""
        return weight if self.weight is None else weight @ self.weight

    def shift(self, weight: Tensor) -> Tensor | None:
        """What ``weight`` makes of b: to be added once for every summand."""
        return None if self.bias is None else matvec(weight, self.bias)

    def take(self, incidence: Incidence) -> Mapped:
        """The representations of other rows, one each."""
        return self._replace(x=incidence @ self.x)

    def sums(self, incidence: Incidence, counts: Tensor) -> Tensor:
        """The sums of the representations along an incidence with so many entries per row."""
        total = incidence @ self.x
        if self.weight is not None:
            total = linear(total, self.weight)
        return total if self.bias is None else total + counts * self.bias.unsqueeze(-2)

    def value(self) -> Tensor:
        """The representations, multiplied out."""
        return self.x if self.weight is None else linear(self.x, self.weight, self.bias)

    def settled(self) -> Mapped:
        """Multiplied out if x is wider than the representations: composed maps would then cost more."""
        if self.weight is None or self.weight.shape[-1] <= self.weight.shape[-2]:
            return self
        return Mapped(self.value())


def plus(a: Tensor | None, b: Tensor | None) -> Tensor | None:
    """a + b, where None is 0."""
    if a is None or b is None:
        return b if a is None else a
    return a + b
