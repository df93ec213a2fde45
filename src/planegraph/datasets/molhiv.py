"""MolHIV (ogbg-molhiv): does a molecule inhibit HIV? OGB's features and scaffold split, which are read and never recomputed."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ..batch import GraphBatch
from ..errors import FormatError
from .base import Dataset, require
from .files import RawFile
from .raw import RawGraphs, read_npz
from .splits import by_number
from .task import Task

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
    "OGB's ogbg-molhiv as it is published: hiv/raw/*.csv.gz and hiv/split/scaffold/*.csv.gz.",
    "http://snap.stanford.edu/ogb/data/graphproppred/csv_mol_download/hiv.zip",
)


class MolHIV(Dataset):
    """32901 / 4113 / 4113 molecules with nine categorical atom and three bond columns; ``y`` (41127, 1) is 1.0 for inhibitors.

    Reads ``molhiv/molhiv_graphs.npz`` if it is there, else OGB's own ``hiv.zip``. No checksum of the latter is known: what is in it is
    checked against the published numbers of graphs, nodes, edges and inhibitors.

    >>> MolHIV.published["graphs"]
    41127
    """

    name = "molhiv"
    title = "MolHIV: inhibition of HIV, OGB scaffold split"
    published: Mapping[str, int] = {
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
        batch, d = read_npz(paths[_ARRAYS.path], ("x", "edge_attr", "y", "split"))
        y = d["y"].reshape(-1, 1).astype(np.float32)
        return RawGraphs(batch, d["x"], d["edge_attr"], y, {"split": d["split"].astype(np.int8)})

    def check(self, raw: RawGraphs) -> None:
        super().check(raw)
        found = tuple(int(raw.y[raw.attrs["split"] == part].sum()) for part in range(3))
        require(found == POSITIVES, f"molhiv: {found} inhibitors in train, val and test; published: {POSITIVES}")

    def task(self, edge_features: bool = True) -> Task:
        """Binary; cross entropy is trained on, ROC-AUC reported."""
        ds = self.load(edge_features)
        return Task(
            self.variant(edge_features),
            ds,
            by_number(ds.attrs["split"]),
            node_features=("categorical", ATOM_SIZES),
            edge_features=("categorical", BOND_SIZES) if edge_features else None,
            kind="binary",
            loss="bce",
            metric="rocauc",
        )


def read_ogb(path: Path) -> RawGraphs:
    """The archive of OGB: tables without headers; bonds once, ids local to the molecule; a split is a list of molecules."""
    try:
        with zipfile.ZipFile(path) as archive:
            table = {
                name: _table(archive, f"hiv/raw/{name}.csv.gz")
                for name in ("num-node-list", "num-edge-list", "edge", "node-feat", "edge-feat", "graph-label")
            }
            members = [_table(archive, f"hiv/split/scaffold/{part}.csv.gz").ravel() for part in ("train", "valid", "test")]
    except (zipfile.BadZipFile, gzip.BadGzipFile, KeyError, ValueError, EOFError) as error:
        raise FormatError(f"{path} is not OGB's hiv.zip: {error}") from None
    split = np.full(len(table["graph-label"]), -1, np.int8)
    for part, ids in enumerate(members):
        split[ids] = part
    ptr = {name: np.concatenate([[0], np.cumsum(table[name].ravel())]) for name in ("num-node-list", "num-edge-list")}
    batch = GraphBatch(ptr["num-node-list"], ptr["num-edge-list"], table["edge"])
    return RawGraphs(batch, table["node-feat"], table["edge-feat"], table["graph-label"].astype(np.float32), {"split": split})


def _table(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    text = gzip.decompress(archive.read(name))
    return np.loadtxt(io.BytesIO(text), dtype=np.int64, delimiter=",", ndmin=2)
