"""``train.patience``: a run ends when validation has settled, with the epochs it had, and is finished for good."""

from __future__ import annotations

import json

import pytest

from planegraph.runs.errors import SettingsError
from planegraph.runs.log import read_log
from planegraph.train import RunSettings, train

from .tasks import regression

FAST = ["model.hidden=8", "model.layers=1", "train.batch_size=16", "train.lr=0.02", "train.epochs=60", "train.save_seconds=0"]


def run(out, *overrides: str, resume: bool = False) -> dict:
    settings = RunSettings("small").with_overrides([*FAST, *overrides])
    return train(regression(), settings, out, device="cpu", resume=resume)


@pytest.mark.parametrize("seeds", [1, 3])
def test_it_ends_when_no_seed_has_improved_for_so_long(tmp_path, seeds):
    result = run(tmp_path / "a", "train.patience=4", f"train.seeds={seeds}")
    records = read_log(tmp_path / "a" / "log.jsonl")
    last, best = records[-1]["epoch"], max(trial["best_epoch"] for trial in result["trials"])
    assert last == best + 4 < 60
    assert [r["epoch"] for r in records if r["seed"] == 0] == list(range(1, last + 1))
    whole = run(tmp_path / "b", f"train.seeds={seeds}")
    for trial in result["trials"]:  # the same epochs as without patience
        before = [r["val"] for r in read_log(tmp_path / "b" / "log.jsonl") if r["seed"] == trial["seed"] and r["epoch"] <= last]
        assert trial["val"] == min(before)
    assert len(whole["trials"]) == seeds


def test_a_settled_run_is_finished(tmp_path):
    result = run(tmp_path / "a", "train.patience=3")
    assert run(tmp_path / "a", "train.patience=3", resume=True) == result
    (tmp_path / "a" / "result.json").unlink()
    again = run(tmp_path / "a", "train.patience=3", resume=True)
    assert again["trials"] == result["trials"]
    assert json.loads((tmp_path / "a" / "result.json").read_text())["test"] == result["test"]


def test_patience_is_a_count():
    with pytest.raises(SettingsError, match=r"train\.patience must be an integer, at least 1; found 0"):
        RunSettings("small").with_overrides(["train.patience=0"])
