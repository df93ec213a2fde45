"""A whole run: trials in groups, a folder with settings, logs, checkpoints, models and the result.

A run's folder holds ``settings.yaml``, ``machine.json`` (where and from what it was made, see runs/provenance.py), ``result.json`` and
``models/<trial>/`` (the best weights, for ``from_pretrained``, and in ``test.safetensors`` the ids, predictions and targets of the test
part), ``report.html`` (report.py); the first group's ``log.jsonl`` and ``checkpoint.safetensors`` beside them, those of further groups in
``group1/`` and so on.

Where each target has a model of its own, the folder ``<target>/`` is that of the run of this target, as if it had been trained alone
(but for the seconds, which are those of all); the checkpoint is one for all, and lies above them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..errors import FormatError
from ..io.atomic import replace_files
from ..io.checksums import json_text, read_json
from ..nn import GraphModel
from ..runs.checkpoint import load_checkpoint, save_checkpoint
from ..runs.errors import FolderError, Stopped
from ..runs.lock import FolderLock
from ..runs.log import Record, read_logs
from ..runs.provenance import MACHINE, add_session, machine, read_sessions, session
from ..runs.settings import RunSettings, batch_size_for, save_run_settings
from ..runs.trials import Trial, groups_of, most_graphs, trial_name, trials_of
from ..tasks.losses import activate
from ..tasks.task import Task
from .best import settled
from .callbacks import Callback, Callbacks, RunInfo
from .display import make_display
from .distributed import World, chosen_device, joined
from .group import Group
from .loop import CHECKPOINT, train_group
from .metrics import in_units
from .report import write_reports
from .resuming import check_facts, check_log, check_settings, check_trials
from .signals import StopWish
from .threads import cpu_threads

_AGAIN = "Remove it, and resuming the run writes it again"


def train(
    task: Task,
    settings: RunSettings,
    out: str | PathLike[str],
    *,
    resume: bool = False,
    show: bool = False,
    device: torch.device | str | None = None,
    callbacks: Sequence[Callback] = (),
    report: bool = True,
    start: Callable[[GraphModel, int], None] | None = None,
) -> dict[str, Any]:
    """Trains all seeds, folds and targets of a run; gives what ``result.json`` holds.

    Args:
        out: the folder of the run. One that holds a run is refused, unless ``resume`` continues it; if that is finished, only its
            report is written again. A finished run whose ``result.json`` is missing is tested, and gets one.
        show: progress on stderr.
        device: the GPU of this process, if there is one, by default; under torchrun ``cuda`` is the same.
        callbacks: called after each epoch: loggers (``CSVLogger``, ``TensorBoardLogger``, ``WandbLogger``, ``MLflowLogger``), or your own
            :class:`~planegraph.train.Callback`.
        report: write ``report.html`` in the end.
        start: called with the new model of each trial and the number of its seed, from 0: gives it other first weights.

    >>> import tempfile, planegraph as pg
    >>> from planegraph.data import PackedDataset
    >>> rings = PackedDataset.from_graphs([pg.families.cycle(n) for n in range(3, 9)], y=[[n / 8] for n in range(3, 9)])
    >>> part = {"train": np.arange(4), "val": np.array([4]), "test": np.array([5])}
    >>> settings = RunSettings("rings", model={"hidden": 8, "layers": 1}).with_overrides(["train.epochs=2", "train.seeds=2"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = train(Task("rings", rings, part), settings, folder, device="cpu")
    >>> len(result["trials"]), result["metric"]
    (2, 'mae')
    """
    with FolderLock(out) as lock:
        return train_in(lock, task, settings, resume, show, device, callbacks, report, start)


def train_in(
    lock: FolderLock,
    task: Task,
    settings: RunSettings,
    resume: bool,
    show: bool,
    device: torch.device | str | None,
    callbacks: Sequence[Callback],
    report: bool,
    start: Callable[[GraphModel, int], None] | None,
) -> dict[str, Any]:
    """The same in the folder of a lock, which the first process takes, and keeps for what its caller writes afterwards."""
    device = chosen_device(device)
    folder = lock.folder
    task.dataset.verify()  # nothing is trained on damaged tables
    with (
        joined(device) as world,
        _precision(settings.train.precision),
        cpu_threads(device, _nodes_of_batch(task, settings)),
        _callbacks(callbacks, show, world) as called,
    ):
        folders = [place(folder, target) for target in (None, *(task.targets or ()))]
        _take(lock, folders[:1], world)
        if problem := world.same(_in_the_way(folders, resume)):
            raise FolderError(problem)
        trials = trials_of(task, settings.train)
        settings = settings.for_graphs(most_graphs(trials), world.size)
        groups = groups_of(trials, settings.train.batch_size * world.size, settings.train.together)
        done = _check_all(task, settings, groups, folders, world) if resume else [0] * len(groups)
        _take(lock, folders[1:], world)
        left = world.same(min(done) < settings.train.epochs)
        kept = None if left else world.same(_kept_result(folders))
        called.start(
            RunInfo(folder, task.name, settings, tuple(trial.name for trial in trials), resume, _records(folder, groups, done))
        )
        summary = kept or _train_all(task, settings, folder, groups, resume, left, device, world, called, start)
        if world.first:
            if kept is None:
                results_of = dict(runs_of(folder, summary)) | {folder: summary}
                replace_files({path / "result.json": json_text(values) for path, values in results_of.items()})
            if report:
                write_reports(path for path, _ in runs_of(folder, summary))
            called.end(summary)
        world.wait()
    return summary


def _train_all(
    task: Task,
    settings: RunSettings,
    folder: Path,
    groups: list[list[Trial]],
    resume: bool,
    left: bool,
    device: torch.device,
    world: World,
    callbacks: Callbacks,
    start: Callable[[GraphModel, int], None] | None,
) -> dict[str, Any]:
    """Trains and tests the groups one after another; gives the summary of the run."""
    results, spent = [], []
    with StopWish() as wish:
        for k, trials in enumerate(groups):
            checkpoint = place(folder, group=k) / CHECKPOINT
            begun = world.same(resume and checkpoint.exists())
            group = Group(task, settings, trials, device, world, None if begun else start)
            if world.any(wish.asked):  # between two groups
                message = f"stopped before {trials[0].name}; what came before is saved in {folder}, and --resume continues it"
                raise Stopped(message, wish.signal)
            if begun:
                group.load(checkpoint)
            if world.first and k == 0:
                _introduce(group, folder, left)
            results += _run_group(group, k, folder, wish, callbacks)
            spent.append((group.progress.seconds, {trial.target for trial in trials}))
    return _summary_of_all(task, settings, results, spent, world.same(_made_on(folder, device)))


def _nodes_of_batch(task: Task, settings: RunSettings) -> float:
    """About how many nodes a batch of one trial has."""
    nodes, graphs = task.dataset.tables.size("node"), max(len(task.dataset), 1)
    return min(nodes, nodes / graphs * (settings.train.batch_size or batch_size_for(graphs)))


def _callbacks(given: Sequence[Callback], show: bool, world: World) -> Callbacks:
    """Those of the first process; the others have none."""
    return Callbacks([*([make_display()] if show else []), *given] if world.first else [])


def place(out: Path, target: str | None = None, group: int = 0) -> Path:
    """The folder of a target's run, or of its part that a later group trains."""
    folder = out if target is None else out / target
    return folder if group == 0 else folder / f"group{group}"


def runs_of(out: str | PathLike[str], summary: dict[str, Any]) -> list[tuple[Path, dict[str, Any]]]:
    """Folder and summary of each run that :func:`train` made in ``out``: one, or one for each target."""
    return [(place(Path(out), target), of_it) for target, of_it in summary.get("targets", {None: summary}).items()]


def _check_all(task: Task, settings: RunSettings, groups: list[list[Trial]], folders: list[Path], world: World) -> list[int]:
    """Before anything is changed: all that is there is sound, and of this run. Gives the epochs that each group has done."""
    done = [0] * len(groups)
    for folder in folders:
        read_sessions(folder)
    for k, trials in enumerate(groups):
        path = place(folders[0], group=k) / CHECKPOINT
        if not path.exists():
            continue
        _, facts = load_checkpoint(path)
        check_facts(path, facts)
        check_settings(path, facts, settings)
        check_trials(path, facts, trials, world.size, task.digest)
        for target, log in _logs(folders[0], k, trials).items():
            check_log(log, [trial for trial in trials if trial.target == target], facts["epoch"])
        over = settled(facts["best"], facts["epoch"], settings.train.patience)
        done[k] = settings.train.epochs if over else facts["epoch"]
    world.wait()
    return done


def _logs(out: Path, k: int, trials: list[Trial]) -> dict[str | None, Path]:
    """The logs of the k-th group, by target."""
    return {target: place(out, target, k) / "log.jsonl" for target in dict.fromkeys(trial.target for trial in trials)}


def _records(out: Path, groups: list[list[Trial]], done: list[int]) -> list[Record]:
    """Of the epochs that each group has done."""
    return [
        r for k, (trials, epochs) in enumerate(zip(groups, done, strict=True)) for r in read_logs(_logs(out, k, trials), epochs)
    ]


def _run_group(group: Group, k: int, out: Path, wish: StopWish, callbacks: Callbacks) -> list[dict[str, Any]]:
    """Trains the k-th group and saves its models."""
    world, trials, checkpoint = group.world, group.trials, place(out, group=k) / CHECKPOINT
    logs = _logs(out, k, trials)
    if world.first:
        for path in (checkpoint, *logs.values()):
            path.parent.mkdir(parents=True, exist_ok=True)
    try:
        results = train_group(group, checkpoint, logs, callbacks, wish)
    finally:
        group.batches.close()
    if world.first:
        _save_models(group, out)
    return results


def _introduce(group: Group, out: Path, left: bool) -> None:
    """Settings and session, for the run and for that of each target; if epochs are left, there is no result yet."""
    this = session(group.device)
    for target in (None, *(group.task.targets or ())):
        folder, options = place(out, target), {**group.settings.options, **group.task.options_of(target)}
        folder.mkdir(parents=True, exist_ok=True)
        if left:
            _forget_result(folder)
        if left or not (folder / MACHINE).exists():
            add_session(folder, this)
        save_run_settings(replace(group.settings, options=options), folder)


def _kept_result(folders: list[Path]) -> dict[str, Any] | None:
    """What the result of a finished run says, the first of these folders; None unless each of them has one."""
    paths = [folder / "result.json" for folder in folders]
    if not all(path.exists() for path in paths):
        return None
    kept = read_json(paths[0], _AGAIN)
    if "targets" not in kept and "trials" not in kept:
        raise FormatError(f"{paths[0]} is damaged: it has no trials. {_AGAIN}")
    return kept


def _made_on(out: Path, device: torch.device) -> dict[str, Any]:
    """The machine that trained last, which is not this one if nothing was left to train."""
    sessions = read_sessions(out)
    return machine(device) | (sessions[-1].get("machine", {}) if sessions else {})


def _forget_result(folder: Path) -> None:
    """Removes what the end of a shorter run left: the result first, for without it a run is not finished, whatever else is there."""
    (folder / "result.json").unlink(missing_ok=True)
    for path in folder.glob("models/*/test.safetensors"):
        path.unlink()


def _save_models(group: Group, out: Path) -> None:
    """The best weights of each trial, and beside them what they say of the test part, and of validation where targets have names."""
    parts = ("test",) if group.task.names is None else ("test", "val")
    predictions = {part: group.predictions(part) for part in parts}
    models = [group.model] if len(group.trials) == 1 else group.model.unstack()
    for k, (trial, model) in enumerate(zip(group.trials, models, strict=True)):
        folder = place(out, trial.target) / "models" / trial_name(trial.seed, trial.fold)
        model.save_pretrained(folder, units=group.task.units)
        for part in parts:
            _save_predictions(group.task, trial, folder, part, *predictions[part][k])


def _save_predictions(task: Task, trial: Trial, folder: Path, part: str, raw: torch.Tensor, y: torch.Tensor) -> None:
    predicted, true = in_units(task, activate(task, raw)), in_units(task, y)
    save_checkpoint(
        folder / f"{part}.safetensors", {"id": torch.from_numpy(trial.split[part]), "predicted": predicted, "true": true}, {}
    )


def _summary_of_all(
    task: Task,
    settings: RunSettings,
    results: list[dict[str, Any]],
    spent: list[tuple[float, set[str | None]]],
    made_on: Mapping[str, Any],
) -> dict[str, Any]:
    """The summary of the run, or of the run of each target; ``together`` then says how many targets share its seconds.

    Args:
        spent: the seconds and the targets of each group.
        made_on: device and PyTorch, as runs/provenance.py describes them.
    """
    found = {}
    for target in task.targets or (None,):
        mine = [{name: value for name, value in r.items() if name != "target"} for r in results if r["target"] == target]
        groups = [(seconds, len(targets)) for seconds, targets in spent if target in targets]
        found[target] = summarise(task.of_target(target), settings, mine, sum(seconds for seconds, _ in groups), made_on)
        together = max(count for _, count in groups)
        found[target] |= {"together": together} if together > 1 else {}
    if task.targets is None:
        return found[None]
    seconds = round(sum(seconds for seconds, _ in spent), 3)
    return {
        "task": task.name,
        "metric": task.metric,
        "model_class": settings.model_class,
        "seconds": seconds,
        "targets": found,
    }


def summarise(
    task: Task, settings: RunSettings, results: list[dict[str, Any]], seconds: float, made_on: Mapping[str, Any]
) -> dict[str, Any]:
    """Mean and standard deviation over all trials, and the trials themselves."""
    results = sorted(results, key=lambda r: (r["seed"], -1 if r["fold"] is None else r["fold"]))
    summary: dict[str, Any] = {"task": task.name, "metric": task.metric, "model_class": settings.model_class}
    summary |= {"kind": task.kind, "outputs": task.outputs, "scale": task.scale}
    for part in ("test", "val"):
        summary[part] = spread([r[part] for r in results])
    return summary | {
        "seconds": round(seconds, 3),
        "device": made_on["device"],
        "torch": made_on["torch"],
        "notes": "; ".join(filter(None, (task.notes, task.shared))),
        "trials": results,
    }


def spread(values: Sequence[float]) -> dict[str, float]:
    """Mean and standard deviation over trials; of one trial the latter is 0."""
    found = np.array(values, np.float64)
    return {"mean": float(found.mean()), "std": float(found.std(ddof=1)) if len(found) > 1 else 0.0}


def _take(lock: FolderLock, folders: list[Path], world: World) -> None:
    """Makes and holds folders, by the first process; FolderError in all of them if another run holds one."""
    if problem := world.same(lock.take(*folders) if world.first else None):
        raise FolderError(problem)


def _in_the_way(folders: list[Path], resume: bool) -> str | None:
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


@contextmanager
def _precision(kind: str) -> Iterator[None]:
    """TF32 or bfloat16 products on a GPU, within."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision({"tf32": "high", "bf16": "medium"}.get(kind, "highest"))
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
