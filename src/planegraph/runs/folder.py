"""What the folder of a run holds, finished or not: settings, result, the curve of each trial, test predictions, provenance.

Nothing else is looked at: no dataset, no weights. What an unfinished run does not have yet is None or empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FormatError, PlanegraphError
from ..io.checksums import read_json
from ..io.text import shortened
from ..tasks.sources import Kind
from .checkpoint import load_checkpoint
from .errors import damage_named
from .log import read_log
from .provenance import read_sessions
from .settings import read_run_settings
from .trials import trial_name


def refuse_several(folder: Path) -> None:
    """Raises PlanegraphError if the folder holds a run for each of several targets: those are read one by one."""
    below = sorted(path.parent.name for path in folder.glob("*/settings.yaml"))
    if below and not (folder / "log.jsonl").exists():
        raise PlanegraphError(f"{folder} holds a run for each of {', '.join(below)}: name one of them, as in {folder / below[0]}")


@dataclass(frozen=True)
class Curve:
    """A trial in the log: a value for each epoch, NaN where nothing was measured. ``best_epoch`` is None before the first validation."""

    name: str
    seed: int
    fold: int | None
    epoch: np.ndarray
    loss: np.ndarray
    val: np.ndarray
    val_loss: np.ndarray
    rate: np.ndarray
    seconds: float
    best_epoch: int | None


@dataclass(frozen=True)
class Predictions:
    """Of a trial on its test graphs or nodes: ``predicted`` (n, outputs) and ``true`` (n, targets), or (n,) if these are classes."""

    id: np.ndarray
    predicted: np.ndarray
    true: np.ndarray


@dataclass(frozen=True)
class Run:
    """All of it; ``sessions`` are the times it was started or resumed, each with commit, command and machine."""

    folder: Path
    settings: Mapping[str, Any]
    result: Mapping[str, Any] | None
    curves: list[Curve]
    tests: dict[str, Predictions]
    sessions: Sequence[Mapping[str, Any]]

    @property
    def task(self) -> str:
        return str((self.result or self.settings).get("task", "?"))

    @property
    def model(self) -> str:
        return str(self.settings.get("model_class", "BasePlanE"))

    @property
    def epochs(self) -> int:
        """As planned."""
        return int((self.settings.get("train") or {}).get("epochs", 0))

    @property
    def together(self) -> int:
        """How many targets were trained in these seconds, this one among them."""
        return 1 if self.result is None else int(self.result.get("together", 1))

    @property
    def metric(self) -> str | None:
        """mae, accuracy or rocauc; an unfinished run does not say."""
        return None if self.result is None else self.result["metric"]

    @property
    def kind(self) -> Kind:
        """What is predicted: as the result says, or else told by the type of the targets."""
        if self.result is not None and "kind" in self.result:
            return self.result["kind"]
        test = next(iter(self.tests.values()), None)
        if test is not None and np.issubdtype(test.true.dtype, np.integer):
            return "multiclass"
        if self.metric is not None:
            return "regression" if self.metric == "mae" else "binary"
        two = test is not None and test.true.shape[-1] == 1 and set(np.unique(test.true)) <= {0.0, 1.0}
        return "binary" if two else "regression"

    @property
    def level(self) -> str:
        """What has targets: "graph" or "node"."""
        return "graph" if self.result is None else self.result.get("level", "graph")

    @property
    def seconds(self) -> float:
        """Of training, over all sessions; of an unfinished run as far as the logs go."""
        if self.result is not None:
            return float(self.result["seconds"])
        return sum(c.seconds for c in self.curves)


def read_run(folder: str | PathLike[str]) -> Run:
    """Reads a run's folder; PlanegraphError if it holds none."""
    folder = Path(folder)
    if not (folder / "settings.yaml").is_file():
        raise PlanegraphError(f"{folder} holds no run: settings.yaml is missing")
    refuse_several(folder)
    with damage_named(folder / "settings.yaml"):
        settings = read_run_settings(folder)
    if not isinstance(settings, dict):
        raise FormatError(f"{folder / 'settings.yaml'} must be a table of settings; found {type(settings).__name__}")
    result = folder / "result.json"
    return Run(
        folder,
        settings,
        read_json(result) if result.exists() else None,
        _curves(folder),
        _tests(folder),
        read_sessions(folder),
    )


def _curves(folder: Path) -> list[Curve]:
    """Of all stacks, by seed and fold; a stack's seconds count once, for its first trial."""
    found = []
    for path in log_files(folder):
        trials: dict[str, list[dict[str, Any]]] = {}
        for record in read_log(path):
            trials.setdefault(trial_name(record["seed"], record["fold"]), []).append(record)
        for k, (name, records) in enumerate(trials.items()):
            last, keys = records[-1], ("epoch", "loss", "val", "val_loss", "rate")
            columns = {key: np.array([r[key] for r in records], np.float64) for key in keys}  # None is NaN
            seconds = float(last["seconds"]) if k == 0 else 0.0
            found.append(Curve(name, last["seed"], last["fold"], **columns, seconds=seconds, best_epoch=last["best_epoch"]))
    return sorted(found, key=lambda c: (c.seed, -1 if c.fold is None else c.fold))


def log_files(folder: Path) -> list[Path]:
    """The logs of all stacks, in order."""
    further = sorted(folder.glob("group*/log.jsonl"), key=lambda path: (len(path.parent.name), path.parent.name))
    return [folder / "log.jsonl", *further]


def _tests(folder: Path) -> dict[str, Predictions]:
    found = {}
    for path in sorted(folder.glob("models/*/test.safetensors"), key=lambda path: (len(path.parent.name), path.parent.name)):
        try:
            arrays = {name: value.numpy() for name, value in load_checkpoint(path)[0].items()}
            predicted = arrays["predicted"].reshape(len(arrays["id"]), -1)
            found[path.parent.name] = Predictions(arrays["id"], predicted, arrays["true"])
        except MemoryError:
            raise
        except Exception as error:  # the library raises its own errors for damaged files
            raise FormatError(f"{path} holds no predictions: {type(error).__name__}: {shortened(error)}") from None
    return found
