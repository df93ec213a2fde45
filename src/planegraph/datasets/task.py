"""The seam between datasets and training: packed graphs, who is trained on and tested, and how an answer is judged. Plain data only."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Literal

import numpy as np

from ..data.packed import PackedDataset
from ..errors import PlanegraphError
from .feature_checks import FeatureSizes, check_features

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_RESERVED = re.compile(r"models|tensorboard|group\d+")
Split = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Task:
    """A dataset with its splits and its measure.

    Args:
        name: of the task, for files and messages.
        dataset: the graphs; ``y`` is (G, outputs) numbers, float32 as a rule, or (G,) if there is one; of "multiclass" (G,) integers
            from 0 to outputs - 1.
        splits: ids of the graphs in "train", "val" and "test"; or ``folds``: a list of such splits, for cross-validation.
        node_features, edge_features: ("categorical", sizes), ("continuous", width) or None; see feature_checks.py.
        kind: what is predicted. loss: what is trained on. metric: what is reported.
        outputs: width of the model's output. output: what is applied to it.
        scale: the metric is divided by this before it is reported; a factor, or one for each target.
        targets: None, or the names of the columns of y if each is to have a model of its own; ``outputs`` is that of one of them.
        notes: what a reader of the results should know.
        features_checked: the features are those of a task that was checked, and are not read again.

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
    features_checked: InitVar[bool] = False

    def __post_init__(self, features_checked: bool) -> None:
        try:
            self._check(features_checked)
        except PlanegraphError:
            self.dataset.verify()  # where the file is damaged, that is what is wrong
            raise

    def _check(self, features_checked: bool) -> None:
        if self.targets is not None:
            self._check_targets()
        elif self.dataset.y is None:
            raise PlanegraphError(f"task {self.name}: there is nothing to learn, the dataset has no y")
        elif self.kind == "multiclass":
            self._check_classes()
        else:
            self._check_numbers()
        if not features_checked:
            check_features(self.name, self.dataset, self.node_features, self.edge_features)

    def of_target(self, target: str | None) -> Task:
        """The task of one of its targets, by name; the task itself for None. Graphs are shared."""
        if target is None:
            return self
        if target not in (self.targets or ()):
            raise PlanegraphError(f"task {self.name} has the targets {', '.join(self.targets or ()) or 'none'}; found {target!r}")
        column = self.targets.index(target)
        dataset = self.dataset.with_y(self.dataset.y[:, [column]])
        scale = self.scale[column] if isinstance(self.scale, tuple) else self.scale
        name = f"{self.name}-{target}"
        return replace(self, name=name, dataset=dataset, scale=scale, targets=None, features_checked=True)

    @cached_property
    def digest(self) -> str:
        """Of all that a task decides: how answers are judged, graphs, decompositions, features and targets, who is trained on.

        Reads all arrays once, at about 1 GB/s.
        """
        features = [None if f is None else [f[0], np.asarray(f[1]).tolist()] for f in (self.node_features, self.edge_features)]
        scale = None if self.scale is None else np.asarray(self.scale, float).tolist()
        judged = [self.name, features, self.kind, self.loss, self.metric, self.outputs, self.output, scale, self.targets]
        dataset = self.dataset
        arrays = {**dataset.tables, "y": dataset.y, "x": dataset.x, "edge_attr": dataset.edge_attr, "dart_attr": dataset.dart_attr}
        for k, split in enumerate(self.folds or (self.splits or {},)):
            arrays |= {f"{k}.{part}": np.asarray(ids, np.int64) for part, ids in split.items()}
        found = sha256(json.dumps(judged).encode())
        for name, values in arrays.items():
            if values is not None:
                found.update(f"{name} {values.dtype.str} {values.shape} ".encode())
                found.update(np.ascontiguousarray(values))
        return found.hexdigest()

    @staticmethod
    def options_of(target: str | None) -> dict[str, str]:
        """The options by which a dataset gives the task of this target; none for None."""
        return {} if target is None else {"target": target}

    def _check_numbers(self) -> None:
        """A number for each graph and output."""
        y = self.dataset.y
        if y.shape[1:] != (self.outputs,) and (y.ndim, self.outputs) != (1, 1):
            raise PlanegraphError(
                f"task {self.name}: {self.kind} with outputs={self.outputs} needs y of shape ({len(y)}, {self.outputs}); "
                f"found {y.shape}"
            )

    def _check_classes(self) -> None:
        """One of as many classes as there are outputs for each graph."""
        y = self.dataset.y
        if y.shape[1:] not in ((), (1,)) or y.dtype.kind not in "biu":
            raise PlanegraphError(
                f"task {self.name}: multiclass needs y of shape ({len(y)},), an integer for each graph; found {y.shape}, {y.dtype}"
            )
        outside = y[(y < 0) | (y >= self.outputs)]
        if len(outside):
            raise PlanegraphError(
                f"task {self.name}: {self.outputs} outputs mean classes 0 to {self.outputs - 1}; found {outside[0]}"
            )

    def _check_targets(self) -> None:
        """Names that can be folders, once each, a column of y and a scale for each, and one output."""
        names, y = self.targets, self.dataset.y
        for name in names:
            if not isinstance(name, str) or not _NAME.fullmatch(name) or _RESERVED.fullmatch(name):
                raise PlanegraphError(
                    f"task {self.name}: a target is named by letters, digits, _ and -, and not like a folder of a run; found {name!r}"
                )
        if not names or len(set(names)) < len(names):
            raise PlanegraphError(f"task {self.name}: targets have a name each; found {', '.join(names) or 'none'}")
        columns = y.shape[1] if y is not None and y.ndim == 2 else None
        if columns != len(names):
            found = "no y" if y is None else f"y of shape {y.shape}"
            raise PlanegraphError(f"task {self.name}: {len(names)} targets need y with a column for each; found {found}")
        if isinstance(self.scale, tuple) and len(self.scale) != len(names):
            raise PlanegraphError(f"task {self.name}: {len(names)} targets need as many scales; found {len(self.scale)}")
        if self.outputs != 1 or self.kind == "multiclass":
            raise PlanegraphError(f"task {self.name}: a target of its own is one number; found outputs={self.outputs}, {self.kind}")
