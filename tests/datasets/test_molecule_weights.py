"""A column with weights: which rows it leaves out, what the task gets, and what each bad column is told."""

from __future__ import annotations

import csv

import numpy as np
import pytest

pytest.importorskip("rdkit")
pytest.importorskip("torch")

from planegraph.cli import main
from planegraph.errors import FormatError, PlanegraphError
from planegraph.tasks.molecules.baselines import BOOSTING, baseline_figures
from planegraph.tasks.molecules.task import MoleculeOptions, read_molecule_task

HEADER = ("smiles", "y", "w", "part")
SMILES = [f"C{'C' * (k % 7)}({end})C" for k in range(8) for end in ("O", "N", "Cl", "C#N", "c1ccccc1")]
PARTS = ["train"] * 28 + ["val"] * 6 + ["test"] * 6
OPTIONS = MoleculeOptions(targets="y", weights="w", split="column:part", descriptors=True)
QUICK = ["train.epochs=3", "model.hidden=8", "model.layers=1", "train.batch_size=8"]


def write(path, weights, drop=()):
    rows = [(s, len(s) + k % 3, w, part) for k, (s, w, part) in enumerate(zip(SMILES, weights, PARTS, strict=True))]
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([HEADER, *(row for k, row in enumerate(rows) if k not in drop)])
    return path


def test_weights_have_mean_one_over_the_training_rows(tmp_path):
    weights = np.random.default_rng(0).exponential(5, len(SMILES))
    task = read_molecule_task(write(tmp_path / "t.csv", weights), OPTIONS).task
    found = task.dataset.attrs["sample_weight"]
    assert found.dtype == np.float32
    assert np.allclose(found, weights / weights[:28].mean())


def test_a_row_of_weight_zero_is_as_good_as_not_there(tmp_path):
    """Units of the target, scaling of descriptors, split and categories are those of the table without it."""
    drop = [3, 17, 30]
    weights = np.arange(1, len(SMILES) + 1)
    one = read_molecule_task(write(tmp_path / "t.csv", np.where(np.isin(np.arange(40), drop), 0, weights)), OPTIONS)
    (tmp_path / "other").mkdir()
    other = read_molecule_task(write(tmp_path / "other" / "t.csv", weights, drop), OPTIONS)
    assert one.task.digest == other.task.digest
    assert one.schema == other.schema
    assert [(row.row, row.reason) for row in one.skipped] == [
        (4, "its weight is 0"),
        (18, "its weight is 0"),
        (31, "its weight is 0"),
    ]


def test_the_column_is_no_target_and_part_of_the_digest(tmp_path):
    path = write(tmp_path / "t.csv", np.arange(1, 41))
    found = read_molecule_task(path, MoleculeOptions(weights="w", split="column:part", descriptors=False))
    assert found.schema.targets == ("y",)
    plain = read_molecule_task(path, MoleculeOptions(targets="y", split="column:part", descriptors=False))
    assert found.task.digest != plain.task.digest


BAD = [
    (["-1"] + ["1"] * 39, r"t.csv, column 'w', row 1: a weight must be a number, at least 0; found -1"),
    (["1"] * 6 + [""] + ["1"] * 33, r"column 'w', row 7: a weight must be a number, at least 0; found no value"),
    (["1", "inf"] + ["1"] * 38, r"column 'w', row 2: a weight must be finite; found 'inf'"),
    (["1", "high"] + ["1"] * 38, r"column 'w', row 2: a weight must be a number"),
    (["0"] * 40, r"all weights in column w are 0"),
    (["0"] * 28 + ["1"] * 12, r"the split column names no molecule for train"),
]


@pytest.mark.parametrize(("weights", "message"), BAD, ids=[message[-30:] for _, message in BAD])
def test_bad_weights_are_named_by_row_and_column(tmp_path, weights, message):
    with pytest.raises(FormatError, match=message):
        read_molecule_task(write(tmp_path / "t.csv", weights), OPTIONS)


def test_bad_columns(tmp_path):
    path = write(tmp_path / "t.csv", [1] * 40)
    with pytest.raises(FormatError, match=r"has no column 'weight'\. Its columns: 'smiles', 'y', 'w', 'part'"):
        read_molecule_task(path, MoleculeOptions(targets="y", weights="weight"))
    with pytest.raises(PlanegraphError, match="column y is a target, so it cannot hold the weights"):
        read_molecule_task(path, MoleculeOptions(targets="y", weights="y"))


def test_baselines_read_the_weights(tmp_path):
    """Equal weights leave boosting as it is (a forest draws its samples by weight, in another order); others do not."""
    pytest.importorskip("sklearn")
    equal, uneven = np.ones(40), np.geomspace(1e-6, 1, 40)
    found = [baseline_figures(read_molecule_task(write(tmp_path / "t.csv", w), OPTIONS)) for w in (equal, uneven)]
    none = baseline_figures(read_molecule_task(tmp_path / "t.csv", MoleculeOptions(targets="y", split="column:part")))
    assert found[0][BOOSTING] == none[BOOSTING]
    for name in none:
        assert found[1][name] != none[name]


def test_the_command(tmp_path, capsys):
    path = write(tmp_path / "t.csv", [1] * 39 + [0])
    quick = ["--out", str(tmp_path / "run"), "-q", "--device", "cpu", "--no-baselines", "--no-descriptors", "--set", *QUICK]
    command = ["train", str(path), "--targets", "y", "--split", "column:part"]
    assert main([*command, "--weights", "w", *quick]) == 0
    assert "1 row skipped" in capsys.readouterr().err
    path.write_text(path.read_text().replace(",1,", ",2,", 1))
    assert main([*command, "--weights", "w", *quick]) == 2
    assert "was made of other data" in capsys.readouterr().err
