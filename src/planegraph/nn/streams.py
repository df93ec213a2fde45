"""Chains of small kernels side by side on a GPU: a captured step is bound by their number in a row, not by their work."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from .ops.aside import side_stream


class Beside:
    """Runs functions on a separate stream while a CUDA graph is captured, and at once otherwise. So do their gradients."""

    def __init__(self, device: torch.device, purpose: str) -> None:
        self.stream = side_stream(device, purpose)
        self.begin = None if self.stream is None else torch.cuda.current_stream(device).record_event()

    def __call__(self, make: Callable[[], Tensor], *reads: Tensor | None) -> Later:
        """What ``make`` gives. It runs behind what had been queued when this object was made, and may read nothing that came later.

        Args:
            reads: tensors that others made, and that may be gone before it has read them: their memory is kept for it.
        """
        if self.stream is None:
            return Later(make(), None)
        for tensor in reads:
            if tensor is not None:
                tensor.record_stream(self.stream)
        self.stream.wait_event(self.begin)
        with torch.cuda.stream(self.stream):
            return Later(make(), self.stream)


class Later:
    """A tensor that a stream makes: ``value`` for what follows on that stream, :func:`made` for the current one."""

    def __init__(self, value: Tensor, stream: torch.cuda.Stream | None) -> None:
        self.value, self.event = value, None if stream is None else stream.record_event()


def made(x: Tensor | Later | None) -> Tensor | None:
    """The tensor itself; the current stream waits for it."""
    if not isinstance(x, Later):
        return x
    if x.event is not None:
        current = torch.cuda.current_stream(x.value.device)
        current.wait_event(x.event)
        x.value.record_stream(current)
    return x.value
