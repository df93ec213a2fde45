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

from array import array
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
    if stereo or mol.NeedsUpdatePropertyCache():
        mol = chem.Mol(mol)  # which gets labels, and must stay as it is
        mol.UpdatePropertyCache(strict=False)
    atoms = MoleculeArrays()
    atoms.add(mol, stereo)
    node_ptr, _, *arrays = atoms.arrays()
    return Graph._trusted(int(node_ptr[-1]), *arrays)


class MoleculeArrays:
    """Collects molecules as flat arrays, at a call of RDKit for each atom or bond and number, and nothing else for each in Python.

    What few atoms have (charge, isotope, map number, stereochemistry) is asked of those that RDKit's queries find, which is cheaper.

    Args:
        explicit_hydrogens: whether ``hydrogens`` are only those that the SMILES has in brackets.
    """

    def __init__(self, explicit_hydrogens: bool = False) -> None:
        chem = rdkit()
        queries, self._cip = import_module("rdkit.Chem.rdqueries"), import_module("rdkit.Chem.rdCIPLabeler")
        self._described = queries.HasPropQueryAtom(_CIP)
        self._marked = queries.FormalChargeEqualsQueryAtom(0, negate=True)
        for other in (queries.IsotopeEqualsQueryAtom(0, negate=True), queries.HasPropQueryAtom("molAtomMapNumber")):
            self._marked.ExpandQuery(other, chem.CompositeQueryType.COMPOSITE_OR)
        self._double = chem.BondType.DOUBLE
        self._directed = [int(getattr(chem.BondType, name)) for name in ("DATIVE", "DATIVEL", "DATIVER", "DATIVEONE")]
        hydrogens = chem.Atom.GetNumExplicitHs if explicit_hydrogens else chem.Atom.GetTotalNumHs
        self._of_atoms = [chem.Atom.GetAtomicNum, hydrogens, chem.Atom.GetIsAromatic]
        self._of_bonds = [chem.Bond.GetBeginAtomIdx, chem.Bond.GetEndAtomIdx, chem.Bond.GetBondType]
        self._atoms = [array("q") for _ in self._of_atoms]
        self._bonds = [array("q") for _ in self._of_bonds]
        self._node_ptr, self._edge_ptr = array("q", [0]), array("q", [0])
        self._rare = array("q")  # atom, charge, isotope, map number; again and again
        self._atom_stereo, self._bond_stereo = array("q"), array("q")  # atom or bond, label

    def add(self, mol: Any, stereo: bool) -> None:
        """A molecule, whose CIP descriptors are found anew and replace those that it has; InvalidGraphError if RDKit finds none."""
        atoms = [*map(mol.GetAtomWithIdx, range(mol.GetNumAtoms()))]
        bonds = [*map(mol.GetBondWithIdx, range(mol.GetNumBonds()))]
        columns = [array("q", map(get, bonds)) for get in self._of_bonds]
        if stereo:
            self._add_stereo(mol, [k for k, kind in enumerate(columns[2]) if kind == self._double], bonds)
        for column, get in zip(self._atoms, self._of_atoms, strict=True):
            column.extend(map(get, atoms))
        first = self._node_ptr[-1]
        for atom in _matching(mol, self._marked):
            self._rare.extend((first + atom.GetIdx(), atom.GetFormalCharge(), atom.GetIsotope(), atom.GetAtomMapNum()))
        for column, values in zip(self._bonds, columns, strict=True):
            column.extend(values)
        self._node_ptr.append(self._node_ptr[-1] + len(atoms))
        self._edge_ptr.append(self._edge_ptr[-1] + len(bonds))

    def _add_stereo(self, mol: Any, doubles: list[int], bonds: list[Any]) -> None:
        for part in (*_matching(mol, self._described), *(bonds[k] for k in doubles)):
            part.ClearProp(_CIP)
        try:
            self._cip.AssignCIPLabels(mol, maxRecursiveIterations=_LONGEST)
        except RuntimeError as error:
            raise InvalidGraphError(f"RDKit finds no CIP descriptors ({error}); stereo=False leaves them out") from None
        for atom in _matching(mol, self._described):
            self._atom_stereo.extend((self._node_ptr[-1] + atom.GetIdx(), STEREO.get(atom.GetProp(_CIP), 0)))
        for k in doubles:
            if bonds[k].HasProp(_CIP):
                self._bond_stereo.extend((self._edge_ptr[-1] + k, STEREO.get(bonds[k].GetProp(_CIP), 0)))

    def arrays(self) -> tuple[np.ndarray | None, ...]:
        """The arrays of a GraphBatch, in their order; dart labels in place of those of edges if any bond has a direction."""
        ptrs = [np.array(ptr, np.int64) for ptr in (self._node_ptr, self._edge_ptr)]
        atoms, kinds = np.zeros((ptrs[0][-1], len(ATOM_LABELS)), np.int64), np.zeros((ptrs[1][-1], len(BOND_LABELS)), np.int64)
        atoms[:, [0, 3, 4]] = np.array(self._atoms).T
        rare, chiral, geometric = (
            np.array(a).reshape(-1, n) for a, n in ((self._rare, 4), (self._atom_stereo, 2), (self._bond_stereo, 2))
        )
        atoms[rare[:, :1], [1, 2, 5]] = rare[:, 1:]
        atoms[chiral[:, 0], 6] = chiral[:, 1]
        edges, kinds[:, 0] = np.array(self._bonds[:2]).T.copy(), self._bonds[2]
        kinds[geometric[:, 0], 1] = geometric[:, 1]
        directed = np.isin(kinds[:, 0], self._directed)
        if not directed.any():
            return *ptrs, edges, atoms, kinds, None
        darts = np.stack([kinds, kinds], axis=1)
        darts[:, 1, 0] += ACCEPTS * directed
        return *ptrs, edges, atoms, None, darts


def _matching(mol: Any, query: Any) -> list[Any]:
    found = mol.GetAtomsMatchingQuery(query)
    return [found[k] for k in range(len(found))]  # in half the time of RDKit's iterator


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
