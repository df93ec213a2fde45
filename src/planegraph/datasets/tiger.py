"""TIGER-Alaska: road-and-parcel graphs of 1,000 to 25,000 nodes, for the runtime table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

from ..errors import require
from ..tasks.task import Task
from .base import Dataset
from .files import RawFile
from .raw import RawGraphs, join, read_npz

SIZES = {"1k": 1_000, "2k": 2_000, "3k": 3_000, "4k": 4_000, "5k": 5_000, "10k": 10_000, "25k": 25_000}
"""The graphs by name, in the order of the dataset, and their numbers of nodes."""


class TigerAlaska(Dataset):
    """Seven graphs without features, in the order of :data:`SIZES`; ``y`` is 0 for all, as only running times matter.

    >>> list(SIZES).index("25k")
    6
    """

    name = "tiger"
    title = "TIGER-Alaska: road-and-parcel graphs of 1k to 25k nodes"
    files = tuple(
        RawFile(
            f"plane/Large_Tiger_Alaska_{size}.npz",
            f"the {size} graph of the authors of PlanE (github.com/ZZYSonny/PlanE, .dataset_src/Large_Tiger_Alaska_{size}.pkl), whose "
            f"pickled PyG graph is first to be written as .npz: node_ptr [0, {nodes}], edge_ptr [0, E], edge_index (2, E; both "
            "directions).",
        )
        for size, nodes in SIZES.items()
    )
    published: ClassVar[Mapping[str, int]] = {"graphs": 7, "nodes": 50_000, "edges": 107_027}

    def read(self, paths: Mapping[str, Path]) -> RawGraphs:
        batches = [read_npz(paths[f"plane/Large_Tiger_Alaska_{size}.npz"])[0] for size in SIZES]
        for (size, nodes), batch in zip(SIZES.items(), batches, strict=True):
            require(
                len(batch) == 1 and batch.num_nodes == nodes, f"tiger: {size} must be one graph of {nodes} nodes; found {batch!r}"
            )
        return RawGraphs(join(batches), y=np.zeros((len(SIZES), 1), np.float32))

    def task(self) -> Task:
        """Every graph in every part, to time an epoch."""
        ds = self.load()
        every = np.arange(len(ds))
        return Task(self.name, ds, {"train": every, "val": every, "test": every}, loss="mse", notes="runtime only; y is 0")
