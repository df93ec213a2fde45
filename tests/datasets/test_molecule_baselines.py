"""The baselines agree with scikit-learn called directly, with gaps and folds; what is too much, or not installed, is skipped."""

from __future__ import annotations

import csv
import sys
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("rdkit")
pytest.importorskip("sklearn")

from rdkit import Chem
from rdkit.Chem import AllChem, Crippen
from sklearn import metrics as sk
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from planegraph.tasks.molecules import baselines as molecule_baselines
from planegraph.tasks.molecules.baselines import BOOSTING, FOREST, TREES, baseline_figures, fingerprints
from planegraph.tasks.molecules.features import descriptors
from planegraph.tasks.molecules.task import MoleculeOptions, read_molecule_task

PARTS = ("C", "CC", "O", "N", "c1ccccc1", "C(=O)O", "Cl", "C1CC1", "C#N", "S")
QUICK = 20  # trees


def molecules(count: int = 90) -> list[str]:
    rng = np.random.default_rng(0)
    return ["C" + "".join(f"C({part})" for part in rng.choice(PARTS, 3)) for _ in range(count)]


def task_of(folder, columns, **options):
    """A table of the molecules with these columns, read."""
    path = folder / "t.csv"
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([("smiles", *columns), *zip(molecules(), *columns.values(), strict=True)])
    return read_molecule_task(path, MoleculeOptions(targets=tuple(columns), **options))


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    assert TREES >= 100
    monkeypatch.setattr(molecule_baselines, "TREES", QUICK)


@pytest.fixture(scope="module")
def inputs():
    return fingerprints(molecules()), descriptors(molecules())[1]


def logp() -> np.ndarray:
    return np.array([Crippen.MolLogP(Chem.MolFromSmiles(s)) for s in molecules()])


def test_fingerprints_are_those_of_rdkit():
    old = [list(AllChem.GetMorganFingerprintAsBitVect(Chem.MolFromSmiles(s), 2, 2048)) for s in molecules(10)]
    assert fingerprints(molecules(10)).tolist() == old


def test_regression_with_gaps(tmp_path, inputs):
    """A gap in training is left out of it, a gap in test out of the figures; threads change nothing."""
    y = np.where(np.arange(90) % 4 == 0, np.nan, logp())
    found = task_of(tmp_path, {"logp": logp(), "gaps": ["" if np.isnan(v) else v for v in y]}, descriptors=False)
    figures = baseline_figures(found)
    assert figures == baseline_figures(found, threads=2)
    assert list(figures) == [FOREST, BOOSTING]
    train, test = (found.task.splits[part] for part in ("train", "test"))
    center, spread = np.array(found.task.units).T
    kept = found.task.dataset.y.astype(float) * spread + center  # rounded to float32: a forest breaks ties by less than that
    assert np.allclose(kept[:, 0], logp(), atol=1e-5)
    assert np.allclose(kept[:, 1], y, atol=1e-5, equal_nan=True)
    assert np.isnan(y[test]).any()
    models = {
        FOREST: (RandomForestRegressor(QUICK, max_features=1 / 3, random_state=0), inputs[0]),
        BOOSTING: (HistGradientBoostingRegressor(early_stopping=False, random_state=0), inputs[1]),
    }
    for name, (model, x) in models.items():
        for target, values in zip(("logp", "gaps"), kept.T, strict=True):
            known, tested = (ids[~np.isnan(values[ids])] for ids in (train, test))
            predicted = model.fit(x[known], values[known]).predict(x[tested])
            mine = figures[name][target]
            assert mine["rmse"] == pytest.approx(sk.root_mean_squared_error(values[tested], predicted))
            assert mine["r2"] == pytest.approx(sk.r2_score(values[tested], predicted))


def test_binary_over_folds(tmp_path, inputs):
    y = (logp() > np.median(logp())).astype(float)
    y[::5] = np.nan
    found = task_of(tmp_path, {"active": ["" if np.isnan(v) else int(v) for v in y]}, folds=3, kind="binary")
    figures = baseline_figures(found)
    kept = ~np.isnan(y)  # rows without any target are not in the task
    y, x = y[kept], (inputs[0][kept], inputs[1][kept])
    makers = {
        FOREST: lambda: RandomForestClassifier(QUICK, random_state=0),
        BOOSTING: lambda: HistGradientBoostingClassifier(early_stopping=False, random_state=0),
    }
    for k, (name, make) in enumerate(makers.items()):
        areas = []
        for split in found.task.folds:
            train, test = split["train"], split["test"]
            p = make().fit(x[k][train], y[train].astype(int)).predict_proba(x[k][test])[:, 1]
            areas.append(sk.roc_auc_score(y[test], p))
        assert figures[name]["active"]["rocauc"] == pytest.approx(np.mean(areas))


