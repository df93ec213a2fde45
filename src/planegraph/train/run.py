"""A whole run: trials in stacks, a folder with settings, logs, checkpoints, models and the result.

A run's folder holds ``settings.yaml``, ``machine.json`` (where and from what it was made, see runs/provenance.py), ``result.json`` and
``models/<trial>/`` (the best weights, for ``from_pretrained``, and in ``test.safetensors`` the ids, predictions and targets of the test
part), ``report.html``; the first stack's ``log.jsonl`` and ``checkpoint.safetensors`` beside them, those of further stacks in ``group1/``
and so on.

Where each target has its own model, the folder ``<target>/`` is that of the run of this target, as if it had been trained alone
(but for the seconds, which are those of all); the checkpoint is one for all, and lies above them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..errors import PlanegraphWarning
from ..io.atomic import replace_files
from ..io.checksums import json_text
from ..nn import GraphModel
from ..runs.checkpoint import CHECKPOINT, save_checkpoint
from ..runs.errors import FolderError, Stopped
from ..runs.lock import FolderLock
from ..runs.provenance import MACHINE, add_session, machine, read_sessions, session
from ..runs.settings import RunSettings, batch_size_for, save_run_settings
from ..runs.trials import Trial, most_graphs, stacks_of, trial_name, trials_of
from ..tasks.losses import activate
from ..tasks.task import Task
from .callbacks import Callback, Callbacks, RunInfo, make_display
from .environment import StopSignal, World, cpu_threads, joined, matmul_precision, resolve_device
from .loop import fit
from .metrics import in_units
from .resume import epochs_done, finished_result, in_the_way, logs_of, place, records_of
from .stack import Stack


def train(
    task: Task,
    settings: RunSettings,
    out: str | PathLike[str] | FolderLock,
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
            report is written again. A finished run whose ``result.json`` is missing is tested, and gets one. A lock on the folder is kept
            for what its holder writes afterwards.
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
    device = resolve_device(device)
    task.dataset.verify()  # nothing is trained on damaged tables
    with (
        out if isinstance(out, FolderLock) else FolderLock(out) as lock,
        joined(device) as world,
        matmul_precision(settings.train.precision),
        cpu_threads(device, _nodes_of_batch(task, settings)),
        Callbacks([*([make_display()] if show else []), *callbacks] if world.first else []) as called,
    ):
        folders = [place(lock.folder, target) for target in (None, *(task.targets or ()))]
        _take(lock, folders[:1], world)
        if problem := world.broadcast(in_the_way(folders, resume)):
            raise FolderError(problem)
        trials = trials_of(task, settings.train)
        settings = settings.for_graphs(most_graphs(trials), world.size)
        stacks = stacks_of(trials, settings.train.batch_size * world.size, settings.train.together)
        done = epochs_done(task, settings, stacks, folders, world) if resume else [0] * len(stacks)
        _take(lock, folders[1:], world)
        left = world.broadcast(min(done) < settings.train.epochs)
        kept = None if left else world.broadcast(finished_result(folders))
        records, names = records_of(lock.folder, stacks, done), tuple(trial.name for trial in trials)
        called.start(RunInfo(lock.folder, task.name, settings, names, resume, records))
        summary = kept
        if summary is None:
            results, spent = _train_stacks(task, settings, lock.folder, stacks, resume, left, device, world, called, start)
            summary = _summary_of_all(task, settings, results, spent, world.broadcast(_made_on(lock.folder, device)))
        if world.first:
            runs = runs_of(lock.folder, summary)
            if kept is None:
                results_of = dict(runs) | {lock.folder: summary}
                replace_files({path / "result.json": json_text(values) for path, values in results_of.items()})
            if report:
                write_reports(path for path, _ in runs)
            called.end(summary)
        world.barrier()
    return summary


def _train_stacks(
    task: Task,
    settings: RunSettings,
    folder: Path,
    stacks: list[list[Trial]],
    resume: bool,
    left: bool,
    device: torch.device,
    world: World,
    callbacks: Callbacks,
    start: Callable[[GraphModel, int], None] | None,
) -> tuple[list[dict[str, Any]], list[tuple[float, set[str | None]]]]:
    """Trains and tests the stacks one after another, and saves their models; gives the results of all trials, and the seconds and the
    targets of each stack."""
    results, spent = [], []
    with StopSignal() as stop:
        for k, trials in enumerate(stacks):
            checkpoint, logs = place(folder, stack=k) / CHECKPOINT, logs_of(folder, k, trials)
            begun = world.broadcast(resume and checkpoint.exists())
            stack = Stack(task, settings, trials, device, world, None if begun else start)
            try:
                if world.any(stop.asked):  # between two stacks
                    message = f"stopped before {trials[0].name}; what came before is saved in {folder}, and --resume continues it"
                    raise Stopped(message, stop.signal)
                if begun:
                    stack.load(checkpoint)
                if world.first and k == 0:
                    _introduce(task, settings, folder, left, device)
                if world.first:
                    for path in (checkpoint, *logs.values()):
                        path.parent.mkdir(parents=True, exist_ok=True)
                results += fit(stack, checkpoint, logs, callbacks, stop)
            finally:
                stack.batches.close()
            if world.first:
                _save_models(stack, folder)
            spent.append((stack.seconds, {trial.target for trial in trials}))
    return results, spent


def _nodes_of_batch(task: Task, settings: RunSettings) -> float:
    """About how many nodes a batch of one trial has."""
    nodes, graphs = task.dataset.tables.size("node"), max(len(task.dataset), 1)
    return min(nodes, nodes / graphs * (settings.train.batch_size or batch_size_for(graphs)))


def runs_of(out: str | PathLike[str], summary: dict[str, Any]) -> list[tuple[Path, dict[str, Any]]]:
    """Folder and summary of each run that :func:`train` made in ``out``: one, or one for each target."""
    return [(place(Path(out), target), of_it) for target, of_it in summary.get("targets", {None: summary}).items()]


def _take(lock: FolderLock, folders: list[Path], world: World) -> None:
    """Makes and holds folders, by the first process; FolderError in all of them if another run holds one."""
    if problem := world.broadcast(lock.take(*folders) if world.first else None):
        raise FolderError(problem)


# ---- files --------------------------------------------------------------------------------------------------------------------


def _introduce(task: Task, settings: RunSettings, out: Path, left: bool, device: torch.device) -> None:
    """Settings and session, for the run and for that of each target; if epochs are left, there is no result yet."""
    this = session(device)
    for target in (None, *(task.targets or ())):
        folder, options = place(out, target), {**settings.options, **task.options_of(target)}
        folder.mkdir(parents=True, exist_ok=True)
        if (
            left
        ):  # what the end of a shorter run left goes, the result first: without it a run is not finished, whatever else is there
            (folder / "result.json").unlink(missing_ok=True)
            for path in folder.glob("models/*/test.safetensors"):
                path.unlink()
        if left or not (folder / MACHINE).exists():
            add_session(folder, this)
        save_run_settings(replace(settings, options=options), folder)


def _made_on(out: Path, device: torch.device) -> dict[str, Any]:
    """The machine that trained last, which is not this one if nothing was left to train."""
    sessions = read_sessions(out)
    return machine(device) | (sessions[-1].get("machine", {}) if sessions else {})


def _save_models(stack: Stack, out: Path) -> None:
    """The best weights of each trial, and beside them what they say of the test part, and of validation where targets have names."""
    task, parts = stack.task, ("test",) if stack.task.names is None else ("test", "val")
    predictions = {part: stack.predictions(part) for part in parts}
    models = [stack.model] if len(stack.trials) == 1 else stack.model.unstack()
    for k, (trial, model) in enumerate(zip(stack.trials, models, strict=True)):
        folder = place(out, trial.target) / "models" / trial_name(trial.seed, trial.fold)
        model.save_pretrained(folder, units=task.units)
        for part in parts:
            raw, y = predictions[part][k]
            predicted, true = in_units(task, activate(task, raw)), in_units(task, y)
            told = {"id": torch.from_numpy(trial.items[part]), "predicted": predicted, "true": true}
            save_checkpoint(folder / f"{part}.safetensors", told, {})


def write_reports(folders: Iterable[Path]) -> None:
    """Writes ``report.html`` into the folders of complete runs; a run is not lost because that fails."""
    from ..report import write_report  # needed by nothing before, so imported no earlier

    for folder in folders:
        try:
            write_report(folder)
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            message = f"the run is complete, but its report could not be written ({what}); planegraph report {folder}"
            warnings.warn(message, PlanegraphWarning, stacklevel=3)


# ---- the result ---------------------------------------------------------------------------------------------------------------


def _summary_of_all(
    task: Task,
    settings: RunSettings,
    results: list[dict[str, Any]],
    spent: list[tuple[float, set[str | None]]],
    made_on: Mapping[str, Any],
) -> dict[str, Any]:
    """The summary of the run, or of the run of each target; ``together`` then says how many targets share its seconds.

    Args:
        spent: the seconds and the targets of each stack.
        made_on: device and PyTorch, as runs/provenance.py describes them.
    """
    found = {}
    for target in task.targets or (None,):
        mine = [{name: value for name, value in r.items() if name != "target"} for r in results if r["target"] == target]
        stacks = [(seconds, len(targets)) for seconds, targets in spent if target in targets]
        found[target] = summarise(task.of_target(target), settings, mine, sum(seconds for seconds, _ in stacks), made_on)
        together = max(count for _, count in stacks)
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
    summary |= {"kind": task.kind, "level": task.level, "outputs": task.outputs, "scale": task.scale}
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
