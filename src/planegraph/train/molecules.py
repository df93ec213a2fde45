"""Training on a table of molecules: settings that suit its size, the run's folder, and what predictions need later.

Beside the files of every run the folder holds ``molecules.json`` (the schema: how molecules are read, what the outputs are) and, if rows
were left out, ``skipped.csv``. ``result.json`` has the figures of the ensemble under ``ensemble``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import torch

from ..data.format import replace_files
from ..datasets.molecule_task import MoleculeTask
from .ensemble import summarise_ensemble
from .loop import CHECKPOINT
from .run import train
from .settings import RunSettings

SCHEMA = "molecules.json"
SKIPPED = "skipped.csv"


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
) -> dict[str, Any]:
    """Trains on a table; a run that was interrupted in this folder is resumed. Gives what ``result.json`` holds."""
    folder = Path(fspath(out))
    resume = (folder / CHECKPOINT).exists()
    result = train(found.task, settings, folder, resume=resume, show=show, device=device, tensorboard=tensorboard)
    if found.task.targets is None:
        result = {**result, "ensemble": summarise_ensemble(found.task, folder, result["lanes"])}
    files = {folder / "result.json": json.dumps(result, indent=2) + "\n", folder / SCHEMA: _schema(found)}
    if found.skipped:
        files[folder / SKIPPED] = found.skipped_csv()
    replace_files(files)
    return result


def _schema(found: MoleculeTask) -> str:
    return json.dumps(replace(found.schema).to_dict(), indent=1) + "\n"
