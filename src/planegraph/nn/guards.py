"""What every entry into the models needs: tensors on one device, in one precision, and out of reach of the compiler."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import torch

from ..data.batch import PlanarBatch
from ..data.fingerprint import VERSION, parse_fingerprint
from ..errors import FormatError, InvalidGraphError


def check_batch(batch: PlanarBatch, replicas: int | None, device: torch.device) -> None:
    """A batch with graphs, of so many replicas, on this device, in the format that is read here, whose tensors can be read: the sums take
    addresses."""
    if batch.num_graphs == 0:
        raise InvalidGraphError("the batch has no graphs")
    stacked = batch.index.shape[0] if batch.index.dim() > 1 else None
    if stacked != replicas:
        raise InvalidGraphError(f"the model has {replicas or 'no'} replicas; the batch has {stacked or 'none'}")
    if batch.device != device:
        raise InvalidGraphError(f"the batch is on {batch.device}, the model on {device}; move one with .to(...)")
    if batch.fingerprint is not None:
        version = parse_fingerprint(batch.fingerprint).version
        if version != VERSION:
            raise FormatError(f"the batch has format version {version}; this planegraph reads {VERSION}. Pack the data again")
    batch.check()


def eager_in_full_precision(function: Callable[..., Any]) -> Callable[..., Any]:
    """Autocast does not apply inside (walks are long sums, and the sums take one dtype), and torch.compile runs it as it is."""

    @wraps(function)
    def in_full_precision(self: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
        with torch.autocast(next(self.parameters()).device.type, enabled=False):
            return function(self, *args, **kwargs)

    # _disable_dynamo imports the compiler when it is first called, compiler.disable at once
    eager = getattr(torch, "_disable_dynamo", torch.compiler.disable)(in_full_precision)

    @wraps(function)
    def run(self: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
        compiler_is_there = "torch._dynamo" in sys.modules  # else nothing is compiled, and importing it takes a second
        return (eager if compiler_is_there else in_full_precision)(self, *args, **kwargs)

    return run
