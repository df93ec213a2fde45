"""The code of docs/pyg.md runs as it stands there, block after block, and the models learn."""

from __future__ import annotations

import re
import shutil

import pytest
from pages import ROOT, run_blocks

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")
pytest.importorskip("rdkit")
pytest.importorskip("pytorch_lightning")


@pytest.mark.filterwarnings("ignore")  # of Lightning
def test_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "examples/molecules.csv", tmp_path)
    names: dict = {"__name__": "pyg"}
    run_blocks("docs/pyg.md", names)
    out = capsys.readouterr().out
    maes = [float(found) for found in re.findall(r"(?:test|same) MAE (\S+)", out)]
    assert maes[0] == maes[1] == maes[3]  # with PyG's loader, packed, and read from its file
    y = names["dataset"].y
    constant = float((y[300:400] - y[:300].median()).abs().mean())
    assert maes[0] < constant / 2
    assert maes[2] < constant  # the module of PlanEConv layers, after fewer epochs
    assert "graph 0 given to Planar is not planar" in out
    assert "{'planar': 0, 'set': 1, 'skipped': 0}" in out
    assert "torch.float32" in out
    assert "epochs: 1" in out
