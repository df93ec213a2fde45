"""Checkpoints: one safetensors file with all tensors, and everything else as JSON in its header. Never pickle.

It is written under a temporary name, synced and renamed, so a process that dies leaves the old checkpoint or the new one. It is sealed
(io/checksums.py), so a file of which a disk or a copy has altered a bit, of a tensor, a fact or the header, is refused.

Resuming from it gives the same numbers, on a CPU bit for bit: it holds weights, moments, averages, the best weights, seeds and
counts of dropout, the memories of the schedules, the capacity, and the step of the epoch. No generator is drawn from once the models are
made.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from torch import Tensor

from ..data.format import read_tensors
from ..errors import FormatError, MissingDependencyError
from ..io.atomic import replace_files
from ..io.checksums import SEAL, UNSEALED, check_file, sealed_file
from ..io.text import shortened
from ..nn.model import safetensors_for_torch

CHECKPOINT = "checkpoint.safetensors"
"""The file, in the folder of a run."""
_KEY, _VERSION = "planegraph-checkpoint", 3


def save_checkpoint(path: Path, tensors: dict[str, Tensor], facts: dict[str, Any]) -> None:
    """Replaces the checkpoint; ``facts`` must be plain JSON."""
    on_host = {name: value.detach().cpu().contiguous().clone() for name, value in tensors.items()}
    told = {_KEY: json.dumps({"version": _VERSION} | facts), SEAL: UNSEALED}
    replace_files({path: sealed_file(safetensors_for_torch().save(on_host, told))})


def load_checkpoint(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors and facts of a checkpoint; FormatError if it is none, or damaged."""
    with _damage_named(path):
        data, told = read_tensors(path)
        facts = json.loads(told[_KEY])
        if (version := facts.pop("version")) != _VERSION:
            raise FormatError(f"{path} has checkpoint version {version}; this planegraph reads {_VERSION}")
        tensors = safetensors_for_torch().load(data)
        try:
            check_file(data)
        except FormatError as error:
            raise FormatError(f"{path} is damaged: {error}. Put a copy in its place, or train in another folder") from None
        return tensors, facts


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, MemoryError, FormatError, MissingDependencyError):
        raise
    except Exception as error:  # the library raises its own errors for damaged files
        raise FormatError(f"{path} is not a checkpoint: {type(error).__name__}: {shortened(error)}") from None
