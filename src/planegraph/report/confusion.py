"""The confusion matrix of the test part: a row for each true class, a column for each predicted one, all trials counted together."""

from __future__ import annotations

import numpy as np

from ..runs.folder import Run
from .markup import Markup, join, tag
from .plot import COLOURS, Figure
from .texts import several

MOST_CLASSES = 20
"""Beyond these the page shows the table by class only."""

_LEFT, _TOP, _CELLS, _BELOW = 62, 14, 360, 50


def counts(run: Run) -> np.ndarray:
    """(classes, classes) counts; empty before the first trial is tested."""
    if not run.tests:
        return np.zeros((0, 0), np.int64)
    predicted = np.concatenate([t.predicted for t in run.tests.values()])
    true = np.concatenate([t.true.reshape(len(t.id), -1)[:, 0] for t in run.tests.values()])
    if run.kind == "multiclass":
        said, true = predicted.argmax(1), true.astype(np.int64)
        classes = max(predicted.shape[1], int(true.max(initial=0)) + 1)
    else:  # logits of the positive class
        said, true, classes = (predicted[:, 0] > 0).astype(np.int64), (true > 0.5).astype(np.int64), 2
    matrix = np.zeros((classes, classes), np.int64)
    np.add.at(matrix, (true, said), 1)
    return matrix


def confusion(run: Run, colour: str = COLOURS[0]) -> list[Figure]:
    """The matrix as a figure, if there are not too many classes."""
    matrix = counts(run)
    classes = len(matrix)
    if not 0 < classes <= MOST_CLASSES:
        return []
    cell = _CELLS / classes
    marks = [_cell(matrix, i, j, cell, colour) for i in range(classes) for j in range(classes)]
    for k in range(classes):
        middle = (k + 0.5) * cell
        marks.append(tag("text", k, x=f"{_LEFT + middle:.1f}", y=_TOP + _CELLS + 18, text_anchor="middle"))
        marks.append(tag("text", k, x=_LEFT - 7, y=f"{_TOP + middle + 4.5:.1f}", text_anchor="end"))
    middle = _TOP + _CELLS / 2
    marks.append(tag("text", "predicted class", x=_LEFT + _CELLS / 2, y=_TOP + _CELLS + 40, text_anchor="middle"))
    marks.append(tag("text", "true class", x=15, y=middle, text_anchor="middle", transform=f"rotate(-90 15 {middle})"))
    right, trials = int(matrix.trace()), len(run.tests)
    of = f" of {several(trials, 'trial')}" if trials > 1 else ""
    caption = f"Confusion matrix of the test part{of}: {right:,} of {several(int(matrix.sum()), 'graph')} right."
    width, height = _LEFT + _CELLS + 14, _TOP + _CELLS + _BELOW
    return [Figure("confusion", "confusion matrix of the test part", caption, join(*marks), width, height)]


def by_class(matrix: np.ndarray) -> list[tuple[str, ...]]:
    """For each class: its number, graphs, how many were found, recall and precision."""
    rows: list[tuple[str, ...]] = []
    for k, row in enumerate(matrix):
        right, graphs, said = int(row[k]), int(row.sum()), int(matrix[:, k].sum())
        rows.append((str(k), f"{graphs:,}", f"{right:,}", _share(right, graphs), _share(right, said)))
    return rows


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _cell(matrix: np.ndarray, i: int, j: int, cell: float, colour: str) -> Markup:
    share = matrix[i, j] / max(1, matrix[i].sum())
    x, y = _LEFT + j * cell, _TOP + i * cell
    at = {"x": f"{x:.1f}", "y": f"{y:.1f}", "width": f"{cell:.1f}", "height": f"{cell:.1f}"}
    box = tag("rect", **at, fill=colour, fill_opacity=f"{0.85 * share:.3f}", stroke="currentColor", stroke_opacity=0.2)
    if matrix[i, j] == 0:
        return box
    place = {"x": f"{x + cell / 2:.1f}", "y": f"{y + cell / 2 + 4:.1f}"}
    return join(box, tag("text", int(matrix[i, j]), **place, text_anchor="middle", font_size=f"{min(13.0, cell * 0.45):.1f}"))
