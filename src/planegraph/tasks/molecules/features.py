"""Molecules as a model reads them: from SMILES to a packed dataset, the same way in training and in prediction.

A :class:`Featurizer` is what a run keeps of it, as plain JSON: the version of the vocabulary, whether stereochemistry counts, and how
descriptors are scaled. Molecules that cannot be read are named with the reason; one that is not planar is encoded too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from ...data.packed import PackedDataset
from ...data.sizes import Categorical
from ...errors import FormatError
from ...graphs.batch import GraphBatch, rows_of
from ...graphs.formats.descriptors import descriptor_names, descriptors_of_smiles
from ...graphs.formats.smiles import MoleculeReader, Molecules
from ...graphs.formats.vocabulary import ATOMS, BONDS, VERSION, sizes
from ...workers import ordered_map

NODE_FEATURES, EDGE_FEATURES = Categorical(sizes(ATOMS)), Categorical(sizes(BONDS))
SMALL = 3_000
"""Up to so many molecules RDKit's descriptors are read, too, unless said otherwise. There they help; on 4,200 (Lipophilicity) they harm."""

_CHUNK = 64  # molecules of a worker's task: less than a second of descriptors


class Featurized(NamedTuple):
    """The molecules that could be read, packed and as they are, where they stood in the input, and why the others could not."""

    dataset: PackedDataset
    batch: GraphBatch
    positions: np.ndarray
    problems: dict[int, str]


@dataclass(frozen=True)
class Scaling:
    """Names of RDKit's descriptors, and center and spread of each over the training molecules.

    A descriptor becomes tanh(z / 2) of its number z of deviations from the center. Counts of rare fragments are many deviations away
    wherever they are not 0, and without a bound they decide what the model says of molecules unlike those it was trained on.
    """

    names: tuple[str, ...]
    center: tuple[float, ...]
    spread: tuple[float, ...]

    @classmethod
    def of(cls, names: Sequence[str], values: np.ndarray) -> Self:
        """Of the descriptors (molecules, names); those that do not vary are left out."""
        center, spread = (f(np.where(np.isfinite(values), values, np.nan), axis=0) for f in (_mean, _deviation))
        kept = np.isfinite(center) & (spread > 1e-12 * np.abs(center))
        return cls(
            tuple(n for n, k in zip(names, kept, strict=True) if k), tuple(center[kept].tolist()), tuple(spread[kept].tolist())
        )

    def __call__(self, names: Sequence[str], values: np.ndarray) -> np.ndarray:
        """(molecules, names of the scaling) float32 between -1 and 1; what RDKit cannot compute is 0, the center."""
        columns = values[:, [names.index(name) for name in self.names]]
        deviations = (columns - np.array(self.center)) / np.array(self.spread)
        return np.tanh(np.where(np.isfinite(deviations), deviations, 0) / 2).astype(np.float32)


