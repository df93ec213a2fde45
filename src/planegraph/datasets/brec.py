"""BREC's 31 planar pairs: graphs that are hard to distinguish, from four parts of the benchmark."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

from ..errors import FormatError
from ..graphs.formats.graph_lines import read_lines
from ..tasks.task import Task
from .base import Dataset
from .files import UNREADABLE, RawFile
from .raw import RawGraphs, join

PLANAR_PAIRS: dict[str, tuple[int, ...]] = {
    "basic": (26, 56, 57, 59),
    "regular": (22, 24, 37, 48),
    "cfi": (5, 18, 37),
    "extension": (9, 23, 26, 31, 33, 38, 46, 54, 60, 67, 74, 79, 81, 86, 87, 90, 91, 92, 93, 94),
}
"""Positions of the pairs whose graphs are both planar, in each part's file."""


class Brec(Dataset):
    """62 graphs without features: 2i and 2i + 1 are pair i. ``attrs``: ``part`` (index into :data:`PLANAR_PAIRS`) and ``pair`` (position
    in that part). A model passes if the outputs of the two graphs of a pair differ; ``y`` is only the side, 0 or 1.

    >>> sum(map(len, PLANAR_PAIRS.values()))
    31
    """

    name = "brec"
    title = "BREC: its 31 planar pairs"
    files = tuple(
        RawFile(
            f"brec/{part}.g6.gz",
            f"part {part!r} of BREC (github.com/GraphPKU/BREC) as gzipped graph6, one graph a line, the two graphs of pair i on the lines "
            "2i and 2i + 1 (from 0).",
        )
        for part in PLANAR_PAIRS
    )
    published: ClassVar[Mapping[str, int]] = {"graphs": 62}

    def read(self, paths: Mapping[str, Path]) -> RawGraphs:
        batches, pairs, parts = [], [], []
        for number, (part, positions) in enumerate(PLANAR_PAIRS.items()):
            lines = _lines(paths[f"brec/{part}.g6.gz"])
            chosen = [2 * i + side for i in positions for side in (0, 1)]
            if len(lines) <= max(chosen):
                raise FormatError(f"brec: part {part} has {len(lines)} graphs; pair {positions[-1]} is needed")
            batch, _, errors = read_lines([lines[i] for i in chosen])
            if errors:
                where, error = next(iter(errors.items()))
                raise FormatError(f"brec: part {part}, line {chosen[where] + 1}: {error}")
            batches.append(batch)
            pairs += [i // 2 for i in chosen]
            parts += [number] * len(chosen)
        side = np.arange(len(pairs)) % 2
        return RawGraphs(join(batches), y=side.astype(np.int64), attrs={"part": np.array(parts), "pair": np.array(pairs)})

    def task(self) -> Task:
        """Two sides of 31 pairs, without a split: to be distinguished, not for training."""
        return Task(
            self.name,
            self.load(),
            kind="multiclass",
            loss="ce",
            metric="accuracy",
            outputs=2,
            notes="pairs (2i, 2i + 1) are to be distinguished; y is the side of the pair and not a target",
        )


def _lines(path: Path) -> list[str]:
    try:
        with gzip.open(path, "rt", encoding="ascii") as file:
            return [line for line in file if line.strip()]
    except UNREADABLE as error:
        raise FormatError(f"{path} is not a gzipped graph6 file: {error}") from None
