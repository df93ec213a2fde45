from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import warnings
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from planegraph import cli, datasets
from planegraph.cli import main
from planegraph.errors import PlanegraphError, PlanegraphWarning
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
    assert len(result["trials"][0]["test_by_target"]) == 3
    assert load_settings(out / "settings.yaml").train.seeds == 2
    assert (
        main(["train", "counting", "--config", str(out / "settings.yaml"), "--device", "cpu", "--resume", "--out", str(out)]) == 0
    )


def test_warnings_are_messages(tmp_path, capsys, monkeypatch):
    """Without the path of a file and a line of its source; the first of several processes speaks for all."""
    run = ["train", "counting", *FAST, "--set", "train.schedule=constant", "-q", "--out", str(tmp_path / "run")]
    assert main(run) == 0
    (tmp_path / "run" / "log.jsonl").unlink()
    longer = [word.replace("train.epochs=2", "train.epochs=3") for word in run]
    capsys.readouterr()
    assert main([*longer, "--resume"]) == 0
    err = capsys.readouterr().err
    assert err.startswith(f"planegraph: warning: {tmp_path / 'run' / 'log.jsonl'} lacks 2 lines of epochs that are done")
    assert ".py:" not in err
    assert len(err.splitlines()) == 1
    for rank, count in (("0", 1), ("1", 0)):
        monkeypatch.setenv("RANK", rank)
        monkeypatch.setenv("WORLD_SIZE", "2")
        with warnings.catch_warnings():
            cli._say_warnings()
            warnings.warn("odd", PlanegraphWarning, stacklevel=1)
        assert capsys.readouterr().err.count("planegraph: warning: odd\n") == count
    assert cli._explain(PlanegraphWarning("odd")) == (3, "odd")  # python -W error


def test_what_is_trained_and_tested_on_is_told(tmp_path, capsys, monkeypatch):
    task = regression()
    mixed = replace(task, splits={**task.splits, "test": task.splits["train"][:5]})
    monkeypatch.setattr(datasets, "get", lambda name, root=None: SimpleNamespace(task=lambda: mixed))
    assert main(["train", "counting", *FAST, "-q", "--out", str(tmp_path / "run")]) == 0
    told = "5 of the 5 graphs of part 'test' are in part 'train', too"
    assert capsys.readouterr().err == f"planegraph: warning: task counting: {told}\n"
    assert told in json.loads((tmp_path / "run" / "result.json").read_text())["notes"]


def test_out_of_memory_is_no_bug(tmp_path, capsys):
    wide = ["--set", "model.hidden=100000000", "--device", "cpu", "--out", str(tmp_path / "run")]
    assert main(["train", "counting", *wide]) == 3
    err = capsys.readouterr().err
    assert err.startswith("planegraph: out of memory (tried to allocate ")
    assert "a smaller train.batch_size, fewer --seeds or a smaller model.hidden" in err
    assert "bug" not in err


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 1 GiB"),
        RuntimeError("CUDA error: out of memory\nCUDA kernel errors might be reported later"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        RuntimeError("Storage size calculation overflowed with sizes=[10000000000, 10000000000]"),
    ],
    ids=["kind", "message", "cublas", "overflow"],
)
def test_out_of_memory_on_a_gpu(tmp_path, capsys, monkeypatch, error):
    def fail(*args, **options):
        raise error

    monkeypatch.setattr("planegraph.train.train", fail)
    assert main(["train", "counting", "--device", "cpu", "--out", str(tmp_path / "run")]) == 3
    err = capsys.readouterr().err
    assert err.startswith("planegraph: out of memory")
    assert ("2.50 GiB" in err) == ("2.50 GiB" in str(error))


class Killed(BaseException):
    """By torchrun, as another process has failed."""


def as_rank(monkeypatch, rank: int) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", str(rank))
    monkeypatch.setattr(cli, "_PATIENCE", 0.0)


