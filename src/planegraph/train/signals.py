"""Ctrl-C and SIGTERM as a wish: the loop finishes its step, saves, and ends. A second Ctrl-C interrupts at once."""

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
