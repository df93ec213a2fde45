"""Kill, resume, and have the same run: weights, log and result, bit for bit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import planegraph as pg
from planegraph.train import load_settings, step, train
from planegraph.train.checkpoint import load_checkpoint, save_checkpoint
from planegraph.train.errors import DivergedError, SettingsError, Stopped
from planegraph.train.log import read_log
from planegraph.train.loop import CHECKPOINT
from planegraph.train.machine import read_sessions

from .tasks import regression, small
from .worker import settings

TESTS = Path(__file__).parents[1]


def start(folder: Path, how: str) -> subprocess.Popen:
    env = os.environ | {"PYTHONPATH": str(TESTS), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen([sys.executable, "-m", "train.worker", str(folder), how], env=env, stdout=subprocess.PIPE, text=True)


def wait_for_epoch(process: subprocess.Popen, folder: Path, epoch: int) -> None:
    until = time.monotonic() + 60
    while not any(r["epoch"] >= epoch for r in read_log(folder / "log.jsonl")):
        assert process.poll() is None, "the run ended before it was interrupted"
        assert time.monotonic() < until
        time.sleep(0.02)
    time.sleep(0.1)  # into the next epoch


def outcome(folder: Path):
    tensors, facts = load_checkpoint(folder / CHECKPOINT)
    facts.pop("seconds")
    log = [{k: v for k, v in r.items() if k != "seconds"} for r in read_log(folder / "log.jsonl")]
    return tensors, facts, log, json.loads((folder / "result.json").read_text())["lanes"]


def assert_same(a: Path, b: Path) -> None:
    (tensors, *rest), (others, *other_rest) = outcome(a), outcome(b)
    assert rest == other_rest
    assert tensors.keys() == others.keys()
    for name, value in tensors.items():
        assert torch.equal(value, others[name]), name


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    process = start(folder, "plain")
    assert process.wait(120) == 0
    return folder


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda n: n.name)
def test_interrupted_and_resumed(tmp_path, whole, number):
    process = start(tmp_path, "slow")
    wait_for_epoch(process, tmp_path, 3)
    process.send_signal(number)
    output, _ = process.communicate(timeout=60)
    if number == signal.SIGKILL:
        assert process.returncode == -number
    else:
        assert process.returncode == 75
        assert "--resume goes on" in output
    assert not (tmp_path / "result.json").exists()
    assert start(tmp_path, "resume").wait(120) == 0
    assert_same(tmp_path, whole)


def test_a_signal_in_mid_epoch(tmp_path, monkeypatch):
    task, remember = regression(), step._remember

    def signalled(state, *sums):
        remember(state, *sums)
        if state.count.item() == 15:
            signal.raise_signal(signal.SIGTERM)

    train(task, settings(), tmp_path / "whole", device="cpu")
    with monkeypatch.context() as patch:
        patch.setattr(step, "_remember", signalled)
        with pytest.raises(Stopped, match="stopped in epoch 3, step 3") as stopped:
            train(task, settings(), tmp_path / "parts", device="cpu")
    assert stopped.value.signal == signal.SIGTERM
    assert load_checkpoint(tmp_path / "parts" / CHECKPOINT)[1]["step"] == 3
    train(task, settings(), tmp_path / "parts", resume=True, device="cpu")
    assert_same(tmp_path / "whole", tmp_path / "parts")


def test_a_finished_run_can_be_lengthened(tmp_path):
    task = regression()
    train(task, settings(), tmp_path / "a", device="cpu")
    train(task, settings().with_overrides(["train.epochs=5"]), tmp_path / "b", device="cpu")
    train(task, settings(), tmp_path / "b", resume=True, device="cpu")
    assert_same(tmp_path / "a", tmp_path / "b")


@pytest.mark.parametrize(
    ("before", "now", "why"),
    [
        ({"schedule": "cosine"}, {"epochs": 8}, "the rates follow the number of epochs"),
        ({"schedule": "cosine"}, {"epochs": 3}, "is in epoch 4 already"),
        ({}, {"epochs": 3}, "is in epoch 4 already"),
        ({"eval_every": 3}, {"epochs": 8}, "validated out of turn"),
    ],
)
def test_another_number_of_epochs_may_be_another_run(tmp_path, before, now, why):
    task = regression()
    train(task, small(**before), tmp_path, device="cpu")
    held = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(SettingsError, match=rf"train\.epochs=4, not \d.*{why}"):
        train(task, small(**before, **now), tmp_path, resume=True, device="cpu")
    assert {path: path.read_bytes() for path in held} == held


def test_a_lengthened_run_has_no_result_until_it_is_done(tmp_path, monkeypatch):
    task, remember = regression(), step._remember

    def signalled(state, *sums):
        remember(state, *sums)
        signal.raise_signal(signal.SIGTERM)

    train(task, small(), tmp_path, device="cpu")
    with monkeypatch.context() as patch:
        patch.setattr(step, "_remember", signalled)
        with pytest.raises(Stopped):
            train(task, small(epochs=6), tmp_path, resume=True, device="cpu")
    assert not (tmp_path / "result.json").exists()
    assert len(read_sessions(tmp_path)) == 2
    train(task, small(epochs=6), tmp_path, resume=True, device="cpu")
    assert len(read_sessions(tmp_path)) == 3
    train(task, small(epochs=6), tmp_path, resume=True, device="cpu")  # nothing is left to do
    assert len(read_sessions(tmp_path)) == 3


def test_several_groups_are_one_session(tmp_path):
    settings = small(seeds=3, together=False)
    train(regression(), settings, tmp_path, device="cpu")
    assert (tmp_path / "group2").exists()
    assert len(read_sessions(tmp_path)) == 1


def test_other_data_are_refused(tmp_path):
    task = regression()
    train(task, small(), tmp_path, device="cpu")
    longer, y = small(epochs=5), task.dataset.y.copy()
    y[0] += 1
    swapped = {**task.splits, "val": task.splits["test"][:6]}
    for other in (
        replace(task, dataset=task.dataset.with_y(y)),
        replace(task, splits=swapped),
        replace(task, loss="mse"),
        replace(task, name="other"),
        replace(task, node_features=("categorical", (7,))),
    ):
        with pytest.raises(SettingsError, match="made of other data"):
            train(other, longer, tmp_path, resume=True, device="cpu")
    assert json.loads((tmp_path / "result.json").read_text())["lanes"]
    train(task, longer, tmp_path, resume=True, device="cpu")


def test_tensors_of_another_shape_are_named(tmp_path):
    task = regression()
    train(task, small(), tmp_path, device="cpu")
    tensors, facts = load_checkpoint(tmp_path / CHECKPOINT)
    save_checkpoint(tmp_path / CHECKPOINT, tensors | {"state.weights": torch.zeros(7)}, facts)
    with pytest.raises(SettingsError, match=r"has state\.weights of shape \(7,\); this model needs"):
        train(task, small(), tmp_path, resume=True, device="cpu")


def test_a_default_may_be_spelled_out(tmp_path):
    task = regression()
    train(task, small(), tmp_path, device="cpu")
    spelled = small().with_overrides(["model.cut=true", "model.dropout=0", "train.epochs=5"])
    assert train(task, spelled, tmp_path, resume=True, device="cpu")["lanes"]


@pytest.mark.parametrize("line", ["", "5", '{"a": 1}', '{"epoch": 2, "se', "\xff\xfe"])
def test_a_damaged_line_of_the_log_is_not_lost_silently(tmp_path, line):
    task = regression()
    train(task, small(), tmp_path, device="cpu")
    path = tmp_path / "log.jsonl"
    lines = path.read_text().splitlines()
    spoilt = "\n".join([lines[0], line, *lines[2:]]) + "\n"
    path.write_text(spoilt, encoding="latin-1")
    with pytest.raises(pg.FormatError, match=r"log\.jsonl, line 2, is damaged"):
        train(task, small(epochs=5), tmp_path, resume=True, device="cpu")
    assert path.read_text(encoding="latin-1") == spoilt


def test_other_settings_are_refused(tmp_path):
    task = regression()
    train(task, small(), tmp_path, device="cpu")
    with pytest.raises(SettingsError, match=r"train\.lr=0\.01, not 0\.5"):
        train(task, small(lr=0.5), tmp_path, resume=True, device="cpu")
    assert load_settings(tmp_path / "settings.yaml") == small()
    with pytest.raises(pg.PlanegraphError, match="already holds a run"):
        train(task, small(), tmp_path, device="cpu")


def test_a_damaged_checkpoint_is_refused(tmp_path):
    task = regression()
    train(task, small(), tmp_path, device="cpu")
    data = (tmp_path / CHECKPOINT).read_bytes()
    (tmp_path / CHECKPOINT).write_bytes(data[: len(data) // 2])
    with pytest.raises(pg.FormatError, match="no checkpoint"):
        train(task, small(), tmp_path, resume=True, device="cpu")


def test_nan_says_where(tmp_path):
    task = regression()
    task.dataset.y[task.splits["train"][3]] = float("nan")
    with pytest.raises(DivergedError, match=r"seed0: the training loss in step \d of 3 of epoch 1 is not a finite number"):
        train(task, small(seeds=2), tmp_path / "a", device="cpu")
    assert not (tmp_path / "a" / CHECKPOINT).exists()
    task = regression()
    task.dataset.y[task.splits["val"][0]] = float("inf")
    with pytest.raises(DivergedError, match="the validation loss after epoch 1"):
        train(task, small(), tmp_path / "b", device="cpu")
