"""SMILES strings to arrays: graphs with the labels of molecules.py and, if wanted, descriptors, each molecule read once.

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
from .molecules import from_rdkit, mol_from_smiles


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
    >>> len(found.batch), found.positions.tolist(), list(found.problems), found.descriptors.shape
    (2, [0, 2], [1], (2, 1))
    """

    stereo: bool = True
    descriptors: tuple[str, ...] = ()

    def __call__(self, smiles: Iterable[str]) -> Molecules:
        mols, graphs, positions, problems = [], [], [], {}
        for position, text in enumerate(smiles):
            try:
                mol = mol_from_smiles(text)
                graphs.append(from_rdkit(mol, self.stereo))
            except (FormatError, InvalidGraphError) as error:
                problems[position] = str(error)
                continue
            positions.append(position)
            if self.descriptors:
                mols.append(mol)
        values = descriptor_values(mols, self.descriptors) if self.descriptors else np.empty((len(graphs), 0))
        return Molecules(GraphBatch.from_graphs(graphs), np.array(positions, np.int64), problems, values)
