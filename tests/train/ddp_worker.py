"""One process of several, started by torchrun: ``torchrun ... -m train.ddp_worker FOLDER``."""

from __future__ import annotations

import sys

from planegraph.train import train

from .tasks import regression, small

GRAPHS = 36  # 21 of them to train on: the last step of an epoch has one graph, for one of two processes


def settings(batch_size: int, **changes):
    return small(batch_size=batch_size, seeds=2, clip=0.5, precision="float64", **changes)


if __name__ == "__main__":
    train(regression(GRAPHS, loss="rmse"), settings(5), sys.argv[1], device="cpu")
