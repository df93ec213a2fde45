"""Figures of the predictions on the test part: scatter plots and residuals, ROC and calibration curves, confusion matrices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ..io.text import counted
from ..runs.folder import Predictions, Run
from ..tasks.metrics import BINS
from .axes import axis_for, linear, padded
from .formatting import number
from .page import Table
from .plot import SQUARE, Figure, Plot, join, tag

POINTS = 3000
"""In all plots of a kind on a page together, about."""

MOST_CLASSES = 20
"""Confusion matrices of more classes are not drawn."""

Pair = tuple[np.ndarray, np.ndarray]


def run_figures(run: Run, colour: str) -> list[Figure]:
    """The figures that suit the run's kind of task; none before its first trial is tested."""
    if not run.tests:
        return []
    if run.kind == "regression":
        return _scatters(run, colour)
    tests = [(t.predicted[:, 0].astype(np.float64), _first_column(t)) for t in run.tests.values()]
    curves = [roc(tests, colour)] if run.metric == "rocauc" else []
    return [*curves, *confusion(counts(run.tests.values(), run.kind == "multiclass"), len(run.tests), colour, run.level)]


# ---- regression ---------------------------------------------------------------------------------------------------------------------


def _scatters(run: Run, colour: str) -> list[Figure]:
    """A plot for each target, of the typical seed, or of all folds together, as they test different graphs."""
    shown, tests = typical_seed(run)
    predicted = np.concatenate([t.predicted for t in tests.values()]).astype(np.float64)
    true = np.concatenate([t.true.reshape(len(t.id), -1) for t in tests.values()]).astype(np.float64)
    targets = predicted.shape[1]
    names, what = [f"target {k}" if targets > 1 else "" for k in range(targets)], counted(len(true), f"test {run.level}") + shown
    return [scatter(k, names[k], what, true[:, k], predicted[:, k], POINTS // targets, colour) for k in range(targets)]


def typical_seed(run: Run) -> tuple[str, Mapping[str, Predictions]]:
    """The tests of the seed with the median test figure (the lower of two; the first seed of an unfinished run), and its name."""
    by_seed: dict[str, dict[str, Predictions]] = {}
    for name, test in run.tests.items():
        by_seed.setdefault(name.partition("-")[0], {})[name] = test
    if len(by_seed) < 2:
        return "", next(iter(by_seed.values()))
    found: dict[str, list[float]] = {}
    for trial in run.result["trials"] if run.result else []:
        found.setdefault(f"seed{trial['seed']}", []).append(trial["test"])
    ranked = sorted((name for name in by_seed if name in found), key=lambda name: float(np.mean(found[name])))
    name = ranked[(len(ranked) - 1) // 2] if ranked else next(iter(by_seed))
    return f", seed {name.removeprefix('seed')}{', the median of the seeds' if ranked else ''}", by_seed[name]


def scatter(k: int, target: str, what: str, true: np.ndarray, predicted: np.ndarray, most: int, colour: str) -> Figure:
    """Predicted against true; ``what``: the data, for the caption."""
    finite = np.isfinite(true) & np.isfinite(predicted)
    kept = np.flatnonzero(finite)[thin_scatter(true[finite], predicted[finite], most)]
    axis = padded(axis_for([*true[kept], *predicted[kept]], log=False))
    plot = Plot(axis, axis, "true", "predicted", SQUARE, SQUARE)
    parts = [f"{target}: predicted against true" if target else "Predicted against true", what]
    if len(kept) < len(true):
        parts.append(f"{len(kept):,} are drawn: the tenth furthest off, and others evenly")
    if not finite.all():
        parts.append(f"{counted(int((~finite).sum()), 'value')} not finite")
    parts.append(f"mean absolute error {number(float(np.abs(predicted - true).mean()))} in the units of the plot")
    label = f"predicted against true{', ' + target if target else ''}"
    dots = plot.dots(true[kept], predicted[kept], colour, 3.4, stroke_opacity=0.55)
    return plot.figure(f"scatter-{k}", label, "; ".join(parts) + ".", plot.diagonal(), dots)


def residuals(
    k: int, target: str, true: np.ndarray, predicted: np.ndarray, most: int, colour: str, interval: Mapping[str, float | None]
) -> Figure:
    """Predicted - true against predicted, with the interval as dashed lines if there is one."""
    shown, off, half = thin_scatter(true, predicted, most), predicted - true, interval.get("half_width")
    ends = [] if half is None else [-half, half]
    x, y = padded(axis_for(predicted, log=False)), padded(axis_for([0.0, *off, *ends], log=False))
    plot = Plot(x, y, "predicted", "predicted - true", SQUARE, SQUARE)
    marks = [plot.guide([x.low, x.high], [0, 0])]
    marks += [plot.guide([x.low, x.high], [end, end], stroke_dasharray="4 4") for end in ends]
    marks.append(plot.dots(predicted[shown], off[shown], colour, 3.4, stroke_opacity=0.55))
    caption = f"{target}: residuals; mean {number(float(off.mean()))}, standard deviation {number(float(off.std()))}"
    if half is not None and interval.get("test_coverage") is not None:
        covered = f"{interval['test_coverage']:.0%} of the test values"
        caption += f"; dashed: the {interval['coverage']:.0%} interval, ± {number(half)}, which covers {covered}"
    return plot.figure(f"residuals-{k}", f"residuals, {target}", caption + ".", *marks)


def thin_scatter(true: np.ndarray, predicted: np.ndarray, most: int) -> np.ndarray:
    """The positions of at most ``most`` (but 300 or more) points, increasing: a tenth are those furthest from the diagonal, the others
    are spread evenly by true value."""
    n, most = len(true), max(300, most)
    if n <= most:
        return np.arange(n)
    worst = np.argsort(-np.abs(predicted - true), kind="stable")[: most // 10]
    others = np.setdiff1d(np.arange(n), worst)
    others = others[np.argsort(true[others], kind="stable")]
    return np.sort(np.concatenate([worst, others[_evenly(len(others), most - len(worst))]]))


def _evenly(n: int, most: int) -> np.ndarray:
    """At most ``most`` of n positions, evenly, with both ends."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(int))


# ---- classification -----------------------------------------------------------------------------------------------------------------


def roc(tests: Sequence[Pair], colour: str, name: str = "roc", target: str = "") -> Figure:
    """ROC curves, one for each (scores, answers): the true positive rate against the false positive rate, over all thresholds."""
    axis = linear(0.0, 1.0)
    plot = Plot(axis, axis, "false positive rate", "true positive rate", SQUARE, SQUARE)
    marks = [plot.diagonal()]
    for scores, answers in tests:
        x, y = roc_curve(scores, answers)
        kept = _evenly(len(x), max(100, POINTS // len(tests)))
        marks.append(plot.line(x[kept], y[kept], colour, 1.0 if len(tests) > 1 else 2.0, stroke_opacity=0.7))
    count, positives = (sum(sizes) for sizes in zip(*((len(a), int((a > 0.5).sum())) for _, a in tests), strict=True))
    curves = "ROC curves, one for each trial" if len(tests) > 1 else "ROC curve"
    caption = f"{target + ': ' if target else ''}{curves}; {counted(count, 'prediction')}, {positives:,} positive."
    return plot.figure(name, f"ROC curve{', ' + target if target else ' on the test part'}", caption, *marks)


def roc_curve(scores: np.ndarray, positive: np.ndarray) -> Pair:
    """False and true positive rates at all thresholds, from (0, 0) to (1, 1); equal scores are one step. O(n log n).

    >>> [v.tolist() for v in roc_curve(np.array([0.9, 0.8, 0.8, 0.1]), np.array([1, 0, 1, 0]))]
    [[0.0, 0.0, 0.5, 1.0], [0.0, 0.5, 1.0, 1.0]]
    """
    order = np.argsort(-scores, kind="stable")
    scores, positive = scores[order], np.asarray(positive)[order] > 0.5
    ends = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1)
    x, y = (np.append(0.0, np.cumsum(which)[ends] / max(1, which.sum())) for which in (~positive, positive))
    return x, y


def calibration(k: int, target: str, true: np.ndarray, predicted: np.ndarray, colour: str) -> Figure:
    """The share of positives against the mean probability, in the bins of the calibration error, with 95 % Wilson intervals."""
    bins = np.searchsorted(np.linspace(0, 1, BINS + 1)[1:-1], predicted)
    count, positive, mean = (np.bincount(bins, weights=w, minlength=BINS) for w in (None, true, predicted))
    there = count > 0
    n, share, at = count[there], positive[there] / count[there], mean[there] / count[there]
    axis = linear(0.0, 1.0)
    plot = Plot(axis, axis, "predicted probability", "share of positives", SQUARE, SQUARE)
    bars = [plot.line([x, x], ends, colour, 1.2, stroke_opacity=0.6) for x, *ends in zip(at, *_wilson(share, n), strict=True)]
    caption = (
        f"{target}: calibration; share of positives against predicted probability in bins of equal width, {int(n.min()):,} to "
        f"{int(n.max()):,} molecules in each; bars: 95 % intervals."
    )
    marks = [plot.diagonal(), *bars, plot.line(at, share, colour, 1.6), plot.dots(at, share, colour, 7)]
    return plot.figure(f"calibration-{k}", f"calibration, {target}", caption, *marks)


def _wilson(share: np.ndarray, n: np.ndarray, z: float = 1.96) -> Pair:
    """
    >>> [round(float(end[0]), 3) for end in _wilson(np.array([0.5]), np.array([10]))]
    [0.237, 0.763]
    """
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return (middle - half).clip(0, 1), (middle + half).clip(0, 1)


def counts(tests: Iterable[Predictions], multiclass: bool) -> np.ndarray:
    """The confusion matrix of all tests together: a row for each true class, a column for each predicted one."""
    predicted, true = (np.concatenate(values) for values in zip(*((t.predicted, _first_column(t)) for t in tests), strict=True))
    if multiclass:
        said, true = predicted.argmax(1), true.astype(np.int64)
        classes = max(predicted.shape[1], int(true.max(initial=0)) + 1)
    else:  # logits of the positive class
        said, true, classes = (predicted[:, 0] > 0).astype(np.int64), (true > 0.5).astype(np.int64), 2
    matrix = np.zeros((classes, classes), np.int64)
    np.add.at(matrix, (true, said), 1)
    return matrix


def confusion(matrix: np.ndarray, trials: int, colour: str, noun: str = "graph", names: Sequence[str] = ()) -> list[Figure]:
    """A confusion matrix as a figure, unless it has too many classes."""
    classes, left, top, size = len(matrix), 62, 14, 360
    if classes > MOST_CLASSES:
        return []
    cell, marks = size / classes, []
    for i, row in enumerate(matrix):
        y = top + i * cell
        for j, count in enumerate(row):
            at = {"x": f"{left + j * cell:.1f}", "y": f"{y:.1f}", "width": f"{cell:.1f}", "height": f"{cell:.1f}"}
            fill = {"fill": colour, "fill_opacity": f"{0.85 * count / max(1, row.sum()):.3f}"}
            marks.append(tag("rect", **at, **fill, stroke="currentColor", stroke_opacity=0.2))
            if count:
                at = {"x": f"{left + (j + 0.5) * cell:.1f}", "y": f"{y + cell / 2 + 4:.1f}"}
                marks.append(tag("text", count, **at, text_anchor="middle", font_size=f"{min(13.0, cell * 0.45):.1f}"))
        marks.append(tag("text", i, x=f"{left + (i + 0.5) * cell:.1f}", y=top + size + 18, text_anchor="middle"))
        marks.append(tag("text", i, x=left - 7, y=f"{y + cell / 2 + 4.5:.1f}", text_anchor="end"))
    middle = top + size / 2
    marks.append(tag("text", "predicted class", x=left + size / 2, y=top + size + 40, text_anchor="middle"))
    marks.append(tag("text", "true class", x=15, y=middle, text_anchor="middle", transform=f"rotate(-90 15 {middle})"))
    of = f" of {counted(trials, 'trial')}" if trials > 1 else ""
    caption = f"Confusion matrix of the test part{of}: {int(matrix.trace()):,} of {counted(int(matrix.sum()), noun)} right."
    if names and list(names) != [str(k) for k in range(classes)]:
        caption += " Classes: " + ", ".join(f"{k} is {name}" for k, name in enumerate(names)) + "."
    label = "confusion matrix of the test part"
    return [Figure("confusion", label, caption, join(marks), left + size + 14, top + size + 50)]


def class_table(matrix: np.ndarray, names: Sequence[str] = (), noun: str = "graphs") -> Table:
    """Recall and precision of each class."""
    rows = []
    for k, row in enumerate(matrix):
        right, graphs, said = int(row[k]), int(row.sum()), int(matrix[:, k].sum())
        name = names[k] if names else str(k)
        rows.append((name, f"{graphs:,}", f"{right:,}", *(f"{100 * right / of:.1f} %" if of else "-" for of in (graphs, said))))
    return Table(("class", noun, "found", "recall", "precision"), rows)


def _first_column(test: Predictions) -> np.ndarray:
    return test.true.reshape(len(test.id), -1)[:, 0]
