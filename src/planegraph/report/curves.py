"""Learning curves: training loss and validation metric of each trial, their mean, and the best epochs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..runs.folder import Curve, Run
from .axes import axis_for, padded
from .markup import Markup
from .plot import COLOURS, OTHERS, Figure, Plot, run_colours
from .texts import metric_name, percent
from .thin import thin_curve

POINTS = 4000
"""In all curves of a plot together, about."""


def learning_curves(runs: Sequence[Run], names: Sequence[str]) -> list[Figure]:
    """One figure of the loss and one of validation, with all runs in both; none before the first epoch is done.

    Runs have the colours of :func:`run_colours`, and the first ones lie on top. Of more runs than there are colours only the mean of the
    trials is drawn. A legend that has no room is left to the page.
    """
    found = []
    colours, crowded = run_colours(len(runs)), len(runs) > len(COLOURS)
    metric = next((run.metric for run in runs if run.metric), None)
    for what, name in (("loss", "training loss"), ("val", f"validation {metric_name(metric)}")):
        scale = 100.0 if what == "val" and percent(metric) else 1.0
        given = [[_points(curve, what, scale) for curve in run.curves] for run in runs]
        given = [[mean_curve(trials)] for trials in given] if crowded else given
        values = np.concatenate([y for trials in given for _, y in trials] or [np.empty(0)])
        if len(values) == 0:
            continue
        epochs = [x[k] for trials in given for x, _ in trials if len(x) for k in (0, -1)]
        plot = Plot(
            axis_for([1.0, *epochs], log=False, whole=True),
            padded(axis_for(values, log=False if scale > 1 else None)),
            "epoch",
            name + (" (%)" if scale > 1 else ""),
        )
        most = max(40, POINTS // (sum(map(len, given)) + len(runs)))
        marks: list[Markup] = []
        for run, trials, colour in reversed(list(zip(runs, given, colours, strict=True))):
            marks += _drawn(plot, run, trials, colour, most, rings=what == "val" and not crowded)
        legend = list(zip(colours, names, strict=True)) if len(runs) > 1 and plot.has_room(names) else []
        caption = _caption(name, runs, plot.y.log, what == "val", crowded)
        found.append(Figure(f"curve-{what}", f"{name} over epochs", caption, plot.drawn(*marks, legend=legend)))
    return found


def mean_curve(trials: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """The mean of those trials that are at the last epoch, at the epochs that all of them have."""
    last = max((x[-1] for x, _ in trials if len(x)), default=None)
    there = [(x, y) for x, y in trials if len(x) and x[-1] == last]
    if not there:
        return np.empty(0), np.empty(0)
    epochs = there[0][0]
    for x, _ in there[1:]:
        epochs = np.intersect1d(epochs, x)
    return epochs, np.mean([y[np.isin(x, epochs)] for x, y in there], axis=0)


def _points(curve: Curve, what: str, scale: float) -> tuple[np.ndarray, np.ndarray]:
    values = getattr(curve, what)
    measured = np.isfinite(values)
    return curve.epoch[measured], values[measured] * scale


def _drawn(
    plot: Plot, run: Run, trials: Sequence[tuple[np.ndarray, np.ndarray]], colour: str, most: int, rings: bool
) -> list[Markup]:
    marks, several = [], len(trials) > 1
    width = 1.0 if several or colour == OTHERS else 1.8
    for x, y in trials:
        kept = thin_curve(y, most)
        marks.append(plot.line(x[kept], y[kept], colour, width, stroke_opacity=0.5 if several else 1))
    if several:
        x, y = mean_curve(trials)
        kept = thin_curve(y, most)
        marks.append(plot.line(x[kept], y[kept], colour, 2.2, class_="mean"))
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
