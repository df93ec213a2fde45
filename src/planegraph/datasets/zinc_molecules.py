"""SMILES as graphs in the vocabulary of ZINC-12k: 28 atom types and Kekule bond types, by RDKit.

A molecule is read and Kekulised with its aromatic flags cleared; an atom's type is then its element, its *explicit* hydrogens and its
charge, so that ``C H1`` is a stereocentre written with its hydrogen. Molecules of ZINC-12k made this way equal the arrays of
zinc12k_graphs.npz up to the numbering of atoms (tests compare canonical codes, of all 12,000 in the slow one). Types 21 to 27 do not
occur there; their numbers are those of benchmarking-gnns. Costs some 0.2 ms a molecule, spread over processes.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

import numpy as np

from ..errors import FormatError
from ..graphs.formats.molecules import ATOM_LABELS, MoleculeArrays, mol_from_smiles, rdkit
from ..io.progress import Progress
from ..workers import core_count, ordered_map

ATOM_TYPES = (
    *("C", "O", "N", "F", "C H1", "S", "Cl", "O -", "N H1 +", "Br", "N H3 +", "N H2 +", "N +", "N -"),
    *("S -", "I", "P", "O H1 +", "N H1 -", "O +", "S +", "P H1", "P H2", "C H2 -", "P +", "S H1 +", "C H1 -", "P H1 +"),
)
"""Element, explicit hydrogens, charge; the position is the type."""

ARRAYS = ("nodes", "bonds", "x", "edges", "edge_attr")
_CHUNK = 2048


def read_molecules(smiles: Sequence[str], processes: int | None = None) -> dict[str, np.ndarray]:
    """``nodes`` and ``bonds`` of each molecule, ``x`` (atom types), ``edges`` (bonds once, local ids), ``edge_attr`` (1, 2, 3).

    >>> m = read_molecules(["CC=O"])
    >>> m["x"].tolist(), m["edges"].tolist(), m["edge_attr"].tolist()
    ([0, 0, 1], [[0, 1], [1, 2]], [1, 2])
    """
    parts = []
    chunks = [(start, smiles[start : start + _CHUNK]) for start in range(0, len(smiles), _CHUNK)]
    with Progress("reading SMILES", len(smiles), "molecules") as bar:
        pairs = ((len(texts), (start, texts)) for start, texts in chunks)
        with closing(ordered_map(_read_chunk, pairs, processes or core_count())) as read:
            for count, part in read:
                parts.append(part)
                bar.add(count)
    return {name: np.concatenate([part[name] for part in parts]) for name in ARRAYS}


def _read_chunk(chunk: tuple[int, Sequence[str]]) -> dict[str, np.ndarray]:
    """The arrays of some SMILES; the first is that of the molecule with this number."""
    start, smiles = chunk
    chem, arrays = rdkit(), MoleculeArrays(explicit_hydrogens=True)
    for number, text in enumerate(smiles, start):
        try:
            mol = mol_from_smiles(text)
        except FormatError as error:
            raise FormatError(f"molecule {number}: {error}") from None
        chem.Kekulize(mol, clearAromaticFlags=True)
        arrays.add(mol, stereo=False)
    node_ptr, edge_ptr, edges, atoms, kinds, _ = arrays.arrays()
    found = atoms[:, [ATOM_LABELS.index(name) for name in ("atomic_number", "hydrogens", "charge")]]
    known = np.array([_numbers(name) for name in ATOM_TYPES])
    fits = (found[:, None] == known).all(-1)
    if not fits.any(1).all():
        atom = int(np.argmin(fits.any(1)))
        number, (z, hydrogens, charge) = int(np.searchsorted(node_ptr, atom, side="right")) - 1, found[atom]
        what = f"{chem.GetPeriodicTable().GetElementSymbol(int(z))} with {hydrogens} explicit hydrogens and charge {charge}"
        raise FormatError(f"molecule {start + number}, {smiles[number]!r}: {what} is none of the 28 atom types of ZINC")
    values = (np.diff(node_ptr), np.diff(edge_ptr), fits.argmax(1).astype(np.int32), edges, kinds[:, 0].astype(np.int32))
    return dict(zip(ARRAYS, values, strict=True))


def _numbers(name: str) -> tuple[int, int, int]:
    """Atomic number, explicit hydrogens and charge of an atom type."""
    symbol, *rest = name.split()
    hydrogens = next((int(part[1:]) for part in rest if part.startswith("H")), 0)
    return rdkit().GetPeriodicTable().GetAtomicNumber(symbol), hydrogens, ("+" in rest) - ("-" in rest)
