"""A seed or fold in a stack is the seed or fold alone: its curve, its rates, its best epoch, its test figure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planegraph.runs.log import read_log
from planegraph.train import train

from .tasks import regression, small

PLATEAU = {"kind": "plateau", "patience": 1, "min_lr": 1e-4}


def curves(folder) -> dict:
    found = {}
    for path in sorted(folder.rglob("log.jsonl")):
        for r in read_log(path):
            key = (r["seed"], r["fold"])
            found.setdefault(key, []).append([r[name] for name in ("loss", "rate", "val", "val_loss", "best", "best_epoch")])
    return {key: np.array(rows, float) for key, rows in found.items()}


@pytest.mark.parametrize(
    ("model", "folds"),
    [
        ({}, 2),
        ({"norm": "batch"}, 0),
        ({"dropout": 0.2, "dropout_readout": 0.3}, 0),
        ({"norm": "batch", "residual": False, "graph_scale": 9, "pooling": "mean"}, 2),
    ],
    ids=["plain", "batch norm", "dropout", "means"],
)
def test_same_as_alone(tmp_path, model, folds):
    task = regression(28, folds=folds)
    if folds:  # parts of different sizes, and one empty batch in the evaluation of a trial
        shorter = {part: ids[:-1] for part, ids in task.folds[1].items()} | {"val": task.folds[1]["val"][:3]}
        task = replace(task, folds=[task.folds[0], shorter])
    options = {
        "epochs": 16,
        "lr": 0.05,
        "seeds": 2,
        "schedule": PLATEAU,
        "clip": 0.5,
        "ema": 0.9,
        "precision": "float64",
        "batch_size": 5,
    }
    settings = small(**options).with_overrides([f"model.{name}={value}" for name, value in model.items()])
    together = train(task, settings, tmp_path / "a", device="cpu")
    alone = train(task, settings.with_overrides(["train.together=false"]), tmp_path / "b", device="cpu")
    assert not (tmp_path / "a" / "group1").exists()
    assert (tmp_path / "b" / "group1").exists()
    a, b = curves(tmp_path / "a"), curves(tmp_path / "b")
    assert a.keys() == b.keys()
    assert len(a) == 2 * max(1, folds)
    for key in a:
        np.testing.assert_allclose(a[key], b[key], rtol=1e-7)
    rates = np.array([curve[:, 1] for curve in a.values()])
    assert (rates < 0.01).any()
    assert (rates != rates[0]).any()  # each trial has its own schedule
    for mine, theirs in zip(together["trials"], alone["trials"], strict=True):
        assert (mine["seed"], mine["fold"], mine["best_epoch"]) == (theirs["seed"], theirs["fold"], theirs["best_epoch"])
        assert mine["test"] == pytest.approx(theirs["test"], rel=1e-7)


@pytest.mark.parametrize("model_class", ["GCN", "GIN", "GINE"])
def test_baselines_too(tmp_path, model_class):
    task = regression(edges=True)
    settings = small(model_class=model_class, epochs=6, seeds=3, clip=0.5, ema=0.9, precision="float64", schedule=PLATEAU)
    settings = settings.with_overrides(["model.norm=batch", "model.dropout=0.2", "model.dropout_readout=0.1"])
    together = train(task, settings, tmp_path / "a", device="cpu")
    alone = train(task, settings.with_overrides(["train.together=false"]), tmp_path / "b", device="cpu")
    assert not (tmp_path / "a" / "group1").exists()
    a, b = curves(tmp_path / "a"), curves(tmp_path / "b")
    assert len(a) == 3
    for key in a | b:
        np.testing.assert_allclose(a[key], b[key], rtol=1e-7)
    figures = [[trial["test"] for trial in result["trials"]] for result in (together, alone)]
    assert figures[0] == pytest.approx(figures[1], rel=1e-7)


@pytest.mark.parametrize("model", [[], ["model.norm=batch", "model.dropout=0.2"]], ids=["plain", "batch norm and dropout"])
def test_the_first_steps_in_single_precision(tmp_path, model):
    """Rounding grows from step to step, so float32 is compared where it has not grown yet."""
    settings = small(epochs=1, seeds=2, batch_size=20).with_overrides(model)
    train(regression(), settings, tmp_path / "a", device="cpu")
    train(regression(), settings.with_overrides(["train.together=false"]), tmp_path / "b", device="cpu")
    a, b = curves(tmp_path / "a"), curves(tmp_path / "b")
    for key in a:
        np.testing.assert_allclose(a[key][:, 0], b[key][:, 0], rtol=1e-5)


@pytest.mark.parametrize("model_class", ["BasePlanE", "GINE"])
def test_the_saved_models_give_the_test_figures(tmp_path, model_class):
    import torch

    from planegraph import nn
    from planegraph.runs.checkpoint import load_checkpoint

    task = regression(edges=True)
    result = train(task, small(model_class=model_class, seeds=2), tmp_path, device="cpu")
    test = task.splits["test"]
    for trial in result["trials"]:
        model = getattr(nn, model_class).from_pretrained(tmp_path / "models" / f"seed{trial['seed']}")
        error = (model(task.dataset[test]) - torch.from_numpy(task.dataset.y[test])).abs().mean()
        assert error.item() == pytest.approx(trial["test"], rel=1e-5)
        kept, _ = load_checkpoint(tmp_path / "models" / f"seed{trial['seed']}" / "test.safetensors")
        assert kept["id"].tolist() == test.tolist()
        assert (kept["predicted"] - kept["true"]).abs().mean().item() == pytest.approx(trial["test"], rel=1e-5)
