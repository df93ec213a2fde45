"""Molecules as labelled graphs, by RDKit.

Atoms are nodes with the labels ``ATOM_LABELS``, bonds are edges with their RDKit bond type. The labels are chosen so that two
molecules get equal canonical codes exactly when their RDKit canonical SMILES without stereochemistry
(``Chem.RemoveStereochemistry``, then ``Chem.MolToSmiles``) are equal:

- Hydrogens that are atoms of the molecule are nodes; all others count in ``hydrogens`` of their atom, whether they were written
  or implied, so ``C`` and ``[CH4]`` are equal. Radicals and valence follow from hydrogens, charge and bonds.
- RDKit perceives aromaticity when it reads a molecule, so both Kekule forms of a ring have the same (aromatic) bonds.
- A dative bond has a direction, and gives different labels to its two darts.
- Atom map numbers are part of the SMILES, and so of the label. Clear them first if they should not count.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import FormatError, InvalidGraphError, MissingDependencyError
from .graph import Graph

ATOM_LABELS = ("atomic_number", "charge", "isotope", "hydrogens", "aromatic", "map_number")
_ACCEPTS = 1000  # added to the bond type of the dart that leads from the acceptor back to the donor


def from_smiles(smiles: str) -> Graph:
    """The graph of a SMILES string; the title after a blank, if any, must already be gone.

    >>> import planegraph as pg
    >>> pg.is_isomorphic(from_smiles("OCC"), from_smiles("C(O)C"))
    True
    """
    chem = _rdkit()
    from rdkit import rdBase

    if not isinstance(smiles, str):
        raise FormatError(f"a SMILES is a string; found {type(smiles).__name__}")
    with rdBase.BlockLogs():  # the reason is part of our error instead
        mol = chem.MolFromSmiles(smiles)
        if mol is None:
            raise FormatError(f"RDKit refuses the SMILES {_short(smiles)}: {_why(chem, smiles)}")
    return from_rdkit(mol)


def from_rdkit(mol: Any) -> Graph:
    """The graph of an RDKit molecule as it is: nodes are its atoms in its order, hydrogens among them only if they are atoms.

    >>> from rdkit import Chem
    >>> from_rdkit(Chem.MolFromSmiles("c1ccccc1"))
    Graph(6 nodes, 6 edges, node_labels=int64 x 6, edge_labels=int64 x 1)
    """
    chem = _rdkit()
    if not isinstance(mol, chem.Mol):
        raise InvalidGraphError(f"expected an RDKit molecule; found {type(mol).__name__}")
    if mol.NeedsUpdatePropertyCache():
        mol = chem.Mol(mol)
        mol.UpdatePropertyCache(strict=False)
    atoms = np.array(
        [
            (
                a.GetAtomicNum(),
                a.GetFormalCharge(),
                a.GetIsotope(),
                a.GetTotalNumHs(),
                a.GetIsAromatic(),
                a.GetAtomMapNum(),
            )
            for a in mol.GetAtoms()
        ],
        np.int64,
    ).reshape(-1, len(ATOM_LABELS))
    rows = [(b.GetBeginAtomIdx(), b.GetEndAtomIdx(), int(b.GetBondType())) for b in mol.GetBonds()]
    bonds = np.array(rows, np.int64).reshape(-1, 3)
    edges, kinds = np.ascontiguousarray(bonds[:, :2]), bonds[:, 2:].copy()
    kind = chem.BondType
    directed = np.isin(kinds[:, 0], [int(kind.DATIVE), int(kind.DATIVEL), int(kind.DATIVER), int(kind.DATIVEONE)])
    if not directed.any():
        return Graph._trusted(len(atoms), edges, atoms, kinds)
    darts = np.stack([kinds, kinds + _ACCEPTS * directed[:, None]], axis=1)
    return Graph._trusted(len(atoms), edges, atoms, None, darts)


def _rdkit() -> Any:
    try:
        from rdkit import Chem
    except ImportError:
        raise MissingDependencyError("molecules need RDKit: pip install planegraph[chem]") from None
    return Chem


def _why(chem: Any, smiles: str) -> str:
    """What RDKit found wrong: syntax, or the chemistry of which atom."""
    mol = chem.MolFromSmiles(smiles, sanitize=False)
    if mol is None:
        return "its syntax is wrong"
    problems = chem.DetectChemistryProblems(mol)
    return problems[0].Message() if problems else "it cannot be sanitised"


def _short(text: str, most: int = 80) -> str:
    return repr(text if len(text) <= most else text[: most - 3] + "...")
