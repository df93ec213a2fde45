"""Callbacks: code that a run calls when it starts, after each epoch, and when it ends. The progress display at the end of this file and
the loggers (loggers.py) are callbacks.

A run calls them in its first process, in the order given: ``on_start`` once, ``on_epoch`` after each epoch, ``on_end`` with the result, and
``close`` always, whether the run ended, was stopped or failed.

An exception in ``on_start`` ends the run before it begins. A later one cannot lose the run: it becomes a warning, the callback is left out
(only ``close`` is still called), and training continues.

On resuming, ``on_start`` gets the records of the epochs up to the checkpoint. Epochs after it are trained again, so ``on_epoch`` may
repeat an epoch that an earlier process has reported.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import PlanegraphError, PlanegraphWarning
from ..io.text import printable
from ..runs.log import LogRecord
from ..runs.settings import RunSettings
from ..runs.trials import trial_title
from .stack import settled

_AROUND = 7  # lines of a table beside those of the trials: title, three of the head, the mean, the border below, the time left


@dataclass(frozen=True)
class RunInfo:
    """What is known when a run starts.

    Attributes:
        folder: of the run. task: its name. settings: all of them.
        trials: the names of the seeds, folds and targets that are trained, such as ``seed0-fold3``.
        resumed: whether the folder may hold a part of this run already.
        records: of the epochs that are done then, as in ``log.jsonl``; each with its ``target``.
    """

    folder: Path
    task: str
    settings: RunSettings
    trials: tuple[str, ...]
    resumed: bool = False
    records: Sequence[LogRecord] = ()


class Callback:
    """Does nothing; override what you need. ``train(..., callbacks=[...])`` takes any number of them.

    >>> class Worst(Callback):
    ...     def on_epoch(self, records):
    ...         self.loss = max(record["loss"] for record in records)
    """

    def on_start(self, run: RunInfo) -> None:
        """Before the first epoch. An exception here ends the run; nothing was trained."""

    def on_epoch(self, records: Sequence[LogRecord]) -> None:
        """After an epoch of trials that are trained together: a record for each, with the fields of ``log.jsonl`` and ``target``."""

    def on_end(self, result: Mapping[str, Any]) -> None:
        """When the run is complete; ``result`` is what ``result.json`` holds."""

    def close(self) -> None:
        """At the end in any case, and last."""


class Callbacks:
    """Calls all of them; one that raises after ``start`` is left out, with a warning. A context that closes them."""

    def __init__(self, callbacks: Sequence[Callback]) -> None:
        self.started: list[Callback] = []
        self.sound = list(callbacks)

    def start(self, run: RunInfo) -> None:
        for callback in self.sound:
            self.started.append(callback)
            try:
                callback.on_start(run)
            except PlanegraphError:
                raise
            except Exception as error:
                if isinstance(error, OSError) and error.filename is not None:
                    raise  # a full disk, say; it names the file
                raise PlanegraphError(f"callback {_said(callback, error, 'on_start')}; nothing was trained") from error

    def epoch(self, records: Sequence[LogRecord]) -> None:
        for callback in list(self.sound):
            self._call(callback, "on_epoch", records)

    def end(self, result: Mapping[str, Any]) -> None:
        for callback in list(self.sound):
            self._call(callback, "on_end", result)

    def __enter__(self) -> Callbacks:
        return self

    def __exit__(self, *_: object) -> None:
        for callback in self.started:
            self._call(callback, "close")

    def _call(self, callback: Callback, method: str, *values: Any) -> None:
        try:
            getattr(callback, method)(*values)
        except Exception as error:
            if callback in self.sound:
                self.sound.remove(callback)
            message = f"callback {_said(callback, error, method)} and is left out; the run continues without it"
            warnings.warn(message, PlanegraphWarning, stacklevel=4)


def _said(callback: Callback, error: Exception, method: str) -> str:
    return f"{type(callback).__name__} failed in {method} ({type(error).__name__}: {error})"


# ---- progress on stderr --------------------------------------------------------------------------------------------------------


class Display(Callback):
    """Progress on stderr: the title and the time left, for the two that follow."""

    def on_start(self, run: RunInfo) -> None:
        self.name, self.settings = f"{run.task} {run.settings.model_class}", run.settings.train

    def title(self, records: Sequence[LogRecord]) -> str:
        """Of the trials that are trained together now."""
        first = records[0]
        many = f"{len(records)} together" if len(records) > 1 else trial_title(first["seed"], first["fold"], first["target"])
        return printable(f"{self.name}, {many}")

    def epochs(self, records: Sequence[LogRecord]) -> int:
        """As planned, or fewer if validation has settled."""
        best = [None if r["best_epoch"] is None else {"epoch": r["best_epoch"]} for r in records]
        done = records[0]["epoch"]
        return done if settled(best, done, self.settings.patience) else self.settings.epochs

    def left(self, records: Sequence[LogRecord]) -> str:
        """The time left, if the next epochs take as long as those before."""
        done = records[0]["epoch"]
        return _duration(records[0]["seconds"] / done * (self.epochs(records) - done))


class Lines(Display):
    """A line now and then, for files and pipes."""

    def __init__(self, seconds: float = 10.0) -> None:
        self.seconds, self.last = seconds, 0.0

    def on_epoch(self, records: Sequence[LogRecord]) -> None:
        epochs = self.epochs(records)
        last = records[0]["epoch"] == epochs
        if time.monotonic() - self.last < self.seconds and not last:
            return
        self.last = time.monotonic()
        text = "  ".join(f"{name} {_number(_mean(records, name))}" for name in ("loss", "val", "best", "rate"))
        of = f" (mean of {len(records)})" if len(records) > 1 else ""
        line = f"{self.title(records)}  epoch {records[0]['epoch']}/{epochs}  {text}{of}  left {self.left(records)}"
        print(line, file=sys.stderr, flush=True)


class Table(Display):
    """A table that is drawn anew after every epoch, with as many trials as the terminal has room for; needs rich."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live

        self.live = Live(console=Console(stderr=True), refresh_per_second=4, transient=False)

    def on_start(self, run: RunInfo) -> None:
        super().on_start(run)
        self.live.start()

    def on_epoch(self, records: Sequence[LogRecord]) -> None:
        from rich.table import Table as RichTable
        from rich.text import Text

        epochs, title = self.epochs(records), Text(self.title(records), no_wrap=True, overflow="ellipsis")
        table = RichTable(title=title, caption=f"time left {self.left(records)}")
        for name in ("run", "epoch", "loss", "validation", "best", "rate"):
            table.add_column(name, justify="left" if name == "run" else "right", no_wrap=True)
        shown = _shown(len(records), self.live.console.height - _AROUND)
        for r in records[:shown]:
            name = trial_title(r["seed"], r["fold"], r["target"])
            best = "" if r["best"] is None else f"{_number(r['best'])} ({r['best_epoch']})"
            table.add_row(name, f"{r['epoch']}/{epochs}", _number(r["loss"]), _number(r["val"]), best, _number(r["rate"]))
        if shown < len(records):
            table.add_row(f"… and {len(records) - shown} more")
        if len(records) > 1:
            means = [_number(_mean(records, name)) for name in ("loss", "val", "best", "rate")]
            table.add_row(f"mean of {len(records)}", f"{records[0]['epoch']}/{epochs}", *means, style="bold")
        self.live.update(table)

    def close(self) -> None:
        self.live.stop()


def make_display() -> Display:
    """A table on a terminal, lines elsewhere."""
    try:
        if sys.stderr.isatty():
            return Table()
    except ImportError:
        pass
    return Lines()


def _shown(trials: int, room: int) -> int:
    """How many trials have their own line, where there is room for so many lines; if not all, a line says how many are left out.

    >>> _shown(3, 18), _shown(18, 18), _shown(30, 18), _shown(30, -2)
    (3, 18, 17, 0)
    """
    return trials if trials <= room else max(room - 1, 0)


def _mean(records: Sequence[LogRecord], name: str) -> float | None:
    values = [r[name] for r in records]
    return None if any(v is None for v in values) else sum(values) / len(values)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(max(0.0, seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
