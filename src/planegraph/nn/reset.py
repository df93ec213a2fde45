"""New weights for a module, drawn as a fresh module of the same seed would draw them; or none, if they are about to be loaded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from torch import nn

_without_weights = ContextVar("without_weights", default=False)


@contextmanager
def without_weights() -> Iterator[None]:
    """Within, new linear maps hold whatever lies in memory: drawing weights takes most of the time in which a large model is loaded."""
    token = _without_weights.set(True)
    try:
        yield
    finally:
        _without_weights.reset(token)


def draws_weights() -> bool:
    """False within :func:`without_weights`."""
    return not _without_weights.get()


def reset_parts(module: nn.Module) -> None:
    """Calls ``reset_parameters`` of all parts of a module, in the order in which they were made."""
    part: Any
    for part in module.children():
        if hasattr(part, "reset_parameters"):
            part.reset_parameters()
        else:  # a ModuleList
            reset_parts(part)
