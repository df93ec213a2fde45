"""The provenance of a run: on what machine, from which commit and by which command it was made, an entry for each session.

The file in the run's folder is called ``machine.json``.

A run that is resumed, perhaps elsewhere, has several sessions; opening one again whose epochs are all done adds none. Folders of the
machine are not written down: of a path in the command only the last name is kept.
"""

from __future__ import annotations

import datetime
import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

from .. import __version__
from ..io.atomic import replace_files
from ..io.checksums import json_text, read_json
from ..workers import core_count
from .errors import damage_named

MACHINE = "machine.json"
COMMIT = "PLANEGRAPH_COMMIT"
"""Environment variable that names the commit where there is no checkout; ``<commit>-dirty`` if files were changed since."""

_SOURCES = ("src", "cpp", "configs", "pyproject.toml", "CMakeLists.txt")


def add_session(folder: Path, this: dict[str, Any]) -> None:
    """Appends what :func:`session` says of this process to the folder's ``machine.json``."""
    replace_files({folder / MACHINE: json_text({"sessions": [*read_sessions(folder), this]})})


def read_sessions(folder: Path) -> list[dict[str, Any]]:
    """The sessions of a run, in order; none if there is no file."""
    path, advice = folder / MACHINE, "Remove it, and the run is resumed without what it says"
    if not path.exists():
        return []
    with damage_named(path, advice=advice):
        return [dict(entry) for entry in read_json(path, advice)["sessions"]]


def session(device: torch.device | str) -> dict[str, Any]:
    """Commit, date, command line and machine of this process.

    >>> found = session("cpu")
    >>> found["machine"]["device"], found["machine"]["torch"] == torch.__version__
    ('cpu', True)
    """
    commit, dirty = source_state()
    date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return {"commit": commit, "dirty": dirty, "date": date, "command": command_line(), "machine": machine(device)}


def machine(device: torch.device | str) -> dict[str, Any]:
    """The device that computes, and what it computes with."""
    device = torch.device(device)
    return {
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
        "cpu": _cpu(),
        "cores": core_count(),
        "threads": torch.get_num_threads(),
        "memory_gb": _memory_gb(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "planegraph": __version__,
    }


def source_state() -> tuple[str | None, bool]:
    """The commit of the checkout that this code runs from, and whether its sources were changed since; else what COMMIT says."""
    package = Path(__file__).resolve().parents[1]
    root = package.parents[1]
    if package.parent.name == "src" and (root / "pyproject.toml").is_file():
        commit, changes = _git(root, "rev-parse", "HEAD"), _git(root, "status", "--porcelain", "--", *_SOURCES)
        top = _git(root, "rev-parse", "--show-toplevel")
        if commit and top and Path(top).resolve() == root:
            return commit, bool(changes)
    named = os.environ.get(COMMIT, "").strip()
    return named.removesuffix("-dirty") or None, named.endswith("-dirty")


def command_line(arguments: list[str] | None = None) -> str:
    """How this process was started, without the machine's folders.

    >>> command_line(["/opt/venv/bin/planegraph", "train", "p3r", "--data=/big/disk/data", "--set", "train.lr=1e-3"])
    'planegraph train p3r --data=.../data --set train.lr=1e-3'
    """
    program, *rest = sys.argv if arguments is None else arguments
    name = Path(program).name
    known = name in ("planegraph", "__main__.py")
    return " ".join(["planegraph" if known else name, *(_without_folders(word) for word in rest)])


def _without_folders(word: str) -> str:
    return re.sub(r"(^|=)/(?:[^/]*/)*?([^/]*)/?$", r"\1.../\2", word)


def _git(root: Path, *arguments: str) -> str | None:
    try:
        found = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found.stdout.strip() if found.returncode == 0 else None


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _memory_gb() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)
    except (ValueError, OSError, AttributeError):
        return None
