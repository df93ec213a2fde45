"""What every entry into the models needs: tensors on one device, in one precision, and out of reach of the compiler."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch

from ..data.batch import PlanarBatch
from ..errors import InvalidGraphError

# the former imports the compiler at the first call, the latter, a second long, when a model is defined
_without_compiler = getattr(torch, "_disable_dynamo", torch.compiler.disable)


def check_device(batch: PlanarBatch, device: torch.device) -> None:
    """The sums take addresses, so a batch elsewhere must never reach them."""
    if batch.device != device:
        raise InvalidGraphError(f"the batch is on {batch.device}, the model on {device}; move one with .to(...)")


def eager_in_full_precision(function: Callable[..., Any]) -> Callable[..., Any]:
    """Autocast does not apply inside (walks are long sums, and the sums take one dtype), and torch.compile runs it as it is."""

    @_without_compiler
    @wraps(function)
    def run(self: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
        with torch.autocast(next(self.parameters()).device.type, enabled=False):
            return function(self, *args, **kwargs)

    return run
