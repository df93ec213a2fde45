"""`planegraph train` ends with a report, and does not lose a run because that fails."""

from __future__ import annotations

import json

import pytest
from train.tasks import cubic, regression

from planegraph import datasets, report
from planegraph.cli import main

from .runs import parse, words


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch):
    class Dataset:
        def __init__(self, name):
            self.task = {"counting": regression, "cubic": cubic}[name]

    monkeypatch.setattr(datasets, "get", lambda name, root=None: Dataset(name), raising=False)


FAST = ["--set", "model.hidden=8", "--set", "model.layers=1", "--set", "train.epochs=2", "--device", "cpu", "-q"]


@pytest.mark.parametrize(("task", "figure"), [("counting", "Predicted against true"), ("cubic", "Confusion matrix")])
def test_report_at_the_end(tmp_path, capsys, task, figure):
    out = tmp_path / "run"
    assert main(["train", task, *FAST, "--seeds", "2", "--out", str(out)]) == 0
    assert f"report: {out / 'report.html'}\n" in capsys.readouterr().out
    text = words(parse(out / "report.html"))
    assert figure in text
    assert "seed 1" in text
    assert "Started by" in text


def test_a_report_that_fails_is_a_warning(tmp_path, capsys, monkeypatch):
    def fail(folder):
        raise OSError("no room")

    monkeypatch.setattr(report, "write_report", fail)
    out = tmp_path / "run"
    assert main(["train", "counting", *FAST, "--out", str(out)]) == 0
    told = capsys.readouterr()
    assert "mae, test at the best epoch: " in told.out
    assert "the run is complete, but its report could not be written (OSError: no room)" in told.err
    assert json.loads((out / "result.json").read_text())["metric"] == "mae"
