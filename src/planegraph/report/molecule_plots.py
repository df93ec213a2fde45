"""Plots of one target of a table of molecules, for the ensemble's predictions of the test part; the caller leaves missing values out.

Regression: predicted against true, and residuals. Binary: ROC curve, and calibration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..runs.folder import Predictions, Run
from ..tasks.metrics import BINS
from .axes import axis_for, linear, padded
from .markup import Markup
from .plot import Figure, Plot
from .roc import roc
from .texts import number, several

_SIZE = 430


def scatter(k: int, target: str, true: np.ndarray, predicted: np.ndarray, shown: np.ndarray, colour: str) -> Figure:
    """Predicted against true; ``shown`` are the positions of the points that are drawn."""
    axis = padded(axis_for([*true, *predicted], log=False))
    plot = Plot(axis, axis, "true", "predicted", _SIZE, _SIZE)
    marks = [_diagonal(plot), plot.dots(true[shown], predicted[shown], colour, 3.6, stroke_opacity=0.55)]
    caption = f"{target}: predicted against true; {_count(true, shown)}."
    return Figure(f"scatter-{k}", f"predicted against true, {target}", caption, plot.drawn(*marks), _SIZE, _SIZE)


def residuals(
    k: int,
    target: str,
    true: np.ndarray,
    predicted: np.ndarray,
    shown: np.ndarray,
    colour: str,
    interval: Mapping[str, float | None],
    coverage: float | None,
) -> Figure:
    """Predicted - true against predicted, with the interval as dashed lines if there is one."""
    residuals, half = predicted - true, interval.get("half_width")
    ends = [] if half is None else [-half, half]
    plot = Plot(
        padded(axis_for(predicted, log=False)),
        padded(axis_for([0.0, *residuals, *ends], log=False)),
        "predicted",
        "predicted - true",
        _SIZE,
        _SIZE,
    )
    across = [plot.x.low, plot.x.high]
    marks = [plot.line(across, [0, 0], "currentColor", 1, stroke_opacity=0.5)]
    marks += [plot.line(across, [end, end], "currentColor", 1, stroke_opacity=0.5, stroke_dasharray="4 4") for end in ends]
    marks.append(plot.dots(predicted[shown], residuals[shown], colour, 3.6, stroke_opacity=0.55))
    caption = f"{target}: residuals; mean {number(float(residuals.mean()))}, standard deviation {number(float(residuals.std()))}"
    if half is not None and interval.get("test_coverage") is not None:
        covered = f"{interval['test_coverage']:.0%} of the test values"
        caption += f"; dashed: the {coverage:.0%} interval, ± {number(half)}, which covers {covered}"
    return Figure(f"residuals-{k}", f"residuals, {target}", caption + ".", plot.drawn(*marks), _SIZE, _SIZE)


def roc_of_target(run: Run, k: int, target: str, true: np.ndarray, predicted: np.ndarray, colour: str) -> Figure:
    """The ROC curve of the ensemble's probabilities."""
    trial = Predictions(np.arange(len(true)), predicted[:, None], true)
    [figure] = roc(replace(run, tests={"ensemble": trial}), colour)
    return replace(figure, name=f"roc-{k}", label=f"ROC curve, {target}", caption=f"{target}: {figure.caption}")


def calibration(k: int, target: str, true: np.ndarray, predicted: np.ndarray, colour: str) -> Figure:
    """The share of positives against the mean probability, in the bins of the calibration error, with 95 % Wilson intervals."""
    bins = np.searchsorted(np.linspace(0, 1, BINS + 1)[1:-1], predicted)
    count, positive, mean = (np.bincount(bins, weights=w, minlength=BINS) for w in (None, true, predicted))
    there = count > 0
    n, share, at = count[there], positive[there] / count[there], mean[there] / count[there]
    low, high = _wilson(share, n)
    axis = linear(0.0, 1.0)
    plot = Plot(axis, axis, "predicted probability", "share of positives", _SIZE, _SIZE)
    bars = [plot.line([x, x], [a, b], colour, 1.2, stroke_opacity=0.6) for x, a, b in zip(at, low, high, strict=True)]
    marks = [_diagonal(plot), *bars, plot.line(at, share, colour, 1.6), plot.dots(at, share, colour, 7)]
    caption = (
        f"{target}: calibration; share of positives against predicted probability in bins of equal width, {int(n.min()):,} to "
        f"{int(n.max()):,} molecules in each; bars: 95 % intervals."
    )
    return Figure(f"calibration-{k}", f"calibration, {target}", caption, plot.drawn(*marks), _SIZE, _SIZE)


def _wilson(share: np.ndarray, n: np.ndarray, z: float = 1.96) -> tuple[np.ndarray, np.ndarray]:
    """
    >>> [round(float(end[0]), 3) for end in _wilson(np.array([0.5]), np.array([10]))]
    [0.237, 0.763]
    """
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return (middle - half).clip(0, 1), (middle + half).clip(0, 1)


def _diagonal(plot: Plot) -> Markup:
    ends = [plot.x.low, plot.x.high]
    return plot.line(ends, ends, "currentColor", 1, stroke_opacity=0.5, stroke_dasharray="4 4")


def _count(true: np.ndarray, shown: np.ndarray) -> str:
    drawn = f", {len(shown):,} of them drawn: the tenth furthest off, and others evenly" if len(shown) < len(true) else ""
    return several(len(true), "test molecule") + drawn
