"""The settings of each published result: ``configs/<name>.yaml``, in the checkout or in the installed package.

A file can be for several targets, ``options: {target: [a, b]}``; its configs are then called ``<task>-a`` and ``<task>-b``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from ..errors import PlanegraphError
from ..runs.settings import RunSettings, load_settings

_FREE = ("train.save_seconds",)  # does not change the numbers


def config_folder() -> Path:
    """``configs`` of the checkout that this code runs from, or else of the package."""
    package = Path(__file__).resolve().parents[1]
    checkout = package.parents[1]
    if package.parent.name == "src" and (checkout / "pyproject.toml").is_file():
        return checkout / "configs"
    return package / "configs"


TABLES_FILE = config_folder() / "tables.yaml"
"""The published figures and the bars (published.py); every other file there is a config."""


@cache
def _files() -> dict[str, tuple[Path, str | None]]:
    """The file of each config and, if the file is for several targets, its target."""
    found: dict[str, tuple[Path, str | None]] = {}
    for path in sorted(config_folder().glob("*.yaml")):
        if path != TABLES_FILE:
            settings = load_settings(path)
            target = settings.options.get("target")
            several = isinstance(target, list)
            found |= {f"{settings.task}-{one}": (path, one) for one in target} if several else {path.stem: (path, None)}
    return found


def config_names() -> list[str]:
    """The names of all configs."""
    return sorted(_files())


def file_of(name: str) -> str:
    """The stem of the file of a config.

    >>> file_of("p3r-gin"), file_of("qm9-U0")
    ('p3r-gin', 'qm9-energies')
    """
    return _files()[name][0].stem


def load_config(name: str) -> RunSettings:
    """The settings of one published result, or of a file for several targets.

    >>> load_config("p3r-baseplane").task, load_config("qm9-U0").options["target"], len(load_config("qm9-energies").options["target"])
    ('p3r', 'U0', 5)
    """
    path, target = _files().get(name, (config_folder() / f"{name}.yaml", None))
    if not path.is_file() or path == TABLES_FILE:
        raise PlanegraphError(f"there is no {name}.yaml in {path.parent}; there are {', '.join(config_names()) or 'none'}")
    settings = load_settings(path)
    return settings if target is None else replace(settings, options={**settings.options, "target": target})


def differences(settings: RunSettings, name: str) -> list[str]:
    """The overrides that turn ``configs/<name>.yaml`` into these settings; empty if they are the same.

    >>> differences(load_config("p3r-gin").with_overrides(["train.epochs=3", "train.schedule=step"]), "p3r-gin")
    ['train.epochs=3', 'train.schedule={kind: step, gamma: 0.7, every: 25}']
    """
    plain = (json.loads(json.dumps(given.complete(), default=str)) for given in (settings, load_config(name)))  # lists, no tuples
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
