"""Molecules as chemists draw them: RDKit's layout, symbols, double and triple bonds."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graphs.formats.molecules import rdkit


def drawn(mol: Any) -> tuple[np.ndarray, list[str], np.ndarray]:
    """Points (y upwards) and labels of the atoms, and how many lines each bond has.

    >>> from planegraph.graphs.formats.molecules import mol_from_smiles
    >>> drawn(mol_from_smiles("C=[NH2+]"))[1:]
    (['C', 'N⁺'], array([2]))
    """
    chem = rdkit()
    from rdkit.Chem import rdDepictor

    mol = chem.Mol(mol)
    rdDepictor.Compute2DCoords(mol)
    points = mol.GetConformer().GetPositions()[:, :2]
    chem.Kekulize(mol)
    lines = {chem.BondType.DOUBLE: 2, chem.BondType.TRIPLE: 3}
    orders = np.array([lines.get(bond.GetBondType(), 1) for bond in mol.GetBonds()], np.int64)
    return points, [_label(atom) for atom in mol.GetAtoms()], orders


def _label(atom: Any) -> str:
    charge, isotope = atom.GetFormalCharge(), atom.GetIsotope()
    size = str(abs(charge)) if abs(charge) > 1 else ""
    sign = "" if not charge else size.translate(_RAISED) + ("⁺" if charge > 0 else "⁻")
    return (str(isotope).translate(_RAISED) if isotope else "") + atom.GetSymbol() + sign


_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
