"""Several processes under torchrun: each takes its share of every step's graphs, and one sum over all of them is exchanged.

Sums of gradients, losses and counts are added up, so a step of K processes is the step of one process with K times the batch size, the
uneven last batch included. Norms by batch see their own process's graphs only; their running averages are averaged once an epoch. Dropout
draws for each process anew, by its rank.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from ..errors import PlanegraphError
from ..processes import process_count


@dataclass(frozen=True)
class World:
    """The processes of a run and which of them this is."""

    size: int = 1
    rank: int = 0

    @property
    def first(self) -> bool:
        """Whether this process writes the files and shows the progress."""
        return self.rank == 0

    def add_up(self, values: Tensor) -> Tensor:
        """The sum over all processes, in place."""
        if self.size > 1:
            dist.all_reduce(values)
        return values

    def same(self, value: Any) -> Any:
        """What the first process has."""
        if self.size == 1:
            return value
        box = [value]
        dist.broadcast_object_list(box, src=0)
        return box[0]

    def any(self, flag: bool) -> bool:
        """Whether it is true in some process."""
        return flag if self.size == 1 else any(self.all(flag))

    def all(self, value: Any) -> list[Any]:
        """The values of all processes."""
        if self.size == 1:
            return [value]
        found: list[Any] = [None] * self.size
        dist.all_gather_object(found, value)
        return found

    def wait(self) -> None:
        """For all processes."""
        if self.size > 1:
            dist.barrier()


@contextmanager
def joined(device: torch.device) -> Iterator[World]:
    """The world that torchrun describes, or this process alone."""
    if process_count() == 1:
        yield World()
        return
    import torch._dynamo  # noqa: F401 - its modules keep a group that is there when they are imported, and its threads then live at exit

    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield World(dist.get_world_size(), dist.get_rank())
    finally:
        dist.destroy_process_group()


def default_device() -> torch.device:
    """This process's GPU, or the CPU."""
    return own_gpu(int(os.environ.get("LOCAL_RANK", "0"))) if torch.cuda.is_available() else torch.device("cpu")


def chosen_device(device: torch.device | str | None) -> torch.device:
    """The device that a name means in this process: None is the default, and ``cuda`` under torchrun is the process's own GPU.

    >>> chosen_device("cpu")
    device(type='cpu')
    """
    if device is None:
        return default_device()
    device = torch.device(device)
    own = os.environ.get("LOCAL_RANK")
    return own_gpu(int(own)) if device == torch.device("cuda") and own is not None else device


def own_gpu(index: int) -> torch.device:
    """The GPU of this index, made the current one; PlanegraphError if the machine has fewer than its processes need."""
    if index >= torch.cuda.device_count():
        raise PlanegraphError(
            f"process {index} of this machine, counted from 0, has no GPU: there are {torch.cuda.device_count()}. Start as many "
            "processes (torchrun --nproc-per-node), or use --device cpu"
        )
    device = torch.device("cuda", index)
    torch.cuda.set_device(device)
    return device
