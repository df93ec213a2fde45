"""The notebooks of examples/ run from a fresh kernel, and what is committed is what such a run gives.

After a change: `PYTHONWARNINGS=ignore jupyter execute --inplace examples/*.ipynb`, from nbclient.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch_geometric")
pytest.importorskip("rdkit")
pytest.importorskip("sklearn")
pytest.importorskip("ipykernel")
nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
NAMES = ("molecules.ipynb", "pyg.ipynb")
LARGEST = 200_000  # bytes


def read(name: str) -> Any:
    return nbformat.read(EXAMPLES / name, as_version=4)


def printed(notebook: Any) -> str:
    """All text of its outputs."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return "\n".join(output.get("text", "") or output.get("data", {}).get("text/plain", "") for output in outputs)


def drawings(notebook: Any) -> list[str]:
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return [output.data["image/svg+xml"] for output in outputs if "image/svg+xml" in output.get("data", {})]


@pytest.fixture
def executed(tmp_path, monkeypatch):
    """Runs a notebook beside its table, with ``planegraph`` as the command of this Python."""
    shutil.copy(EXAMPLES / "molecules.csv", tmp_path)
    command = tmp_path / "bin" / "planegraph"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m planegraph "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}{os.pathsep}{os.environ['PATH']}")

    def run(name: str) -> Any:
        notebook = read(name)
        client = nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": tmp_path}})
        client.km = client.create_kernel_manager()
        client.km.kernel_spec.argv[0] = sys.executable  # not whatever kernel is registered as python3
        client.execute()  # raises where a cell fails
        return notebook

    return run


@pytest.mark.slow
def test_molecules_runs(executed):
    notebook = executed("molecules.ipynb")
    check_molecules(notebook)


@pytest.mark.slow
def test_pyg_runs(executed):
    notebook = executed("pyg.ipynb")
    check_pyg(notebook)


def test_what_is_committed():
    check_molecules(read("molecules.ipynb"))
    check_pyg(read("pyg.ipynb"))


def check_molecules(notebook: Any) -> None:
    """Figures of both targets, beside the baselines; a prediction for each readable row; spellings agree; drawings."""
    text = printed(notebook)
    for target in ("logp", "tpsa"):
        assert re.search(rf"{target}, RMSE: test [\d.]+, validation", text)
        assert f"{target}, RMSE of a random forest" in text
    assert re.search(r"phenetole,CCOc1ccccc1,-?[\d.]+", text)
    assert re.search(r"selenide,.*,atomic_number 34,$", text, re.MULTILINE)
    assert "RDKit refuses the SMILES 'C1CC'" in text
    first, second = re.search(r"\('logp', 'tpsa'\) \[(\[.*?\]), (\[.*?\])\]", text).groups()
    assert first == second
    assert "block\t3,4,5,6,7,8\tc1ccccc1" in text
    assert len(drawings(notebook)) == 3
    assert "nearest to" in text


def check_pyg(notebook: Any) -> None:
    """PlanE models learn to count triangles, GIN does not; invariance holds."""
    errors = {
        name: float(found)
        for name, found in re.findall(r"(a constant|GIN|BasePlanE|Mine): off by (\S+) triangles", printed(notebook))
    }
    assert errors["BasePlanE"] < errors["GIN"] / 2
    assert errors["Mine"] < errors["GIN"]
    assert errors["GIN"] > errors["a constant"] / 4
    assert "invariant\n" in printed(notebook)
    assert "equal: True" in printed(notebook)


@pytest.mark.parametrize("name", NAMES)
def test_small_complete_and_without_paths(name):
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    assert len(text) < LARGEST
    assert not re.search(r"/(tmp|home|root|work|Users)/", text)
    cells = [cell for cell in read(name).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert not [output for cell in cells for output in cell.outputs if output.output_type == "error"]
