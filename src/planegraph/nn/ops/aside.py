"""Gradients of weights beside the chain of gradients: on a GPU nothing waits for them until the optimizer does.

A captured step is a chain of small kernels that leaves most of a GPU idle. Gradients of weights are a third of its work, and are read
only at its end, so within :func:`gradients_aside` they go to a stream of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

import torch
from torch import Tensor

Result = TypeVar("Result")


class _Aside:
    """The stream, what must stay in memory until it is done, and the weights whose gradients it has computed."""

    def __init__(self, stream: torch.cuda.Stream) -> None:
        self.stream = stream
        self.kept: list[Tensor] = []
        self.weights: set[int] = set()

    def join(self) -> None:
        if self.weights:
            torch.cuda.current_stream(self.stream.device).wait_stream(self.stream)


_now: _Aside | None = None  # not of a thread: a backward pass runs in threads of PyTorch's own


@cache
def _stream(device: torch.device) -> torch.cuda.Stream:
    return torch.cuda.Stream(device)


@contextmanager
def gradients_aside(device: torch.device) -> Iterator[None]:
    """While a CUDA graph is captured, gradients of weights inside this are computed aside; they are there when it ends.

    For ``torch.autograd.grad``, whose results nothing reads before they are given back.
    """
    global _now
    if device.type != "cuda" or not torch.cuda.is_current_stream_capturing():
        yield
        return
    _now = _Aside(_stream(device))
    try:
        yield
    finally:
        _now.join()
        _now = None


def aside(compute: Callable[[], Result], weights: Sequence[Tensor], *read: Tensor) -> Result:
    """What ``compute`` gives, the gradients of ``weights`` from ``read``; aside, if that is asked for."""
    if _now is None:
        return compute()
    now = _now
    now.stream.wait_stream(torch.cuda.current_stream(now.stream.device))
    with torch.cuda.stream(now.stream):
        result = compute()
    now.kept.extend(read)
    if any(weight.data_ptr() in now.weights for weight in weights):
        now.join()  # used before: PyTorch adds both gradients up at once
    now.weights.update(weight.data_ptr() for weight in weights)
    return result
