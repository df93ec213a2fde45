"""New weights for a module, drawn as a fresh module of the same seed would draw them."""

from __future__ import annotations

from typing import Any

from torch import nn


def reset_parts(module: nn.Module) -> None:
    """Calls ``reset_parameters`` of all parts of a module, in the order in which they were made."""
    part: Any
    for part in module.children():
        if hasattr(part, "reset_parameters"):
            part.reset_parameters()
        else:  # a ModuleList
            reset_parts(part)
