"""P3R: recognise the 9 connected cubic planar graphs on 10 nodes, each in 50 random numberings. Generated here, not downloaded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

from ..errors import require
from ..graphs.batch import GraphBatch
from ..tasks.splits import contiguous_folds
from ..tasks.task import Task
from .base import Dataset
from .cubic import connected_cubic_planar_graphs
from .raw import RawGraphs

_CLASSES, _COPIES, _NODES = 9, 50, 10


class P3R(Dataset):
    """450 graphs: 50 rounds, in each of which every class occurs once, in random order and with random numbers for its nodes.

    So every fold has all classes equally often. The class is the rank of the graph's canonical code among the nine. The order of graphs,
    and with it the folds, follows from a fixed seed; the published file has the same make-up in another order.

    >>> P3R.published["graphs"]
    450
    """

    name = "p3r"
    title = "P3R: 9 cubic planar graphs on 10 nodes, 50 numberings each"
    published: ClassVar[Mapping[str, int]] = {"graphs": 450, "nodes": 4500, "edges": 6750}

    def read(self, paths: Mapping[str, Path]) -> RawGraphs:
        classes = connected_cubic_planar_graphs(_NODES)
        require(len(classes) == _CLASSES, f"p3r: generated {len(classes)} cubic planar graphs on {_NODES} nodes, not {_CLASSES}")
        rng = np.random.default_rng(0)
        y = np.concatenate([rng.permutation(_CLASSES) for _ in range(_COPIES)])
        graphs = [classes[i].relabel(rng.permutation(_NODES)) for i in y.tolist()]
        return RawGraphs(GraphBatch.from_graphs(graphs), y=y.astype(np.int64))

    def task(self) -> Task:
        """Nine classes, ten folds, accuracy; chance is 11.1 %."""
        ds = self.load()
        return Task(
            self.name, ds, folds=contiguous_folds(len(ds)), kind="multiclass", loss="ce", metric="accuracy", outputs=_CLASSES
        )
