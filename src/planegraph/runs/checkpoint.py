"""Checkpoints: one safetensors file with all tensors, and everything else as JSON in its header. Never pickle.

It is written under a temporary name, synced and renamed, so a process that dies leaves the old checkpoint or the new one. It is sealed
(io/checksums.py), so a file of which a disk or a copy has altered a bit, of a tensor, a fact or the header, is refused. Checkpoints of
version 2 have a checksum of the tensors only, and are read by that.

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

from ..data.format import read_tensors
from ..errors import FormatError, MissingDependencyError
from ..io.atomic import replace_files
from ..io.checksums import SEAL, UNSEALED, check_file, sealed_file
from ..io.text import shortened
from ..nn.model import safetensors_for_torch, tensors_checksum

_KEY, _VERSION, _BEFORE = "planegraph-checkpoint", 3, 2


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
        version = facts.pop("version")
        if version not in (_VERSION, _BEFORE):
            raise FormatError(f"{path} has checkpoint version {version}; this planegraph reads {_VERSION}")
        tensors = safetensors_for_torch().load(data)
        try:
            if version == _VERSION:
                check_file(data)
            else:
                _check_tensors(tensors, facts.pop("crc32", None))
        except FormatError as error:
            raise FormatError(f"{path} is damaged: {error}. Put a copy in its place, or train in another folder") from None
        return tensors, facts


def _check_tensors(tensors: dict[str, Tensor], wanted: int | None) -> None:
    """FormatError unless the checksum of a file of version 2 is that of its tensors."""
    if wanted is None:
        raise FormatError("it has no checksum, as those of early versions")
    if wanted != (found := tensors_checksum(tensors)):
        raise FormatError(f"the checksum of its tensors is {found:08x}, not {wanted:08x}")


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, MemoryError, FormatError, MissingDependencyError):
        raise
    except Exception as error:  # the library raises errors of its own for damaged files
        raise FormatError(f"{path} is no checkpoint: {type(error).__name__}: {shortened(error)}") from None
