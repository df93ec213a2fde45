"""Is a record sound? Everything in it that follows from something else in it is computed again.

- the trials are all seeds times all folds, each once; the log has every epoch of every trial, once, and the rates of the settings' schedule
- the best epoch of a trial is the best of the log (an error, or one minus an accuracy; where these tie, the smaller loss), and the
  validation figure is the log's at that epoch
- the test figure is what the predictions give, as exactly as their six digits tell it; the time is that of the log and no more than its
  test may take
- mean and standard deviation are those of the trials, and ``record.json`` says what ``result.json`` and ``settings.yaml`` do

The log has six digits, so figures are compared to that. Tasks with several outputs keep no predictions, and their test figure is taken as
it is. O(size of the record).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..nn.model import FORMAT
from ..runs.schedules import Cosine, Plateau
from ..runs.settings import RunSettings, TrainSettings
from .published import MEASURE_NAMES, ROW_NAMES

if TYPE_CHECKING:
    from .records import Record, Row

_FACTS = ("commit", "dirty", "date", "command", "machine", "seconds", "trials")
_MEASURED = {
    "tiger": ("graph", "nodes", "edges", "preprocessing_seconds", "baseplane_epoch_seconds", "gin_epoch_seconds"),
    "expressiveness": ("set", "graphs", "pairs", "baseplane_told_apart", "gin_told_apart", "baseplane_smallest_gap"),
}
_MEASURED_TEXTS = ("graph", "set")
_MACHINE = ("device", "cpu", "cores", "memory_gb", "python", "torch", "planegraph")
_DIGITS = 5e-6  # half a unit of the sixth digit, relative
_MOST_STEPS = 2**30  # of an epoch


def check_record(record: Record) -> None:
    """Raises RecordError with the file and the problem."""
    _check_facts(record)
    if record.facts["kind"] == "measure":
        _check_rows(record)
        return
    problem = sessions_problem(record.facts.get("sessions"))
    _require(record, "record.json", not problem, problem)
    parameters = record.facts.get("parameters")
    sound = isinstance(parameters, int) and not isinstance(parameters, bool) and parameters > 0
    _require(record, "record.json", sound, f"parameters must be a whole number above 0; found {parameters!r}")
    for key in ("task", "metric", "model_class", "test", "val", "seconds", "trials"):
        _require(record, "result.json", key in record.result, f"{key} is missing")
    _check_trials(record)
    _check_log(record)
    _check_seconds(record)
    _check_summary(record)
    _check_predictions(record)


def _check_facts(record: Record) -> None:
    facts = record.facts
    wrong = {"measure": ROW_NAMES, "train": MEASURE_NAMES}[facts["kind"]]
    _require(record, "record.json", record.name not in wrong, f"kind cannot be {facts['kind']!r} of what is named {record.name}")
    for key in _FACTS:
        _require(record, "record.json", key in facts, f"{key} is missing")
    number = facts.get("model_format", 1)
    sound = isinstance(number, int) and not isinstance(number, bool) and 1 <= number <= FORMAT
    _require(record, "record.json", sound, f"model_format must be a whole number from 1 to {FORMAT}; found {number!r}")
    machine = facts["machine"]
    for key in _MACHINE:
        _require(record, "record.json", isinstance(machine, Mapping) and key in machine, f"machine.{key} is missing")
    texts = {key: facts[key] for key in ("date", "command")} | {"machine.device": machine["device"], "note": facts.get("note", "")}
    texts |= {} if facts["commit"] is None else {"commit": facts["commit"]}  # None: nobody knows
    for key, value in texts.items():
        _require(record, "record.json", isinstance(value, str), f"{key} must be a text; found {value!r}")
    seconds, notes = facts["seconds"], record.result.get("notes", "")
    _require(record, "record.json", _is_number(seconds) and seconds >= 0, f"seconds must be a number; found {seconds!r}")
    _require(record, "result.json", isinstance(notes, str), f"notes must be a text; found {notes!r}")


def sessions_problem(sessions: object) -> str:
    """What is wrong with the sessions of a run, each of which says on what device it was; empty if nothing is.

    >>> sessions_problem([{"machine": {"device": "cpu"}}, {"machine": {}}])
    'the machine of session 1 must have a device, a text; found {}'
    """
    if not isinstance(sessions, list) or not sessions:
        return f"sessions must be a list, at least one; found {sessions!r}"
    for k, session in enumerate(sessions):
        machine = session.get("machine") if isinstance(session, Mapping) else None
        if not isinstance(machine, Mapping):
            return f"session {k} must be an object with a machine; found {session!r}"
        if not isinstance(machine.get("device"), str):
            return f"the machine of session {k} must have a device, a text; found {machine!r}"
    return ""


def _check_rows(record: Record) -> None:
    """What was measured: texts, numbers, and times above 0."""
    rows = record.result.get("rows")
    sound = isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows)
    _require(record, "result.json", bool(sound), "rows must be a list of objects, at least one")
    for key in _MEASURED.get(record.name, ()):
        for row in rows:
            _require(record, "result.json", key in row, f"a row has no {key}")
            value = row[key]
            if key in _MEASURED_TEXTS:
                _require(record, "result.json", isinstance(value, str), f"{key} must be a text; found {value!r}")
                continue
            time = key.endswith("_seconds")
            sound = _is_number(value) and (value > 0 if time else value >= 0)
            _require(record, "result.json", sound, f"{key} must be a number{' above' if time else ', at least'} 0; found {value!r}")


def _check_trials(record: Record) -> None:
    trials, train = record.result["trials"], record.settings.train
    found = [(trial["seed"], trial["fold"]) for trial in trials]
    _require(record, "result.json", len(set(found)) == len(found), "a trial is there twice")
    folds = {fold for _, fold in found}
    wanted = {(train.seed + k, fold) for k in range(train.seeds) for fold in folds}
    missing = sorted(map(str, wanted.symmetric_difference(found)))
    _require(record, "result.json", not missing, f"its trials are not {train.seeds} seeds times {len(folds)} folds: {missing[:3]}")
    _require(record, "record.json", record.facts["trials"] == len(found), f"trials must be {len(found)}")
    same = record.result["model_class"] == record.settings.model_class
    _require(record, "result.json", same, f"model_class is not that of settings.yaml, {record.settings.model_class}")
    task, known = record.result["task"], task_names(record.settings)
    _require(record, "result.json", task in known, f"task {task!r} is not that of settings.yaml, {' or '.join(known)}")
    _require(
        record, "record.json", _close(record.facts["seconds"], record.result["seconds"]), "seconds are not those of result.json"
    )


def task_names(settings: RunSettings) -> list[str]:
    """What a task of these settings may be called: datasets say that edge features are left out, and which target is learned.

    >>> task_names(RunSettings("zinc12k", options={"edge_features": False}))
    ['zinc12k', 'zinc12k-no-edge-features']
    >>> task_names(RunSettings("qm9", options={"target": "mu"}))
    ['qm9-mu']
    """
    target, edges = settings.options.get("target"), settings.options.get("edge_features")
    names = [settings.task, *([f"{settings.task}-no-edge-features"] if edges is False else [])]
    return names if target is None else [f"{name}-{target}" for name in names]


def _check_log(record: Record) -> None:
    train = record.settings.train
    by_trial: dict[tuple[Any, Any], list[Row]] = {(trial["seed"], trial["fold"]): [] for trial in record.result["trials"]}
    for row in record.log:
        key = (row["seed"], row["fold"])
        _require(record, "log.csv", key in by_trial, f"result.json has no trial with seed {key[0]}, fold {key[1]}")
        by_trial[key].append(row)
    rates: dict[tuple[float, ...], str] = {}  # those that trials share are checked once
    for trial in record.result["trials"]:
        rows, name = by_trial[trial["seed"], trial["fold"]], f"seed {trial['seed']}, fold {trial['fold']}"
        epochs = [row["epoch"] for row in rows]
        complete = epochs == list(range(1, train.epochs + 1))
        _require(record, "log.csv", complete, f"{name}: {len(epochs)} epochs, not each of 1 to {train.epochs} once and in order")
        for row in rows:
            due = row["epoch"] % train.eval_every == 0 or row["epoch"] == train.epochs
            numbers = [row["loss"], row["rate"], *([row["val"], row["val_loss"]] if due else [])]
            sound = all(v is not None and math.isfinite(v) for v in numbers)
            _require(record, "log.csv", sound, f"{name}, epoch {row['epoch']}: a number is missing or not finite")
        _check_best(record, trial, rows, name)
        rates.setdefault(tuple(row["rate"] for row in rows), name)
    for logged, name in rates.items():
        _check_rates(record, np.array(logged), name)


def _check_rates(record: Record, logged: np.ndarray, name: str) -> None:
    """The rates are those of the schedule, to six digits, but for a plateau's, which depend on more than the log has."""
    train = record.settings.train
    if isinstance(train.schedule, Plateau):
        return
    margin = 1.02 * _DIGITS * np.abs(logged) + 1e-15 * train.lr  # float32 rounds too, and so does the cosine
    steps = 1
    if isinstance(train.schedule, Cosine):  # more steps, lower rates: the fewest by which none is too high fit, or none do
        steps = 1 + bisect_left(range(1, _MOST_STEPS), True, key=lambda s: bool((last_rates(train, s) <= logged + margin).all()))
    wanted = last_rates(train, steps)
    worst = int(np.argmax(np.abs(wanted - logged) - margin))
    _require(
        record,
        "log.csv",
        abs(wanted[worst] - logged[worst]) <= margin[worst],
        f"{name}: the rates are not those of settings.yaml: {logged[worst]:.6g} in epoch {worst + 1}, not {wanted[worst]:.6g}",
    )


