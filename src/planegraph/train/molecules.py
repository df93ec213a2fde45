"""Training on a table of molecules: settings that suit its size, the run's folder, and what predictions need later.

Beside the files of every run the folder holds ``molecules.json`` (the schema: how molecules are read, what the outputs are),
``predictions.csv`` (see :func:`predictions_csv`) and, if rows were left out, ``skipped.csv``. ``result.json`` has the figures of the
ensemble under ``ensemble``, and those of other methods on the same test molecules under ``baselines`` (tasks/molecules/baselines.py).
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..io.atomic import replace_files
from ..io.checksums import json_text
from ..io.csv_text import CsvWriter
from ..processes import first_process
from ..runs.finished import PREDICTIONS, SCHEMA
from ..runs.lock import FolderLock
from ..runs.settings import RunSettings
from ..tasks.molecules.baselines import baseline_figures
from ..tasks.molecules.task import MoleculeTask
from .callbacks import Callback, RunInfo
from .ensemble import Folds, read_folds, summarise_ensemble
from .report import write_reports
from .run import train_in
from .tasks import settings_for
from .transfer import Start

SKIPPED = "skipped.csv"


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
        result = train_in(lock, found.task, settings, True, show, device, [_FirstFiles(found), *callbacks], False, first_weights)
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
