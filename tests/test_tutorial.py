"""The commands and the code of docs/molecules.md, as they stand there, on the example that it names; fewer epochs and smaller models."""

from __future__ import annotations

import csv
import re
import shlex
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("rdkit")
pytest.importorskip("sklearn")

from planegraph.cli import main

ROOT = Path(__file__).parents[1]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "docs/molecules.md").read_text(), re.DOTALL)


def test_the_tutorial(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = (ROOT / "examples/molecules.csv").read_text().splitlines(keepends=True)
    Path("molecules.csv").write_text("".join(lines[:201]))
    Path("new.csv").write_text("".join([lines[0], *lines[500:520]]))
    train, predict, explain = (shlex.split(block.strip()) for block in blocks("sh"))
    assert main([*train[1:], "-q", "--set", "train.epochs=3", "model.hidden=16", "model.layers=1"]) == 0
    assert "tpsa, RMSE: test" in capsys.readouterr().out
    assert main(predict[1:]) == 0
    with open("predictions.csv") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 20
    assert all(float(row["predicted_logp_low"]) < float(row["predicted_logp"]) for row in rows)
    assert main(explain[1:]) == 0
    assert Path("why.svg").read_text().count("<svg") == 1
    for code in blocks("python"):
        exec(compile(code, "docs/molecules.md", "exec"), {})
    assert "RDKit refuses the SMILES 'not a molecule'" in capsys.readouterr().out
