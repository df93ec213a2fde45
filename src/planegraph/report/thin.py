"""Fewer points, so that a page stays small, by rules that lose nothing one would see.

Curves: the epochs are cut into equal parts and of each part the lowest and the highest value are kept, so that spikes stay; the first and
the last point always. Scatters: a tenth of the points are those furthest from the diagonal, the others are spread evenly by true value.
Both are functions of the data alone: the same run gives the same page.
"""

from __future__ import annotations

import numpy as np


def thin_curve(y: np.ndarray, most: int) -> np.ndarray:
    """The positions of at most ``most`` (4 or more) points of a curve, increasing.

    >>> thin_curve(np.array([0, 0, 9, 0, 0, 0, 0, -9, 0, 0]), 6).tolist()
    [0, 2, 5, 7, 9]
    """
    n = len(y)
    if n <= most:
        return np.arange(n)
    kept = {0, n - 1}
    for part in np.array_split(np.arange(n), max(1, (most - 2) // 2)):
        kept |= {int(part[np.argmin(y[part])]), int(part[np.argmax(y[part])])}
    return np.array(sorted(kept))


def thin_scatter(true: np.ndarray, predicted: np.ndarray, most: int) -> np.ndarray:
    """The positions of at most ``most`` points of a scatter plot, increasing."""
    n = len(true)
    if n <= most:
        return np.arange(n)
    worst = np.argsort(-np.abs(predicted - true), kind="stable")[: most // 10]
    others = np.setdiff1d(np.arange(n), worst)
    others = others[np.argsort(true[others], kind="stable")]
    even = np.linspace(0, len(others) - 1, most - len(worst)).round().astype(int)
    return np.sort(np.concatenate([worst, others[even]]))


def thin_evenly(n: int, most: int) -> np.ndarray:
    """At most ``most`` of n positions, evenly, with both ends."""
    return np.arange(n) if n <= most else np.unique(np.linspace(0, n - 1, most).round().astype(int))
