"""Small stand-ins for datasets and their raw files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from planegraph.datasets.base import Dataset
from planegraph.datasets.files import RawFile
from planegraph.datasets.raw import RawGraphs
from planegraph.graphs.batch import GraphBatch
from planegraph.tasks.task import Task


class Rings(Dataset):
    """Cycles, whose lengths stand in a text file; edges alternate between two types."""

    name = "rings"
    title = "Rings"
    files = (RawFile("rings/lengths.txt", "lengths of cycles, one a line."),)
    has_edge_features = True
    reads = 0

    def read(self, paths: Mapping[str, Path]) -> RawGraphs:
        type(self).reads += 1
        n = np.array([int(line) for line in paths["rings/lengths.txt"].read_text().split()])
        ptr = np.concatenate([[0], np.cumsum(n)])
        edges = np.concatenate([np.stack([np.arange(k), (np.arange(k) + 1) % k], axis=1) for k in n])
        kinds = np.concatenate([np.arange(k) % 2 for k in n])
        return RawGraphs(
            GraphBatch(ptr, ptr, edges), edge_attr=kinds, y=n[:, None].astype(np.float32), attrs={"id": np.arange(len(n))}
        )

    def task(self) -> Task:
        return Task(self.name, self.load())


def spoil(path: Path, array: str = "walk_kappa", value: int = 1) -> None:
    """Overwrites an array of a packed file by this value, within the range of what is checked without checksums if it is 1."""
    data = bytearray(path.read_bytes())
    start = 8 + int.from_bytes(data[:8], "little")
    entry = json.loads(data[8:start])[array]
    begin, end = (start + offset for offset in entry["data_offsets"])
    data[begin:end] = np.full((end - begin) // 4, value, "<i4").tobytes()
    path.write_bytes(data)


def write_lengths(root: Path, *lengths: int) -> None:
    (root / "rings").mkdir(parents=True, exist_ok=True)
    (root / "rings" / "lengths.txt").write_text("\n".join(map(str, lengths)))
