"""What people see of a run on stderr."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from planegraph.train import RunInfo
from planegraph.train.display import Lines, Table

from .tasks import small
from .test_log import records as logged


def run(task: str = "counting", **train) -> RunInfo:
    return RunInfo(Path("runs") / task, task, small(task, **({"epochs": 3} | train)), ("seed0", "seed1"))


def records(epoch: int, seeds: int = 2) -> list[dict]:
    """An epoch takes 61 seconds."""
    return [r | {"seconds": 61.0 * epoch} for r in logged(epoch, seeds=seeds)]


def test_an_early_stop_leaves_no_time(capsys):
    display = Lines(seconds=0)
    display.on_start(run(epochs=50, patience=2))
    for epoch in (2, 3):  # the best was the first
        display.on_epoch(records(epoch, seeds=1))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("counting BasePlanE, seed 0  epoch 2/50  ")
    assert lines[0].endswith("left 48:48")  # 48 epochs of 61 s
    assert "epoch 3/3 " in lines[1]
    assert lines[1].endswith("left 0:00")


def test_lines(capsys):
    display = Lines(seconds=100)
    display.on_start(run())
    for epoch in (1, 2, 3):
        display.on_epoch(records(epoch))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2  # the first and the last
    assert lines[1] == "counting BasePlanE, 2 together  epoch 3/3  loss 0.5  val 0.25  best 0.25  rate 0.001 (mean of 2)  left 0:00"


def test_table(capsys):
    pytest.importorskip("rich")
    display = Table()
    display.on_start(run())
    display.on_epoch(records(2))
    display.close()
    text = capsys.readouterr().err
    assert "mean of 2" in text
    assert "0.25 (1)" in text
    assert "time left 1:01" in text


@pytest.mark.parametrize("width", [80, 64])
@pytest.mark.parametrize("height", [10, 24, 60])
@pytest.mark.parametrize("seeds", [1, 17, 18, 30])
def test_what_matters_is_on_the_terminal(monkeypatch, seeds, height, width):
    """However many trials: title, mean and time left are there, and as many trials as there is room for; the others are counted."""
    rich = pytest.importorskip("rich.console")
    display = Table()
    display.on_start(run(task="counting-with-a-title-that-is-far-too-long-for-a-table-on-a-narrow-terminal"))
    display.close()
    console = rich.Console(width=width, height=height, file=io.StringIO())
    monkeypatch.setattr(display.live, "console", console)
    display.on_epoch(records(2, seeds=seeds))
    lines = ["".join(part.text for part in line) for line in console.render_lines(display.live.renderable)]
    text = "\n".join(lines)
    assert len(lines) <= height
    assert "counting" in text
    assert "time left 1:01" in text
    assert (f"mean of {seeds}" in text) == (seeds > 1)
    shown = text.count("seed ")
    assert shown == min(seeds, height - 7 if seeds <= height - 7 else height - 8)
    assert (f"… and {seeds - shown} more" in text) == (shown < seeds)
