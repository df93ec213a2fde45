"""Runs on tables of molecules: what the folder holds beside every run's files, and what the page shows of it."""

from __future__ import annotations

import csv
import json
import re
import shutil
import sys

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("rdkit")
pytest.importorskip("sklearn")

from rdkit import Chem
from rdkit.Chem import Crippen

from planegraph.cli import main
from planegraph.errors import FormatError
from planegraph.report import side_by_side, write_report, write_svgs
from planegraph.report.molecules import _rebuilt
from planegraph.tasks.metrics import figures as all_figures
from planegraph.tasks.molecules import baselines as molecule_baselines
from planegraph.tasks.molecules.task import MoleculeOptions, read_molecule_task
from planegraph.train import molecules as train_molecules_module
from planegraph.train.molecules import molecule_settings, train_molecules

from .runs import SVG, figure, frame, parse, points, words

PARTS = ("C", "CC", "O", "N", "c1ccccc1", "C(=O)O", "Cl", "C1CC1", "C#N", "S")
QUICK = ["train.epochs=3", "model.hidden=8", "model.layers=1", "train.batch_size=32"]
HOSTILE = "<script>alert(1)</script>&\"'"


@pytest.fixture(scope="module", autouse=True)
def few_trees():
    patch = pytest.MonkeyPatch()
    patch.setattr(molecule_baselines, "TREES", 20)
    yield
    patch.undo()


def molecules(count: int = 80) -> list[str]:
    rng = np.random.default_rng(0)
    return ["C" + "".join(f"C({part})" for part in rng.choice(PARTS, 3)) for _ in range(count)]


def logp() -> np.ndarray:
    return np.array([Crippen.MolLogP(Chem.MolFromSmiles(s)) for s in molecules()])


def train(folder, columns, seeds=2, **options):
    """A run on a table with these columns: its folder, task, result and settings."""
    folder.mkdir(exist_ok=True)
    with open(folder / "mols.csv", "w", newline="") as file:
        csv.writer(file).writerows([("smiles", *columns), *zip(molecules(), *columns.values(), strict=True)])
    options = MoleculeOptions(targets=tuple(columns), descriptors=False, **options)
    found = read_molecule_task(folder / "mols.csv", options)
    settings = molecule_settings(found, options.to_dict(), seeds, QUICK)
    return folder / "run", found, train_molecules(found, settings, folder / "run", device="cpu"), settings


@pytest.fixture(scope="module")
def regression(tmp_path_factory):
    """Two targets, the second with gaps and a name that would be a script."""
    gaps = ["" if k % 3 == 0 else len(s) for k, s in enumerate(molecules())]
    return train(tmp_path_factory.mktemp("regression"), {"logp": logp(), HOSTILE: gaps})


@pytest.fixture(scope="module")
def binary(tmp_path_factory):
    active = (logp() > np.median(logp())).astype(int)
    gaps = ["" if k % 5 == 0 else v for k, v in enumerate(active)]
    return train(tmp_path_factory.mktemp("binary"), {"active": active, "gaps": gaps}, folds=3, seeds=1)


@pytest.fixture(scope="module")
def multiclass(tmp_path_factory):
    level = np.digitize(logp(), np.quantile(logp(), [0.3, 0.6]))
    return train(tmp_path_factory.mktemp("multiclass"), {"level": [(3, 5, 9)[k] for k in level]}, kind="multiclass")


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def section(page, title):
    """The text of the page between a heading and the next."""
    text = page.read_text()
    return text.partition(f"<h2>{title}</h2>")[2].partition("<h2>")[0]


# ---- the folder -------------------------------------------------------------------------------------------------------------


def test_train_molecules_writes_it(regression):
    """With the figures of the ensemble, which `train` alone does not know."""
    folder, *_ = regression
    assert "All metrics, against baselines" in (folder / "report.html").read_text()


