"""A finished run of molecules, read from its folder: how it reads molecules, its result, and its models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..datasets.molecule_task import MoleculeSchema
from ..errors import FormatError
from ..nn import GraphModel
from .lanes import lane_name
from .models import MODELS

SCHEMA = "molecules.json"


class FinishedRun(NamedTuple):
    """What a folder keeps; ``models`` in the order of their seeds, and of the folds of a seed."""

    schema: MoleculeSchema
    result: Mapping[str, Any]
    models: list[GraphModel]


def read_run(folder: Path) -> FinishedRun:
    """FormatError, which names the file, if one is missing or damaged."""
    schema, result = read_schema(folder), _json(folder / "result.json", "the run is not finished: run planegraph train again")
    model_class = MODELS.get(result.get("model_class", ""))
    if model_class is None or not any(folder.glob("models/*/model.safetensors")):
        raise FormatError(f"{folder} holds no models: models/*/model.safetensors is missing")
    try:
        names = [lane_name(lane["seed"], lane["fold"]) for lane in result["lanes"]]
    except (KeyError, TypeError) as error:
        raise FormatError(f"{folder / 'result.json'} is damaged: {error!r}") from None
    return FinishedRun(schema, result, [model_class.from_pretrained(folder / "models" / name) for name in names])


def read_schema(folder: Path) -> MoleculeSchema:
    """FormatError if the file is missing or damaged."""
    path = folder / SCHEMA
    values = _json(path, "it is written by planegraph train FILE, for a file with molecules")
    try:
        return MoleculeSchema.from_dict(values)
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, FormatError):
            raise FormatError(f"{path}: {error}") from None
        raise FormatError(f"{path} is damaged: {error!r}") from None


def _json(path: Path, advice: str) -> Mapping[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise FormatError(f"{path} is missing; {advice}") from None
    except ValueError as error:
        raise FormatError(f"{path} is damaged: {error}") from None
    if not isinstance(found, Mapping):
        raise FormatError(f"{path} is damaged: found {type(found).__name__}")
    return found
