"""The combinations of a sweep: the cross product of overrides in which commas separate several values, and a folder name for each.

``train.lr=1e-3,2e-3 model.hidden=32,64`` are four combinations, the first of them ``lr=0.001,hidden=32``. What stands in brackets, braces
or quotes is one value, commas or not: ``options.target=[mu,gap]``. A name depends on nothing but its combination, so a sweep with further
values finds its earlier runs.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import product
from math import prod
from os import PathLike
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..errors import FormatError, PlanegraphError
from ..io.checksums import read_json
from ..tasks.metrics import error_of, metrics_of
from .errors import SettingsError
from .settings import parse_yaml

MOST = 200
"""Combinations of one sweep."""

_LONGEST = 120  # characters of a folder's name; file systems allow 255, and some tools 260 for the whole path
_SAFE = "=,+[]{}"  # allowed on all file systems, beside letters, digits and "_.-~"; others are written %xx


@dataclass(frozen=True)
class Combination:
    """One run of a sweep: the name of its folder, the values of the settings that vary, and all overrides of the run."""

    name: str
    values: Mapping[str, Any]
    overrides: tuple[str, ...]


def varies(overrides: Sequence[str]) -> bool:
    """Whether some setting has several values.

    >>> varies(["train.lr=1e-3,2e-3"]), varies(["options.target=[mu,gap]", "train.schedule={kind: step, every: 5}"])
    (True, False)
    """
    return any(len(_values(override)) > 1 for override in overrides)


def combinations(overrides: Sequence[str]) -> list[Combination]:
    """The cross product; the last setting varies fastest. SettingsError for values given twice, and for too many combinations.

    >>> found = combinations(["train.lr=1e-3,2e-3", "train.epochs=5", "model.hidden=32,64"])
    >>> [c.name for c in found]
    ['lr=0.001,hidden=32', 'lr=0.001,hidden=64', 'lr=0.002,hidden=32', 'lr=0.002,hidden=64']
    >>> found[-1].overrides
    ('train.lr=0.002', 'train.epochs=5', 'model.hidden=64')
    """
    given = [(_key(override), _values(override)) for override in overrides]
    varying = {key: values for key, values in given if len(values) > 1}
    for key, count in Counter(key for key, _ in given).items():
        if key in varying and count > 1:
            raise SettingsError(
                f"{key} is set {count} times, once with several values; give all its values at once, as in {key}=A,B"
            )
    count = prod(map(len, varying.values()))
    if count > MOST:
        factors = " x ".join(f"{len(values)} of {key}" for key, values in varying.items())
        raise SettingsError(
            f"a sweep has at most {MOST} combinations; found {count:,}, {factors}. Leave values out, or sweep in parts"
        )
    for key, values in varying.items():
        _refuse_equals(key, values)
    found = [_combination(overrides, dict(zip(varying, chosen, strict=True))) for chosen in product(*varying.values())]
    _refuse_one_folder(found)
    return found


def value_text(value: Any) -> str:
    """A value of a setting as it would be written after ``--set``, without quotes.

    >>> [value_text(v) for v in (1e-3, 2e-5, 64, True, None, "adam", ["mu", "gap"], {"kind": "step", "every": 5})]
    ['0.001', '2e-05', '64', 'true', 'null', 'adam', '[mu,gap]', '{kind=step,every=5}']
    """
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key}={value_text(v)}" for key, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(value_text, value)) + "]"
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else "null" if value is None else str(value)


def short_names(keys: Sequence[str]) -> dict[str, str]:
    """Each setting by the last part of its name, where that is clear.

    >>> list(short_names(["train.lr", "train.patience", "train.schedule.patience"]).values())
    ['lr', 'train.patience', 'train.schedule.patience']
    """
    last = {key: key.rpartition(".")[2] for key in keys}
    times = Counter(last.values())
    return {key: name if times[name] == 1 else key for key, name in last.items()}


def _key(override: str) -> str:
    return override.partition("=")[0].strip()


def _values(override: str) -> list[Any]:
    """The values of an override; the text itself if it is a single one, or none that YAML could read as several."""
    text = override.partition("=")[2]
    if "," not in text:
        return [text]
    try:
        found = parse_yaml(f"[{text}]", repr(override))
    except SettingsError:
        return [text]
    return found if isinstance(found, list) and len(found) > 1 else [text]


def _combination(overrides: Sequence[str], values: dict[str, Any]) -> Combination:
    made = [f"{_key(o)}={json.dumps(values[_key(o)], default=str)}" if _key(o) in values else o for o in overrides]
    return Combination(_folder_name(values), values, tuple(made))


def _folder_name(values: Mapping[str, Any]) -> str:
    """Safe on all file systems; a long one is cut, and told from others by a digest."""
    names = short_names(list(values))
    text = ",".join(f"{names[key]}={value_text(value)}" for key, value in values.items())
    name = quote(text, safe=_SAFE, errors="surrogatepass")  # a command line that is not UTF-8 has surrogates
    if len(name) > _LONGEST:
        return f"{name[: _LONGEST - 17]}-{blake2b(name.encode(), digest_size=8).hexdigest()}"
    return f"{name[:-1]}%2E" if name.endswith(".") else name  # Windows drops a dot at the end


def _refuse_equals(key: str, values: Sequence[Any]) -> None:
    for k, value in enumerate(values):
        if value in values[:k]:
            raise SettingsError(f"{key} has the value {value_text(value)} twice; leave one of them out")


def _refuse_one_folder(found: Sequence[Combination]) -> None:
    """Where upper and lower case are the same to the file system, too."""
    seen: dict[str, Combination] = {}
    for combination in found:
        other = seen.setdefault(combination.name.casefold(), combination)
        if other is not combination:
            raise SettingsError(f"{other.name} and {combination.name} would share a folder; sweep one of them elsewhere")


# ---- the folder ---------------------------------------------------------------------------------------------------------------

PLAN = "sweep.json"
DIVERGED = "diverged.json"
ANEW = "Remove it, and the command that began the sweep writes it anew"


@dataclass(frozen=True)
class SweepRun:
    """A run of a sweep: its folder, the values of the settings that vary, its ``result.json`` if finished, why it diverged if it did."""

    folder: Path
    values: Mapping[str, Any]
    result: Mapping[str, Any] | None = None
    diverged: str | None = None

    @property
    def state(self) -> str:
        """finished, diverged, or not finished."""
        if self.result is not None:
            return "finished"
        return "not finished" if self.diverged is None else "diverged"

    @property
    def error(self) -> float:
        """The validation figure as an error: lower is better, whatever the metric. Infinite without a figure."""
        if self.result is None:
            return math.inf
        found = error_of(metrics_of(self.result["kind"])[self.result["metric"]], self.result["val"]["mean"])
        return found if math.isfinite(found) else math.inf


def read_sweep(out: str | PathLike[str]) -> list[SweepRun]:
    """The runs of a sweep, the best on validation first, then those without a figure. PlanegraphError if the folder holds no sweep."""
    folder = Path(out)
    if not (folder / PLAN).is_file():
        raise PlanegraphError(f"{folder} holds no sweep: {PLAN} is missing")
    try:
        plan = read_json(folder / PLAN, ANEW)
        found = [_read_run(folder / run["folder"], dict(run["values"])) for run in plan["runs"]]
        return sorted(found, key=lambda run: (run.error, run.result is None, run.diverged is None))
    except (KeyError, TypeError, AttributeError) as error:
        raise FormatError(f"a file of the sweep {folder} is damaged: {type(error).__name__} {error}") from None


def _read_run(folder: Path, values: Mapping[str, Any]) -> SweepRun:
    if (folder / "result.json").exists():
        return SweepRun(folder, values, result=read_json(folder / "result.json", ANEW))
    if (folder / DIVERGED).exists():
        return SweepRun(folder, values, diverged=str(read_json(folder / DIVERGED, ANEW)["message"]))
    return SweepRun(folder, values)
