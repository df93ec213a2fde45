"""Weights of training graphs: how much each counts in the loss.

They are kept as ``attrs["sample_weight"]`` of the dataset, scaled to a mean of 1 over the training graphs: a factor common to all changes
nothing, and the learning rate keeps its meaning. Figures of validation and test do not read them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import PlanegraphError

if TYPE_CHECKING:
    from .task import Task


def scaled_weights(weights: np.ndarray, train: np.ndarray) -> np.ndarray:
    """The weights as float32, scaled to a mean of 1 over the graphs ``train``.

    >>> scaled_weights(np.array([1.0, 3.0, 8.0]), np.array([0, 1])).tolist()
    [0.5, 1.5, 4.0]
    """
    scaled = weights / weights[train].max()  # first: a sum of large weights may overflow
    return (scaled / scaled[train].mean()).astype(np.float32)


def are_weights(weights: np.ndarray, train: np.ndarray) -> bool:
    """Whether they are one number for each graph, and those of training graphs finite, at least 0 and not all 0."""
    return weights.ndim == 1 and bad_weight(weights[train]) is None and bool(weights[train].any())


def bad_weight(weights: np.ndarray) -> int | None:
    """The position of the first that is negative or not finite, if there is one.

    >>> bad_weight(np.array([1.0, 0.0, -2.0]))
    2
    """
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    return int(bad[0]) if len(bad) else None


def check_weights(task: Task) -> None:
    """PlanegraphError, which names the task, unless the weights are finite, at least 0, and some training graph of each split has one."""
    weights = task.dataset.attrs.get("sample_weight")
    if weights is None:
        return
    if weights.ndim != 1:
        raise PlanegraphError(f"task {task.name}: sample_weight must be one number for each graph; found shape {weights.shape}")
    for title, part, ids in task.parts():
        if part != "train" or not len(ids):
            continue
        bad = bad_weight(weights[ids])
        if bad is not None:
            raise PlanegraphError(
                f"task {task.name}: sample_weight must be finite and at least 0; found {weights[ids[bad]]} at graph {ids[bad]}, in {title}"
            )
        if not weights[ids].any():
            raise PlanegraphError(f"task {task.name}: all weights are 0 in {title}; there is nothing to learn")
