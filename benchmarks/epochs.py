"""Epochs of the training engine's own loop on a CPU, with a clock at the one place where it waits for data, and one at collation."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from planegraph.data import PlanarBatch
from planegraph.runs.trials import trials_of
from planegraph.tasks import Task
from planegraph.train import RunSettings
from planegraph.train.batches import Batches
from planegraph.train.environment import StopSignal, World
from planegraph.train.loop import end_epoch, train_epoch
from planegraph.train.stack import Stack


@dataclass
class Epoch:
    """Seconds of an epoch, validation included.

    wall: on the clock. cpu: of all threads of the process. waited: on the clock, in which the training thread had no batch to go on
    with, drawing the order and starting the loader's thread included. collated: CPU time of the thread that collates.
    """

    wall: float
    cpu: float
    waited: float
    collated: float


class Epochs:
    """Each call is the next epoch of one run with one trial."""

    def __init__(self, task: Task, settings: RunSettings) -> None:
        trials = trials_of(task, settings.train)[:1]
        self.stack = Stack(task, settings, trials, torch.device("cpu"), World())
        self.stack.batches = self.batches = _Timed(self.stack.batches)
        self.stop = StopSignal()

    def __call__(self, threads: int) -> Epoch:
        """Trains with so many threads; the loader's is one more."""
        before, self.batches.waited, self.batches.collated = torch.get_num_threads(), 0.0, 0.0
        torch.set_num_threads(threads)
        try:
            wall, cpu = time.perf_counter(), time.process_time()
            train_epoch(self.stack, self.stop)
            end_epoch(self.stack)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        finally:
            torch.set_num_threads(before)
        return Epoch(wall, cpu, self.batches.waited, self.batches.collated)


class _Timed:
    """A stack's batches; clocks run while the caller waits for the next step, and while a batch is collated."""

    def __init__(self, batches: Batches) -> None:
        self.batches, self.waited, self.collated = batches, 0.0, 0.0
        self._collate = batches.collator
        batches.collator = self._timed_collate

    def __getattr__(self, name: str) -> Any:
        return getattr(self.batches, name)

    def training(self, epoch: int, first_step: int = 0) -> Iterator[list[PlanarBatch]]:
        """The training batches of the stack."""
        steps = self.batches.training(epoch, first_step)
        while True:
            start = time.perf_counter()
            step = next(steps, None)
            self.waited += time.perf_counter() - start
            if step is None:
                return
            yield step

    def _timed_collate(self, *arguments: Any) -> PlanarBatch:
        start = time.thread_time()
        batch = self._collate(*arguments)
        self.collated += time.thread_time() - start
        return batch


def epochs_by_turns(runs: Mapping[str, Epochs], turns: int, threads: int, warm_up: int = 1) -> dict[str, list[Epoch]]:
    """``turns`` epochs of each run A B A B ..., after some that do not count."""
    found: dict[str, list[Epoch]] = {name: [] for name in runs}
    for k in range(warm_up + turns):
        for name, run in runs.items():
            epoch = run(threads)
            if k >= warm_up:
                found[name].append(epoch)
    return found
