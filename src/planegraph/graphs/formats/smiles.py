"""SMILES strings as one batch of graphs: each molecule is read once, with the categories of vocabulary.py as labels, and descriptors.

Needs numpy and RDKit only, so that worker processes, which import this file, start in a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...errors import FormatError, InvalidGraphError
from ..batch import GraphBatch
from .descriptors import descriptor_values
from .molecules import MoleculeArrays, mol_from_smiles
from .vocabulary import ATOMS, BONDS, encode

_STEREO_MARKS = "@/\\|"  # without one of these, a SMILES says nothing of stereochemistry


class Molecules(NamedTuple):
    """Molecules that could be read, where they stood in the input, why the others could not, and descriptors of the former."""

    batch: GraphBatch
    positions: np.ndarray
    problems: dict[int, str]
    descriptors: np.ndarray


@dataclass(frozen=True)
class MoleculeReader:
    """Reads SMILES of which some may be unreadable.

    Args:
        stereo: whether mirror images differ.
        descriptors: the names of RDKit's descriptors to compute; none by default.

    >>> found = MoleculeReader(descriptors=("MolWt",))(["CO", "C1CC", "N"])
    >>> found.batch, found.positions.tolist(), list(found.problems), found.descriptors.shape
    (GraphBatch(2 graphs, 3 nodes, 1 edge, node_labels=int64 x 6, edge_labels=int64 x 2), [0, 2], [1], (2, 1))
    """

    stereo: bool = True
    descriptors: tuple[str, ...] = ()

    def __call__(self, smiles: Iterable[str]) -> Molecules:
        arrays, positions, problems, values = MoleculeArrays(), [], {}, [np.empty((0, len(self.descriptors)))]
        for position, text in enumerate(smiles):
            try:
                mol = mol_from_smiles(text)
                arrays.add(mol, self.stereo and any(mark in text for mark in _STEREO_MARKS))
            except (FormatError, InvalidGraphError) as error:
                problems[position] = str(error)
                continue
            positions.append(position)
            if self.descriptors:
                values.append(descriptor_values([mol], self.descriptors))
        node_ptr, edge_ptr, edges, atoms, bonds, darts = arrays.arrays()
        batch = GraphBatch._trusted(node_ptr, edge_ptr, edges, encode(atoms, ATOMS), encode(bonds, BONDS), encode(darts, BONDS))
        return Molecules(batch, np.array(positions, np.int64), problems, np.concatenate(values))


def read_smiles(smiles: Iterable[str], stereo: bool = True) -> GraphBatch:
    """The molecules as a batch, with or without stereochemistry; an error names the position of the string.

    >>> read_smiles(["CO", "[Na+].[Cl-]"]).node_labels[:, 0].tolist()
    [6, 8, 11, 17]
    """
    if isinstance(smiles, str):
        raise FormatError("from_smiles takes a list of SMILES; found one string")
    found = MoleculeReader(stereo)(smiles)
    for position, reason in found.problems.items():
        raise FormatError(f"molecule {position}: {reason}")
    return found.batch
