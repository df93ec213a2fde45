"""Learning curves: training loss and validation metric of each trial, their mean, and the best epochs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from ..runs.folder import Curve, Run
from .axes import axis_for, padded
from .formatting import metric_name, percent
from .plot import COLOURS, OTHERS, Figure, Plot, run_colours

POINTS = 4000
"""In all curves of a plot together, about."""

Line = tuple[np.ndarray, np.ndarray]  # epochs and values


def learning_curves(runs: Sequence[Run], names: Sequence[str]) -> list[Figure]:
    """A figure of the loss and one of validation, each with all runs; none before the first epoch is done.

    Runs have the colours of :func:`run_colours`, and the first ones lie on top. Of more runs than there are colours only the mean of the
    trials is drawn. A legend that has no room is left to the page.
    """
    found = []
    colours, crowded = run_colours(len(runs)), len(runs) > len(COLOURS)
    metric = next((run.metric for run in runs if run.metric), None)
    for what, name in (("loss", "training loss"), ("val", f"validation {metric_name(metric)}")):
        scale = 100.0 if what == "val" and percent(metric) else 1.0
        lines = [[_line(curve, what, scale) for curve in run.curves] for run in runs]
        lines = [[mean_curve(trials)] for trials in lines] if crowded else lines
        values = np.concatenate([y for trials in lines for _, y in trials] or [np.empty(0)])
        if len(values) == 0:
            continue
        x = axis_for([1.0, *(x[k] for trials in lines for x, _ in trials if len(x) for k in (0, -1))], log=False, whole=True)
        y = padded(axis_for(values, log=False if scale > 1 else None))
        plot = Plot(x, y, "epoch", name + (" (%)" if scale > 1 else ""))
        most = max(40, POINTS // (sum(map(len, lines)) + len(runs)))
        marks: list[Markup] = []
        for run, trials, colour in reversed(list(zip(runs, lines, colours, strict=True))):
            marks += _marks(plot, run, trials, colour, most, rings=what == "val" and not crowded)
        legend = list(zip(colours, names, strict=True)) if len(runs) > 1 and plot.has_room(names) else []
        caption = _caption(name, runs, y.log, what == "val", crowded)
        found.append(plot.figure(f"curve-{what}", f"{name} over epochs", caption, *marks, legend=legend))
    return found


def mean_curve(trials: Sequence[Line]) -> Line:
    """The mean of those trials that are at the last epoch, at the epochs that all of them have."""
    last = max((x[-1] for x, _ in trials if len(x)), default=None)
    there = [(x, y) for x, y in trials if len(x) and x[-1] == last]
    if not there:
        return np.empty(0), np.empty(0)
    epochs = there[0][0]
    for x, _ in there[1:]:
        epochs = np.intersect1d(epochs, x)
    return epochs, np.mean([y[np.isin(x, epochs)] for x, y in there], axis=0)


def thin_curve(y: np.ndarray, most: int) -> np.ndarray:
    """The positions of at most ``most`` (4 or more) points of a curve: its ends, and the lowest and highest value of each stretch.

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


def _line(curve: Curve, what: str, scale: float) -> Line:
    values = getattr(curve, what)
    measured = np.isfinite(values)
    return curve.epoch[measured], values[measured] * scale


def _marks(plot: Plot, run: Run, trials: Sequence[Line], colour: str, most: int, rings: bool) -> list[Markup]:
    several = len(trials) > 1
    width = 1.0 if several or colour == OTHERS else 1.8
    drawn: list[tuple[Any, Any, float, dict[str, Any]]] = [
        (x, y, width, {"stroke_opacity": 0.5 if several else 1}) for x, y in trials
    ]
    drawn += [(*mean_curve(trials), 2.2, {"class_": "mean"})] if several else []
    marks = []
    for x, y, width, more in drawn:
        kept = thin_curve(y, most)
        marks.append(plot.line(x[kept], y[kept], colour, width, **more))
    if rings:
        best = [(c.best_epoch, y[x == c.best_epoch]) for c, (x, y) in zip(run.curves, trials, strict=True) if c.best_epoch]
        at = [(epoch, float(y[0])) for epoch, y in best if len(y)]
        if at:
            x, y = np.array(at).T
            marks.append(plot.rings(x, y, colour))
    return marks


def _caption(name: str, runs: Sequence[Run], log: bool, rings: bool, crowded: bool) -> str:
    several = any(len(run.curves) > 1 for run in runs)
    parts = [f"{name[0].upper()}{name[1:]}"]
    if several:
        parts.append("the mean of each run's trials" if crowded else "thin: each trial, thick: their mean")
    if len(runs) > 1:
        parts.append(f"colours as in the table{', others grey' if crowded else ''}")
    if rings and not crowded:
        parts.append("rings: the best epoch of each trial" if several else "ring: the best epoch")
    if log:
        parts.append("logarithmic axis")
    return "; ".join(parts) + "."
