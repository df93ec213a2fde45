"""A table in, a model out, predictions out: what is found, what is said, what is kept, and what each bad table is told."""

from __future__ import annotations

import csv
import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("rdkit")

import torch
from rdkit import Chem
from rdkit.Chem import Crippen
from train.tasks import stopped_at

from planegraph.cli import main
from planegraph.errors import FormatError, PlanegraphError
from planegraph.predict import Predictor
from planegraph.predict.files import evaluate_file, predict_file
from planegraph.tasks.molecules.task import MoleculeOptions, read_molecule_task
from planegraph.train.metrics import figures_by_target
from planegraph.train.molecules import molecule_settings, train_molecules

PARTS = ("C", "CC", "O", "N", "c1ccccc1", "C(=O)O", "Cl", "C1CC1", "C#N", "S")
QUICK = ["train.epochs=4", "model.hidden=8", "model.layers=1", "train.batch_size=16"]


def molecules(count: int = 60) -> list[str]:
    rng = np.random.default_rng(0)
    return ["C" + "".join(f"C({part})" for part in rng.choice(PARTS, 3)) for _ in range(count)]


def logp(smiles: str) -> float:
    return Crippen.MolLogP(Chem.MolFromSmiles(smiles))


def write(path, rows, header=("smiles", "logp")):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def read(path):
    opened = gzip.open(path, "rt") if str(path).endswith(".gz") else open(path)  # noqa: SIM115
    with opened as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Two targets, of which the second has gaps; a row that cannot be read, one without a molecule and one without targets."""
    rows = [(f"m{k}", s, logp(s), "" if k % 3 == 0 else len(s)) for k, s in enumerate(molecules())]
    rows += [("bad", "C1CC", 1, 1), ("empty", "", 1, 1), ("none", "CCO", "", "nan")]
    return write(tmp_path_factory.mktemp("table") / "mols.csv", rows, ("name", "smiles", "logp", "length"))


@pytest.fixture(scope="module")
def run(table, tmp_path_factory):
    options = MoleculeOptions(targets=("logp", "length"))
    found = read_molecule_task(table, options)
    out = tmp_path_factory.mktemp("run") / "run"
    settings = molecule_settings(found, options.to_dict(), 2, QUICK)
    return out, found, train_molecules(found, settings, out, device="cpu"), settings


# ---- reading ----------------------------------------------------------------------------------------------------------------


def test_what_is_found(table):
    found = read_molecule_task(table, MoleculeOptions(targets=("logp", "length")))
    task = found.task
    assert (task.kind, task.metric, task.loss, task.names, task.missing) == ("regression", "rmse", "mse", ("logp", "length"), True)
    assert len(task.dataset) == 60
    assert sorted(np.concatenate(list(task.splits.values())).tolist()) == list(range(60))
    assert [(row, reason.split(":")[0]) for row, _, reason in found.skipped] == [
        (61, "RDKit refuses the SMILES 'C1CC'"),
        (62, "the SMILES is empty"),
        (63, "no target has a value"),
    ]
    assert found.skipped_csv().startswith("row,smiles,reason\n61,C1CC,RDKit refuses")
    center, spread = np.array(task.units).T
    assert np.allclose(task.dataset.y[:, 0] * spread[0] + center[0], [logp(s) for s in molecules()], atol=1e-5)
    assert np.isnan(task.dataset.y[:, 1]).sum() == 20
    assert any("3 rows were skipped" in note for note in found.notes)


def test_the_only_column_of_numbers_is_the_target(tmp_path):
    path = write(tmp_path / "t.csv", [(s, k % 2) for k, s in enumerate(molecules())], ("structure", "active"))
    found = read_molecule_task(path)
    assert found.schema.smiles == "structure"
    assert found.schema.targets == ("active",)
    assert found.task.kind == "binary"
    assert found.task.metric == "rocauc"


def test_three_classes(tmp_path):
    path = write(tmp_path / "t.csv", [(s, k % 3) for k, s in enumerate(molecules())])
    found = read_molecule_task(path)
    assert found.schema.classes == ("0", "1", "2")
    assert found.task.outputs == 3
    options = MoleculeOptions(kind="multiclass")
    out = train_molecules(found, molecule_settings(found, options.to_dict(), 1, QUICK), tmp_path / "run", device="cpu")
    assert set(out["ensemble"]["test"]["logp"]) == {"accuracy", "f1", "logloss"}
    predict_file(Predictor.load(tmp_path / "run", "cpu"), path, tmp_path / "out.csv")
    for row in read(tmp_path / "out.csv"):
        shares = [float(row[f"probability_{name}"]) for name in "012"]
        assert sum(shares) == pytest.approx(1, abs=1e-5)
        assert row["predicted_logp"] == "012"[int(np.argmax(shares))]
    assert evaluate_file(Predictor.load(tmp_path / "run", "cpu"), path).counts == (60, 0)


def test_duplicates_across_parts_are_told(tmp_path):
    rows = [(s, k, "train" if k < 40 else "val" if k < 50 else "test") for k, s in enumerate(molecules())]
    rows[55] = ("CCO", 1, "test")
    rows[3] = ("OCC", 1, "train")
    path = write(tmp_path / "t.csv", rows, ("smiles", "y", "part"))
    found = read_molecule_task(path, MoleculeOptions(targets="y", split="column:part"))
    assert any("of test also in train" in note for note in found.notes)


BAD = [
    ([("CCO", "")] * 12, {"targets": ("y",)}, "column y has no value in any of 12 rows"),
    ([("CCO", 1)] * 12, {"targets": ("y",)}, "column 'y': all values are 1; there is nothing to learn"),
    ([("CCO", 2.5)] * 12, {"targets": ("y",)}, "column 'y': all values are 2.5; there is nothing to learn"),
    ([("CCO", "inf")] * 12, {"targets": ("y",)}, r"column 'y', row 1: a target must be finite; found 'inf'"),
    ([("CCO", "high")] * 12, {"targets": ("y",)}, r"column 'y', row 1: a target must be a number, .* found 'high'"),
    ([("CCO", k) for k in range(12)], {"targets": ("z",)}, "has no column 'z'. Its columns: 'smiles', 'y'"),
    ([("CCO", k) for k in range(12)], {"smiles": "z"}, "z"),
    ([("CCO", k) for k in range(12)], {"targets": ("y",), "kind": "binary"}, "a binary target is 0 or 1; found 2"),
    (
        [("CCO", k) for k in range(12)],
        {"targets": ("y",), "metric": "rocauc"},
        "the metric of a regression task is one of mae, rmse",
    ),
    ([("C1CC", k) for k in range(12)], {"smiles": "smiles", "targets": ("y",)}, "no row has both a molecule .* and a target"),
    ([("CCO", k) for k in range(3)], {"targets": ("y",)}, "empty"),
    ([], {"smiles": "smiles", "targets": ("y",)}, "has a header and no rows"),
    ([("CCO", k) for k in range(12)], {"split": "columns:y"}, "split must be random, scaffold or column:NAME"),
    ([("CCO", k) for k in range(12)], {"split": "column:y", "folds": 3}, "a column with parts is one split"),
]


@pytest.mark.parametrize(("rows", "options", "message"), BAD, ids=[case[2][:40] for case in BAD])
def test_bad_tables(tmp_path, rows, options, message):
    path = write(tmp_path / "t.csv", rows, ("smiles", "y"))
    with pytest.raises((FormatError, PlanegraphError), match=message):
        read_molecule_task(path, MoleculeOptions(**options))


# ---- training ---------------------------------------------------------------------------------------------------------------


def test_missing_targets_add_nothing_to_the_gradient(table, tmp_path):
    """A gap gives the loss that a target predicted without error would give."""
    from planegraph.tasks.losses import graph_losses

    task = read_molecule_task(table, MoleculeOptions(targets=("logp", "length"))).task
    y = torch.from_numpy(task.dataset.y[:6].copy())
    raw = torch.randn(6, 2, requires_grad=True)
    filled = torch.where(torch.isnan(y), raw.detach(), y)
    losses = graph_losses(task, raw, y)
    assert torch.allclose(losses, ((raw - filled) ** 2).mean(-1))
    losses.sum().backward()
    assert (raw.grad[torch.isnan(y)] == 0).all()


def test_figures_are_in_the_units_of_the_table(run):
    out, found, result, _ = run
    assert result["ensemble"]["models"] == 2
    assert json.loads((out / "result.json").read_text())["ensemble"] == result["ensemble"]
    test = found.task.splits["test"]
    predictor = Predictor.load(out, "cpu")
    smiles = molecules()
    predicted = predictor([smiles[i] for i in test]).mean[:, 0]
    true = np.array([logp(smiles[i]) for i in test])
    assert result["ensemble"]["test"]["logp"]["rmse"] == pytest.approx(np.sqrt(((predicted - true) ** 2).mean()), rel=1e-4)
    assert set(result["trials"][0]["figures"]["val"]) == {"logp", "length"}


def test_one_model_says_the_same_as_its_ensemble(table, tmp_path):
    """Its predictions are in the units of the table once, on validation, too: intervals come from there."""
    found = read_molecule_task(table, MoleculeOptions(targets=("logp", "length"), descriptors=False))
    result = train_molecules(found, molecule_settings(found, {}, 1, QUICK), tmp_path, device="cpu")
    for part in ("val", "test"):
        for target, figures in result["trials"][0]["figures"][part].items():
            assert result["ensemble"][part][target] == pytest.approx(
                figures, rel=1e-5, abs=1e-6
            )  # R² near 0 is a difference of floats


def test_a_finished_run_is_kept_and_the_same_command_continues(run, table):
    out, found, result, settings = run
    before = (out / "result.json").stat().st_mtime_ns
    again = train_molecules(found, settings, out, device="cpu")
    assert again["ensemble"] == result["ensemble"]
    assert (out / "result.json").stat().st_mtime_ns >= before
    longer = settings.with_overrides(["train.epochs=6"])
    assert len(train_molecules(found, longer, out.with_name("longer"), device="cpu")["trials"]) == 2


def test_embeddings_of_what_training_never_saw_are_zero(run):
    out, found, _, _ = run
    model = Predictor.load(out, "cpu").models[0]
    seen = found.schema.seen["x"][0]
    table = model.node_encoder.tables[0]
    unseen = sorted(set(range(len(table))) - set(seen))
    assert (table[unseen] == 0).all()
    assert (table[seen] != 0).all()


# ---- predicting -------------------------------------------------------------------------------------------------------------


def test_columns_are_kept_and_bad_rows_have_reasons(run, table, tmp_path):
    predictor = Predictor.load(run[0], "cpu")
    counts = predict_file(predictor, table, tmp_path / "out.csv.gz")
    assert counts == (63, 2)
    before, after = read(table), read(tmp_path / "out.csv.gz")
    assert list(after[0])[:4] == ["name", "smiles", "logp", "length"]
    for old, new in zip(before, after, strict=True):
        assert {name: new[name] for name in old} == old
    assert after[60]["predicted_logp"] == ""
    assert after[60]["problem"].startswith("RDKit refuses")
    assert after[61]["problem"].startswith("the SMILES is empty")
    assert after[62]["problem"] == ""
    for row in after[:60]:
        low, value, high = (
            (float(row[f"predicted_logp{end}"]) for end in ("_low", "", "_high")) if "predicted_logp_low" in row else (0, 0, 0)
        )
        assert low <= value <= high
    assert not list(tmp_path.glob("*.partial"))


def test_every_spelling_of_a_molecule_has_the_same_prediction(run):
    predictor = Predictor.load(run[0], "cpu")
    for smiles in molecules(10):
        mol = Chem.MolFromSmiles(smiles)
        spellings = [Chem.MolToSmiles(mol, doRandom=True) for _ in range(4)]
        found = predictor([smiles, *spellings]).mean
        assert np.ptp(found, axis=0).max() < 1e-4


def test_rare_atoms_are_predicted_and_named(run):
    found = Predictor.load(run[0], "cpu")(["CCO", "[SeH2]", "*C", "C->[Fe]", "[13CH4]"])
    assert np.isfinite(found.mean).all()
    assert 0 not in found.unseen
    assert "atomic_number 34" in found.unseen[1]
    assert "atomic_number other" in found.unseen[2]
    assert "type 17" in found.unseen[3]
    assert "isotope 13" in found.unseen[4]


def test_embeddings(run):
    rows, problems = Predictor.load(run[0], "cpu").embed(["CCO", "OCC", "C1CC"])
    assert rows.shape == (3, 16)
    assert np.allclose(rows[0], rows[1], atol=1e-5)
    assert np.isnan(rows[2]).all()
    assert list(problems) == [2]


def test_a_taken_column_is_not_overwritten(run, tmp_path):
    path = write(tmp_path / "t.csv", [("CCO", 1)], ("smiles", "predicted_logp"))
    with pytest.raises(FormatError, match="already has the column predicted_logp"):
        predict_file(Predictor.load(run[0], "cpu"), path, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: (f / "molecules.json").unlink(), "molecules.json is missing"),
        (lambda f: (f / "molecules.json").write_text("{"), "molecules.json is damaged"),
        (lambda f: (f / "molecules.json").write_text("{}"), "molecules.json is damaged"),
        (lambda f: (f / "result.json").unlink(), "result.json is missing; the run is not finished"),
        (lambda f: [p.unlink() for p in f.glob("models/*/model.safetensors")], "model.safetensors is missing"),
        (lambda f: [p.write_bytes(b"no") for p in f.glob("models/*/model.safetensors")], "does not hold a saved model"),
    ],
)
def test_a_damaged_run_is_named(run, tmp_path, damage, message):
    import shutil

    shutil.copytree(run[0], tmp_path / "run")
    damage(tmp_path / "run")
    with pytest.raises(FormatError, match=message):
        Predictor.load(tmp_path / "run", "cpu")


# ---- the commands -----------------------------------------------------------------------------------------------------------


def test_commands(table, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = ["--targets", "logp", "--out", "run", "-q", "--device", "cpu", "--no-descriptors", "--ensemble", "1"]
    train = ["train", str(table), *options, "--set", *QUICK]
    assert main(train) == 0
    out, err = capsys.readouterr()
    assert "logp, RMSE: test" in out
    assert "60 molecules of column smiles; regression of logp" in err or "61 molecules" in err
    assert read("run/skipped.csv")[0]["row"] == "61"
    assert main(train) == 0  # it is finished: nothing changes
    assert main(["predict", "run", str(table), "-o", "out.csv", "-q"]) == 1
    assert "2 rows could not be read" in capsys.readouterr().err
    assert main(["evaluate", "run", str(table)]) == 1
    assert "logp\tRMSE\t" in capsys.readouterr().out
    assert main(["embed", "run", str(table), "-o", "e.npy"]) == 1
    assert np.load("e.npy").shape == (63, 8)
    assert main(["predict", "run", str(table), "-o", "nowhere/out.csv"]) == 2
    assert main(["predict", "nothing", str(table), "-o", "x.csv"]) == 2
    assert main(["train", "missing.csv"]) == 2
    assert main(["train", str(table)]) == 2
    assert "Name the ones to learn: --targets logp,length" in capsys.readouterr().err


def test_a_run_is_resumed_by_its_folder(table, tmp_path, capsys, monkeypatch):
    """The same figures as without the interruption; skipped rows are known from the start."""
    monkeypatch.chdir(tmp_path)
    options = ["--targets", "logp", "-q", "--device", "cpu", "--no-descriptors", "--no-baselines", "--ensemble", "2"]
    command = ["train", os.path.relpath(table), *options, "--set", *QUICK]
    assert main([*command, "--out", "whole"]) == 0
    codes = []
    stopped_at(5, lambda: codes.append(main([*command, "--out", "run"])))
    assert codes == [143]
    assert "--resume continues it" in capsys.readouterr().err
    assert read("run/skipped.csv")[0]["row"] == "61"
    assert main(["train", "--resume", "--out", "run", "-q", "--device", "cpu", "--no-baselines"]) == 0
    whole, resumed = (json.loads(Path(name, "result.json").read_text()) for name in ("whole", "run"))
    assert resumed["ensemble"] == whole["ensemble"]
    assert main([*command[:1], str(table), *command[2:], "--out", "run"]) == 0  # the same table by another name


def test_figures_by_target_leave_gaps_out(table):
    task = read_molecule_task(table, MoleculeOptions(targets=("logp", "length"))).task
    y = torch.from_numpy(task.dataset.y.copy())
    found = figures_by_target(task, torch.nan_to_num(y), y)
    assert found["length"]["mae"] == pytest.approx(0, abs=1e-6)
    assert found["logp"]["r2"] == pytest.approx(1)
