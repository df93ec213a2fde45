"""A run in a separate process, for the tests that kill it: ``python -m train.worker FOLDER [resume|slow|hold]``."""

from __future__ import annotations

import sys
import time

from planegraph.runs.errors import Stopped
from planegraph.runs.lock import FolderLock
from planegraph.train import train

from .tasks import regression, small


def settings(**changes):
    return small(epochs=8, batch_size=4, seeds=2, schedule={"kind": "plateau", "patience": 1}, ema=0.9, **changes).with_overrides(
        ["model.norm=batch", "model.dropout=0.1"]
    )


def main() -> None:
    folder, how = sys.argv[1], sys.argv[2]
    if how == "hold":
        with FolderLock(folder) as lock:
            print(lock.take(folder), flush=True)
            time.sleep(600)
    if how == "slow":
        from planegraph.train.step import TrainingStep

        apply = TrainingStep.apply

        def slowly(step):
            apply(step)
            time.sleep(0.03)

        TrainingStep.apply = slowly
    try:
        train(regression(), settings(), folder, resume=how == "resume", device="cpu")
    except Stopped as stop:
        print(stop)
        sys.exit(75)


if __name__ == "__main__":
    main()
