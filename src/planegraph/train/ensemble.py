"""What the seeds of a run say together: the mean of their predictions, its figures, and intervals around it.

Seeds on the same split are an ensemble; folds are judged one by one, and their figures averaged. An interval is the ensemble's mean plus or
minus the conformal quantile of its residuals on validation, so that it covers the truth of a new molecule like those with the stated
probability; how many test molecules it covers is counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..datasets.metrics import figures, interval_quantile
from ..datasets.task import Task
from .checkpoint import load_checkpoint
from .lanes import lane_name

COVERAGE = 0.9


def summarise_ensemble(task: Task, folder: Path, lanes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """``val`` and ``test``: all metrics of each target; for regression ``intervals`` of each target."""
    by_fold: dict[int | None, list[Mapping[str, Any]]] = {}
    for lane in lanes:
        by_fold.setdefault(lane["fold"], []).append(lane)
    parts = [{part: _mean_prediction(task, folder, mine, part) for part in ("val", "test")} for mine in by_fold.values()]
    found: dict[str, Any] = {"models": len(lanes)}
    for part in ("val", "test"):
        found[part] = _averaged([figures_of(task, *of_fold[part]) for of_fold in parts])
    if task.kind == "regression":
        folds = [(of_fold["val"], of_fold["test"]) for of_fold in parts]
        found["intervals"] = {name: _interval(folds, k) for k, name in enumerate(task.names)}
    return found


def figures_of(task: Task, true: np.ndarray, predicted: np.ndarray) -> dict[str, dict[str, float]]:
    """All metrics of each target by its name."""
    if task.kind == "multiclass":
        return {task.names[0]: figures(task.kind, true[:, 0], predicted)}
    return {name: figures(task.kind, true[:, k], predicted[:, k]) for k, name in enumerate(task.names)}


def probabilities(kind: str, outputs: torch.Tensor) -> torch.Tensor:
    """A model's outputs as what people read: values as they are, classes by their probability."""
    if kind == "multiclass":
        return outputs.softmax(-1)
    return outputs.sigmoid() if kind == "binary" else outputs


def _mean_prediction(task: Task, folder: Path, lanes: Sequence[Mapping[str, Any]], part: str) -> tuple[np.ndarray, np.ndarray]:
    """Truth (n, targets) and mean prediction (n, outputs) of the seeds of one split."""
    predicted, true = [], None
    for lane in lanes:
        path = folder / "models" / lane_name(lane["seed"], lane["fold"]) / f"{part}.safetensors"
        tensors, _ = load_checkpoint(path)
        predicted.append(probabilities(task.kind, tensors["predicted"].double()).numpy())
        true = tensors["true"].double().numpy()
    return true.reshape(len(true), -1), np.mean(predicted, axis=0)


def _averaged(folds: Sequence[Mapping[str, Mapping[str, float]]]) -> dict[str, dict[str, float | None]]:
    """The mean over folds of each figure of each target; None where no fold defines it."""
    found: dict[str, dict[str, float | None]] = {}
    for name, first in folds[0].items():
        columns = {metric: np.array([fold[name][metric] for fold in folds]) for metric in first}
        kept = {metric: values[~np.isnan(values)] for metric, values in columns.items()}
        found[name] = {metric: float(values.mean()) if len(values) else None for metric, values in kept.items()}
    return found


def _interval(
    folds: Sequence[tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]], target: int
) -> dict[str, float]:
    """The mean half width over the folds, and the share of test values that their fold's interval covers; None if there are too few."""
    widths, inside = [], []
    for val, test in folds:
        residuals = [(true - predicted)[:, target] for true, predicted in (val, test)]
        residuals = [np.abs(r[~np.isnan(r)]) for r in residuals]
        widths.append(interval_quantile(residuals[0], COVERAGE))
        inside.append(residuals[1] <= widths[-1])
    covered, width = np.concatenate(inside), float(np.mean(widths))
    return {
        "coverage": COVERAGE,
        "half_width": width if np.isfinite(width) else None,
        "test_coverage": float(covered.mean()) if len(covered) else None,
    }
