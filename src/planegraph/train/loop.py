"""The training loop: epochs of steps, validation, schedules, the best weights, checkpoints; in the end the test, once, by the best weights.

The test part is not looked at before all epochs are done: what is reported is the test metric at the epoch that was best on validation.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from ..runs.errors import Stopped
from ..runs.log import Log, Record
from ..tasks.losses import mean_loss
from .callbacks import Callbacks
from .group import Group
from .metrics import figures_by_target, mae_by_target
from .signals import StopWish

CHECKPOINT = "checkpoint.safetensors"


def train_group(
    group: Group, path: Path, logs: Mapping[str | None, Path], callbacks: Callbacks, wish: StopWish
) -> list[dict[str, Any]]:
    """Trains to the end and gives each trial's result. Raises Stopped after saving, if a signal asked to; DivergedError on NaN.

    Args:
        path, logs: the checkpoint, and the log of each target (None: of all).
    """
    progress = group.progress
    log = Log(logs, progress.epoch) if group.world.first else None
    saved, before = time.monotonic(), progress.seconds
    begun = group.born if group.left else saved  # the set-up counts, if something is trained
    epochs = progress.epoch + group.left
    while progress.epoch < epochs:
        epoch = progress.epoch
        finished = train_epoch(group, epoch, wish)
        progress.seconds = before + time.monotonic() - begun
        if finished:
            records = end_epoch(group, epoch)
            epochs = epoch + 1 + group.left  # fewer than before, if validation has settled
            if log is not None:
                log.write(records)
            callbacks.epoch(records)
        stop = group.world.any(wish.asked)
        wait = group.settings.train.save_seconds
        if group.world.same(stop or epoch + 1 == epochs or time.monotonic() - saved >= wait):
            if log is not None:
                log.sync()
            group.save(path)
            saved = time.monotonic()
        if stop and progress.epoch < epochs:
            where = f"epoch {progress.epoch + 1}, step {progress.step}"
            raise Stopped(f"stopped in {where}, and saved in {path}; --resume continues it", wish.signal)
    results = final_results(group)
    progress.seconds = before + time.monotonic() - begun
    return results


def train_epoch(group: Group, epoch: int, wish: StopWish) -> bool:
    """The steps of an epoch that are left to do; False if somebody wishes to stop before all are done."""
    state, progress, train = group.state, group.progress, group.settings.train
    steps = group.batches.steps
    per_trial = [train.schedule.rates(train.lr, memory, epoch, train.epochs, steps) for memory in progress.memories]
    rates = torch.tensor(per_trial, dtype=state.rate.dtype).T.contiguous().to(group.device)
    group.model.train()
    alone_on_cpu = group.world.size == 1 and group.device.type == "cpu"
    for batches in group.batches.training(epoch, progress.step):
        state.rate.copy_(rates[progress.step])
        group.runner.train(batches)
        progress.step += 1
        if alone_on_cpu:
            group.check_finite()
        if wish.asked and group.world.size == 1 and progress.step < steps:  # several processes must agree: at the end of the epoch
            group.check_finite()
            return False
    group.check_finite()
    return True


def end_epoch(group: Group, epoch: int) -> list[Record]:
    """Validates, lets the schedules and the best weights know, resets the sums; gives the records of the log."""
    state, progress, train = group.state, group.progress, group.settings.train
    sums, counts = state.loss_sum.tolist(), state.graphs.tolist()
    losses = [mean_loss(group.task, total, count) for total, count in zip(sums, counts, strict=True)]
    rates = state.rate.tolist()
    state.loss_sum.zero_()
    state.graphs.zero_()
    _average_buffers(group)
    found = None
    if (epoch + 1) % train.eval_every == 0 or epoch + 1 == train.epochs:
        found = validate(group, epoch)
    progress.epoch, progress.step = epoch + 1, 0
    return [_record(group, trial, losses[trial], rates[trial], found) for trial in range(len(group.trials))]


def validate(group: Group, epoch: int) -> list[dict[str, float]]:
    """The validation of the weights, or of their average."""
    state = group.state
    with state.averaged():
        found = group.evaluate("val")
    for trial, values in zip(group.trials, found, strict=True):
        if not math.isfinite(values["loss"]) or not math.isfinite(values["error"]):
            group.diverged(trial, f"the validation loss after epoch {epoch + 1}")
    group.best.offer(epoch + 1, found, state.chosen())
    for memory, values in zip(group.progress.memories, found, strict=True):
        group.settings.train.schedule.observe(memory, values["error"])
    return found


def final_results(group: Group) -> list[dict[str, Any]]:
    """Each trial's validation and test at its best epoch; afterwards the model holds the best weights."""
    own = dict(zip(group.state.names, group.state.parameters, strict=True)) | group.state.buffers()
    with torch.no_grad():
        for name, value in group.best.weights.items():
            own[name].copy_(value)
    tests, by_target = group.evaluate("test"), [None] * len(group.trials)
    if group.world.first and group.task.metric == "mae" and group.task.outputs > 1:
        by_target = [mae_by_target(group.task, raw, y).tolist() for raw, y in group.predictions("test")]
    results = []
    for trial, best, test, targets in zip(group.trials, group.best.records, tests, by_target, strict=True):
        result = {
            "seed": trial.seed,
            "fold": trial.fold,
            "best_epoch": best["epoch"],
            "val": best["metric"],
            "test": test["metric"],
        }
        result |= {"val_loss": best["loss"], "test_loss": test["loss"], "target": trial.target}
        results.append(result if targets is None else result | {"test_by_target": targets})
    if group.world.first and group.task.names:
        for part in ("val", "test"):
            for result, (raw, y) in zip(results, group.predictions(part), strict=True):
                result.setdefault("figures", {})[part] = figures_by_target(group.task, raw, y)
    return results


def _average_buffers(group: Group) -> None:
    """Running statistics of norms, which each process has of its own graphs, and their averages over the steps."""
    if group.world.size > 1:
        for values in (group.state.running, group.state.running_average):
            if values is not None and values.numel():
                group.world.add_up(values).div_(group.world.size)


def _record(group: Group, trial: int, loss: float, rate: float, found: list[dict[str, float]] | None) -> Record:
    best = group.best.records[trial]
    return {
        "epoch": group.progress.epoch,
        "seed": group.trials[trial].seed,
        "fold": group.trials[trial].fold,
        "target": group.trials[trial].target,
        "loss": loss,
        "rate": rate,
        "val": None if found is None else found[trial]["metric"],
        "val_loss": None if found is None else found[trial]["loss"],
        "best": None if best is None else best["metric"],
        "best_epoch": None if best is None else best["epoch"],
        "seconds": round(group.progress.seconds, 3),
    }
