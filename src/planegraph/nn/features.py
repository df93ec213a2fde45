"""From features to representations of width d: an embedding per categorical column, a linear map, or one learned vector for all."""

from __future__ import annotations

from itertools import accumulate

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..errors import InvalidGraphError
from .config import Categorical, Continuous, Features
from .linear import Linear

_ONE_HOT = 1024  # categories up to which embeddings are a product with a 0/1 matrix: its gradient is a product too, and no scatter


def make_encoder(features: Features, hidden: int, what: str, replicas: int | None = None) -> nn.Module:
    """The encoder for these features; ``what`` names them in errors."""
    if features is None:
        return ConstantEncoder(hidden, replicas)
    kind = CategoricalEncoder if isinstance(features, Categorical) else ContinuousEncoder
    return kind(features, hidden, what, replicas)


def _check(values: Tensor | None, features: Categorical | Continuous, what: str, integers: bool) -> Tensor:
    wanted = f"{features.width} {'integer' if integers else 'float'} column{'' if features.width == 1 else 's'}"
    if values is None:
        raise InvalidGraphError(f"{what}: the model reads {wanted}; the batch has none")
    if values.dtype.is_floating_point == integers or values.dtype == torch.bool:
        raise InvalidGraphError(f"{what}: the model reads {wanted}; the batch has dtype {values.dtype}")
    if values.shape[-1] != features.width:
        raise InvalidGraphError(f"{what}: the model reads {wanted}; the batch has {values.shape[-1]}")
    return values


class ConstantEncoder(nn.Module):
    """One learned vector for every row."""

    def __init__(self, hidden: int, replicas: int | None = None) -> None:
        super().__init__()
        self.constant = nn.Parameter(torch.empty(*(() if replicas is None else (replicas,)), hidden))
        nn.init.normal_(self.constant)

    def forward(self, values: Tensor | None, rows: int) -> Tensor:
        return self.constant.unsqueeze(-2).expand(*self.constant.shape[:-1], rows, self.constant.shape[-1])


class ContinuousEncoder(nn.Module):
    """A linear map of float columns."""

    def __init__(self, features: Continuous, hidden: int, what: str, replicas: int | None = None) -> None:
        super().__init__()
        self.features, self.what = features, what
        self.linear = Linear(features.width, hidden, replicas)

    def forward(self, values: Tensor | None, rows: int) -> Tensor:
        return self.linear(_check(values, self.features, self.what, False).to(self.linear.weight.dtype))


class CategoricalEncoder(nn.Module):
    """The sum of an embedding per integer column."""

    def __init__(self, features: Categorical, hidden: int, what: str, replicas: int | None = None) -> None:
        super().__init__()
        self.features, self.what = features, what
        lead = () if replicas is None else (replicas,)
        self.tables = nn.ParameterList(nn.Parameter(torch.empty(*lead, size, hidden)) for size in features.sizes)
        for table in self.tables:
            nn.init.normal_(table, std=len(features.sizes) ** -0.5)
        starts = list(accumulate(features.sizes, initial=0))[:-1]
        self.register_buffer("starts", torch.tensor(starts), persistent=False)

    def forward(self, values: Tensor | None, rows: int) -> Tensor:
        values = _check(values, self.features, self.what, True)
        self._check_range(values)
        table = torch.cat(list(self.tables), dim=-2)
        total = table.shape[-2]
        where = values.long() + self.starts
        if total <= _ONE_HOT:
            hot = table.new_zeros(*where.shape[:-1], total).scatter_(-1, where, 1)
            return hot @ table
        if table.dim() == 2:
            return F.embedding(where, table).sum(-2)
        replica = torch.arange(table.shape[0], device=table.device)[:, None, None]
        return F.embedding(where + replica * total, table.flatten(0, 1)).sum(-2)

    def _check_range(self, values: Tensor) -> None:
        """On the CPU only: elsewhere it would wait for the device."""
        if values.device.type != "cpu" or values.numel() == 0:
            return
        flat = values.reshape(-1, values.shape[-1])
        for column, size in enumerate(self.features.sizes):
            low, high = flat[:, column].aminmax()
            if low < 0 or high >= size:
                found = int(low if low < 0 else high)
                raise InvalidGraphError(f"{self.what}, column {column}: the model knows values 0 to {size - 1}; found {found}")
