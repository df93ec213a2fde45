"""What is learned: graphs, targets, splits, losses and metrics; tables of molecules are in ``tasks.molecules``.

``Task`` is imported when it is first used, so that a process that only reads SMILES need not load PyTorch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .task import Task

PARTS = ("train", "val", "test")
"""The parts of a split, in the order of their numbers 0, 1, 2 in a packed file."""

__all__ = ["PARTS", "Task"]


def __getattr__(name: str) -> Any:
    if name != "Task":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .task import Task

    return Task
