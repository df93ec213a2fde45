"""What the seeds of a run say together: the mean of their predictions, its figures, and intervals around it.

Seeds on the same split are an ensemble; folds are judged one by one, and their figures averaged. An interval is the ensemble's mean plus or
minus the conformal quantile of its residuals on validation, so that it covers the truth of a new molecule like those with the stated
probability; how many test molecules it covers is counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import FormatError
from ..runs.checkpoint import load_checkpoint
from ..runs.trials import trial_name
from ..tasks.metrics import figures_by_name, interval_quantile, mean_over_folds
from ..tasks.task import Task
from .metrics import probabilities

COVERAGE = 0.9


class Together(NamedTuple):
    """What the seeds of one split say of a part: ids (n,), truth (n, targets) and the mean of their predictions (n, outputs)."""

    ids: np.ndarray
    true: np.ndarray
    predicted: np.ndarray


Folds = dict[int | None, dict[str, Together]]
"""The parts val and test of each fold."""


def read_folds(task: Task, folder: Path, trials: Sequence[Mapping[str, Any]]) -> Folds:
    """From the predictions that a finished run keeps beside its models."""
    by_fold: dict[int | None, list[Mapping[str, Any]]] = {}
    for trial in trials:
        by_fold.setdefault(trial["fold"], []).append(trial)
    return {fold: {part: _together(task.kind, folder, mine, part) for part in ("val", "test")} for fold, mine in by_fold.items()}


def summarise_ensemble(task: Task, folds: Folds, models: int) -> dict[str, Any]:
    """``val`` and ``test``: all metrics of each target; for regression ``intervals`` of each target."""
    found: dict[str, Any] = {"models": models}
    for part in ("val", "test"):
        of_part = [parts[part] for parts in folds.values()]
        found[part] = mean_over_folds([figures_by_name(task.kind, task.names, of.true, of.predicted) for of in of_part])
    if task.kind == "regression":
        found["intervals"] = {name: _interval(folds, k) for k, name in enumerate(task.names)}
    return found


def _together(kind: str, folder: Path, trials: Sequence[Mapping[str, Any]], part: str) -> Together:
    files = [folder / "models" / trial_name(trial["seed"], trial["fold"]) / f"{part}.safetensors" for trial in trials]
    for path in files:
        if not path.exists():
            raise FormatError(f"{path} is missing; remove {folder / 'result.json'}, and the same command writes both again")
    tensors = [load_checkpoint(path)[0] for path in files]
    predicted = np.mean([probabilities(kind, of["predicted"].double()).numpy() for of in tensors], axis=0)
    ids, true = tensors[0]["id"].numpy(), tensors[0]["true"].double().numpy()
    return Together(ids, true.reshape(len(ids), -1), predicted.reshape(len(ids), -1))


def _interval(folds: Folds, target: int) -> dict[str, float | None]:
    """The mean half width over the folds, and the share of test values that their fold's interval covers; None if there are too few."""
    widths, inside = [], []
    for parts in folds.values():
        residuals = [(parts[part].true - parts[part].predicted)[:, target] for part in ("val", "test")]
        residuals = [np.abs(r[~np.isnan(r)]) for r in residuals]
        widths.append(interval_quantile(residuals[0], COVERAGE))
        inside.append(residuals[1] <= widths[-1])
    covered, width = np.concatenate(inside), float(np.mean(widths))
    return {
        "coverage": COVERAGE,
        "half_width": width if np.isfinite(width) else None,
        "test_coverage": float(covered.mean()) if len(covered) and np.isfinite(width) else None,
    }
