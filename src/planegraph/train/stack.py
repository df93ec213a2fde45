"""A stack: trials that share each step, with their model, data, schedules and best weights, and how all of it is saved and resumed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..data.batch import PlanarBatch
from ..data.layout import Capacity
from ..nn import GraphModel
from ..nn.dropout import set_share
from ..runs.checkpoint import load_checkpoint, save_checkpoint
from ..runs.errors import DivergedError, SettingsError
from ..runs.models import make_models
from ..runs.settings import RunSettings
from ..runs.trials import Trial, most_graphs
from ..tasks.task import Task
from .batches import Batches, join
from .capture import CapturedStep
from .environment import World
from .metrics import evaluate
from .step import TrainingStep


def settled(best: Sequence[Mapping[str, Any] | None], epoch: int, patience: int | None) -> bool:
    """Whether no trial has become better for ``patience`` epochs; ``best`` as in :class:`Stack`, after ``epoch`` epochs.

    >>> settled([{"epoch": 3}, {"epoch": 5}], 10, 5), settled([{"epoch": 3}, {"epoch": 5}], 10, 6)
    (True, False)
    """
    return patience is not None and all(found is not None and epoch - found["epoch"] >= patience for found in best)


class Stack:
    """Everything of the trials that share each step.

    Attributes:
        step: the model and what a training step changes (step.py). batches: its data (batches.py).
        epoch, steps_done, seconds: how far training is: epochs done, steps done of the next, time spent.
        memories: for each trial what its schedule remembers.
        best: for each trial None or a dict of epoch, error, loss and metric: of the epoch that was best on validation.
        best_weights: the weights then, as ``step.validated()`` gives them; those are tested in the end.
    """

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
        columns = None if task.targets is None else torch.tensor([task.targets.index(t.target) for t in trials], device=device)
        self.step = (CapturedStep if captured else TrainingStep)(task, self.model, train, world, columns)
        pad, epochs = captured or len(trials) > 1, train.epochs if train.schedule.follows_epochs else None
        self.batches = Batches(task.dataset, trials, train.batch_size, pad, device, world, epochs, task.node_y)
        self.epoch, self.steps_done, self.seconds = 0, 0, 0.0
        self.memories = [train.schedule.start() for _ in trials]
        self.best: list[dict[str, Any] | None] = [None] * len(trials)
        self.best_weights: dict[str, Tensor] = {}
        self.is_saved = False  # whether there is a checkpoint
        self._kept: dict[str, list[tuple[PlanarBatch, list[Tensor]]]] = {}
        if world.first:
            self._resident("val")  # now, so that its shapes do not depend on how far the run is

    @property
    def epochs_left(self) -> int:
        """Epochs that are left to train; none if validation has not become better for long enough."""
        train = self.settings.train
        return 0 if settled(self.best, self.epoch, train.patience) else train.epochs - self.epoch

    # ---- evaluation -------------------------------------------------------------------------------------------------------------

    def evaluate(self, part: str) -> list[dict[str, float]]:
        """Metric, error and loss of each trial on a part, by the weights in ``step``; the first process computes, all get them."""
        found = None
        if self.world.first:
            found = [evaluate(task, *pair) for task, pair in zip(self.tasks, self.predictions(part), strict=True)]
        return self.world.broadcast(found)

    def predictions(self, part: str) -> list[tuple[Tensor, Tensor]]:
        """For each trial the raw outputs (n, outputs) and the targets of a part, on the host, in the order of its split."""
        self.model.eval()
        out: list[list[Tensor]] = [[] for _ in self.trials]
        for batch, counting in self._resident(part):
            raw = self.step.predict(batch)
            for trial, rows in enumerate(counting):
                out[trial].append(raw[trial].index_select(0, rows))
        wanted = [torch.from_numpy(task.y[trial.items[part]]) for task, trial in zip(self.tasks, self.trials, strict=True)]
        return [(torch.cat(rows).cpu(), y) for rows, y in zip(out, wanted, strict=True)]

    def _resident(self, part: str) -> list[tuple[PlanarBatch, list[Tensor]]]:
        """The batches of a part on the device, made once, with the rows of each trial that are in the part."""
        if part not in self._kept:
            made = []
            for batches in self.batches.evaluation(part):
                rows = [batch.attrs["weight"].nonzero()[:, 0].to(self.device) for batch in batches]
                made.append((join(batches, self.device), rows))
            self._kept[part] = made
        return self._kept[part]

    # ---- the best weights -------------------------------------------------------------------------------------------------------

    def keep_best(self, found: list[dict[str, float]]) -> None:
        """Keeps the weights of the trials that a validation after ``epoch + 1`` epochs found better than before.

        Better is a smaller error, or an equal one with a smaller loss (accuracies often tie); ties keep the earlier epoch.
        """
        better = [
            k
            for k, (old, new) in enumerate(zip(self.best, found, strict=True))
            if old is None or (new["error"], new["loss"]) < (old["error"], old["loss"])
        ]
        for trial in better:
            self.best[trial] = {"epoch": self.epoch + 1} | found[trial]
        weights = self.step.validated() if better else {}
        if not self.best_weights:
            self.best_weights = {name: value.clone() for name, value in weights.items()}
            return
        for name, value in weights.items():
            if len(self.trials) == 1:
                self.best_weights[name].copy_(value)
            else:
                which = torch.tensor(better, device=value.device)
                self.best_weights[name].index_copy_(0, which, value.index_select(0, which))

    @torch.no_grad()
    def restore_best(self) -> None:
        """Gives the model the best weights."""
        own = dict(zip(self.step.names, self.step.parameters, strict=True)) | self.step.buffers()
        for name, value in self.best_weights.items():
            own[name].copy_(value)

    # ---- trouble ----------------------------------------------------------------------------------------------------------------

    def check_finite(self) -> None:
        """Raises DivergedError if a loss of this epoch was not a finite number; waits for the device."""
        for trial, step in zip(self.trials, self.step.bad_step.tolist(), strict=True):
            if step >= 0:
                epoch, within = divmod(int(step) - 1, self.batches.steps)
                self.diverged(trial, f"the training loss in step {within + 1} of {self.batches.steps} of epoch {epoch + 1}")

    def diverged(self, trial: Trial, where: str) -> None:
        """Raises the error for a trial."""
        k = self.trials.index(trial)
        bad = [n for n, p in self.step.validated().items() if not torch.isfinite(p if len(self.trials) == 1 else p[k]).all()]
        weights = f"; no longer finite are {len(bad)} of its tensors, first {bad[0]}" if bad else "; its weights are finite"
        advice = "A smaller train.lr" if self.settings.train.clip else "A smaller train.lr or train.clip=1"
        saved = "; the last checkpoint is from before" if self.is_saved else ""
        raise DivergedError(
            f"{trial.name}: {where} is not a finite number, at learning rate {self.step.adam.rate[k].item():.3g}{weights}. "
            f"{advice} may help{saved}"
        )

    # ---- files ------------------------------------------------------------------------------------------------------------------

    def save(self, path: Path) -> None:
        """Writes the checkpoint; by the first process."""
        self.is_saved = True
        if not self.world.first:
            return
        tensors = {f"state.{name}": value for name, value in self.step.tensors().items()}
        tensors |= {f"best.{name}": value for name, value in self.best_weights.items()}
        capacity = self.batches.capacity
        facts = {
            "settings": self.settings.complete(),
            "trials": [trial.name for trial in self.trials],
            "epoch": self.epoch,
            "step": self.steps_done,
            "seconds": self.seconds,
            "memories": self.memories,
            "best": self.best,
            "capacity": None if capacity is None else capacity.as_tuple(),
            "world": self.world.size,
            "data": self.task.digest,
        }
        save_checkpoint(path, tensors, facts)

    def load(self, path: Path) -> None:
        """Goes back to a checkpoint, one of this run (resume.py). SettingsError unless it has each of the tensors in its shape."""
        tensors, facts = load_checkpoint(path)
        own = {f"state.{name}": value for name, value in self.step.tensors().items()}
        best = {f"best.{name}": value for name, value in self.step.validated().items()} if any(facts["best"]) else {}
        for name, value in (own | best).items():
            there = None if name not in tensors else tuple(tensors[name].shape)
            if there != tuple(value.shape):
                what = f"has no {name}" if there is None else f"has {name} of shape {there}"
                raise SettingsError(f"{path} {what}; this model needs {tuple(value.shape)}. Nothing was changed")
        for name, value in own.items():
            value.copy_(tensors[name])
        self.best_weights = {n.removeprefix("best."): v.to(self.device) for n, v in tensors.items() if n.startswith("best.")}
        self.epoch, self.steps_done, self.seconds = facts["epoch"], facts["step"], facts["seconds"]
        self.memories, self.best, self.is_saved = facts["memories"], facts["best"], True
        if facts["capacity"] is not None and self.batches.capacity is not None:
            sizes: list[Any] = [tuple(v) if isinstance(v, list) else v for v in facts["capacity"]]
            self.batches.capacity = Capacity(*sizes)
