"""A task checks its targets and its features when it is made, not when it is trained."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import planegraph as pg
from planegraph.data import PackedDataset
from planegraph.datasets import Task
from planegraph.datasets import task as task_module
from planegraph.errors import PlanegraphError

RINGS = PackedDataset.from_graphs([pg.families.cycle(n) for n in (3, 4, 5)])


def task(y, **options) -> Task:
    return Task("rings", RINGS.with_y(y), **options)


@pytest.mark.parametrize(
    ("y", "options"),
    [
        (np.zeros((3, 1), np.float32), {}),
        (np.zeros(3), {}),
        (np.zeros((3, 2)), {"outputs": 2}),
        (np.full((3, 1), np.nan), {}),
        (np.array([[0], [1], [0]]), {"kind": "binary"}),
        (np.array([0, 1, 2]), {"kind": "multiclass", "outputs": 3}),
        (np.array([[0], [1], [2]], np.uint8), {"kind": "multiclass", "outputs": 3}),
        (np.zeros((3, 2)), {"targets": ("a", "b")}),
    ],
)
def test_targets_that_fit(y, options):
    assert task(y, **options).dataset.y.shape == y.shape


@pytest.mark.parametrize(
    ("y", "options", "why"),
    [
        (None, {}, "the dataset has no y"),
        (None, {"kind": "multiclass", "outputs": 3}, "the dataset has no y"),
        (np.zeros((3, 2)), {}, r"regression with outputs=1 needs y of shape \(3, 1\); found \(3, 2\)"),
        (np.zeros((3, 1)), {"outputs": 2}, r"needs y of shape \(3, 2\); found \(3, 1\)"),
        (np.zeros(3), {"outputs": 3}, r"needs y of shape \(3, 3\); found \(3,\)"),
        (np.zeros((3, 2)), {"kind": "binary"}, "binary with outputs=1"),
        (np.array([0, 1, 3]), {"kind": "multiclass", "outputs": 3}, "classes 0 to 2; found 3"),
        (np.array([0, -1, 1]), {"kind": "multiclass", "outputs": 3}, "classes 0 to 2; found -1"),
        (np.array([0.0, 1.0, 2.0]), {"kind": "multiclass", "outputs": 3}, "an integer for each graph; found .*float64"),
        (np.zeros((3, 3), int), {"kind": "multiclass", "outputs": 3}, r"an integer for each graph; found \(3, 3\)"),
    ],
)
def test_targets_that_do_not_fit(y, options, why):
    with pytest.raises(PlanegraphError, match=f"task rings: .*{why}"):
        task(y, **options)


# ---- features ---------------------------------------------------------------------------------------------------------------

TWO = pg.GraphBatch.from_graphs([pg.families.cycle(3), pg.families.path(2)])  # 5 nodes, 4 edges
ONE, PAIR = ("categorical", (4,)), ("categorical", (4, 2))
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
        ((1,), 1e30, float, ("continuous", 1)),
        ((3,), -0.5, np.float32, ("continuous", 3)),
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
        ((1,), 0, int, ("continuous", 1), " must have 1 column of floats; found 1 column of int32"),
        ((2,), 0, float, ("continuous", 3), " must have 3 columns of floats; found 2 columns of float64"),
        ((3,), np.inf, float, ("continuous", 3), ", column 2, must be finite; found inf at {last} of graph 1"),
        ((3,), -np.inf, np.float32, ("continuous", 3), ", column 2, must be finite; found -inf at {last} of graph 1"),
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
