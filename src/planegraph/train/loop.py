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
from ..runs.log import Log, LogRecord
from ..tasks.losses import mean_loss
from .callbacks import Callbacks
from .environment import StopSignal
from .metrics import figures_by_target, mae_by_target
from .stack import Stack


def fit(
    stack: Stack, checkpoint: Path, logs: Mapping[str | None, Path], callbacks: Callbacks, stop: StopSignal
) -> list[dict[str, Any]]:
    """Trains to the end and gives each trial's result. Raises Stopped after saving, if a signal asked to; DivergedError on NaN.

    Args:
        logs: of each target (None: of all).
    """
    world = stack.world
    log = Log(logs, stack.epoch) if world.first else None
    saved, before = time.monotonic(), stack.seconds
    begun = stack.born if stack.epochs_left else saved  # the set-up counts, if something is trained
    while stack.epochs_left:
        finished = train_epoch(stack, stop)
        stack.seconds = before + time.monotonic() - begun
        if finished:
            records = end_epoch(stack)
            if log is not None:
                log.write(records)
            callbacks.epoch(records)
        asked, overdue = world.any(stop.asked), time.monotonic() - saved >= stack.settings.train.save_seconds
        if world.broadcast(asked or overdue or not stack.epochs_left):
            if log is not None:
                log.sync()
            stack.save(checkpoint)
            saved = time.monotonic()
        if asked and stack.epochs_left:
            where = f"epoch {stack.epoch + 1}, step {stack.steps_done}"
            raise Stopped(f"stopped in {where}, and saved in {checkpoint}; --resume continues it", stop.signal)
    results = final_results(stack)
    stack.seconds = before + time.monotonic() - begun
    return results


def train_epoch(stack: Stack, stop: StopSignal) -> bool:
    """The steps of an epoch that are left to do; False if a signal asks to stop before all are done."""
    step, train, steps = stack.step, stack.settings.train, stack.batches.steps
    per_trial = [train.schedule.rates(train.lr, memory, stack.epoch, train.epochs, steps) for memory in stack.memories]
    rates = torch.tensor(per_trial, dtype=step.adam.rate.dtype).T.contiguous().to(stack.device)
    stack.model.train()
    alone_on_cpu = stack.world.size == 1 and stack.device.type == "cpu"
    for graphs in stack.batches.training(stack.epoch, stack.steps_done):
        step.adam.rate.copy_(rates[stack.steps_done])
        step.train(graphs)
        stack.steps_done += 1
        if alone_on_cpu:
            stack.check_finite()
        if stop.asked and stack.world.size == 1 and stack.steps_done < steps:  # several processes agree at the end of the epoch
            stack.check_finite()
            return False
    stack.check_finite()
    return True


def end_epoch(stack: Stack) -> list[LogRecord]:
    """Validates, lets the schedules and the best weights know, resets the sums; gives the records of the log."""
    step, train = stack.step, stack.settings.train
    sums, counts = step.loss_sum.tolist(), step.graphs.tolist()
    losses = [mean_loss(stack.task, total, count) for total, count in zip(sums, counts, strict=True)]
    rates = step.adam.rate.tolist()
    step.loss_sum.zero_()
    step.graphs.zero_()
    _average_buffers(stack)
    due = (stack.epoch + 1) % train.eval_every == 0 or stack.epoch + 1 == train.epochs
    found = validate(stack) if due else None
    stack.epoch, stack.steps_done = stack.epoch + 1, 0
    return [_record(stack, trial, losses[trial], rates[trial], found) for trial in range(len(stack.trials))]


def validate(stack: Stack) -> list[dict[str, float]]:
    """The validation of the weights, or of their average."""
    with stack.step.averaged():
        found = stack.evaluate("val")
    for trial, values in zip(stack.trials, found, strict=True):
        if not math.isfinite(values["loss"]) or not math.isfinite(values["error"]):
            stack.diverged(trial, f"the validation loss after epoch {stack.epoch + 1}")
    stack.keep_best(found)
    for memory, values in zip(stack.memories, found, strict=True):
        stack.settings.train.schedule.observe(memory, values["error"])
    return found


def final_results(stack: Stack) -> list[dict[str, Any]]:
    """Each trial's validation and test at its best epoch; afterwards the model holds the best weights."""
    stack.restore_best()
    task, first = stack.task, stack.world.first
    results = [
        {
            "seed": trial.seed,
            "fold": trial.fold,
            "best_epoch": best["epoch"],
            "val": best["metric"],
            "test": test["metric"],
            "val_loss": best["loss"],
            "test_loss": test["loss"],
            "target": trial.target,
        }
        for trial, best, test in zip(stack.trials, stack.best, stack.evaluate("test"), strict=True)
    ]
    if first and task.metric == "mae" and task.outputs > 1:
        for result, (raw, y) in zip(results, stack.predictions("test"), strict=True):
            result["test_by_target"] = mae_by_target(task, raw, y).tolist()
    if first and task.names:
        for part in ("val", "test"):
            for result, (raw, y) in zip(results, stack.predictions(part), strict=True):
                result.setdefault("figures", {})[part] = figures_by_target(task, raw, y)
    return results


def _average_buffers(stack: Stack) -> None:
    """Running statistics of norms, which each process has of its graphs, and their averages over the steps."""
    if stack.world.size > 1:
        for values in (stack.step.running, stack.step.running_average):
            if values is not None and values.numel():
                stack.world.all_reduce(values).div_(stack.world.size)


def _record(stack: Stack, k: int, loss: float, rate: float, found: list[dict[str, float]] | None) -> LogRecord:
    trial, best = stack.trials[k], stack.best[k]
    return {
        "epoch": stack.epoch,
        "seed": trial.seed,
        "fold": trial.fold,
        "target": trial.target,
        "loss": loss,
        "rate": rate,
        "val": None if found is None else found[k]["metric"],
        "val_loss": None if found is None else found[k]["loss"],
        "best": None if best is None else best["metric"],
        "best_epoch": None if best is None else best["epoch"],
        "seconds": round(stack.seconds, 3),
    }
