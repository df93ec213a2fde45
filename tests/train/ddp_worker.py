"""One process of several, started by torchrun: ``torchrun ... -m train.ddp_worker FOLDER`` trains; with ``statistics`` after it, the
process writes what it has of the norms' statistics after two epochs, and its threads at the end; with ``dropout`` or ``resumed``, what its
dropout does to ones after an epoch that it trained, or that it read from the checkpoint of the former.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch

from planegraph.nn.dropout import Dropout
from planegraph.runs.trials import trials_of
from planegraph.train import train
from planegraph.train.distributed import joined
from planegraph.train.group import Group
from planegraph.train.loop import CHECKPOINT, end_epoch, train_epoch
from planegraph.train.signals import StopWish

from .tasks import regression, small

GRAPHS = 36  # 21 of them to train on: the last step of an epoch has one graph, for one of two processes


def settings(batch_size: int, **changes):
    return small(batch_size=batch_size, seeds=2, clip=0.5, precision="float64", **changes)


def statistics(folder: Path) -> None:
    cpu, task = torch.device("cpu"), regression(GRAPHS)
    options = settings(5, ema=0.9).with_overrides(["model.norm=batch"])
    with joined(cpu) as world:
        group = Group(task, options, trials_of(task, options.train), cpu, world)
        with StopWish() as wish:
            for epoch in range(2):
                train_epoch(group, epoch, wish)
                end_epoch(group, epoch)
        state = group.state
        np.savez(folder / f"{world.rank}.npz", running=state.running, average=state.average, running_average=state.running_average)
        group.batches.close()
    names = [path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")]
    (folder / f"{world.rank}.threads").write_text("\n".join(names))


def dropout(folder: Path, resumed: bool) -> None:
    cpu, task = torch.device("cpu"), regression(GRAPHS)
    options = settings(5).with_overrides(["model.dropout=0.3"])
    with joined(cpu) as world:
        group = Group(task, options, trials_of(task, options.train), cpu, world)
        if resumed:
            group.load(folder / CHECKPOINT)
        else:
            with StopWish() as wish:
                train_epoch(group, 0, wish)
            end_epoch(group, 0)
            group.save(folder / CHECKPOINT)
        weights = group.state.weights.clone()
        drops = [part for part in group.model.train().modules() if isinstance(part, Dropout)]
        masks = {f"mask{k}": drop(torch.ones(2, 40, 8)) for k, drop in enumerate(drops)}
        np.savez(folder / f"{'resumed' if resumed else 'trained'}{world.rank}.npz", weights=weights, **masks)
        group.batches.close()


if __name__ == "__main__":
    if sys.argv[2:] == ["statistics"]:
        statistics(Path(sys.argv[1]))
    elif sys.argv[2:] in (["dropout"], ["resumed"]):
        dropout(Path(sys.argv[1]), sys.argv[2] == "resumed")
    else:
        train(regression(GRAPHS, loss="rmse"), settings(5), sys.argv[1], device="cpu")
