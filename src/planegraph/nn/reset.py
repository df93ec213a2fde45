"""New weights for a module, drawn as a fresh module of the same seed would draw them."""

from __future__ import annotations

from typing import Any

from torch import nn


class Module(nn.Module):
    """A module whose weights are all in its parts."""

    def reset_parameters(self) -> None:
        """New weights for all parts, in the order in which they were made; running averages and dropout start anew."""
        _reset_parts(self)


def _reset_parts(module: nn.Module) -> None:
    part: Any
    for part in module.children():
        if hasattr(part, "reset_parameters"):
            part.reset_parameters()
        else:  # a ModuleList
            _reset_parts(part)
