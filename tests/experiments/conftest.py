"""The tests of the experiments need PyTorch; where it is not installed, they are left out."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

collect_ignore_glob = [] if find_spec("torch") else ["*.py"]


@pytest.fixture(scope="session")
def runs(tmp_path_factory) -> dict[str, Path]:
    """Finished runs of small tasks: two seeds stacked, two folds one after another, classes."""
    from train.tasks import cubic, regression, small

    from planegraph.train import train

    root = tmp_path_factory.mktemp("runs")
    train(regression(), small(seeds=2), root / "seeds", device="cpu")
    train(regression(folds=2), small("counting", "GIN", together=False), root / "folds", device="cpu")
    train(cubic(), small("cubic", epochs=2, batch_size=27), root / "classes", device="cpu")
    return {path.name: path for path in root.iterdir()}
