"""The kernels of Adam against their twin in torch operations: on a GPU, else by Triton's interpreter, in a separate process."""

from __future__ import annotations

import os

import numpy as np
import pytest
import torch

from planegraph.nn.ops import linear
from planegraph.runs.models import make_models
from planegraph.runs.settings import TrainSettings
from planegraph.runs.trials import trials_of
from planegraph.train.adam import Adam
from planegraph.train.step import TrainingStep

from .tasks import regression, small

pytest.importorskip("triton")

from planegraph.train import triton_adam

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SIZES = [64 * 64, 1, 1000, 7, 2 * 1024, 1023, 1025, 3]

kernels = pytest.mark.skipif(DEVICE == "cpu" and not INTERPRETED, reason="needs a GPU, or TRITON_INTERPRET=1")


def gradient_of(trials: int, seed: int, size: float = 1.0) -> torch.Tensor:
    made = torch.Generator().manual_seed(seed)
    return (size * torch.randn(trials * sum(SIZES), generator=made)).to(DEVICE)


def both(trials: int, **options) -> list[Adam]:
    """In torch operations and in kernels, at rates that differ from trial to trial."""
    made = [rule(gradient_of(trials, 0), SIZES, trials, TrainSettings(**options)) for rule in (Adam, triton_adam.FusedAdam)]
    for adam in made:
        adam.rate.copy_(0.01 * torch.arange(1, trials + 1))
    return made


def factors(trials: int) -> torch.Tensor:
    return 0.3 / torch.arange(1, trials + 1, device=DEVICE, dtype=torch.float32)


@kernels
@pytest.mark.parametrize(
    ("trials", "optimizer", "decay", "averaged", "clip"),
    [  # every pair of values
        (1, "adam", 0.0, False, None),
        (3, "adam", 0.0, True, 2.0),
        (1, "adam", 0.1, True, None),
        (3, "adam", 0.1, False, 2.0),
        (1, "adamw", 0.1, True, 2.0),
        (3, "adamw", 0.1, False, None),
    ],
)
def test_the_same_steps(trials, optimizer, decay, averaged, clip):
    plain, fused = both(trials, optimizer=optimizer, weight_decay=decay, clip=clip, ema=0.7 if averaged else None)
    for step in range(1, 4):
        gradient = gradient_of(trials, step)
        kept, forget = gradient.clone(), [adam.step(gradient, factors(trials)) for adam in (plain, fused)]
        assert torch.equal(gradient, kept)
        assert forget[0] == forget[1]
        for name in ("weights", "first", "second", "average"):
            found, expected = getattr(fused, name), getattr(plain, name)
            assert (expected is None) == (name == "average" and not averaged)
            if expected is not None:
                torch.testing.assert_close(found, expected, rtol=2e-6, atol=1e-7, msg=lambda text, name=name: f"{name}: {text}")


@kernels
@pytest.mark.parametrize("trials", [1, 3])
@pytest.mark.parametrize("size", [1.0, 1e-30, 1e25, 1e37])
def test_the_same_norms(trials, size):
    """Also where squares are not float32 numbers, and always the same bits."""
    plain, fused = both(trials)
    gradient = gradient_of(trials, 1, size)
    found = fused.norms(gradient)
    assert found.dtype == torch.float64
    torch.testing.assert_close(found, plain.norms(gradient), rtol=1e-12, atol=0)
    parts = [part.view(trials, -1).double() for part in gradient.split([trials * n for n in SIZES])]
    torch.testing.assert_close(found, torch.cat(parts, 1).square().sum(1).sqrt(), rtol=1e-12, atol=0)
    assert torch.equal(found, fused.norms(gradient))


@kernels
def test_trials_do_not_touch_each_other():
    """What is not finite in one trial stays there."""
    _, fused = both(3, clip=1.0, ema=0.9)
    gradient = gradient_of(3, 1)
    gradient.view(-1)[SIZES[0] : 2 * SIZES[0]] = torch.nan  # the first parameter of the second trial
    fused.step(gradient, factors(3))
    begin = 0
    for size in SIZES:
        finite = fused.weights[begin : begin + 3 * size].view(3, size).isfinite().all(1)
        assert finite.tolist() == [True, False, True]
        begin += 3 * size


def made_step(task, settings) -> TrainingStep:
    model = make_models(task, settings, trials_of(task, settings.train)).to(DEVICE)
    step = TrainingStep(task, model, settings.train)
    step.adam.rate.fill_(0.01)
    return step


@kernels
def test_training_steps(monkeypatch):
    """Whole steps of a model with statistics, which are averaged too: first steps, where rounding has not grown yet."""
    monkeypatch.setattr(linear.triton_linear, "_MOST_CHUNKS", 2)  # most would be empty
    task = regression()
    settings = small(clip=0.1, ema=0.9, weight_decay=0.01).with_overrides(["model.norm=batch"])
    steps = []
    for fused in (False, True):
        monkeypatch.setattr(triton_adam, "can_fuse", lambda weights, fused=fused: fused)
        steps.append(made_step(task, settings))
    assert [type(step.adam).__name__ for step in steps] == ["Adam", "FusedAdam"]
    for k in range(3):
        batch = task.dataset[np.arange(6) + k].to(DEVICE)
        batch.attrs["weight"] = torch.ones(6, device=DEVICE)
        for step in steps:
            step.train([batch])
    expected, found = (step.tensors() for step in steps)
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
    for name, value in eager.tensors().items():
        assert torch.equal(captured.tensors()[name], value), name


@kernels
def test_float64_stays_with_torch():
    assert not triton_adam.can_fuse(torch.zeros(3, dtype=torch.float64, device=DEVICE))
    assert triton_adam.can_fuse(torch.zeros(3, device=DEVICE)) == (DEVICE == "cuda")
