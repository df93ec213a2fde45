"""MolHIV (ogbg-molhiv): does a molecule inhibit HIV? OGB's features and scaffold split, which are read and never recomputed."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np

from ..data.packed import PackedDataset
from ..data.sizes import Categorical
from ..errors import FormatError, InvalidGraphError, require
from ..graphs.batch import GraphBatch, offsets
from ..tasks import PARTS
from ..tasks.splits import by_number
from ..tasks.splits import folds as folds_of
from ..tasks.task import Task
from .base import Dataset, require_bool, require_count
from .files import UNREADABLE, RawFile
from .frameworks import framework_codes
from .raw import RawGraphs, as_split, as_target, check_rows, read_npz, reading

ATOM_SIZES = (119, 5, 12, 12, 10, 6, 6, 2, 2)
"""Categories of OGB's nine atom columns: element, chirality, degree, charge, hydrogens, radicals, hybridisation, aromatic, in a ring."""

BOND_SIZES = (5, 6, 2)
"""Categories of OGB's three bond columns: type, stereo, conjugated."""

POSITIVES = (1232, 81, 130)
"""Inhibitors in the parts of the split."""

_ARRAYS = RawFile(
    "molhiv/molhiv_graphs.npz",
    "ogbg-molhiv as .npz: node_ptr, edge_ptr (offsets), edge_index (2, E; both directions), x (N, 9), edge_attr (E, 3), y, split (0/1/2).",
)
_ZIP = RawFile(
    "molhiv/hiv.zip",
    "OGB's ogbg-molhiv as it is published: hiv/raw/*.csv.gz and hiv/split/scaffold/*.csv.gz. No checksum is published.",
    "https://snap.stanford.edu/ogb/data/graphproppred/csv_mol_download/hiv.zip",
)


class MolHIV(Dataset):
    """32901 / 4113 / 4113 molecules with nine categorical atom and three bond columns; ``y`` (41127, 1) is 1.0 for inhibitors.

    Reads ``molhiv/molhiv_graphs.npz`` if it is there, else OGB's own ``hiv.zip``. OGB publishes no checksum of the latter: it is fetched
    over HTTPS, no more of it is unpacked than the published sizes allow, and what is in it is checked against the published numbers of
    graphs, nodes, edges and inhibitors.

    >>> MolHIV.published["graphs"]
    41127
    """

    name = "molhiv"
    title = "MolHIV: inhibition of HIV, OGB scaffold split"
    published: ClassVar[Mapping[str, int]] = {
        "graphs": 41_127,
        "nodes": 1_049_163,
        "edges": 1_129_688,
        "train": 32_901,
        "val": 4_113,
        "test": 4_113,
    }
    has_edge_features = True

    @property
    def files(self) -> tuple[RawFile, ...]:  # type: ignore[override]
        """The arrays, or else the archive of OGB."""
        return (_ARRAYS,) if (self.root / _ARRAYS.path).is_file() else (_ZIP,)

    def read(self, paths: Mapping[str, Path]) -> RawGraphs:
        if _ZIP.path in paths:
            return read_ogb(paths[_ZIP.path])
        path = paths[_ARRAYS.path]
        batch, d = read_npz(path, ("x", "edge_attr", "y", "split"))
        with reading(path):
            y = as_target(d["y"], binary=True)
            return RawGraphs(batch, d["x"], d["edge_attr"], y, {"split": as_split(d["split"])})

    def check(self, raw: RawGraphs) -> None:
        super().check(raw)
        found = tuple(int(raw.y[raw.attrs["split"] == part].sum()) for part in range(3))
        require(found == POSITIVES, f"molhiv: {found} inhibitors in train, val and test; published: {POSITIVES}")

    def task(self, edge_features: bool = True, folds: int = 0, return_steps: int = 0, return_walks: bool = False) -> Task:
        """Binary; cross entropy is trained on, ROC-AUC reported.

        Args:
            folds: 0: OGB's split. 3 or more: so many folds of OGB's training part, for choosing settings; molecules with one framework
                (frameworks.py) are in one fold. In split i, fold i is test, the next is val, the rest is train.
            return_steps, return_walks: see :meth:`Dataset.with_returns`.
        """
        require_bool("edge_features", edge_features)
        require_count("folds", folds)
        ds, node_features = self.with_returns(self.load(edge_features), ATOM_SIZES, return_steps, return_walks)
        return Task(
            self.variant(edge_features),
            ds,
            None if folds else by_number(ds.attrs["split"]),
            _framework_folds(ds, folds) if folds else None,
            node_features=node_features,
            edge_features=Categorical(BOND_SIZES) if edge_features else None,
            kind="binary",
            loss="bce",
            metric="rocauc",
        )


