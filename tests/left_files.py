"""What a job has left in its folder: whether each file is sound, and what it says, without the times that no two runs share."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any, NoReturn

from safetensors.torch import load

from planegraph.data import PackedDataset
from planegraph.data.format import read_tensors
from planegraph.io.checksums import SEAL, check_file, read_json
from planegraph.runs.log import read_log
from planegraph.runs.provenance import read_sessions
from planegraph.runs.settings import load_run_settings

_LEFTOVER = re.compile(r"\..+\.[0-9a-f]{16}\.tmp")
_BETWEEN = frozenset({
    "log.jsonl", "metrics.csv", "checkpoint.safetensors", "machine.json", "result.json", "report.html", "sweep.html", "digests.txt",
    "trees.txt",
})  # fmt: skip
"""Files that have sound states in between, or hold times; of all others there is only what was before, and what comes in the end."""
_TAKEN_AWAY = re.compile(r"result\.json|test\.safetensors|.*\.source\.json")
"""Files that say that something is finished: they are removed before it changes."""


def leftovers(folder: Path) -> list[str]:
    """Temporary files that nobody has removed."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if _LEFTOVER.fullmatch(path.name))


def size(folder: Path) -> int:
    """Bytes of all files, and of the largest once more: it is there twice while it is replaced."""
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return sum(sizes) + max(sizes, default=0)


def unsound(folder: Path, before: Path, after: Path) -> str | None:
    """What is wrong in a folder where a job that makes ``after`` of ``before`` was interrupted."""
    try:
        now = contents(folder)
    except Exception as error:
        return f"{type(error).__name__}: {error} ({', '.join(error.__notes__)})"
    old, new = contents(before), contents(after)
    for path, found in now.items():
        if Path(path).name not in _BETWEEN and found not in (old.get(path), new.get(path)):
            return f"{path} is neither what it was nor what it should become"
        if Path(path).name == "result.json" and "ensemble" in found and found.get("ensemble") == new[path]["ensemble"]:
            beside = str(Path(path).with_name("predictions.csv"))
            if now.get(beside) != new[beside]:
                return f"{path} is complete, and {beside} is not that of the same run"
    lost = [path for path in old if path not in now and not _TAKEN_AWAY.fullmatch(Path(path).name)]
    return f"lost {', '.join(lost)}" if lost else None


def differences(folder: Path, expected: Path) -> str | None:
    """The files that differ from those of a job that was not interrupted."""
    now, then = contents(folder), contents(expected)
    different = [path for path in sorted(now.keys() | then.keys()) if now.get(path) != then.get(path)]
    return f"other contents in {', '.join(different)}" if different else None


def contents(folder: Path) -> dict[str, Any]:
    """What each file says, by its path. An exception, which names the file, if one is not sound."""
    files = sorted(
        path for path in folder.rglob("*") if path.is_file() and path.name != "run.lock" and not _LEFTOVER.fullmatch(path.name)
    )
    found = {}
    for path in files:
        try:
            found[str(path.relative_to(folder))] = _read(path)
        except Exception as error:
            error.add_note(f"while reading {path.relative_to(folder)}")
            raise
    return found


def _read(path: Path) -> Any:
    name = path.name
    if name == "log.jsonl":
        return [{**record, "seconds": None} for record in read_log(path)]
    if name == "result.json":
        return {**read_json(path, required=True), "seconds": None}
    if name == "machine.json":
        return len(read_sessions(path.parent)) > 0
    if path.suffix == ".html":
        return path.read_text().rstrip().endswith("</html>") or _unsound("it is cut off")
    if name in ("metrics.csv", "sweep.csv"):
        return _without_seconds(path)
    if name == "settings.yaml":
        load_run_settings(path.parent)
    elif path.suffix == ".safetensors":
        return _tensors(path)
    elif name in ("config.json", "molecules.json", "sweep.json"):
        read_json(path, required=True)
    return path.read_bytes()


def _tensors(path: Path) -> Any:
    """A packed file as its bytes; of others tensors and facts, as the library orders the facts as it likes."""
    data, told = read_tensors(path)
    if SEAL not in told:
        PackedDataset.open(path)
        return data
    check_file(data)
    found = {name: (str(value.dtype), value.numpy().tobytes()) for name, value in load(data).items()}
    facts = {name: json.loads(text) for name, text in told.items() if name != SEAL}
    for fact in facts.values():
        fact.pop("seconds", None)
    return found, facts


def _without_seconds(path: Path) -> list[dict[str, str]]:
    """The rows of a table; one that a dying process left unfinished is left out."""
    lines = [line for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]
    return [{**row, "seconds": ""} for row in csv.DictReader(lines)]


def _unsound(what: str) -> NoReturn:
    raise ValueError(what)
