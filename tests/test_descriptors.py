"""Descriptors are bit for bit RDKit's, all of them and any choice of them."""

from __future__ import annotations

import csv

import numpy as np
import pytest

pytest.importorskip("rdkit")

from rdkit import Chem, rdBase
from rdkit.Chem import Descriptors

from planegraph.errors import FormatError
from planegraph.graphs.formats.descriptors import descriptor_names, descriptors_of_smiles
from planegraph.graphs.formats.smiles import MoleculeReader

ODD = [
    *("C", "[H][H]", "[Na+].[Cl-]", "*", "[Fe]", "N->[Fe]1<-NCCN->1", "[13CH4]", "[2H]O[2H]", "C" * 60, "[U]", "[C]", "[CH3]"),
    *("C[C@H](N)C(=O)O", "C/C=C/C", "C12C3C4C1C5C2C3C45", "c1ccc2ccccc2c1", "O=[N+]([O-])c1ccccc1", "F[P-](F)(F)(F)(F)F", "[He]"),
    *("C1CC1.C1CCC1.O", "[Cu+2].[O-]S(=O)(=O)[O-]", "B1C=CC=C1", "[Og]", "CC#N", "OB(O)c1ccccc1", "[NH4+]", "[CH4:7]", "S=C=S"),
]


def molecules() -> list[str]:
    """Odd ones, and chains of parts in all orders of three."""
    parts = ("C", "O", "N", "c1ccccc1", "C(=O)O", "Cl", "C1CC1", "C#N", "S")
    return [*ODD, *("C" + "".join(f"C({p})" for p in (a, b, c)) for a in parts for b in parts[::3] for c in parts[::2])]


def of_rdkit(smiles: str) -> dict[str, float]:
    with rdBase.BlockLogs():
        return Descriptors.CalcMolDescriptors(Chem.MolFromSmiles(smiles), missingVal=np.nan, silent=True)


def assert_rdkits(smiles: list[str], seed: int) -> None:
    names = descriptor_names()
    expected = np.array([[row[name] for name in names] for row in map(of_rdkit, smiles)], np.float64)
    assert_same_bits(descriptors_of_smiles(names, smiles), expected)
    rng = np.random.default_rng(seed)
    for size in (1, 3, 40):
        chosen = rng.choice(len(names), size, replace=False)
        assert_same_bits(descriptors_of_smiles([names[i] for i in chosen], smiles[:60]), expected[:60, chosen])


def assert_same_bits(found: np.ndarray, expected: np.ndarray) -> None:
    assert np.array_equal(found.view(np.int64)[~np.isnan(expected)], expected.view(np.int64)[~np.isnan(expected)])
    assert np.array_equal(np.isnan(found), np.isnan(expected))


def test_all_and_any_choice_are_rdkits():
    assert_rdkits(molecules(), 0)


def test_each_alone_is_rdkits():
    """BalabanJ differs from RDKit's list if AvgIpc is not computed before it; nothing else may depend on its neighbours."""
    smiles = ["CC(=O)Oc1ccccc1C(=O)O", "CN1CCC[C@H]1c1cccnc1"]
    expected = [of_rdkit(text) for text in smiles]
    for name in descriptor_names():
        assert descriptors_of_smiles([name], smiles)[:, 0].tolist() == [row[name] for row in expected], name


def test_drugs(data_root):
    path = data_root / "small" / "lipo.csv"
    if not path.exists():
        pytest.skip("lipo.csv is not among the benchmark data")
    with open(path) as file:
        assert_rdkits([row["smiles"] for row in csv.DictReader(file)][100:200], 1)


def test_the_molecule_of_the_graph_has_the_same_descriptors():
    names, smiles = descriptor_names(), molecules()[:60]
    assert_same_bits(MoleculeReader(descriptors=names)(smiles).descriptors, descriptors_of_smiles(names, smiles))


def test_an_unknown_name_is_told():
    with pytest.raises(FormatError, match="this RDKit has no descriptor Nonsense; use the version"):
        descriptors_of_smiles(["MolWt", "Nonsense"], ["C"])
