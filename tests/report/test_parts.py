"""Axes, thinning, markup and ROC curves."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markupsafe import Markup

from planegraph.report.axes import axis_for, padded
from planegraph.report.curves import mean_curve, thin_curve
from planegraph.report.page import write_files
from planegraph.report.plot import join, tag
from planegraph.report.predictions import roc_curve, thin_scatter
from planegraph.tasks.metrics import rocauc

VALUES = st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=20)


@given(VALUES, st.sampled_from([None, False, True]))
@example([5e-324], True)
@example([5e-324], False)
@example([5e-324, 1.0], None)
@example([-5e-324, 5e-324], None)
def test_axes_hold_their_values_and_have_increasing_ticks(values, log):
    for axis in (axis_for(values, log=log), padded(axis_for(values, log=log))):
        assert axis.low < axis.high
        assert np.all(np.diff(axis.ticks) > 0)
        assert all(
            axis.low * (1 - 1e-6 * np.sign(axis.low)) <= t <= axis.high * (1 + 1e-6 * np.sign(axis.high)) for t in axis.ticks
        )
        assert len(axis.texts()) == len(axis.ticks) <= 25
        at = axis.place(values)
        assert at.min() >= -1e-6
        assert at.max() <= 1 + 1e-6


@given(st.floats(1e-9, 1e9), st.floats(1.5, 1e12))
def test_ticks_are_told_apart(low, factor):
    for log in (False, True):
        texts = axis_for([low, low * factor], log=log).texts()
        assert len(set(texts)) == len(texts)


@pytest.mark.parametrize(
    ("values", "log", "texts"),
    [
        ([0, 1], None, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        ([1, 500], False, ["100", "200", "300", "400", "500"]),
        ([0.001, 10], None, ["0.001", "0.01", "0.1", "1", "10"]),
        ([0.3, 7], None, ["0.5", "1", "2", "5"]),
        ([float("nan")], None, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
    ],
)
def test_ticks(values, log, texts):
    assert axis_for(values, log=log).texts() == texts


@given(st.lists(st.floats(-10, 10), max_size=300), st.integers(4, 60))
def test_a_thinned_curve_keeps_its_ends_and_extremes(values, most):
    y = np.array(values)
    kept = thin_curve(y, most)
    assert len(kept) <= most
    assert np.all(np.diff(kept) > 0)
    if len(y):
        assert kept[0] == 0
        assert kept[-1] == len(y) - 1
        assert y[kept].min() == y.min()
        assert y[kept].max() == y.max()


def test_a_thinned_scatter_keeps_the_worst():
    rng = np.random.default_rng(0)
    true = rng.normal(size=5000)
    predicted = true + 0.01 * rng.normal(size=5000)
    predicted[[17, 3000]] += 5
    kept = thin_scatter(true, predicted, 500)
    assert len(kept) <= 500
    assert len(np.unique(kept)) == len(kept)
    assert {17, 3000} <= set(kept.tolist())
    assert np.abs(np.quantile(true[kept], [0.1, 0.5, 0.9]) - np.quantile(true, [0.1, 0.5, 0.9])).max() < 0.1
    assert thin_scatter(true, predicted, 5000).tolist() == list(range(5000))


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=40))
def test_the_area_under_the_roc_curve(pairs):
    scores, positive = np.array([p[0] for p in pairs], float), np.array([p[1] for p in pairs])
    x, y = roc_curve(scores, positive)
    assert (x[0], y[0]) == (0, 0)
    if positive.any() and not positive.all():
        assert (x[-1], y[-1]) == (1, 1)
        assert np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2) == pytest.approx(rocauc(positive, scores))


@given(st.text(), st.text())
def test_whatever_the_text_the_markup_is_well_formed(tmp_path_factory, content, attribute):
    path = tmp_path_factory.getbasetemp() / "text.svg"
    write_files({path: tag("text", content, tag("title", content), role=attribute)})
    ElementTree.fromstring(path.read_bytes())


def test_text_is_escaped():
    assert tag("text", "<i>", stroke_width='"') == '<text stroke-width="&#34;">&lt;i&gt;</text>'
    assert join(["a<", Markup("<br/>")]) == "a&lt;<br/>"


def test_the_mean_is_of_the_trials_that_are_furthest():
    x = np.arange(1.0, 5.0)
    trials = [(x, np.array([4.0, 3, 2, 1])), (x[[0, 1, 3]], np.array([2.0, 1, 3])), (x[:2], np.array([100.0, 100]))]
    epochs, mean = mean_curve(trials)
    assert epochs.tolist() == [1, 2, 4]
    assert mean.tolist() == [3, 2, 2]
    assert len(mean_curve([])[0]) == 0