@dataclass(frozen=True)
class Featurizer:
    """How SMILES become graphs with features.

    >>> found = Featurizer()(["CCO", "C1CC", "[Fe]"])
    >>> found.dataset
    PackedDataset(2 graphs, 4 nodes, 2 edges, x=int32 x 6, edge_attr=int32 x 2; labels x, edge_attr)
    >>> found.problems
    {1: "RDKit refuses the SMILES 'C1CC': its syntax is wrong"}
    """

    stereo: bool = True
    scaling: Scaling | None = None
    vocabulary: int = VERSION

    def __post_init__(self) -> None:
        if self.vocabulary != VERSION:
            raise FormatError(
                f"the molecules of this run were read by vocabulary {self.vocabulary}; this planegraph has {VERSION}. Train the model "
                "again, or use the version that wrote it"
            )

    def __call__(self, smiles: Sequence[str], threads: int | None = None) -> Featurized:
        """Reads and packs molecules, with scaled descriptors if there is a scaling."""
        return self.pack(self.reader(smiles), threads)

    @property
    def reader(self) -> MoleculeReader:
        """The slow part of the work, which worker processes can do; :meth:`pack` does the rest."""
        return MoleculeReader(self.stereo, () if self.scaling is None else self.scaling.names)

    def pack(self, found: Molecules, threads: int | None = None) -> Featurized:
        """Packs what :attr:`reader` read."""
        batch = found.batch
        bonds = None if batch.num_edges else np.empty((0, len(BONDS)), np.int32)  # a batch of single atoms has no labels of bonds
        dataset = PackedDataset.from_arrays(batch, edge_attr=bonds, threads=threads, on_nonplanar="set")
        if self.scaling is not None:
            dataset = dataset.with_attrs(descriptors=self.scaling(self.scaling.names, found.descriptors))
        return Featurized(dataset, batch, found.positions, found.problems)

    def with_descriptors(
        self, dataset: PackedDataset, smiles: Sequence[str], train: np.ndarray, wanted: bool | None = None, workers: int = 1
    ) -> tuple[Featurizer, PackedDataset, np.ndarray | None]:
        """The featurizer and the dataset with descriptors, scaled by those of the training molecules, and the descriptors themselves.

        All stay as they are, without descriptors, if the featurizer has a scaling (and so added them before) or none are wanted.

        Args:
            wanted: whether there are descriptors; None: for up to :data:`SMALL` molecules.
            workers: processes that compute them.
        """
        if self.scaling is not None or not (len(smiles) <= SMALL if wanted is None else wanted):
            return self, dataset, None
        names, values = descriptors(smiles, workers)
        scaling = Scaling.of(names, values[train])
        return replace(self, scaling=scaling), dataset.with_attrs(descriptors=scaling(names, values)), values

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON.

        >>> Featurizer.from_dict(Featurizer(stereo=False).to_dict())
        Featurizer(stereo=False, scaling=None, vocabulary=2)
        """
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """From what :meth:`to_dict` gives."""
        scaling = values["scaling"]
        if scaling is not None:
            scaling = Scaling(**{name: tuple(scaling[name]) for name in ("names", "center", "spread")})
        return cls(values["stereo"], scaling, values["vocabulary"])


def descriptors(smiles: Sequence[str], workers: int = 1) -> tuple[tuple[str, ...], np.ndarray]:
    """The names of RDKit's descriptors, and their values (molecules, names); NaN where RDKit fails.

    Args:
        workers: processes that compute them, if they take more than a second (workers.py).

    >>> names, values = descriptors(["CCO"])
    >>> round(float(values[0, names.index("MolWt")]), 2)
    46.07
    """
    names = descriptor_names()
    chunks = ((None, smiles[start : start + _CHUNK]) for start in range(0, len(smiles), _CHUNK))
    values = [part for _, part in ordered_map(partial(descriptors_of_smiles, names), chunks, workers)]
    return names, np.concatenate([np.empty((0, len(names))), *values])


def seen_categories(dataset: PackedDataset, ids: np.ndarray) -> dict[str, list[list[int]]]:
    """The categories that occur in these graphs, for each column of ``x`` and of the features of edges."""
    features, tables = dataset.features, dataset.tables
    arrays = {"x": (features.x, tables.node_ptr, ATOMS), "edge_attr": (features.edges, tables.edge_ptr, BONDS)}
    return {
        name: [[] if values is None else np.unique(values[rows_of(ptr, ids)[0], ..., k]).tolist() for k in range(len(columns))]
        for name, (values, ptr, columns) in arrays.items()
    }


def _mean(values: np.ndarray, axis: int) -> np.ndarray:
    return _over_finite(values, axis, values)


def _deviation(values: np.ndarray, axis: int) -> np.ndarray:
    return np.sqrt(_over_finite(values, axis, (values - _mean(values, axis)) ** 2))


def _over_finite(values: np.ndarray, axis: int, of: np.ndarray) -> np.ndarray:
    there = np.isfinite(values)
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where(there, of, 0).sum(axis) / there.sum(axis)
