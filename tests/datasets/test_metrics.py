"""The metrics agree with scikit-learn where they are defined, are NaN where they are not, and conformal intervals cover."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from math import ceil, inf, isnan, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn import metrics as oracle
from sklearn.calibration import calibration_curve

from planegraph.errors import PlanegraphError
from planegraph.tasks import metrics
from planegraph.tasks.checks import KINDS
from planegraph.tasks.metrics import METRICS, error_of, figures, interval_quantile, mean_figure, metrics_of

VALUES = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e3, 1e3).map(lambda x: round(x, 3)))
CHANCES = st.one_of(st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.7, 1.0]), st.floats(0, 1))


def pairs(true, predicted):
    """One to thirty rows as two arrays; small domains, so that ties and constant sides occur."""
    rows = st.lists(st.tuples(true, predicted), min_size=1, max_size=30)
    return rows.map(lambda found: tuple(np.array(side, np.float64) for side in zip(*found, strict=True)))


NUMBERS = pairs(VALUES, VALUES)
COINS = pairs(st.integers(0, 1), CHANCES)


@st.composite
def many_classes(draw):
    """Classes and the rows of their probabilities, where some classes may not occur, and some rows tie."""
    classes, n = draw(st.integers(2, 5)), draw(st.integers(1, 20))
    weights = np.array(draw(st.lists(st.integers(0, 4), min_size=n * classes, max_size=n * classes)), np.float64).reshape(
        n, classes
    )
    weights[weights.sum(1) == 0] = 1
    return np.array(draw(st.lists(st.integers(0, classes - 1), min_size=n, max_size=n))), weights / weights.sum(1, keepdims=True)


def same(found: float, expected: float) -> bool:
    assert type(found) is float
    return (isnan(found) and isnan(expected)) or found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def differs(values: np.ndarray) -> bool:
    return len(set(values.tolist())) > 1


# against scikit-learn


@given(NUMBERS)
def test_errors_are_those_of_scikit_learn(pair):
    assert same(metrics.mae(*pair), oracle.mean_absolute_error(*pair))
    assert same(metrics.rmse(*pair), oracle.mean_squared_error(*pair) ** 0.5)


@given(NUMBERS)
def test_r2_is_that_of_scikit_learn(pair):
    assert same(metrics.r2(*pair), oracle.r2_score(*pair) if differs(pair[0]) else nan)


@given(NUMBERS)
def test_spearman_is_that_of_scipy(pair):
    assert same(metrics.spearman(*pair), spearmanr(*pair).statistic if all(map(differs, pair)) else nan)


@given(COINS)
def test_areas_are_those_of_scikit_learn(pair):
    both = differs(pair[0])
    assert same(metrics.rocauc(*pair), oracle.roc_auc_score(*pair) if both else nan)
    assert same(metrics.prauc(*pair), oracle.average_precision_score(*pair) if both else nan)


@given(COINS)
def test_binary_classes_are_those_of_scikit_learn(pair):
    true, labels = pair[0], pair[1] > 0.5
    occurs = true.any() or labels.any()
    assert same(metrics.accuracy(*pair), oracle.accuracy_score(true, labels))
    assert same(metrics.f1(*pair), oracle.f1_score(true, labels, zero_division=0) if occurs else nan)
    assert same(metrics.logloss(*pair), oracle.log_loss(*pair, labels=[0, 1]))


@given(COINS)
def test_calibration_is_the_gap_of_scikit_learns_curve(pair):
    true, predicted = pair
    frequency, confidence = calibration_curve(true, predicted, n_bins=10)
    sizes = [int(((predicted > low) & (predicted <= high)).sum()) for low, high in edges()]
    weights = np.array([size for size in sizes if size]) / len(true)
    assert same(metrics.calibration(true, predicted), float(weights @ np.abs(frequency - confidence)))


def edges() -> list[tuple[float, float]]:
    """The bins (low, high] of the calibration error; the first holds zero too."""
    ends = np.linspace(0, 1, 11)
    return list(zip([-1.0, *ends[1:-1]], ends[1:], strict=True))


@given(many_classes())
def test_multiclass_figures_are_those_of_scikit_learn(pair):
    true, predicted = pair
    labels, classes = predicted.argmax(1), range(predicted.shape[1])
    assert same(metrics.accuracy(*pair), oracle.accuracy_score(true, labels))
    assert same(metrics.f1(*pair), oracle.f1_score(true, labels, average="macro", zero_division=0))
    assert same(metrics.logloss(*pair), oracle.log_loss(true, predicted, labels=list(classes)))


@pytest.mark.parametrize("ties", [False, True])
def test_many_rows_are_as_in_scikit_learn(ties):
    rng = np.random.default_rng(0)
    true = rng.integers(0, 2, 20_000)
    scores = (true + 2 * rng.random(20_000)) / 3
    scores = scores.round(1) if ties else scores
    assert same(metrics.rocauc(true, scores), oracle.roc_auc_score(true, scores))
    assert same(metrics.prauc(true, scores), oracle.average_precision_score(true, scores))
    assert same(metrics.spearman(true, scores), spearmanr(true, scores).statistic)


# properties


@given(COINS)
def test_areas_take_any_score(pair):
    true, predicted = pair
    scores = predicted.round(3) * 8 - 4
    assert same(metrics.rocauc(true, scores), metrics.rocauc(true, predicted.round(3)))
    assert same(metrics.prauc(true, scores), metrics.prauc(true, predicted.round(3)))


@given(st.sampled_from(["regression", "binary"]), st.data())
def test_order_of_rows_does_not_matter(kind, data):
    pair = data.draw(NUMBERS if kind == "regression" else COINS)
    order = data.draw(st.permutations(range(len(pair[0]))))
    mixed = figures(kind, *(side[order] for side in pair))
    assert all(same(mixed[name], value) for name, value in figures(kind, *pair).items())


@pytest.mark.parametrize("kind", METRICS)
def test_a_perfect_prediction_has_no_error(kind):
    true = np.array([0, 1, 1, 0, 1])
    predicted = np.eye(2)[true] if kind == "multiclass" else true.astype(float)
    for name, value in figures(kind, true, predicted).items():
        assert error_of(METRICS[kind][name], value) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("kind", METRICS)
def test_float32_is_computed_in_float64(kind):
    rng = np.random.default_rng(1)
    predicted = rng.random((50, 2) if kind == "multiclass" else 50).astype(np.float32)
    true = rng.integers(0, 2, 50)
    assert figures(kind, true, predicted) == figures(kind, true.astype(np.float64), predicted.astype(np.float64))


def test_a_certain_mistake_costs_a_finite_log_loss():
    assert metrics.logloss(np.array([1]), np.array([0.0])) == pytest.approx(-np.log(metrics.EPSILON))


def test_one_half_is_class_0():
    assert metrics.accuracy(np.array([0]), np.array([0.5])) == 1


# undefined


@pytest.mark.parametrize("kind", METRICS)
@pytest.mark.filterwarnings("error")
def test_no_values_give_nan(kind):
    found = figures(kind, np.empty(0), np.empty((0, 3) if kind == "multiclass" else 0))
    assert list(found) == list(METRICS[kind])
    assert all(map(isnan, found.values()))


@pytest.mark.parametrize(
    ("name", "true", "predicted"),
    [
        ("r2", [1.0], [1.0]),
        ("r2", [0.1, 0.1, 0.1], [1.0, 2.0, 3.0]),
        ("spearman", [1.0], [1.0]),
        ("spearman", [0.1, 0.1, 0.1], [1.0, 2.0, 3.0]),
        ("spearman", [1.0, 2.0, 3.0], [0.1, 0.1, 0.1]),
        ("rocauc", [1, 1], [0.2, 0.8]),
        ("rocauc", [0, 0], [0.2, 0.8]),
        ("prauc", [1, 1], [0.2, 0.8]),
        ("prauc", [0, 0], [0.2, 0.8]),
        ("f1", [0, 0], [0.2, 0.4]),
    ],
)
@pytest.mark.filterwarnings("error")
def test_undefined_is_nan(name, true, predicted):
    assert isnan(getattr(metrics, name)(np.array(true), np.array(predicted)))


def test_f1_is_zero_when_nothing_is_found_or_all_is_wrong():
    assert metrics.f1(np.array([1, 0]), np.array([0.1, 0.2])) == 0
    assert metrics.f1(np.array([0, 0]), np.array([0.1, 0.8])) == 0


# missing values and means


@given(st.sampled_from(["regression", "binary"]), st.data())
def test_missing_rows_are_left_out(kind, data):
    true, predicted = data.draw(NUMBERS if kind == "regression" else COINS)
    seen = np.array(data.draw(st.lists(st.booleans(), min_size=len(true), max_size=len(true))))
    found = figures(kind, np.where(seen, true, nan), np.where(seen, predicted, nan))
    assert all(same(found[name], value) for name, value in figures(kind, true[seen], predicted[seen]).items())


@pytest.mark.parametrize("missing", [-1, nan])
def test_missing_classes_are_left_out(missing):
    true, predicted = np.array([2, missing, 0]), np.array([[0.1, 0.2, 0.7], [nan, nan, nan], [0.2, 0.5, 0.3]])
    assert figures("multiclass", true, predicted) == figures("multiclass", true[[0, 2]], predicted[[0, 2]])


def test_the_mean_leaves_undefined_targets_out():
    true = np.array([[0, 1, nan], [1, 1, nan], [1, nan, nan]])
    predicted = np.array([[0.3, 0.2, 0.1], [0.2, 0.1, 0.1], [0.9, 0.5, 0.1]])
    assert mean_figure("binary", "rocauc", true, predicted) == metrics.rocauc(true[:, 0], predicted[:, 0]) == 0.5
    assert mean_figure("binary", "accuracy", true, predicted) == (1 / 3 * 2 + 0) / 2
    assert isnan(mean_figure("binary", "rocauc", true[:, 1:], predicted[:, 1:]))


@pytest.mark.parametrize("kind", METRICS)
def test_the_mean_of_one_target_is_its_figure(kind):
    rng = np.random.default_rng(2)
    true = rng.integers(0, 2, 30)
    predicted = rng.random((30, 3) if kind == "multiclass" else 30)
    for name, value in figures(kind, true, predicted).items():
        column = predicted if kind == "multiclass" else predicted[:, None]
        assert mean_figure(kind, name, true, predicted) == mean_figure(kind, name, true[:, None], column) == value


# the table, and errors


def test_the_table_covers_every_kind_and_its_metrics():
    assert METRICS.keys() == KINDS.keys()
    for kind, measures in KINDS.items():
        assert all(name == metric.name for name, metric in metrics_of(kind).items())
        assert set(measures.metric) <= set(metrics_of(kind))


def test_a_metric_is_frozen():
    with pytest.raises(FrozenInstanceError):
        metrics_of("binary")["f1"].name = "f2"


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda: metrics_of("ranking"), "kind is one of regression, binary, multiclass; found 'ranking'"),
        (lambda: mean_figure("binary", "mae", np.zeros(1), np.zeros(1)), "one of rocauc, .*; found 'mae'"),
        (lambda: mean_figure("binary", "f1", np.zeros((2, 3)), np.zeros((2, 2))), r"found \(2, 3\) and \(2, 2\)"),
        (lambda: figures("regression", np.zeros(2), np.zeros(3)), r"shape \(n,\), for one target; found \(2,\) and \(3,\)"),
        (lambda: figures("regression", np.zeros((2, 1)), np.zeros((2, 1))), r"found \(2, 1\) and \(2, 1\)"),
        (lambda: figures("multiclass", np.zeros(2), np.zeros((3, 2))), r"\(n, classes\).* found \(2,\) and \(3, 2\)"),
        (lambda: figures("regression", np.zeros(2), np.array([0, nan])), "predicted .* found 1 NaN of 2, the first in row 1"),
        (lambda: figures("multiclass", np.zeros(2), np.full((2, 2), nan)), "found 4 NaN of 4, the first in row 0"),
        (lambda: metrics.mae(np.array([nan, 1]), np.zeros(2)), "true .* found 1 NaN of 2, .* left out by figures"),
        (lambda: metrics.rocauc(np.array([0, 2]), np.zeros(2)), "a class from 0 to 1; found 2.0 in row 1"),
        (lambda: metrics.accuracy(np.array([0, -1]), np.zeros((2, 3))), "a class from 0 to 2; found -1 in row 1"),
        (lambda: metrics.accuracy(np.array([0, 1]), np.array([0.5, 1.5])), "found 1.5 in row 1. Apply a sigmoid or softmax"),
        (lambda: metrics.calibration(np.array([0, 1]), np.array([-2.0, 1])), "found -2.0 in row 0"),
        (lambda: metrics.logloss(np.array([0]), np.array([[3.0, -1.0]])), "found 3.0 in row 0"),
        (lambda: interval_quantile(np.ones(3), 1.0), "coverage is above 0 and below 1, such as 0.9; found 1.0"),
        (lambda: interval_quantile(np.array([1, nan]), 0.5), "residuals .* found 1 NaN of 2"),
    ],
)
def test_wrong_input_is_refused(call, why):
    with pytest.raises(PlanegraphError, match=why):
        call()


def test_rounding_beyond_one_is_a_probability():
    assert metrics.accuracy(np.array([1]), np.array([1 + 1e-7])) == 1


# split-conformal intervals


@given(st.integers(1, 60), st.integers(1, 99), st.randoms(use_true_random=False))
def test_exactly_the_promised_share_of_exchangeable_residuals_is_covered(n, percent, random):
    """Each of n + 1 different residuals in turn is the new one: ceil((n + 1) coverage) of them lie in the interval of the others."""
    residuals = np.array(random.sample(range(1, 1000), n + 1)) * np.array(random.choices([-1, 1], k=n + 1))
    inside = sum(abs(r) <= interval_quantile(np.delete(residuals, i), percent / 100) for i, r in enumerate(residuals))
    assert inside == -(-(n + 1) * percent // 100)


@pytest.mark.parametrize(("n", "coverage"), [(20, 0.9), (34, 0.5), (8, 0.8)])
def test_coverage_is_at_least_the_nominal_in_the_mean(n, coverage):
    rng = np.random.default_rng(3)
    expected = ceil((n + 1) * coverage) / (n + 1)
    covered = []
    for _ in range(4000):
        width = interval_quantile(rng.standard_normal(n), coverage)
        covered.append((np.abs(rng.standard_normal(100)) <= width).mean())
    assert coverage <= np.mean(covered) < expected + 0.01


@pytest.mark.parametrize(
    ("n", "coverage", "finite"), [(0, 0.1, False), (8, 0.9, False), (9, 0.9, True), (1, 0.5, True), (98, 0.99, False)]
)
def test_too_few_residuals_give_an_infinite_interval(n, coverage, finite):
    residuals = -np.arange(n, dtype=np.float64)
    assert interval_quantile(residuals, coverage) == (n - 1 if finite else inf)


def test_a_rank_is_not_rounded_up_by_a_floating_point_error():
    assert 100 * 0.55 > 55
    assert interval_quantile(np.arange(1, 100), 0.55) == 55
