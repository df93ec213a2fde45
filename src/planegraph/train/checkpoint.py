"""Checkpoints: one safetensors file with all tensors, and everything else as JSON in its header. Never pickle.

It is written under a temporary name, synced and renamed, so a process that dies leaves the old checkpoint or the new one. The header has a
checksum of the tensors, so a file that a disk or a copy has damaged is not gone on with.

Reading it back and going on gives the same numbers, on a CPU bit for bit: it holds weights, moments, averages, the best weights, seeds and
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

from ..data.format import metadata, replace_files
from ..errors import FormatError, MissingDependencyError
from ..nn.model import safetensors_for_torch, tensors_checksum

_KEY, _VERSION = "planegraph-checkpoint", 2


def save_checkpoint(path: Path, tensors: dict[str, Tensor], facts: dict[str, Any]) -> None:
    """Replaces the checkpoint; ``facts`` must be plain JSON."""
    on_host = {name: value.detach().cpu().contiguous().clone() for name, value in tensors.items()}
    told = {"version": _VERSION, "crc32": tensors_checksum(on_host)} | facts
    replace_files({path: safetensors_for_torch().save(on_host, {_KEY: json.dumps(told)})})


def load_checkpoint(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors and facts of a checkpoint; FormatError if it is none, or damaged."""
    with _damage_named(path):
        data = path.read_bytes()
        facts = json.loads(metadata(data)[_KEY])
        version = facts.pop("version")
        if version != _VERSION:
            raise FormatError(f"{path} has checkpoint version {version}; this planegraph reads {_VERSION}")
        tensors = safetensors_for_torch().load(data)
        wanted = facts.pop("crc32", None)  # those of earlier versions have none
        if wanted is not None and wanted != (found := tensors_checksum(tensors)):
            raise FormatError(
                f"{path} is damaged: the checksum of its tensors is {found:08x}, not {wanted:08x}. Put a copy in its place, or train "
                "in another folder"
            )
        return tensors, facts


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, FormatError, MissingDependencyError):
        raise
    except Exception as error:  # the library raises errors of its own for damaged files
        raise FormatError(f"{path} is no checkpoint: {type(error).__name__}: {error}") from None
