"""Predicted against true, for regression: one square plot for each target.

With several seeds the plot shows the one whose test figure is the median, a typical one; folds, which test different graphs, go together.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..runs.folder import Predictions, Run
from .axes import axis_for, padded
from .plot import COLOURS, Figure, Plot
from .texts import number, several
from .thin import thin_scatter

POINTS = 3000
"""In all plots of a run together, but at least 300 in each."""

_SIZE = 430


def scatters(run: Run, colour: str = COLOURS[0]) -> list[Figure]:
    """The plots of a run; none before its first trial is tested."""
    shown, tests = typical_seed(run)
    if not tests:
        return []
    predicted = np.concatenate([t.predicted for t in tests.values()]).astype(np.float64)
    true = np.concatenate([t.true.reshape(len(t.id), -1) for t in tests.values()]).astype(np.float64)
    columns = predicted.shape[1]
    return [
        _scatter(f"target {k}" if columns > 1 else "", k, true[:, k], predicted[:, k], colour, max(300, POINTS // columns), shown)
        for k in range(columns)
    ]


def typical_seed(run: Run) -> tuple[str, Mapping[str, Predictions]]:
    """The seed of the median test figure (of the lower two if they are even; the first while the run is unfinished) and its tests."""
    by_seed: dict[str, dict[str, Predictions]] = {}
    for name, test in run.tests.items():
        by_seed.setdefault(name.partition("-")[0], {})[name] = test
    if len(by_seed) < 2:
        return "", next(iter(by_seed.values()), {})
    figures: dict[str, list[float]] = {}
    for trial in run.result["trials"] if run.result else []:
        figures.setdefault(f"seed{trial['seed']}", []).append(trial["test"])
    ranked = sorted((name for name in by_seed if name in figures), key=lambda name: float(np.mean(figures[name])))
    name = ranked[(len(ranked) - 1) // 2] if ranked else next(iter(by_seed))
    why = ", the median of the seeds" if ranked else ""
    return f"seed {name.removeprefix('seed')}{why}", by_seed[name]


def _scatter(title: str, k: int, true: np.ndarray, predicted: np.ndarray, colour: str, most: int, shown: str) -> Figure:
    finite = np.isfinite(true) & np.isfinite(predicted)
    kept = np.flatnonzero(finite)[thin_scatter(true[finite], predicted[finite], most)]
    axis = padded(axis_for([*true[kept], *predicted[kept]], log=False))
    plot = Plot(axis, axis, "true", "predicted", _SIZE, _SIZE)
    diagonal = plot.line(
        [axis.low, axis.high], [axis.low, axis.high], "currentColor", 1, stroke_opacity=0.5, stroke_dasharray="4 4"
    )
    dots = plot.dots(true[kept], predicted[kept], colour, 3.2, stroke_opacity=0.55)
    parts = [f"{title[:1].upper()}{title[1:]}: predicted against true" if title else "Predicted against true"]
    parts.append(f"{several(len(true), 'test graph')}{', ' + shown if shown else ''}")
    if len(kept) < len(true):
        parts.append(f"{len(kept):,} are drawn: the tenth furthest off, and others evenly")
    if not finite.all():
        parts.append(f"{several(int((~finite).sum()), 'value')} not finite")
    error = float(np.abs(predicted - true).mean())
    parts.append(f"mean absolute error {number(error)} in the units of the plot")
    label = f"predicted against true{', ' + title if title else ''}"
    return Figure(f"scatter-{k}", label, "; ".join(parts) + ".", plot.drawn(diagonal, dots), _SIZE, _SIZE)
