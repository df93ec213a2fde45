"""Training on a table of molecules: settings that suit its size, the run's folder, and what predictions need later.

Beside the files of every run the folder holds ``molecules.json`` (the schema: how molecules are read, what the outputs are),
``predictions.csv`` (see :func:`predictions_csv`) and, if rows were left out, ``skipped.csv``. ``result.json`` has the figures of the
ensemble under ``ensemble``, and those of other methods on the same test molecules under ``baselines`` (datasets/molecule_baselines.py).
"""

from __future__ import annotations

import csv
import io
import json
import sys
import zlib
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..data.format import replace_files
from ..datasets.molecule_baselines import baseline_figures
from ..datasets.molecule_task import MoleculeTask
from ..processes import first_process
from .ensemble import Folds, read_folds, summarise_ensemble
from .run import train
from .settings import RunSettings

SCHEMA = "molecules.json"
SKIPPED = "skipped.csv"
PREDICTIONS = "predictions.csv"


def molecule_settings(
    found: MoleculeTask, options: dict[str, Any], ensemble: int = 1, overrides: Sequence[str] = ()
) -> RunSettings:
    """The defaults for so many molecules, with ``key.key=value`` in their place where given."""
    task = found.task
    graphs = max(len(split["train"]) for _, split in task.by_fold())
    nodes = task.dataset.tables.size("node") / len(task.dataset)
    settings = RunSettings(task.name, options, {"graph_scale": float(f"{nodes:.2g}")})
    return settings.with_overrides([f"train.epochs={epochs_for(graphs)}", f"train.seeds={ensemble}", *overrides])


def epochs_for(graphs: int) -> int:
    """Epochs for so many training molecules: 100 up to 3,000, then fewer, as each has more steps; 20 at least.

    >>> [epochs_for(n) for n in (500, 3_000, 12_000, 10**6)]
    [100, 100, 50, 20]
    """
    return max(20, min(100, round(100 * (3_000 / max(graphs, 1)) ** 0.5)))


def train_molecules(
    found: MoleculeTask,
    settings: RunSettings,
    out: str | PathLike[str],
    *,
    show: bool = False,
    device: torch.device | str | None = None,
    tensorboard: bool = False,
    baselines: bool = True,
) -> dict[str, Any]:
    """Trains on a table; a run that was interrupted in this folder is resumed. Gives what ``result.json`` holds.

    With ``baselines`` a random forest and gradient boosting are trained on the same molecules, once: a finished run keeps their figures.
    Under torchrun the first process does this, and only its result has them.
    """
    folder = Path(fspath(out))
    result = train(found.task, settings, folder, resume=True, show=show, device=device, tensorboard=tensorboard)
    folds = read_folds(found.task, folder, result["lanes"])
    result = {**result, "ensemble": summarise_ensemble(found.task, folds, len(result["lanes"]))}
    if not first_process():
        return result
    files = {
        folder / "result.json": _json(result),
        folder / SCHEMA: _schema(found),
        folder / PREDICTIONS: predictions_csv(found, folds),
    }
    if found.skipped:
        files[folder / SKIPPED] = found.skipped_csv()
    replace_files(files)  # before the baselines: whatever becomes of those, the run is complete
    if baselines and "skipped" in result.get("baselines", {"skipped": "not asked for"}):
        if show:
            print("training the baselines: a random forest and gradient boosting", file=sys.stderr)
        result = {**result, "baselines": baseline_figures(found, torch.get_num_threads())}
        replace_files({folder / "result.json": _json(result)})
    return result


def predictions_csv(found: MoleculeTask, folds: Folds) -> str:
    """What the ensemble predicts for the molecules of validation and test, as a CSV file.

    Columns: row (in the table, from 1), part, fold (empty without folds), smiles; ``true_NAME`` and ``predicted_NAME`` of each target,
    empty where a value is missing. ``predicted`` is the mean of the models: a value, or for a binary target the probability of 1. A
    multiclass target has the text of its classes there, and ``probability_CLASS`` for each.
    """
    classes, targets = found.schema.classes, found.schema.targets
    head = [f"{what}_{name}" for name in targets for what in ("true", "predicted")]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
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


def schema_checksum(values: Mapping[str, Any]) -> int:
    """The CRC-32 of a schema, by which a damaged file is known: a wrong digit in it would make wrong predictions."""
    return zlib.crc32(json.dumps(values, sort_keys=True).encode())


def _text(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.7g}"


def _json(values: Mapping[str, Any]) -> str:
    return json.dumps(values, indent=2) + "\n"


def _schema(found: MoleculeTask) -> str:
    values = found.schema.to_dict()
    return json.dumps(values | {"crc32": schema_checksum(values)}, indent=1) + "\n"