def last_rates(train: TrainSettings, steps: int) -> np.ndarray:
    """The rate of the last step of each epoch of so many, which is the one that is logged; not for a plateau.

    >>> last_rates(TrainSettings(epochs=2, lr=1.0, schedule=Cosine()), 1).round(2).tolist()
    [1.0, 0.5]
    """
    schedule, epochs = train.schedule, train.epochs
    if not isinstance(schedule, Cosine):  # the same in all steps of an epoch
        return np.array([schedule.rates(train.lr, {}, epoch, epochs, 1)[0] for epoch in range(epochs)])
    by_step = replace(schedule, warmup=schedule.warmup * steps)  # epochs of one step each: only the last one is computed
    return np.array([by_step.rates(train.lr, {}, epoch * steps - 1, epochs * steps, 1)[0] for epoch in range(1, epochs + 1)])


def _check_seconds(record: Record) -> None:
    """The time of the run is not less than that of its last epoch in the log, and not much more; groups follow one another."""
    last: dict[tuple[Any, Any], float] = {}
    for row in record.log:
        key = (row["seed"], row["fold"])
        sound = row["seconds"] is not None and row["seconds"] >= last.get(key, 0)
        _require(record, "log.csv", sound, f"epoch {row['epoch']}: seconds are missing or go back")
        last[key] = row["seconds"]
    said, logged = record.result["seconds"], set(last.values())  # trials of a group share their clock
    least, most = max(logged), sum(logged) * 1.5 + 60
    sound = least * (1 - _DIGITS) - 1e-3 <= said <= most
    _require(
        record,
        "result.json",
        sound,
        f"seconds is {said:.6g}; the log gives {least:.6g}, and with its groups no more than {most:.6g}",
    )


