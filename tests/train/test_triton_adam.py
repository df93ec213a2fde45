"""The kernels of Adam against their twin in torch operations: on a GPU, else by Triton's interpreter, which a process of its own starts."""

from __future__ import annotations

import os

import numpy as np
import pytest
import torch

from planegraph.train.adam import Pace, PlainAdam, Vectors, clipped
from planegraph.train.distributed import World
from planegraph.train.lanes import lanes_of
from planegraph.train.models import make_models
from planegraph.train.settings import TrainSettings
from planegraph.train.state import State
from planegraph.train.step import TrainingStep

from .tasks import regression, small

pytest.importorskip("triton")

from planegraph.train import triton_adam

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SIZES = [64 * 64, 1, 1000, 7, 2 * 1024, 1023, 1025, 3]

kernels = pytest.mark.skipif(DEVICE == "cpu" and not INTERPRETED, reason="needs a GPU, or TRITON_INTERPRET=1")


def gradient_of(lanes: int, seed: int, size: float = 1.0) -> torch.Tensor:
    made = torch.Generator().manual_seed(seed)
    return (size * torch.randn(lanes * sum(SIZES), generator=made)).to(DEVICE)


def both(lanes: int, **options) -> list:
    settings, weights = TrainSettings(**options), gradient_of(lanes, 0)
    return [rule(weights, SIZES, lanes, settings) for rule in (PlainAdam, triton_adam.FusedAdam)]


def fresh(lanes: int, averaged: bool) -> Vectors:
    weights = gradient_of(lanes, 0)
    return Vectors(weights, torch.zeros_like(weights), torch.zeros_like(weights), weights.clone() if averaged else None)


def pace_of(lanes: int, step: int, averaged: bool) -> Pace:
    """Values that differ from lane to lane and from step to step."""
    lane = torch.arange(1, lanes + 1, device=DEVICE, dtype=torch.float32)
    bias = torch.tensor([1 - 0.9**step, 1 - 0.999**step], device=DEVICE)
    return Pace(0.3 / lane, 0.01 * lane, bias, torch.full((1,), 1 / (step + 1), device=DEVICE) if averaged else None)


@kernels
@pytest.mark.parametrize("lanes", [1, 3])
@pytest.mark.parametrize(("optimizer", "decay"), [("adam", 0.0), ("adam", 0.1), ("adamw", 0.1)])
@pytest.mark.parametrize("averaged", [False, True])
@pytest.mark.parametrize("clip", [None, 2.0])
def test_the_same_steps(lanes, optimizer, decay, averaged, clip):
    plain, fused = both(lanes, optimizer=optimizer, weight_decay=decay)
    mine, theirs = fresh(lanes, averaged), fresh(lanes, averaged)
    for step in range(1, 4):
        gradient, pace = gradient_of(lanes, step), pace_of(lanes, step, averaged)
        kept = gradient.clone()
        for rule, vectors in ((plain, theirs), (fused, mine)):
            factor = pace.factor if clip is None else clipped(pace.factor, rule.norms(gradient), clip)
            rule.update(vectors, gradient, pace._replace(factor=factor))
        assert torch.equal(gradient, kept)
        for name, found, expected in zip(Vectors._fields, mine, theirs, strict=True):
            if expected is not None:
                torch.testing.assert_close(found, expected, rtol=2e-6, atol=1e-7, msg=lambda text, name=name: f"{name}: {text}")


@kernels
@pytest.mark.parametrize("lanes", [1, 3])
@pytest.mark.parametrize("size", [1.0, 1e-30, 1e25, 1e37])
def test_the_same_norms(lanes, size):
    """Also where squares are no float32 numbers, and always the same bits."""
    plain, fused = both(lanes)
    gradient = gradient_of(lanes, 1, size)
    found = fused.norms(gradient)
    assert found.dtype == torch.float64
    torch.testing.assert_close(found, plain.norms(gradient), rtol=1e-12, atol=0)
    parts = [part.view(lanes, -1).double() for part in gradient.split([lanes * n for n in SIZES])]
    torch.testing.assert_close(found, torch.cat(parts, 1).square().sum(1).sqrt(), rtol=1e-12, atol=0)
    assert torch.equal(found, fused.norms(gradient))


@kernels
def test_lanes_do_not_touch_each_other():
    """What is not finite in one lane stays there."""
    _, fused = both(3)
    gradient, vectors = gradient_of(3, 1), fresh(3, True)
    gradient.view(-1)[SIZES[0] : 2 * SIZES[0]] = torch.nan  # the first parameter of the second lane
    pace = pace_of(3, 1, True)
    fused.update(vectors, gradient, pace._replace(factor=clipped(pace.factor, fused.norms(gradient), 1.0)))
    begin = 0
    for size in SIZES:
        finite = vectors.weights[begin : begin + 3 * size].view(3, size).isfinite().all(1)
        assert finite.tolist() == [True, False, True]
        begin += 3 * size


def made_step(task, settings) -> TrainingStep:
    model = make_models(task, settings, lanes_of(task, settings.train)).to(DEVICE)
    state = State(model, settings.train)
    state.rate.fill_(0.01)
    return TrainingStep(task, state, World())


@kernels
@pytest.mark.parametrize("clip", [None, 0.1])
def test_training_steps(monkeypatch, clip):
    """Whole steps of a model with statistics, which are averaged too: first steps, where rounding has not grown yet."""
    task = regression()
    settings = small(clip=clip, ema=0.9, weight_decay=0.01).with_overrides(["model.norm=batch"])
    steps = []
    for fused in (False, True):
        monkeypatch.setattr(triton_adam, "can_fuse", lambda weights, fused=fused: fused)
        steps.append(made_step(task, settings))
    assert [type(step.state.adam).__name__ for step in steps] == ["PlainAdam", "FusedAdam"]
    for k in range(3):
        batch = task.dataset[np.arange(6) + k].to(DEVICE)
        batch.attrs["weight"] = torch.ones(6, device=DEVICE)
        for step in steps:
            step(batch)
    expected, found = (step.state.tensors() for step in steps)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        torch.testing.assert_close(found[name], value, rtol=1e-3, atol=1e-5, msg=lambda text, name=name: f"{name}: {text}")


@pytest.mark.skipif(DEVICE == "cpu" or INTERPRETED, reason="needs a GPU")
def test_a_captured_update_is_an_eager_one():
    settings = small(clip=0.1, ema=0.9)
    eager, captured = (made_step(regression(), settings) for _ in range(2))
    for step in (eager, captured):
        step.sums.copy_(torch.linspace(-1, 1, len(step.sums)))
        for _ in range(4):
            step.apply()  # also warms up
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured.apply()
    for _ in range(3):
        eager.apply()
        graph.replay()
    for name, value in eager.state.tensors().items():
        assert torch.equal(captured.state.tensors()[name], value), name


@kernels
def test_float64_stays_with_torch():
    assert not triton_adam.can_fuse(torch.zeros(3, dtype=torch.float64, device=DEVICE))
    assert triton_adam.can_fuse(torch.zeros(3, device=DEVICE)) == (DEVICE == "cuda")
