"""A task checks its measure, its parts, its targets and its features when it is made, not when it is trained."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch

import planegraph as pg
from planegraph.data import PackedDataset
from planegraph.data.sizes import Categorical, Continuous
from planegraph.errors import PlanegraphError
from planegraph.tasks import Task
from planegraph.tasks import task as task_module
from planegraph.tasks.checks import KINDS as KINDS_OF_TASKS

RINGS = PackedDataset.from_graphs([pg.families.cycle(n) for n in (3, 4, 5)])


BINARY = {"kind": "binary", "loss": "bce", "metric": "accuracy"}
CLASSES = {"kind": "multiclass", "loss": "ce", "metric": "accuracy", "outputs": 3}


def task(y, **options) -> Task:
    return Task("rings", RINGS.with_y(y), **options)


@pytest.mark.parametrize(
    ("y", "options"),
    [
        (np.zeros((3, 1), np.float32), {}),
        (np.zeros(3), {}),
        (np.zeros((3, 2)), {"outputs": 2}),
        (np.array([[0], [1], [0]]), BINARY),
        (np.array([False, True, True]), BINARY),
        (np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]]), {**BINARY, "outputs": 2}),
        (np.array([0, 1, 2]), CLASSES),
        (np.array([[0], [1], [2]], np.uint8), CLASSES),
        (np.zeros((3, 2)), {"targets": ("a", "b")}),
    ],
)
def test_targets_that_fit(y, options):
    assert task(y, **options).dataset.y.shape == y.shape


@pytest.mark.parametrize(
    ("y", "options", "why"),
    [
        (None, {}, "the dataset has no y"),
        (None, CLASSES, "the dataset has no y"),
        (np.zeros((3, 2)), {}, r"regression with outputs=1 needs y of shape \(3, 1\); found \(3, 2\)"),
        (np.zeros((3, 1)), {"outputs": 2}, r"needs y of shape \(3, 2\); found \(3, 1\)"),
        (np.zeros(3), {"outputs": 3}, r"needs y of shape \(3, 3\); found \(3,\)"),
        (np.zeros((3, 2)), BINARY, "binary with outputs=1"),
        (np.array([0, 1, 3]), CLASSES, "classes 0 to 2; found 3"),
        (np.array([0, -1, 1]), CLASSES, "classes 0 to 2; found -1"),
        (np.array([0.0, 1.0, 2.0]), CLASSES, "an integer for each graph; found .*float64"),
        (np.zeros((3, 3), int), CLASSES, r"an integer for each graph; found \(3, 3\)"),
        (np.array([[0.5], [np.nan], [np.inf]]), {}, "y must be finite; found nan at graph 1. "),
        (np.array([0.5, 1.0, -np.inf]), {}, "y must be finite; found -inf at graph 2. "),
        (np.array([[0.5, 1.0], [1.0, np.nan], [0.0, 0.0]]), {"targets": ("a", "b")}, "y must be finite; found nan at graph 1. "),
        (np.array([0, 7, 1]), BINARY, "y must be 0 or 1; found 7 at graph 1. "),
        (np.array([0.0, 1.0, 0.5]), BINARY, "y must be 0 or 1; found 0.5 at graph 2. "),
        (np.array([0.0, np.nan, 1.0]), BINARY, "y must be 0 or 1; found nan at graph 1. "),
    ],
)
def test_targets_that_do_not_fit(y, options, why):
    with pytest.raises(PlanegraphError, match=f"task rings: .*{why}"):
        task(y, **options)


# ---- measures ---------------------------------------------------------------------------------------------------------------


def test_losses_metrics_and_outputs_go_with_the_kind():
    """Whatever is not listed is refused when the task is made, and the message lists what there is."""
    fields = {
        "loss": ("l1", "mse", "rmse", "bce", "ce"),
        "metric": ("mae", "rocauc", "accuracy"),
        "output": ("identity", "sigmoid"),
    }
    y = np.array([0, 1, 1])
    for kind, known in KINDS_OF_TASKS.items():
        for names in product(*((*fields[field], "huber") for field in known._fields)):
            options = {"kind": kind, **dict(zip(known._fields, names, strict=True)), "outputs": 2 if kind == "multiclass" else 1}
            wrong = [field for field, name in zip(known._fields, names, strict=True) if name not in getattr(known, field)]
            if not wrong:
                assert task(y, **options).kind == kind
                continue
            with pytest.raises(PlanegraphError) as caught:
                task(y, **options)
            first = wrong[0]
            assert str(caught.value).startswith(f"task rings: with kind={kind!r}, {first} is ")
            assert str(caught.value).endswith(f"; found {options[first]!r}")
            assert all(name in str(caught.value) for name in getattr(known, first))


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"kind": "classes"}, "kind is one of regression, binary, multiclass; found 'classes'"),
        ({"kind": None}, "kind is one of"),
        ({"loss": "huber"}, "loss is l1, mse or rmse; found 'huber'"),
        ({"metric": "q2"}, "metric is mae, rmse, r2 or spearman; found 'q2'"),
        ({"outputs": 0}, "outputs must be a positive integer; found 0"),
        ({"outputs": 1.0}, "outputs must be a positive integer; found 1.0"),
        ({"scale": (1.0, 2.0)}, r"1 outputs need as many scales, .*; found \(1\.0, 2\.0\)"),
        ({"scale": [1.0]}, r"a positive int or float or a tuple of them; found \[1\.0\]"),
        ({"scale": 0.0}, "a positive int or float .*; found 0.0"),
        ({"scale": (float("nan"),)}, r"a positive int or float .*; found \(nan,\)"),
        ({"scale": "large"}, "a positive int or float .*; found 'large'"),
        ({**BINARY, "scale": 2.0}, "only an mae has a scale; found scale=2.0 with metric='accuracy'"),
    ],
)
def test_measures_that_cannot_be(options, why):
    with pytest.raises(PlanegraphError, match=f"task rings: .*{why}"):
        task(np.array([0, 1, 1]), **options)


def test_scales_that_can_be():
    for scale in (None, 2, 0.5, np.float64(0.5), (0.5,)):
        assert task(np.zeros(3), scale=scale).scale == scale
    assert task(np.zeros((3, 2)), outputs=2, scale=(1, 2)).of_target(None).scale == (1, 2)


# ---- splits -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        ([2, 0], [2, 0]),
        (range(2), [0, 1]),
        (np.array([1], np.uint8), [1]),
        (torch.tensor([2, 1]), [2, 1]),
        ([], []),
        ([True, False, True], [0, 2]),
        (np.array([False, True, False]), [1]),
        (torch.tensor([True, True, True]), [0, 1, 2]),
        ([1, 1, 2], [1, 1, 2]),
    ],
)
def test_parts_that_can_be(given, ids):
    parts = {"train": given, "val": [1]}
    one, two = task(np.zeros(3), splits=parts), task(np.zeros(3), folds=[parts, parts])
    for split in (one.splits, *two.folds):
        assert split["train"].dtype == np.int64
        assert split["train"].tolist() == ids
    assert parts["train"] is given
    plain = {"train": np.array(ids, np.int64), "val": np.array([1])}
    assert one.digest == task(np.zeros(3), splits=plain).digest != two.digest


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ([0.5], "must be integers, the ids of graphs, or a boolean mask of length 3; found float64"),
        (np.array([0.0, 1.0]), "must be integers"),
        ([True, False], r"boolean mask of length 3; found bool, shape \(2,\)"),
        ([[0], [1]], r"found int64, shape \(2, 1\)"),
        (2, r"found int64, shape \(\)"),
        (["a"], "must be integers"),
        ([[0], [1, 2]], "must be a rectangular array"),
        ([0, 3], "names graph 3; there are 3, from 0"),
        ([-1], "names graph -1"),
        ([1, 0, 1], "holds nothing but 0 and 1, as a mask does"),
        ([1, 2, 2], "names graph 2 more than once"),
    ],
)
def test_parts_that_cannot_be(given, why):
    with pytest.raises(PlanegraphError, match=f"task rings: part 'val' .*{why}"):
        task(np.zeros(3), splits={"train": [0], "val": given})
    with pytest.raises(PlanegraphError, match=f"task rings: part 'val' of fold 1 .*{why}"):
        task(np.zeros(3), folds=[{"train": [0], "val": [1]}, {"train": [0], "val": given}])


def test_splits_that_are_none():
    parts = {"train": [0], "val": [1], "test": [2]}
    for options, why in [
        ({"splits": parts, "folds": [parts]}, "give splits or folds, not both"),
        ({"splits": [parts]}, "splits must give ids by train, val, test; found list"),
        ({"folds": [parts, [0, 1]]}, "fold 1 must give ids by train, val, test; found list"),
        ({"folds": []}, "folds must be a list of splits; found none"),
    ]:
        with pytest.raises(PlanegraphError, match=f"task rings: {why}"):
            task(np.zeros(3), **options)


def test_graphs_that_are_trained_and_tested_on_are_said():
    parts = {"train": [0], "val": [1], "test": [2]}
    assert task(np.zeros(3), splits=parts).shared == task(np.zeros(3)).shared == ""
    mixed = task(np.zeros(3), folds=[parts, {**parts, "test": [2, 1, 0]}])
    told = "1 of the 3 graphs of part 'test' of fold 1 are in part '{}' of fold 1, too"
    assert mixed.shared == f"{told.format('train')}; {told.format('val')}"


def test_what_is_in_no_part_may_be_missing():
    y = np.array([[0.5], [np.nan], [1.0]])
    assert len(task(y, splits={"train": [0], "val": [2], "test": [2]}).parts()) == 3
    with pytest.raises(PlanegraphError, match=r"found nan at graph 1, in part 'test'\. Correct it, or leave the graph out"):
        task(y, splits={"train": [0], "val": [2], "test": [2, 1]})
    with pytest.raises(PlanegraphError, match="found nan at graph 1, in part 'train' of fold 1"):
        task(y, folds=[{"train": [0]}, {"train": [True, True, False]}])


AUC = {"kind": "binary", "loss": "bce", "metric": "rocauc"}


def pairs(y: np.ndarray, **options) -> Task:
    """A task of six rings."""
    return Task("pairs", PackedDataset.from_graphs([pg.families.cycle(n) for n in range(3, 9)], y=y), **AUC, **options)


@pytest.mark.parametrize("part", ["val", "test"])
@pytest.mark.parametrize("only", [0, 1])
def test_roc_auc_needs_both_classes_in_each_part_that_is_judged(part, only):
    y = np.array([0, 1, 0, 1, 0, 1])
    good = {"train": [0, 2], "val": [0, 1], "test": [2, 3]}
    bad = {**good, part: [only, 2 + only]}
    assert pairs(y, splits=good).metric == "rocauc"  # one class to train on is the user's business
    assert pairs(y, folds=[good, {**good, "test": []}]).metric == "rocauc"
    why = f"task pairs: the metric rocauc is undefined in part '{part}'"
    with pytest.raises(PlanegraphError, match=f"{why}, whose 2 values are {only}. Choose another split"):
        pairs(y, splits=bad)
    with pytest.raises(PlanegraphError, match=f"{why} of fold 1, whose 2 values are {only}"):
        pairs(y, folds=[good, bad])
    assert replace(pairs(y), metric="accuracy", splits=bad).splits.keys() == bad.keys()


def test_roc_auc_needs_both_classes_in_a_column():
    y = np.array([[0, 0], [1, 0], [0, 1], [1, 1], [0, 1], [1, 1]])
    parts = {"train": [0, 1], "val": [0, 1, 2], "test": [4, 5]}
    assert pairs(y, outputs=2, splits=parts).outputs == 2  # the figure is the mean over the columns that define it
    with pytest.raises(PlanegraphError, match=r"in part 'test', whose 2 values in column 0 of y are 1\."):
        pairs(y, outputs=2, splits=parts | {"test": [3, 5]})
    with pytest.raises(PlanegraphError, match=r"in part 'test', whose 2 values of toxic are 1\."):
        pairs(y, targets=("soluble", "toxic"), splits=parts)


# ---- features ---------------------------------------------------------------------------------------------------------------

TWO = pg.GraphBatch.from_graphs([pg.families.cycle(3), pg.families.path(2)])  # 5 nodes, 4 edges
ONE, PAIR = Categorical((4,)), Categorical((4, 2))
KINDS = {  # what a task says of them, their rows, and which is the last one
    "x": ("node_features", (5,), "node 1"),
    "edge_attr": ("edge_features", (4,), "edge 0"),
    "dart_attr": ("edge_features", (4, 2), "edge 0"),
}


def featured(name: str, values: np.ndarray | None, sizes, **options) -> Task:
    """A task of a triangle and an edge, whose features of this name are to fit these sizes."""
    ds = PackedDataset.from_arrays(TWO, **{name: values}, y=np.zeros((2, 1), np.float32))
    return Task("pairs", ds, **{KINDS[name][0]: sizes}, **options)


def rows(name: str, *shape: int, last: object = 0, dtype: type = int) -> np.ndarray:
    """Zeros but for a 1 in the beginning, so that directions differ, and the last value."""
    values = np.zeros((*KINDS[name][1], *shape), dtype)
    values.flat[0], values.flat[-1] = 1, last
    return values


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(
    ("shape", "last", "dtype", "sizes"),
    [
        ((), 3, int, ONE),
        ((1,), 3, np.uint8, ONE),
        ((2,), 1, int, PAIR),
        ((1,), 1e30, float, Continuous(1)),
        ((3,), -0.5, np.float32, Continuous(3)),
        ((2,), 99, int, None),
    ],
)
def test_features_that_fit(name, shape, last, dtype, sizes):
    assert getattr(featured(name, rows(name, *shape, last=last, dtype=dtype), sizes).dataset, name).shape[-1] == (shape or (1,))[0]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(
    ("shape", "last", "dtype", "sizes", "why"),
    [
        ((1,), 4, int, ONE, ", column 0, must be 0 to 3; found 4 at {last} of graph 1"),
        ((1,), -1, int, ONE, ", column 0, must be 0 to 3; found -1 at {last} of graph 1"),
        ((2,), 3, int, PAIR, ", column 1, must be 0 to 1; found 3 at {last} of graph 1"),
        ((2,), 0, int, ONE, " must have 1 column of integers; found 2 columns of int32"),
        ((1,), 0, int, PAIR, " must have 2 columns of integers; found 1 column of int32"),
        ((1,), 0.5, float, ONE, " must have 1 column of integers; found 1 column of float64"),
        ((1,), 0, int, Continuous(1), " must have 1 column of floats; found 1 column of int32"),
        ((2,), 0, float, Continuous(3), " must have 3 columns of floats; found 2 columns of float64"),
        ((3,), np.inf, float, Continuous(3), ", column 2, must be finite; found inf at {last} of graph 1"),
        ((3,), -np.inf, np.float32, Continuous(3), ", column 2, must be finite; found -inf at {last} of graph 1"),
    ],
)
def test_features_that_do_not_fit(name, shape, last, dtype, sizes, why):
    with pytest.raises(PlanegraphError) as caught:
        featured(name, rows(name, *shape, last=last, dtype=dtype), sizes)
    assert str(caught.value).startswith(f"task pairs: {name}{why.format(last=KINDS[name][2])}. ")
    assert "fetch these again, remove the packed file and pack anew (planegraph datasets NAME --pack)" in str(caught.value)


@pytest.mark.parametrize("name", ["x", "edge_attr"])
def test_features_that_are_not_there(name):
    with pytest.raises(PlanegraphError, match=f"task pairs: {name} must have 1 column of integers; the dataset has none"):
        featured(name, None, ONE)


def test_where_there_are_no_edges_no_features_are_needed():
    ds = PackedDataset.from_graphs([pg.Graph(1, [])], y=[[0.0]])
    assert Task("point", ds, edge_features=ONE).edge_features == ONE


def test_the_features_of_targets_are_read_once(monkeypatch):
    calls = []
    monkeypatch.setattr(task_module, "check_features", lambda name, *rest: calls.append(name))
    ds = PackedDataset.from_arrays(TWO, x=rows("x", 1), y=np.zeros((2, 3)))
    whole = Task("pairs", ds, node_features=ONE, targets=("a", "b", "c"))
    assert [whole.of_target(name).name for name in whole.targets] == ["pairs-a", "pairs-b", "pairs-c"]
    assert calls == ["pairs"]
    replace(whole, node_features=PAIR)
    assert calls == ["pairs"] * 2
