"""Chains of small kernels side by side on a GPU: a captured step is bound by their number in a row, not by their work."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from .ops.aside import side_stream


class Later:
    """A tensor that another stream makes: ``value`` for what follows on that stream; called, for the current one, which then waits."""

    def __init__(self, value: Tensor, stream: torch.cuda.Stream | None) -> None:
        self.value, self.made = value, None if stream is None else stream.record_event()

    def __call__(self) -> Tensor:
        if self.made is not None:
            current = torch.cuda.current_stream(self.value.device)
            current.wait_event(self.made)
            self.value.record_stream(current)
        return self.value


class Beside:
    """While a CUDA graph is captured, what this is given to make is made beside what follows, until it is asked for; so is its gradient."""

    def __init__(self, device: torch.device, purpose: str) -> None:
        self.stream = side_stream(device, purpose)

    def __call__(self, make: Callable[[], Tensor]) -> Later:
        """Begins when everything that was queued so far is done."""
        if self.stream is None:
            return Later(make(), None)
        self.stream.wait_stream(torch.cuda.current_stream(self.stream.device))
        with torch.cuda.stream(self.stream):
            return Later(make(), self.stream)
