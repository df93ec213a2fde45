"""From features to representations of width d: an embedding per categorical column, a linear map, both, or one learned vector for all."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..errors import InvalidGraphError
from .config import Categorical, Continuous, Features, Mixed
from .linear import Linear
from .ops.linear import linear
from .reset import Module

_ONE_HOT = 1024  # categories up to which embeddings are a product with a 0/1 matrix: its gradient is a product too, and no scatter


def make_encoder(features: Features, hidden: int, what: str, replicas: int | None = None) -> nn.Module:
    """The encoder for these features; ``what`` names them in errors."""
    if features is None:
        return ConstantEncoder(hidden, replicas)
    kind = {Categorical: CategoricalEncoder, Continuous: ContinuousEncoder, Mixed: MixedEncoder}[type(features)]
    return kind(features, hidden, what, replicas)


def _check(values: Tensor | None, rows: int, features: Categorical | Continuous, what: str, like: Tensor) -> Tensor:
    """The values, if they are of the kind that the model reads; where there are no rows, none are needed."""
    integers = isinstance(features, Categorical)
    if values is None and rows == 0:
        lead = like.shape[:-2]
        return torch.empty(*lead, 0, features.columns, dtype=torch.int32 if integers else like.dtype, device=like.device)
    wanted = f"{features.columns} {'integer' if integers else 'float'} column{'' if features.columns == 1 else 's'}"
    if values is None:
        raise InvalidGraphError(f"{what}: the model reads {wanted}; the batch has none")
    if values.dtype.is_floating_point == integers or values.dtype.is_complex or values.dtype == torch.bool:
        raise InvalidGraphError(f"{what}: the model reads {wanted}; the batch has dtype {values.dtype}")
    if values.shape[-1] != features.columns:
        raise InvalidGraphError(f"{what}: the model reads {wanted}; the batch has {values.shape[-1]}")
    return values


class ConstantEncoder(nn.Module):
    """One learned vector for every row."""

    def __init__(self, hidden: int, replicas: int | None = None) -> None:
        super().__init__()
        self.constant = nn.Parameter(torch.empty(*(() if replicas is None else (replicas,)), hidden))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Standard normal."""
        nn.init.normal_(self.constant)

    def forward(self, values: Tensor | None, rows: int, locate: Callable[[int], str] = str) -> Tensor:
        return self.constant.unsqueeze(-2).expand(*self.constant.shape[:-1], rows, self.constant.shape[-1])

    def __repr__(self) -> str:
        return f"ConstantEncoder({self.constant.shape[-1]})"


class ContinuousEncoder(Module):
    """A linear map of float columns."""

    def __init__(self, features: Continuous, hidden: int, what: str, replicas: int | None = None) -> None:
        super().__init__()
        self.features, self.what = features, what
        self.linear = Linear(features.width, hidden, replicas)

    def forward(self, values: Tensor | None, rows: int, locate: Callable[[int], str] = str) -> Tensor:
        return self.linear(self._values(values, rows))

    def _values(self, values: Tensor | None, rows: int) -> Tensor:
        weight = self.linear.weight
        return _check(values, rows, self.features, self.what, weight).to(weight.dtype)

    def __repr__(self) -> str:
        return f"ContinuousEncoder({self.features.width}, {self.linear.outputs})"


class MixedEncoder(Module):
    """The embeddings of the columns with categories, plus a linear map of the others."""

    def __init__(self, features: Mixed, hidden: int, what: str, replicas: int | None = None) -> None:
        super().__init__()
        self.features, self.what = features, what
        self.categorical = CategoricalEncoder(features.categorical, hidden, what, replicas)
        self.linear = Linear(features.width, hidden, replicas)

    def forward(self, values: Tensor | None, rows: int, locate: Callable[[int], str] = str) -> Tensor:
        first, weight = len(self.features.sizes), self.linear.weight
        values = _check(values, rows, Continuous(first + self.features.width), self.what, weight)
        categories, numbers = values[..., :first], values[..., first:]
        self._check_whole(categories, locate)
        return self.categorical(categories.int(), rows, locate) + self.linear(numbers.to(weight.dtype))

    def _check_whole(self, categories: Tensor, locate: Callable[[int], str]) -> None:
        """On the CPU only: elsewhere it would wait for the device."""
        if categories.device.type != "cpu":
            return
        bad = (categories != categories.floor()).reshape(-1, categories.shape[-1]).nonzero()
        if len(bad):
            row, column = bad[0].tolist()
            found = categories.reshape(-1, categories.shape[-1])[row, column].item()
            raise InvalidGraphError(f"{self.what}, column {column}, {locate(row)}: a category is a whole number; found {found}")

    def __repr__(self) -> str:
        return f"MixedEncoder({self.features.sizes}, {self.features.width}, {self.linear.outputs})"


class CategoricalEncoder(nn.Module):
    """The sum of an embedding per integer column."""

    def __init__(self, features: Categorical, hidden: int, what: str, replicas: int | None = None) -> None:
        super().__init__()
        self.features, self.what = features, what
        lead = () if replicas is None else (replicas,)
        self.tables = nn.ParameterList(nn.Parameter(torch.empty(*lead, size, hidden)) for size in features.sizes)
        self.starts = self._starts()
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Normal; the sum over the columns has variance 1."""
        for table in self.tables:
            nn.init.normal_(table, std=len(self.tables) ** -0.5)

    def forward(self, values: Tensor | None, rows: int, locate: Callable[[int], str] = str) -> Tensor:
        table, where = torch.cat(list(self.tables), dim=-2), self._where(values, rows, locate)
        size = table.shape[-2]
        if size <= _ONE_HOT:
            hot = table.new_zeros(*where.shape[:-1], size).scatter_(-1, where, 1)
            return linear(hot, table.mT)
        if table.dim() == 2:
            return F.embedding(where, table).sum(-2)
        replica = torch.arange(table.shape[0], device=table.device)[:, None, None]
        return F.embedding(where + replica * size, table.flatten(0, 1)).sum(-2)

    def _starts(self) -> Tensor:
        """Where the table of each column begins in all of them joined."""
        return torch.tensor(list(accumulate(self.features.sizes, initial=0))[:-1], device=self.tables[0].device)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        super()._apply(fn, recurse)
        self.starts = self._starts()  # no buffer: to_empty() would leave it empty, and no saved model has it
        return self

    def _where(self, values: Tensor | None, rows: int, locate: Callable[[int], str]) -> Tensor:
        """Rows of the joined tables."""
        values = _check(values, rows, self.features, self.what, self.tables[0])
        self._check_range(values, locate)
        return values.long() + self.starts

    def _check_range(self, values: Tensor, locate: Callable[[int], str]) -> None:
        """On the CPU only: elsewhere it would wait for the device."""
        if values.device.type != "cpu" or values.numel() == 0:
            return
        flat = values.reshape(-1, values.shape[-1])
        for column, size in enumerate(self.features.sizes):
            low, high = flat[:, column].aminmax()
            if low < 0 or high >= size:
                row = int(((flat[:, column] < 0) | (flat[:, column] >= size)).int().argmax())
                found = int(flat[row, column])
                raise InvalidGraphError(
                    f"{self.what}, column {column}, {locate(row)}: the model knows values 0 to {size - 1}; found {found}"
                )

    def __repr__(self) -> str:
        return f"CategoricalEncoder({self.features.sizes}, {self.tables[0].shape[-1]})"
