"""Kind and sizes of features: what a model must know to embed them. Read from their values in one pass: O(size)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InvalidGraphError
from ..fields import is_count
from .packed import PackedDataset

_MOST_CATEGORIES = 10**6


@dataclass(frozen=True)
class Categorical:
    """Integer columns, an embedding each; ``sizes[k]`` is one more than the largest value of column k.

    >>> Categorical([28])
    Categorical(sizes=(28,))
    """

    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        if isinstance(self.sizes, str) or not hasattr(self.sizes, "__iter__"):
            raise TypeError(f"Categorical needs a list with the size of each column, as in Categorical([28]); found {self.sizes!r}")
        object.__setattr__(self, "sizes", tuple(self.sizes))
        if not self.sizes or not all(is_count(size) for size in self.sizes):
            raise ValueError(f"Categorical needs an integer of at least 1 for each column; found {self.sizes}")
        object.__setattr__(self, "sizes", tuple(map(int, self.sizes)))

    @property
    def columns(self) -> int:
        """How many there are."""
        return len(self.sizes)


@dataclass(frozen=True)
class Continuous:
    """Float columns, mapped linearly."""

    width: int

    def __post_init__(self) -> None:
        if not is_count(self.width):
            raise ValueError(f"Continuous needs a number of columns, at least 1; found {self.width!r}")
        object.__setattr__(self, "width", int(self.width))

    @property
    def columns(self) -> int:
        """How many there are."""
        return self.width


@dataclass(frozen=True)
class Mixed:
    """Float columns, of which the first hold categories as whole numbers, an embedding each; ``width`` more are mapped linearly.

    >>> Mixed([28], 20)
    Mixed(sizes=(28,), width=20)
    """

    sizes: tuple[int, ...]
    width: int

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "sizes", self.categorical.sizes)
            object.__setattr__(self, "width", Continuous(self.width).width)
        except (TypeError, ValueError) as error:
            raise type(error)(
                f"Mixed needs the size of each column of categories, and a number of other columns: {error}"
            ) from None

    @property
    def categorical(self) -> Categorical:
        """The first columns."""
        return Categorical(self.sizes)

    @property
    def columns(self) -> int:
        """How many there are of both kinds."""
        return len(self.sizes) + self.width


Features = Categorical | Continuous | Mixed | None
"""What the columns hold; None: there are no features, or none are read."""


def dataset_sizes(dataset: PackedDataset) -> tuple[Features, Features]:
    """The features of nodes, and those of edges or of their directions.

    >>> import planegraph as pg
    >>> dataset_sizes(PackedDataset.from_graphs([pg.Graph(2, [(0, 1)], node_labels=[6, 8], edge_labels=[0.5])]))
    (Categorical(sizes=(9,)), Continuous(width=1))
    """
    return feature_sizes("x", dataset.x), feature_sizes("edge_attr", dataset.features.edges)


def feature_sizes(name: str, values: np.ndarray | None) -> Features:
    """Integers are categories from 0 to the largest, floats are numbers; None without rows. ``name`` is for messages.

    >>> feature_sizes("x", np.array([[0, 3], [2, 1]]))
    Categorical(sizes=(3, 4))
    """
    if values is None or values.size == 0:
        return None
    rows = values.reshape(-1, values.shape[-1])
    if rows.dtype.kind == "f":
        return Continuous(rows.shape[1])
    least, most = rows.min(0), rows.max(0)
    if least.min() < 0:
        column = int(least.argmin())
        raise InvalidGraphError(
            f"{name}, column {column}, has the category {least[column]}; number the categories from 0, or make the column floats"
        )
    if most.max() >= _MOST_CATEGORIES:
        column = int(most.argmax())
        raise InvalidGraphError(
            f"{name}, column {column}, has the category {most[column]}, and a model has weights for each category up to the largest; if "
            "these are ids, number them from 0 without gaps or leave them out, if they are quantities, make the column floats"
        )
    return Categorical(tuple(int(size) + 1 for size in most))
