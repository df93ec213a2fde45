"""Schedules, Adam, clipping, averages, losses and metrics, each against its definition or another implementation."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from planegraph.errors import PlanegraphError
from planegraph.runs.models import make_models
from planegraph.runs.schedules import Cosine, Plateau, Step
from planegraph.runs.settings import TrainSettings
from planegraph.runs.trials import groups_of, trials_of
from planegraph.tasks.losses import graph_losses, step_loss
from planegraph.tasks.task import Task
from planegraph.train.batches import Batches
from planegraph.train.distributed import World
from planegraph.train.metrics import mae_by_target, metric_of
from planegraph.train.state import State
from planegraph.train.step import TrainingStep

from .tasks import cubic, regression, small


def test_plateau_halves_after_patience_and_stops_at_the_floor():
    plateau = Plateau(factor=0.5, patience=3, min_lr=2e-3)
    memory, seen = plateau.start(), []
    for error in [1.0, 0.9] + [0.9] * 9:
        plateau.observe(memory, error)
        seen += plateau.rates(1e-2, memory, 0, 1, 1)
    assert seen == [0.01] * 4 + [0.005] * 3 + [0.0025] * 3 + [0.002]


@pytest.mark.parametrize("patience", [0, 1, 2, 5, 30])
def test_a_plateau_waits_one_validation_less_than_that_of_pytorch(patience):
    weight = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    theirs = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=patience, eps=0)
    ours = Plateau(factor=0.5, patience=patience + 1, min_lr=0.0)
    memory = ours.start()
    for error in np.random.default_rng(patience).random(200):
        theirs.step(error)
        ours.observe(memory, error)
        assert ours.rates(1.0, memory, 0, 1, 1) == [optimizer.param_groups[0]["lr"]]
    assert memory["cuts"] > 0


def test_step_and_cosine():
    assert Step(gamma=0.7, every=25).rates(1.0, {}, 50, 100, 1) == [pytest.approx(0.49)]
    rates = [r for e in range(10) for r in Cosine(warmup=2, min_lr=0.1).rates(1.0, {}, e, 10, 5)]
    assert rates[:10] == pytest.approx(np.arange(1, 11) / 10)
    assert all(a > b for a, b in pairwise(rates[10:]))
    assert 0.1 < rates[-1] < 0.12


@pytest.mark.parametrize(("optimizer", "decay", "clip"), [("adam", 0.0, None), ("adam", 0.1, None), ("adamw", 0.1, 0.05)])
def test_adam_is_torchs(optimizer, decay, clip):
    task, settings = regression(), small(optimizer=optimizer, weight_decay=decay, clip=clip, precision="float64")
    trial = trials_of(task, settings.train)[0]
    model, other = make_models(task, settings, [trial]), make_models(task, settings, [trial])
    state = State(model, settings.train)
    step = TrainingStep(task, state, World())
    cls = torch.optim.Adam if optimizer == "adam" else torch.optim.AdamW
    theirs = cls(other.parameters(), lr=0.01, weight_decay=decay)
    for k in range(5):
        batch = task.dataset[np.arange(6) + k]
        batch.attrs["weight"] = torch.ones(6)
        state.rate.fill_(0.01)
        step(batch)
        theirs.zero_grad()
        graph_losses(task, other(batch), batch.y).mean().backward()
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(other.parameters(), clip)
        theirs.step()
    for a, b in zip(model.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("seeds", [1, 2])
def test_clipping_a_gradient_whose_square_is_no_number(seeds):
    """The step is that of the same gradient at an ordinary size."""
    task, settings = regression(), small(clip=1.0, seeds=seeds)
    states = [State(make_models(task, settings, trials_of(task, settings.train)), settings.train) for _ in range(2)]
    gradient = torch.randn_like(states[0].weights)
    assert (1e25 * gradient).square().isinf().any()
    for state, size in zip(states, (1.0, 1e25), strict=True):
        state.rate.fill_(0.01)
        state.update(gradient * size, torch.ones(seeds))
    assert states[0].weights.isfinite().all()
    torch.testing.assert_close(states[0].weights, states[1].weights)


def test_the_average_follows_the_weights():
    task, settings = regression(), small(ema=0.9)
    state = State(make_models(task, settings, trials_of(task, settings.train)), settings.train)
    expected = state.weights.clone()
    for k in range(20):
        state.rate.fill_(0.01)
        state.update(torch.randn_like(state.weights), torch.ones(1))
        decay = min(0.9, (2 + k) / (11 + k))
        expected = decay * expected + (1 - decay) * state.weights
    torch.testing.assert_close(state.average, expected)


@pytest.mark.parametrize("ema", [None, 0.9])
def test_what_is_chosen_needs_no_gradient(ema):
    """Clones of parameters would hold on to the graph of a step, and a later capture on a GPU fails."""
    task, settings = regression(), small(ema=ema).with_overrides(["model.norm=batch"])
    model = make_models(task, settings, trials_of(task, settings.train))
    chosen = State(model, settings.train).chosen()
    assert set(chosen) == set(model.state_dict())
    assert not any(value.requires_grad for value in chosen.values())


def test_statistics_of_norms_are_averaged_with_the_weights_they_belong_to():
    """By hand: the average of copies of all weights and statistics is what is validated, and it does not disturb training."""
    task = regression()
    settings = small(ema=0.9).with_overrides(["model.norm=batch"])
    state = State(make_models(task, settings, trials_of(task, settings.train)), settings.train)
    state.rate.fill_(0.01)
    step = TrainingStep(task, state, World())
    expected = {name: value.clone() for name, value in state.chosen().items()}
    for k in range(12):
        batch = task.dataset[np.arange(6) + k % 3]
        batch.attrs["weight"] = torch.ones(6)
        step(batch)
        decay = min(0.9, (2 + k) / (11 + k))
        for name, value in state.model.state_dict().items():
            expected[name] = decay * expected[name] + (1 - decay) * value
    before = {name: value.clone() for name, value in state.model.state_dict().items()}
    with state.averaged():
        inside = {name: value.clone() for name, value in state.model.state_dict().items()}
    assert any(name.endswith("running_var") for name in expected)
    for name, value in expected.items():
        torch.testing.assert_close(inside[name], value)
        torch.testing.assert_close(state.chosen()[name], value)
        assert torch.equal(state.model.state_dict()[name], before[name])


@pytest.mark.parametrize("loss", ["l1", "mse", "rmse"])
def test_the_factor_makes_the_gradient_of_the_whole_loss(loss):
    task = replace(regression(), loss=loss, output="sigmoid")
    y = torch.rand(7, 1)
    raw = torch.randn(7, 1, requires_grad=True)
    total = graph_losses(task, raw, y).sum()
    value, factor = step_loss(task, total.detach(), torch.tensor(7.0))
    (mine,) = torch.autograd.grad(total, raw)
    p = torch.sigmoid(raw)
    whole = {"l1": (p - y).abs().mean(), "mse": (p - y).square().mean(), "rmse": (p - y).square().mean().sqrt()}[loss]
    (expected,) = torch.autograd.grad(whole, raw)
    torch.testing.assert_close(mine * factor, expected)
    torch.testing.assert_close(value, whole)


def test_metrics():
    task = regression(targets=2, scale=(2.0, 4.0))
    raw, y = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[0.0, 0.0], [0.0, 0.0]])
    assert mae_by_target(task, raw, y).tolist() == [1.0, 0.75]
    assert metric_of(task, raw, y) == 0.875
    many = cubic()
    assert metric_of(many, torch.eye(9)[[0, 1, 2]], torch.tensor([0, 1, 3])) == pytest.approx(2 / 3)
    ds = task.dataset
    binary = Task("binary", ds.with_y(np.arange(len(ds)) % 2), kind="binary", loss="bce", metric="accuracy")
    assert metric_of(binary, torch.tensor([[1.0], [-1.0]]), torch.tensor([1, 1])) == 0.5


def test_trials_and_groups():
    task = regression(folds=3)
    trials = trials_of(task, TrainSettings(seed=5, seeds=2))
    assert [trial.name for trial in trials] == [f"seed{s}-fold{f}" for s in (5, 6) for f in range(3)]
    assert [len(g) for g in groups_of(trials, 10, True)] == [6]
    assert len(groups_of(trials, 10, False)) == 6
    uneven = replace(task, folds=[task.folds[0], {**task.folds[1], "train": task.folds[1]["train"][:9]}])
    assert [len(g) for g in groups_of(trials_of(uneven, TrainSettings()), 8, True)] == [1, 1]


@pytest.mark.parametrize("folds", [0, 2])
def test_each_part_must_have_graphs(folds):
    task = regression(folds=folds)
    last = task.folds[-1] if folds else task.splits
    last["valid"] = last.pop("val")
    where = "part 'val' of fold 1" if folds else "part 'val'"
    with pytest.raises(PlanegraphError, match=f"task counting: no graphs in {where}; the parts with graphs are train, test, valid"):
        trials_of(task, TrainSettings())
    without = Task("counting", task.dataset, node_features=task.node_features)
    with pytest.raises(PlanegraphError, match="task counting must have splits or folds"):
        trials_of(without, TrainSettings())


def test_a_batch_is_no_larger_than_what_there_is():
    task = regression()
    trials = trials_of(task, small(seeds=2).train)
    huge, fitting = (Batches(task.dataset, trials, size, True, torch.device("cpu")) for size in (10**12, 24))
    assert len(task.splits["train"]) == 24
    assert (huge.capacity, huge.steps) == (fitting.capacity, fitting.steps)
    assert [b.num_graphs for b in next(huge.training(0))] == [24, 24]
    for batches in (huge, fitting):
        batches.close()
