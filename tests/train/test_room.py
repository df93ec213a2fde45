"""The capacity of padded batches: the exact maximum of the epochs ahead, found without making a batch."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest
import torch

from planegraph.data import needs
from planegraph.data.batch import Collator
from planegraph.data.layout import Capacity, Layout
from planegraph.data.needs import Needs
from planegraph.runs.checkpoint import load_checkpoint
from planegraph.runs.trials import training_order, trials_of
from planegraph.train import batches, room, train
from planegraph.train.batches import Batches
from planegraph.train.distributed import World
from planegraph.train.loop import CHECKPOINT
from planegraph.train.room import Room

from .tasks import regression, small
from .test_resume import assert_same

CPU = torch.device("cpu")


def made(task, trials, world: World | None = None, epochs: int | None = None) -> Batches:
    return Batches(task.dataset, trials, 5, True, CPU, world, epochs)


def no_growth(*_) -> None:
    raise AssertionError("a batch did not fit")


@pytest.mark.parametrize("processes", [1, 3])
@pytest.mark.parametrize("folds", [0, 2])
def test_the_largest_batches_of_a_stage(processes, folds):
    task = regression(60, folds=folds, edges=True)
    trials = trials_of(task, small(seeds=2).train)
    found = Room(Needs(task.dataset.tables, 1), trials, 4, processes, 3)
    collator = Collator(task.dataset)

    def sizes(epoch: int) -> list[Capacity]:
        shares = [training_order(trial, epoch)[rank::processes] for trial in trials for rank in range(processes)]
        return [collator(share[k : k + 4]).layout.sizes for share in shares for k in range(0, len(share), 4)]

    for first in (0, 3):
        expected = reduce(Capacity.maximum, [one for epoch in range(first, first + 3) for one in sizes(epoch)])
        assert [found.training(epoch) for epoch in range(first, first + 3)] == [expected] * 3
    parts = [trial.split["val"][k : k + 4] for trial in trials for k in range(0, len(trial.split["val"]), 4)]
    assert found.evaluation("val") == reduce(Capacity.maximum, [collator(ids).layout.sizes for ids in parts])


@pytest.mark.parametrize("kinds", [(), ("cpu",)], ids=["host", "resident"])
@pytest.mark.parametrize("world", [World(), World(rank=2, size=3)], ids=["alone", "2 of 3"])
def test_one_layout_for_all_epochs(monkeypatch, kinds, world):
    """Also where a process has no graph left in the last step."""
    monkeypatch.setattr(batches, "_RESIDENT", kinds)
    monkeypatch.setattr(Capacity, "grow", no_growth)
    task = regression(60, edges=True)
    task.splits["train"] = task.splits["train"][:31]
    some = made(task, trials_of(task, small(seeds=3).train), world, 12)
    first = some.capacity
    steps = [step for epoch in range(12) for step in some.training(epoch)]
    assert {step.layout if kinds else step[0].layout for step in steps} == {Layout(first, 1, padded=True)}
    assert some.capacity == first
    some.close()


def test_evaluation_has_sizes_of_its_own(monkeypatch):
    """A part with large graphs makes training no slower."""
    monkeypatch.setattr(Capacity, "grow", no_growth)
    task = regression(60)
    by_size = np.argsort(np.diff(task.dataset.tables["node_ptr"]), kind="stable")
    task.splits.update(train=by_size[:40], val=by_size[40:50], test=by_size[50:])
    some = made(task, trials_of(task, small(seeds=2).train))
    before = some.capacity
    layouts = {part: {one[0].layout for one in some.evaluation(part)} for part in ("val", "test")}
    assert [len(found) for found in layouts.values()] == [1, 1]
    assert some.capacity == before
    assert before.nodes < min(found.pop().num_nodes for found in layouts.values())
    some.close()


def test_the_length_of_a_stage(monkeypatch):
    task = regression()
    trials, known = trials_of(task, small(seeds=2).train), Needs(task.dataset.tables, 0)
    assert Room(known, trials, 5, 1, None).stage == 64
    assert Room(known, trials, 5, 1, 200).stage == 200
    monkeypatch.setattr(room, "_GRAPHS", 5 * 48)
    assert Room(known, trials, 5, 1, None).stage == Room(known, trials, 5, 1, 200).stage == 5
    monkeypatch.setattr(room, "_GRAPHS", 1)
    assert Room(known, trials, 5, 1, None).stage == 1


def test_targets_share_the_orders_of_their_seeds():
    from .test_targets import several

    task = several()
    trials = trials_of(task, small(seeds=2).train)
    assert len(trials) > 2
    assert len(Room(Needs(task.dataset.tables, 0), trials, 5, 1, None).orders) == 2


def test_longer_and_resumed_in_another_stage(tmp_path, monkeypatch):
    monkeypatch.setattr(room, "_EPOCHS", 2)
    task, settings = regression(60), small(epochs=7, seeds=2, schedule={"kind": "plateau", "patience": 1})
    train(task, settings, tmp_path / "whole", device="cpu")
    for epochs in (1, 3, 4, 7):
        train(task, settings.with_overrides([f"train.epochs={epochs}"]), tmp_path / "parts", resume=epochs > 1, device="cpu")
    assert_same(tmp_path / "whole", tmp_path / "parts")
    found = [load_checkpoint(tmp_path / name / CHECKPOINT)[1]["capacity"] for name in ("whole", "parts")]
    assert found[0] == found[1]


@pytest.mark.parametrize("kinds", [(), ("cpu",)], ids=["host", "resident"])
def test_too_small_a_capacity_of_a_checkpoint_grows(monkeypatch, kinds):
    monkeypatch.setattr(batches, "_RESIDENT", kinds)
    task = regression(60)
    some = made(task, trials_of(task, small(seeds=2).train))
    wanted, some.capacity = some.capacity, Capacity(5, 8, 8, 8, 8, 8, 8)
    assert len(list(some.training(0))) == some.steps
    assert some.capacity == wanted
    some.close()


def test_deep_trees_grow_as_they_come(monkeypatch):
    monkeypatch.setattr(needs, "_MOST_NUMBERS", 0)
    task = regression(60)
    some = made(task, trials_of(task, small(seeds=2).train))
    assert some.room is None
    some.capacity = small_one = Capacity(5, 8, 8, 8, 8, 8, 8)
    assert len(list(some.training(0))) == some.steps
    assert some.capacity.nodes > small_one.nodes
    assert sum(int(one[0].attrs["weight"].sum()) for one in some.evaluation("val")) == len(task.splits["val"])
    some.close()
