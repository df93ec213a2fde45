"""QM9_CC: predict the clustering coefficient of molecules of QM9 without any features, from structure alone."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..errors import FormatError
from ..tasks import PARTS
from ..tasks.splits import by_number
from ..tasks.task import Task
from .base import Dataset
from .files import UNREADABLE, RawFile
from .raw import RawGraphs, from_columns, join, reading

SHIFT, SCALE = 0.06, 0.1
"""The target is (coefficient - SHIFT) / SCALE."""

_SOURCE = "https://raw.githubusercontent.com/ZZYSonny/PlanE/aedf1076a47465d401343e6a145fd3f897fb36bf/.dataset_src"
_SUMS = {
    "train": "584846098f7170b072383a460563d899c0bc55c3aed44eaaeb3676b1e28dd132",
    "val": "a5fb78b1572116409f06b2dd3d993be16bbaf962431e20e9d52c1f7a673ffd75",
    "test": "04430f326faa17bda0dd09d70a64f1f10710fea28ab28c33d5583e4146144cff",
}


class QM9CC(Dataset):
    """44226 / 3951 / 3921 graphs (the paper says 3941 for validation). ``attrs["coefficient"]`` is the coefficient of the file, ``y`` the
    target: (coefficient - 0.06) / 0.1, on which the best constant has a mean absolute error of 0.1627, as in the paper.

    >>> QM9CC.published["val"]
    3951
    """

    name = "qm9_cc"
    title = "QM9_CC: clustering coefficient of QM9 molecules, no features"
    files = tuple(
        RawFile(
            f"plane/CC_{part}.json.gz",
            "gzipped JSON of the authors of PlanE: a list of graphs, each with x, edge_index (both directions) and y.",
            f"{_SOURCE}/CC_{part}.json.gz",
            digest,
        )
        for part, digest in _SUMS.items()
    )
    published: ClassVar[Mapping[str, int]] = {"graphs": 52_098, "train": 44_226, "val": 3_951, "test": 3_921}

    def read(self, paths: Mapping[str, Path]) -> RawGraphs:
        parts = [_read(paths[f"plane/CC_{part}.json.gz"]) for part in PARTS]
        coefficient = np.concatenate([part.y for part in parts])
        split = np.repeat(np.arange(len(parts), dtype=np.int8), [len(part) for part in parts])
        y = ((coefficient - SHIFT) / SCALE).astype(np.float32)
        return RawGraphs(join([part.batch for part in parts]), y=y[:, None], attrs={"split": split, "coefficient": coefficient})

    def task(self) -> Task:
        """Root mean squared error of a sigmoid is trained on, mean absolute error reported."""
        ds = self.load()
        return Task(
            self.name,
            ds,
            by_number(ds.attrs["split"]),
            loss="rmse",
            metric="mae",
            output="sigmoid",
            notes="target (coefficient - 0.06) / 0.1; 3951 validation graphs",
        )


def _read(path: Path) -> RawGraphs:
    try:
        with gzip.open(path, "rt") as file:
            graphs: list[dict[str, Any]] = json.load(file)
        index = [np.array(g["edge_index"], np.int64).reshape(2, -1) for g in graphs]
        nodes = np.cumsum([0, *(len(g["x"]) for g in graphs)])
        y = np.array([g["y"][0] for g in graphs], np.float64)
    except (*UNREADABLE, LookupError, TypeError) as error:
        raise FormatError(f"{path} is not a list of graphs in gzipped JSON: {error!r}") from None
    with reading(path):
        batch, _ = from_columns(nodes, np.cumsum([0, *(i.shape[1] for i in index)]), np.concatenate(index, axis=1))
        return RawGraphs(batch, y=y)
