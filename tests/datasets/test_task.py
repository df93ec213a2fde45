"""A task checks its targets when it is made, not when it is trained."""

from __future__ import annotations

import numpy as np
import pytest

import planegraph as pg
from planegraph.data import PackedDataset
from planegraph.datasets import Task
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
