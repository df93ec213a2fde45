"""Real molecules: two get equal codes exactly when RDKit's canonical SMILES without stereo are equal."""

from __future__ import annotations

import csv
import gzip
import random
from pathlib import Path

import numpy as np
import pytest

import planegraph as pg

Chem = pytest.importorskip("rdkit.Chem")
rdBase = pytest.importorskip("rdkit.rdBase")

FILES = {"zinc": "zinc/zinc12k.csv.gz", "zinc full": "zinc/zincfull.csv.gz", "molhiv": "molhiv/molhiv.csv.gz"}


def read_smiles(path: Path, count: int, seed: int) -> list[str]:
    """A random sample, in the order of the file."""
    with gzip.open(path, "rt") as stream:
        rows = [row["smiles"] for row in csv.DictReader(stream)]
    return rows if count >= len(rows) else [rows[i] for i in sorted(random.Random(seed).sample(range(len(rows)), count))]


def canonical_smiles(mol) -> str:
    """RDKit's canonical SMILES of the molecule without stereo."""
    return Chem.MolToSmiles(flat(mol))


def flat(mol):
    mol = Chem.Mol(mol)
    Chem.RemoveStereochemistry(mol)
    return mol


def assert_same_classes(names: list[str], codes: list[bytes]) -> int:
    """One code for each SMILES and one SMILES for each code; returns how many classes there are."""
    by_name, by_code = {}, {}
    for name, code in zip(names, codes, strict=True):
        assert by_name.setdefault(name, code) == code, f"one SMILES, two codes: {name}"
        assert by_code.setdefault(code, name) == name, f"one code, two SMILES: {name} and {by_code[code]}"
    return len(by_name)


def renumbered(mol, rng: random.Random):
    order = list(range(mol.GetNumAtoms()))
    rng.shuffle(order)
    return Chem.RenumberAtoms(mol, order)


def compare(path: Path, count: int, copies: int = 2) -> tuple[int, int]:
    """Each molecule, and shuffled copies of it read from random SMILES or renumbered."""
    rng = random.Random(1)
    names, graphs = [], []
    with rdBase.BlockLogs():
        for smiles in read_smiles(path, count, 1):
            mol = Chem.MolFromSmiles(smiles)
            if mol is None:
                continue
            name = canonical_smiles(mol)
            for other in (mol, *(renumbered(mol, rng) for _ in range(copies))):
                graph = pg.Graph.from_rdkit(other)
                if pg.is_planar(graph):
                    names.append(name)
                    graphs.append(graph)
    codes = pg.canonical_codes(pg.GraphBatch.from_graphs(graphs))
    return len(graphs), assert_same_classes(names, codes)


@pytest.mark.parametrize("name", FILES)
def test_codes_and_canonical_smiles_agree(name, data_root):
    graphs, classes = compare(data_root / FILES[name], 2500)
    assert graphs > 7000
    assert classes > 2000


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_codes_and_canonical_smiles_agree_on_all(name, data_root):
    compare(data_root / FILES[name], 60_000, copies=1)


def test_random_smiles(data_root):
    """The same molecule from its SMILES written in random order."""
    rng = random.Random(2)
    for smiles in read_smiles(data_root / FILES["zinc"], 300, 2):
        mol = flat(Chem.MolFromSmiles(smiles))
        code = pg.canonical_form(pg.Graph.from_rdkit(mol)).code
        for text in Chem.MolToRandomSmilesVect(mol, 3, randomSeed=rng.randrange(10**6)):
            assert pg.canonical_form(pg.Graph.from_smiles(text)).code == code, f"{smiles} and {text}"


def qm9_molecule(z, edges, kinds):
    """An RDKit molecule from QM9's arrays, hydrogens and all, without any perception."""
    orders = [Chem.BondType.SINGLE, Chem.BondType.DOUBLE, Chem.BondType.TRIPLE, Chem.BondType.AROMATIC]
    mol = Chem.RWMol()
    for number in z:
        atom = Chem.Atom(int(number))
        atom.SetNoImplicit(True)
        mol.AddAtom(atom)
    for (u, v), kind in zip(edges, kinds, strict=True):
        mol.AddBond(int(u), int(v), orders[int(kind)])
    mol.UpdatePropertyCache(strict=False)
    return mol.GetMol()


def test_qm9_isomers(data_root):
    """QM9 is full of isomers and of molecules with one and the same graph. Labels: element and bond type only."""
    d = np.load(data_root / "qm9" / "qm9_test.npz", allow_pickle=False)
    names, graphs = [], []
    kinds = np.unique(d["edge_type"])
    assert len(kinds) <= 4
    rng = random.Random(3)
    for i in rng.sample(range(len(d["node_ptr"]) - 1), 2500):
        nodes, rows = slice(*d["node_ptr"][i : i + 2]), slice(*d["edge_ptr"][i : i + 2])
        edges = np.stack([d["edge_src"][rows], d["edge_dst"][rows]], axis=1).astype(np.int64)
        types = np.searchsorted(kinds, d["edge_type"][rows])
        z = d["z"][nodes]
        mol = qm9_molecule(z, edges, types)
        for version in (mol, renumbered(mol, rng)):
            graph = pg.Graph.from_rdkit(version)
            graphs.append(graph)
            names.append(Chem.MolToSmiles(version))
    assert_same_classes(names, pg.canonical_codes(pg.GraphBatch.from_graphs(graphs)))


def test_molecules_against_nauty(data_root):
    """The arrays of ZINC-12k as they are: atom types and bond types, no RDKit at all."""
    from dataclasses import replace

    from oracles import nauty_certificate
    from plain import Plain

    d = np.load(data_root / "zinc" / "zinc12k_graphs.npz", allow_pickle=False)
    rng = random.Random(4)
    by_code = {}
    for i in rng.sample(range(12_000), 500):
        nodes, rows = slice(*d["node_ptr"][i : i + 2]), slice(*d["edge_ptr"][i : i + 2])
        index, kinds = d["edge_index"][:, rows].astype(int), d["edge_attr"][rows].tolist()
        once = index[0] < index[1]
        g = Plain.of(nodes.stop - nodes.start, index[:, once].T.tolist(), node_labels=tuple(d["x"][nodes].tolist()))
        g = replace(g, edge_labels=tuple(k for k, keep in zip(kinds, once, strict=True) if keep))
        for version in (g, g.shuffled(rng)[0]):
            code = pg.canonical_form(version.build()).code
            certificate = nauty_certificate(version)
            assert by_code.setdefault(code, certificate) == certificate, version
    assert len(by_code) == len(set(by_code.values()))
