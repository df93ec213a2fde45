"""On a GPU: a captured run is the eager run, a seed in a captured stack is the seed alone, and all of it agrees with the CPU."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
import torch

from planegraph.runs.log import read_log
from planegraph.train import stack, step, train
from planegraph.train.step import TrainingStep

from .tasks import regression, small

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")

OPTIONS = {"epochs": 4, "seeds": 2, "clip": 0.5, "ema": 0.9, "schedule": {"kind": "plateau", "patience": 1}, "precision": "float64"}


def curve(folder) -> np.ndarray:
    rows = [r for path in sorted(folder.rglob("log.jsonl")) for r in read_log(path)]
    rows.sort(key=lambda r: (r["seed"], r["epoch"]))
    return np.array([[r[name] for name in ("loss", "rate", "val", "best_epoch")] for r in rows], float)


def assert_captured_is_eager_is_cpu(tmp_path, monkeypatch, task, settings) -> None:
    train(task, settings, tmp_path / "captured", device="cuda")
    train(task, settings.with_overrides(["train.together=false"]), tmp_path / "alone", device="cuda")
    train(task, settings, tmp_path / "cpu", device="cpu")
    monkeypatch.setattr(stack, "CapturedStep", TrainingStep)
    train(task, settings, tmp_path / "eager", device="cuda")
    expected = curve(tmp_path / "eager")
    for name in ("captured", "alone", "cpu"):
        np.testing.assert_allclose(curve(tmp_path / name), expected, rtol=1e-6, err_msg=name)


@pytest.mark.parametrize("model_class", ["BasePlanE", "GCN", "GIN", "GINE"])
@pytest.mark.parametrize("norm", ["none", "batch"])
def test_captured_is_eager_is_cpu(tmp_path, monkeypatch, norm, model_class):
    task, settings = regression(edges=model_class == "GINE"), small(model_class=model_class, **OPTIONS)
    settings = settings.with_overrides([f"model.norm={norm}", *([] if model_class == "BasePlanE" else ["model.dropout=0.2"])])
    assert_captured_is_eager_is_cpu(tmp_path, monkeypatch, task, settings)


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("norm", ["none", "batch"])
def test_the_model_of_zinc(tmp_path, monkeypatch, norm, edges):
    """BasePlanE as in configs/zinc12k-*: residual, graph_scale and dropout, which draws alike on a CPU and a GPU."""
    zinc = ["residual=true", "graph_scale=24", "norm_momentum=0.02", "dropout=0.2"]  # 1 / 0.8 is exact in float32, too
    settings = small(**OPTIONS).with_overrides([f"model.{word}" for word in (f"norm={norm}", *zinc)])
    assert_captured_is_eager_is_cpu(tmp_path, monkeypatch, regression(edges=edges), settings)


@pytest.mark.parametrize("seeds", [1, 3])
@pytest.mark.parametrize(
    ("model_class", "precision"),
    [
        ("BasePlanE", "float32"),
        ("BasePlanE", "tf32"),
        ("BasePlanE", "bf16"),
        ("GCN", "float32"),
        ("GIN", "float32"),
        ("GINE", "bf16"),
    ],
)
def test_gradients_aside(tmp_path, monkeypatch, model_class, precision, seeds):
    """On a separate stream or in the chain, gradients of weights are the same, bit for bit; in float32, by the kernels."""
    task = regression(edges=model_class in ("BasePlanE", "GINE"))
    settings = small(model_class=model_class, **OPTIONS | {"precision": precision, "seeds": seeds}).with_overrides(
        ["model.norm=batch"]
    )
    train(task, settings, tmp_path / "aside", device="cuda")
    monkeypatch.setattr(step, "gradients_aside", lambda device: nullcontext())
    train(task, settings, tmp_path / "chain", device="cuda")
    np.testing.assert_array_equal(curve(tmp_path / "aside"), curve(tmp_path / "chain"))


def test_targets_of_their_own(tmp_path):
    from .test_targets import NAMES, several

    task, settings = several(), small(**OPTIONS).with_overrides(["model.norm=batch"])
    train(task, settings, tmp_path / "stack", device="cuda")
    for name in NAMES:
        train(task.of_target(name), settings, tmp_path / name, device="cpu")
        np.testing.assert_allclose(curve(tmp_path / "stack" / name), curve(tmp_path / name), rtol=1e-6)


def test_resumed(tmp_path):
    task, settings = regression(), small(**OPTIONS)
    train(task, settings, tmp_path / "whole", device="cuda")
    train(task, settings.with_overrides(["train.epochs=2"]), tmp_path / "parts", device="cuda")
    train(task, settings, tmp_path / "parts", resume=True, device="cuda")
    np.testing.assert_allclose(curve(tmp_path / "parts"), curve(tmp_path / "whole"), rtol=1e-9)


@pytest.mark.parametrize("model_class", ["BasePlanE", "GCN", "GIN", "GINE"])
def test_a_step_waits_for_nothing(model_class):
    from planegraph.runs.trials import trials_of
    from planegraph.train.batches import join
    from planegraph.train.environment import World

    task, settings = regression(edges=model_class == "GINE"), small(model_class=model_class, **OPTIONS)
    made = stack.Stack(task, settings, trials_of(task, settings.train), torch.device("cuda"), World())
    batch = join(next(made.batches.training(0)), torch.device("cuda"))
    TrainingStep.train(made.step, [batch])
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    try:
        TrainingStep.train(made.step, [batch])
    finally:
        torch.cuda.set_sync_debug_mode("default")
    made.batches.close()