def test_multiclass(tmp_path, inputs):
    y = np.digitize(logp(), np.quantile(logp(), [0.3, 0.6]))
    figures = baseline_figures(found := task_of(tmp_path, {"class": [(3, 5, 9)[k] for k in y]}, kind="multiclass"))
    train, test = (found.task.splits[part] for part in ("train", "test"))
    model = RandomForestClassifier(QUICK, random_state=0).fit(inputs[0][train], y[train])
    assert figures[FOREST]["class"]["accuracy"] == pytest.approx(model.score(inputs[0][test], y[test]))
    shares = model.predict_proba(inputs[0][test])
    assert figures[FOREST]["class"]["logloss"] == pytest.approx(
        sk.log_loss(y[test], np.clip(shares, np.finfo(float).eps, 1 - np.finfo(float).eps), labels=[0, 1, 2]), rel=1e-6
    )


@pytest.mark.parametrize("kind", ["binary", "multiclass"])
def test_a_class_that_training_does_not_have(tmp_path, kind):
    """One class in training is predicted as such; figures that this leaves undefined are None."""
    parts = ["train"] * 70 + ["val"] * 10 + ["test"] * 10
    y = [0] * 70 + [0, 1] * 10 if kind == "binary" else [0] * 69 + [1, *([0, 1, 2, 1] * 5)]
    path = tmp_path / "t.csv"
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([("smiles", "y", "taught", "part"), *zip(molecules(), y, [0, 1] * 45, parts, strict=True)])
    targets = ("y", "taught") if kind == "binary" else "y"
    found = read_molecule_task(path, MoleculeOptions(targets=targets, kind=kind, split="column:part"))
    for of in baseline_figures(found).values():
        assert of["y"]["accuracy"] == pytest.approx(0.5 if kind == "binary" else np.mean(np.array(y[80:]) == 0), abs=0.2)
        assert of["y"]["logloss"] > 1


def test_a_target_without_values_in_training(tmp_path):
    rows = [(s, k % 7, "" if k < 70 else k % 3, "train" if k < 70 else ("val", "test")[k % 2]) for k, s in enumerate(molecules())]
    path = tmp_path / "t.csv"
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([("smiles", "a", "b", "part"), *rows])
    options = MoleculeOptions(targets=("a", "b"), kind="regression", split="column:part", descriptors=False)
    figures = baseline_figures(read_molecule_task(path, options))
    assert figures[FOREST]["b"] == {"mae": None, "rmse": None, "r2": None, "spearman": None}
    assert figures[FOREST]["a"]["mae"] > 0


def test_what_is_too_much_is_skipped(tmp_path, monkeypatch):
    found = task_of(tmp_path, {"logp": logp()}, descriptors=False, folds=3)
    sizes = [len(split["train"]) for split in found.task.folds]
    monkeypatch.setattr(molecule_baselines, "MOST_FITTED", sum(sizes) - 1)
    assert baseline_figures(found) == {
        "skipped": f"{sum(sizes)} training molecules, over all folds and targets, are more than {sum(sizes) - 1}"
    }
    monkeypatch.setattr(molecule_baselines, "MOST_MOLECULES", 20)
    assert baseline_figures(found) == {"skipped": f"{max(sizes)} training molecules are more than 20"}


def test_without_scikit_learn(tmp_path, monkeypatch):
    found = task_of(tmp_path, {"logp": logp()}, descriptors=False)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    assert baseline_figures(replace(found)) == {"skipped": "scikit-learn is not installed (pip install scikit-learn)"}


def test_descriptors_that_the_model_reads_are_not_computed_again(tmp_path, monkeypatch):
    read, unread = (task_of(tmp_path, {"logp": logp()}, descriptors=wanted) for wanted in (True, False))
    expected = baseline_figures(unread)
    monkeypatch.setattr(molecule_baselines, "descriptors", None)
    assert baseline_figures(read) == expected
