"""A group of trials that is trained together: its model, data, schedules and best weights, and how all of it is saved and read back."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..data.batch import PlanarBatch
from ..data.layout import Capacity
from ..nn import GraphModel
from ..nn.dropout import set_share
from ..runs.checkpoint import load_checkpoint, save_checkpoint
from ..runs.errors import DivergedError
from ..runs.models import make_models
from ..runs.settings import RunSettings
from ..runs.trials import Trial, most_graphs
from ..tasks.task import Task
from .batches import Batches, join
from .best import Best, settled
from .capture import Captured
from .distributed import World
from .metrics import evaluate
from .resuming import check_tensors
from .runner import Eager, Runner
from .state import State
from .step import TrainingStep, make_prediction


@dataclass
class Progress:
    """How far a group is: epochs done, steps done of the next, seconds spent, and what the schedules remember."""

    epoch: int = 0
    step: int = 0
    seconds: float = 0.0
    memories: list[dict[str, float]] = field(default_factory=list)


class Group:
    """Everything of the trials that share each step."""

    def __init__(
        self,
        task: Task,
        settings: RunSettings,
        trials: Sequence[Trial],
        device: torch.device,
        world: World,
        start: Callable[[GraphModel, int], None] | None = None,
    ) -> None:
        self.born, settings = time.monotonic(), settings.for_graphs(most_graphs(trials), world.size)
        self.task, self.settings, self.trials, self.device, self.world = task, settings, list(trials), device, world
        by_target = {target: task.of_target(target) for target in {trial.target for trial in trials}}
        self.tasks = [by_target[trial.target] for trial in trials]
        train, captured = settings.train, device.type == "cuda"
        self.model = make_models(task, settings, trials, start).to(device)
        set_share(self.model, world.rank)
        self.state = State(self.model, train)
        pad, epochs = captured or len(trials) > 1, train.epochs if train.schedule.follows_epochs else None
        self.batches = Batches(task.dataset, trials, train.batch_size, pad, device, world, epochs)
        step = TrainingStep(task, self.state, world, columns_of(task, trials, device))
        predict = make_prediction(self.state)
        self.runner: Runner = Captured(step, predict, self.state, device) if captured else Eager(step, predict, device)
        self.best = Best(len(trials))
        self.progress = Progress(memories=[train.schedule.start() for _ in trials])
        self.is_saved = False  # whether there is a checkpoint
        self._kept: dict[str, list[tuple[PlanarBatch, list[int]]]] = {}
        if world.first:
            self._resident("val")  # now, so that its shapes do not depend on how far the run is

    @property
    def left(self) -> int:
        """Epochs that are left to train; none if validation has not become better for long enough."""
        train, done = self.settings.train, self.progress.epoch
        return 0 if settled(self.best.records, done, train.patience) else train.epochs - done

    # ---- evaluation -------------------------------------------------------------------------------------------------------------

    def evaluate(self, part: str) -> list[dict[str, float]]:
        """Metric, error and loss of each trial on a part, by the weights in ``state``; the first process computes, all get them."""
        found = None
        if self.world.first:
            found = [evaluate(task, *pair) for task, pair in zip(self.tasks, self.predictions(part), strict=True)]
        return self.world.same(found)

    def predictions(self, part: str) -> list[tuple[Tensor, Tensor]]:
        """For each trial the raw outputs (n, outputs) and the targets of a part, on the host, in the order of its split."""
        self.model.eval()
        out: list[list[Tensor]] = [[] for _ in self.trials]
        for batch, sizes in self._resident(part):
            raw = self.runner.predict(batch)
            for trial, size in enumerate(sizes):
                out[trial].append(raw[trial, :size].clone())
        wanted = [torch.from_numpy(task.dataset.y[trial.split[part]]) for task, trial in zip(self.tasks, self.trials, strict=True)]
        return [(torch.cat(rows).cpu(), y) for rows, y in zip(out, wanted, strict=True)]

    def _resident(self, part: str) -> list[tuple[PlanarBatch, list[int]]]:
        """The batches of a part on the device, made once, with the number of graphs of each trial."""
        if part not in self._kept:
            made = [(join(b, self.device), [int(one.attrs["weight"].sum()) for one in b]) for b in self.batches.evaluation(part)]
            self._kept[part] = made
        return self._kept[part]

    # ---- trouble ----------------------------------------------------------------------------------------------------------------

    def check_finite(self) -> None:
        """Raises DivergedError if a loss of this epoch was no finite number; waits for the device."""
        for trial, step in zip(self.trials, self.state.bad_step.tolist(), strict=True):
            if step >= 0:
                epoch, within = divmod(int(step) - 1, self.batches.steps)
                self.diverged(trial, f"the training loss in step {within + 1} of {self.batches.steps} of epoch {epoch + 1}")

    def diverged(self, trial: Trial, where: str) -> None:
        """Raises the error for a trial."""
        k = self.trials.index(trial)
        bad = [n for n, p in self.state.chosen().items() if not torch.isfinite(p if len(self.trials) == 1 else p[k]).all()]
        weights = f"; no longer finite are {len(bad)} of its tensors, first {bad[0]}" if bad else "; its weights are finite"
        advice = "A smaller train.lr" if self.settings.train.clip else "A smaller train.lr or train.clip=1"
        saved = "; the last checkpoint is from before" if self.is_saved else ""
        raise DivergedError(
            f"{trial.name}: {where} is not a finite number, at learning rate {self.state.rate[k].item():.3g}{weights}. "
            f"{advice} may help{saved}"
        )

    # ---- files ------------------------------------------------------------------------------------------------------------------

    def save(self, path: Path) -> None:
        """Writes the checkpoint; by the first process."""
        self.is_saved = True
        if not self.world.first:
            return
        tensors = {f"state.{name}": value for name, value in self.state.tensors().items()}
        tensors |= {f"best.{name}": value for name, value in self.best.weights.items()}
        capacity = self.batches.capacity
        facts = {
            "settings": self.settings.complete(),
            "trials": [trial.name for trial in self.trials],
            "epoch": self.progress.epoch,
            "step": self.progress.step,
            "seconds": self.progress.seconds,
            "memories": self.progress.memories,
            "best": self.best.records,
            "capacity": None if capacity is None else capacity.as_tuple(),
            "world": self.world.size,
            "data": self.task.digest,
        }
        save_checkpoint(path, tensors, facts)

    def load(self, path: Path) -> None:
        """Goes back to a checkpoint, one of this run (resuming.py)."""
        tensors, facts = load_checkpoint(path)
        own = {f"state.{name}": value for name, value in self.state.tensors().items()}
        kept = self.state.chosen() if any(facts["best"]) else {}
        check_tensors(path, tensors, own | {f"best.{name}": value for name, value in kept.items()})
        for name, value in own.items():
            value.copy_(tensors[name])
        best = {n.removeprefix("best."): v.to(self.device) for n, v in tensors.items() if n.startswith("best.")}
        self.best.records, self.best.weights = facts["best"], best
        self.progress = Progress(facts["epoch"], facts["step"], facts["seconds"], facts["memories"])
        self.is_saved = True
        if facts["capacity"] is not None and self.batches.capacity is not None:
            sizes: list[Any] = [tuple(v) if isinstance(v, list) else v for v in facts["capacity"]]
            self.batches.capacity = Capacity(*sizes)


def columns_of(task: Task, trials: Sequence[Trial], device: torch.device) -> Tensor | None:
    """(trials,): the column of y that each trial learns; None if all learn all of y."""
    if task.targets is None:
        return None
    return torch.tensor([task.targets.index(trial.target) for trial in trials], device=device)
