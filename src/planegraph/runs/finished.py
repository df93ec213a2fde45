"""A finished run of molecules, read from its folder: how it reads molecules, its result, and its models."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from ..errors import FormatError
from ..io.checksums import read_json
from ..nn import GraphModel
from ..tasks.molecules.task import MoleculeSchema
from .errors import damage_named
from .models import MODELS
from .trials import trial_name

SCHEMA, PREDICTIONS = "molecules.json", "predictions.csv"
_AGAIN, _WRITES_IT = "Remove it, and run planegraph train again", "Run planegraph train again, which writes it"


class FinishedRun(NamedTuple):
    """What a folder keeps; ``models`` in the order of their seeds, and of the folds of a seed; of each target half of its interval."""

    schema: MoleculeSchema
    models: list[GraphModel]
    half_widths: list[float | None]


def read_finished(folder: Path) -> FinishedRun:
    """FormatError, which names the file, if one is missing or damaged."""
    schema, path = read_schema(folder), folder / "result.json"
    result = _read(path, f"the run is not finished: planegraph train --resume --out {folder}", _AGAIN)
    with damage_named(path, advice=_AGAIN):
        model_class = MODELS[result["model_class"]]
        names = [trial_name(trial["seed"], trial["fold"]) for trial in result["trials"]]
        intervals = result["ensemble"].get("intervals", {})
        half_widths = [intervals.get(name, {}).get("half_width") for name in schema.targets]
    return FinishedRun(schema, [model_class.from_pretrained(folder / "models" / name) for name in names], half_widths)


def read_schema(folder: Path) -> MoleculeSchema:
    """FormatError if the file is missing or damaged."""
    path = folder / SCHEMA
    values = _read(path, "name the folder of a run on a table of molecules", _WRITES_IT, required=True)
    with damage_named(path, advice=_WRITES_IT):
        try:
            return MoleculeSchema.from_dict(values)
        except FormatError as error:
            raise FormatError(f"{path}: {error}") from None


def _read(path: Path, if_missing: str, if_damaged: str, required: bool = False) -> Any:
    try:
        return read_json(path, if_damaged, required=required)
    except (FileNotFoundError, NotADirectoryError):
        raise FormatError(f"{path} is missing; {if_missing}") from None
