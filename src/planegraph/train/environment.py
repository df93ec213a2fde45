"""What a run needs of its process: device, threads, precision of products, Ctrl-C, and the other processes under torchrun.

Several processes each take their share of every step's graphs, and one sum over all of them is exchanged: gradients, losses and counts are
added up, so a step of K processes is the step of one process with K times the batch size, the uneven last batch included. Norms by batch
see their own process's graphs only; their running averages are averaged once an epoch. Dropout draws for each process anew, by its rank.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any, Self

import torch
import torch.distributed as dist
from torch import Tensor

from ..errors import PlanegraphError
from ..processes import process_count
from ..workers import core_count

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
_LARGE = 10_000  # nodes of a batch from which on threads have enough to do; 256 molecules have some 6,000

# ---- processes ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class World:
    """The processes of a run and which of them this is."""

    size: int = 1
    rank: int = 0

    @property
    def first(self) -> bool:
        """Whether this process writes the files and shows the progress."""
        return self.rank == 0

    def all_reduce(self, values: Tensor) -> Tensor:
        """The sum over all processes, in place."""
        if self.size > 1:
            dist.all_reduce(values)
        return values

    def broadcast(self, value: Any) -> Any:
        """What the first process has."""
        if self.size == 1:
            return value
        box = [value]
        dist.broadcast_object_list(box, src=0)
        return box[0]

    def any(self, flag: bool) -> bool:
        """Whether it is true in some process."""
        if self.size == 1:
            return flag
        found: list[Any] = [None] * self.size
        dist.all_gather_object(found, flag)
        return any(found)

    def barrier(self) -> None:
        """Waits for all processes."""
        if self.size > 1:
            dist.barrier()


@contextmanager
def joined(device: torch.device) -> Iterator[World]:
    """The world that torchrun describes, or this process alone."""
    if process_count() == 1:
        yield World()
        return
    import torch._dynamo  # noqa: F401 - its modules keep a process group that is there when they are imported, and its threads then live at exit

    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield World(dist.get_world_size(), dist.get_rank())
    finally:
        dist.destroy_process_group()


# ---- device, threads, precision ------------------------------------------------------------------------------------------------


def resolve_device(device: torch.device | str | None) -> torch.device:
    """The device that a name means in this process: None is its GPU, or the CPU; ``cuda`` under torchrun is the process's own GPU.

    >>> resolve_device("cpu")
    device(type='cpu')
    """
    own = os.environ.get("LOCAL_RANK")
    if device is None:
        return _own_gpu(int(own or 0)) if torch.cuda.is_available() else torch.device("cpu")
    device = torch.device(device)
    return _own_gpu(int(own)) if device == torch.device("cuda") and own is not None else device


def _own_gpu(index: int) -> torch.device:
    """The GPU of this index, made the current one; PlanegraphError if the machine has fewer than its processes need."""
    if index >= torch.cuda.device_count():
        raise PlanegraphError(
            f"process {index} of this machine, counted from 0, has no GPU: there are {torch.cuda.device_count()}. Start as many "
            "processes (torchrun --nproc-per-node), or use --device cpu"
        )
    device = torch.device("cuda", index)
    torch.cuda.set_device(device)
    return device


@contextmanager
def cpu_threads(device: torch.device, nodes: float = 0) -> Iterator[None]:
    """Within, PyTorch computes with one thread if the device is a CPU, batches of so many nodes are small, and the user has set no number
    (by ``OMP_NUM_THREADS``, ``MKL_NUM_THREADS`` or ``torch.set_num_threads``).

    The threads of a small operation mostly wait for each other. A training step of BasePlanE (width 64, 3 layers, 64 molecules of
    Lipophilicity) took 0.10 CPU seconds with one thread and 0.76 with two, one of 256 molecules 0.31 and 1.7, on two busy cores. The number
    of threads changes the rounding of sums, so it does not depend on timings: a resumed run has the same bits.

    >>> before = torch.get_num_threads()
    >>> with cpu_threads(torch.device("cpu"), nodes=1_500):
    ...     torch.get_num_threads() in (1, before)
    True
    >>> torch.get_num_threads() == before
    True
    """
    before = torch.get_num_threads()
    if device.type != "cpu" or nodes >= _LARGE or _set_by_user(before):
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _set_by_user(threads: int) -> bool:
    """Whether the number is not PyTorch's own: it starts with all cores, or half of them where two share a unit that computes."""
    return any(os.environ.get(name) for name in _THREAD_VARIABLES) or threads not in (core_count(), core_count() // 2)


@contextmanager
def matmul_precision(kind: str) -> Iterator[None]:
    """Within, products on a GPU are TF32 or bfloat16, if the setting says so."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision({"tf32": "high", "bf16": "medium"}.get(kind, "highest"))
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


# ---- signals -------------------------------------------------------------------------------------------------------------------


class StopSignal:
    """Ctrl-C and SIGTERM within ``with``: they only set ``asked``, and the loop finishes its step, saves, and ends. A second Ctrl-C
    interrupts at once. Outside the main thread, where Python takes no handlers, nothing changes.

    A signal that the process was started to ignore stays ignored: shells start what a script runs in the background (``&``) so that Ctrl-C,
    which is meant for the foreground, does not end it.

    >>> with StopSignal() as stop:
    ...     signal.raise_signal(signal.SIGTERM)
    >>> stop.asked, stop.signal == signal.SIGTERM
    (True, True)
    """

    def __init__(self) -> None:
        self.asked = False
        self.signal: int | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) != signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._ask)
        return self

    def __exit__(self, *exc: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.asked, self.signal = True, number
