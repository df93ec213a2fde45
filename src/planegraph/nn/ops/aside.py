"""Gradients of weights beside the chain of gradients: on a GPU nothing waits for them until the optimizer does.

A captured step is a chain of small kernels that leaves most of a GPU idle. Gradients of weights are a third of its work, and are read
only at its end, so within :func:`gradients_aside` they go to a stream of their own. One backward pass at a time.

What lies between a parameter and the weight of an operation that uses this must be views, and a parameter must be used once: then nothing
reads its gradient before the end. tests/nn/test_aside.py sees to it for all models.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

import torch
from torch import Tensor

Result = TypeVar("Result")


class _Aside:
    """The stream, and what must stay in memory until it is done."""

    def __init__(self, stream: torch.cuda.Stream) -> None:
        self.stream, self.forked = stream, False
        self.kept: list[Tensor] = []

    def fork(self) -> None:
        """The stream goes on from where the chain is."""
        self.stream.wait_stream(torch.cuda.current_stream(self.stream.device))
        self.forked = True

    def join(self) -> None:
        """The chain waits for the stream, if that took part at all."""
        if self.forked:
            torch.cuda.current_stream(self.stream.device).wait_stream(self.stream)


_now: _Aside | None = None  # not of a thread: a backward pass runs in threads of PyTorch's own


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
    _now = _Aside(stream)
    try:
        yield
    finally:
        _now.join()
        _now = None


def aside(compute: Callable[[], Result], *read: Tensor) -> Result:
    """What ``compute`` gives, gradients of weights from ``read``; aside, if that is asked for."""
    if _now is None:
        return compute()
    now = _now
    now.fork()
    now.kept.extend(read)
    with torch.cuda.stream(now.stream):
        return compute()
