"""Molecules as labelled graphs, by RDKit.

Atoms are nodes with the labels ``ATOM_LABELS``, bonds are edges with the labels ``BOND_LABELS``. The labels are chosen so that two
molecules get equal canonical codes exactly when their RDKit canonical SMILES are equal; with ``stereo=False``, those of the molecules
without stereochemistry (``Chem.RemoveStereochemistry``, then ``Chem.MolToSmiles``):

- Hydrogens that are atoms of the molecule are nodes; all others count in ``hydrogens`` of their atom, whether they were written
  or implied, so ``C`` and ``[CH4]`` are equal. Radicals and valence follow from hydrogens, charge and bonds.
- RDKit perceives aromaticity when it reads a molecule, so both Kekule forms of a ring have the same (aromatic) bonds.
- A dative bond has a direction, and gives different labels to its two darts.
- Atom map numbers are part of the SMILES, and so of the label. Clear them first if they should not count.
- Stereochemistry is the CIP descriptor of an atom (R, S, and r, s of pseudoasymmetric ones) or of a double bond (E, Z), by RDKit's
  implementation of the new algorithm. A mirror image has R and S exchanged. Axes of chirality are not part of a SMILES, nor of the label.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from ...errors import FormatError, InvalidGraphError, MissingDependencyError
from ..graph import Graph

ATOM_LABELS = ("atomic_number", "charge", "isotope", "hydrogens", "aromatic", "map_number", "stereo")
BOND_LABELS = ("type", "stereo")
STEREO = {name: k for k, name in enumerate(("R", "S", "r", "s", "E", "Z", "e", "z"), 1)}
"""The label of each CIP descriptor; 0 is none, or unknown."""
ACCEPTS = 1000
"""Added to the bond type of the dart that leads from the acceptor of a dative bond back to its donor."""
MOST_CHARACTERS = 10_000
"""Of a SMILES: RDKit's time grows with the square of its length, and nothing can interrupt it."""

_CIP = "_CIPCode"  # RDKit's name of the property
_LONGEST = 1_250_000  # steps of the CIP algorithm, about a second


def from_smiles(smiles: str, stereo: bool = True) -> Graph:
    """The graph of a SMILES string; the title after a blank, if any, must already be gone. Without ``stereo`` mirror images are equal.

    >>> import planegraph as pg
    >>> pg.is_isomorphic(from_smiles("OCC"), from_smiles("C(O)C"))
    True
    >>> left, right = "C[C@H](N)C(=O)O", "C[C@@H](N)C(=O)O"
    >>> [pg.is_isomorphic(from_smiles(left, stereo=s), from_smiles(right, stereo=s)) for s in (True, False)]
    [False, True]
    """
    return from_rdkit(mol_from_smiles(smiles), stereo)


def mol_from_smiles(smiles: str) -> Any:
    """The RDKit molecule of a SMILES string; FormatError says what is wrong with it.

    >>> mol_from_smiles("CCO").GetNumAtoms()
    3
    """
    chem = rdkit()
    from rdkit import rdBase

    if not isinstance(smiles, str):
        raise FormatError(f"a SMILES is a string; found {type(smiles).__name__}")
    if not smiles.strip():
        raise FormatError("the SMILES is empty: a molecule has an atom at least")
    if len(smiles) > MOST_CHARACTERS:
        raise FormatError(
            f"the SMILES has {len(smiles):,} characters, and at most {MOST_CHARACTERS:,} are read: RDKit could need hours. from_rdkit "
            "takes a molecule of any size"
        )
    with rdBase.BlockLogs():  # the reason is part of our error instead
        mol = chem.MolFromSmiles(smiles)
        if mol is None:
            raise FormatError(f"RDKit refuses the SMILES {_short(smiles)}: {_why(chem, smiles)}")
    return mol


def from_rdkit(mol: Any, stereo: bool = True) -> Graph:
    """The graph of an RDKit molecule as it is: nodes are its atoms in its order, hydrogens among them only if they are atoms.

    >>> from rdkit import Chem
    >>> from_rdkit(Chem.MolFromSmiles("c1ccccc1"))
    Graph(6 nodes, 6 edges, node_labels=int64 x 7, edge_labels=int64 x 2)
    """
    chem = rdkit()
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
                0,
            )
            for a in mol.GetAtoms()
        ],
        np.int64,
    ).reshape(-1, len(ATOM_LABELS))
    rows = [(b.GetBeginAtomIdx(), b.GetEndAtomIdx(), int(b.GetBondType()), 0) for b in mol.GetBonds()]
    bonds = np.array(rows, np.int64).reshape(-1, 2 + len(BOND_LABELS))
    if stereo:
        doubles = np.flatnonzero(bonds[:, 2] == int(chem.BondType.DOUBLE))
        atoms[:, -1], bonds[doubles, -1] = _descriptors(chem, mol, doubles)
    edges, kinds = np.ascontiguousarray(bonds[:, :2]), bonds[:, 2:].copy()
    kind = chem.BondType
    directed = np.isin(kinds[:, 0], [int(kind.DATIVE), int(kind.DATIVEL), int(kind.DATIVER), int(kind.DATIVEONE)])
    if not directed.any():
        return Graph._trusted(len(atoms), edges, atoms, kinds)
    darts = np.stack([kinds, kinds], axis=1)
    darts[:, 1, 0] += ACCEPTS * directed
    return Graph._trusted(len(atoms), edges, atoms, None, darts)


def _descriptors(chem: Any, mol: Any, doubles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The labels of the CIP descriptors of all atoms and of the double bonds; those that the molecule has are not read, but found anew."""
    from rdkit.Chem import rdCIPLabeler, rdqueries

    mol, described = chem.Mol(mol), rdqueries.HasPropQueryAtom(_CIP)
    bonds = [mol.GetBondWithIdx(i) for i in doubles.tolist()]
    for part in (*mol.GetAtomsMatchingQuery(described), *bonds):
        part.ClearProp(_CIP)
    try:
        rdCIPLabeler.AssignCIPLabels(mol, maxRecursiveIterations=_LONGEST)
    except RuntimeError as error:
        raise InvalidGraphError(f"RDKit finds no CIP descriptors ({error}); stereo=False leaves them out") from None
    of_atoms = np.zeros(mol.GetNumAtoms(), np.int64)
    for atom in mol.GetAtomsMatchingQuery(described):
        of_atoms[atom.GetIdx()] = STEREO.get(atom.GetProp(_CIP), 0)
    of_bonds = [STEREO.get(bond.GetProp(_CIP), 0) if bond.HasProp(_CIP) else 0 for bond in bonds]
    return of_atoms, np.array(of_bonds, np.int64)


def rdkit() -> Any:
    """``rdkit.Chem``, or an error that says how to get it."""
    try:
        return import_module("rdkit.Chem")
    except ImportError:
        raise MissingDependencyError("molecules need RDKit: pip install planegraph[chem]") from None


def _why(chem: Any, smiles: str) -> str:
    """What RDKit found wrong: syntax, or the chemistry of which atom."""
    mol = chem.MolFromSmiles(smiles, sanitize=False)
    if mol is None:
        return "its syntax is wrong"
    problems = chem.DetectChemistryProblems(mol)
    return problems[0].Message() if problems else "it cannot be sanitised"


def _short(text: str, most: int = 80) -> str:
    return repr(text if len(text) <= most else text[: most - 3] + "...")
