"""MAE, ROC-AUC and accuracy over all graphs of a part: exact, in float64, every graph counted once.

Selection compares *errors*, lower is better: the MAE itself, or one minus the others.
"""

from __future__ import annotations

import numpy as np
import torch

from ..datasets.task import Task
from ..errors import PlanegraphError
from .losses import activate, graph_losses, mean_loss


def evaluate(task: Task, raw: torch.Tensor, y: torch.Tensor) -> dict[str, float]:
    """Metric, error and loss of the outputs (n, outputs) of all graphs of a part."""
    raw = raw.double()
    losses = graph_losses(task, raw, y)
    metric = metric_of(task, raw, y)
    error = metric if task.metric == "mae" else 1 - metric
    return {"metric": metric, "error": error, "loss": mean_loss(task, float(losses.sum()), len(losses))}


def metric_of(task: Task, raw: torch.Tensor, y: torch.Tensor) -> float:
    """The figure that is reported; for several targets their mean."""
    if task.metric == "mae":
        return float(np.mean(mae_by_target(task, raw, y)))
    if task.metric == "rocauc":
        return float(np.mean([roc_auc(s, t) for s, t in zip(*(_columns(v) for v in (raw, y)), strict=True)]))
    if task.kind == "multiclass":
        return float((raw.argmax(-1) == y.reshape(-1)).double().mean())
    return float(((raw > 0) == (y.reshape(raw.shape) > 0.5)).double().mean())


def mae_by_target(task: Task, raw: torch.Tensor, y: torch.Tensor) -> np.ndarray:
    """The mean absolute error of each target, divided by the task's scale."""
    found = (activate(task, raw.double()) - y.reshape(raw.shape).double()).abs().mean(0).numpy()
    return found / np.asarray(1.0 if task.scale is None else task.scale, np.float64)


def roc_auc(scores: np.ndarray, positive: np.ndarray) -> float:
    """The probability that a positive scores higher than a negative, ties counting half. O(n log n).

    >>> roc_auc(np.array([0.1, 0.4, 0.4, 0.8]), np.array([0, 0, 1, 1]))
    0.875
    """
    positive = np.asarray(positive) > 0.5
    p, n = int(positive.sum()), int((~positive).sum())
    if p == 0 or n == 0:
        raise PlanegraphError(f"ROC-AUC needs graphs of both classes; found {p} positive and {n} negative")
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]  # from 1; the mean rank where scores tie
    return float((ranks[positive].sum() - p * (p + 1) / 2) / (p * n))


def _columns(values: torch.Tensor) -> np.ndarray:
    array = values.double().numpy()
    return array.reshape(len(array), -1).T
