"""A sweep: one ordinary run for each combination of some settings, in a folder each, ordered by validation.

The folder of a sweep holds ``sweep.json`` (the settings that vary and the folder of each combination) and the folders of the runs. What has
become of a run is read from its own folder: ``result.json`` if it is finished, ``diverged.json`` if its loss was not finite. So a sweep
continues from whatever is there: finished runs are kept, one that was interrupted is resumed, the others are trained.

Runs are compared by validation alone. Choosing settings by the test part would make its figures too good.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path

from ..io.atomic import replace_files
from ..io.checksums import json_text, read_json
from ..processes import first_process
from ..runs.errors import DivergedError, FolderError, SettingsError
from ..runs.lock import FolderLock
from ..runs.settings import RunSettings
from ..runs.sweeps import ANEW, DIVERGED, PLAN, Combination, SweepRun, combinations, read_sweep, varies


def sweep(
    train_one: Callable[[RunSettings, Path], object],
    settings_for: Callable[[Sequence[str]], RunSettings],
    overrides: Sequence[str],
    out: str | PathLike[str],
    say: Callable[[str], object] = lambda text: None,
) -> list[SweepRun]:
    """Trains every combination that is not finished; gives all runs, the best on validation first.

    A run that diverges is recorded, and the others are trained anyway. All settings are checked before the first run is trained.

    Args:
        train_one: trains one run in a folder, and resumes it if the folder holds a part of it.
        settings_for: the settings with such overrides; of a :class:`RunSettings` its ``with_overrides``.
        overrides: as after ``--set``; a value with commas means several values, see runs/sweeps.py.
        out: the folder of the sweep.
        say: is told which run begins, and which has diverged.

    >>> import tempfile, numpy as np, planegraph as pg
    >>> from planegraph.data import PackedDataset
    >>> from planegraph.tasks.task import Task
    >>> from planegraph.train import train
    >>> rings = PackedDataset.from_graphs([pg.families.cycle(n) for n in range(3, 9)], y=[[n / 8] for n in range(3, 9)])
    >>> task = Task("rings", rings, {"train": np.arange(4), "val": np.array([4]), "test": np.array([5])})
    >>> settings = RunSettings("rings", model={"hidden": 8, "layers": 1})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     runs = sweep(
    ...         lambda settings, folder: train(task, settings, folder, resume=True, device="cpu"),
    ...         settings.with_overrides,
    ...         ["train.epochs=2", "train.lr=1e-3,2e-3"],
    ...         folder,
    ...     )
    >>> sorted(run.folder.name for run in runs), runs[0].error <= runs[1].error
    (['lr=0.001', 'lr=0.002'], True)
    """
    folder = Path(out)
    if not varies(overrides):
        raise SettingsError("no setting has several values; a sweep needs one, as in train.lr=1e-3,2e-3")
    planned = [(combination, settings_for(combination.overrides)) for combination in combinations(overrides)]
    if len({settings.task for _, settings in planned}) > 1:
        raise SettingsError("task has several values; the runs of a sweep are compared, so they need one task")
    with FolderLock(folder) as lock:
        problem = lock.take(folder) if first_process() else None
        if (folder / "settings.yaml").exists():
            problem = f"{folder} already holds a run (settings.yaml); choose another folder for the sweep"
        if problem:
            raise FolderError(problem)
        if first_process():
            _write_plan(folder, [combination for combination, _ in planned])
        for k, (combination, settings) in enumerate(planned, start=1):
            _train_or_record(train_one, settings, folder / combination.name, f"run {k} of {len(planned)}, {combination.name}", say)
        return read_sweep(folder)


def _write_plan(folder: Path, planned: Sequence[Combination]) -> None:
    runs = [{"folder": combination.name, "values": combination.values} for combination in planned]
    replace_files({folder / PLAN: json_text({"runs": runs}, str)})


def _train_or_record(
    train_one: Callable[[RunSettings, Path], object], settings: RunSettings, folder: Path, name: str, say: Callable[[str], object]
) -> None:
    """Trains a run, unless it has diverged with these settings before."""
    record = folder / DIVERGED
    if record.exists() and read_json(record, ANEW).get("settings") == json.loads(json.dumps(settings.to_dict(), default=str)):
        say(f"{name} has diverged before; remove {folder} to train it again")
        return
    say(name)
    if first_process():
        record.unlink(missing_ok=True)
    try:
        train_one(settings, folder)
    except DivergedError as error:
        say(f"{name}: diverged: {error}")
        if first_process():
            replace_files({record: json_text({"message": str(error), "settings": settings.to_dict()}, str)})
