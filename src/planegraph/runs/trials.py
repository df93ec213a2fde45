"""Trials: the seeds, folds and targets that one run trains, each as if it were alone.

A trial has a seed (first weights and data order), a split and, where each target has its own model, a target. Trials of one model are
stacked along a replica dimension and share every step, so trials that go together must take equally many steps an epoch; those that do
not are trained one stack after another.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import PlanegraphError, PlanegraphWarning
from ..tasks import PARTS
from ..tasks.splits import part_title
from ..tasks.task import Split, Task
from .settings import TrainSettings


def trial_name(seed: int, fold: int | None, target: str | None = None) -> str:
    """For files and messages: ``seed3``, ``seed3-fold0`` or ``mu-seed3``."""
    return ("" if target is None else f"{target}-") + f"seed{seed}" + ("" if fold is None else f"-fold{fold}")


def trial_title(seed: int, fold: int | None, target: str | None = None) -> str:
    """The same for people: ``seed 3``, ``seed 3, fold 0`` or ``mu, seed 3``."""
    return ("" if target is None else f"{target}, ") + f"seed {seed}" + ("" if fold is None else f", fold {fold}")


@dataclass(frozen=True)
class Trial:
    """One seed on one split for one target; ``fold`` and ``target`` are None if the task has none.

    Attributes:
        split: ids of the graphs of each part. nodes: None or, if each node has a target, ids of the nodes of each part, ascending; then
            ``split`` has the graphs that hold them, and a graph may be in several parts.
    """

    seed: int
    fold: int | None
    split: dict[str, np.ndarray]
    target: str | None = None
    nodes: dict[str, np.ndarray] | None = None

    @property
    def items(self) -> dict[str, np.ndarray]:
        """What has a target in each part: ids of nodes or of graphs."""
        return self.split if self.nodes is None else self.nodes

    @property
    def name(self) -> str:
        """See :func:`trial_name`."""
        return trial_name(self.seed, self.fold, self.target)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trial) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


def trials_of(task: Task, settings: TrainSettings) -> list[Trial]:
    """All trials of a run: targets times seeds times folds."""
    if task.splits is None and task.folds is None:
        raise PlanegraphError(f"task {task.name} must have splits or folds, one of them")
    checked = [(fold, _whole(task, split, fold)) for fold, split in task.by_fold()]
    if task.shared:
        warnings.warn(f"task {task.name}: {task.shared}", PlanegraphWarning, stacklevel=3)
    seeds = range(settings.seed, settings.seed + settings.seeds)
    splits = [(fold, *graphs_and_nodes(task, split)) for fold, split in checked]
    targets = task.targets or (None,)
    return [Trial(seed, fold, graphs, target, nodes) for target in targets for seed in seeds for fold, graphs, nodes in splits]


def _whole(task: Task, split: Split, fold: int | None) -> dict[str, np.ndarray]:
    """The three parts of a split, none of which may be empty; their ids were checked when the task was made."""
    for part in PARTS:
        if len(split.get(part, ())) == 0:
            there = ", ".join(name for name, ids in split.items() if len(ids)) or "none"
            what = f"{task.level}s"
            raise PlanegraphError(f"task {task.name}: no {what} in {part_title(part, fold)}; the parts with {what} are {there}")
    return {part: split[part] for part in PARTS}


def graphs_and_nodes(task: Task, split: Split) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray] | None]:
    """The graphs of each part and, if the parts are of nodes, these."""
    parts = dict(split)
    if task.level == "graph":
        return parts, None
    ptr = task.dataset.tables.node_ptr
    return {part: np.unique(np.searchsorted(ptr, ids, side="right") - 1) for part, ids in parts.items()}, parts


def most_graphs(trials: Sequence[Trial]) -> int:
    """The training graphs of the trial that has the most."""
    return max(len(trial.split["train"]) for trial in trials)


def stacks_of(trials: Sequence[Trial], batch_size: int, together: bool) -> list[list[Trial]]:
    """The trials that are trained together, in order of their first trial."""
    if not together:
        return [[trial] for trial in trials]
    stacks: dict[int, list[Trial]] = {}
    for trial in trials:
        stacks.setdefault(-(-len(trial.split["train"]) // batch_size), []).append(trial)
    return list(stacks.values())


def training_order(trial: Trial, epoch: int) -> np.ndarray:
    """The training graphs of a trial in the order of an epoch, epochs counted from 0."""
    ids = trial.split["train"]
    return ids[np.random.default_rng([trial.seed, epoch]).permutation(len(ids))]
