"""The settings of each published result: ``configs/<name>.yaml``, in the checkout or inside the installed package."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import PlanegraphError
from ..runs.settings import RunSettings, load_settings

_FREE = ("train.save_seconds",)  # does not change the numbers
_WORD = re.compile(r"(?!(?:null|true|false|yes|no|on|off)$)[a-z][a-z0-9_]*", re.IGNORECASE)  # YAML needs no quotes


def config_folder() -> Path:
    """Where the configs lie: ``configs`` of the checkout that this code runs from, else of the package."""
    package = Path(__file__).resolve().parents[1]
    checkout = package.parents[1]
    if package.parent.name == "src" and (checkout / "pyproject.toml").is_file():
        return checkout / "configs"
    return package / "configs"


def config_names() -> list[str]:
    """The names of all configs."""
    return sorted(path.stem for path in config_folder().glob("*.yaml"))


def load_config(name: str) -> RunSettings:
    """The settings of one published result.

    >>> load_config("p3r-baseplane").task
    'p3r'
    """
    path = config_folder() / f"{name}.yaml"
    if not path.is_file():
        raise PlanegraphError(f"there is no {path.name} in {path.parent}; there are {', '.join(config_names()) or 'none'}")
    return load_settings(path)


def differences(settings: RunSettings, name: str) -> list[str]:
    """What differs from ``configs/<name>.yaml``, as ``--set`` takes it to make these settings of the config; empty if nothing does.

    >>> differences(load_config("p3r-gin").with_overrides(["train.epochs=3", "train.schedule=step"]), "p3r-gin")
    ['train.epochs=3', 'train.schedule={kind: step, gamma: 0.7, every: 25}']
    """
    return list(_overrides(settings.complete(), load_config(name).complete()))


def _overrides(mine: Mapping[str, Any], theirs: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Setting by setting; a table of another kind, or one that lacks a setting of theirs, as a whole, as ``--set`` takes none away."""
    for key in sorted(mine):
        name, value, other = f"{prefix}{key}", mine[key], theirs.get(key)
        if _comparable(value, other):
            yield from _overrides(value, other, f"{name}.")
        elif name not in _FREE and (key not in theirs or _listed(value) != _listed(other)):
            yield f"{name}={_shown(value)}"


def _comparable(mine: Any, theirs: Any) -> bool:
    tables = isinstance(mine, Mapping) and isinstance(theirs, Mapping)
    return tables and mine.get("kind") == theirs.get("kind") and theirs.keys() <= mine.keys()


def _listed(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _shown(value: object) -> str:
    """As YAML in a line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_shown(k)}: {_shown(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_shown, value)) + "]"
    if isinstance(value, float):
        if not math.isfinite(value):
            return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
        short = f"{value:g}"
        return short if float(short) == value else repr(value)
    if isinstance(value, str) and _WORD.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)
