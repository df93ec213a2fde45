"""How steps are run: eagerly here, or captured (capture.py); the loop sees no difference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor

from ..data.batch import PlanarBatch
from .batches import Step, join
from .step import TrainingStep

Prediction = Callable[[PlanarBatch], Tensor]


class Runner(Protocol):
    """Runs training steps on the trials' graphs, and predictions on joined batches."""

    def train(self, batches: Step) -> None:
        """One step."""

    def predict(self, batch: PlanarBatch) -> Tensor:
        """(trials, G, outputs), good until the next call."""


class Eager:
    """Operation by operation."""

    def __init__(self, step: TrainingStep, predict: Prediction, device: torch.device) -> None:
        self.step, self.predict, self.device = step, predict, device

    def train(self, batches: Step) -> None:
        """One step."""
        self.step(join(batches, self.device))