def test_predictions_give_the_figures_of_the_result(regression):
    out, found, result, _ = regression
    rows = read(out / "predictions.csv")
    assert list(rows[0]) == [
        *("row", "part", "fold", "smiles", "true_logp", "predicted_logp"),
        *(f"true_{HOSTILE}", f"predicted_{HOSTILE}"),
    ]
    assert len(rows) == sum(len(found.task.splits[part]) for part in ("val", "test"))
    for row in rows:
        i = int(row["row"]) - 1
        assert row["smiles"] == molecules()[i]
        assert float(row["true_logp"]) == pytest.approx(logp()[i], abs=1e-5)
        assert (row[f"true_{HOSTILE}"] == "") == (i % 3 == 0)
        assert row["fold"] == ""
    for part in ("val", "test"):
        for name in ("logp", HOSTILE):
            pairs = [(row[f"true_{name}"] or "nan", row[f"predicted_{name}"]) for row in rows if row["part"] == part]
            mine = all_figures("regression", *np.array(pairs, float).T)
            assert mine["rmse"] == pytest.approx(result["ensemble"][part][name]["rmse"], rel=1e-4)


def test_predictions_of_folds_and_of_classes(binary, multiclass):
    out, _, result, _ = binary
    rows = [row for row in read(out / "predictions.csv") if row["part"] == "test"]
    assert sorted(int(row["row"]) for row in rows) == list(range(1, 81))  # each molecule is tested once
    areas = []
    for fold in "012":
        pairs = [(row["true_active"], row["predicted_active"]) for row in rows if row["fold"] == fold]
        areas.append(all_figures("binary", *np.array(pairs, float).T)["rocauc"])
    assert result["ensemble"]["test"]["active"]["rocauc"] == pytest.approx(np.mean(areas), abs=1e-6)
    out, found, _, _ = multiclass
    for row in read(out / "predictions.csv"):
        shares = [float(row[f"probability_{name}"]) for name in "359"]
        assert sum(shares) == pytest.approx(1, abs=1e-5)
        assert row["predicted_level"] == "359"[int(np.argmax(shares))]
        assert row["true_level"] == "359"[found.task.dataset.y[int(row["row"]) - 1]]


def test_baselines_are_kept(regression, monkeypatch):
    out, found, result, settings = regression
    assert set(result["baselines"]) == {"random forest", "gradient boosting"}
    assert set(result["baselines"]["random forest"]) == {"logp", HOSTILE}

    def fail(*_):
        raise AssertionError("computed again")

    monkeypatch.setattr(train_molecules_module, "baseline_figures", fail)
    for wanted in (True, False):
        again = train_molecules(found, settings, out, device="cpu", baselines=wanted)
        assert again["baselines"] == result["baselines"] == json.loads((out / "result.json").read_text())["baselines"]


def test_a_run_whose_baselines_fail_is_complete(regression, tmp_path, monkeypatch):
    """Whatever stops the baselines, the figures of the ensemble are on the disk, and the same call trains the baselines."""
    _, found, _, settings = regression

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(train_molecules_module, "baseline_figures", stop)
        with pytest.raises(KeyboardInterrupt):
            train_molecules(found, settings, tmp_path / "run", device="cpu")
    assert "ensemble" in json.loads((tmp_path / "run" / "result.json").read_text())
    assert "they were not requested" in words(parse(write_report(tmp_path / "run")))
    assert set(train_molecules(found, settings, tmp_path / "run", device="cpu")["baselines"]) == {
        "random forest",
        "gradient boosting",
    }


