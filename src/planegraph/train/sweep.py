"""A sweep: one ordinary run for each combination of some settings, in a folder each, ordered by validation.

The folder of a sweep holds ``sweep.json`` (the settings that vary and the folder of each combination) and the folders of the runs. What has
become of a run is read from its own folder: ``result.json`` if it is finished, ``diverged.json`` if its loss was not finite. So a sweep
continues from whatever is there: finished runs are kept, one that was interrupted is resumed, the others are trained.

Runs are compared by validation alone. Choosing settings by the test part would make its figures too good.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from ..data.format import replace_files
from ..datasets.metrics import error_of, metrics_of
from ..errors import FormatError, PlanegraphError
from ..processes import first_process
from ..sealed import json_text, read_json
from .combinations import Combination, combinations, varies
from .errors import DivergedError, FolderError, SettingsError
from .lock import FolderLock
from .settings import RunSettings

PLAN = "sweep.json"
DIVERGED = "diverged.json"
_ANEW = "Remove it, and the command that began the sweep writes it anew"


@dataclass(frozen=True)
class SweepRun:
    """A run of a sweep: its folder, the values of the settings that vary, its ``result.json`` if finished, why it diverged if it did."""

    folder: Path
    values: Mapping[str, Any]
    result: Mapping[str, Any] | None = None
    diverged: str | None = None

    @property
    def state(self) -> str:
        """finished, diverged, or not finished."""
        if self.result is not None:
            return "finished"
        return "not finished" if self.diverged is None else "diverged"

    @property
    def error(self) -> float:
        """The validation figure as an error: lower is better, whatever the metric. Infinite without a figure."""
        if self.result is None:
            return math.inf
        found = error_of(metrics_of(self.result["kind"])[self.result["metric"]], self.result["val"]["mean"])
        return found if math.isfinite(found) else math.inf


def sweep(
    train_one: Callable[[RunSettings, Path], object],
    settings_for: Callable[[Sequence[str]], RunSettings],
    overrides: Sequence[str],
    out: str | PathLike[str],
    say: Callable[[str], object] = lambda text: None,
) -> list[SweepRun]:
    """Trains every combination that is not finished; gives all runs, the best on validation first.

    A run that diverges is recorded, and the others are trained all the same. All settings are checked before the first run is trained.

    Args:
        train_one: trains one run in a folder, and resumes it if the folder holds a part of it.
        settings_for: the settings with such overrides; of a :class:`RunSettings` its ``with_overrides``.
        overrides: as after ``--set``; a value with commas means several values, see combinations.py.
        out: the folder of the sweep.
        say: is told which run begins, and which has diverged.

    >>> import tempfile, numpy as np, planegraph as pg
    >>> from planegraph.data import PackedDataset
    >>> from planegraph.datasets.task import Task
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


def read_sweep(out: str | PathLike[str]) -> list[SweepRun]:
    """The runs of a sweep, the best on validation first, then those without a figure. PlanegraphError if the folder holds no sweep."""
    folder = Path(out)
    if not (folder / PLAN).is_file():
        raise PlanegraphError(f"{folder} holds no sweep: {PLAN} is missing")
    try:
        plan = read_json(folder / PLAN, _ANEW)
        found = [_read_run(folder / run["folder"], dict(run["values"])) for run in plan["runs"]]
        return sorted(found, key=lambda run: (run.error, run.result is None, run.diverged is None))
    except (KeyError, TypeError, AttributeError) as error:
        raise FormatError(f"a file of the sweep {folder} is damaged: {type(error).__name__} {error}") from None


def _write_plan(folder: Path, planned: Sequence[Combination]) -> None:
    runs = [{"folder": combination.name, "values": combination.values} for combination in planned]
    replace_files({folder / PLAN: json_text({"runs": runs}, str)})


def _train_or_record(
    train_one: Callable[[RunSettings, Path], object], settings: RunSettings, folder: Path, name: str, say: Callable[[str], object]
) -> None:
    """Trains a run, unless it has diverged with these settings before."""
    record = folder / DIVERGED
    if record.exists() and read_json(record, _ANEW).get("settings") == json.loads(json.dumps(settings.to_dict(), default=str)):
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


def _read_run(folder: Path, values: Mapping[str, Any]) -> SweepRun:
    if (folder / "result.json").exists():
        return SweepRun(folder, values, result=read_json(folder / "result.json", _ANEW))
    if (folder / DIVERGED).exists():
        return SweepRun(folder, values, diverged=str(read_json(folder / DIVERGED, _ANEW)["message"]))
    return SweepRun(folder, values)
