"""The tests of the experiments need PyTorch; where it is not installed, they are left out."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from planegraph.tasks.task import Task

collect_ignore_glob = [] if find_spec("torch") else ["*.py"]


@pytest.fixture(scope="session")
def runs(tmp_path_factory) -> dict[str, Path]:
    """Finished runs of small tasks: two seeds stacked, two folds one after another, classes, answers by accuracy and by ROC-AUC."""
    from train.tasks import cubic, regression, small

    from planegraph.train import train

    root = tmp_path_factory.mktemp("runs")
    train(regression(), small(seeds=2), root / "seeds", device="cpu")
    train(regression(folds=2), small("counting", "GIN", together=False), root / "folds", device="cpu")
    train(cubic(), small("cubic", epochs=2, batch_size=27), root / "classes", device="cpu")
    for metric in ("accuracy", "rocauc"):
        train(_much(metric), small("much"), root / metric, device="cpu")
    return {path.name: path for path in root.iterdir()}


@pytest.fixture
def record(runs, tmp_path) -> Path:
    """The record of two seeds."""
    from planegraph.experiments.records import write_record

    return write_record(runs["seeds"], tmp_path, "small")


def _much(metric: str) -> Task:
    """Does a random planar graph count much? One output, whose sign answers."""
    from train.tasks import regression

    counted = regression()
    y = counted.dataset.y
    dataset = counted.dataset.with_y((y > np.median(y)).astype(np.float32))
    return replace(counted, name="much", dataset=dataset, kind="binary", loss="bce", metric=metric)
