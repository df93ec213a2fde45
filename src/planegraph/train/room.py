"""How large the padded batches of a group are, known before any of them is made.

The graphs of every step follow from seed and epoch, so the largest batch can be looked up instead of estimated. A capacity that is too
small costs a new capture of the step, a second or more; one that is too large costs time in every step.

Training looks ahead by *stages*: all epochs, or as many as 67 million graphs make. Where more epochs may be added later, a stage has at
most 64, whatever their number: a run that is made longer then pads its batches as if it had been that long from the start. All
processes get the same sizes, so that one checkpoint serves them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..data.layout import Capacity
from ..data.needs import Needs
from ..runs.trials import Trial, training_order

_EPOCHS, _GRAPHS = 64, 2**26  # of a stage, at most


class Room:
    """The exact sizes that batches need.

    Args:
        batch_size: graphs of one trial in one process.
        processes: how many share each step; process r takes every ``processes``-th graph, from the r-th on.
        epochs: of the run; None if more may be added later.
    """

    def __init__(self, needs: Needs, trials: Sequence[Trial], batch_size: int, processes: int, epochs: int | None) -> None:
        self.needs, self.trials, self.batch_size, self.processes = needs, trials, batch_size, processes
        self.orders = list({(trial.seed, trial.fold): trial for trial in trials}.values())  # trials of several targets share theirs
        graphs = sum(len(trial.split["train"]) for trial in self.orders)
        self.stage = min(max(_GRAPHS // graphs, 1), _EPOCHS if epochs is None else epochs)
        self._known: tuple[int, Capacity] | None = None

    def training(self, epoch: int) -> Capacity:
        """The sizes of the largest batches in the stage of this epoch."""
        first = epoch // self.stage * self.stage
        if self._known is None or self._known[0] != first:
            self._known = first, self.needs.most(self._shares(range(first, first + self.stage)), self.batch_size)
        return self._known[1]

    def evaluation(self, part: str) -> Capacity:
        """The same for a part of the split, in its order."""
        return self.needs.most((trial.split[part] for trial in self.trials), self.batch_size)

    def _shares(self, epochs: range) -> Iterator[np.ndarray]:
        """The graphs of each trial and process in each of these epochs, in their order."""
        for epoch in epochs:
            for trial in self.orders:
                order = training_order(trial, epoch)
                yield from (order[rank :: self.processes] for rank in range(self.processes))
