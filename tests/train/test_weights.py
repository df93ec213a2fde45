"""Weights of training graphs: what they do to the loss, and that they do it wherever a batch is made."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from planegraph.errors import PlanegraphError
from planegraph.runs.checkpoint import CHECKPOINT, load_checkpoint
from planegraph.runs.errors import SettingsError
from planegraph.runs.log import read_log
from planegraph.runs.models import make_models
from planegraph.runs.trials import trials_of
from planegraph.tasks.losses import graph_losses
from planegraph.tasks.sources import scaled_weights
from planegraph.tasks.task import Task
from planegraph.train import batches, train
from planegraph.train.step import TrainingStep

from .tasks import regression, small

OPTIONS = {"epochs": 3, "clip": 0.5, "schedule": {"kind": "cosine", "warmup": 1}}


def weighted(task: Task, weights: np.ndarray) -> Task:
    scaled = scaled_weights(weights, task.by_fold()[0][1]["train"])
    return replace(task, dataset=task.dataset.with_attrs(sample_weight=scaled))


def random_weights(task: Task) -> np.ndarray:
    return np.random.default_rng(1).exponential(size=len(task.dataset))


def state_of(folder) -> dict[str, torch.Tensor]:
    return load_checkpoint(folder / CHECKPOINT)[0]


def assert_equal_runs(a, b) -> None:
    mine, theirs = state_of(a), state_of(b)
    assert mine.keys() == theirs.keys()
    for name, value in mine.items():
        assert torch.equal(value, theirs[name]), name


@pytest.mark.parametrize("loss", ["l1", "mse", "rmse"])
def test_a_step_has_the_gradient_of_the_weighted_mean(loss):
    """By hand, with autograd, on one batch that is the whole training part: the mean of its weights is 1."""
    task, settings = replace(regression(), loss=loss), small(precision="float64")
    task = weighted(task, random_weights(task))
    trial = trials_of(task, settings.train)[0]
    model, other = make_models(task, settings, [trial]), make_models(task, settings, [trial])
    batch = task.dataset[trial.split["train"]]
    batch.attrs["weight"] = torch.ones(len(trial.split["train"]))
    step = TrainingStep(task, model, settings.train)
    step.differentiate(batch)
    gradient, total, count = step.sums[:-2], step.sums[-2], step.sums[-1]
    factor = 1 / count if loss != "rmse" else 0.5 / (count * (total / count).sqrt())
    weights = batch.attrs["sample_weight"].double()
    wanted = (weights * graph_losses(task, other(batch), batch.y)).sum() / weights.sum()
    wanted = wanted.sqrt() if loss == "rmse" else wanted
    wanted.backward()
    own = dict(zip(step.names, step.views(gradient * factor), strict=True))
    for name, parameter in other.named_parameters():
        torch.testing.assert_close(own[name], parameter.grad, rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("seeds", [1, 2])
@pytest.mark.parametrize("value", [1.0, 0.3])
def test_equal_weights_train_as_none_do(tmp_path, seeds, value):
    task, settings = regression(), small(**OPTIONS, seeds=seeds)
    train(task, settings, tmp_path / "none", device="cpu")
    train(weighted(task, np.full(len(task.dataset), value)), settings, tmp_path / "equal", device="cpu")
    assert_equal_runs(tmp_path / "none", tmp_path / "equal")


def test_a_common_factor_changes_nothing(tmp_path):
    task, settings = regression(), small(**OPTIONS)
    for name, factor in (("one", 1.0), ("other", 2.0**40)):
        train(weighted(task, factor * random_weights(task)), settings, tmp_path / name, device="cpu")
    assert_equal_runs(tmp_path / "one", tmp_path / "other")


@pytest.mark.parametrize("seeds", [1, 2])
def test_a_device_that_keeps_the_dataset_reads_the_weights(tmp_path, monkeypatch, seeds):
    task, settings = regression(edges=True), small(**OPTIONS, seeds=seeds)
    weighed = weighted(task, random_weights(task))
    train(task, settings, tmp_path / "none", device="cpu")
    train(weighed, settings, tmp_path / "host", device="cpu")
    monkeypatch.setattr(batches, "_RESIDENT", ("cpu",))
    train(weighed, settings, tmp_path / "resident", device="cpu")
    assert_equal_runs(tmp_path / "host", tmp_path / "resident")
    assert not torch.equal(state_of(tmp_path / "none")["state.weights"], state_of(tmp_path / "host")["state.weights"])


def test_a_seed_in_a_stack_is_the_seed_alone(tmp_path):
    task = regression(50)
    task = weighted(task, random_weights(task))
    together, alone = small(**OPTIONS, seeds=2, precision="float64"), small(**OPTIONS, seed=1, precision="float64")
    train(task, together, tmp_path / "together", device="cpu")
    train(task, alone, tmp_path / "alone", device="cpu")
    curves = [[r["loss"] for r in read_log(tmp_path / name / "log.jsonl") if r["seed"] == 1] for name in ("together", "alone")]
    np.testing.assert_allclose(*curves, rtol=1e-7)


def test_the_loss_of_an_epoch_is_the_weighted_mean(tmp_path):
    """At a rate that changes nothing, the weights of the model are those of the start; metrics do not read the weights of graphs."""
    task, settings = regression(), small(epochs=1, lr=1e-30, precision="float64")
    task = weighted(task, random_weights(task))
    result = train(task, settings, tmp_path, device="cpu")
    trial = trials_of(task, settings.train)[0]
    model = make_models(task, settings, [trial]).eval()
    losses = {part: graph_losses(task, *_outputs(task, model, ids)).detach().numpy() for part, ids in trial.split.items()}
    wanted = np.average(losses["train"], weights=task.dataset.attrs["sample_weight"][trial.split["train"]])
    assert read_log(tmp_path / "log.jsonl")[0]["loss"] == pytest.approx(wanted, rel=1e-6)
    assert result["trials"][0]["val_loss"] == pytest.approx(losses["val"].mean(), rel=1e-6)
    assert result["trials"][0]["test"] == pytest.approx(losses["test"].mean(), rel=1e-6)


def _outputs(task: Task, model, ids: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    batch = task.dataset[ids]
    return model(batch), batch.y


@pytest.mark.parametrize("sign", [1, -1])
def test_weights_decide_what_is_learned(tmp_path, sign):
    """Each training graph is there twice, with y and with -y; one of both has almost all of the weight."""
    task = regression(60)
    ids, twice = np.arange(60), task.splits["train"]
    dataset = task.dataset.subset(np.concatenate([ids, twice]))
    y = np.concatenate([sign * dataset.y[:60], -sign * dataset.y[60:]])
    splits = dict(task.splits) | {"train": np.concatenate([twice, np.arange(60, 60 + len(twice))])}
    weights = np.concatenate([np.ones(60), np.full(len(twice), 1e-3)])
    doubled = weighted(replace(task, dataset=dataset.with_y(y), splits=splits), weights)
    result = train(doubled, small(epochs=30), tmp_path, device="cpu")
    assert result["test"]["mean"] < 0.5 * np.abs(task.dataset.y[task.splits["test"]]).mean()


def test_a_run_is_not_resumed_with_other_weights(tmp_path):
    task, settings = regression(), small(epochs=2)
    train(weighted(task, random_weights(task)), settings, tmp_path, device="cpu")
    for other in (task, weighted(task, random_weights(task)[::-1])):
        with pytest.raises(SettingsError, match="was made of other data"):
            train(other, settings, tmp_path, resume=True, device="cpu")


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.full(40, -1.0), r"sample_weight must be finite and at least 0; found -1.0 at graph 0, in part 'train'"),
        (np.full(40, np.nan), "found nan at graph 0"),
        (np.zeros(40), "all weights are 0 in"),
        (np.ones((40, 1)), r"one number for each graph; found shape \(40, 1\)"),
    ],
)
def test_bad_weights(weights, message):
    task = regression()
    with pytest.raises(PlanegraphError, match=message):
        replace(task, dataset=task.dataset.with_attrs(sample_weight=weights.astype(np.float32)))


def test_large_weights_are_scaled_without_overflow():
    assert scaled_weights(np.array([1e308, 1e308, 5e307]), np.array([0, 1])).tolist() == [1, 1, 0.5]
