"""ZINC: constrained solubility (penalised logP) of drug-like molecules; the subset of 12,000 and the full set."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

from ..data.sizes import Categorical
from ..errors import FormatError, require
from ..graphs.batch import GraphBatch, offsets
from ..tasks import PARTS
from ..tasks.splits import by_number
from ..tasks.task import Task
from .base import Dataset, require_bool
from .files import UNREADABLE, RawFile
from .raw import RawGraphs, as_split, as_target, read_npz, reading
from .zinc_molecules import ATOM_TYPES, read_molecules

BOND_SIZES = (4,)
"""Bond types are 1, 2, 3."""


class _Zinc(Dataset):
    has_edge_features = True
    notes = ""

    def task(self, edge_features: bool = True, return_steps: int = 0, return_walks: bool = False) -> Task:
        """Mean absolute error, trained on and reported.

        Args:
            return_steps: length of the random walks whose return probabilities are node features beside the atom type.
            return_walks: whether canonical walks read these, too (see :meth:`PackedDataset.with_returns`).
        """
        require_bool("edge_features", edge_features)
        ds, node_features = self.with_returns(self.load(edge_features), (len(ATOM_TYPES),), return_steps, return_walks)
        return Task(
            self.variant(edge_features),
            ds,
            by_number(ds.attrs["split"]),
            node_features=node_features,
            edge_features=Categorical(BOND_SIZES) if edge_features else None,
            loss="l1",
            metric="mae",
            notes=self.notes,
        )


class Zinc12k(_Zinc):
    """10000 / 1000 / 1000 molecules with atom types 0..27 and bond types 1..3; ``y`` (12000, 1) is that of the file.

    >>> Zinc12k.published["nodes"]
    277864
    """

    name = "zinc12k"
    title = "ZINC-12k: constrained solubility, benchmarking-gnns split"
    files = (
        RawFile(
            "zinc/zinc12k_graphs.npz",
            "the 12,000 molecules of benchmarking-gnns (github.com/graphdeeplearning/benchmarking-gnns) as .npz: node_ptr, edge_ptr "
            "(offsets), edge_index (2, E; both directions), x (atom type 0..27), edge_attr (1..3), y, split (0/1/2).",
        ),
    )
    published: ClassVar[Mapping[str, int]] = {
        "graphs": 12_000,
        "nodes": 277_864,
        "edges": 298_985,
        "train": 10_000,
        "val": 1_000,
        "test": 1_000,
    }
    notes = "y is a rebuild that agrees with the published values to 1e-4"

    def read(self, paths: Mapping[str, Path]) -> RawGraphs:
        path = paths["zinc/zinc12k_graphs.npz"]
        batch, d = read_npz(path, ("x", "edge_attr", "y", "split"))
        with reading(path):
            return RawGraphs(batch, d["x"], d["edge_attr"], as_target(d["y"]), {"split": as_split(d["split"])})


class ZincFull(_Zinc):
    """220010 / 24445 / 5000 molecules, made from SMILES: RDKit is needed to pack them, not to load them. ``y`` is that of the file.

    Atom and bond types are those of ZINC-12k (zinc_molecules.py).

    >>> ZincFull.published["val"]
    24445
    """

    name = "zincfull"
    title = "ZINC-full: constrained solubility, JT-VAE split"
    files = (
        RawFile(
            "zinc/zincfull.csv.gz",
            "gzipped CSV with the columns split (train, val, test), smiles, y: the molecules of JT-VAE (github.com/wengong-jin/"
            "icml18-jtnn, data/zinc) with their penalised logP, normalised over the training set.",
        ),
    )
    published: ClassVar[Mapping[str, int]] = {"val": 24_445, "test": 5_000}
    notes = "up to one training molecule fewer than the official 220011"

    def read(self, paths: Mapping[str, Path]) -> RawGraphs:
        path = paths["zinc/zincfull.csv.gz"]
        split, smiles, y = read_csv(path)
        m = read_molecules(smiles, self.threads)
        ptr = {name: offsets(m[name]) for name in ("nodes", "bonds")}
        with reading(path):
            batch = GraphBatch(ptr["nodes"], ptr["bonds"], m["edges"])
            return RawGraphs(batch, m["x"], m["edge_attr"], y[:, None], {"split": split})

    def check(self, raw: RawGraphs) -> None:
        super().check(raw)
        train = int((raw.attrs["split"] == 0).sum())
        require(train in (220_010, 220_011), f"zincfull: {train} training molecules; published: 220011, or 220010 without one")


def read_csv(path: Path) -> tuple[np.ndarray, list[str], np.ndarray]:
    """Part of the split (0, 1, 2), SMILES and target of each molecule."""
    try:
        with gzip.open(path, "rt", newline="") as file:
            rows = [(row["split"], row["smiles"], row["y"]) for row in csv.DictReader(file)]
        for i, row in enumerate(rows):
            if not all(row):
                raise ValueError(f"row {i + 1} below them lacks one: {row}")
        split = np.array([PARTS.index(part) for part, _, _ in rows], np.int8)
        return split, [smiles for _, smiles, _ in rows], np.array([float(y) for _, _, y in rows], np.float32)
    except (*UNREADABLE, KeyError, csv.Error) as error:
        raise FormatError(f"{path} is not a gzipped CSV with the columns split, smiles, y: {error!r}") from None
