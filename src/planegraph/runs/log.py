"""The log of a run, ``log.jsonl``: a line for each epoch and trial.

A line holds epoch (from 1), seed, fold, loss, rate, val, val_loss, best, best_epoch, seconds; null where nothing was measured. Its crc32
is that of the others (io/checksums.py); lines of earlier versions have none.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import FormatError
from ..io.atomic import naming_file, replace_files
from ..io.checksums import sealed, unsealed
from ..io.reading import open_file

LogRecord = dict[str, Any]
_LONGEST = 2**16  # bytes of a line; ours have some hundred
FIELDS = ("epoch", "seed", "fold", "loss", "rate", "val", "val_loss", "best", "best_epoch", "seconds")


class Log:
    """The log of a stack, a file for each target (None: one log for all).

    On resuming, lines after the checkpoint's epoch are dropped, as they will be written again.
    """

    def __init__(self, paths: Mapping[str | None, Path], epochs_done: int) -> None:
        self.paths = paths
        for path in paths.values():
            replace_files({path: "".join(f"{line}\n" for line, record in _lines(path) if record["epoch"] <= epochs_done)})

    def write(self, records: list[LogRecord]) -> None:
        """The records of an epoch; ``target`` says into which file."""
        for target, path in self.paths.items():
            mine = [{k: v for k, v in r.items() if k != "target"} for r in records if r["target"] == target]
            with naming_file(path), open(path, "a", encoding="utf-8") as file:
                file.write("".join(json.dumps(sealed(record)) + "\n" for record in mine))

    def sync(self) -> None:
        """Sees to it that what was written is on the disk: a checkpoint must not know of epochs that the log has lost."""
        for path in self.paths.values():
            if path.exists():
                with naming_file(path), open(path, "rb") as file:
                    os.fsync(file.fileno())


def read_logs(paths: Mapping[str | None, Path], epochs: int) -> list[LogRecord]:
    """The records that :class:`Log` wrote, up to so many epochs, with their targets."""
    return [r | {"target": target} for target, path in paths.items() for r in read_log(path) if r["epoch"] <= epochs]


def read_log(path: Path) -> list[LogRecord]:
    """The records of a log; a last line that a dying process left unfinished is left out. FormatError if another line is damaged."""
    return [record for _, record in _lines(path)]


def _lines(path: Path) -> list[tuple[str, LogRecord]]:
    """Each line with the record in it; the epochs of a trial ascend, so a line that is there twice, or moved, is damage, too."""
    found: list[tuple[str, LogRecord]] = []
    last: dict[tuple[Any, Any], int] = {}
    record: Any
    for number, (line, whole) in enumerate(_text(path), start=1):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            if not whole:
                break
            record = None
        if not _is_record(record):
            raise FormatError(f"{path}, line {number}, is damaged: {line[:60]!r}. Mend the line, or train in another folder")
        try:
            found.append((line, unsealed(record)))
        except FormatError as error:
            raise FormatError(f"{path}, line {number}, is damaged: {error}. Mend the line, or train in another folder") from None
        trial, epoch = (record["seed"], record.get("fold")), record["epoch"]
        if epoch <= last.get(trial, epoch - 1):
            raise FormatError(
                f"{path}, line {number}, is damaged: it is of epoch {epoch}, and one of epoch {last[trial]} comes before it. Remove the "
                "line if it is there twice, or train in another folder"
            )
        last[trial] = epoch
    return found


def _text(path: Path) -> Iterator[tuple[str, bool]]:
    """Each line, read when it is asked for, and whether it ends as a line does: only the last may not. One that is too long is cut."""
    if path.exists():
        with open_file(path) as file, naming_file(path):
            while line := file.readline(_LONGEST):
                whole = line.endswith(b"\n") or len(line) == _LONGEST
                yield line.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r"), whole


def _is_record(found: Any) -> bool:
    """Whether it is a line of the log: an object with each of its fields, all numbers, or null where there may be none."""
    if not isinstance(found, dict) or not all(isinstance(found.get(name), int) for name in ("epoch", "seed")):
        return False
    return all(isinstance(found.get(name, ""), int | float | None) for name in FIELDS)
