"""Small tasks in memory, for the tests of training."""

from __future__ import annotations

import itertools
import signal
from collections.abc import Callable

import numpy as np
import pytest

import planegraph as pg
from planegraph.data import PackedDataset
from planegraph.data.sizes import Categorical
from planegraph.graphs.formats.graph6 import from_graph6
from planegraph.tasks.task import Task
from planegraph.train import RunSettings
from planegraph.train.step import TrainingStep

CUBIC = ("I}KGGGB?w", "I}GWOGB?w", "I}GOWOD?w", "I}GOOSE@W", "I{S_gOD?w", "I{S__SE@W", "I{O_ogK?w", "I{O_ogI@W", "IsXP?cI@W")
"""The connected cubic planar graphs on 10 nodes."""


def regression(graphs: int = 40, folds: int = 0, targets: int = 1, edges: bool = False, **options) -> Task:
    """Random planar graphs with categories at their nodes (and ``edges``); the target counts edges and marked nodes."""
    rng = np.random.default_rng(0)
    found = [pg.families.random_planar(int(rng.integers(5, 12)), 0.5, seed=s) for s in range(graphs)]
    batch = pg.GraphBatch.from_graphs(found)
    x = rng.integers(0, 3, (batch.num_nodes, 1))
    marks = np.add.reduceat(x[:, 0] == 1, batch.node_ptr[:-1])
    y = (np.diff(batch.edge_ptr) / 10 + marks / 5 - 1).astype(np.float32)[:, None] * np.arange(1, targets + 1, dtype=np.float32)
    if edges:
        options["edge_features"] = Categorical((2,))
    ds = PackedDataset.from_arrays(batch, x=x, y=y, edge_attr=rng.integers(0, 2, (batch.num_edges, 1)) if edges else None)
    ids = np.arange(graphs)
    cut = 3 * graphs // 4
    splits = {"train": ids[: cut - 6], "val": ids[cut - 6 : cut], "test": ids[cut:]}
    shifted = [{part: (which + 7 * k) % graphs for part, which in splits.items()} for k in range(folds)]
    parts = {"folds": shifted} if folds else {"splits": splits}
    return Task("counting", ds, **parts, node_features=Categorical((3,)), outputs=targets, **options)


def cubic(copies: int = 10) -> Task:
    """Which of the nine cubic planar graphs is it? Copies are relabelled; two of each are for validation, two for the test."""
    graphs = [pg.families.shuffled(from_graph6(text), 100 * k + c) for c in range(copies) for k, text in enumerate(CUBIC)]
    ds = PackedDataset.from_graphs(graphs, y=np.tile(np.arange(9), copies))
    ids = np.arange(len(graphs))
    splits = {"train": ids[36:], "val": ids[:18], "test": ids[18:36]}
    return Task("cubic", ds, splits, kind="multiclass", loss="ce", metric="accuracy", outputs=9)


def small(task: str = "counting", model_class: str = "BasePlanE", **train) -> RunSettings:
    """Settings of a run that takes a moment."""
    settings = RunSettings(task, model={"hidden": 8, "layers": 2, "pos_dim": 4, "norm": "none"}, model_class=model_class)
    values = {"epochs": 4, "batch_size": 10, "lr": 0.01, "schedule": "constant", "clip": None, "save_seconds": 0} | train
    return settings.from_dict(settings.to_dict() | {"train": settings.to_dict()["train"] | values})


def stopped_at(count: int, run: Callable[[], object], stack: int = 0) -> None:
    """Runs with a SIGTERM in the step of this number of a stack."""
    apply, stacks = TrainingStep.apply, itertools.count()

    def signalled(step):
        apply(step)
        if step.adam.count.item() == count and next(stacks) == stack:
            signal.raise_signal(signal.SIGTERM)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TrainingStep, "apply", signalled)
        run()
