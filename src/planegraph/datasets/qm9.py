"""QM9: 13 quantum-chemical properties of small molecules, in the features, normalisation and split of GNN-FiLM."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..data.sizes import Categorical, Continuous
from ..errors import FormatError, InvalidGraphError, require
from ..graphs.batch import GraphBatch, offsets
from ..tasks.splits import by_number
from ..tasks.task import Task
from .base import Dataset, require_bool
from .files import UNREADABLE, RawFile, find
from .raw import RawGraphs, as_integers, join, load_arrays, reading

TARGETS: dict[str, float] = {
    "mu": 0.066513725,
    "alpha": 0.012235489,
    "HOMO": 0.071939046,
    "LUMO": 0.033730778,
    "gap": 0.033486113,
    "R2": 0.004278493,
    "ZPVE": 0.001330901,
    "U0": 0.004165489,
    "U": 0.004128926,
    "H": 0.00409976,
    "G": 0.004527465,
    "Cv": 0.012292586,
    "Omega": 0.037467458,
}
"""The targets in the order of the columns of ``y``; the reported error is the mean absolute error divided by this factor."""

ATOMS = (1, 6, 7, 8, 9)
"""Atomic numbers H, C, N, O, F, in the order of the one-hot columns."""

_PARTS = {"train": "qm9/qm9_train_rebuilt.npz", "val": "qm9/qm9_val.npz", "test": "qm9/qm9_test.npz"}
_ARRAYS = ("node_ptr", "edge_ptr", "z", "num_h", "flags", "mulliken_1e6", "edge_src", "edge_dst", "edge_type", "y")
_FLAGS = 7
_REBUILT = tuple(
    RawFile(
        path,
        f"the {part} molecules as .npz: node_ptr, edge_ptr (offsets); per atom z, num_h, flags (bits: acceptor, donor, aromatic, sp, sp2, "
        "sp3, other), mulliken_1e6; per bond, once, edge_src, edge_dst (ids local to the molecule), edge_type 1..4; per molecule y "
        "(13 normalised targets), and in train uncertain_membership.",
    )
    for part, path in _PARTS.items()
)
_ORIGINAL = tuple(
    RawFile(
        f"qm9/{part}.jsonl.gz",
        f"GNN-FiLM's {part}.jsonl.gz (github.com/microsoft/tf-gnn-samples, folder data/qm9).",
    )
    for part in ("train", "valid", "test")
)
_TRAIN = {"rebuilt": 110_473, "original": 110_462}


class QM9(Dataset):
    """Molecules with hydrogens; x has 15 float columns, edges a type 1..4, y 13 normalised targets.

    Columns of x: one-hot(H, C, N, O, F), atomic number, Mulliken charge, seven flags, number of hydrogens. Read from GNN-FiLM's own files
    (110462 / 10000 / 10000) if all three are there, else from arrays whose training set is a rebuild from QM9 (110473; validation and
    test are GNN-FiLM's): ``attrs["uncertain"]`` then marks molecules that may not belong to it. The notes of the task say which it was.

    >>> len(TARGETS)
    13
    """

    name = "qm9"
    title = "QM9: 13 quantum-chemical properties, GNN-FiLM split"
    published: ClassVar[Mapping[str, int]] = {"val": 10_000, "test": 10_000}
    has_edge_features = True

    @property
    def files(self) -> tuple[RawFile, ...]:  # type: ignore[override]
        """GNN-FiLM's own files if they are there; else the arrays if one of these is; if neither is, the former are to be fetched."""
        return _REBUILT if find(_ORIGINAL, self.root) and len(find(_REBUILT, self.root)) < len(_REBUILT) else _ORIGINAL

    def read(self, paths: Mapping[str, Path]) -> RawGraphs:
        if _ORIGINAL[0].path in paths:
            return _joined([read_film(paths[file.path]) for file in _ORIGINAL])
        return _joined([_read(paths[path], marked=part == "train") for part, path in _PARTS.items()])

    def check(self, raw: RawGraphs) -> None:
        super().check(raw)
        train = int((raw.attrs["split"] == 0).sum())
        require(train in _TRAIN.values(), f"qm9: {train} training molecules; GNN-FiLM's file has 110462, the rebuild 110473")

    def task(self, target: str | Sequence[str] | None = None, edge_features: bool = True) -> Task:
        """Mean squared error is trained on, MAE / factor reported.

        Args:
            target: a name; several names, or "each" for all 13, for a model each, trained together; None: one model for all 13.
        """
        require_bool("edge_features", edge_features)
        alone = isinstance(target, str) and target != "each"
        listed = isinstance(target, list | tuple) and len(target) > 0
        known = f"qm9 has the targets {', '.join(TARGETS)}: name one, list some, or say each"
        require(target is None or isinstance(target, str) or listed, f"{known}; found {target!r}")
        names: tuple[Any, ...] = (target,) if alone else tuple(target) if listed else tuple(TARGETS)
        for k, name in enumerate(names):
            require(isinstance(name, str) and name in TARGETS and name not in names[:k], f"{known}, each once; found {name!r}")
        ds = self.load(edge_features)
        splits = by_number(ds.attrs["split"])
        rebuilt = "the training set is a rebuild of GNN-FiLM's (110473 molecules, not 110462)"
        task = Task(
            self.name,
            ds.with_y(ds.y[:, [list(TARGETS).index(name) for name in names]]),
            splits,
            node_features=Continuous(15),
            edge_features=Categorical((5,)) if edge_features else None,
            loss="mse",
            outputs=len(names) if target is None else 1,
            scale=tuple(TARGETS[name] for name in names),
            notes=rebuilt if len(splits["train"]) == _TRAIN["rebuilt"] else "",
            targets=None if target is None else names,
        )
        return task.of_target(names[0]) if alone else task


def node_features(d: Mapping[str, np.ndarray]) -> np.ndarray:
    """The 15 columns of GNN-FiLM, float32."""
    flags = (d["flags"][:, None] >> np.arange(_FLAGS)) & 1
    columns = [d["z"][:, None] == np.array(ATOMS), d["z"][:, None], d["mulliken_1e6"][:, None] * 1e-6, flags, d["num_h"][:, None]]
    return np.concatenate([c.astype(np.float32) for c in columns], axis=1)


def _read(path: Path, marked: bool) -> RawGraphs:
    """The molecules of one ``.npz`` file; ``marked``: which of them are uncertain is in the file, too."""
    d = load_arrays(path, (*_ARRAYS, "uncertain_membership") if marked else _ARRAYS)
    with reading(path):
        if d["y"].shape[1:] != (len(TARGETS),):
            raise InvalidGraphError(f"y must have {len(TARGETS)} targets for each graph; found shape {d['y'].shape}")
        kinds = as_integers("edge_type", d["edge_type"]).astype(np.int32)
        attrs = {"uncertain": d["uncertain_membership"].astype(bool)} if marked else {}
        return RawGraphs(_batch(d), node_features(d), kinds, d["y"].astype(np.float32), attrs)


def _joined(parts: Sequence[RawGraphs]) -> RawGraphs:
    """Train, validation and test, one after another; molecules are certain unless marked otherwise."""
    sizes = [len(part) for part in parts]
    marked = np.concatenate([part.attrs.get("uncertain", np.zeros(len(part), bool)) for part in parts])
    x, edge_attr, y = (np.concatenate([getattr(part, name) for part in parts]) for name in ("x", "edge_attr", "y"))
    return RawGraphs(
        join([part.batch for part in parts]),
        x,
        edge_attr,
        y,
        {"split": np.repeat(np.arange(3, dtype=np.int8), sizes), "uncertain": marked},
    )


def _batch(d: Mapping[str, np.ndarray]) -> GraphBatch:
    edges = np.stack([as_integers(name, d[name]) for name in ("edge_src", "edge_dst")], axis=1)
    return GraphBatch(d["node_ptr"], d["edge_ptr"], edges)


def read_film(path: Path) -> RawGraphs:
    """The molecules of one of GNN-FiLM's own files, without a split.

    It is gzipped JSON, a molecule a line: ``graph`` lists bonds once as [source, type 1..4, target], ``node_features`` has 15 numbers per
    atom, ``targets`` 13 lists of one normalised value. Reading costs some 0.1 ms a molecule.
    """
    nodes, bonds, x, rows, y = [], [], [], [], []
    try:
        with gzip.open(path, "rt") as file:
            for text in file:
                molecule = json.loads(text)
                nodes.append(len(molecule["node_features"]))
                bonds.append(len(molecule["graph"]))
                x.append(np.array(molecule["node_features"], np.float32).reshape(-1, 15))
                rows.append(as_integers("graph", np.array(molecule["graph"])).reshape(-1, 3))
                y.append(np.array(molecule["targets"], np.float32).reshape(13))
    except (*UNREADABLE, KeyError, TypeError) as error:
        raise FormatError(f"{path}, line {len(y) + 1}: no molecule in the format of GNN-FiLM: {error!r}") from None
    if not nodes:
        raise FormatError(f"{path} is empty")
    table = np.concatenate(rows)
    with reading(path):
        batch = GraphBatch(offsets(nodes), offsets(bonds), table[:, [0, 2]])
        return RawGraphs(batch, np.concatenate(x), table[:, 1].astype(np.int32), np.stack(y))
