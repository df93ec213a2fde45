"""Predictions in the units of their targets, and how good they are on all graphs of a part: in float64, every graph counted once."""

from __future__ import annotations

from math import nan

import numpy as np
import torch

from ..tasks.losses import activate, graph_losses, mean_loss
from ..tasks.metrics import error_of, figures_by_name, mean_figure, metrics_of
from ..tasks.task import Task

_RANKED = ("rocauc", "prauc")  # only the order counts, which a sigmoid in floating point does not always keep


def evaluate(task: Task, raw: torch.Tensor, y: torch.Tensor) -> dict[str, float]:
    """Metric, error (lower is better) and loss of the outputs (n, outputs) of all graphs of a part; NaN if an output is."""
    raw = raw.double()
    losses = graph_losses(task, raw, y)
    metric = nan if raw.isnan().any() else metric_of(task, raw, y)
    error = error_of(metrics_of(task.kind)[task.metric], metric)
    return {"metric": metric, "error": error, "loss": mean_loss(task, float(losses.sum()), len(losses))}


def metric_of(task: Task, raw: torch.Tensor, y: torch.Tensor) -> float:
    """The figure that is reported; for several targets their mean."""
    if task.metric == "mae":
        found = mae_by_target(task, raw, y)
        measured = (~torch.isnan(y.reshape(raw.shape))).any(0).numpy() if task.missing else slice(None)
        return float(np.mean(found[measured]))
    return mean_figure(task.kind, task.metric, truths(task, y), raw.numpy() if task.metric in _RANKED else answers(task, raw))


def mae_by_target(task: Task, raw: torch.Tensor, y: torch.Tensor) -> np.ndarray:
    """The mean absolute error of each target, divided by the task's scale; NaN where nothing was measured."""
    true = truths(task, y)
    wrong, measured = np.abs(answers(task, raw) - true), ~np.isnan(true)
    with np.errstate(invalid="ignore"):
        found = np.where(measured, wrong, 0).sum(0) / measured.sum(0)
    return found / np.asarray(1.0 if task.scale is None else task.scale, np.float64)


def figures_by_target(task: Task, raw: torch.Tensor, y: torch.Tensor) -> dict[str, dict[str, float]]:
    """All metrics of each target, by its name."""
    return figures_by_name(task.kind, task.names, truths(task, y), answers(task, raw))


def answers(task: Task, raw: torch.Tensor) -> np.ndarray:
    """(n, outputs) in float64: values in their units, or probabilities."""
    raw = raw.double()
    if task.kind == "regression":
        return in_units(task, activate(task, raw)).numpy()
    return probabilities(task.kind, raw).numpy()


def probabilities(kind: str, outputs: torch.Tensor) -> torch.Tensor:
    """A model's outputs as what people read: values as they are, classes by their probability."""
    if kind == "multiclass":
        return outputs.softmax(-1)
    return outputs.sigmoid() if kind == "binary" else outputs


def truths(task: Task, y: torch.Tensor) -> np.ndarray:
    """(n, targets) in float64: the targets in the same units."""
    return in_units(task, y.reshape(len(y), -1).double()).numpy()


def in_units(task: Task, values: torch.Tensor) -> torch.Tensor:
    """Standardised values (n, outputs) in the units of their targets."""
    if task.units is None:
        return values
    center, spread = values.new_tensor(task.units).T
    return values * spread + center
