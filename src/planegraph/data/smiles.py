"""SMILES strings as one batch of graphs whose labels are small categories that count from 0.

Atoms carry the columns of :data:`planegraph.molecules.ATOM_LABELS` with the charge shifted by ``CHARGE_SHIFT``; bonds carry those of
``BOND_LABELS``, the type in the direction from the acceptor to the donor of a dative bond plus ``ACCEPTOR_SHIFT``. RDKit reads a molecule
in some 0.2 ms; the rest is vectorised.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..batch import GraphBatch
from ..errors import FormatError, InvalidGraphError
from ..molecules import ATOM_LABELS, from_smiles

CHARGE_SHIFT = 16
"""Added to formal charges; RDKit holds them in a signed byte, and real ones are within -4..+8."""

ACCEPTOR_SHIFT = 32
"""Added to the bond type of the dart from the acceptor of a dative bond back to its donor; bond types are 0..21."""

_LABEL_SHIFT = 1000  # what molecules.py adds there


def read_smiles(smiles: Iterable[str], stereo: bool = True) -> GraphBatch:
    """The molecules as a batch, with or without stereochemistry; an error names the position of the string.

    >>> read_smiles(["CO", "[Na+].[Cl-]"]).node_labels[:, 1].tolist()
    [16, 16, 17, 15]
    """
    if isinstance(smiles, str):
        raise FormatError("from_smiles takes a list of SMILES; found one string")
    batch = GraphBatch.from_graphs([_molecule(i, text, stereo) for i, text in enumerate(smiles)])
    nodes = batch.node_labels
    if nodes is not None:
        nodes = nodes.copy()
        nodes[:, ATOM_LABELS.index("charge")] += CHARGE_SHIFT
    return GraphBatch._trusted(
        batch.node_ptr, batch.edge_ptr, batch.edges, nodes, _bonds(batch.edge_labels), _bonds(batch.dart_labels)
    )


def _molecule(i: int, text: Any, stereo: bool) -> Any:
    try:
        return from_smiles(text, stereo)
    except (FormatError, InvalidGraphError) as error:
        raise type(error)(f"molecule {i}: {error}") from None


def _bonds(kinds: np.ndarray | None) -> np.ndarray | None:
    return None if kinds is None else np.where(kinds >= _LABEL_SHIFT, kinds - _LABEL_SHIFT + ACCEPTOR_SHIFT, kinds)
