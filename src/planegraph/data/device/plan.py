"""What collation on a device has to know of a capacity: where each slice begins, and a descriptor of every section. Made once for each."""

from __future__ import annotations

import numpy as np
import torch

from ..layout import SECTIONS, Kind, Layout, Slices
from ..runs import SPACES, UNITS, Field, depth_of, level_of
from .prepare import Prepared

BLOCK = 512  # entries of one program of the kernel

_NUMBER = {space: k for k, space in enumerate(SPACES)}


class Descriptors:
    """Lines of integers (runs.Field), one per section of an output of ``length`` entries.

    ``on_device`` is the same for a kernel, and ``programs`` (2, P) the section and the first entry of each of its programs.
    """

    def __init__(self, lines: list[list[int]], length: int, device: torch.device) -> None:
        self.lines = np.array(lines, np.int64).reshape(-1, len(Field))
        self.length = length
        starts = [(k, start) for k, line in enumerate(lines) for start in range(0, line[Field.LENGTH], BLOCK)]
        self.programs = torch.tensor(starts, dtype=torch.int32).view(-1, 2).T.contiguous().to(device)
        self.on_device = torch.from_numpy(self.lines).to(device)
        self.most_columns = int(self.lines[:, Field.COLUMNS].max(initial=0))


class Plan:
    """For a capacity.

    Attributes:
        layout: of the batches.
        start, group: as fill.find_runs wants them.
        index: the descriptors of the sections after ``counts``; units: (2, 10) columns between which the rows of each unit are counted.
        rows: the descriptors of the rows of the dataset that features are taken from; bounds: (start, stop) of those of each space.
    """

    def __init__(self, prepared: Prepared, layout: Layout, feature_spaces: tuple[str, ...], device: torch.device) -> None:
        self.layout = layout
        start, group = _starts(prepared, layout)
        self.start, self.group = torch.from_numpy(start).to(device), torch.tensor(group, dtype=torch.int64).to(device)
        units = [[prepared.first[u], prepared.first[u] + prepared.number[u]] for u in UNITS]
        self.units = torch.tensor(units, dtype=torch.int64).T.contiguous().to(device)
        self.index = Descriptors(
            [
                _line(prepared, name, s.space, s.kind, s.target, s.pad, s.plus, *layout.offsets[name])
                for name, s in SECTIONS.items()
            ],
            layout.length,
            device,
        )
        self.bounds: dict[str, tuple[int, int]] = {}
        lines, at = [], 0
        for name in feature_spaces:
            length = {"graph": layout.num_graphs, "node": layout.num_nodes, "row": layout.num_rows}[name]
            pad = int(prepared.ptr[_NUMBER[name], -1])
            lines.append(_line(prepared, "", name, Kind.SOURCE, None, pad, 0, at, at + length))
            self.bounds[name] = at, at + length
            at += length
        self.rows = Descriptors(lines, at, device)


def _line(
    prepared: Prepared, name: str, space: str, kind: Kind, target: str | None, pad: int, plus: int, start: int, stop: int
) -> list[int]:
    target = target or "graph"
    line = {
        Field.OFFSET: start,
        Field.LENGTH: stop - start,
        Field.FIRST: prepared.first[space],
        Field.COLUMNS: prepared.number[space],
        Field.SPACE: _NUMBER[space],
        Field.SOURCE: prepared.source.get(name, -1),
        Field.KIND: kind,
        Field.TARGET: prepared.first[target],
        Field.TARGET_SPACE: _NUMBER[target],
        Field.SEGMENT: prepared.segment.get(target, -1),
        Field.PAD: pad,
        Field.PLUS: plus,
    }
    return [int(line[field]) for field in Field]


def _starts(prepared: Prepared, layout: Layout) -> tuple[np.ndarray, list[int]]:
    """Of each column: where its slice begins in its table, and the first column of that slice.

    Only blocks, cut nodes and SPQR nodes have slices, with room to spare in each; the roots of SPQR trees have those of the blocks.
    """
    start, group = [], []
    roots = layout.spqr_slices[-1][0]
    for space, table in SPACES.items():
        first, number = prepared.first[space], prepared.number[space]
        if space not in ("block", "cut", "spqr"):
            start += [0] * number
            group += [first] * number
            continue
        codes = prepared.codes[table]
        keys = list(zip(depth_of(codes).tolist(), level_of(codes).tolist(), strict=True))
        if space == "spqr":
            keys = [(depth, level if depth == 0 else 0) for depth, level in keys]
            start += [_begin(layout.spqr_slices, d) if d else roots + _begin(layout.block_slices, level) for d, level in keys]
        else:
            slices = layout.block_slices if space == "block" else layout.cut_slices
            start += [_begin(slices, level) for _, level in keys]
        group += [first + keys.index(key) for key in keys]
    return np.array(start, np.int32), group


def _begin(slices: Slices, depth: int) -> int:
    """Where the slice of a depth begins; a depth that the capacity has no slice for has no rows either."""
    return slices[-1 - depth][0] if depth < len(slices) else 0
