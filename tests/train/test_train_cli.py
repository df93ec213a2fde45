from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from planegraph import datasets
from planegraph.cli import main
from planegraph.train import load_settings

from .tasks import regression, stopped_at


@pytest.fixture(autouse=True)
def counting(monkeypatch):
    class Dataset:
        def task(self, targets=1):
            return regression(targets=targets)

    monkeypatch.setattr(datasets, "get", lambda name, root=None: Dataset(), raising=False)


FAST = ["--set", "model.hidden=8", "--set", "model.layers=1", "--set", "train.epochs=2", "--device", "cpu"]


def test_train(tmp_path, capsys):
    out = tmp_path / "run"
    assert main(["train", "counting", *FAST, "--seeds", "2", "--set", "options.targets=3", "--out", str(out)]) == 0
    text = capsys.readouterr().out
    assert "mean and standard deviation of 2 runs" in text
    assert "mae, test at the best epoch: " in text
    result = json.loads((out / "result.json").read_text())
    assert len(result["lanes"][0]["test_by_target"]) == 3
    assert load_settings(out / "settings.yaml").train.seeds == 2
    assert (
        main(["train", "counting", "--config", str(out / "settings.yaml"), "--device", "cpu", "--resume", "--out", str(out)]) == 0
    )


def test_trouble_is_explained(tmp_path, capsys):
    out, missing, broken = ["--out", str(tmp_path / "run")], str(tmp_path / "none.yaml"), tmp_path / "broken.yaml"
    broken.write_text("task: [\n")
    for arguments, words in [
        (["train", "counting", "--set", "train.lr=fast", *out], "train.lr must be a number"),
        (
            ["train", "counting", "--config", missing, *out],
            f"planegraph: cannot read --config {missing}: No such file or directory\n",
        ),
        (["train", "counting", "--config", str(tmp_path), *out], f"planegraph: cannot read --config {tmp_path}: Is a directory\n"),
        (["train", "counting", "--config", str(broken), *out], f"{broken} is no YAML"),
        (["train", "counting", "--set", "options.colour=3", *FAST, *out], "options of the task counting"),
        (["train", "counting", "--set", "task=other", *out], "--set makes the task other, but counting was asked for"),
        (["train", "counting", "--set", "model_class=GINE", *FAST, *out], "GINE reads edge features"),
    ]:
        assert main(arguments) == 2
        assert words in capsys.readouterr().err
    config = tmp_path / "a.yaml"
    config.write_text("task: other\n")
    assert main(["train", "counting", "--config", str(config), *out]) == 2
    assert "is for the task other" in capsys.readouterr().err


def test_training_does_not_know_the_tables(tmp_path):
    """It runs where the experiments are not there at all."""
    arguments = [
        "train",
        "p3r",
        "--set",
        "model.hidden=4",
        "model.layers=1",
        "train.epochs=1",
        "--device",
        "cpu",
        "-q",
        "--out",
        "run",
    ]
    code = f"import sys; sys.modules['planegraph.experiments'] = None; from planegraph.cli import main; sys.exit(main({arguments}))"
    env = os.environ | {"PLANEGRAPH_CACHE": str(tmp_path / "cache"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run" / "result.json").is_file()


def test_a_run_that_diverges(tmp_path, capsys):
    out = ["--out", str(tmp_path / "run")]
    assert main(["train", "counting", *FAST, "--set", "train.lr=1e30", "train.epochs=9", *out]) == 3
    assert "planegraph: diverged: " in capsys.readouterr().err


def test_a_run_that_is_stopped(tmp_path, capsys):
    codes = []
    stopped_at(1, lambda: codes.append(main(["train", "counting", *FAST, "--out", str(tmp_path / "run")])))
    assert codes == [143]
    assert "--resume goes on from there" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["train", "reproduce"])
def test_exit_codes_are_those_of_training(capsys, command):
    assert main([command, "--help"]) == 0
    text = capsys.readouterr().out
    codes = [int(line.split()[0]) for line in text.partition("exit codes:\n")[2].splitlines() if line]
    assert codes == [0, 2, 3, 130, 141, 143]
    assert "for iso" not in text
