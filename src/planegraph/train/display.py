"""Progress on stderr: a live table on a terminal, a line now and then elsewhere. Both are callbacks."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from ..io.text import printable
from ..runs.log import Record
from ..runs.trials import trial_title
from .best import settled
from .callbacks import Callback, RunInfo

_AROUND = 7  # lines of a table beside those of the trials: title, three of the head, the mean, the border below, the time left


class Display(Callback):
    """The base of both: the title and the time left."""

    def on_start(self, run: RunInfo) -> None:
        self.name, self.settings = f"{run.task} {run.settings.model_class}", run.settings.train

    def title(self, records: Sequence[Record]) -> str:
        """Of the trials that are trained together now."""
        first = records[0]
        many = f"{len(records)} together" if len(records) > 1 else trial_title(first["seed"], first["fold"], first["target"])
        return printable(f"{self.name}, {many}")

    def epochs(self, records: Sequence[Record]) -> int:
        """As planned, or fewer if validation has settled."""
        best = [None if r["best_epoch"] is None else {"epoch": r["best_epoch"]} for r in records]
        done = records[0]["epoch"]
        return done if settled(best, done, self.settings.patience) else self.settings.epochs

    def left(self, records: Sequence[Record]) -> str:
        """The time left, if the next epochs take as long as those before."""
        done = records[0]["epoch"]
        return _duration(records[0]["seconds"] / done * (self.epochs(records) - done))


class Lines(Display):
    """A line now and then, for files and pipes."""

    def __init__(self, seconds: float = 10.0) -> None:
        self.seconds, self.last = seconds, 0.0

    def on_epoch(self, records: Sequence[Record]) -> None:
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

    def on_epoch(self, records: Sequence[Record]) -> None:
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
    """How many trials have a line of their own, where there is room for so many lines; if not all, a line says how many are left out.

    >>> _shown(3, 18), _shown(18, 18), _shown(30, 18), _shown(30, -2)
    (3, 18, 17, 0)
    """
    return trials if trials <= room else max(room - 1, 0)


def _mean(records: Sequence[Record], name: str) -> float | None:
    values = [r[name] for r in records]
    return None if any(v is None for v in values) else sum(values) / len(values)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(max(0.0, seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
