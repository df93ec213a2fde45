"""The batches of a stack of trials: each trial in its own order, all padded to one capacity, made ahead of time.

The graphs of step k of an epoch depend on (trial, epoch, k) and the process's rank alone. A trial alone on a CPU is not padded. Whether a
graph counts in the loss is ``attrs["weight"]``: 0 for padding, and for the stand-in of a process that has no graph left in a last step.
Where nodes have targets, ``y`` and ``attrs["weight"]`` have a row for each node, and only the nodes of the part count.

On the host a step is a list of batches, one per trial (pinned, if they go to a GPU); :func:`join` makes one batch of them. A GPU that has
room for the dataset keeps it, and makes the batches of training itself: then a step is only the ids of its graphs (:class:`GraphIds`). The
batches are the same.

As the graphs of every step follow from seed and epoch, the capacity is known before any batch is made (:class:`Room`). One that is too
small costs a new capture of the step, a second or more; one that is too large costs time in every step.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..data.batch import Collator, PlanarBatch
from ..data.collate import Feature
from ..data.device.resident import ResidentDataset, make_resident
from ..data.layout import Capacity, DoesNotFitError
from ..data.loader import Ahead
from ..data.needs import Needs, make_needs
from ..data.packed import PackedDataset
from ..runs.trials import Trial, training_order
from .environment import World

_AHEAD = 3
_RESIDENT = ("cuda",)  # kinds of devices that keep the dataset, if there is room
_EPOCHS, _GRAPHS = 64, 2**26  # of a stage, at most


class GraphIds:
    """The graphs of all trials of one step by their ids: what the host sends to a device that keeps the dataset and makes the batch.

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
    ) -> GraphIds:
        """Of each trial's ids. Raises DoesNotFitError for the first trial whose graphs do not fit into the capacity."""
        numbers = torch.full((len(ids), capacity.graphs + 1), -1, dtype=torch.int64, pin_memory=pin)
        view = numbers.numpy()
        for trial, mine, count in zip(view, ids, weighing, strict=True):
            resident.check(mine, capacity)
            trial[: len(mine)] = mine
            trial[-1] = count
        return cls(resident, capacity, numbers)

    def to(self, device: torch.device) -> GraphIds:
        """With the numbers, in new memory, on a device."""
        numbers = torch.empty(self.numbers.shape, dtype=self.numbers.dtype, device=device)
        return GraphIds(self.resident, self.capacity, numbers).copy_(self)

    def copy_(self, other: GraphIds) -> GraphIds:
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


StepGraphs = GraphIds | Sequence[PlanarBatch]
"""One training step's graphs: their ids, or the batches of the trials."""


def join(graphs: StepGraphs, device: torch.device) -> PlanarBatch:
    """The batches of all trials as one on a device; a single trial has no replica dimension."""
    if isinstance(graphs, GraphIds):
        return graphs.to(device).batch()
    batch = graphs[0] if len(graphs) == 1 else PlanarBatch.stack(graphs)
    return batch if batch.device == device else batch.to(device, non_blocking=True)


def overwrite(static: PlanarBatch, batches: Sequence[PlanarBatch]) -> None:
    """New data for a captured step: each trial's batch into its place, without waiting."""
    if len(batches) == 1:
        static.copy_(batches[0])
        return
    mine = static._tensors()
    for k, batch in enumerate(batches):
        for name, values in batch._tensors().items():
            mine[name][k].copy_(values, non_blocking=True)
    static.num_graphs = sum(batch.num_graphs for batch in batches)


