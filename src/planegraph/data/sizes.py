"""Kind and sizes of features, read from their values: what a model must know to embed them. One pass: O(size)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..errors import InvalidGraphError
from .packed import PackedDataset

FeatureSizes = (
    tuple[Literal["categorical"], tuple[int, ...]]
    | tuple[Literal["continuous"], int]
    | tuple[Literal["mixed"], tuple[tuple[int, ...], int]]
    | None
)
"""Categories of each column; the number of float columns; both, if the first columns of floats hold categories; None: no features."""

_MOST_CATEGORIES = 10**6


def dataset_sizes(dataset: PackedDataset) -> tuple[FeatureSizes, FeatureSizes]:
    """The features of nodes, and those of edges or of their directions.

    >>> import planegraph as pg
    >>> dataset_sizes(PackedDataset.from_graphs([pg.Graph(2, [(0, 1)], node_labels=[6, 8], edge_labels=[0.5])]))
    (('categorical', (9,)), ('continuous', 1))
    """
    return feature_sizes("x", dataset.x), feature_sizes("edge_attr", dataset.features.edges)


def feature_sizes(name: str, values: np.ndarray | None) -> FeatureSizes:
    """Integers are categories from 0 to the largest, floats are numbers; None without rows. ``name`` is for messages.

    >>> feature_sizes("x", np.array([[0, 3], [2, 1]]))
    ('categorical', (3, 4))
    """
    if values is None or values.size == 0:
        return None
    rows = values.reshape(-1, values.shape[-1])
    if rows.dtype.kind == "f":
        return "continuous", rows.shape[1]
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
    return "categorical", tuple(int(size) + 1 for size in most)
