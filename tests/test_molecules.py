"""Real molecules: two get equal codes exactly when RDKit's canonical SMILES are equal, with stereochemistry or without."""

from __future__ import annotations

import csv
import gzip
import random
from collections import Counter
from hashlib import sha256
from itertools import product
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


def canonical_smiles(mol, stereo: bool) -> str:
    """RDKit's; as stereochemistry that does not matter is found when a SMILES is read, that of what it reads again."""
    return Chem.CanonSmiles(Chem.MolToSmiles(mol)) if stereo else Chem.MolToSmiles(flat(mol))


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


def stereoisomers(mol) -> list:
    """The mirror image; then each centre or double bond the other way round, or unknown."""
    unknown, none = Chem.ChiralType.CHI_UNSPECIFIED, Chem.BondStereo.STEREONONE
    centres = [a.GetIdx() for a in mol.GetAtoms() if a.GetChiralTag() != unknown]
    found = [Chem.Mol(mol)]
    for i in centres:
        found[0].GetAtomWithIdx(i).InvertChirality()
        found += [Chem.Mol(mol), Chem.Mol(mol)]
        found[-2].GetAtomWithIdx(i).InvertChirality()
        found[-1].GetAtomWithIdx(i).SetChiralTag(unknown)
    for b in mol.GetBonds():
        if b.GetStereo() != none:
            for stereo in (Chem.BondStereo.STEREOE, Chem.BondStereo.STEREOZ, none):
                found.append(Chem.Mol(mol))
                found[-1].GetBondWithIdx(b.GetIdx()).SetStereo(stereo)
    return [Chem.MolFromSmiles(Chem.MolToSmiles(m)) for m in found]


def compare(path: Path, count: int, stereo: bool, copies: int = 2) -> tuple[int, int]:
    """Each molecule, its stereoisomers, and renumbered copies of it."""
    rng = random.Random(1)
    names, graphs = [], []
    with rdBase.BlockLogs():
        for smiles in read_smiles(path, count, 1):
            mol = Chem.MolFromSmiles(smiles)
            if mol is None:
                continue
            for isomer in (mol, *stereoisomers(mol)):
                name = canonical_smiles(isomer, stereo)
                for other in (isomer, *(renumbered(isomer, rng) for _ in range(copies if isomer is mol else 0))):
                    graph = pg.Graph.from_rdkit(other, stereo)
                    if pg.is_planar(graph):
                        names.append(name)
                        graphs.append(graph)
    codes = pg.canonical_codes(pg.GraphBatch.from_graphs(graphs))
    return len(graphs), assert_same_classes(names, codes)


@pytest.mark.parametrize("stereo", [True, False])
@pytest.mark.parametrize("name", FILES)
def test_codes_and_canonical_smiles_agree(name, stereo, data_root):
    graphs, classes = compare(data_root / FILES[name], 500, stereo)
    assert graphs > 1400
    assert classes > 400


@pytest.mark.slow
@pytest.mark.parametrize("stereo", [True, False])
@pytest.mark.parametrize("name", FILES)
def test_codes_and_canonical_smiles_agree_on_all(name, stereo, data_root):
    compare(data_root / FILES[name], 60_000, stereo, copies=1)


@pytest.mark.parametrize(
    ("smiles", "other", "equal"),
    [
        ("C[C@H](N)C(=O)O", "C[C@@H](N)C(=O)O", False),  # mirror images
        ("C[C@H](N)C(=O)O", "C[C](N)C(=O)O", False),  # a radical
        ("C[C@H](N)C(=O)O", "CC(N)C(=O)O", False),  # unknown is not known
        ("F/C=C/F", "F/C=C\\F", False),
        ("F/C=C/F", "F\\C=C\\F", True),  # written from the other side
        ("C[C@H](O)[C@H](O)C", "C[C@@H](O)[C@@H](O)C", True),  # a meso form is its own mirror image
        ("C[C@H](O)[C@@H](O)C", "C[C@@H](O)[C@H](O)C", False),
        ("O[C@H]1CC[C@@H](O)CC1", "O[C@H]1CC[C@H](O)CC1", False),  # cis and trans of a ring, by r and s
        ("C[C@H](C)O", "CC(C)O", True),  # no centre: two neighbours are equal
    ],
)
def test_stereochemistry(smiles, other, equal):
    assert pg.is_isomorphic(*(pg.Graph.from_smiles(s) for s in (smiles, other))) == equal
    assert equal == (Chem.CanonSmiles(smiles) == Chem.CanonSmiles(other))


