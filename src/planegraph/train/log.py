"""What a run tells: ``log.jsonl``, a line for each epoch and lane, a live table on a terminal or lines elsewhere, and TensorBoard's files.

A line of the log holds epoch (from 1), seed, fold, loss, rate, val, val_loss, best, best_epoch, seconds; null where nothing was measured.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from ..data.format import replace_files
from ..errors import FormatError, MissingDependencyError
from .lanes import lane_name, lane_title

Record = dict[str, Any]
_FIELDS = ("epoch", "seed", "fold", "loss", "rate", "val", "val_loss", "best", "best_epoch", "seconds")
_AROUND = 7  # lines of a table beside those of the lanes: title, three of the head, the mean, the border below, the time left


class Log:
    """The log of a group, a file for each target (None: there are no targets of their own).

    On resuming, lines after the checkpoint's epoch are dropped, as they will be written again.
    """

    def __init__(self, paths: Mapping[str | None, Path], epochs_done: int) -> None:
        self.paths = paths
        for path in paths.values():
            replace_files({path: "".join(json.dumps(r) + "\n" for r in read_log(path) if r["epoch"] <= epochs_done)})

    def write(self, records: list[Record]) -> None:
        """The records of an epoch; ``target`` says into which file."""
        for target, path in self.paths.items():
            mine = [{k: v for k, v in r.items() if k != "target"} for r in records if r["target"] == target]
            with open(path, "a", encoding="utf-8") as file:
                file.write("".join(json.dumps(record) + "\n" for record in mine))

    def sync(self) -> None:
        """Sees to it that what was written is on the disk: a checkpoint must not know of epochs that the log has lost."""
        for path in self.paths.values():
            if path.exists():
                with open(path, "rb") as file:
                    os.fsync(file.fileno())


def read_logs(paths: Mapping[str | None, Path], epochs: int) -> list[Record]:
    """The records that :class:`Log` wrote, up to so many epochs, with their targets."""
    return [r | {"target": target} for target, path in paths.items() for r in read_log(path) if r["epoch"] <= epochs]


def read_log(path: Path) -> list[Record]:
    """The records of a log; a last line that a dying process left unfinished is left out. FormatError if another line is damaged."""
    found = []
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line)
        except ValueError:
            if number == len(lines):
                break
            record = None
        if not _is_record(record):
            raise FormatError(f"{path}, line {number}, is damaged: {line[:60]!r}. Mend the line, or train in another folder")
        found.append(record)
    return found


def _is_record(found: Any) -> bool:
    """Whether it is a line of the log: an object with each of its fields, all numbers, or null where there may be none."""
    if not isinstance(found, dict) or not all(isinstance(found.get(name), int) for name in ("epoch", "seed")):
        return False
    return all(isinstance(found.get(name, ""), int | float | None) for name in _FIELDS)


class Display(Protocol):
    """Shows the progress of a group."""

    def show(self, records: list[Record], epochs: int, left: float) -> None:
        """After an epoch; ``left``: seconds until the end, as far as one can tell."""

    def close(self) -> None:
        """When the group is done."""


class Silent:
    """Shows nothing."""

    def show(self, records: list[Record], epochs: int, left: float) -> None:
        pass

    def close(self) -> None:
        pass


class Lines(Silent):
    """A line now and then, for files and pipes."""

    def __init__(self, title: str, seconds: float = 10.0) -> None:
        self.title, self.seconds, self.last = title, seconds, 0.0

    def show(self, records: list[Record], epochs: int, left: float) -> None:
        last = records[0]["epoch"] == epochs
        if time.monotonic() - self.last < self.seconds and not last:
            return
        self.last = time.monotonic()
        means = {name: _mean(records, name) for name in ("loss", "val", "best", "rate")}
        text = "  ".join(f"{name} {_number(value)}" for name, value in means.items())
        of = f" (mean of {len(records)})" if len(records) > 1 else ""
        print(
            f"{self.title}  epoch {records[0]['epoch']}/{epochs}  {text}{of}  left {_duration(left)}", file=sys.stderr, flush=True
        )


class Table(Silent):
    """A table that is drawn anew after every epoch, with as many lanes as the terminal has room for; needs rich."""

    def __init__(self, title: str) -> None:
        from rich.console import Console
        from rich.live import Live

        self.title = title
        self.live = Live(console=Console(stderr=True), refresh_per_second=4, transient=False)
        self.live.start()

    def show(self, records: list[Record], epochs: int, left: float) -> None:
        from rich.table import Table as RichTable
        from rich.text import Text

        title = Text(self.title, no_wrap=True, overflow="ellipsis")
        table = RichTable(title=title, caption=f"time left {_duration(left)}")
        for name in ("run", "epoch", "loss", "validation", "best", "rate"):
            table.add_column(name, justify="left" if name == "run" else "right", no_wrap=True)
        shown = _shown(len(records), self.live.console.height - _AROUND)
        for r in records[:shown]:
            name = lane_title(r["seed"], r["fold"], r["target"])
            best = "" if r["best"] is None else f"{_number(r['best'])} ({r['best_epoch']})"
            table.add_row(name, f"{r['epoch']}/{epochs}", _number(r["loss"]), _number(r["val"]), best, _number(r["rate"]))
        if shown < len(records):
            table.add_row(f"… and {len(records) - shown} more")
        if len(records) > 1:
            means = {name: _number(_mean(records, name)) for name in ("loss", "val", "best", "rate")}
            table.add_row(f"mean of {len(records)}", f"{records[0]['epoch']}/{epochs}", *means.values(), style="bold")
        self.live.update(table)

    def close(self) -> None:
        self.live.stop()


def _shown(lanes: int, room: int) -> int:
    """How many lanes have a line of their own, where there is room for so many lines; if not all, a line says how many are left out.

    >>> _shown(3, 18), _shown(18, 18), _shown(30, 18), _shown(30, -2)
    (3, 18, 17, 0)
    """
    return lanes if lanes <= room else max(room - 1, 0)


class TensorBoard:
    """A display that also writes TensorBoard's event files, a folder for each lane, so that lanes lie over each other in each chart.

    The files are made anew from the log when a run is resumed: no epoch is there twice, and the flag may be given then only. Costs
    about 0.1 ms for each epoch and lane.
    """

    SCALARS = ("loss", "val", "val_loss", "rate")

    def __init__(self, display: Display, folder: Path, before: list[Record]) -> None:
        self.display, self.folder = display, folder
        self.writers: dict[str, Any] = {}
        self._write(before)

    def show(self, records: list[Record], epochs: int, left: float) -> None:
        self._write(records)
        self.display.show(records, epochs, left)

    def close(self) -> None:
        for writer in self.writers.values():
            writer.close()
        self.display.close()

    def _write(self, records: list[Record]) -> None:
        for r in records:
            writer = self._writer(lane_name(r["seed"], r["fold"], r["target"]))
            for name in self.SCALARS:
                if r[name] is not None:
                    writer.add_scalar(name, r[name], r["epoch"])

    def _writer(self, lane: str) -> Any:
        if lane not in self.writers:
            shutil.rmtree(self.folder / lane, ignore_errors=True)
            self.writers[lane] = summary_writer()(str(self.folder / lane))
        return self.writers[lane]


def summary_writer() -> Any:
    """The class that writes event files, or an error that says how to get it."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise MissingDependencyError(
            "--tensorboard needs TensorBoard, which is not installed: pip install 'planegraph[tensorboard]'"
        ) from None
    return SummaryWriter


def make_display(title: str, shown: bool) -> Display:
    """A table on a terminal, lines elsewhere."""
    if not shown:
        return Silent()
    try:
        if sys.stderr.isatty():
            return Table(title)
    except ImportError:
        pass
    return Lines(title)


def _mean(records: list[Record], name: str) -> float | None:
    values = [r[name] for r in records]
    return None if any(v is None for v in values) else sum(values) / len(values)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(max(0.0, seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
