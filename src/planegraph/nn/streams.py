"""Two chains of small kernels side by side on a GPU: a captured step is bound by their number in a row, not by their work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import torch
from torch import Tensor


@cache
def _second_stream(device: torch.device) -> torch.cuda.Stream:
    return torch.cuda.Stream(device)


class Beside:
    """What runs under :meth:`start` runs beside what follows, until :meth:`join`, and so does its backward pass.

    Only while a CUDA graph is captured: otherwise the host queues kernels more slowly than one stream runs them.
    """

    def __init__(self, device: torch.device) -> None:
        capturing = device.type == "cuda" and torch.cuda.is_current_stream_capturing()
        self.stream = _second_stream(device) if capturing else None

    @contextmanager
    def start(self) -> Iterator[None]:
        """Begins with everything that was queued so far."""
        if self.stream is None:
            yield
            return
        self.stream.wait_stream(torch.cuda.current_stream(self.stream.device))
        with torch.cuda.stream(self.stream):
            yield

    def join(self, *made: Tensor) -> None:
        """Waits for it; ``made`` are the tensors that are used from here on."""
        if self.stream is None:
            return
        current = torch.cuda.current_stream(self.stream.device)
        current.wait_stream(self.stream)
        for tensor in made:
            tensor.record_stream(current)