def _check_best(record: Record, trial: Mapping[str, Any], rows: Sequence[Row], name: str) -> None:
    best = trial["best_epoch"]
    inside = isinstance(best, int) and 1 <= best <= len(rows) and rows[best - 1]["val"] is not None
    _require(record, "result.json", inside, f"{name}: best_epoch {best} is not an epoch that was validated")
    chosen = rows[best - 1]
    for key in ("val", "val_loss"):
        same = _close(trial[key], chosen[key])
        _require(
            record, "result.json", same, f"{name}: {key} is {trial[key]:.6g}, but {chosen[key]:.6g} in log.csv at epoch {best}"
        )
    sign = 1 if record.result["metric"] == "mae" else -1
    for row in rows:
        if row["val"] is None:
            continue
        better = sign * row["val"] < sign * chosen["val"]
        if record.result["metric"] == "accuracy":  # these tie often, and then the loss decides
            better |= row["val"] == chosen["val"] and row["val_loss"] < chosen["val_loss"]
        _require(record, "result.json", not better, f"{name}: epoch {row['epoch']} of log.csv is better than best_epoch {best}")


def _check_summary(record: Record) -> None:
    for part in ("test", "val"):
        values = np.array([trial[part] for trial in record.result["trials"]], float)
        _require(record, "result.json", bool(np.isfinite(values).all()), f"a {part} figure is not finite")
        std = float(values.std(ddof=1)) if len(values) > 1 else 0.0
        said = record.result[part]
        same = math.isclose(said["mean"], values.mean(), rel_tol=1e-9) and math.isclose(
            said["std"], std, rel_tol=1e-6, abs_tol=1e-12
        )
        message = f"{part} is said to be {said['mean']:.6g} ± {said['std']:.6g}; its trials give {values.mean():.6g} ± {std:.6g}"
        _require(record, "result.json", same, message)


