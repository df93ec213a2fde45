"""Wrong usage of the commands that train is said in a line, before anything is trained."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from train.tasks import regression

from planegraph import datasets
from planegraph.cli import main
from planegraph.cli.options import check_device

NO_GPU = {"is_available": lambda: False, "device_count": lambda: 0}
TWO_GPUS = {"is_available": lambda: True, "device_count": lambda: 2}


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def refused(capsys, *arguments: str) -> str:
    assert main(list(arguments)) == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("command", [("train", "p3r"), ("reproduce", "p3r")])
@pytest.mark.parametrize(
    ("gpus", "device", "there"),
    [
        (NO_GPU, "cuda", "cpu\n"),
        (NO_GPU, "cuda:1", "cpu\n"),
        (NO_GPU, "foo", "cpu\n"),
        (NO_GPU, "cpu:1", "cpu\n"),
        (NO_GPU, "", "cpu\n"),
        (TWO_GPUS, "cuda:2", "cpu, cuda, cuda:0, cuda:1\n"),
    ],
)
def test_a_device_that_there_is_not(tmp_path, capsys, monkeypatch, command, gpus, device, there):
    for name, answer in gpus.items():
        monkeypatch.setattr(torch.cuda, name, answer)
    text = f"planegraph: --device {device} is not available; available: {there}"
    assert refused(capsys, *command, "--device", device) == text
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("device", [None, "cpu", "cpu:0"])
def test_the_cpu_is_always_there(monkeypatch, device):
    for name, answer in NO_GPU.items():
        monkeypatch.setattr(torch.cuda, name, answer)
    check_device(device)


def test_training_on_the_numbered_cpu(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets, "get", lambda name, root=None: SimpleNamespace(task=regression))
    model = [word for text in ("model.hidden=4", "model.layers=1", "train.epochs=1") for word in ("--set", text)]
    assert main(["train", "counting", "--device", "cpu:0", "--quiet", "--out", str(tmp_path / "run"), *model]) == 0


def test_a_task_that_there_is_not(tmp_path, capsys):
    words = "there is no dataset 'nosuch'; there are exp, "
    assert words in refused(capsys, "train", "nosuch", "--device", "cpu")
    config = tmp_path / "config.yaml"
    config.write_text("task: nosuch\n")
    assert words in refused(capsys, "train", "nosuch", "--config", str(config), "--device", "cpu")
    assert words in refused(capsys, "reproduce", "p3r", "--only", "p3r-gin", "--set", "task=nosuch", "--device", "cpu")


def test_what_replaces_no_setting(tmp_path, capsys):
    assert "tiger is measured: python benchmarks/measured.py tiger" in refused(capsys, "reproduce", "tiger", "--device", "cpu")
    assert "no setting nonsense" in refused(capsys, "reproduce", "p3r", "--set", "nonsense.foo=1", "--device", "cpu")
    assert "--note goes with --from-run RUN" in refused(capsys, "reproduce", "p3r", "--note", "mine", "--device", "cpu")
    assert "task is missing" in refused(capsys, "train", "p3r", "--set", "task=", "--device", "cpu")
    assert "train.seeds must be at most 1000; found 9999999" in refused(capsys, "train", "p3r", "--seeds", "9999999")
    assert not list(tmp_path.iterdir())
