"""The figures by which predictions are judged, for one target or the mean of several, and split-conformal intervals. NumPy only.

A metric is a function ``(true, predicted) -> float`` in float64 over the observed values of one target, every graph counted once.
``predicted`` has shape (n,) for regression and binary targets, where it is the probability of class 1, and (n, classes) for a
multiclass target. A metric that its values leave undefined is NaN: all are without any values, and each docstring says when else.

Wrong input is an error rather than a NaN, so that a mean over targets cannot hide it: other shapes, a NaN among the values, labels
that are not a class, or logits where probabilities belong.

Ranks sort, in O(n log n); everything else is O(n), or O(n classes).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf, nan, sqrt
from typing import Any

import numpy as np

from ..errors import PlanegraphError

EPSILON = float(np.finfo(np.float64).eps)
"""A log loss takes probabilities as at least this, and at most one minus it."""

BINS = 10
"""The calibration error's bins of equal width."""

ROUNDING = 1e-6
"""How far outside [0, 1] a probability may be, as the float32 mean of an ensemble can."""


@dataclass(frozen=True)
class Metric:
    """A figure, how it is titled in a table, and which direction is better."""

    name: str
    title: str
    lower_is_better: bool
    function: Callable[[np.ndarray, np.ndarray], float]


def mae(true: np.ndarray, predicted: np.ndarray) -> float:
    """The mean absolute error.

    >>> mae(np.array([1.0, 2.0]), np.array([1.5, 2.0]))
    0.25
    """
    true, predicted = _values(true, predicted)
    return _mean(np.abs(true - predicted))


def rmse(true: np.ndarray, predicted: np.ndarray) -> float:
    """The root of the mean squared error.

    >>> rmse(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 2.0, 3.0, 6.0]))
    1.0
    """
    true, predicted = _values(true, predicted)
    return sqrt(_mean((true - predicted) ** 2))


def r2(true: np.ndarray, predicted: np.ndarray) -> float:
    """The share of the variance that is explained: 1 - sum (true - predicted)² / sum (true - mean)². It may be negative.

    NaN for fewer than two values, and where the truth is constant.

    >>> r2(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 2.0]))
    0.5
    """
    true, predicted = _values(true, predicted)
    if _constant(true):
        return nan
    return float(1 - ((true - predicted) ** 2).sum() / ((true - true.mean()) ** 2).sum())


def spearman(true: np.ndarray, predicted: np.ndarray) -> float:
    """Spearman's rank correlation, where ties share their mean rank. NaN if either side is constant, as a single value is.

    >>> spearman(np.array([1.0, 2.0, 3.0]), np.array([10.0, 30.0, 20.0]))
    0.5
    """
    true, predicted = _values(true, predicted)
    if _constant(true) or _constant(predicted):
        return nan
    a, b = (ranks - (len(ranks) + 1) / 2 for ranks in (_ranks(true), _ranks(predicted)))
    return float(a @ b / sqrt((a @ a) * (b @ b)))


def rocauc(true: np.ndarray, predicted: np.ndarray) -> float:
    """The probability that a positive scores higher than a negative, ties counting half. Any score will do, as only order matters.

    NaN unless both classes occur.

    >>> rocauc(np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.4, 0.8]))
    0.875
    """
    true, predicted = _scores(true, predicted)
    if _constant(true):
        return nan
    p = true.sum()
    return float((_ranks(predicted)[true == 1].sum() - p * (p + 1) / 2) / (p * (len(true) - p)))


def prauc(true: np.ndarray, predicted: np.ndarray) -> float:
    """The average precision: the precision at each threshold, weighted by the recall gained there. Any score will do.

    NaN unless both classes occur.

    >>> prauc(np.array([0, 1, 0, 1]), np.array([0.1, 0.4, 0.6, 0.8]))
    0.8333333333333333
    """
    true, predicted = _scores(true, predicted)
    if _constant(true):
        return nan
    _, group, counts = np.unique(-predicted, return_inverse=True, return_counts=True)  # ties enter at the same threshold
    positives = np.bincount(group, weights=true)
    return float(positives @ (positives.cumsum() / counts.cumsum()) / true.sum())


