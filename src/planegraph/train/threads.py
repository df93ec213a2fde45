"""How many threads PyTorch computes with on a CPU: one for small batches, its own number for large ones, unless the user says otherwise.

Batches of molecules are small: the threads of an operation mostly wait for each other, and on a busy machine they wait for their turn. A
training step of BasePlanE (width 64, 3 layers, 64 molecules of Lipophilicity) took 0.10 CPU seconds with one thread and 0.76 with two, one
of 256 molecules 0.31 and 1.7, on two busy cores. The number of threads changes the rounding of sums, so it does not depend on timings: a
resumed run has the same bits.

``OMP_NUM_THREADS``, ``MKL_NUM_THREADS`` and ``torch.set_num_threads`` are respected.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from ..workers import core_count

_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
_LARGE = 10_000  # nodes of a batch from which on threads have enough to do; 256 molecules have some 6,000


@contextmanager
def cpu_threads(device: torch.device, nodes: float = 0) -> Iterator[None]:
    """Within, PyTorch computes with one thread if the device is a CPU, batches of so many nodes are small, and nobody has chosen a number.

    >>> before = torch.get_num_threads()
    >>> with cpu_threads(torch.device("cpu"), nodes=1_500):
    ...     torch.get_num_threads() in (1, before)
    True
    >>> torch.get_num_threads() == before
    True
    """
    before = torch.get_num_threads()
    if device.type != "cpu" or nodes >= _LARGE or _chosen(before):
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _chosen(threads: int) -> bool:
    """Whether the number is not PyTorch's own: it starts with all cores, or half of them where two share a unit that computes."""
    return any(os.environ.get(name) for name in _VARIABLES) or threads not in (core_count(), core_count() // 2)
