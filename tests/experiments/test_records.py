"""A record says what its run said, and every kind of tampering is found."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from planegraph.experiments.records import (
    RecordError,
    checked_record,
    lane_name,
    read_record,
    read_records,
    write_measure,
    write_record,
)
from planegraph.nn import BasePlanE
from planegraph.train import load_settings
from planegraph.train.log import read_log

KINDS = ("seeds", "folds", "classes")


@pytest.fixture
def record(runs, tmp_path) -> Path:
    return write_record(runs["seeds"], tmp_path, "small", "planegraph train counting")


@pytest.mark.parametrize("kind", KINDS)
def test_round_trip(runs, tmp_path, kind):
    run = runs[kind]
    folder = write_record(run, tmp_path, "small", "a command")
    found = read_record(folder)
    found.check()
    result = json.loads((run / "result.json").read_text())
    assert found.result == result
    assert found.settings == load_settings(run / "settings.yaml")
    assert len(found.log) == len(result["lanes"]) * found.settings.train.epochs
    logged = {(r["seed"], r["fold"], r["epoch"]): r["val"] for path in run.rglob("log.jsonl") for r in read_log(path)}
    for row in found.log:
        assert row["val"] == pytest.approx(logged[row["seed"], row["fold"], row["epoch"]], rel=1e-5)
    assert bool(found.predictions) == (kind != "classes")
    assert found.facts["command"] == "a command"
    assert found.facts["kind"] == "train"
    assert found.facts["lanes"] == len(result["lanes"])
    assert found.facts["machine"]["device"] == "cpu"
    assert found.facts["overrides"] == found.overrides == []  # no config of this name
    names = {path.name for path in folder.iterdir()}
    assert not [name for name in names if "safetensors" in name or name == "models"]


def test_predictions_of_folds_have_gaps(runs, tmp_path):
    found = read_record(write_record(runs["folds"], tmp_path, "small")).predictions
    assert list(found) == ["id", "true", "seed0-fold0", "seed0-fold1"]
    tested = [sum(v is not None for v in found[name]) for name in ("seed0-fold0", "seed0-fold1")]
    assert tested == [10, 10]
    assert len(found["id"]) == len(set(found["id"])) < 20


def test_parameters(runs, record):
    model = BasePlanE.from_pretrained(runs["seeds"] / "models" / "seed0")
    assert read_record(record).facts["parameters"] == sum(p.numel() for p in model.parameters())


def test_written_anew(runs, record):
    before = {path.name: path.read_bytes() for path in record.iterdir() if path.name != "report.html"}
    write_record(runs["seeds"], record.parent, "small", "planegraph train counting")
    assert {path.name: path.read_bytes() for path in record.iterdir() if path.name != "report.html"} == before


def test_unfinished_runs_have_no_record(runs, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(runs["seeds"], run)
    lines = (run / "log.jsonl").read_text().splitlines(keepends=True)
    (run / "log.jsonl").write_text("".join(lines[:-1]))
    with pytest.raises(RecordError, match="3 epochs, not each of 1 to 4"):
        write_record(run, tmp_path / "records", "small")
    (run / "result.json").unlink()
    with pytest.raises(RecordError, match="no finished run"):
        write_record(run, tmp_path / "records", "small")
    assert not (tmp_path / "records").exists()


def test_a_half_written_record_is_none(record):
    (record / "record.json").unlink()
    with pytest.raises(RecordError, match="written last, is missing"):
        read_record(record)
    with pytest.raises(RecordError, match="written last, is missing"):
        read_records(record.parent)


# ---- tampering --------------------------------------------------------------------------------------------------------------


def edit_json(path: Path, change) -> None:
    values = json.loads(path.read_text())
    change(values)
    path.write_text(json.dumps(values))


def edit_lines(path: Path, change) -> None:
    path.write_text("".join(change(path.read_text().splitlines(keepends=True))))


def better_test(result):
    for lane in result["lanes"]:
        lane["test"] *= 0.5
    result["test"]["mean"] *= 0.5
    result["test"]["std"] *= 0.5


def other_best_epoch(result):
    lane = result["lanes"][0]
    lane["best_epoch"] = 1 if lane["best_epoch"] != 1 else 2


def faster(folder: Path) -> None:
    for name in ("result.json", "record.json"):
        edit_json(folder / name, lambda values: values.update(seconds=values["seconds"] / 100))


def lane_twice(result):
    result["lanes"][1] = dict(result["lanes"][0])


TAMPERED = {
    "the mean": ("result.json", lambda r: r["test"].update(mean=0.9 * r["test"]["mean"]), "its lanes give"),
    "the deviation": ("result.json", lambda r: r["val"].update(std=0.0), "its lanes give"),
    "all test figures": ("result.json", better_test, "predictions.csv: seed0: they give"),
    "a validation figure": ("result.json", lambda r: r["lanes"][0].update(val=0.001), "val is 0.001, but"),
    "the best epoch": ("result.json", other_best_epoch, "result.json: seed 0, fold None: "),
    "a lane twice": ("result.json", lane_twice, "a lane is there twice"),
    "a lane left out": ("result.json", lambda r: r["lanes"].pop(), "its lanes are not 2 seeds times 1 folds"),
    "another model": ("result.json", lambda r: r.update(model_class="GIN"), "model_class is not that of settings.yaml"),
    "a fact": ("record.json", lambda r: r.pop("commit"), "commit is missing"),
    "the number of lanes": ("record.json", lambda r: r.update(lanes=10), "lanes must be 2"),
    "the name": ("record.json", lambda r: r.update(name="other"), "is about 'other'"),
    "the time": ("record.json", lambda r: r.update(seconds=r["seconds"] + 1), "seconds are not those of result.json"),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_tampering_with_json(record, what):
    file, change, words = TAMPERED[what]
    edit_json(record / file, change)
    with pytest.raises(RecordError) as error:
        read_record(record).check()
    assert words in str(error.value)
    assert str(record) in str(error.value)


LINES = {
    "an epoch left out": ("log.csv", lambda lines: [*lines[:3], *lines[4:]], "epochs, not each of 1 to 4"),
    "an epoch twice": ("log.csv", lambda lines: [*lines[:3], lines[2], *lines[3:]], "epochs, not each of 1 to 4"),
    "a cell": ("log.csv", lambda lines: [*lines[:3], lines[3].replace(",", ",x", 3), *lines[4:]], "line 4"),
    "another head": ("log.csv", lambda lines: ["a,b\n", *lines[1:]], "must begin with the columns"),
    "predictions left out": ("predictions.csv", lambda lines: lines[:5], "they give"),
    "a lane of the predictions": (
        "predictions.csv",
        lambda lines: [lines[0].replace("seed1", "seed7"), *lines[1:]],
        "its columns are not",
    ),
}


@pytest.mark.parametrize("what", LINES)
def test_tampering_with_tables(record, what):
    file, change, words = LINES[what]
    edit_lines(record / file, change)
    with pytest.raises(RecordError) as error:
        read_record(record).check()
    assert words in str(error.value)
    assert file in str(error.value)


def test_a_better_epoch_in_the_log_is_noticed(record):
    found = read_record(record)
    lane = found.result["lanes"][0]
    other = next(r for r in found.log if r["seed"] == 0 and r["epoch"] != lane["best_epoch"])

    def change(lines):
        cells = lines[1 + found.log.index(other)].split(",")
        cells[5] = "1e-09"
        return [*lines[: 1 + found.log.index(other)], ",".join(cells), *lines[2 + found.log.index(other) :]]

    edit_lines(record / "log.csv", change)
    with pytest.raises(RecordError, match="is better than best_epoch"):
        read_record(record).check()


def test_predictions_may_not_vanish(record):
    (record / "predictions.csv").unlink()
    with pytest.raises(RecordError, match=r"predictions\.csv: it is missing"):
        read_record(record).check()


def test_the_time_is_that_of_the_log(record):
    faster(record)
    with pytest.raises(RecordError, match=r"result\.json: seconds is .*; the log gives"):
        checked_record(record)


def test_the_log_has_times(record):
    edit_lines(record / "log.csv", lambda lines: [lines[0], *(line.rpartition(",")[0] + ",\n" for line in lines[1:])])
    with pytest.raises(RecordError, match=r"log\.csv: epoch 1: seconds are missing"):
        checked_record(record)


DAMAGED = {
    "a lane without seed": ("result.json", lambda r: r["lanes"][0].pop("seed")),
    "a mean that is a word": ("result.json", lambda r: r["test"].update(mean="small")),
    "lanes that are a number": ("result.json", lambda r: r.update(lanes=3)),
    "no parameters": ("record.json", lambda r: r.pop("parameters")),
    "a machine that is a word": ("record.json", lambda r: r.update(machine="mine")),
}


@pytest.mark.parametrize("what", DAMAGED)
def test_damage_is_named(record, what):
    file, change = DAMAGED[what]
    edit_json(record / file, change)
    with pytest.raises(RecordError) as error:
        read_records(record.parent)
    assert str(record) in str(error.value)


@pytest.mark.parametrize("file", ["log.csv", "predictions.csv"])
@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"id,true\n"])
def test_files_that_hold_something_else_are_named(record, file, content):
    (record / file).write_bytes(content)
    with pytest.raises(RecordError) as error:
        read_records(record.parent)
    assert str(record) in str(error.value)


def test_no_folder_is_no_empty_folder(tmp_path):
    with pytest.raises(RecordError, match=r"there is no folder .* of records"):
        read_records(tmp_path / "recrods")


def test_measures(tmp_path):
    row = {"graph": "1k", "nodes": 1000, "edges": 2000}
    row |= {"preprocessing_seconds": 0.5, "baseplane_epoch_seconds": 0.2, "gin_epoch_seconds": 0.1}
    folder = write_measure([row], tmp_path, "tiger", 3.0, "cpu", notes="a note")
    found = read_record(folder)
    found.check()
    assert found.result == {"notes": "a note", "rows": [row]}
    with pytest.raises(RecordError, match="a row has no nodes"):
        write_measure([{"graph": "1k"}], tmp_path, "tiger", 3.0, "cpu")
    assert found.settings is None
    with pytest.raises(RecordError, match="rows must be"):
        write_measure([], tmp_path, "tiger", 3.0, "cpu")
    edit_json(folder / "result.json", lambda r: r.update(rows={}))
    with pytest.raises(RecordError, match="rows must be"):
        read_record(folder).check()


def test_lane_names():
    assert [lane_name({"seed": 3, "fold": f}) for f in (None, 0)] == ["seed3", "seed3-fold0"]
