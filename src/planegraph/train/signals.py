"""Ctrl-C and SIGTERM as a wish: the loop finishes its step, saves, and ends. A second Ctrl-C interrupts at once.

A signal that the process was started to ignore stays ignored: shells start what a script runs in the background (``&``) so that Ctrl-C,
which is meant for the foreground, does not end it.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any, Self


class StopWish:
    """Within ``with``, signals only set ``asked``; outside the main thread, where Python takes no handlers, nothing changes.

    >>> with StopWish() as wish:
    ...     signal.raise_signal(signal.SIGTERM)
    >>> wish.asked, wish.signal == signal.SIGTERM
    (True, True)
    """

    def __init__(self) -> None:
        self.asked = False
        self.signal: int | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) != signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._ask)
        return self

    def __exit__(self, *exc: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.asked, self.signal = True, number
