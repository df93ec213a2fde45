from __future__ import annotations

import io
import json

import pytest

from planegraph.errors import FormatError
from planegraph.train.log import Lines, Log, Table, read_log, read_logs


def records(epoch: int, target: str | None = None, seeds: int = 2) -> list[dict]:
    values = {"loss": 0.5, "rate": 1e-3, "val": 0.25, "val_loss": 0.25, "best": 0.25, "best_epoch": 1, "seconds": 1.0}
    return [{"epoch": epoch, "seed": seed, "fold": None, "target": target} | values for seed in range(seeds)]


def test_resuming_drops_what_will_be_written_again(tmp_path):
    path = tmp_path / "log.jsonl"
    log = Log({None: path}, 0)
    for epoch in (1, 2, 3):
        log.write(records(epoch))
    with open(path, "a") as file:
        file.write('{"epoch": 4, "se')  # a process died
    assert len(read_log(path)) == 6
    Log({None: path}, 2).write(records(3))
    assert [r["epoch"] for r in read_log(path)] == [1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize("field", [name for name in records(1)[0] if name != "target"])
def test_a_line_without_one_of_its_fields_is_damaged(tmp_path, field):
    path = tmp_path / "log.jsonl"
    Log({None: path}, 0).write(records(1) + records(2))
    whole = path.read_text().splitlines()
    for spoilt in ({k: v for k, v in json.loads(whole[2]).items() if k != field}, json.loads(whole[2]) | {field: "much"}):
        path.write_text("\n".join([*whole[:2], json.dumps(spoilt), *whole[3:]]) + "\n")
        with pytest.raises(FormatError, match=r"log\.jsonl, line 3, is damaged"):
            read_log(path)


def test_each_target_has_a_log_of_its_own(tmp_path):
    paths = {"mu": tmp_path / "mu.jsonl", "gap": tmp_path / "gap.jsonl"}
    log = Log(paths, 0)
    for epoch in (1, 2):
        log.write(records(epoch, "mu") + records(epoch, "gap")[:1])
    assert len(read_log(paths["mu"])) == 4
    assert [(r["epoch"], "target" in r) for r in read_log(paths["gap"])] == [(1, False), (2, False)]
    assert [(r["epoch"], r["target"]) for r in read_logs(paths, 1)] == [(1, "mu"), (1, "mu"), (1, "gap")]


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


@pytest.mark.parametrize("width", [80, 64])
@pytest.mark.parametrize("height", [10, 24, 60])
@pytest.mark.parametrize("seeds", [1, 17, 18, 30])
def test_what_matters_is_on_the_terminal(monkeypatch, seeds, height, width):
    """However many lanes: title, mean and time left are there, and as many lanes as there is room for; the others are counted."""
    rich = pytest.importorskip("rich.console")
    display = Table("counting BasePlanE, with a title that is far too long for a table on a narrow terminal")
    display.close()
    console = rich.Console(width=width, height=height, file=io.StringIO())
    monkeypatch.setattr(display.live, "console", console)
    display.show(records(2, seeds=seeds), 3, 61.0)
    lines = ["".join(part.text for part in line) for line in console.render_lines(display.live.renderable)]
    text = "\n".join(lines)
    assert len(lines) <= height
    assert "counting" in text
    assert "time left 1:01" in text
    assert (f"mean of {seeds}" in text) == (seeds > 1)
    shown = text.count("seed ")
    assert shown == min(seeds, height - 7 if seeds <= height - 7 else height - 8)
    assert (f"… and {seeds - shown} more" in text) == (shown < seeds)
