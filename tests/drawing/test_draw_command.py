"""``planegraph draw``: a SMILES, graph6 or a file in, a page or picture out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import planegraph as pg
from drawing.read import Page
from planegraph.cli import main

CAFFEINE = "CN1C=NC2=C1C(=O)N(C(=O)N2C)C"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)


def data(name: str = "a.html") -> dict[str, Any]:
    return Page(Path(name).read_text(encoding="utf-8")).data


def test_smiles(capsys):
    pytest.importorskip("rdkit")
    assert main(["draw", CAFFEINE, "-o", "a.html"]) == 0
    assert capsys.readouterr().out == "a.html: 14 nodes · 15 edges · 6 blocks · 5 cut nodes · S 2 · P 1 · Q 5 · R 0\n"
    page = Page(Path("a.html").read_text(encoding="utf-8"))
    assert page.titles == [CAFFEINE]
    assert page.data["digest"] == pg.canonical_form(pg.Graph.from_smiles(CAFFEINE)).digest
    assert page.data["word"] == "atom"
    assert main(["draw", CAFFEINE, "-o", "a.svg", "-q"]) == 0
    assert capsys.readouterr().out == ""
    assert Path("a.svg").read_text(encoding="utf-8").startswith("<svg")


def test_mirror_images():
    pytest.importorskip("rdkit")
    left, right = "C[C@H](N)C(=O)O", "C[C@@H](N)C(=O)O"
    found = []
    for options in ([left], [right], ["--no-stereo", left], ["--no-stereo", right]):
        assert main(["draw", *options, "-o", "a.html", "-q"]) == 0
        found.append(data()["digest"])
    assert found[0] != found[1]
    assert found[2] == found[3]


def test_graph6_and_files(capsys):
    assert main(["draw", "C~", "-o", "a.html", "--title", "K4"]) == 0
    assert data()["digest"] == pg.canonical_form(pg.families.complete(4)).digest
    assert capsys.readouterr().err == ""
    Path("streets.edgelist").write_text("Elm/1 Oak/2\nOak/2 <b>\n<b> Elm/1\n<b> end\n")
    assert main(["draw", "streets.edgelist", "-o", "b.HTML"]) == 0
    page = Page(Path("b.HTML").read_text(encoding="utf-8"))
    assert page.titles == ["streets.edgelist"]
    assert page.data["labels"] == ["Elm/1", "Oak/2", "<b>", "end"]
    assert main(["draw", "streets.edgelist", "--block", "0", "-o", "c.html"]) == 0
    assert len(data("c.html")["labels"]) in (2, 3)


def test_a_text_that_is_both_is_graph6(capsys):
    pytest.importorskip("rdkit")
    assert main(["draw", "CO", "-o", "a.html"]) == 0
    assert len(data()["labels"]) == 4
    assert "read as graph6; -f smiles draws the molecule" in capsys.readouterr().err
    assert main(["draw", "CO", "-f", "smiles", "-o", "a.html"]) == 0
    assert data()["labels"] == ["C", "O"]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["C~"], "required: -o"),
        (["C~", "-o", "a.png"], "a drawing is written as .html or .svg"),
        (["D~{", "-o", "a.html"], "the graph is not planar, so it has no drawing without crossings"),
        (["two.g6", "-o", "a.html"], "must hold one graph; found 2"),
        (["C~", "--block", "7", "-o", "a.html"], "there is no block 7; the graph has 1 block"),
        (["C~", "--block", "-1", "-o", "a.html"], "must be a whole number from 0"),
        (["-f", "edges", "a-a", "-o", "a.html"], "a-a is a self-loop"),
        (["missing.g6", "-o", "a.html"], "cannot read missing.g6: there is no such file"),
        (["-f", "smiles", "missing.smi", "-o", "a.html"], "cannot read missing.smi: there is no such file"),
        (["graphs/missing", "-o", "a.html"], "cannot read graphs/missing: there is no such file"),
        ([".", "-o", "a.html"], "cannot read .: it is a folder"),
        ([":A_", "-o", "a.html"], ":A_: sparse6: edges 0 = (0, 1) and 1 = (0, 1) are parallel"),
        (["missing.edges", "-f", "edges", "-o", "a.html"], "cannot read missing.edges: there is no such file"),
    ],
)
def test_wrong_usage(words, message, capsys):
    Path("two.g6").write_text("C~\nBw\n")
    assert main(["draw", *words]) == 2
    assert message in capsys.readouterr().err
    assert not Path("a.html").exists()


def test_what_is_no_graph_is_said_to_be_no_molecule(capsys):
    pytest.importorskip("rdkit")
    assert main(["draw", "nonsense!", "-o", "a.html"]) == 2
    assert "RDKit refuses the SMILES" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a folder that cannot be written")
def test_a_folder_that_cannot_be_written(tmp_path, capsys):
    (tmp_path / "locked").mkdir(mode=0o500)
    assert main(["draw", "C~", "-o", "locked/a.html"]) == 3


def test_a_folder_that_is_not_there(capsys):
    assert main(["draw", "C~", "-o", "nowhere/a.html"]) == 3
    assert "nowhere/a.html" in capsys.readouterr().err
