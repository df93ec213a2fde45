"""One process of several, started by torchrun: ``torchrun ... -m train.ddp_worker FOLDER`` trains; with ``statistics`` after it, the
process writes what it has of the norms' statistics after two epochs.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch

from planegraph.train import train
from planegraph.train.distributed import joined
from planegraph.train.group import Group
from planegraph.train.lanes import lanes_of
from planegraph.train.loop import end_epoch, train_epoch
from planegraph.train.signals import StopWish

from .tasks import regression, small

GRAPHS = 36  # 21 of them to train on: the last step of an epoch has one graph, for one of two processes


def settings(batch_size: int, **changes):
    return small(batch_size=batch_size, seeds=2, clip=0.5, precision="float64", **changes)


def statistics(folder: Path) -> None:
    cpu, task = torch.device("cpu"), regression(GRAPHS)
    options = settings(5, ema=0.9).with_overrides(["model.norm=batch"])
    with joined(cpu) as world:
        group = Group(task, options, lanes_of(task, options.train), cpu, world)
        with StopWish() as wish:
            for epoch in range(2):
                train_epoch(group, epoch, wish)
                end_epoch(group, epoch)
        state = group.state
        np.savez(folder / f"{world.rank}.npz", running=state.running, average=state.average, running_average=state.running_average)
        group.batches.close()


if __name__ == "__main__":
    if sys.argv[2:] == ["statistics"]:
        statistics(Path(sys.argv[1]))
    else:
        train(regression(GRAPHS, loss="rmse"), settings(5), sys.argv[1], device="cpu")
