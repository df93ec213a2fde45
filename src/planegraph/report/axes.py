"""An axis: a range with round ticks, linear or logarithmic.

Ticks are increasing and lie within the range; ``place`` maps the range onto 0..1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

_NOTHING = 1e-290  # floats below have no digits left for steps between them
_LOG_FROM = 20.0  # the largest by the smallest value from which on an axis is logarithmic


@dataclass(frozen=True)
class Axis:
    """Values from ``low`` to ``high``; see :func:`linear`, :func:`logarithmic`, :func:`axis_for` and :func:`named`."""

    low: float
    high: float
    ticks: tuple[float, ...]
    log: bool = False
    names: tuple[str, ...] = ()

    def place(self, values: object) -> np.ndarray:
        """The places of values: 0 at ``low``, 1 at ``high``."""
        found = np.asarray(values, np.float64)
        if self.log:
            return (np.log10(found) - math.log10(self.low)) / (math.log10(self.high) - math.log10(self.low))
        return (found - self.low) / (self.high - self.low)

    def texts(self) -> list[str]:
        """The ticks as text, with as few digits as distinguish them; their names, if they have any."""
        if self.names:
            return list(self.names)
        if self.log:
            return [f"{t:.0e}".replace("e-0", "e-").replace("e+0", "e") if t < 1e-3 or t >= 1e5 else f"{t:g}" for t in self.ticks]
        largest = max(abs(t) for t in self.ticks)
        if largest != 0 and (largest >= 1e6 or largest < 1e-3):
            return [f"{t:.3g}" for t in self.ticks]
        step = self.ticks[1] - self.ticks[0] if len(self.ticks) > 1 else 1.0
        digits = next((d for d in range(10) if abs(round(step, d) - step) < 1e-3 * step), 10)
        return [f"{t:.{digits}f}" for t in self.ticks]


def axis_for(values: Iterable[float], log: bool | None = None, whole: bool = False) -> Axis:
    """The axis on which all values fit; ``log`` None: logarithmic if all are positive and the largest is 20 times the smallest.

    >>> axis_for([0.001, 0.02, 5]).log
    True
    >>> axis_for([1, 100], log=False, whole=True).texts()
    ['20', '40', '60', '80', '100']
    """
    found = np.asarray(list(values), np.float64)
    found = found[np.isfinite(found)]
    if len(found) == 0:
        found = np.array([0.0, 1.0])
    low, high = (0.0 if abs(value) < _NOTHING else value for value in (float(found.min()), float(found.max())))
    if log is None:
        log = low > 0 and high / low >= _LOG_FROM
    return logarithmic(low, high) if log and low > 0 else linear(low, high, whole)


def linear(low: float, high: float, whole: bool = False) -> Axis:
    """An axis from ``low`` to ``high`` exactly, or a little beyond if they are equal; ``whole``: ticks at integers only."""
    if high - low <= 1e-12 * max(abs(low), abs(high), 1e-300):
        around = abs(low) * 0.1 or 1.0
        low, high = low - around, high + around
    step = _round_step((high - low) / 6)
    if whole:
        step = max(1.0, round(step))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    ticks = tuple(min(max(k * step, low), high) + 0.0 for k in range(first, last + 1))
    return Axis(low, high, ticks or (low, high))


def named(names: Sequence[str]) -> Axis:
    """The k-th name at k, with half a step of room at both ends.

    >>> named(["adam", "adamw"]).place([0, 1]).tolist()
    [0.25, 0.75]
    """
    return Axis(-0.5, len(names) - 0.5, tuple(map(float, range(len(names)))), names=tuple(names))


def padded(axis: Axis, share: float = 0.04) -> Axis:
    """The axis with some room at both ends, so that marks stay off the frame."""
    if axis.log:
        factor = (axis.high / axis.low) ** share
        return logarithmic(axis.low / factor, axis.high * factor)
    room = (axis.high - axis.low) * share
    return linear(axis.low - room, axis.high + room)


def logarithmic(low: float, high: float) -> Axis:
    """Powers of ten; with 2 and 5 between them where there are few."""
    if high <= low * (1 + 1e-9):
        low, high = low / 2, high * 2
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for within in ((1,), (1, 2, 5)):
        every = -(-(last - first) // 8) if len(within) == 1 else 1
        ticks = tuple(
            m * 10.0**k
            for k in range(first, last + 1, every)
            for m in within
            if low * (1 - 1e-9) <= m * 10.0**k <= high * (1 + 1e-9)
        )
        if len(ticks) >= 3:
            return Axis(low, high, ticks, log=True)
    return Axis(low, high, ticks or (low, high), log=True)


def _round_step(about: float) -> float:
    power = 10.0 ** math.floor(math.log10(about))
    return next(m * power for m in (1, 2, 5, 10) if about <= m * power * (1 + 1e-9))
