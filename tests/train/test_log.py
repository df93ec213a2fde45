from __future__ import annotations

import pytest

from planegraph.train.log import Lines, Log, Table, read_log


def records(epoch: int) -> list[dict]:
    values = {"loss": 0.5, "rate": 1e-3, "val": 0.25, "val_loss": 0.25, "best": 0.25, "best_epoch": 1, "seconds": 1.0}
    return [{"epoch": epoch, "seed": seed, "fold": None} | values for seed in range(2)]


def test_resuming_drops_what_will_be_written_again(tmp_path):
    path = tmp_path / "log.jsonl"
    log = Log(path, 0)
    for epoch in (1, 2, 3):
        log.write(records(epoch))
    with open(path, "a") as file:
        file.write('{"epoch": 4, "se')  # a process died
    assert len(read_log(path)) == 6
    Log(path, 2).write(records(3))
    assert [r["epoch"] for r in read_log(path)] == [1, 1, 2, 2, 3, 3]


def test_lines(capsys):
    display = Lines("counting", seconds=100)
    for epoch in (1, 2, 3):
        display.show(records(epoch), 3, 61.0)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2  # the first and the last
    assert lines[1] == "counting  epoch 3/3  loss 0.5  val 0.25  best 0.25  rate 0.001 (mean of 2)  left 1:01"


def test_table(capsys):
    pytest.importorskip("rich")
    display = Table("counting")
    display.show(records(2), 3, 61.0)
    display.close()
    text = capsys.readouterr().err
    assert "mean of 2" in text
    assert "0.25 (1)" in text
    assert "time left 1:01" in text
