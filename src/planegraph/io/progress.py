"""A progress bar of one line on stderr, for packing and downloads. Silent where stderr is not a terminal, so that logs stay clean."""

from __future__ import annotations

import sys
import time
from types import TracebackType

_WIDTH = 30
_SECONDS = 0.1  # between two drawings


class Progress:
    """``with Progress("packing", total) as bar: bar.add(5)``; ``total`` None means unknown.

    >>> with Progress("packing", 10, show=False) as bar:
    ...     bar.add(4)
    >>> bar.done
    4
    """

    def __init__(self, what: str, total: int | None, unit: str = "graphs", show: bool | None = None) -> None:
        self.what, self.total, self.unit, self.done = what, total, unit, 0
        self.show = sys.stderr is not None and sys.stderr.isatty() if show is None else show
        self._start = self._drawn = time.monotonic()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.show:
            self._draw()
            sys.stderr.write("\n")

    def add(self, count: int) -> None:
        """So many more are done."""
        self.done += count
        now = time.monotonic()
        if self.show and now - self._drawn >= _SECONDS:
            self._drawn = now
            self._draw()

    def _draw(self) -> None:
        seconds = time.monotonic() - self._start
        rate = self.done / seconds if seconds > 0 else 0.0
        if self.total:
            share = min(self.done / self.total, 1.0)
            bar = ("#" * round(share * _WIDTH)).ljust(_WIDTH, ".")
            left = f", {(self.total - self.done) / rate:.0f} s left" if rate and self.done < self.total else ""
            text = f"{self.what} [{bar}] {share:4.0%} of {self.total:,} {self.unit}, {seconds:.0f} s{left}"
        else:
            text = f"{self.what} {self.done:,} {self.unit}, {seconds:.0f} s"
        sys.stderr.write(f"\r{text}\x1b[K")
        sys.stderr.flush()
