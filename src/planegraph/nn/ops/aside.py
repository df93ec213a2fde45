"""Gradients of weights beside the chain of gradients: on a GPU nothing waits for them until the optimizer does.

A captured step is a chain of small kernels that leaves most of a GPU idle. Gradients of weights are a third of its work, and are read
only at its end. So within :func:`gradients_aside` they wait for others of their kind, are computed in one launch, and go to a stream of
their own. One backward pass at a time.

What lies between a parameter and the weight of an operation that uses this must be views, and a parameter must be used once: then nothing
reads its gradient before the end. tests/nn/test_aside.py sees to it for all models.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import cache

import torch
from torch import Tensor


class Aside:
    """The stream; what must stay in memory until it is done; and launches that wait for more of their kind."""

    def __init__(self, stream: torch.cuda.Stream) -> None:
        self.stream, self.forked = stream, False
        self.kept: list[Tensor | Callable[[], None]] = []
        self.waiting: dict[Hashable, Callable[[], None]] = {}

    def wait_and_keep(self, *tensors: Tensor) -> None:
        """For tensors of the chain that a launch is going to read."""
        self.stream.wait_stream(torch.cuda.current_stream(self.stream.device))
        self.forked = True
        self.kept.extend(tensors)

    def launch(self, launch: Callable[[], None]) -> None:
        """Queues it on the stream, and keeps it with the memory that it writes to."""
        self.kept.append(launch)
        with torch.cuda.stream(self.stream):
            launch()

    def launch_waiting(self) -> None:
        """Launches what still waits for more."""
        for launch in self.waiting.values():
            self.launch(launch)

    def join(self) -> None:
        """The chain waits for the stream, if that took part at all."""
        if self.forked:
            torch.cuda.current_stream(self.stream.device).wait_stream(self.stream)


_now: Aside | None = None  # not of a thread: a backward pass runs in threads of PyTorch's own


def now() -> Aside | None:
    """Where gradients of weights go at the moment; None: they are computed at once."""
    return _now


@cache
def _stream(device: torch.device, purpose: str) -> torch.cuda.Stream:
    return torch.cuda.Stream(device)


def side_stream(device: torch.device, purpose: str) -> torch.cuda.Stream | None:
    """One more stream for this purpose while a CUDA graph is captured; otherwise None: the host queues kernels more slowly than one stream
    runs them."""
    capturing = device.type == "cuda" and torch.cuda.is_current_stream_capturing()
    return _stream(device, purpose) if capturing else None


@contextmanager
def gradients_aside(device: torch.device) -> Iterator[None]:
    """While a CUDA graph is captured, gradients of weights inside this are computed aside; they are there when it ends.

    For ``torch.autograd.grad``, whose results nothing reads before they are given back.
    """
    global _now
    stream = side_stream(device, "gradients of weights")
    if stream is None:
        yield
        return
    aside = _now = Aside(stream)
    try:
        yield
        aside.launch_waiting()
    finally:
        _now = None
        aside.join()
