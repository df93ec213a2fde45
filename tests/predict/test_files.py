"""Whole files: the same bytes for any number of workers and any format, and no file at all if something fails."""

from __future__ import annotations

import csv
import errno
import gzip
import os
import shutil
import signal
from dataclasses import dataclass

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("rdkit")

from planegraph import workers
from planegraph.cli import main
from planegraph.errors import WorkerError
from planegraph.graphs.formats.smiles import MoleculeReader
from planegraph.io import atomic
from planegraph.io.atomic import take_name
from planegraph.io.checksums import read_json
from planegraph.predict import Predictor, files, writers
from planegraph.predict.files import embed_file, evaluate_file, predict_file
from planegraph.predict.writers import write_npy
from planegraph.tasks.molecules.task import MoleculeOptions, read_molecule_task
from planegraph.train.molecules import molecule_settings, train_molecules

SMILES = ["C" * (1 + k % 9) + "OCNS"[k % 4] + "c1ccccc1" * (k % 2) for k in range(60)]
QUICK = ["train.epochs=2", "model.hidden=8", "model.layers=1", "train.batch_size=16"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a run of two models with some descriptors, and a table with rows that cannot be read."""
    folder = tmp_path_factory.mktemp("files")
    with open(folder / "table.csv", "w", newline="") as file:
        rows = [(text, f'"{k}", ü', len(text)) for k, text in enumerate([*SMILES, "C1CC", ""])]
        csv.writer(file).writerows([("smiles", "note", "length"), *rows])
    options = MoleculeOptions(targets=("length",), descriptors=True)
    found = read_molecule_task(folder / "table.csv", options)
    train_molecules(found, molecule_settings(found, {}, 2, QUICK), folder / "run", device="cpu", baselines=False)
    return folder


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    """Of eight rows, and workers start after the first."""
    monkeypatch.setattr(files, "_ROWS_WITH_DESCRIPTORS", 8)
    monkeypatch.setattr(workers, "_PATIENCE", 0.0)


@pytest.fixture
def predictor(run):
    return Predictor.load(run / "run", "cpu")


def test_the_number_of_workers_does_not_matter(run, predictor, tmp_path):
    for count in (1, 3):
        assert predict_file(predictor, run / "table.csv", tmp_path / f"{count}.csv.gz", workers=count) == (62, 2)
        assert embed_file(predictor, run / "table.csv", tmp_path / f"{count}.npy", workers=count) == ((62, 2), 16)
    for ending in ("csv.gz", "npy"):
        assert (tmp_path / f"1.{ending}").read_bytes() == (tmp_path / f"3.{ending}").read_bytes()
    figures = [evaluate_file(predictor, run / "table.csv", workers=count) for count in (1, 3)]
    assert figures[0] == figures[1]


def test_chunks_say_what_one_list_says(run, predictor, tmp_path):
    done = []
    predict_file(predictor, run / "table.csv", tmp_path / "out.tsv", progress=done.append)
    assert done == [8] * 7 + [6]
    with open(tmp_path / "out.tsv", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    found = predictor([*SMILES, "C1CC", ""])
    assert np.allclose([float(row["predicted_length"]) for row in rows[:60]], found.mean[:60, 0], rtol=1e-5)
    assert [row["problem"] for row in rows[60:]] == list(found.problems.values())
    assert rows[7]["note"] == '"7", ü'


def test_embeddings_are_written_row_by_row(run, predictor, tmp_path):
    embed_file(predictor, run / "table.csv", tmp_path / "out.npy")
    rows, _ = predictor.embed([*SMILES, "C1CC", ""])
    found = np.load(tmp_path / "out.npy")
    assert found.dtype == np.float32
    assert np.allclose(found, rows, rtol=1e-4, atol=1e-5, equal_nan=True)


@pytest.mark.parametrize("rows", [0, 1, 123_456])
def test_a_header_of_any_number_of_rows(tmp_path, rows):
    expected = np.arange(3 * rows, dtype=np.float32).reshape(rows, 3)
    write_npy(tmp_path / "a.npy", 3, (expected[start : start + 1000] for start in range(0, rows, 1000)))
    np.save(tmp_path / "b.npy", expected)
    assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "b.npy").read_bytes()


def test_parquet_has_the_cells_of_the_csv(run, predictor, tmp_path, monkeypatch):
    monkeypatch.setattr(writers, "_ROW_GROUP", 20)
    parquet = pytest.importorskip("pyarrow.parquet")
    for ending in ("csv", "parquet"):
        predict_file(predictor, run / "table.csv", tmp_path / f"out.{ending}")
    table = parquet.read_table(tmp_path / "out.parquet")
    assert parquet.ParquetFile(tmp_path / "out.parquet").num_row_groups == 3  # 24 rows, 24 and 14
    with open(tmp_path / "out.csv", newline="") as file:
        for text, row in zip(csv.DictReader(file), table.to_pylist(), strict=True):
            assert {name: "" if row[name] is None else row[name] for name in row} == {
                name: float(text[name]) if text[name] and name.startswith("predicted") else text[name] for name in text
            }
    assert {str(table.schema.field(name).type) for name in table.column_names if name.startswith("predicted")} == {"double"}


@dataclass(frozen=True)
class Deadly:
    """Reads molecules in this process, and kills any other."""

    reader: MoleculeReader
    here: int

    def __call__(self, smiles):
        if os.getpid() != self.here:
            os.kill(os.getpid(), signal.SIGKILL)
        return self.reader(smiles)


def test_a_killed_worker_leaves_no_file(run, predictor, tmp_path, monkeypatch, capsys):
    deadly = Deadly(predictor.schema.featurizer.reader, os.getpid())
    monkeypatch.setattr(type(predictor.schema.featurizer), "reader", deadly)
    with pytest.raises(WorkerError, match="worker processes was killed"):
        predict_file(predictor, run / "table.csv", tmp_path / "out.csv", workers=2)
    assert not list(tmp_path.iterdir())
    code = main(["predict", str(run / "run"), str(run / "table.csv"), "-o", str(tmp_path / "out.csv"), "--workers", "2"])
    assert code == 3
    assert "use fewer workers, or one (--workers)" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_damaged_row_leaves_no_file(run, predictor, tmp_path):
    text = (run / "table.csv").read_text()
    (tmp_path / "bad.csv").write_text(text + "CCO,too,many,cells\n")
    code = main(["predict", str(run / "run"), str(tmp_path / "bad.csv"), "-o", str(tmp_path / "out.csv"), "--workers", "2"])
    assert code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]


@pytest.mark.parametrize("count", ["0", "-1", "two"])
def test_workers_are_counted_from_one(run, count, capsys):
    assert main(["predict", str(run / "run"), "x.csv", "-o", "y.csv", "--workers", count]) == 2
    assert "must be a whole number from 1 on" in capsys.readouterr().err


def test_gzip_holds_the_plain_bytes(run, predictor, tmp_path):
    for ending in ("csv", "csv.gz"):
        predict_file(predictor, run / "table.csv", tmp_path / f"out.{ending}")
    assert gzip.decompress((tmp_path / "out.csv.gz").read_bytes()) == (tmp_path / "out.csv").read_bytes()


def test_a_run_is_complete_only_with_its_predictions(run, tmp_path, monkeypatch):
    """The disk is full as the predictions take their name: the result had its figures already, beside predictions of another run."""
    shutil.copytree(run / "run", tmp_path / "run")
    (tmp_path / "run" / "result.json").unlink()
    found = read_molecule_task(run / "table.csv", MoleculeOptions(targets=("length",), descriptors=True))

    def full(file, path):
        if path.name == "predictions.csv":
            raise OSError(errno.ENOSPC, "No space left on device")
        take_name(file, path)

    monkeypatch.setattr(atomic, "take_name", full)
    settings = molecule_settings(found, {}, 2, QUICK)
    with pytest.raises(OSError, match="No space left"):
        train_molecules(found, settings, tmp_path / "run", device="cpu", baselines=False)
    assert "ensemble" not in read_json(tmp_path / "run" / "result.json")
    monkeypatch.undo()
    train_molecules(found, settings, tmp_path / "run", device="cpu", baselines=False)
    assert (tmp_path / "run" / "predictions.csv").read_bytes() == (run / "run" / "predictions.csv").read_bytes()
    again, before = (read_json(folder / "run" / "result.json") for folder in (tmp_path, run))
    assert {**again, "seconds": 0} == {**before, "seconds": 0}
