"""A step's graphs by their ids alone: what the host sends to a device that keeps the dataset (data/device) and makes the batch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from ..data.batch import PlanarBatch
from ..data.device.resident import ResidentDataset
from ..data.layout import Capacity


class Chosen:
    """The graphs of all trials of one step.

    Attributes:
        numbers: (trials, capacity.graphs + 1) int64: the ids of each trial, -1 for none; and how many of them, from the first on, count in
            the loss.
        layout: of the batch that they make.
    """

    def __init__(self, resident: ResidentDataset, capacity: Capacity, numbers: Tensor) -> None:
        self.resident, self.capacity, self.numbers = resident, capacity, numbers
        self.layout = resident.layout(capacity)

    @classmethod
    def of(
        cls, resident: ResidentDataset, capacity: Capacity, ids: Sequence[np.ndarray], weighing: Sequence[int], pin: bool
    ) -> Chosen:
        """Of each trial's ids. Raises DoesNotFitError for the first trial whose graphs do not fit into the capacity."""
        numbers = torch.full((len(ids), capacity.graphs + 1), -1, dtype=torch.int64, pin_memory=pin)
        view = numbers.numpy()
        for trial, mine, count in zip(view, ids, weighing, strict=True):
            resident.check(mine, capacity)
            trial[: len(mine)] = mine
            trial[-1] = count
        return cls(resident, capacity, numbers)

    def to(self, device: torch.device) -> Chosen:
        """With the numbers, in memory of their own, on a device."""
        numbers = torch.empty(self.numbers.shape, dtype=self.numbers.dtype, device=device)
        return Chosen(self.resident, self.capacity, numbers).copy_(self)

    def copy_(self, other: Chosen) -> Chosen:
        """Overwrites the numbers, without waiting."""
        self.numbers.copy_(other.numbers, non_blocking=True)
        return self

    def batch(self) -> PlanarBatch:
        """The batch, with ``attrs["weight"]``; a single trial has no replica dimension. Can be captured: it reads only ``numbers``."""
        numbers = self.numbers[0] if len(self.numbers) == 1 else self.numbers
        batch = self.resident.collate(numbers[..., :-1], self.capacity)
        place = torch.arange(self.capacity.graphs, device=numbers.device)
        batch.attrs["weight"] = (place < numbers[..., -1:]).to(torch.float32)
        return batch