def accuracy(true: np.ndarray, predicted: np.ndarray) -> float:
    """The share of graphs whose class is predicted: the most probable one, or class 1 above one half.

    >>> accuracy(np.array([0, 1, 1]), np.array([0.2, 0.5, 0.9])) == 2 / 3
    True
    >>> accuracy(np.array([2, 0]), np.array([[0.1, 0.2, 0.7], [0.3, 0.4, 0.3]]))
    0.5
    """
    true, predicted = _probabilities(true, predicted)
    return _mean(true == _labels(predicted))


def f1(true: np.ndarray, predicted: np.ndarray) -> float:
    """F1 = 2 TP / (2 TP + FP + FN), with classes predicted as in :func:`accuracy`.

    Binary: the F1 of class 1, and NaN if class 1 is neither found nor predicted. Multiclass: the mean over the classes that
    occur among the true or the predicted ones.

    >>> f1(np.array([0, 1, 1]), np.array([0.2, 0.3, 0.9])) == 2 / 3
    True
    >>> f1(np.array([2, 0]), np.array([[0.1, 0.2, 0.7], [0.3, 0.4, 0.3]])) == 1 / 3
    True
    """
    true, predicted = _probabilities(true, predicted)
    labels = _labels(predicted)
    scored = slice(1, 2) if predicted.ndim == 1 else slice(predicted.shape[1])
    hits, found, guessed = (np.bincount(of, minlength=scored.stop)[scored] for of in (true[true == labels], true, labels))
    occurs = found + guessed > 0
    return _mean(2 * hits[occurs] / (found + guessed)[occurs])


def logloss(true: np.ndarray, predicted: np.ndarray) -> float:
    """The mean of -log of the true class's probability, which is clipped to [EPSILON, 1 - EPSILON].

    >>> round(logloss(np.array([0, 1]), np.array([0.5, 0.5])), 4)
    0.6931
    >>> round(logloss(np.array([2, 0]), np.array([[0.25, 0.25, 0.5], [0.5, 0.25, 0.25]])), 4)
    0.6931
    """
    true, predicted = _probabilities(true, predicted)
    given = np.where(true == 1, predicted, 1 - predicted) if predicted.ndim == 1 else predicted[np.arange(len(true)), true]
    return _mean(-np.log(given.clip(EPSILON, 1 - EPSILON)))


def calibration(true: np.ndarray, predicted: np.ndarray) -> float:
    """The expected calibration error: |mean probability - frequency of class 1| in each bin, weighted by the bin's size.

    The bins are [0, 0.1], (0.1, 0.2], ..., (0.9, 1].

    >>> calibration(np.array([0, 1, 1, 1]), np.array([0.5, 0.5, 0.5, 0.5]))
    0.25
    """
    true, predicted = _scores(true, predicted)
    _check_range(predicted)
    if not len(true):
        return nan
    bins = np.searchsorted(np.linspace(0, 1, BINS + 1)[1:-1], predicted)
    return float(np.abs(np.bincount(bins, weights=predicted - true)).sum() / len(true))  # size * |mean - mean| = |sum - sum|


_ACCURACY = Metric("accuracy", "Accuracy", False, accuracy)
_F1 = Metric("f1", "F1", False, f1)
_LOGLOSS = Metric("logloss", "Log loss", True, logloss)

METRICS: dict[str, dict[str, Metric]] = {
    kind: {metric.name: metric for metric in metrics}
    for kind, metrics in {
        "regression": (
            Metric("mae", "MAE", True, mae),
            Metric("rmse", "RMSE", True, rmse),
            Metric("r2", "R²", False, r2),
            Metric("spearman", "Spearman", False, spearman),
        ),
        "binary": (
            Metric("rocauc", "ROC-AUC", False, rocauc),
            Metric("prauc", "PR-AUC", False, prauc),
            _ACCURACY,
            _F1,
            _LOGLOSS,
            Metric("calibration", "Calibration error", True, calibration),
        ),
        "multiclass": (_ACCURACY, _F1, _LOGLOSS),
    }.items()
}
"""The metrics by kind of task and by name."""


def metrics_of(kind: str) -> dict[str, Metric]:
    """The metrics of a kind of task by name.

    >>> list(metrics_of("multiclass"))
    ['accuracy', 'f1', 'logloss']
    """
    if kind not in METRICS:
        raise PlanegraphError(f"metrics: kind is one of {', '.join(METRICS)}; found {kind!r}")
    return METRICS[kind]


