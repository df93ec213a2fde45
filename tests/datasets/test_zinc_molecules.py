"""SMILES in the vocabulary of ZINC-12k: the same molecules as the published arrays, up to the numbering of atoms."""

from __future__ import annotations

import csv
import gzip

import numpy as np
import pytest

pytest.importorskip("rdkit")

import planegraph as pg
from planegraph import workers
from planegraph.datasets import ZincFull, zinc_molecules
from planegraph.datasets.raw import read_npz
from planegraph.datasets.zinc_molecules import ATOM_TYPES, read_molecules
from planegraph.errors import FormatError


def batch_of(m: dict[str, np.ndarray]) -> pg.GraphBatch:
    node_ptr, edge_ptr = (np.concatenate([[0], np.cumsum(m[name])]) for name in ("nodes", "bonds"))
    return pg.GraphBatch(node_ptr, edge_ptr, m["edges"], node_labels=m["x"], edge_labels=m["edge_attr"])


def test_vocabulary():
    assert len(ATOM_TYPES) == len(set(ATOM_TYPES)) == 28


@pytest.mark.parametrize(
    ("smiles", "types"),
    [
        ("C[C@H](O)F", ["C", "C H1", "O", "F"]),
        ("c1cc[nH]c1", ["C", "C", "C", "N", "C"]),
        ("C[NH+](C)C", ["C", "N H1 +", "C", "C"]),
        ("[O-]C(=O)C[NH3+]", ["O -", "C", "O", "C", "N H3 +"]),
    ],
)
def test_types_of_atoms(smiles, types):
    assert [ATOM_TYPES[t] for t in read_molecules([smiles])["x"]] == types


def test_benzene_has_kekule_bonds():
    assert sorted(read_molecules(["c1ccccc1"])["edge_attr"].tolist()) == [1, 1, 1, 2, 2, 2]


@pytest.mark.parametrize(("smiles", "reason"), [("C1CC", "refuses"), ("[Si](C)C", "none of the 28")])
def test_bad_molecules_are_named(smiles, reason):
    with pytest.raises(FormatError, match=f"molecule 1.*{reason}"):
        read_molecules(["CC", smiles])


def test_processes_give_the_same(monkeypatch):
    smiles = ["CCO", "c1ccccc1", "C[C@H](O)F", "CC#N", "O"]
    alone = read_molecules(smiles, processes=1)
    monkeypatch.setattr(zinc_molecules, "_CHUNK", 2)
    monkeypatch.setattr(workers, "_PATIENCE", 0)
    spread = read_molecules(smiles, processes=2)
    for name in alone:
        np.testing.assert_array_equal(alone[name], spread[name], strict=True)
    with pytest.raises(FormatError, match="molecule 3: RDKit refuses"):
        read_molecules(["C", "C", "C", "C1CC"], processes=2)


@pytest.mark.parametrize("step", [24, pytest.param(1, marks=pytest.mark.slow)])
def test_zinc12k_from_smiles_equals_the_arrays(step, data_root):
    """With atom types and Kekule bonds: equal canonical codes mean equal molecules."""
    table, arrays = data_root / "zinc" / "zinc12k.csv.gz", data_root / "zinc" / "zinc12k_graphs.npz"
    if not (table.is_file() and arrays.is_file()):
        pytest.skip(f"needs {table} and {arrays}")
    with gzip.open(table, "rt", newline="") as file:
        smiles = [row["smiles"] for row in csv.DictReader(file)][::step]
    batch, d = read_npz(arrays, ("x", "edge_attr"))
    theirs = pg.GraphBatch(batch.node_ptr, batch.edge_ptr, batch.edges, node_labels=d["x"], edge_labels=d["edge_attr"])[::step]
    ours = batch_of(read_molecules(smiles, processes=1))
    different = [s for s, a, b in zip(smiles, pg.canonical_codes(ours), pg.canonical_codes(theirs), strict=True) if a != b]
    assert not different


def test_a_small_zinc_full(tmp_path, monkeypatch):
    (tmp_path / "zinc").mkdir()
    rows = "split,smiles,y\ntrain,CCO,0.5\ntrain,c1ccccc1,-1.25\nval,CC#N,2\ntest,O,3\n"
    (tmp_path / "zinc" / "zincfull.csv.gz").write_bytes(gzip.compress(rows.encode()))
    full = ZincFull(tmp_path, tmp_path / "cache", threads=1)
    with pytest.raises(FormatError, match="1 val, not 24,445"):
        full.load()
    monkeypatch.setattr(ZincFull, "check", lambda *_: None)
    task = full.task()
    assert task.dataset.y[:, 0].tolist() == [0.5, -1.25, 2, 3]
    assert {part: ids.tolist() for part, ids in task.splits.items()} == {"train": [0, 1], "val": [2], "test": [3]}
    assert full.task(edge_features=False).dataset.edge_attr is None
    np.testing.assert_array_equal(full.load().tables.edges, task.dataset.tables.edges)


@pytest.mark.slow
def test_zinc_full(dataset):
    ds = dataset("zincfull").load()
    assert len(ds) == 249_455