@pytest.mark.parametrize(
    "arguments",
    [["--sett", "x=1"], ["--set", "train.lr=fast"], ["--set", "task=other"], ["--set", "options.colour=3"]],
    ids=["argparse", "value", "task", "option"],
)
def test_what_all_processes_find_is_said_once(tmp_path, capfd, monkeypatch, arguments):
    """By the first: the others wait until torchrun ends them."""

    def wait(seconds):
        raise Killed

    command = ["train", "counting", "--device", "cpu", "--out", str(tmp_path), *arguments]
    monkeypatch.setattr(cli.time, "sleep", wait)
    as_rank(monkeypatch, 0)
    assert main(command) == 2
    assert capfd.readouterr().err
    as_rank(monkeypatch, 1)
    with pytest.raises(Killed):
        main(command)
    assert capfd.readouterr() == ("", "")


def test_what_one_process_finds_is_said_with_its_rank(tmp_path, capfd, monkeypatch):
    def missing(name, root=None):
        raise PlanegraphError("there are no files here")

    monkeypatch.setattr(datasets, "get", missing)
    for rank, who in ((0, ""), (1, "rank 1 of 2: ")):
        as_rank(monkeypatch, rank)
        assert main(["train", "counting", "--device", "cpu", "--out", str(tmp_path)]) == 2
        assert capfd.readouterr().err == f"planegraph: {who}there are no files here\n"
        assert main(["iso", "C~", "--format", "C~"]) == 2  # not a command of several processes: it may be another one in each
        assert "invalid choice" in capfd.readouterr().err


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
        (["train", "counting", "--config", str(broken), *out], f"{broken} is not YAML"),
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


def test_a_folder_is_enough_to_resume(tmp_path, capsys):
    out = str(tmp_path / "run")
    assert main(["train", "counting", *FAST, "--set", "train.epochs=2", "train.schedule=constant", "--out", out, "-q"]) == 0
    first = json.loads((tmp_path / "run" / "result.json").read_text())
    assert main(["train", "--resume", "--out", out, "-q"]) == 0
    assert json.loads((tmp_path / "run" / "result.json").read_text()) == first
    assert main(["train", "--resume", "--out", out, "-q", "--set", "train.epochs=3"]) == 0
    assert len((tmp_path / "run" / "log.jsonl").read_text().splitlines()) == 3
    capsys.readouterr()
    assert main(["train", "--resume", "--out", str(tmp_path / "none")]) == 2
    assert "holds no run" in capsys.readouterr().err
    assert main(["train"]) == 2
    assert "name a benchmark, a file or module:function" in capsys.readouterr().err


def test_configs_by_name(tmp_path, capsys, monkeypatch):
    seen = []
    monkeypatch.setattr("planegraph.train.tasks.task_of", lambda settings, root: seen.append(settings) or 1 / 0)
    for arguments, epochs in [(["p3r"], 100), (["p3r", "--config", "p3r-gin"], None), (["zinc12k"], 1300)]:
        main(["train", *arguments, "--out", str(tmp_path / "run")])
        assert seen[-1].task == arguments[0]
        assert epochs is None or seen[-1].train.epochs == epochs
    assert seen[1].model_class == "GIN"
    assert seen[2].options["edge_features"]
    assert "settings of p3r-baseplane, the published row" in capsys.readouterr().err
    assert main(["train", "p3r", "--config", "p3r-gone", "--out", str(tmp_path / "run")]) == 2
    assert "there is no p3r-gone.yaml" in capsys.readouterr().err
    main(["train", "p3r", "--set", "train.epochs=7", "--out", str(tmp_path / "run")])
    assert (seen[-1].train.epochs, seen[-1].train.seeds) == (7, 1)


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
    env = os.environ | {"PLANEGRAPH_CACHE": str(tmp_path / "cache")}
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
    assert "--resume continues it" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["train", "reproduce"])
def test_exit_codes_are_those_of_training(capsys, command):
    assert main([command, "--help"]) == 0
    text = capsys.readouterr().out
    codes = [int(code) for code in re.findall(r"^  (\d+) ", text.partition("exit codes:\n")[2], re.MULTILINE)]
    assert codes == [0, 2, 3, 130, 141, 143]
    assert "for iso" not in text
