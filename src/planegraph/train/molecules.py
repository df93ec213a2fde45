"""Training on a table of molecules: settings that suit its size, the ensemble of the run's models, and what predictions need later.

Beside the files of every run the folder holds ``molecules.json`` (the schema: how molecules are read, what the outputs are),
``predictions.csv`` (see :func:`predictions_csv`) and, if rows were left out, ``skipped.csv``. ``result.json`` has the figures of the
ensemble under ``ensemble``, and those of other methods on the same test molecules under ``baselines`` (tasks/molecules/baselines.py).

Seeds on the same split are an ensemble; folds are judged one by one, and their figures averaged. An interval is the ensemble's mean plus or
minus the conformal quantile of its residuals on validation, so that it covers the truth of a new molecule like those with the stated
probability; how many test molecules it covers is counted.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from ..errors import FormatError
from ..io.atomic import replace_files
from ..io.checksums import json_text
from ..io.csv_text import CsvWriter
from ..processes import first_process
from ..runs.checkpoint import load_checkpoint
from ..runs.finished import PREDICTIONS, SCHEMA
from ..runs.lock import FolderLock
from ..runs.settings import RunSettings
from ..runs.trials import trial_name
from ..tasks.metrics import figures_by_name, interval_quantile, mean_over_folds
from ..tasks.molecules.baselines import baseline_figures
from ..tasks.molecules.task import MoleculeTask
from ..tasks.task import Task
from .callbacks import Callback, RunInfo
from .metrics import probabilities
from .run import train, write_reports
from .tasks import settings_for
from .transfer import Start

SKIPPED = "skipped.csv"
COVERAGE = 0.9
"""Of intervals."""


def molecule_settings(
    found: MoleculeTask,
    options: dict[str, Any],
    ensemble: int | None = None,
    overrides: Sequence[str] = (),
    start: Start | None = None,
) -> RunSettings:
    """The defaults for so many molecules, with ``key.key=value`` in their place where given.

    With ``start`` the model is that of the run to start from; SettingsError if ``overrides`` change it.
    """
    models = ensemble_for(len(found.task.dataset) * len(found.task.by_fold())) if ensemble is None else ensemble
    overrides = [f"train.seeds={models}", *overrides]
    if start is None:
        return settings_for(found.task, overrides, name=found.path, options=options)
    options = options | {"from": start.record(found.schema)}
    sized = settings_for(found.task, name=found.path, options=options)
    settings = replace(sized, model=start.settings.model, model_class=start.settings.model_class).with_overrides(overrides)
    start.check(settings)
    return settings


def ensemble_for(molecules: int) -> int:
    """Models for so many molecules in all folds: as many as see about 4,000 molecules in an epoch together, but five at most.

    So tables of 800 to 4,000 molecules take equally long, and small ones, where models differ most, have the mean of several.

    >>> [ensemble_for(n) for n in (100, 642, 1_128, 2_039, 4_200)]
    [5, 5, 4, 2, 1]
    """
    return max(1, min(5, round(4_000 / molecules)))


def train_molecules(
    found: MoleculeTask,
    settings: RunSettings,
    out: str | PathLike[str],
    *,
    show: bool = False,
    device: torch.device | str | None = None,
    callbacks: Sequence[Callback] = (),
    baselines: bool = True,
    start: Start | None = None,
) -> dict[str, Any]:
    """Trains on a table; a run that was interrupted in this folder is resumed. Gives what ``result.json`` holds.

    With ``baselines`` a random forest and gradient boosting are trained on the same molecules, once: a finished run keeps their figures.
    ``callbacks`` are as in :func:`planegraph.train.train`. Under torchrun the first process does this, and only its result has them.

    With ``start`` the models start from those of another run. The table is read, and the settings are made, with it too::

        start = Start.load("runs/lipo")
        found = read_molecule_task("esol.csv", options, start.schema)
        settings = molecule_settings(found, options.to_dict(), start=start)
        train_molecules(found, settings, "runs/esol", start=start)
    """
    first_weights = None if start is None else start.first_weights(found.schema)
    with FolderLock(out) as lock:
        result = train(
            found.task,
            settings,
            lock,
            resume=True,
            show=show,
            device=device,
            callbacks=[_FirstFiles(found), *callbacks],
            report=False,
            start=first_weights,
        )
        return _finish(found, lock.folder, result, show, baselines)


def _finish(found: MoleculeTask, folder: Path, result: dict[str, Any], show: bool, baselines: bool) -> dict[str, Any]:
    """Writes what a run on a table has beside that of every run; gives the result with the figures of the ensemble and the baselines."""
    folds = read_folds(found.task, folder, result["trials"])
    result = {**result, "ensemble": summarise_ensemble(found.task, folds, len(result["trials"]))}
    if not first_process():
        return result
    files = {
        folder / PREDICTIONS: predictions_csv(found, folds),
        folder / "result.json": json_text(result),  # the last: with it the run is complete, whatever becomes of the baselines
    }
    replace_files(files)
    if baselines and "skipped" in result.get("baselines", {"skipped": "not asked for"}):
        if show:
            print("training the baselines: a random forest and gradient boosting", file=sys.stderr)
        result = {**result, "baselines": baseline_figures(found, torch.get_num_threads())}
        replace_files({folder / "result.json": json_text(result)})
    write_reports([folder])  # with the figures of the ensemble and of the baselines
    return result


class _FirstFiles(Callback):
    """Writes what is known before training: the schema, by which a run that started from another is resumed, and the skipped rows."""

    def __init__(self, found: MoleculeTask) -> None:
        self.found = found

    def on_start(self, run: RunInfo) -> None:
        files = {run.folder / SCHEMA: json_text(self.found.schema.to_dict())}
        if self.found.skipped:
            files[run.folder / SKIPPED] = self.found.skipped_csv()
        replace_files(files)


def predictions_csv(found: MoleculeTask, folds: Folds) -> str:
    """What the ensemble predicts for the molecules of validation and test, as a CSV file.

    Columns: row (in the table, from 1), part, fold (empty without folds), smiles; ``true_NAME`` and ``predicted_NAME`` of each target,
    empty where a value is missing. ``predicted`` is the mean of the models: a value, or for a binary target the probability of 1. A
    multiclass target has the text of its classes there, and ``probability_CLASS`` for each.
    """
    classes, targets = found.schema.classes, found.schema.targets
    head = [f"{what}_{name}" for name in targets for what in ("true", "predicted")]
    out = io.StringIO()
    writer = CsvWriter(out)
    writer.writerow(["row", "part", "fold", "smiles", *head, *(f"probability_{name}" for name in classes)])
    for fold, parts in folds.items():
        for part, (ids, true, predicted) in parts.items():
            for i, t, p in zip(ids.tolist(), true.tolist(), predicted.tolist(), strict=True):
                if classes:
                    values = [classes[int(t[0])], classes[int(np.argmax(p))], *map(_text, p)]
                else:
                    values = [_text(value) for pair in zip(t, p, strict=True) for value in pair]
                writer.writerow([found.rows[i], part, "" if fold is None else fold, found.smiles[i], *values])
    return out.getvalue()


def _text(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.7g}"


# ---- the ensemble --------------------------------------------------------------------------------------------------------------


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
