"""Two chains of small kernels side by side on a GPU: a captured step is bound by their number in a row, not by their work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from .ops.aside import side_stream


class Beside:
    """While a CUDA graph is captured, what runs under :meth:`start` runs beside what follows, until :meth:`join`; so does its gradient."""

    def __init__(self, device: torch.device) -> None:
        self.stream = side_stream(device, "terms of nodes")

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
