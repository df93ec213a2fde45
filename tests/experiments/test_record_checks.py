"""What does not follow from the rest of a record is found, and damage is named."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from planegraph.experiments.records import RecordError, checked_record, read_record, read_records, write_record

from .edits import edit_json, edit_lines

KINDS = ("seeds", "folds", "classes", "accuracy", "rocauc")
RELEASED = Path(__file__).parents[2] / "records"


def better_test(result):
    for trial in result["trials"]:
        trial["test"] *= 0.5
    result["test"]["mean"] *= 0.5
    result["test"]["std"] *= 0.5


def other_best_epoch(result):
    trial = result["trials"][0]
    trial["best_epoch"] = 1 if trial["best_epoch"] != 1 else 2


def trial_twice(result):
    result["trials"][1] = dict(result["trials"][0])


TAMPERED = {
    "the mean": ("result.json", lambda r: r["test"].update(mean=0.9 * r["test"]["mean"]), "its trials give"),
    "the deviation": ("result.json", lambda r: r["val"].update(std=0.0), "its trials give"),
    "all test figures": ("result.json", better_test, "predictions.csv: seed0: they give"),
    "a validation figure": ("result.json", lambda r: r["trials"][0].update(val=0.001), "val is 0.001, but"),
    "the best epoch": ("result.json", other_best_epoch, "result.json: seed 0, fold None: "),
    "a trial twice": ("result.json", trial_twice, "a trial is there twice"),
    "a trial left out": ("result.json", lambda r: r["trials"].pop(), "its trials are not 2 seeds times 1 folds"),
    "another model": ("result.json", lambda r: r.update(model_class="GIN"), "model_class is not that of settings.yaml"),
    "another task": (
        "result.json",
        lambda r: r.update(task="countingXYZ"),
        "task 'countingXYZ' is not that of settings.yaml, counting",
    ),
    "a target": ("result.json", lambda r: r.update(task="counting-mu"), "task 'counting-mu' is not that of settings.yaml"),
    "notes that are a number": ("result.json", lambda r: r.update(notes=[5]), "notes must be a text; found [5]"),
    "a fact": ("record.json", lambda r: r.pop("commit"), "commit is missing"),
    "a commit that is a number": ("record.json", lambda r: r.update(commit=5), "commit must be a text or null; found 5"),
    "no date": ("record.json", lambda r: r.update(date=None), "date must be a text; found None"),
    "a device that is a number": ("record.json", lambda r: r["machine"].update(device=5), "machine.device must be a text"),
    "a note that is a number": ("record.json", lambda r: r.update(note=5), "note must be a text"),
    "no sessions": ("record.json", lambda r: r.pop("sessions"), "sessions must be a list, at least one; found None"),
    "an empty list of sessions": (
        "record.json",
        lambda r: r.update(sessions=[]),
        "sessions must be a list, at least one; found []",
    ),
    "a session that is a number": (
        "record.json",
        lambda r: r["sessions"].append(5),
        "session 1: commit is missing",
    ),
    "a session without machine": (
        "record.json",
        lambda r: r["sessions"][0].pop("machine"),
        "session 0: machine.device is missing",
    ),
    "a session on no device": (
        "record.json",
        lambda r: r["sessions"][0]["machine"].update(device=None),
        "session 0: machine.device must be a text; found None",
    ),
    "parameters below 0": ("record.json", lambda r: r.update(parameters=-5), "parameters must be a whole number above 0; found -5"),
    "parameters that are true": ("record.json", lambda r: r.update(parameters=True), "parameters must be a whole number above 0"),
    "the number of trials": ("record.json", lambda r: r.update(trials=10), "trials must be 2"),
    "the name": ("record.json", lambda r: r.update(name="other"), "is about 'other'"),
    "the time": ("record.json", lambda r: r.update(seconds=r["seconds"] + 1), "seconds are not those of result.json"),
}


def refusal(record: Path) -> str:
    """What is said against it."""
    with pytest.raises(RecordError) as error:
        read_record(record).check()
    return str(error.value)


@pytest.mark.parametrize("what", TAMPERED)
def test_tampering_with_json(record, what):
    file, change, words = TAMPERED[what]
    edit_json(record / file, change)
    said = refusal(record)
    assert words in said
    assert str(record) in said


def with_tests(folder: Path, change) -> Path:
    """The record with other test figures, and their mean and deviation."""

    def all_of_it(result):
        for trial in result["trials"]:
            trial["test"] = change(trial["test"])
        values = np.array([trial["test"] for trial in result["trials"]])
        result["test"] = {"mean": values.mean(), "std": values.std(ddof=1) if len(values) > 1 else 0.0}

    edit_json(folder / "result.json", all_of_it)
    return folder


FIGURES = {
    "any other accuracy of classes": ("classes", lambda test: 0.9),
    "a class more": ("classes", lambda test: test + 1 / 18),
    "an answer more": ("accuracy", lambda test: test + 1 / 10),
    "an answer fewer": ("accuracy", lambda test: test - 1 / 10),
    "a trifle of an accuracy": ("accuracy", lambda test: test + 1e-6),
    "a little of ROC-AUC": ("rocauc", lambda test: test + 1e-3),
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
        ("molhiv-baseplane", lambda test: test + 2e-4),
        ("zinc12k-baseplane", lambda test: test - 2e-5),
    ],
)
def test_figures_that_were_not_reached(tmp_path, name, change):
    record = tmp_path / name
    shutil.copytree(RELEASED / name, record)
    checked_record(record)
    with pytest.raises(RecordError, match=r"predictions\.csv: seed0.*: they give .*, but test is .* in result\.json"):
        checked_record(with_tests(record, change))


LINES = {
    "an epoch left out": ("log.csv", lambda lines: [*lines[:3], *lines[4:]], "epochs, not each of 1 to 4"),
    "an epoch twice": ("log.csv", lambda lines: [*lines[:3], lines[2], *lines[3:]], "epochs, not each of 1 to 4"),
    "a cell": ("log.csv", lambda lines: [*lines[:3], lines[3].replace(",", ",x", 3), *lines[4:]], "line 4"),
    "another head": ("log.csv", lambda lines: ["a,b\n", *lines[1:]], "must begin with the columns"),
    "predictions twice": ("predictions.csv", lambda lines: [*lines, *lines[1:]], "a graph is there twice"),
    "a prediction that is none": ("predictions.csv", lambda lines: [*lines[:-1], lines[-1].replace(",", ",nan,", 1)], "cells, not"),
    "a prediction that is no number": (
        "predictions.csv",
        lambda lines: [*lines[:-1], ",".join([*lines[-1].split(",")[:-1], "nan\n"])],
        "a number is not finite",
    ),
    "predictions left out": ("predictions.csv", lambda lines: lines[:5], "they give"),
    "a trial of the predictions": (
        "predictions.csv",
        lambda lines: [lines[0].replace("seed1", "seed7"), *lines[1:]],
        "its columns are not",
    ),
}


@pytest.mark.parametrize("what", LINES)
def test_tampering_with_tables(record, what):
    file, change, words = LINES[what]
    edit_lines(record / file, change)
    said = refusal(record)
    assert words in said
    assert file in said


def test_a_better_epoch_in_the_log_is_noticed(record):
    found = read_record(record)
    trial = found.result["trials"][0]
    other = next(r for r in found.log if r["seed"] == 0 and r["epoch"] != trial["best_epoch"])

    def change(lines):
        cells = lines[1 + found.log.index(other)].split(",")
        cells[5] = "1e-09"
        return [*lines[: 1 + found.log.index(other)], ",".join(cells), *lines[2 + found.log.index(other) :]]

    edit_lines(record / "log.csv", change)
    with pytest.raises(RecordError, match="is better than best_epoch"):
        read_record(record).check()


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_may_not_vanish(runs, tmp_path, kind):
    record = write_record(runs[kind], tmp_path, "small")
    (record / "predictions.csv").unlink()
    with pytest.raises(RecordError, match=r"predictions\.csv: it is missing"):
        read_record(record).check()


def test_the_log_is_complete(record):
    edit_lines(record / "log.csv", lambda lines: [lines[0], *(line.rpartition(",")[0] + ",\n" for line in lines[1:])])
    with pytest.raises(RecordError, match=r"log\.csv: seed 0, fold None, epoch 1: a number is missing"):
        checked_record(record)


DAMAGED = {
    "a trial without seed": ("result.json", lambda r: r["trials"][0].pop("seed")),
    "a mean that is a word": ("result.json", lambda r: r["test"].update(mean="small")),
    "trials that are a number": ("result.json", lambda r: r.update(trials=3)),
    "no parameters": ("record.json", lambda r: r.pop("parameters")),
    "seconds of 400 digits": ("record.json", lambda r: r.update(seconds=10**400)),
    "a figure of 400 digits": ("result.json", lambda r: r["trials"][0].update(test=10**400)),
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