def error_of(metric: Metric, value: Any) -> Any:
    """A value, or an array of them, as an error, lower is better: itself, or one minus it.

    >>> error_of(metrics_of("binary")["rocauc"], 0.75), error_of(metrics_of("regression")["mae"], 0.75)
    (0.25, 0.75)
    """
    return value if metric.lower_is_better else 1 - value


def figures(kind: str, true: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """All metrics of a kind for one target. Where ``true`` is missing, NaN or for a class -1, the row is left out.

    >>> figures("regression", np.array([1.0, np.nan, 3.0]), np.array([1.0, 5.0, 2.0]))["mae"]
    0.5
    """
    metrics = metrics_of(kind)
    true, predicted = _observed(kind, true, predicted)
    return {name: metric.function(true, predicted) for name, metric in metrics.items()}


def figures_by_name(kind: str, names: Sequence[str], true: np.ndarray, predicted: np.ndarray) -> dict[str, dict[str, float]]:
    """All metrics of each target by its name, where ``true`` has shape (n, targets) and ``predicted`` (n, targets) or (n, classes).

    >>> figures_by_name("regression", ["a"], np.array([[1.0], [3.0]]), np.array([[1.0], [2.0]]))["a"]["mae"]
    0.5
    """
    columns = _columns(kind, true, predicted)
    return {name: figures(kind, *column) for name, column in zip(names, columns, strict=True)}


def mean_over_folds(folds: Sequence[Mapping[str, Mapping[str, float]]]) -> dict[str, dict[str, float | None]]:
    """The mean of each figure of each target over the folds that define it; None if none does.

    >>> mean_over_folds([{"a": {"mae": 1.0, "r2": nan}}, {"a": {"mae": 2.0, "r2": nan}}])
    {'a': {'mae': 1.5, 'r2': None}}
    """
    found: dict[str, dict[str, float | None]] = {}
    for name, first in folds[0].items():
        columns = {metric: np.array([fold[name][metric] for fold in folds]) for metric in first}
        kept = {metric: values[~np.isnan(values)] for metric, values in columns.items()}
        found[name] = {metric: float(values.mean()) if len(values) else None for metric, values in kept.items()}
    return found


def mean_figure(kind: str, name: str, true: np.ndarray, predicted: np.ndarray) -> float:
    """The mean over targets of one metric, where both arrays have shape (n, targets), or (n,) for a single target.

    Values are missing as in :func:`figures`. Targets for which the metric is undefined are left out; NaN if it is for all. A
    multiclass task has one target: ``true`` has shape (n,) or (n, 1), and ``predicted`` (n, classes).

    >>> mean_figure("binary", "rocauc", np.array([[0, 1], [1, 1]]), np.array([[0.2, 0.2], [0.7, 0.1]]))
    1.0
    """
    metric = metrics_of(kind).get(name)
    if metric is None:
        raise PlanegraphError(f"metrics: with kind={kind!r}, a metric is one of {', '.join(METRICS[kind])}; found {name!r}")
    found = np.array([metric.function(*_observed(kind, *column)) for column in _columns(kind, true, predicted)])
    return _mean(found[~np.isnan(found)])


def interval_quantile(residuals: np.ndarray, coverage: float) -> float:
    """The half width of split-conformal intervals: the ceil((n + 1) coverage)-th smallest of n absolute residuals.

    With the residuals of n graphs that were not trained on, prediction ± this covers the truth of a further exchangeable graph
    with probability at least ``coverage``. It is inf where n is too small for that, below coverage / (1 - coverage).

    >>> interval_quantile(np.array([-3.0, 1.0, 2.0, -4.0]), 0.8), interval_quantile(np.array([1.0, 2.0]), 0.8)
    (4.0, inf)
    """
    residuals = np.abs(np.asarray(residuals, np.float64)).reshape(-1)
    if not 0 < coverage < 1:
        raise PlanegraphError(f"interval_quantile: coverage is above 0 and below 1, such as 0.9; found {coverage!r}")
    _check_no_nan("residuals", residuals)
    rank = max(1, ceil((len(residuals) + 1) * coverage - 1e-9))  # 100 * 0.55 is a little more than 55, and means 55
    return inf if rank > len(residuals) else float(np.partition(residuals, rank - 1)[rank - 1])


def _values(true: np.ndarray, predicted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both sides in float64, checked: of one shape (n,), and without NaN."""
    true, predicted = np.asarray(true, np.float64), np.asarray(predicted, np.float64)
    if true.ndim != 1 or true.shape != predicted.shape:
        raise PlanegraphError(
            f"metrics: true and predicted have the same shape (n,), for one target; found {true.shape} and {predicted.shape}"
        )
    _check_no_nan("true", true)
    _check_no_nan("predicted", predicted)
    return true, predicted


def _scores(true: np.ndarray, predicted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels 0 or 1 and their scores, checked as in :func:`_values`."""
    true, predicted = _values(true, predicted)
    _check_classes(true, 2)
    return true, predicted


def _probabilities(true: np.ndarray, predicted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Classes as integers, and probabilities of class 1 or, with a second axis, of every class; both checked."""
    true, predicted = np.asarray(true), np.asarray(predicted, np.float64)
    if predicted.ndim == 1:
        true, predicted = _scores(true, predicted)
    elif predicted.ndim != 2 or true.shape != predicted.shape[:1]:
        raise PlanegraphError(
            "metrics: true has shape (n,), and predicted (n,) for a binary or (n, classes) for a multiclass target; "
            f"found {true.shape} and {predicted.shape}"
        )
    else:
        _check_no_nan("predicted", predicted)
        _check_classes(true, predicted.shape[1])
    _check_range(predicted)
    return true.astype(np.int64), predicted


def _check_no_nan(what: str, values: np.ndarray) -> None:
    bad = np.argwhere(np.isnan(values))
    if len(bad):
        raise PlanegraphError(
            f"metrics: {what} must be numbers; found {len(bad)} NaN of {values.size}, the first in row {bad[0, 0]}. "
            "Missing true values are left out by figures and mean_figure; NaN in predictions comes from the model"
        )


def _check_classes(true: np.ndarray, classes: int) -> None:
    bad = np.flatnonzero(~np.isin(true, np.arange(classes)))
    if len(bad):
        raise PlanegraphError(
            f"metrics: true is a class from 0 to {classes - 1}; found {true[bad[0]]} in row {bad[0]}. "
            "Missing classes are left out by figures and mean_figure"
        )


def _check_range(predicted: np.ndarray) -> None:
    bad = np.argwhere((predicted < -ROUNDING) | (predicted > 1 + ROUNDING))
    if len(bad):
        raise PlanegraphError(
            f"metrics: predicted is a probability from 0 to 1; found {predicted[tuple(bad[0])]} in row {bad[0, 0]}. "
            "Apply a sigmoid or softmax to logits"
        )


def _observed(kind: str, true: np.ndarray, predicted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows of one target whose truth is not missing; shapes that do not fit are left to the metrics to refuse."""
    true, predicted = np.asarray(true, np.float64), np.asarray(predicted)
    if true.ndim != 1 or true.shape != predicted.shape[:1]:
        return true, predicted
    seen = ~np.isnan(true)
    if kind == "multiclass":
        seen &= true != -1
    return true[seen], predicted[seen]


def _columns(kind: str, true: np.ndarray, predicted: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """(true, predicted) of each target."""
    true, predicted = np.asarray(true), np.asarray(predicted)
    if kind == "multiclass":
        return [(true[:, 0] if true.ndim == 2 and true.shape[1] == 1 else true, predicted)]
    if true.shape != predicted.shape or true.ndim not in (1, 2):
        raise PlanegraphError(
            f"metrics: true and predicted have the same shape (n, targets) or (n,); found {true.shape} and {predicted.shape}"
        )
    return [(true, predicted)] if true.ndim == 1 else list(zip(true.T, predicted.T, strict=True))


def _labels(predicted: np.ndarray) -> np.ndarray:
    """The predicted classes; of equally probable ones the first."""
    return (predicted > 0.5).astype(np.int64) if predicted.ndim == 1 else predicted.argmax(1)


def _ranks(values: np.ndarray) -> np.ndarray:
    """
    >>> _ranks(np.array([5.0, 2.0, 5.0, 1.0]))
    array([3.5, 2. , 3.5, 1. ])
    """
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[inverse]


def _constant(values: np.ndarray) -> bool:
    """Whether there are not two different values; a variance would not do, as the mean of equal values may be rounded."""
    return bool((values == values[:1]).all())


def _mean(values: np.ndarray) -> float:
    """The mean; NaN, without a warning, if there are no values."""
    return float(values.mean()) if len(values) else nan
