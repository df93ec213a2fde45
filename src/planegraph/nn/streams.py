"""Chains of small kernels side by side on a GPU: a captured step is bound by their number in a row, not by their work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from .ops.aside import side_stream


@contextmanager
def beside(*reads: Tensor | None) -> Iterator[None]:
    """While a CUDA graph is captured, runs what is inside on a second stream, beside what follows; so do its gradients.

    A result goes through :func:`mark` inside, and through :func:`made` where it is read outside.

    Args:
        reads: tensors from outside that are read inside, the first of which tells the device. They may be gone before they have been read:
            their memory is kept for the stream.
    """
    there = [tensor for tensor in reads if tensor is not None]
    stream = side_stream(there[0].device, "beside")
    if stream is None:
        yield
        return
    stream.wait_stream(torch.cuda.current_stream(stream.device))
    for tensor in there:
        tensor.record_stream(stream)
    with torch.cuda.stream(stream):
        yield


def mark(x: Tensor) -> Tensor:
    """x itself; :func:`made` waits for what the current stream has queued up to here, and for nothing after it."""
    if x.is_cuda and torch.cuda.is_current_stream_capturing():
        marked: Any = x
        marked.made_by = torch.cuda.current_stream(x.device).record_event()
    return x


def made(x: Tensor) -> Tensor:
    """x itself; the current stream waits until it is there."""
    event = getattr(x, "made_by", None)
    if event is not None:
        current = torch.cuda.current_stream(x.device)
        current.wait_event(event)
        x.record_stream(current)
    return x
