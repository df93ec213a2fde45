"""Checks of a record: everything that follows from something else in it is computed again.

- the trials are all seeds times all folds, each once, and the log has every epoch of every trial
- the best epoch of a trial is the best of the log (where accuracies tie, the one with the smaller loss), and its validation figure is there
- the test figure is that of the predictions, on the same graphs for all trials of a fold
- mean and standard deviation are those of the trials; ``result.json`` and ``settings.yaml`` agree

Earlier records have logs and predictions of six digits, so figures are compared to that. O(size of the record).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ..runs.settings import RunSettings
from ..tasks.metrics import error_of, mean_figure, metrics_of
from ..train.metrics import probabilities
from .published import MEASURES

if TYPE_CHECKING:
    from ..runs.folder import Curve, Predictions
    from .records import Record

Problems = Iterator[tuple[str, str]]
"""Files and what is wrong in them."""

_DIGITS = 5.05e-6  # half a unit of the sixth digit, relative, and the rounding of float32
_TIED = 1e-4  # the most that ties of rounded scores may change a ROC-AUC
_RANKED = ("rocauc", "prauc")  # only the order of outputs counts


def check_record(record: Record) -> None:
    """Raises RecordError with the file and the problem."""
    from .records import RecordError

    train = (_check_trials, _check_log, _check_summary, _check_predictions)
    for check in (_check_rows,) if record.facts["kind"] == "measure" else train:
        for file, problem in check(record):
            raise RecordError(f"{record.folder / file}: {problem}")


def _check_rows(record: Record) -> Problems:
    rows = record.result.get("rows")
    if not (isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows)):
        yield "result.json", "rows must be a list of objects, at least one"
    known = next((measure for measure in MEASURES if measure.name == record.name), None)
    for k, row in enumerate(rows):
        kinds = {column: _kind(value) for column, value in row.items()}
        if row.keys() != rows[0].keys() or "" in kinds.values():
            yield "result.json", f"row {k} is not the columns {', '.join(rows[0])}, each a text or a number; found {row}"
        if known is not None and (kinds.get(known.key), kinds.get(known.value)) != ("text", "number"):
            yield "result.json", f"row {k} must have a text {known.key!r} and a number {known.value!r}; found {row}"


def _kind(value: Any) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
    return "text" if isinstance(value, str) else "number" if number else ""


def _check_trials(record: Record) -> Problems:
    result, settings = record.result, record.settings
    found = [(trial["seed"], trial["fold"]) for trial in result["trials"]]
    if len(set(found)) != len(found):
        yield "result.json", "duplicate trial"
    folds = {fold for _, fold in found}
    seeds = range(settings.train.seed, settings.train.seed + settings.train.seeds)
    missing = sorted(map(str, {(seed, fold) for seed in seeds for fold in folds}.symmetric_difference(found)))
    if missing or not found:
        yield "result.json", f"its trials are not {settings.train.seeds} seeds times {len(folds)} folds: {missing[:3]}"
    if result["model_class"] != settings.model_class:
        yield "result.json", f"model_class differs from settings.yaml, which has {settings.model_class}"
    known = task_names(settings)
    if result["task"] not in known:
        yield "result.json", f"task {result['task']!r} differs from settings.yaml, which has {' or '.join(known)}"


def task_names(settings: RunSettings) -> list[str]:
    """The possible names of a task with these settings: a name also says that edge features are left out, and which target is learned.

    >>> task_names(RunSettings("zinc12k", options={"edge_features": False}))
    ['zinc12k', 'zinc12k-no-edge-features']
    >>> task_names(RunSettings("qm9", options={"target": "mu"}))
    ['qm9-mu']
    """
    target, edges = settings.options.get("target"), settings.options.get("edge_features")
    names = [settings.task, *([f"{settings.task}-no-edge-features"] if edges is False else [])]
    return names if target is None else [f"{name}-{target}" for name in names]


def _check_log(record: Record) -> Problems:
    train, curves = record.settings.train, {(curve.seed, curve.fold): curve for curve in record.curves}
    epochs = np.arange(1, train.epochs + 1)
    idle = (epochs % train.eval_every != 0) & (epochs != train.epochs)
    for trial in record.result["trials"]:
        curve, name = curves.pop((trial["seed"], trial["fold"]), None), f"seed {trial['seed']}, fold {trial['fold']}"
        if curve is None or not np.array_equal(curve.epoch, epochs):
            found = 0 if curve is None else len(curve.epoch)
            yield "log.jsonl", f"{name}: {found} epochs, not each of 1 to {train.epochs} once and in order"
        there = np.isfinite(curve.loss) & (idle | np.isfinite(curve.val) & np.isfinite(curve.val_loss))
        if not there.all():
            yield "log.jsonl", f"{name}, epoch {np.argmin(there) + 1}: a number is missing or not finite"
        for problem in _best_epoch_problems(record.result, trial, curve):
            yield "result.json", f"{name}: {problem}"
    for seed, fold in curves:
        yield "log.jsonl", f"result.json has no trial with seed {seed}, fold {fold}"


def _best_epoch_problems(result: Mapping[str, Any], trial: Mapping[str, Any], curve: Curve) -> Iterator[str]:
    best, errors = trial["best_epoch"], error_of(metrics_of(result["kind"])[result["metric"]], curve.val)
    if not (isinstance(best, int) and 1 <= best <= len(curve.val) and np.isfinite(curve.val[best - 1])):
        yield f"best_epoch {best} is not an epoch that was validated"
    for key, values in (("val", curve.val), ("val_loss", curve.val_loss)):
        if not math.isclose(trial[key], values[best - 1], rel_tol=_DIGITS, abs_tol=1e-12):
            yield f"{key} is {trial[key]:.6g}, but {values[best - 1]:.6g} in log.jsonl at epoch {best}"
    better = errors < errors[best - 1]
    if result["metric"] == "accuracy":
        better |= (errors == errors[best - 1]) & (curve.val_loss < curve.val_loss[best - 1])
    if better.any():
        yield f"epoch {np.argmax(better) + 1} of log.jsonl is better than best_epoch {best}"


def _check_summary(record: Record) -> Problems:
    for part in ("test", "val"):
        values = np.array([trial[part] for trial in record.result["trials"]], float)
        if not np.isfinite(values).all():
            yield "result.json", f"a {part} figure is not finite"
        mean, std = float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else 0.0
        said = record.result[part]
        if not (math.isclose(said["mean"], mean, rel_tol=1e-9) and math.isclose(said["std"], std, rel_tol=1e-6, abs_tol=1e-12)):
            yield (
                "result.json",
                f"{part} is given as {said['mean']:.6g} ± {said['std']:.6g}, but its trials have {mean:.6g} ± {std:.6g}",
            )


def _check_predictions(record: Record) -> Problems:
    first: dict[Any, Predictions] = {}
    for trial, (name, found) in zip(record.result["trials"], record.tests.items(), strict=True):
        file = f"models/{name}/test.safetensors"
        other = first.setdefault(trial["fold"], found)
        if not (
            np.array_equal(found.id, other.id) and np.array_equal(found.true, other.true, equal_nan=found.true.dtype.kind == "f")
        ):
            yield file, "ids or targets differ from those of the other trials"
        if len(found.id) != len(found.true) or len(set(found.id.tolist())) != len(found.id):
            yield file, "a duplicate graph, or one without target"
        if not np.isfinite(found.predicted).all():
            yield file, "a number is not finite"
        value, tolerance = _figure(record.result, found)
        if not abs(value - trial["test"]) <= tolerance + 1e-12 * abs(value):
            yield file, f"it gives {value:.9g}, but test is {trial['test']:.9g} in result.json"


def _figure(result: Mapping[str, Any], found: Predictions) -> tuple[float, float]:
    """The figure of the predictions, and how far rounding to six digits may have moved it; it keeps signs and classes."""
    metric = result["metric"]
    predicted, true = found.predicted.astype(np.float64), found.true.reshape(len(found.id), -1).astype(np.float64)
    if metric not in _RANKED:
        predicted = probabilities(result["kind"], torch.from_numpy(predicted)).numpy()
    if metric == "mae":
        scale = np.asarray(result.get("scale") or 1.0)
        predicted, true = predicted / scale, true / scale
    rounding = _DIGITS * float(np.nanmean(np.abs(predicted)) + np.nanmean(np.abs(true)))
    tolerance = 0.0 if metric == "accuracy" else _TIED if metric in _RANKED else rounding
    return mean_figure(result["kind"], metric, true, predicted), tolerance
