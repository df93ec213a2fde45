"""A record says what its run said."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from train.tasks import regression, small

from planegraph.cli import main
from planegraph.experiments import records
from planegraph.experiments.records import (
    RecordError,
    checked_record,
    has_record,
    read_record,
    read_records,
    trial_name,
    write_measure,
    write_record,
)
from planegraph.io.atomic import replace_files
from planegraph.io.checksums import read_json
from planegraph.nn import BasePlanE
from planegraph.runs import settings
from planegraph.runs.folder import read_run
from planegraph.runs.provenance import read_sessions
from planegraph.runs.settings import load_run_settings
from planegraph.train import train

from .edits import edit_json, of_earlier_model

KINDS = ("seeds", "folds", "classes", "accuracy", "rocauc")


@pytest.mark.parametrize("kind", KINDS)
def test_round_trip(runs, tmp_path, kind):
    """A record has the files of its run, but for weights and checkpoints."""
    run = runs[kind]
    folder = write_record(run, tmp_path, "small")
    found = checked_record(folder)
    result = read_json(run / "result.json")
    assert found.result == result
    assert found.settings == load_run_settings(run)
    assert found.sessions == read_sessions(run)
    assert [curve.name for curve in found.curves] == list(found.tests)
    assert {len(curve.epoch) for curve in found.curves} == {found.settings.train.epochs}
    assert list(found.tests) == [trial_name(trial) for trial in result["trials"]]
    assert found.facts.keys() == {"name", "kind", "model_format", "parameters"}
    assert found.overrides == []  # no config of this name
    kept = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    names = ("settings.yaml", "machine.json", "result.json", "log.jsonl", "report.html", "test.safetensors")
    of_run = {str(path.relative_to(run)) for path in run.rglob("*") if path.name in names}
    assert kept == {*of_run, "record.json"}
    for name in of_run:
        assert (folder / name).read_bytes() == (run / name).read_bytes()
    assert read_run(folder).result == result


def test_several_outputs(tmp_path):
    train(regression(targets=2), small(epochs=1), tmp_path / "run", device="cpu")
    assert checked_record(write_record(tmp_path / "run", tmp_path, "small")).tests["seed0"].predicted.shape[1] == 2


def test_parameters(runs, record):
    model = BasePlanE.from_pretrained(runs["seeds"] / "models" / "seed0")
    assert read_record(record).facts["parameters"] == sum(p.numel() for p in model.parameters())


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_written_again(runs, record):
    before = contents(record)
    write_record(runs["seeds"], record.parent, "small")
    assert contents(record) == before


@pytest.mark.parametrize("fails", ["settings.yaml", "log.jsonl", "report.html", "record.json"])
def test_a_full_disk_leaves_the_earlier_record(runs, record, monkeypatch, fails):
    """And what else lies in its folder."""
    (record / "README.md").write_text("mine")
    before = contents(record)

    def full(files):
        if any(path.name == fails for path in files):
            raise OSError(28, "No space left on device")
        replace_files(files)

    monkeypatch.setattr(records, "replace_files", full)
    monkeypatch.setattr(settings, "replace_files", full)
    with pytest.raises(OSError, match="No space left"):
        write_record(runs["folds"], record.parent, "small")
    assert contents(record) == before
    assert [path.name for path in record.parent.iterdir()] == ["small"]
    monkeypatch.undo()
    write_record(runs["folds"], record.parent, "small")
    assert list(checked_record(record).tests) == ["seed0-fold0", "seed0-fold1"]
    assert not (record / "models" / "seed0").exists()
    assert (record / "README.md").read_text() == "mine"


def test_a_record_is_one_when_all_of_it_has_moved(runs, record, monkeypatch):
    """Wherever moving ends, what is there is the whole of one of them, or no record; and a link to a folder is followed."""
    before = read_record(record)
    place = record.with_name("linked")
    place.symlink_to(record, target_is_directory=True)
    files = len(list(record.iterdir()))
    for moves in range(files + 2):
        monkeypatch.undo()
        write_record(runs["seeds"], record.parent, "small")
        left = iter(range(moves))

        def move(source, target, left=left):
            if Path(target).parent == record.resolve() and next(left, None) is None:
                raise KeyboardInterrupt
            os.rename(source, target)

        monkeypatch.setattr(os, "replace", move)
        try:
            write_record(runs["folds"], record.parent, "small")
            assert moves == files + 1  # the folds were trained one after another, so there is group1
        except KeyboardInterrupt:
            assert not (record / "record.json").exists()
    assert checked_record(record).result != before.result
    monkeypatch.undo()
    edit_json(record / "record.json", lambda facts: facts.update(name="linked"))
    write_record(runs["seeds"], record.parent, "linked")
    assert place.is_symlink()
    assert checked_record(place).result == before.result


def test_what_a_process_left_that_was_killed_is_taken_away(runs, tmp_path):
    (tmp_path / ".small.new").mkdir()
    (tmp_path / ".small.new" / "log.jsonl").write_text("half of it")
    assert read_records(tmp_path) == {}
    folder = write_record(runs["seeds"], tmp_path, "small")
    assert [path.name for path in tmp_path.iterdir()] == ["small"]
    checked_record(folder)


def test_names_of_tables_are_for_what_they_hold(runs, tmp_path):
    with pytest.raises(RecordError, match="a record named tiger cannot be of kind 'train'"):
        write_record(runs["seeds"], tmp_path, "tiger")
    with pytest.raises(RecordError, match="a record named p3r-gin cannot be of kind 'measure'"):
        write_measure([{}], tmp_path, "p3r-gin", 1.0, "cpu")
    assert not list(tmp_path.iterdir())
    broken = write_record(runs["seeds"], tmp_path, "mine")
    (broken / "log.jsonl").unlink()
    with pytest.raises(RecordError, match="planegraph reproduce --from-run RUN --name mine makes it again"):
        read_records(tmp_path)


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


@pytest.mark.parametrize("name", ["NOTES.md", "nowhere"])
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
    ("result.json", b'{"seconds": 1, "trials": 5}'),
    ("result.json", b'{"seconds": 1, "trials": []}'),
    ("result.json", b'{"seconds": 1, "trials": [{"seed": 0}]}'),
    ("result.json", b'{"crc32": 1}'),
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


def test_no_folder_is_no_empty_folder(tmp_path):
    with pytest.raises(RecordError, match=r"there is no folder .* of records"):
        read_records(tmp_path / "recrods")


def test_measures(tmp_path):
    row = {"graph": "1k", "nodes": 1000, "preprocessing, ms": 0.5}
    folder = write_measure([row], tmp_path, "tiger", 3.0, "cpu", notes="a note")
    found = checked_record(folder)
    assert found.result == {"notes": "a note", "seconds": 3.0, "rows": [row]}
    assert found.settings is None
    with pytest.raises(RecordError, match="rows must be"):
        write_measure([], tmp_path, "tiger", 3.0, "cpu")
    for wrong in ({"nodes": None}, {"nodes": True}, {"nodes": -1}, {"preprocessing, ms": "fast"}, {"graph": 1}, {"edges": 5}):
        with pytest.raises(RecordError, match=r"result\.json: row 1 .*; found {"):
            write_measure([row, row | wrong], tmp_path, "tiger", 3.0, "cpu")
    write_measure([{"anything": "goes"}], tmp_path, "mine", 3.0, "cpu")
    edit_json(folder / "result.json", lambda r: r.update(rows={}))
    with pytest.raises(RecordError, match=r"rows must be .*; python benchmarks/measured\.py tiger makes it again"):
        checked_record(folder)


def test_a_record_of_an_earlier_model(record):
    """It is read and checked as any other; its settings are the original ones."""
    settings = read_record(record).settings
    of_earlier_model(record, hidden=8, g_depth=2)
    found = checked_record(record)
    assert found.earlier == {"hidden": 8, "g_depth": 2}
    assert (found.settings.model, found.settings.train) == ({}, settings.train)
    assert not has_record(record.parent, "small")
    edit_json(record / "result.json", lambda result: result["test"].update(mean=9.0))
    with pytest.raises(RecordError, match="test is given as 9"):
        checked_record(record)


@pytest.mark.parametrize("number", [0, 99, "2", None])
def test_numbers_of_models(record, number):
    edit_json(record / "record.json", lambda facts: facts.update(model_format=number))
    with pytest.raises(RecordError, match=rf"model_format must be a whole number from 1 to \d+; found {number!r}"):
        checked_record(record)


def test_a_run_of_an_earlier_model_gives_no_record(runs, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(runs["seeds"], run)
    edit_json(run / "models" / "seed0" / "config.json", lambda config: config.update(format=1))
    with pytest.raises(RecordError, match=r"config\.json has format 1: the run is that of another planegraph"):
        write_record(run, tmp_path / "records", "small")


def test_trial_names():
    assert [trial_name({"seed": 3, "fold": f}) for f in (None, 0)] == ["seed3", "seed3-fold0"]


# ---- seeds that were trained apart ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def apart(tmp_path_factory) -> list[Path]:
    """Seeds 0, and 1 and 2, each a separate run; and all three in one."""
    from train.tasks import regression, small

    root = tmp_path_factory.mktemp("apart")
    settings = {"first": small(), "others": small(seed=1, seeds=2), "all": small(seeds=3)}
    for name, chosen in settings.items():
        train(regression(), chosen, root / name, device="cpu")
    return [root / name for name in settings]


def test_seeds_apart_are_one_record(apart, tmp_path):
    first, others, together = apart
    wanted = read_record(write_record(together, tmp_path, "together"))
    kept = write_record(others, tmp_path / "parts", "others", note="a part")  # a record and a run, in any order
    found = read_record(write_record([kept, first], tmp_path, "joined"))
    found.check()
    assert found.settings == wanted.settings
    assert [trial["seed"] for trial in found.result["trials"]] == [0, 1, 2]
    assert found.result["test"]["mean"] == pytest.approx(wanted.result["test"]["mean"], rel=1e-4)
    assert found.result["test"]["std"] == pytest.approx(wanted.result["test"]["std"], rel=1e-2)
    assert list(found.tests) == list(wanted.tests)
    assert [(c.seed, c.epoch.tolist()) for c in found.curves] == [(c.seed, c.epoch.tolist()) for c in wanted.curves]
    assert found.facts == wanted.facts | {"name": "joined", "note": "a part"}
    assert len(found.sessions) == 2
    checked_record(tmp_path / "joined")
    page = (tmp_path / "joined" / "report.html").read_text()
    assert "seed 2" in page
    assert "Predictions on the test part" in page


def test_parts_that_are_not_one_record(apart, runs, tmp_path):
    first, others, _ = apart
    cases = [
        ([first, first], "ends before seed 1, .* begins with seed 0: give all seeds, each once"),
        ([others, others], "ends before seed 3, .* begins with seed 1"),
        ([first, runs["rocauc"]], "cannot be one record: task is 'counting' and 'much'"),
    ]
    for folders, message in cases:
        with pytest.raises(RecordError, match=message):
            write_record(folders, tmp_path, "joined")
    assert not (tmp_path / "joined").exists()


def test_seeds_apart_on_the_command_line(apart, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    first, others, _ = apart
    assert main(["reproduce", "--from-run", str(first), str(others), "--name", "zinc12k-gin", "--out", "results.md"]) == 0
    assert len(read_record(tmp_path / "records" / "zinc12k-gin").result["trials"]) == 3
    assert main(["reproduce", "--from-run", str(first), str(first), "--name", "zinc12k-gin", "--out", "results.md"]) == 2
    assert "each once" in capsys.readouterr().err
