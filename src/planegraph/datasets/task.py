"""The seam between datasets and training: packed graphs, who is trained on and tested, and how an answer is judged. Plain data only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..data.packed import PackedDataset

Split = Mapping[str, np.ndarray]
FeatureSizes = tuple[Literal["categorical"], tuple[int, ...]] | tuple[Literal["continuous"], int] | None


@dataclass(frozen=True)
class Task:
    """A dataset with its splits and its measure.

    Args:
        name: of the task, for files and messages.
        dataset: the graphs; ``y`` is (G, targets) float32, or (G,) int64 classes.
        splits: ids of the graphs in "train", "val" and "test"; or ``folds``: a list of such splits, for cross-validation.
        node_features, edge_features: ("categorical", sizes), ("continuous", width) or None.
        kind: what is predicted. loss: what is trained on. metric: what is reported.
        outputs: width of the model's output. output: what is applied to it.
        scale: the metric is divided by this before it is reported; a factor, or one for each target.
        notes: what a reader of the results should know.

    >>> import planegraph as pg
    >>> ds = PackedDataset.from_graphs([pg.families.cycle(n) for n in (3, 4, 5)], y=[[0.0], [1.0], [2.0]])
    >>> Task("rings", ds, {"train": np.array([0]), "val": np.array([1]), "test": np.array([2])}).metric
    'mae'
    """

    name: str
    dataset: PackedDataset
    splits: Split | None = None
    folds: Sequence[Split] | None = None
    node_features: FeatureSizes = None
    edge_features: FeatureSizes = None
    kind: Literal["regression", "binary", "multiclass"] = "regression"
    loss: Literal["l1", "mse", "rmse", "bce", "ce"] = "l1"
    metric: Literal["mae", "rocauc", "accuracy"] = "mae"
    outputs: int = 1
    output: Literal["identity", "sigmoid"] = "identity"
    scale: float | tuple[float, ...] | None = None
    notes: str = ""
