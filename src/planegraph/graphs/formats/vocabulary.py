"""The fixed vocabulary of molecular features: which category each label of an atom or bond becomes.

Category 0 of every column is "other": whatever is not listed, so that a model can read any molecule. The vocabulary does not depend on the
data; ``VERSION`` is kept with every model trained on it, and grows when a category, or the scaling of descriptors, changes its meaning.
Atom map numbers are bookkeeping, not chemistry, and are not features.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .molecules import ACCEPTS, ATOM_LABELS, BOND_LABELS, STEREO

VERSION = 2
_STEREO = (0, *STEREO.values())
_DATIVE = 17  # RDKit's number of the bond type

ATOMS: Mapping[str, Sequence[int]] = {
    "atomic_number": range(1, 119),
    "charge": range(-4, 5),
    "isotope": (0, 2, 3, 11, 13, 14, 15, 18, 35, 123, 125, 131),
    "hydrogens": range(5),
    "aromatic": (0, 1),
    "stereo": _STEREO,
}
"""The listed values of each column of ``x``; value k is category k + 1."""

BONDS: Mapping[str, Sequence[int]] = {
    "type": (1, 2, 3, 12, _DATIVE, _DATIVE + ACCEPTS),  # single, double, triple, aromatic; dative, and back from the acceptor
    "stereo": _STEREO,
}
"""The same for ``edge_attr``."""


def sizes(columns: Mapping[str, Sequence[int]]) -> tuple[int, ...]:
    """The number of categories of each column.

    >>> sizes(ATOMS), sizes(BONDS)
    ((119, 10, 13, 6, 3, 10), (7, 10))
    """
    return tuple(len(values) + 1 for values in columns.values())


def encode(labels: np.ndarray | None, columns: Mapping[str, Sequence[int]]) -> np.ndarray | None:
    """Categories (..., ``columns``) of labels (..., ``ATOM_LABELS`` or ``BOND_LABELS``) of atoms, or of bonds or their directions."""
    if labels is None:
        return None
    names = ATOM_LABELS if columns is ATOMS else BOND_LABELS
    found = np.zeros((*labels.shape[:-1], len(columns)), np.int64)
    for k, (name, listed) in enumerate(columns.items()):
        values, known = labels[..., names.index(name)], np.array(listed)
        order = np.argsort(known)
        place = order[np.searchsorted(known, values, sorter=order).clip(max=len(known) - 1)]
        found[..., k] = np.where(known[place] == values, place + 1, 0)
    return found