ISOMERS = {  # how many stereoisomers there are, as textbooks count them
    "tartaric acid": ("OC(=O)C(O)C(O)C(=O)O", 3),
    "trihydroxyglutaric acid": ("OC(=O)C(O)C(O)C(O)C(=O)O", 4),  # its middle is r or s where the ends differ
    "hexitols": ("OCC(O)C(O)C(O)C(O)CO", 10),
    "inositol": ("OC1C(O)C(O)C(O)C(O)C1O", 9),
    "1,4-dimethylcyclohexane": ("CC1CCC(C)CC1", 2),
    "1,2,3,4-tetramethylcyclobutane": ("CC1C(C)C(C)C1C", 4),
    "decalin": ("C1CCC2CCCCC2C1", 2),
    "2,4-hexadiene": ("CC=CC=CC", 3),
    "hepta-2,5-dien-4-ol": ("CC=CC(O)C=CC", 4),  # a centre between E and Z
    "an oxime": ("CC(=NO)CC", 2),
    "a sulfoxide": ("CS(=O)CC", 2),
    "cyclooctene": ("C1CCCC=CCC1", 2),
    "cyclohexene": ("C1CCC=CC1", 1),  # small rings have no E
    "an allene": ("CC=C=CC", 1),  # two, with the axis, which RDKit does not read
    "a spiro axis": ("CC1CC2(C1)CC(C)C2", 1),  # the same
    "an alkylidene axis": ("CC=C1CCC(C)CC1", 1),  # the same
}


def all_isomers(smiles: str) -> list:
    """Every centre and double bond both ways, as RDKit reads them from its SMILES."""
    mol, tags = Chem.MolFromSmiles(smiles), Chem.ChiralType
    centres = [a.GetIdx() for a in mol.GetAtoms() if a.GetTotalNumHs() < 2 and a.GetTotalDegree() + (a.GetSymbol() == "S") == 4]
    doubles = [b.GetIdx() for b in mol.GetBonds() if str(b.GetBondType()) == "DOUBLE"]
    found = []
    for ways in product((False, True), repeat=len(centres) + len(doubles)):
        isomer = Chem.Mol(mol)
        for i, way in zip(centres, ways, strict=False):
            isomer.GetAtomWithIdx(i).SetChiralTag(tags.CHI_TETRAHEDRAL_CW if way else tags.CHI_TETRAHEDRAL_CCW)
        for i, way in zip(doubles, ways[len(centres) :], strict=True):
            bond = isomer.GetBondWithIdx(i)
            ends = [next((n.GetIdx() for n in a.GetNeighbors() if n.GetIdx() != b.GetIdx()), None) for a, b in both_ways(bond)]
            if None not in ends:
                bond.SetStereoAtoms(*ends)
                bond.SetStereo(Chem.BondStereo.STEREOCIS if way else Chem.BondStereo.STEREOTRANS)
        found.append(Chem.MolFromSmiles(Chem.MolToSmiles(isomer)))
    return found


def both_ways(bond) -> list:
    a, b = bond.GetBeginAtom(), bond.GetEndAtom()
    return [(a, b), (b, a)]


@pytest.mark.parametrize("name", ISOMERS)
def test_counts_of_isomers(name):
    smiles, count = ISOMERS[name]
    isomers = all_isomers(smiles)
    names = [canonical_smiles(isomer, True) for isomer in isomers]
    codes = pg.canonical_codes(pg.GraphBatch.from_graphs([pg.Graph.from_rdkit(isomer) for isomer in isomers]))
    assert assert_same_classes(names, codes) == count


@pytest.mark.slow
def test_equal_molecules_of_zinc_and_molhiv(data_root):
    """All 290,575 molecules that RDKit reads: the pairs that are equal by code are those that are equal by SMILES. Some ten minutes."""
    rows = [s for name in ("zinc full", "molhiv") for s in read_smiles(data_root / FILES[name], 10**6, 0)]
    names, codes = {True: [], False: []}, {True: [], False: []}
    with rdBase.BlockLogs():
        for start in range(0, len(rows), 5000):
            mols = [mol for mol in map(Chem.MolFromSmiles, rows[start : start + 5000]) if mol is not None]
            for stereo in (True, False):
                names[stereo] += [canonical_smiles(mol, stereo) for mol in mols]
                graphs = [pg.Graph.from_rdkit(mol, stereo) for mol in mols]
                codes[stereo] += [sha256(code).digest() for code in pg.canonical_codes(pg.GraphBatch.from_graphs(graphs))]
    assert (len(rows), len(names[True])) == (290_582, 290_575)
    for stereo, classes, pairs in ((True, 290_501, 74), (False, 288_753, 1829)):
        assert assert_same_classes(names[stereo], codes[stereo]) == classes
        assert sum(count * (count - 1) // 2 for count in Counter(codes[stereo]).values()) == pairs


def test_descriptors_are_our_own():
    """Those of the molecule that was given are neither read nor changed."""
    mol = Chem.MolFromSmiles("C[C@H](N)C(=O)O")
    mol.GetAtomWithIdx(1).SetProp("_CIPCode", "nonsense")
    assert pg.Graph.from_rdkit(mol) == pg.Graph.from_smiles("C[C@H](N)C(=O)O")
    assert mol.GetAtomWithIdx(1).GetProp("_CIPCode") == "nonsense"


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


@pytest.mark.parametrize("count", [600, pytest.param(10_000, marks=pytest.mark.slow)])
def test_qm9_isomers(count, data_root):
    """QM9 is full of isomers and of molecules with one and the same graph. Labels: element and bond type only."""
    d = np.load(data_root / "qm9" / "qm9_test.npz", allow_pickle=False)
    names, graphs = [], []
    kinds = np.unique(d["edge_type"])
    assert len(kinds) <= 4
    rng = random.Random(3)
    for i in rng.sample(range(len(d["node_ptr"]) - 1), count):
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
