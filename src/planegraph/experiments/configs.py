"""The settings of each published result: ``configs/<name>.yaml``, in the checkout or inside the installed package."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from ..errors import PlanegraphError
from ..runs.settings import RunSettings, load_settings

_FREE = ("train.save_seconds",)  # does not change the numbers


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
    """What ``--set`` takes to make these settings of ``configs/<name>.yaml``; empty if they are the same.

    >>> differences(load_config("p3r-gin").with_overrides(["train.epochs=3", "train.schedule=step"]), "p3r-gin")
    ['train.epochs=3', 'train.schedule={kind: step, gamma: 0.7, every: 25}']
    """
    plain = (
        json.loads(json.dumps(given.complete(), default=str)) for given in (settings, load_config(name))
    )  # tuples become lists
    return list(_overrides(*plain))


def _overrides(mine: Mapping[str, Any], theirs: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Setting by setting; a table of another kind, or one that lacks a setting of theirs, as a whole, as ``--set`` takes none away."""
    for key in sorted(mine):
        name, value, other = f"{prefix}{key}", mine[key], theirs.get(key)
        if _comparable(value, other):
            yield from _overrides(value, other, f"{name}.")
        elif name not in _FREE and (key not in theirs or value != other):
            text = yaml.safe_dump([value], default_flow_style=True, sort_keys=False, width=math.inf, allow_unicode=True)
            yield f"{name}={text.strip()[1:-1]}"


def _comparable(mine: Any, theirs: Any) -> bool:
    tables = isinstance(mine, Mapping) and isinstance(theirs, Mapping)
    return tables and mine.get("kind") == theirs.get("kind") and theirs.keys() <= mine.keys()
