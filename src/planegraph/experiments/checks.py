"""Is a record sound? What follows from something else in it is computed again.

- the trials are all seeds times all folds, each once, and the log has every epoch of every trial
- the best epoch of a trial is the best of the log (where accuracies tie, the one with the smaller loss), and its validation figure is there
- the test figure is what the predictions give; tasks with several outputs keep none
- mean and standard deviation are those of the trials; ``record.json``, ``result.json`` and ``settings.yaml`` agree

Tables have six digits, so figures are compared to that. O(size of the record).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..nn.model import FORMAT
from ..runs.settings import RunSettings
from .published import MEASURE_NAMES, ROW_NAMES

if TYPE_CHECKING:
    from .records import Record, Row

Problems = Iterator[tuple[str, str]]
"""Files and what is wrong in them."""

_DIGITS = 5.05e-6  # half a unit of the sixth digit, relative, and the rounding of float32
_TIED = 1e-4  # how far rounded scores, where some tie, may move a ROC-AUC

_KINDS: dict[str, Callable[[Any], bool]] = {
    "a text": lambda value: isinstance(value, str),
    "a text or null": lambda value: value is None or isinstance(value, str),
    "a number": lambda value: _is_number(value) and value >= 0,
    "a number above 0": lambda value: _is_number(value) and value > 0,
    "a whole number above 0": lambda value: _is_number(value) and isinstance(value, int) and value > 0,
    f"a whole number from 1 to {FORMAT}": lambda value: _is_number(value) and value in range(1, FORMAT + 1),
    "given": lambda value: True,
}
_SESSION = {"commit": "a text or null", "dirty": "given", "date": "a text", "command": "a text"}
_FACTS = {**_SESSION, "machine.device": "a text", "seconds": "a number", "trials": "a number"}
_FACTS |= {f"machine.{name}": "given" for name in ("cpu", "cores", "memory_gb", "python", "torch", "planegraph")}
_OPTIONAL = {"note": "a text", "notes": "a text", "model_format": f"a whole number from 1 to {FORMAT}"}
_TIME, _COUNT = "a number above 0", "a number"
_MEASURED = {
    "tiger": {"graph": "a text", "nodes": _COUNT, "edges": _COUNT}
    | {f"{what}_seconds": _TIME for what in ("preprocessing", "baseplane_epoch", "gin_epoch")},
    "expressiveness": {"set": "a text"}
    | dict.fromkeys(("graphs", "pairs", "baseplane_told_apart", "gin_told_apart", "baseplane_smallest_gap"), _COUNT),
}


def check_record(record: Record) -> None:
    """Raises RecordError with the file and the problem."""
    from .records import RecordError

    train = (_check_training, _check_trials, _check_log, _check_summary, _check_predictions)
    for check in (_check_facts, *((_check_rows,) if record.facts["kind"] == "measure" else train)):
        for file, problem in check(record):
            raise RecordError(f"{record.folder / file}: {problem}")


def problem_of(values: Mapping[str, Any], wanted: Mapping[str, str]) -> str:
    """What is missing or of another kind; empty if nothing is.

    >>> problem_of({"date": 5}, {"date": "a text"})
    'date must be a text; found 5'
    """
    for name, kind in wanted.items():
        if name not in values:
            return f"{name} is missing"
        if not _KINDS[kind](values[name]):
            return f"{name} must be {kind}; found {values[name]!r}"
    return ""


def sessions_problem(sessions: object) -> str:
    """What is wrong with the sessions of a run, each of which says where it was trained.

    >>> sessions_problem([])
    'sessions must be a list, at least one; found []'
    """
    if not isinstance(sessions, list) or not sessions:
        return f"sessions must be a list, at least one; found {sessions!r}"
    problems = (problem_of(_flat(session), {**_SESSION, "machine.device": "a text"}) for session in sessions)
    return next((f"session {k}: {problem}" for k, problem in enumerate(problems) if problem), "")


def _flat(facts: object) -> dict[str, Any]:
    """With the facts of the machine as ``machine.NAME``."""
    facts = facts if isinstance(facts, Mapping) else {}
    machine = facts.get("machine")
    return {**facts, **({f"machine.{k}": v for k, v in machine.items()} if isinstance(machine, Mapping) else {})}


def _check_facts(record: Record) -> Problems:
    kind = record.facts["kind"]
    if record.name in {"measure": ROW_NAMES, "train": MEASURE_NAMES}[kind]:
        yield "record.json", f"kind cannot be {kind!r} of what is named {record.name}"
    for file, values, wanted in (("record.json", _flat(record.facts), _FACTS), ("result.json", record.result, {})):
        problem = problem_of(values, wanted | {k: v for k, v in _OPTIONAL.items() if k in values})
        if problem:
            yield file, problem


def _check_rows(record: Record) -> Problems:
    rows = record.result.get("rows")
    if not (isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows)):
        yield "result.json", "rows must be a list of objects, at least one"
        return
    for k, row in enumerate(rows):
        problem = problem_of(row, _MEASURED.get(record.name, {}))
        if problem:
            yield "result.json", f"row {k}: {problem}"


def _check_training(record: Record) -> Problems:
    problem = sessions_problem(record.facts.get("sessions")) or problem_of(record.facts, {"parameters": "a whole number above 0"})
    if problem:
        yield "record.json", problem
    missing = problem_of(
        record.result, dict.fromkeys(("task", "metric", "model_class", "test", "val", "seconds", "trials"), "given")
    )
    if missing:
        yield "result.json", missing


def _check_trials(record: Record) -> Problems:
    result, settings = record.result, record.settings
    found = [(trial["seed"], trial["fold"]) for trial in result["trials"]]
    if len(set(found)) != len(found):
        yield "result.json", "a trial is there twice"
    folds = {fold for _, fold in found}
    seeds = range(settings.train.seed, settings.train.seed + settings.train.seeds)
    missing = sorted(map(str, {(seed, fold) for seed in seeds for fold in folds}.symmetric_difference(found)))
    if missing:
        yield "result.json", f"its trials are not {settings.train.seeds} seeds times {len(folds)} folds: {missing[:3]}"
    if result["model_class"] != settings.model_class:
        yield "result.json", f"model_class is not that of settings.yaml, {settings.model_class}"
    known = task_names(settings)
    if result["task"] not in known:
        yield "result.json", f"task {result['task']!r} is not that of settings.yaml, {' or '.join(known)}"
    if record.facts["trials"] != len(found):
        yield "record.json", f"trials must be {len(found)}"
    if not _close(record.facts["seconds"], result["seconds"]):
        yield "record.json", "seconds are not those of result.json"


def task_names(settings: RunSettings) -> list[str]:
    """What a task of these settings may be called: its name also says that edge features are left out, and which target is learned.

    >>> task_names(RunSettings("zinc12k", options={"edge_features": False}))
    ['zinc12k', 'zinc12k-no-edge-features']
    >>> task_names(RunSettings("qm9", options={"target": "mu"}))
    ['qm9-mu']
    """
    target, edges = settings.options.get("target"), settings.options.get("edge_features")
    names = [settings.task, *([f"{settings.task}-no-edge-features"] if edges is False else [])]
    return names if target is None else [f"{name}-{target}" for name in names]


def _check_log(record: Record) -> Problems:
    train = record.settings.train
    by_trial: dict[tuple[Any, Any], list[Row]] = {(trial["seed"], trial["fold"]): [] for trial in record.result["trials"]}
    for row in record.log:
        key = (row["seed"], row["fold"])
        if key not in by_trial:
            yield "log.csv", f"result.json has no trial with seed {key[0]}, fold {key[1]}"
        by_trial[key].append(row)
    for trial in record.result["trials"]:
        rows, name = by_trial[trial["seed"], trial["fold"]], f"seed {trial['seed']}, fold {trial['fold']}"
        epochs = [row["epoch"] for row in rows]
        if epochs != list(range(1, train.epochs + 1)):
            yield "log.csv", f"{name}: {len(epochs)} epochs, not each of 1 to {train.epochs} once and in order"
        for row in rows:
            due = row["epoch"] % train.eval_every == 0 or row["epoch"] == train.epochs
            numbers = [row["loss"], row["seconds"], *([row["val"], row["val_loss"]] if due else [])]
            if not all(v is not None and math.isfinite(v) for v in numbers):
                yield "log.csv", f"{name}, epoch {row['epoch']}: a number is missing or not finite"
        for problem in _best_epoch_problems(record.result["metric"], trial, rows):
            yield "result.json", f"{name}: {problem}"


def _best_epoch_problems(metric: str, trial: Mapping[str, Any], rows: Sequence[Row]) -> Iterator[str]:
    best = trial["best_epoch"]
    if not (isinstance(best, int) and 1 <= best <= len(rows) and rows[best - 1]["val"] is not None):
        yield f"best_epoch {best} is not an epoch that was validated"
    chosen = rows[best - 1]
    for key in ("val", "val_loss"):
        if not _close(trial[key], chosen[key]):
            yield f"{key} is {trial[key]:.6g}, but {chosen[key]:.6g} in log.csv at epoch {best}"
    sign = 1 if metric == "mae" else -1
    for row in rows:
        if row["val"] is None:
            continue
        tie = metric == "accuracy" and row["val"] == chosen["val"] and row["val_loss"] < chosen["val_loss"]
        if sign * row["val"] < sign * chosen["val"] or tie:
            yield f"epoch {row['epoch']} of log.csv is better than best_epoch {best}"


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
                f"{part} is said to be {said['mean']:.6g} ± {said['std']:.6g}; its trials give {mean:.6g} ± {std:.6g}",
            )


def _check_predictions(record: Record) -> Problems:
    from .records import keeps_predictions, trial_name

    file, names = "predictions.csv", [trial_name(trial) for trial in record.result["trials"]]
    if not record.predictions:
        if keeps_predictions(record.result):
            yield file, "it is missing"
        return
    if list(record.predictions) != ["id", "true", *names]:
        yield file, f"its columns are not id, true, {', '.join(names)}"
    if not np.isfinite([value for values in record.predictions.values() for value in values if value is not None]).all():
        yield file, "a number is not finite"
    if len(set(record.predictions["id"])) != len(record.predictions["id"]):
        yield file, "a graph is there twice"
    true = np.array(record.predictions["true"], float)
    for trial, name in zip(record.result["trials"], names, strict=True):
        predicted = np.array(record.predictions[name], float)  # None becomes NaN
        there = ~np.isnan(predicted)
        if not there.any():
            yield file, f"column {name} is empty"
        value, tolerance = _figure(record.result, predicted[there], true[there])
        if abs(value - trial["test"]) > tolerance + 1e-12 * abs(value):
            yield file, f"{name}: they give {value:.9g}, but test is {trial['test']:.9g} in result.json"


def _figure(result: Mapping[str, Any], predicted: np.ndarray, true: np.ndarray) -> tuple[float, float]:
    """The figure that the predictions give, and how far rounding them may have moved it; it keeps signs and classes."""
    from ..tasks.metrics import rocauc

    if result["metric"] == "rocauc":
        return rocauc(true, predicted), _TIED
    if result["metric"] == "accuracy":
        classes = result.get("kind") == "multiclass"
        return float((predicted == true if classes else (predicted > 0) == (true > 0.5)).mean()), 0.0
    scale = result.get("scale") or 1.0
    scale = scale[0] if isinstance(scale, list) else scale
    rounding = _DIGITS * (np.abs(predicted) + np.abs(true))
    return float(np.abs(predicted - true).mean()) / scale, float(rounding.mean()) / scale


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=_DIGITS, abs_tol=1e-12)
