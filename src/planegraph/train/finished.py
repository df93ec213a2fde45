"""A finished run of molecules, read from its folder: how it reads molecules, its result, and its models."""

from __future__ import annotations

import json
import zlib
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
    """What a folder keeps; ``models`` in the order of their seeds, and of the folds of a seed; of each target half of its interval."""

    schema: MoleculeSchema
    models: list[GraphModel]
    half_widths: list[float | None]


def read_run(folder: Path) -> FinishedRun:
    """FormatError, which names the file, if one is missing or damaged."""
    schema = read_schema(folder)
    result = _json(folder / "result.json", f"the run is not finished: planegraph train --resume --out {folder}")
    try:
        model_class = MODELS[result["model_class"]]
        names = [lane_name(lane["seed"], lane["fold"]) for lane in result["lanes"]]
        intervals = result["ensemble"].get("intervals", {})
        half_widths = [intervals.get(name, {}).get("half_width") for name in schema.targets]
    except (AttributeError, KeyError, TypeError) as error:
        raise FormatError(f"{folder / 'result.json'} is damaged: {error!r}. Remove it, and run planegraph train again") from None
    return FinishedRun(schema, [model_class.from_pretrained(folder / "models" / name) for name in names], half_widths)


def read_schema(folder: Path) -> MoleculeSchema:
    """FormatError if the file is missing or damaged."""
    path = folder / SCHEMA
    values = _json(path, "name the folder of a run on a table of molecules")
    wanted, values = values.get("crc32"), {name: value for name, value in values.items() if name != "crc32"}
    found = _checksum(values)
    if wanted != found:
        raise FormatError(f"{path} is damaged: its checksum is {found}, not {wanted}. Run planegraph train again, which writes it")
    try:
        return MoleculeSchema.from_dict(values)
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{path} is damaged: {error!r}. Run planegraph train again, which writes it") from None


def schema_text(schema: MoleculeSchema) -> str:
    """What the file holds: the schema, and its checksum, as a wrong digit would make wrong predictions."""
    values = schema.to_dict()
    return json.dumps(values | {"crc32": _checksum(values)}, indent=1) + "\n"


def _checksum(values: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(values, sort_keys=True).encode())


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
