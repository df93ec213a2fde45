"""A record says what its run said, and every kind of tampering is found."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from train.tasks import regression, small

from planegraph.cli import main
from planegraph.experiments.checks import last_rates, rounding, tied_pairs
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
from planegraph.train import TrainSettings, load_settings, train
from planegraph.train.checkpoint import load_checkpoint
from planegraph.train.log import read_log
from planegraph.train.metrics import roc_auc
from planegraph.train.schedules import Constant, Cosine, Step

KINDS = ("seeds", "folds", "classes", "accuracy", "rocauc")
RELEASED = Path(__file__).parents[2] / "records"


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
    assert list(found.predictions) == ["id", "true", *map(lane_name, result["lanes"])]
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


def test_predictions_of_classes_are_classes(runs, tmp_path):
    found = read_record(write_record(runs["classes"], tmp_path, "small")).predictions
    kept, _ = load_checkpoint(runs["classes"] / "models" / "seed0" / "test.safetensors")
    assert kept["predicted"].shape == (18, 9)
    order = kept["id"].argsort()
    assert found["id"] == kept["id"][order].tolist()
    assert found["true"] == kept["true"][order].tolist()
    assert found["seed0"] == kept["predicted"].argmax(-1)[order].tolist()


def test_several_outputs_keep_no_predictions(tmp_path):
    train(regression(targets=2), small(epochs=1), tmp_path / "run", device="cpu")
    folder = write_record(tmp_path / "run", tmp_path, "small")
    assert not (folder / "predictions.csv").exists()
    checked_record(folder)


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


@pytest.mark.parametrize("name", ["../evil", "records/mine", "/tmp/evil", "..", ".hidden", "", "a b", "a\n", "a\\b"])
def test_a_name_is_no_path(runs, tmp_path, name):
    root = tmp_path / "deep" / "records"
    with pytest.raises(RecordError, match="a record is named by letters"):
        write_record(runs["seeds"], root, name)
    with pytest.raises(RecordError, match="a record is named by letters"):
        write_measure([{}], root, name, 1.0, "cpu")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["not-run.yaml", "NOTES.md", "nowhere"])
def test_a_name_is_no_file_of_the_folder(runs, tmp_path, capsys, name):
    root = tmp_path / "records"
    root.mkdir()
    (root / "NOTES.md").write_text("notes\n")
    (root / "nowhere").symlink_to(tmp_path / "nothing")
    before = sorted(root.iterdir())
    words = f"the record '{name}' would take the place of the file {root / name}; choose another name"
    with pytest.raises(RecordError, match=re.escape(words)):
        write_record(runs["seeds"], root, name)
    with pytest.raises(RecordError, match=re.escape(words)):
        write_measure([{}], root, name, 1.0, "cpu")
    assert main(["reproduce", "--from-run", str(runs["seeds"]), "--name", name, "--records", str(root)]) == 2
    assert capsys.readouterr().err == f"planegraph: {words}\n"
    assert sorted(root.iterdir()) == before


def test_names_that_are_plain(runs, tmp_path):
    for name in ("qm9_cc-gin", "v1.2", "_x"):
        write_record(runs["classes"], tmp_path, name)
    assert sorted(read_records(tmp_path)) == ["_x", "qm9_cc-gin", "v1.2"]


DAMAGED_RUNS = [
    ("result.json", b"{}"),
    ("result.json", b"\xff"),
    ("result.json", b"[]"),
    ("result.json", b'{"seconds": 1, "lanes": 5}'),
    ("result.json", b'{"seconds": 1, "lanes": []}'),
    ("result.json", b'{"seconds": 1, "lanes": [{"seed": 0}]}'),
    ("settings.yaml", b"task: [\n"),
    ("settings.yaml", b"task: counting\nepochs: 3\n"),
    ("log.jsonl", b"5\n5\n"),
    ("log.jsonl", b'{"a": 1}\n{"a": 1}\n'),
    ("log.jsonl", b'{"epoch": 1, "seed": "x"}\n'),
    ("log.jsonl", b'{"epoch": 1, "seed": 0, "fold": null, "loss": "x"}\n'),
    ("log.jsonl", b'{"epoch": 1, "seed": 0, "fold": null, "loss": 1%s}\n' % (b"0" * 400)),
    ("machine.json", b"[5]"),
    ("machine.json", b'{"sessions": [5]}'),
    ("machine.json", b'{"sessions": [{"commit": null}]}'),
    ("machine.json", b'{"sessions": [{"commit": null, "dirty": false, "date": "", "command": "", "machine": {"device": null}}]}'),
    ("models/seed0/config.json", b"{}"),
    ("models/seed0/test.safetensors", b"nothing"),
]


@pytest.mark.parametrize(("file", "content"), DAMAGED_RUNS)
def test_damaged_files_of_a_run_are_named(runs, tmp_path, capsys, file, content):
    run = tmp_path / "run"
    shutil.copytree(runs["seeds"], run)
    (run / file).write_bytes(content)
    with pytest.raises(RecordError) as error:
        write_record(run, tmp_path / "records", "small")
    assert str(run / file) in str(error.value)
    assert main(["reproduce", "--from-run", str(run), "--name", "small", "--records", str(tmp_path / "records")]) == 2
    assert str(run / file) in capsys.readouterr().err
    assert not (tmp_path / "records").exists()


def test_a_log_of_bytes(runs, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(runs["seeds"], run)
    (run / "log.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RecordError, match="log"):
        write_record(run, tmp_path / "records", "small")


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
    "another task": (
        "result.json",
        lambda r: r.update(task="countingXYZ"),
        "task 'countingXYZ' is not that of settings.yaml, counting",
    ),
    "a target": ("result.json", lambda r: r.update(task="counting-mu"), "task 'counting-mu' is not that of settings.yaml"),
    "notes that are a number": ("result.json", lambda r: r.update(notes=[5]), "notes must be a text; found [5]"),
    "a fact": ("record.json", lambda r: r.pop("commit"), "commit is missing"),
    "a commit that is a number": ("record.json", lambda r: r.update(commit=5), "commit must be a text; found 5"),
    "no date": ("record.json", lambda r: r.update(date=None), "date must be a text; found None"),
    "a command that is a list": ("record.json", lambda r: r.update(command=["a"]), "command must be a text"),
    "a device that is a number": ("record.json", lambda r: r["machine"].update(device=5), "machine.device must be a text"),
    "a note that is a number": ("record.json", lambda r: r.update(note=5), "note must be a text"),
    "no sessions": ("record.json", lambda r: r.pop("sessions"), "sessions must be a list, at least one; found None"),
    "sessions that are null": (
        "record.json",
        lambda r: r.update(sessions=None),
        "sessions must be a list, at least one; found None",
    ),
    "an empty list of sessions": (
        "record.json",
        lambda r: r.update(sessions=[]),
        "sessions must be a list, at least one; found []",
    ),
    "a session that is a number": (
        "record.json",
        lambda r: r["sessions"].append(5),
        "session 1 must be an object with a machine; found 5",
    ),
    "a session without machine": (
        "record.json",
        lambda r: r.update(sessions=[{}]),
        "session 0 must be an object with a machine; found {}",
    ),
    "a session without device": (
        "record.json",
        lambda r: r.update(sessions=[{"machine": {}}]),
        "the machine of session 0 must have a device, a text; found {}",
    ),
    "a session on no device": (
        "record.json",
        lambda r: r["sessions"][0]["machine"].update(device=None),
        "the machine of session 0 must have a device, a text; found {'device': None",
    ),
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


def with_tests(folder: Path, change) -> Path:
    """The record with other test figures, and their mean and deviation."""

    def all_of_it(result):
        for lane in result["lanes"]:
            lane["test"] = change(lane["test"])
        values = np.array([lane["test"] for lane in result["lanes"]])
        result["test"] = {"mean": values.mean(), "std": values.std(ddof=1) if len(values) > 1 else 0.0}

    edit_json(folder / "result.json", all_of_it)
    return folder


FIGURES = {
    "any other accuracy of classes": ("classes", lambda test: 0.9),
    "a class more": ("classes", lambda test: test + 1 / 18),
    "an answer more": ("accuracy", lambda test: test + 1 / 10),
    "an answer fewer": ("accuracy", lambda test: test - 1 / 10),
    "a trifle of an accuracy": ("accuracy", lambda test: test + 1e-6),
    "a trifle of ROC-AUC": ("rocauc", lambda test: test + 1e-6),
    "a trifle of an error": ("seeds", lambda test: test - 1e-5),
}


@pytest.mark.parametrize("what", FIGURES)
def test_figures_that_the_predictions_do_not_give(runs, tmp_path, what):
    kind, change = FIGURES[what]
    record = write_record(runs[kind], tmp_path, "small")
    checked_record(record)
    with pytest.raises(RecordError, match=r"predictions\.csv: seed0: they give .*, but test is .* in result\.json"):
        checked_record(with_tests(record, change))


@pytest.mark.skipif(not RELEASED.is_dir(), reason="the records are not in the source distribution")
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("p3r-gin", lambda test: 0.9),
        ("p3r-baseplane", lambda test: test - 1 / 45),
        ("exp-gin", lambda test: test + 1 / 120),
        ("molhiv-baseplane", lambda test: test + 1e-5),
        ("zinc12k-baseplane", lambda test: test - 2e-5),
    ],
)
def test_figures_that_were_not_reached(tmp_path, name, change):
    record = tmp_path / name
    shutil.copytree(RELEASED / name, record)
    checked_record(record)
    with pytest.raises(RecordError, match=r"predictions\.csv: seed0.*: they give .*, but test is .* in result\.json"):
        checked_record(with_tests(record, change))


@given(st.lists(st.tuples(st.floats(-9, 9, width=32), st.booleans()), min_size=2, max_size=40))
def test_rounding_moves_figures_no_further_than_said(rows):
    exact, positive = (np.array(column, float) for column in zip(*rows, strict=True))
    for digits in (1, 6):
        kept = np.array([float(f"{v:.{digits}g}") for v in exact])
        assert ((kept > 0) == (exact > 0)).all()
        if digits == 6:
            assert (np.abs(kept - exact) <= rounding(kept) * (1 + 1e-9)).all()
        if 0 < positive.sum() < len(positive):
            off = roc_auc(kept, positive) - roc_auc(exact, positive)
            assert abs(off) <= tied_pairs(kept, positive) / 2 + 1e-12


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


SCHEDULES = {
    "constant": "constant",
    "step": {"kind": "step", "gamma": 0.3, "every": 2},
    "cosine": "cosine",
    "cosine with warm-up": {"kind": "cosine", "warmup": 1.5, "min_lr": 1e-4},
}
RATES = {
    "all of them": lambda rate, epoch: 0.5,
    "the first": lambda rate, epoch: rate * (1.001 if epoch == 1 else 1),
    "one in the middle": lambda rate, epoch: rate * (0.99 if epoch == 3 else 1),
    "the last": lambda rate, epoch: rate * (0.9 if epoch == 5 else 1),
}


@pytest.fixture(scope="module")
def scheduled(tmp_path_factory):
    """The run of a schedule, trained when it is first asked for."""
    root, found = tmp_path_factory.mktemp("scheduled"), {}

    def make(name: str, schedule) -> Path:
        if name not in found:
            found[name] = root / name.replace(" ", "-")
            train(regression(), small(epochs=5, seeds=2, schedule=schedule), found[name], device="cpu")
        return found[name]

    return make


def edit_rates(record: Path, change) -> None:
    def changed(line: str) -> str:
        cells = line.split(",")
        cells[4] = f"{change(float(cells[4]), int(cells[0])):.6g}"
        return ",".join(cells)

    edit_lines(record / "log.csv", lambda lines: [lines[0], *map(changed, lines[1:])])


@pytest.mark.parametrize("what", RATES)
@pytest.mark.parametrize("name", SCHEDULES)
def test_the_rates_are_those_of_the_schedule(scheduled, tmp_path, name, what):
    record = write_record(scheduled(name, SCHEDULES[name]), tmp_path, "small")
    checked_record(record)
    edit_rates(record, RATES[what])
    with pytest.raises(RecordError, match=r"log\.csv: seed 0, fold None: the rates are not those of settings\.yaml: "):
        checked_record(record)


def test_the_rates_of_a_plateau_are_not_checked(scheduled, tmp_path):
    record = write_record(scheduled("plateau", {"kind": "plateau", "patience": 1}), tmp_path, "small")
    edit_rates(record, RATES["all of them"])
    checked_record(record)


@pytest.mark.parametrize(
    "schedule", [Constant(), Step(0.5, 3), *(Cosine(w, m) for w in (0, 1, 2.5, 6.5, 7, 9) for m in (0.0, 1e-4))]
)
def test_last_rates(schedule):
    settings = TrainSettings(epochs=7, lr=1e-3, schedule=schedule)
    for steps in (1, 2, 3, 7, 100):
        wanted = [schedule.rates(1e-3, {}, epoch, 7, steps)[-1] for epoch in range(7)]
        assert last_rates(settings, steps).tolist() == wanted


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_may_not_vanish(runs, tmp_path, kind):
    record = write_record(runs[kind], tmp_path, "small")
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
    "seconds of 400 digits": ("record.json", lambda r: r.update(seconds=10**400)),
    "a figure of 400 digits": ("result.json", lambda r: r["lanes"][0].update(test=10**400)),
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
    for key, value in (
        ("gin_epoch_seconds", 0),
        ("baseplane_epoch_seconds", "fast"),
        ("nodes", None),
        ("graph", 1),
        ("edges", True),
    ):
        with pytest.raises(RecordError, match=rf"result\.json: {key} must be a .*; found {value!r}"):
            write_measure([row | {key: value}], tmp_path, "tiger", 3.0, "cpu")
    edit_json(folder / "result.json", lambda r: r.update(rows={}))
    with pytest.raises(RecordError, match="rows must be"):
        read_record(folder).check()


@pytest.mark.parametrize("key", ["set", "graphs", "pairs", "baseplane_told_apart", "gin_told_apart", "baseplane_smallest_gap"])
def test_what_the_table_of_expressiveness_reads_is_there(tmp_path, key):
    row = {"set": "EXP", "graphs": 4, "pairs": 2, "baseplane_told_apart": 2, "gin_told_apart": 0, "baseplane_smallest_gap": 1e-3}
    write_measure([row], tmp_path, "expressiveness", 5.0, "cpu")
    with pytest.raises(RecordError, match=f"a row has no {key}"):
        write_measure([{k: v for k, v in row.items() if k != key}], tmp_path, "expressiveness", 5.0, "cpu")
    with pytest.raises(RecordError, match=f"{key} must be a"):
        write_measure([row | {key: []}], tmp_path, "expressiveness", 5.0, "cpu")


def test_lane_names():
    assert [lane_name({"seed": 3, "fold": f}) for f in (None, 0)] == ["seed3", "seed3-fold0"]