def _check_predictions(record: Record) -> None:
    from .records import keeps_predictions, trial_name

    names = [trial_name(trial) for trial in record.result["trials"]]
    if not record.predictions:
        missing = keeps_predictions(record.result)
        _require(record, "predictions.csv", not missing, "it is missing")
        return
    columns = list(record.predictions)
    _require(record, "predictions.csv", columns == ["id", "true", *names], f"its columns are not id, true, {', '.join(names)}")
    numbers = [value for values in record.predictions.values() for value in values if value is not None]
    _require(record, "predictions.csv", bool(np.isfinite(numbers).all()), "a number is not finite")
    ids = record.predictions["id"]
    _require(record, "predictions.csv", len(set(ids)) == len(ids), "a graph is there twice")
    true = np.array(record.predictions["true"], float)
    for trial, name in zip(record.result["trials"], names, strict=True):
        predicted = np.array(record.predictions[name], float)  # None becomes NaN
        there = ~np.isnan(predicted)
        _require(record, "predictions.csv", bool(there.any()), f"column {name} is empty")
        value, tolerance = _metric(record, predicted[there], true[there])
        same = abs(value - trial["test"]) <= tolerance + 1e-12 * abs(value)
        _require(record, "predictions.csv", same, f"{name}: they give {value:.9g}, but test is {trial['test']:.9g} in result.json")


def _metric(record: Record, predicted: np.ndarray, true: np.ndarray) -> tuple[float, float]:
    """The figure that the predictions give, and how far rounding them may have taken it: not at all for an accuracy, as rounding keeps
    signs and classes."""
    from ..tasks.metrics import rocauc

    metric = record.result["metric"]
    if metric == "rocauc":
        return rocauc(true, predicted), tied_pairs(predicted, true) / 2
    if metric == "accuracy":
        classes = record.result.get("kind") == "multiclass"
        return float((predicted == true if classes else (predicted > 0) == (true > 0.5)).mean()), 0.0
    scale = record.result.get("scale") or 1.0
    scale = scale[0] if isinstance(scale, list) else scale
    return float(np.abs(predicted - true).mean()) / scale, float((rounding(predicted) + rounding(true)).mean()) / scale


def tied_pairs(scores: np.ndarray, positive: np.ndarray) -> float:
    """The share of the pairs of a positive and a negative whose scores tie. Rounding keeps the order of all others, so ROC-AUC is known up
    to half of it.

    >>> tied_pairs(np.array([0.1, 0.4, 0.4, 0.8]), np.array([0, 0, 1, 1]))
    0.25
    """
    positive = positive > 0.5
    values, inverse = np.unique(scores, return_inverse=True)
    p, n = (np.bincount(inverse[which], minlength=len(values)) for which in (positive, ~positive))
    return float(p @ n) / (int(p.sum()) * int(n.sum()))


def rounding(values: np.ndarray) -> np.ndarray:
    """How far a number of float32 may be from the one that is written for it: half a unit of the sixth digit, and its own rounding.

    >>> rounding(np.array([0.0, -1.5, 250.0])).round(7).tolist()
    [0.0, 5.2e-06, 0.0005298]
    """
    size = np.abs(values)
    unit = 10.0 ** (np.floor(np.log10(size, out=np.zeros_like(size), where=size > 0)) - 5)
    return np.where(size > 0, unit / 2, 0.0) + 2.0**-23 * size


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1.01 * _DIGITS, abs_tol=1e-12)


def _require(record: Record, file: str, condition: bool, message: str) -> None:
    from .records import RecordError

    if not condition:
        raise RecordError(f"{record.folder / file}: {message}")
