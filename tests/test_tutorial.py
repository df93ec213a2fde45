"""The commands and the code of docs/molecules.md, as they stand there, on the example that it names; fewer epochs and smaller models."""

from __future__ import annotations

import csv
import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from pages import ROOT, blocks, run_all

pytest.importorskip("torch")
pytest.importorskip("rdkit")
pytest.importorskip("sklearn")

from planegraph.cli import main

PAGE = "docs/molecules.md"
SMALL = ["-q", "--set", "train.epochs=3", "model.hidden=16", "model.layers=1"]


def commands() -> dict[str, list[str]]:
    """The page's commands by their names; the page has each once."""
    words = [shlex.split(line)[1:] for block in blocks(PAGE, "sh") for line in block.code.splitlines()]
    return {line[0]: line for line in words}


def table_after(heading: str) -> dict[str, str]:
    """The rows of the first table below a heading: first cell, second cell."""
    section = (ROOT / PAGE).read_text(encoding="utf-8").split(f"{heading}\n")[1]
    table = section[section.index("\n| ") + 1 :].split("\n\n")[0]
    rows = [line.split("|")[1:3] for line in table.splitlines()[2:]]
    return {first.strip(): second.strip() for first, second in rows}


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with the tables that the page names: the first with two rows that cannot be used, the others with known targets."""
    folder = tmp_path_factory.mktemp("tutorial")
    lines = (ROOT / "examples/molecules.csv").read_text().splitlines(keepends=True)
    (folder / "molecules.csv").write_text("".join([*lines[:201], "broken,C1CC,1,2\n", "unmeasured,CCO,,\n"]))
    (folder / "new.csv").write_text("".join([lines[0], *lines[500:520]]))
    (folder / "measured.csv").write_text("".join([lines[0], *lines[520:540]]))
    return folder


@pytest.fixture
def run(place, monkeypatch, capsys):
    """Runs a command of the page in the folder, and gives its exit code and output; trains first, if nothing has been trained."""
    monkeypatch.chdir(place)

    def answer(name: str) -> tuple[int, str]:
        code = main([*commands()[name], *(SMALL if name == "train" else [])])
        return code, capsys.readouterr().out

    assert answer("train")[0] == 0  # a finished run is only printed
    return answer


def test_train(run, place):
    code, out = run("train")
    assert code == 0
    assert "tpsa, RMSE: test" in out
    with open(place / "runs/molecules/skipped.csv") as file:
        assert [row["row"] for row in csv.DictReader(file)] == ["201", "202"]


def test_the_files_of_the_folder_are_listed(run, place):
    listed = {
        name for cell in table_after("### The folder of a run") for name in cell.replace("`", "").replace("/", "").split(", ")
    }
    assert listed == {path.name for path in (place / "runs/molecules").iterdir()}


def test_predict(run, place):
    assert run("predict")[0] == 0
    with open(place / "predictions.csv") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 20
    assert all(float(row["predicted_logp_low"]) < float(row["predicted_logp"]) for row in rows)


def test_predict_with_a_bad_row_exits_with_1(run, place):
    good = (place / "new.csv").read_text()
    try:
        (place / "new.csv").write_text(good + "broken,C1CC,,\n")
        assert run("predict")[0] == 1
    finally:
        (place / "new.csv").write_text(good)
    assert "column `problem`" in table_after("## Exit codes")["1"]


def test_evaluate(run, place):
    """The printed error is that of the file's predictions."""
    code, out = run("evaluate")
    found = {tuple(line.split("\t")[:2]): float(line.split("\t")[2]) for line in out.splitlines()}
    predict = commands()["predict"]
    assert main([*predict[:2], "measured.csv", "-o", "checked.csv"]) == 0
    with open(place / "checked.csv") as file:
        pairs = [(float(row["predicted_logp"]), float(row["logp"])) for row in csv.DictReader(file) if row["logp"]]
    assert code == 0
    assert found["logp", "MAE"] == pytest.approx(np.mean([abs(p - t) for p, t in pairs]), rel=1e-3)


def test_embed(run, place):
    assert run("embed")[0] == 0
    rows = np.load(place / "fingerprints.npy")
    assert rows.shape == (20, 5 * 16)  # five models
    assert np.isfinite(rows).all()


def test_explain_and_report(run, place):
    assert run("explain")[0] == 0
    assert (place / "why.svg").read_text().count("<svg") == 1
    code, out = run("report")
    assert code == 0
    assert {Path(line).suffix for line in out.splitlines()} == {".html", ".svg"}


def test_python(run, capsys):
    run_all(blocks(PAGE, "python"))
    assert "RDKit refuses the SMILES 'not a molecule'" in capsys.readouterr().out


def test_the_finished_run_refuses_other_options(run, capsys):
    assert main([*commands()["train"], *SMALL, "--split", "scaffold"]) == 2
    assert "options.split" in capsys.readouterr().err


def test_a_ragged_line_stops_with_its_number(run, tmp_path, capsys):
    (tmp_path / "ragged.csv").write_text("smiles,y\nCCO,1\nCC\n")
    assert main(["train", str(tmp_path / "ragged.csv")]) == 2
    assert "line 3" in capsys.readouterr().err


def test_result_json_has_the_figures(run, place):
    result = json.loads((place / "runs/molecules/result.json").read_text())
    assert set(result["ensemble"]["test"]) == {"logp", "tpsa"}
    assert set(result["baselines"]) == {"random forest", "gradient boosting"}
