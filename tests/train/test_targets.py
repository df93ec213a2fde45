"""Targets with a model each, trained as one stack: each has the folder, the curve, the models and the figures of a separate run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from planegraph.errors import PlanegraphError
from planegraph.experiments.records import read_record, write_record
from planegraph.io.checksums import read_json
from planegraph.report import write_report
from planegraph.runs.checkpoint import load_checkpoint
from planegraph.runs.errors import DivergedError, Stopped
from planegraph.runs.log import read_log
from planegraph.tasks.task import Task
from planegraph.train import RunSettings, train

from .tasks import regression, small, stopped_at

NAMES = ("small", "large", "odd")
OPTIONS = {"epochs": 5, "seeds": 2, "clip": 0.5, "ema": 0.9, "precision": "float64", "schedule": {"kind": "plateau", "patience": 1}}


def several(**options) -> Task:
    """Three columns of different sizes and signs; the last is of another kind."""
    task = regression(targets=3, **options)
    y = task.dataset.y.copy()
    y[:, 2] = np.sin(5 * y[:, 0])
    return replace(task, dataset=task.dataset.with_y(y), outputs=1, scale=(1.0, 0.5, 4.0), targets=NAMES)


def settings_for(target: str | None, **changes) -> RunSettings:
    settings = small(**(OPTIONS | changes)).with_overrides(["model.norm=batch", "model.dropout=0.1"])
    return settings if target is None else replace(settings, options={"target": target})


def outcome(folder: Path) -> tuple[np.ndarray, dict[str, np.ndarray], dict]:
    """Curves, predictions of the models, and the result without times."""
    log = read_log(folder / "log.jsonl") + [r for path in sorted(folder.glob("group*/log.jsonl")) for r in read_log(path)]
    assert all("target" not in r for r in log)
    log.sort(key=lambda r: (r["seed"], -1 if r["fold"] is None else r["fold"], r["epoch"]))
    curves = np.array([[r[name] for name in ("epoch", "loss", "rate", "val", "val_loss", "best_epoch")] for r in log])
    tests = {path.parent.name: load_checkpoint(path)[0] for path in sorted(folder.glob("models/*/test.safetensors"))}
    result = read_json(folder / "result.json")
    return curves, {f"{trial}.{name}": v.numpy() for trial, t in tests.items() for name, v in t.items()}, result


def assert_same(a: Path, b: Path) -> None:
    assert yaml.safe_load((a / "settings.yaml").read_text()) == yaml.safe_load((b / "settings.yaml").read_text())
    mine, theirs = outcome(a), outcome(b)
    np.testing.assert_allclose(mine[0], theirs[0], rtol=1e-7)
    assert mine[1].keys() == theirs[1].keys()
    for name in mine[1]:
        np.testing.assert_allclose(mine[1][name], theirs[1][name], rtol=1e-6)
    changing = ("seconds", "together", "trials", "test", "val")
    assert {k: v for k, v in mine[2].items() if k not in changing} == {k: v for k, v in theirs[2].items() if k not in changing}
    for x, y in zip(mine[2]["trials"], theirs[2]["trials"], strict=True):
        assert x["fold"] == y["fold"]
        assert {k: v for k, v in x.items() if k != "fold"} == pytest.approx({k: v for k, v in y.items() if k != "fold"}, rel=1e-7)


@pytest.mark.parametrize("folds", [0, 2])
def test_each_is_as_alone(tmp_path, folds):
    task = several(folds=folds)
    result = train(task, settings_for(None), tmp_path / "stack", device="cpu")
    assert list(result["targets"]) == list(NAMES)
    assert not list((tmp_path / "stack").glob("group*"))
    for name in NAMES:
        alone = train(task.of_target(name), settings_for(name), tmp_path / name, device="cpu")
        assert_same(tmp_path / "stack" / name, tmp_path / name)
        assert result["targets"][name]["together"] == 3
        assert result["targets"][name]["test"]["mean"] == pytest.approx(alone["test"]["mean"], rel=1e-7)
        assert alone["task"] == f"counting-{name}"


def test_one_after_another(tmp_path):
    task = several()
    train(task, settings_for(None), tmp_path / "a", device="cpu")
    result = train(task, settings_for(None, together=False), tmp_path / "b", device="cpu")
    assert all("together" not in of_target for of_target in result["targets"].values())
    assert sum(of_target["seconds"] for of_target in result["targets"].values()) == pytest.approx(result["seconds"], abs=0.01)
    for name in NAMES:
        for x, y in zip(outcome(tmp_path / "a" / name)[:2], outcome(tmp_path / "b" / name)[:2], strict=True):
            if isinstance(x, np.ndarray):
                np.testing.assert_allclose(x, y, rtol=1e-7)
            else:
                assert all(np.allclose(x[key], y[key], rtol=1e-6) for key in x | y)


def test_resumed(tmp_path):
    task = several()
    train(task, settings_for(None), tmp_path / "whole", device="cpu")
    train(task, settings_for(None, epochs=2), tmp_path / "parts", device="cpu")
    train(task, settings_for(None), tmp_path / "parts", resume=True, device="cpu")
    for name in NAMES:
        a, b = (outcome(tmp_path / folder / name) for folder in ("whole", "parts"))
        assert np.array_equal(a[0], b[0])
        assert all(np.array_equal(a[1][key], b[1][key]) for key in a[1] | b[1])
        sessions = json.loads((tmp_path / "parts" / name / "machine.json").read_text())["sessions"]
        assert len(sessions) == 2


def test_a_target_has_its_record_and_its_report(tmp_path):
    train(several(), settings_for(None), tmp_path / "runs", device="cpu")
    folder = write_record(tmp_path / "runs" / "odd", tmp_path / "records", "counting-odd")
    record = read_record(folder)
    record.check()
    assert record.settings.options == {"target": "odd"}
    assert record.result["together"] == 3
    assert [len(found.true) for found in record.tests.values()] == [10] * len(record.result["trials"])
    page = write_report(tmp_path / "runs" / "odd").read_text()
    assert "counting-odd" in page
    assert "3 targets together" in page
    for refused in (lambda: write_record(tmp_path / "runs", tmp_path / "records", "x"), lambda: write_report(tmp_path / "runs")):
        with pytest.raises(PlanegraphError, match=r"a run for each of large, odd, small: name one of them, as in .*large"):
            refused()


def test_targets_are_checked():
    task = several()
    for wrong, why in [
        (("../esc", "b", "c"), "letters, digits"),
        (("", "b", "c"), "letters, digits"),
        (("a.b", "b", "c"), "letters, digits"),
        (("group1", "b", "c"), "letters, digits"),
        (("models", "b", "c"), "letters, digits"),
        ((1, 2, 3), "letters, digits"),
        (("a", "a", "b"), "a name each; found a, a, b"),
        ((), "a name each; found none"),
        (("a", "b"), "2 targets need y with a column for each; found y of shape"),
        (("a", "b", "c", "d"), "4 targets need y"),
    ]:
        with pytest.raises(PlanegraphError, match=why):
            replace(task, targets=wrong)
    for changes, why in [
        ({"scale": (1.0,)}, r"3 targets need as many scales, .*; found \(1\.0,\)"),
        ({"outputs": 3}, "outputs=3"),
        ({"dataset": task.dataset.with_y(np.zeros(len(task.dataset)))}, "shape"),
        ({"dataset": task.dataset.with_y(None)}, "no y"),
    ]:
        with pytest.raises(PlanegraphError, match=why):
            replace(task, **changes)
    with pytest.raises(PlanegraphError, match="has the targets small, large, odd; found 'even'"):
        task.of_target("even")
    with pytest.raises(PlanegraphError, match="has the targets none"):
        task.of_target("odd").of_target("odd")


def test_what_is_there_is_not_lost(tmp_path):
    """The run of a target is resumed with its stack only, and a stack does not write over a run in its folder."""
    task = several()
    train(task, settings_for(None, epochs=2), tmp_path / "stack", device="cpu")
    with pytest.raises(PlanegraphError, match=r"trained together with others, in .*stack; resume that one"):
        train(task.of_target("odd"), settings_for("odd"), tmp_path / "stack" / "odd", resume=True, device="cpu")
    assert len(read_log(tmp_path / "stack" / "odd" / "log.jsonl")) == 4
    train(task.of_target("odd"), settings_for("odd", epochs=1), tmp_path / "other" / "odd", device="cpu")
    with pytest.raises(PlanegraphError, match="odd already holds a run"):
        train(task, settings_for(None), tmp_path / "other", device="cpu")
    assert len(json.loads((tmp_path / "other" / "odd" / "machine.json").read_text())["sessions"]) == 1


def test_a_run_inside_of_a_run_is_no_target(tmp_path):
    task = several().of_target("odd")
    for folder in (tmp_path, tmp_path / "inner"):
        train(task, settings_for("odd", epochs=1), folder, device="cpu")
        assert write_report(folder).exists()


def test_a_signal_in_mid_epoch(tmp_path):
    """Stopped within an epoch and resumed: the same as the whole."""
    task = several()
    train(task, settings_for(None), tmp_path / "whole", device="cpu")
    with pytest.raises(Stopped, match="epoch 2, step 1"):  # of three steps an epoch
        stopped_at(4, lambda: train(task, settings_for(None), tmp_path / "parts", device="cpu"))
    train(task, settings_for(None), tmp_path / "parts", resume=True, device="cpu")
    for name in NAMES:
        a, b = (outcome(tmp_path / folder / name) for folder in ("whole", "parts"))
        assert np.array_equal(a[0], b[0])
        assert all(np.array_equal(a[1][key], b[1][key]) for key in a[1] | b[1])


def test_what_diverges_is_named(tmp_path):
    task = several()
    task.dataset.y[task.splits["train"][3], 1] = np.nan  # since it was checked
    with pytest.raises(DivergedError, match=r"^large-seed0: the training loss in step"):
        train(task, settings_for(None), tmp_path, device="cpu")


def test_other_targets_do_not_go_on(tmp_path):
    task = several()
    train(task, settings_for(None, epochs=1), tmp_path, device="cpu")
    names, before = ("small", "large", "new"), sorted(tmp_path.rglob("*"))
    with pytest.raises(PlanegraphError, match=r"holds small-seed0, .*odd-seed1, not small-seed0, .*new-seed1"):
        train(replace(task, targets=names), settings_for(None), tmp_path, resume=True, device="cpu")
    assert sorted(tmp_path.rglob("*")) == before
