"""What does not follow from the rest of a record is found, and damage is named."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from planegraph.experiments.records import RecordError, checked_record, read_record, read_records, write_record

from .edits import edit_json, edit_log, edit_predictions

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
    "the mean": ("result.json", lambda r: r["test"].update(mean=0.9 * r["test"]["mean"]), "but its trials have"),
    "the deviation": ("result.json", lambda r: r["val"].update(std=0.0), "but its trials have"),
    "all test figures": ("result.json", better_test, "models/seed0/test.safetensors: it gives"),
    "a validation figure": ("result.json", lambda r: r["trials"][0].update(val=0.001), "val is 0.001, but"),
    "the best epoch": ("result.json", other_best_epoch, "result.json: seed 0, fold None: "),
    "a trial twice": ("result.json", trial_twice, "duplicate trial"),
    "a trial left out": ("result.json", lambda r: r["trials"].pop(), "its trials are not 2 seeds times 1 folds"),
    "no trial": ("result.json", lambda r: r.update(trials=[]), "its trials are not 2 seeds times 0 folds"),
    "another model": ("result.json", lambda r: r.update(model_class="GIN"), "model_class differs from settings.yaml"),
    "another task": (
        "result.json",
        lambda r: r.update(task="countingXYZ"),
        "task 'countingXYZ' differs from settings.yaml, which has counting",
    ),
    "a target": ("result.json", lambda r: r.update(task="counting-mu"), "task 'counting-mu' differs from settings.yaml"),
    "the kind": ("record.json", lambda r: r.update(kind="guess"), "kind must be train or measure; found 'guess'"),
    "the name": ("record.json", lambda r: r.update(name="other"), "is about 'other'"),
    "no sessions": ("machine.json", lambda r: r.update(sessions=[]), "machine.json: no session says where the run was made"),
    "no date": ("machine.json", lambda r: r["sessions"][0].update(date=None), "machine.json: session 0: date, command"),
    "a device that is a number": ("machine.json", lambda r: r["sessions"][0]["machine"].update(device=5), "must be texts; found"),
    "a session without machine": ("machine.json", lambda r: r["sessions"][0].pop("machine"), "machine.json is damaged: KeyError"),
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
    with pytest.raises(RecordError, match=r"seed0.test\.safetensors: it gives .*, but test is .* in result\.json"):
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
    with pytest.raises(RecordError, match=r"seed0.*test\.safetensors: it gives .*, but test is .* in result\.json"):
        checked_record(with_tests(record, change))


ROWS = {
    "an epoch left out": (lambda rows: [*rows[:3], *rows[4:]], "epochs, not each of 1 to 4"),
    "the last epoch left out": (lambda rows: rows[:-1], "3 epochs, not each of 1 to 4"),
    "another trial": (lambda rows: [*rows, rows[0] | {"seed": 7}], "result.json has no trial with seed 7, fold None"),
    "no validation": (lambda rows: [row | {"val": None} for row in rows], "epoch 1: a number is missing or not finite"),
}


@pytest.mark.parametrize("what", ROWS)
def test_tampering_with_the_log(record, what):
    change, words = ROWS[what]
    edit_log(record, change)
    said = refusal(record)
    assert words in said
    assert "log.jsonl" in said


def test_a_better_epoch_in_the_log_is_noticed(record):
    best = read_record(record).result["trials"][0]["best_epoch"]
    other = 1 if best != 1 else 2
    edit_log(record, lambda rows: [row | {"val": 1e-9} if (row["seed"], row["epoch"]) == (0, other) else row for row in rows])
    assert f"epoch {other} of log.jsonl is better than best_epoch {best}" in refusal(record)


PREDICTIONS = {
    "a graph twice": (lambda t: {name: torch.cat([values, values[:1]]) for name, values in t.items()}, "a duplicate graph"),
    "a number that is none": (lambda t: {"predicted": t["predicted"] * torch.nan}, "a number is not finite"),
    "graphs left out": (lambda t: {name: values[:4] for name, values in t.items()}, "it gives"),
    "other predictions": (lambda t: {"predicted": t["predicted"] + 1}, "it gives"),
}


@pytest.mark.parametrize("what", PREDICTIONS)
def test_tampering_with_predictions(record, what):
    change, words = PREDICTIONS[what]
    edit_predictions(record, change)
    said = refusal(record)
    assert words in said
    assert "seed0" in said
    edit_predictions(record, change, "seed1")
    (record / "models" / "seed0").rename(record / "elsewhere")
    assert "seed0/test.safetensors is missing" in refusal(record)


def test_all_trials_have_the_same_targets(record):
    edit_predictions(record, lambda t: {"true": t["true"].flip(0), "predicted": t["predicted"].flip(0)}, "seed1")
    assert "seed1/test.safetensors: ids or targets differ from those of the other trials" in refusal(record)


DAMAGED = {
    "a trial without seed": ("result.json", lambda r: r["trials"][0].pop("seed")),
    "a mean that is a word": ("result.json", lambda r: r["test"].update(mean="small")),
    "trials that are a number": ("result.json", lambda r: r.update(trials=3)),
    "a figure of 400 digits": ("result.json", lambda r: r["trials"][0].update(test=10**400)),
    "no number of the model": ("record.json", lambda r: r.pop("model_format")),
}


@pytest.mark.parametrize("what", DAMAGED)
def test_damage_is_named(record, what):
    file, change = DAMAGED[what]
    edit_json(record / file, change)
    with pytest.raises(RecordError) as error:
        read_records(record.parent)
    assert str(record) in str(error.value)


@pytest.mark.parametrize(
    "file", ["record.json", "result.json", "machine.json", "settings.yaml", "log.jsonl", "models/seed0/test.safetensors"]
)
def test_an_altered_byte_is_named(record, file):
    data = bytearray((record / file).read_bytes())
    data[len(data) // 2] ^= 1
    (record / file).write_bytes(data)
    with pytest.raises(RecordError) as error:
        read_records(record.parent)
    assert str(record / file) in str(error.value)
