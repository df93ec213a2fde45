"""The settings of each published result: ``configs/<name>.yaml``, in the checkout or inside the installed package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import PlanegraphError
from ..nn.config import PlanEConfig
from ..train.settings import RunSettings, flat, load_settings

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
    """What differs from ``configs/<name>.yaml``, each written as ``--set`` takes it; empty if nothing does.

    >>> differences(load_config("p3r-gin").with_overrides(["train.epochs=3"]), "p3r-gin")
    ['train.epochs=3']
    """
    mine, theirs = (flat(_complete(s)) for s in (settings, load_config(name)))
    names = sorted((mine.keys() | theirs.keys()) - set(_FREE))
    return [f"{key}={_shown(mine.get(key))}" for key in names if mine.get(key) != theirs.get(key)]


def _complete(settings: RunSettings) -> dict[str, Any]:
    """With the model's defaults written out, so that saying a default and leaving it out are the same."""
    return settings.to_dict() | {"model": PlanEConfig(**settings.model).to_dict()}


def _shown(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return f"{value:g}" if isinstance(value, float) else str(value)