def test_commands_with_and_without_baselines(regression, tmp_path, capsys, monkeypatch):
    table = regression[0].parent / "mols.csv"
    command = [
        "train",
        str(table),
        "--targets",
        "logp",
        "-q",
        "--device",
        "cpu",
        "--no-descriptors",
        "--ensemble",
        "1",
        "--set",
        *QUICK,
    ]
    assert main([*command, "--out", str(tmp_path / "a"), "--no-baselines"]) == 0
    assert "baselines" not in json.loads((tmp_path / "a" / "result.json").read_text())
    assert "forest" not in capsys.readouterr().out
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "sklearn", None)
        assert main([*command, "--out", str(tmp_path / "a")]) == 0
    assert "no baselines: scikit-learn is not installed" in capsys.readouterr().out
    assert "There are no baselines: scikit-learn is not installed" in words(parse(tmp_path / "a" / "report.html"))
    assert main([*command, "--out", str(tmp_path / "a")]) == 0  # now it is there
    assert re.search(r"^logp, RMSE of a random forest: [\d.]+, of gradient boosting: [\d.]+$", capsys.readouterr().out, re.M)


# ---- the page ---------------------------------------------------------------------------------------------------------------


def test_all_metrics_beside_the_baselines(regression):
    out, _, result, _ = regression
    page = write_report(out)
    text = words(parse(page))
    for name in ("MAE", "RMSE", "R²", "Spearman", "random forest, test", "gradient boosting, test", "ensemble, test"):
        assert name in text
    part = section(page, "All metrics, against baselines")
    everyone = [result["ensemble"]["test"], *result["baselines"].values()]
    for of in everyone:
        assert f"{of['logp']['mae']:#.4g}" in part
    best = min(of["logp"]["rmse"] for of in everyone)
    assert f"<strong>{best:#.4g}</strong>" in part
    assert re.search(r"logp: (the ensemble|the random forest|gradient boosting) has the best test RMSE, ", part)


def test_plots_of_a_regression(regression):
    out, found, result, _ = regression
    root = parse(write_report(out))
    tested = found.task.splits["test"]
    gaps = int((tested % 3 == 0).sum())
    for title, count in (("logp", len(tested)), (HOSTILE, len(tested) - gaps)):
        for what in ("predicted against true", "residuals"):
            svg = figure(root, f"{what}, {title}")
            dots = [points(path) for path in svg.iter(f"{SVG}path")][-1]
            assert len(dots) == count
            left, top, right, bottom = frame(svg)
            assert np.all((dots >= [left, top]) & (dots <= [right, bottom]))
    assert "target 0" not in words(root)
    width = result["ensemble"]["intervals"]["logp"]["half_width"]
    if width is not None:
        assert f"± {width:#.4g}" in words(root)


def test_the_worst_molecules_are_drawn(regression):
    out, _, _, _ = regression
    page = write_report(out)
    part = section(page, "Test molecules furthest off")
    tests = [row for row in read(out / "predictions.csv") if row["part"] == "test"]
    assert part.count("<svg") == part.count("<figure") == min(12, len(tests))
    assert part.count("<path") > 50
    off = {}
    for name in ("logp", HOSTILE):
        known = [row for row in tests if row[f"true_{name}"]]
        spread = np.std([float(row[f"true_{name}"]) for row in known])
        for row in known:
            error = abs(float(row[f"true_{name}"]) - float(row[f"predicted_{name}"])) / spread
            off[row["row"]] = max(error, off.get(row["row"], 0))
    worst = sorted(off, key=off.get, reverse=True)
    assert re.findall(r"<br/>row (\d+)<", part)[:3] == worst[:3]
    assert f"<code>{molecules()[int(worst[0]) - 1]}</code>" in part


