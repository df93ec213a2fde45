"""The closest two of many vectors, and how many are close, exactly and in about O(n log n).

The gap of two vectors is |a - b| / max(|a|, |b|), in Euclidean norms. A projection on a unit direction never makes a difference
longer, so a pair closer than the best one known lies in a short window of the sorted projections. A pair with gap at most g has
norms within a factor 1 - g of each other, which makes the window of row i as long as g |a_i| / (1 - g), however large others are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

CHUNK = 1 << 14  # pairs compared at a time


class Closest(NamedTuple):
    """Two rows and their gap."""

    gap: float
    i: int
    j: int


def closest_pair(vectors: np.ndarray, directions: int = 4, seed: int = 0) -> Closest:
    """The pair of rows with the smallest gap (exact if it is below 1/2); equal rows have gap 0.

    >>> closest_pair(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.5], [2.0, 0.5]]))[1:]
    (0, 2)
    """
    if len(vectors) < 2 or not np.isfinite(vectors).all():
        raise ValueError(f"the closest pair needs at least two rows of finite numbers; found {len(vectors)} rows")
    norms = np.linalg.norm(vectors, axis=1)
    units = np.random.default_rng(seed).standard_normal((directions, vectors.shape[1]))
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    orders = [np.argsort(vectors @ unit) for unit in units]
    best = min(_best_of(vectors, norms, order[:-1], order[1:]) for order in orders)  # neighbours in a few directions: a first guess
    pairs = _candidates(vectors, norms, units[0], min(best.gap, 0.5))
    return min([best, *(_best_of(vectors, norms, i, j) for i, j in pairs if len(i))])


def count_close(vectors: np.ndarray, gap: float, seed: int = 0) -> int:
    """The number of pairs of rows with at most this gap, which must be below 1/2.

    >>> count_close(np.array([[1.0, 0.0], [1.0, 1e-12], [2.0, 0.0], [1.0, 0.0]]), 1e-8)
    3
    """
    norms = np.linalg.norm(vectors, axis=1)
    unit = np.random.default_rng(seed).standard_normal((vectors.shape[1],))
    pairs = _candidates(vectors, norms, np.asarray(unit / np.linalg.norm(unit)), gap)
    return sum(int((_gaps(vectors, norms, i, j) <= gap).sum()) for i, j in pairs)


def _candidates(vectors: np.ndarray, norms: np.ndarray, unit: np.ndarray, gap: float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """All pairs that can have at most this gap, each once, about CHUNK at a time."""
    order = np.argsort(vectors @ unit)
    projected = (vectors @ unit)[order]
    rounding = 1e-13 * norms[order]
    ends = np.searchsorted(projected, projected + gap * norms[order] / (1 - gap) + rounding, side="right")
    counts = np.maximum(ends - np.arange(len(order)) - 1, 0)
    total, begin = np.cumsum(counts), 0
    while begin < len(order):
        done = total[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(total, done + CHUNK)))
        first = np.repeat(np.arange(begin, end), counts[begin:end])
        starts = np.cumsum(counts[begin:end]) - counts[begin:end]
        second = first + 1 + np.arange(len(first)) - np.repeat(starts, counts[begin:end])
        yield order[first], order[second]
        begin = end


def _best_of(vectors: np.ndarray, norms: np.ndarray, i: np.ndarray, j: np.ndarray) -> Closest:
    gaps = _gaps(vectors, norms, i, j)
    k = int(np.argmin(gaps))
    return Closest(float(gaps[k]), int(i[k]), int(j[k]))


def _gaps(vectors: np.ndarray, norms: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    return np.linalg.norm(vectors[i] - vectors[j], axis=1) / np.maximum(np.maximum(norms[i], norms[j]), np.finfo(float).tiny)
