"""The demo with a few epochs: both runs, the verdict, the page, Ctrl-C and resuming; and the examples of the core."""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import BinaryIO

import pytest
from forked import Forked

EXAMPLES = Path(__file__).parents[1] / "examples"
CONFIG = "task: p3r\nmodel_class: {}\nmodel: {{hidden: 8, layers: 1, pos_dim: 4}}\ntrain: {{epochs: 3, batch_size: 450, save_seconds: 0}}\n"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with settings and a packed dataset."""
    folder = tmp_path_factory.mktemp("demo")
    (folder / "p3r-baseplane.yaml").write_text(CONFIG.format("BasePlanE"))
    (folder / "p3r-gin.yaml").write_text(CONFIG.format("GIN"))
    return folder


@pytest.fixture
def demo(place, monkeypatch):
    """The demo in this process. What it starts is forked."""

    def popen(command: list[str], env: dict[str, str], stderr: BinaryIO, **_: object) -> Forked:
        return Forked("planegraph", *command[3:], env=env, stderr=stderr.name)

    module = load("demo")
    monkeypatch.setenv("PLANEGRAPH_CACHE", str(place / "cache"))
    monkeypatch.setattr(module, "subprocess", SimpleNamespace(Popen=popen, DEVNULL=subprocess.DEVNULL))
    return lambda out, *more: module.main(["--configs", str(place), "--out", str(out), *more])


def start(place: Path, out: Path, *more: str) -> subprocess.Popen:
    command = [sys.executable, str(EXAMPLES / "demo.py"), "--configs", str(place), "--out", str(out), *more]
    env = os.environ | {"PLANEGRAPH_CACHE": str(place / "cache"), "PYTHONIOENCODING": "utf-8"}
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8")


def test_too_few_epochs_fail(demo, tmp_path, capsys):
    assert demo(tmp_path / "out") == 1
    text = capsys.readouterr().out
    assert "canonical codes by the core: 9 different ones" in text
    assert "model GIN  done 100%  epochs of all folds 30/30" in text
    assert re.search(r"GIN +11\.1 ± 0\.0 %", text)
    assert "FAILED: BasePlanE must have all test graphs right; fold 0" in text
    page = tmp_path / "out" / "report.html"
    assert f"report: {page}" in text
    assert "p3r: BasePlanE and GIN" in page.read_text(encoding="utf-8")
    assert (tmp_path / "out" / "p3r-gin" / "report.html").exists()


def test_interrupted_and_resumed(place, demo, tmp_path, capsys):
    from planegraph.runs.log import read_log

    out, longer = tmp_path / "out", ["--set", "train.epochs=20"]
    process = start(place, out, *longer)
    until = time.monotonic() + 100
    while not any(read_log(path) for path in out.glob("p3r-*/log.jsonl")):
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < until
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    text, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert f"Interrupted; both runs are saved in {out}, and the same command resumes them." in text
    assert demo(out, *longer) in (0, 1)
    text = capsys.readouterr().out
    assert "resuming the interrupted run" in text
    for model in ("p3r-baseplane", "p3r-gin"):
        records = [r for path in [out / model / "log.jsonl", *out.glob(f"{model}/group*/log.jsonl")] for r in read_log(path)]
        done = sorted((r["fold"], r["epoch"]) for r in records)
        assert done == [(fold, epoch) for fold in range(10) for epoch in range(1, 21)]


def test_trouble_of_a_run_is_told(demo, tmp_path):
    with pytest.raises(SystemExit, match=r"planegraph train ended with exit code 3(.|\n)*diverged: seed0"):
        demo(tmp_path / "out", "--set", "train.lr=1e30")


def test_settings_that_are_not_there(place, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PLANEGRAPH_CACHE", str(place / "cache"))
    with pytest.raises(SystemExit, match=r"the settings of the demo cannot be read: .*p3r-baseplane\.yaml"):
        load("demo").main(["--configs", str(tmp_path), "--out", str(tmp_path / "out")])


def test_verdict():
    def result(*tests: float) -> dict:
        trials = [{"fold": k, "test": test} for k, test in enumerate(tests)]
        return {
            "test": {"mean": sum(tests) / len(tests), "std": 0.0},
            "val": {"mean": 1.0, "std": 0.0},
            "seconds": 1.0,
            "trials": trials,
        }

    demo = load("demo")
    text, right = demo.verdict({"BasePlanE": result(1.0, 1.0), "GIN": result(1 / 9, 1 / 9)})
    assert right
    assert "100.0 ± 0.0 %" in text
    assert "11.1 ± 0.0 %" in text
    text, right = demo.verdict({"BasePlanE": result(1.0, 44 / 45), "GIN": result(1 / 9, 1 / 9)})
    assert not right
    assert "fold 1: 97.8 %" in text
    assert "fold 0" not in text


def test_the_settings_of_the_demo_are_those_of_the_table():
    from planegraph.train import load_settings

    demo = load("demo")
    for model, name in demo.MODELS.items():
        settings = load_settings(demo.HERE / "configs" / f"{name}.yaml")
        assert (settings.task, settings.model_class) == ("p3r", model)


def test_decompose(capsys):
    example = load("decompose")
    example.show_decomposition()
    example.show_canonical_form()
    example.show_witness()
    text = capsys.readouterr().out
    assert "1000 shuffled copies, 1 code" in text
    assert "a grid with both long diagonals" in text
