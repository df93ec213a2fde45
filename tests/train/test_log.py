from __future__ import annotations

import json
from pathlib import Path

import pytest

from planegraph.errors import FormatError
from planegraph.runs.log import Log, read_log, read_logs


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


def test_a_whole_last_line_that_is_damaged_is_no_unfinished_one(tmp_path):
    """One flipped bit lost an epoch without a word."""
    path = tmp_path / "log.jsonl"
    Log({None: path}, 0).write(records(1) + records(2))
    path.write_text(path.read_text()[:-2] + "\n")
    with pytest.raises(FormatError, match=r"log\.jsonl, line 4, is damaged"):
        read_log(path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_said_of_the_log(tmp_path):
    """It was said of no file: a write that fails names none."""
    path = tmp_path / "log.jsonl"
    log = Log({None: path}, 0)
    path.unlink()
    path.symlink_to("/dev/full")
    with pytest.raises(OSError, match=r"No space left on device: '.*log\.jsonl'"):
        log.write(records(1))


@pytest.mark.parametrize("field", [name for name in records(1)[0] if name != "target"])
def test_a_line_without_one_of_its_fields_is_damaged(tmp_path, field):
    path = tmp_path / "log.jsonl"
    Log({None: path}, 0).write(records(1) + records(2))
    whole = path.read_text().splitlines()
    for spoilt in ({k: v for k, v in json.loads(whole[2]).items() if k != field}, json.loads(whole[2]) | {field: "much"}):
        path.write_text("\n".join([*whole[:2], json.dumps(spoilt), *whole[3:]]) + "\n")
        with pytest.raises(FormatError, match=r"log\.jsonl, line 3, is damaged"):
            read_log(path)


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 2, 3), (0, 1, 1, 2, 3), (2, 3, 0, 1)])
def test_lines_that_are_there_twice_or_moved_are_damage(tmp_path, order):
    path = tmp_path / "log.jsonl"
    Log({None: path}, 0).write(records(1) + records(2))
    whole = path.read_text().splitlines(keepends=True)
    path.write_text("".join(whole[k] for k in order))
    with pytest.raises(
        FormatError, match=r"log\.jsonl, line [35], is damaged: it is of epoch \d, and one of epoch \d comes before"
    ):
        read_log(path)


def test_each_target_has_a_log_of_its_own(tmp_path):
    paths = {"mu": tmp_path / "mu.jsonl", "gap": tmp_path / "gap.jsonl"}
    log = Log(paths, 0)
    for epoch in (1, 2):
        log.write(records(epoch, "mu") + records(epoch, "gap")[:1])
    assert len(read_log(paths["mu"])) == 4
    assert [(r["epoch"], "target" in r) for r in read_log(paths["gap"])] == [(1, False), (2, False)]
    assert [(r["epoch"], r["target"]) for r in read_logs(paths, 1)] == [(1, "mu"), (1, "mu"), (1, "gap")]
