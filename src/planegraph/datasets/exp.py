"""EXP and CEXP: pairs of graphs, one satisfiable and one not, that colour refinement (1-WL) cannot distinguish.

The EXP of the PlanE paper (its authors' repository) is another file than the EXP of GNN-RNI, where CEXP comes from.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..data.sizes import Categorical
from ..decomposition.api import planar_mask
from ..errors import FormatError
from ..graphs.batch import GraphBatch
from ..tasks.splits import contiguous_folds
from ..tasks.task import Task
from .base import Dataset
from .files import UNREADABLE, RawFile
from .raw import RawGraphs, as_target, from_columns, read_npz, reading


class _Pairs(Dataset):
    def task(self) -> Task:
        """Satisfiable or not, ten folds, accuracy; chance is 50 %."""
        ds = self.load()
        return Task(
            self.name,
            ds,
            folds=contiguous_folds(len(ds)),
            node_features=Categorical((2,)),
            kind="binary",
            loss="bce",
            metric="accuracy",
        )


class Exp(_Pairs):
    """EXP as the PlanE paper used it: 600 pairs of planar graphs, none connected, with two types of nodes.

    Graphs 2i and 2i + 1 are a pair; ``y`` is (1200, 1), 1.0 for satisfiable.

    >>> Exp.published["graphs"]
    1200
    """

    name = "exp"
    title = "EXP: 600 planar pairs that 1-WL cannot distinguish"
    files = (
        RawFile(
            "plane/EXP.npz",
            "EXP of the authors of PlanE (github.com/ZZYSonny/PlanE, .dataset_src/EXP.pkl), whose pickled PyG graphs are first to be "
            "written as .npz: node_ptr, edge_ptr (1201 offsets), edge_index (2, 132044; both directions, ids local to the graph), "
            "x (53210, 1), y (1200).",
        ),
    )
    published: ClassVar[Mapping[str, int]] = {"graphs": 1200, "nodes": 53_210, "edges": 66_022}

    def read(self, paths: Mapping[str, Path]) -> RawGraphs:
        path = paths["plane/EXP.npz"]
        batch, d = read_npz(path, ("x", "y"))
        with reading(path):
            return RawGraphs(batch, x=d["x"], y=as_target(d["y"], binary=True), attrs={"pair": np.arange(len(batch)) // 2})


class Cexp(_Pairs):
    """The planar pairs of CEXP: of its 600 pairs, those whose graphs are both planar (1067 of its 1200 graphs are).

    Graphs 2i and 2i + 1 are a pair; ``attrs["pair"]`` numbers it among the 600 of the file. ``y`` is 1.0 for satisfiable.

    >>> Cexp.name
    'cexp'
    """

    name = "cexp"
    title = "CEXP: its planar pairs"
    files = (
        RawFile(
            "exp/CEXP_GRAPHSAT.txt.gz",
            "CEXP of GNN-RNI (github.com/ralphabb/GNN-RNI, folder Data, the .txt file of CEXP), gzipped: the number of graphs; for each "
            "graph its number of nodes and its class; for each node its type, its degree and its neighbours.",
            sha256="711521591cb429f774cb6864d3fc80ff20e65a1ec14c1874aad9918a3eec332a",
        ),
    )
    published: ClassVar[Mapping[str, int]] = {"graphs": 934}

    def read(self, paths: Mapping[str, Path]) -> RawGraphs:
        path = paths["exp/CEXP_GRAPHSAT.txt.gz"]
        batch, x, y = read_graphsat(path)
        planar = planar_mask(batch)
        if (len(batch), int(planar.sum())) != (1200, 1067):
            raise FormatError(f"cexp: {len(batch)} graphs, {planar.sum()} of them planar; published: 1200 and 1067")
        keep = np.repeat(planar.reshape(-1, 2).all(axis=1), 2)
        nodes = np.repeat(keep, np.diff(batch.node_ptr))
        pair = np.arange(len(batch)) // 2
        with reading(path):
            return RawGraphs(batch[keep], x=x[nodes], y=as_target(y[keep], binary=True), attrs={"pair": pair[keep]})

    def extra_summary(self, raw: RawGraphs) -> dict[str, int]:
        return {"published_graphs": 1200, "published_planar": 1067}


def read_graphsat(path: Path) -> tuple[GraphBatch, np.ndarray, np.ndarray]:
    """Graphs, node types and classes of a file in the text format of GNN-RNI."""
    try:
        with gzip.open(path, "rt") as file:
            rows = [[int(word) for word in line.split()] for line in file if line.strip()]
        return _graphsat(rows)
    except (*UNREADABLE, IndexError) as error:
        raise FormatError(f"{path} is not in the format of GNN-RNI's GRAPHSAT files: {error}") from None


def _graphsat(rows: list[list[int]]) -> tuple[GraphBatch, np.ndarray, np.ndarray]:
    count, at = rows[0][0], 1
    sizes: list[int] = []
    darts: list[Any] = []
    columns, classes, types = [], [], []
    for _ in range(count):
        (n, label), nodes = rows[at], rows[at + 1 : at + 1 + rows[at][0]]
        at += 1 + n
        before = len(darts)
        for v, (kind, degree, *neighbours) in enumerate(nodes):
            if len(neighbours) != degree:
                raise ValueError(f"node {v} of graph {len(sizes)} has {len(neighbours)} neighbours, not {degree}")
            types.append(kind)
            darts += [(v, w) for w in neighbours]
        if len(nodes) != n:
            raise ValueError("the file ends too early")
        sizes.append(n)
        columns.append(len(darts) - before)
        classes.append(label)
    batch, _ = from_columns(np.cumsum([0, *sizes]), np.cumsum([0, *columns]), np.array(darts, np.int64).reshape(-1, 2).T)
    return batch, np.array(types, np.int64), np.array(classes, np.int64)
