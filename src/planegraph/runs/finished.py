"""A finished run of molecules, read from its folder: how it reads molecules, its result, and its models."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ..errors import FormatError
from ..io.checksums import read_json
from ..nn import GraphModel
from ..tasks.molecules.task import MoleculeSchema
from .models import MODELS
from .trials import trial_name

SCHEMA, PREDICTIONS = "molecules.json", "predictions.csv"
_AGAIN, _WRITES_IT = "Remove it, and run planegraph train again", "Run planegraph train again, which writes it"


class FinishedRun(NamedTuple):
    """What a folder keeps; ``models`` in the order of their seeds, and of the folds of a seed; of each target half of its interval."""

    schema: MoleculeSchema
    models: list[GraphModel]
    half_widths: list[float | None]


def read_run(folder: Path) -> FinishedRun:
    """FormatError, which names the file, if one is missing or damaged."""
    schema = read_schema(folder)
    path = folder / "result.json"
    with _named_if_missing(path, f"the run is not finished: planegraph train --resume --out {folder}"):
        result = read_json(path, _AGAIN)
    try:
        model_class = MODELS[result["model_class"]]
        names = [trial_name(trial["seed"], trial["fold"]) for trial in result["trials"]]
        intervals = result["ensemble"].get("intervals", {})
        half_widths = [intervals.get(name, {}).get("half_width") for name in schema.targets]
    except (AttributeError, KeyError, TypeError) as error:
        raise FormatError(f"{path} is damaged: {error!r}. {_AGAIN}") from None
    return FinishedRun(schema, [model_class.from_pretrained(folder / "models" / name) for name in names], half_widths)


def read_schema(folder: Path) -> MoleculeSchema:
    """FormatError if the file is missing or damaged."""
    path = folder / SCHEMA
    with _named_if_missing(path, "name the folder of a run on a table of molecules"):
        values = read_json(path, _WRITES_IT, required=True)
    try:
        return MoleculeSchema.from_dict(values)
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{path} is damaged: {error!r}. {_WRITES_IT}") from None


@contextmanager
def _named_if_missing(path: Path, advice: str) -> Iterator[None]:
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        raise FormatError(f"{path} is missing; {advice}") from None