class Batches:
    """Makes the batches of a stack.

    Args:
        pad: static shapes, as stacks and captured steps need them. ``capacity`` is that of training: large enough for many epochs
            (:class:`Room`), it grows before an epoch that needs more.
        device: where the batches will go; those for a GPU are made in page-locked memory.
        epochs: of the run; None if more may be added later.
        node_y: the targets of the nodes, if these are learned.
    """

    def __init__(
        self,
        dataset: PackedDataset,
        trials: Sequence[Trial],
        batch_size: int,
        pad: bool,
        device: torch.device,
        world: World | None = None,
        epochs: int | None = None,
        node_y: np.ndarray | None = None,
    ) -> None:
        largest = max(len(ids) for trial in trials for ids in trial.split.values())
        self.trials, self.batch_size, self.world = list(trials), min(batch_size, largest), world or World()
        self.device, self.pin = device, device.type == "cuda"
        self.dataset, self.collator = dataset, Collator(dataset)
        self.nodes = None if node_y is None else NodeTargets(node_y, dataset.tables.node_ptr, trials)
        of_graphs = pad and device.type in _RESIDENT and self.nodes is None
        self.resident = make_resident(dataset, device) if of_graphs else None
        self.room = self._make_room(epochs) if pad else None
        self.capacity: Capacity | None = self._first_capacity() if pad else None
        workers = min(len(self.trials), os.cpu_count() or 1)
        self.pool = ThreadPoolExecutor(workers, "planegraph-collate") if workers > 1 else None

    def close(self) -> None:
        """Ends the threads."""
        if self.pool is not None:
            self.pool.shutdown()

    @property
    def steps(self) -> int:
        """Steps of an epoch, the same for all trials."""
        return -(-len(self.trials[0].split["train"]) // (self.batch_size * self.world.size))

    def training(self, epoch: int, first_step: int = 0) -> Iterator[StepGraphs]:
        """The steps of an epoch from ``first_step`` on."""
        if self.room is not None:
            self.capacity = self.capacity.maximum(self.room.training(epoch).padded())
        orders = [training_order(trial, epoch) for trial in self.trials]
        size = self.batch_size * self.world.size
        steps = [[order[k * size : (k + 1) * size] for order in orders] for k in range(first_step, self.steps)]
        made = self._made(steps, self.capacity, "train", share=True)
        for batches, capacity in made if self.resident is not None else Ahead(made, _AHEAD):
            self.capacity = capacity
            yield batches

    def evaluation(self, part: str) -> Iterator[list[PlanarBatch]]:
        """All graphs of a part in the order of the split; trials with fewer graphs end with empty batches."""
        ids = [trial.split[part] for trial in self.trials]
        count = max(-(-len(i) // self.batch_size) for i in ids)
        steps = [[i[k * self.batch_size : (k + 1) * self.batch_size] for i in ids] for k in range(count)]
        capacity = self.capacity if self.room is None else self.room.evaluation(part).padded()
        for batches, _ in self._made(steps, capacity, part, share=False):
            yield batches

    def _make_room(self, epochs: int | None) -> Room | None:
        """None if the trees are too deep for a matrix of their sizes."""
        needs = make_needs(self.dataset.tables, self.collator.rows_per_edge) if self.resident is None else self.resident.needs
        return None if needs is None else Room(needs, self.trials, self.batch_size, self.world.size, epochs)

    def _first_capacity(self) -> Capacity:
        """Of the first epochs; where trees are too deep for a matrix of their sizes, of the first batch."""
        if self.room is not None:
            return self.room.training(0).padded()
        return self.collator(training_order(self.trials[0], 0)[: self.batch_size]).layout.sizes.padded()

    def _made(
        self, steps: list[list[np.ndarray]], capacity: Capacity | None, part: str, share: bool
    ) -> Iterator[tuple[Any, Capacity | None]]:
        """Each step on a part and the capacity then, larger where a batch did not fit; ``share``: of training, where each process takes its
        share of the graphs."""
        make: Callable[..., Any] = self._ids if share and self.resident is not None else partial(self._collated, part)
        for parts in steps:
            mine = [ids[self.world.rank :: self.world.size] if share else ids for ids in parts]
            while True:
                try:
                    batches = make(mine, parts, capacity)
                    break
                except DoesNotFitError as error:
                    capacity = capacity.grow(error.layout)
            yield batches, capacity

    def _ids(self, mine: list[np.ndarray], parts: list[np.ndarray], capacity: Capacity) -> GraphIds:
        ids = [ids if len(ids) else of[:1] for ids, of in zip(mine, parts, strict=True)]
        with torch.cuda.device(self.device) if self.pin else nullcontext():  # or pinned memory would wake up device 0
            return GraphIds.of(self.resident, capacity, ids, [len(ids) for ids in mine], self.pin)

    def _collated(self, part: str, mine: list[np.ndarray], parts: list[np.ndarray], capacity: Capacity | None) -> list[PlanarBatch]:
        def one(ids: np.ndarray, of: np.ndarray, trial: Trial) -> PlanarBatch:
            with torch.cuda.device(self.device) if self.pin else nullcontext():  # or pinned memory would wake up device 0
                batch = self.collator(ids if len(ids) else of[:1], capacity, self.pin)
                if self.nodes is not None:
                    self.nodes.attach(batch, ids, trial, part, self.pin)
                    return batch
                weight = torch.zeros(batch.layout.num_graphs, pin_memory=self.pin)
            weight[: len(ids)] = 1
            batch.attrs["weight"] = weight
            return batch

        return list((map if self.pool is None else self.pool.map)(one, mine, parts, self.trials))


class NodeTargets:
    """The targets of the nodes, and which of them are in each part of each trial."""

    def __init__(self, y: np.ndarray, node_ptr: np.ndarray, trials: Sequence[Trial]) -> None:
        self.y, self._weights = Feature.of(y, node_ptr), dict[tuple[int | None, str], Any]()
        for trial in trials:
            for part, nodes in trial.items.items():
                if (trial.fold, part) not in self._weights:
                    weight = np.zeros(len(y), np.float32)
                    weight[nodes] = 1
                    self._weights[trial.fold, part] = Feature.of(weight, node_ptr)

    def attach(self, batch: PlanarBatch, ids: np.ndarray, trial: Trial, part: str, pin: bool) -> None:
        """Gives the batch of the graphs ``ids`` its targets and weights; no graphs: it is a stand-in, which does not count."""
        rows = batch.layout.num_nodes
        batch.y = self.y.take(ids, rows, pin)
        batch.attrs["weight"] = self._weights[trial.fold, part].take(ids, rows, pin)


class Room:
    """The exact sizes that batches need.

    Training looks ahead by *stages*: all epochs, or as many as 67 million graphs make. Where more epochs may be added later, a stage has at
    most 64, whatever their number: a run that is made longer then pads its batches as if it had been that long from the start. All
    processes get the same sizes, so that one checkpoint serves them all.

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
