"""The best epoch of each trial by validation, and its weights: those are what is tested in the end.

Better is a smaller error, or an equal one with a smaller validation loss (accuracies often tie); ties keep the earlier epoch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor


def settled(records: Sequence[Mapping[str, Any] | None], epoch: int, patience: int | None) -> bool:
    """Whether no trial has become better for ``patience`` epochs; ``records`` as in :class:`Best`, after ``epoch`` epochs.

    >>> settled([{"epoch": 3}, {"epoch": 5}], 10, 5), settled([{"epoch": 3}, {"epoch": 5}], 10, 6)
    (True, False)
    """
    return patience is not None and all(record is not None and epoch - record["epoch"] >= patience for record in records)


class Best:
    """For each trial None or a dict of epoch, error, loss and metric; ``weights`` as State.chosen() gives them."""

    def __init__(self, trials: int) -> None:
        self.trials = trials
        self.records: list[dict[str, Any] | None] = [None] * trials
        self.weights: dict[str, Tensor] = {}

    def offer(self, epoch: int, found: list[dict[str, float]], weights: dict[str, Tensor]) -> None:
        """Keeps what is better than before; epochs are counted from 1."""
        better = [self._better(old, new) for old, new in zip(self.records, found, strict=True)]
        if not any(better):
            return
        for trial in range(self.trials):
            if better[trial]:
                self.records[trial] = {"epoch": epoch} | found[trial]
        if not self.weights:
            self.weights = {name: value.clone() for name, value in weights.items()}
        elif self.trials == 1:
            for name, value in weights.items():
                self.weights[name].copy_(value)
        else:
            which = torch.tensor(better).nonzero().squeeze(1)
            for name, value in weights.items():
                at = which.to(value.device)
                self.weights[name].index_copy_(0, at, value.index_select(0, at))

    @staticmethod
    def _better(old: dict[str, Any] | None, new: dict[str, float]) -> bool:
        return old is None or (new["error"], new["loss"]) < (old["error"], old["loss"])
