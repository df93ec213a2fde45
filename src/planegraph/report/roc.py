"""ROC curves: for each trial the share of positives found against the share of negatives taken for positive, over all thresholds."""

from __future__ import annotations

import numpy as np

from ..runs.folder import Run
from .axes import linear
from .plot import COLOURS, Figure, Plot
from .texts import several
from .thin import thin_evenly

POINTS = 3000
_SIZE = 430


def roc_curve(scores: np.ndarray, positive: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """False and true positive rates at all thresholds, from (0, 0) to (1, 1); equal scores are one step. O(n log n).

    >>> [v.tolist() for v in roc_curve(np.array([0.9, 0.8, 0.8, 0.1]), np.array([1, 0, 1, 0]))]
    [[0.0, 0.0, 0.5, 1.0], [0.0, 0.5, 1.0, 1.0]]
    """
    order = np.argsort(-scores, kind="stable")
    scores, positive = scores[order], np.asarray(positive)[order] > 0.5
    ends = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1)
    rates = []
    for which in (~positive, positive):
        found = np.cumsum(which)[ends]
        rates.append(np.concatenate([[0.0], found / max(1, which.sum())]))
    return rates[0], rates[1]


def roc(run: Run, colour: str = COLOURS[0]) -> list[Figure]:
    """One figure with a curve for each trial; of several targets, the first."""
    if not run.tests:
        return []
    axis = linear(0.0, 1.0)
    plot = Plot(axis, axis, "false positive rate", "true positive rate", _SIZE, _SIZE)
    marks = [plot.line([0, 1], [0, 1], "currentColor", 1, stroke_opacity=0.5, stroke_dasharray="4 4")]
    most, thick = max(100, POINTS // len(run.tests)), 1.0 if len(run.tests) > 1 else 2.0
    graphs = positives = 0
    for test in run.tests.values():
        true = test.true.reshape(len(test.id), -1)[:, 0]
        x, y = roc_curve(test.predicted[:, 0].astype(np.float64), true)
        kept = thin_evenly(len(x), most)
        marks.append(plot.line(x[kept], y[kept], colour, thick, stroke_opacity=0.7))
        graphs, positives = graphs + len(true), positives + int((true > 0.5).sum())
    caption = f"ROC curve{'s, one for each trial' if len(run.tests) > 1 else ''}; {several(graphs, 'prediction')}, {positives:,} positive."
    return [Figure("roc", "ROC curve on the test part", caption, plot.drawn(*marks), _SIZE, _SIZE)]
