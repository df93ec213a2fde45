"""What the folder of a run holds before training begins: is it free, may the run there be resumed, how far is it?

A run is resumed only if that gives what an uninterrupted run of these settings on these data would give. Everything is checked before
anything is changed.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import FormatError, PlanegraphWarning
from ..io.checksums import read_json
from ..runs.checkpoint import CHECKPOINT, load_checkpoint
from ..runs.errors import SettingsError
from ..runs.log import LogRecord, read_log, read_logs
from ..runs.provenance import read_sessions
from ..runs.settings import RunSettings, flat
from ..runs.trials import Trial
from ..tasks.task import Task
from .environment import World
from .stack import settled

_AGAIN = "Remove it, and resuming the run writes it again"
_FREE = ("task", "train.epochs", "train.save_seconds")
"""Not compared: the task, as its digest is; epochs, which have their own rules; what does not change the numbers."""
_FACTS = ("settings", "trials", "epoch", "step", "seconds", "memories", "best", "capacity", "world", "data")


def place(out: Path, target: str | None = None, stack: int = 0) -> Path:
    """The folder of a target's run, or of its part that a later stack trains."""
    folder = out if target is None else out / target
    return folder if stack == 0 else folder / f"group{stack}"


def logs_of(out: Path, k: int, trials: list[Trial]) -> dict[str | None, Path]:
    """The logs of the k-th stack, by target."""
    return {target: place(out, target, k) / "log.jsonl" for target in dict.fromkeys(trial.target for trial in trials)}


def records_of(out: Path, stacks: list[list[Trial]], done: list[int]) -> list[LogRecord]:
    """What the logs say of the epochs that each stack has done."""
    return [
        record
        for k, (trials, epochs) in enumerate(zip(stacks, done, strict=True))
        for record in read_logs(logs_of(out, k, trials), epochs)
    ]


def in_the_way(folders: list[Path], resume: bool) -> str | None:
    """Why the folders, that of the run first, cannot be used; None if they can."""
    there = [folder / name for folder in folders for name in (CHECKPOINT, "result.json", "settings.yaml")]
    there = [path for path in there if path.exists()]
    if there and not resume:
        return f"{there[0].parent} already holds a run ({there[0].name}); continue it by --resume, or choose another folder"
    out = folders[0]
    if (out / CHECKPOINT).exists() or not there:
        return None
    if (out.parent / CHECKPOINT).exists():
        return f"{out} holds a run without its {CHECKPOINT}: it is trained together with others, in {out.parent}; resume that one"
    if (out / "result.json").exists():
        return f"{out} holds a finished run without its {CHECKPOINT}, so it cannot be resumed; choose another folder"
    return None


def finished_result(folders: list[Path]) -> dict[str, Any] | None:
    """What the result of a finished run says, the first of these folders; None unless each of them has one."""
    paths = [folder / "result.json" for folder in folders]
    if not all(path.exists() for path in paths):
        return None
    kept = read_json(paths[0], _AGAIN)
    if "targets" not in kept and "trials" not in kept:
        raise FormatError(f"{paths[0]} is damaged: it has no trials. {_AGAIN}")
    return kept


def epochs_done(task: Task, settings: RunSettings, stacks: list[list[Trial]], folders: list[Path], world: World) -> list[int]:
    """The epochs that each stack has done, all of them if it has settled; an error unless all that is there is sound, and of this run."""
    for folder in folders:
        read_sessions(folder)
    done = [_epochs_of(task, settings, k, trials, folders[0], world) for k, trials in enumerate(stacks)]
    world.barrier()
    return done


def _epochs_of(task: Task, settings: RunSettings, k: int, trials: list[Trial], out: Path, world: World) -> int:
    path = place(out, stack=k) / CHECKPOINT
    if not path.exists():
        return 0
    _, facts = load_checkpoint(path)
    missing = [name for name in _FACTS if name not in facts]
    if missing:
        raise FormatError(
            f"{path} lacks {', '.join(missing)}: an earlier version wrote it, or it is damaged. Train in another folder"
        )
    _check_settings(path, facts, settings)
    names = [trial.name for trial in trials]
    if facts["trials"] != names:
        raise SettingsError(f"{path} holds {', '.join(facts['trials'])}, not {', '.join(names)}")
    if facts["world"] != world.size:
        raise SettingsError(f"{path} was made by {facts['world']} processes, not {world.size}")
    if facts["data"] != task.digest:
        raise SettingsError(
            f"{path} was made of other data: graphs, targets, split or measure are not those of today's task. Resume with the "
            "original data, or choose another folder; nothing was changed"
        )
    for target, log in logs_of(out, k, trials).items():
        _check_log(log, [trial for trial in trials if trial.target == target], facts["epoch"])
    return settings.train.epochs if settled(facts["best"], facts["epoch"], settings.train.patience) else facts["epoch"]


def _check_settings(path: Path, facts: Mapping[str, Any], settings: RunSettings) -> None:
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


def _check_log(path: Path, trials: Sequence[Trial], epochs: int) -> None:
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
