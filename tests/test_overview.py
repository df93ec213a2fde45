"""The picture of the README: well-formed, small, and what its script draws now."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

pytest.importorskip("rdkit")

import planegraph as pg

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs/overview.svg"
SMILES = "CN1C=NC2=C1C(=O)N(C(=O)N2C)C"  # caffeine, not as the script spells it


def without_places(svg: str) -> str:
    """RDKit's coordinates differ between versions."""
    return re.sub(r'[\d.-]+(?=[",\s])', "0", svg)


def test_it_is_what_the_script_draws(tmp_path):
    subprocess.run([sys.executable, ROOT / "examples/draw_overview.py", "--out", tmp_path / "drawn.svg"], check=True)
    drawn, kept = (path.read_text(encoding="utf-8") for path in (tmp_path / "drawn.svg", PICTURE))
    assert without_places(drawn) == without_places(kept)


def test_it_shows_caffeine():
    graph = pg.Graph.from_smiles(SMILES)
    root = ET.parse(PICTURE).getroot()
    texts = ["".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert any(pg.canonical_form(graph).digest.startswith(found[7:-1]) for found in texts if found.startswith("digest "))
    counts = pg.decompose(graph).counts
    assert sum(found.startswith("S, ") for found in texts) == counts["S"]
    assert texts.count("Q") == counts["Q"]


def test_the_readme_shows_it():
    assert "](docs/overview.svg)" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert PICTURE.stat().st_size < 100_000
    assert "prefers-color-scheme: dark" in PICTURE.read_text(encoding="utf-8")