def _framework_folds(ds: PackedDataset, k: int) -> list[dict[str, np.ndarray]]:
    """Splits of the training part; the labels of a framework are elements and, if there are edge features, types of bonds."""
    train = np.flatnonzero(ds.attrs["split"] == 0)
    bonds = None if ds.edge_attr is None else ds.edge_attr[:, 0]
    elements = ds.x[:, 0].astype(np.int64)
    molecules = GraphBatch(ds.tables.node_ptr, ds.tables.edge_ptr, ds.tables.edges, elements, bonds)[train]
    return [{part: train[ids] for part, ids in split.items()} for split in folds_of(framework_codes(molecules), k, seed=0)]


def read_ogb(path: Path) -> RawGraphs:
    """The archive of OGB: tables without headers; bonds once, ids local to the molecule; a split is a list of molecules."""
    try:
        with zipfile.ZipFile(path) as archive:
            table = {name: _table(archive, f"hiv/raw/{name}.csv.gz", most) for name, most in _NUMBERS.items()}
            members = [
                _table(archive, f"hiv/split/scaffold/{part}.csv.gz", MolHIV.published["graphs"]).ravel()
                for part in ("train", "valid", "test")
            ]
    except (*UNREADABLE, KeyError) as error:
        raise FormatError(f"{path} is not OGB's hiv.zip: {error}") from None
    with reading(path):
        for name in ("num-edge-list", "graph-label"):
            check_rows(name, table[name], len(table["num-node-list"]), "molecules of num-node-list")
        nodes, edges = (offsets(table[name].ravel()) for name in ("num-node-list", "num-edge-list"))
        batch = GraphBatch(nodes, edges, table["edge"])
        y = as_target(table["graph-label"], binary=True)
        return RawGraphs(batch, table["node-feat"], table["edge-feat"], y, {"split": _split(members, len(batch))})


def _split(members: Sequence[np.ndarray], graphs: int) -> np.ndarray:
    """The part of each molecule, from the molecules of each part; -1 for one that is in none."""
    split = np.full(graphs, -1, np.int8)
    for part, ids in enumerate(members):
        outside = ids[(ids < 0) | (ids >= graphs)]
        if len(outside):
            raise InvalidGraphError(f"{PARTS[part]} of the split names molecule {outside[0]}; there are {graphs:,}, from 0")
        split[ids] = part
    return split


_NUMBERS = {
    "num-node-list": MolHIV.published["graphs"],
    "num-edge-list": MolHIV.published["graphs"],
    "graph-label": MolHIV.published["graphs"],
    "node-feat": MolHIV.published["nodes"] * len(ATOM_SIZES),
    "edge": MolHIV.published["edges"] * 2,
    "edge-feat": MolHIV.published["edges"] * len(BOND_SIZES),
}
"""How many numbers each table holds as published."""

_DIGITS = 8  # of a number, with what separates it from the next


def _table(archive: zipfile.ZipFile, name: str, numbers: int) -> np.ndarray:
    """A table of the archive; unpacking stops after the size of this many numbers."""
    most = _DIGITS * numbers
    with archive.open(name) as packed, gzip.open(packed) as file:
        text = file.read(most + 1)
    if len(text) > most:
        raise ValueError(f"{name} unpacks to more than {most:,} bytes, but {numbers:,} numbers are published")
    return np.loadtxt(io.BytesIO(text), dtype=np.int64, delimiter=",", ndmin=2)
