"""The seam between datasets and training: packed graphs, who is trained on and tested, and how an answer is judged. Plain data only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
        targets: None, or the names of the columns of y if each is to have a model of its own; ``outputs`` is that of one of them.
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
    targets: tuple[str, ...] | None = None

    def of_target(self, target: str | None) -> Task:
        """The task of one of its targets, by name; the task itself for None. Graphs are shared."""
        if target is None:
            return self
        column = self.targets.index(target)
        dataset = self.dataset.with_y(self.dataset.y[:, [column]])
        scale = self.scale[column] if isinstance(self.scale, tuple) else self.scale
        return replace(self, name=f"{self.name}-{target}", dataset=dataset, scale=scale, targets=None)