def test_the_page_is_one_file_and_hostile_names_are_text(regression):
    page = write_report(regression[0])
    text = page.read_text()
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&amp;&#34;&#39;" in text
    assert set(re.findall(r"https?://[^\"'<\s]+", text)) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<link|<img|src=|@import|url\(|<\?xml|<!--", text)
    assert HOSTILE in words(parse(page))


def test_hostile_smiles_are_text(regression, tmp_path):
    """What a table holds as SMILES was read by RDKit; predictions.csv could hold anything."""
    shutil.copytree(regression[0], tmp_path / "run")
    path = tmp_path / "run" / "predictions.csv"
    rows = read(path)
    for row in rows:
        row["smiles"] = f"C {HOSTILE}" if int(row["row"]) % 2 else f"CC |$<b>;{HOSTILE}$|"
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    text = write_report(tmp_path / "run").read_text()
    assert "<script" not in text
    assert "<b>" not in text
    parse(tmp_path / "run" / "report.html")


def test_drawings_are_rebuilt():
    svg = (
        "<?xml version='1.0' encoding='iso-8859-1'?>\n<svg xmlns='http://www.w3.org/2000/svg'><!-- x --><script>alert(1)</script>"
        "<path class='bond-0' onclick='alert(1)' d='M 0,0 L 1,1' style='fill:none'/><text x='1' y='2'>&lt;b&gt;</text></svg>"
    )
    made = _rebuilt(svg, "<CCO>")
    assert '<title>&lt;CCO&gt;</title><path d="M 0,0 L 1,1" style="fill:none"/><text x="1" y="2">&lt;b&gt;</text></svg>' in made
    assert "alert" not in made


def test_without_rdkit_the_page_says_so(regression, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "rdkit", None)
    page = write_report(regression[0], tmp_path / "page.html")
    part = section(page, "Test molecules furthest off")
    assert "The molecules are not drawn: RDKit is not installed." in part
    assert "<svg" not in part
    assert "<code>C" in part


def test_binary(binary):
    out, _, result, _ = binary
    page = write_report(out)
    root = parse(page)
    text = words(root)
    for name in ("ROC-AUC", "PR-AUC", "Calibration error", "Log loss"):
        assert name in text
    tests = [row for row in read(out / "predictions.csv") if row["part"] == "test" and row["true_gaps"]]
    positives = sum(row["true_gaps"] == "1" for row in tests)
    assert f"gaps: ROC curve; {len(tests)} predictions, {positives} positive." in text
    svg = figure(root, "calibration, gaps")
    left, top, right, bottom = frame(svg)
    for path in svg.iter(f"{SVG}path"):
        assert np.all((points(path) >= [left - 0.1, top - 0.1]) & (points(path) <= [right + 0.1, bottom + 0.1]))
    used = {min(9, int(np.ceil(float(row["predicted_gaps"]) * 10)) - 1) for row in tests}
    assert len(points(list(svg.iter(f"{SVG}path"))[-1])) == len(used)
    assert f"{result['ensemble']['test']['active']['rocauc']:#.4g}" in text
    assert section(page, "Test molecules furthest off").count("<svg") == 12


def test_multiclass(multiclass):
    out, found, _, _ = multiclass
    text = words(parse(write_report(out)))
    assert "Classes: 0 is 3, 1 is 5, 2 is 9." in text
    assert f"of {len(found.task.splits['test'])} molecules right" in text
    assert "probability of the true class" in text


def test_other_pages_show_the_ensemble_too(regression, tmp_path):
    out, _, _, _ = regression
    names = {path.name for path in write_svgs(out, tmp_path / "svg")}
    assert {"scatter-0.svg", "scatter-1.svg", "residuals-0.svg", "residuals-1.svg"} <= names
    assert "predicted against true, logp" in words(parse(side_by_side([out], tmp_path / "both.html")))


def test_older_and_damaged_runs(regression, tmp_path):
    shutil.copytree(regression[0], tmp_path / "run")
    path = tmp_path / "run" / "predictions.csv"
    path.unlink()
    text = words(parse(write_report(tmp_path / "run")))
    assert "ensemble, test" in text
    assert "predicted against true, target 0" in text
    path.write_text("row,part\n1,test\n")
    with pytest.raises(FormatError, match=r"predictions.csv is damaged: KeyError"):
        write_report(tmp_path / "run")
    (tmp_path / "run" / "molecules.json").write_text("{")
    with pytest.raises(FormatError, match=r"molecules.json is damaged"):
        write_report(tmp_path / "run")
