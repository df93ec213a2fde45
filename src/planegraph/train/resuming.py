"""May a run be resumed from a checkpoint? Only if that gives what an uninterrupted run of these settings on these data would give."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import Tensor

from ..errors import FormatError, PlanegraphWarning
from ..runs.errors import SettingsError
from ..runs.log import read_log
from ..runs.settings import RunSettings, flat
from ..runs.trials import Trial

_FREE = ("task", "train.epochs", "train.save_seconds")
"""Not compared: the task, as its digest is; epochs, which have their own rules; what does not change the numbers."""
_FACTS = ("settings", "trials", "epoch", "step", "seconds", "memories", "best", "capacity", "world", "data")


def check_facts(path: Path, facts: Mapping[str, Any]) -> None:
    """Raises FormatError unless everything is there."""
    missing = [name for name in _FACTS if name not in facts]
    if missing:
        raise FormatError(
            f"{path} lacks {', '.join(missing)}: an earlier version wrote it, or it is damaged. Train in another folder"
        )


def check_settings(path: Path, facts: Mapping[str, Any], settings: RunSettings) -> None:
    """Raises SettingsError unless the checkpoint's settings are these; there may be more epochs, where rates do not follow their number.

    Options that only one side spells out are left to the digest of the data, which they decide.
    """
    try:
        made_with = RunSettings.from_dict(facts["settings"])
    except SettingsError as error:
        raise SettingsError(f"{path}: {error}") from None
    mine, theirs = flat(settings.complete()), flat(made_with.complete())
    for name in sorted((mine.keys() | theirs.keys()) - set(_FREE)):
        spelled_out = name.startswith("options.") and not (name in mine and name in theirs)
        if not spelled_out and mine.get(name) != theirs.get(name):
            raise SettingsError(f"{path} was made with {name}={theirs.get(name)!r}, not {mine.get(name)!r}; nothing was changed")
    before, now = made_with.train, settings.train
    if now.epochs == before.epochs:
        return
    change = f"{path} was made with train.epochs={before.epochs}, not {now.epochs}"
    if now.epochs < before.epochs:
        raise SettingsError(f"{change}; a run may become longer, not shorter. Nothing was changed")
    if now.schedule.follows_epochs:
        raise SettingsError(f"{change}; the rates follow the number of epochs, so that is another run: choose another folder")
    if facts["epoch"] == before.epochs and before.epochs % now.eval_every:
        raise SettingsError(
            f"{change}; its last epoch was validated out of turn (train.eval_every={now.eval_every}), so that is another run: "
            "choose another folder"
        )


def check_trials(path: Path, facts: Mapping[str, Any], trials: Sequence[Trial], processes: int, digest: str) -> None:
    """Raises SettingsError unless the checkpoint is of these trials, as many processes, and the task with this digest."""
    if facts["trials"] != [trial.name for trial in trials]:
        raise SettingsError(f"{path} holds {', '.join(facts['trials'])}, not {', '.join(trial.name for trial in trials)}")
    if facts["world"] != processes:
        raise SettingsError(f"{path} was made by {facts['world']} processes, not {processes}")
    if facts["data"] != digest:
        raise SettingsError(
            f"{path} was made of other data: graphs, targets, split or measure are not those of today's task. Resume with the "
            "original data, or choose another folder; nothing was changed"
        )


def check_log(path: Path, trials: Sequence[Trial], epochs: int) -> None:
    """FormatError if a line of the log is damaged; a warning if it lacks some of the epochs that are done."""
    found = {(r.get("seed"), r.get("fold"), r["epoch"]) for r in read_log(path)}
    missing = [(trial, epoch) for trial in trials for epoch in range(1, epochs + 1) if (trial.seed, trial.fold, epoch) not in found]
    if missing:
        trial, epoch = missing[0]
        warnings.warn(
            f"{path} lacks {len(missing)} lines of epochs that are done, first that of {trial.name}, epoch {epoch}: the run continues, "
            "but its log is not whole, and it cannot become a record",
            PlanegraphWarning,
            stacklevel=3,
        )


def check_tensors(path: Path, found: Mapping[str, Tensor], own: Mapping[str, Tensor]) -> None:
    """Raises SettingsError unless the checkpoint has each of these tensors in its shape."""
    for name, value in own.items():
        there = None if name not in found else tuple(found[name].shape)
        if there != tuple(value.shape):
            what = f"has no {name}" if there is None else f"has {name} of shape {there}"
            raise SettingsError(f"{path} {what}; this model needs {tuple(value.shape)}. Nothing was changed")
