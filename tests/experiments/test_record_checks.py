"""Tampering with what follows from something else in a record is found, and damage is named."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from train.tasks import regression, small

from planegraph.experiments.checks import last_rates, rounding, tied_pairs
from planegraph.experiments.records import RecordError, checked_record, read_record, read_records, write_record
from planegraph.runs.schedules import Constant, Cosine, Step
from planegraph.tasks.metrics import rocauc
from planegraph.train import TrainSettings, train

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


def faster(folder: Path) -> None:
    for name in ("result.json", "record.json"):
        edit_json(folder / name, lambda values: values.update(seconds=values["seconds"] / 100))


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
            off = rocauc(positive, kept) - rocauc(positive, exact)
            assert abs(off) <= tied_pairs(kept, positive) / 2 + 1e-12


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
