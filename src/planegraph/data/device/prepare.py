"""A dataset prepared for collation on a device: all sections' local rows one after another, and the count of each graph in each column.

Once per dataset and on the host; runs.py explains spaces, segments and columns. Memory: that of the sections of all graphs, and of a number
for every graph and column.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..batch import Collator
from ..layout import SECTIONS
from ..runs import SPACES, TARGETS
from .localize import Arrays, Local, localize

_MOST_COLUMNS = 4096  # trees of very many depths are for the host


@dataclass
class Prepared:
    """What a device needs.

    Attributes:
        counts: (graphs, columns), the rows of each graph in each column; firsts: those in the columns of the same space before it.
        ptr: (spaces, graphs + 1), where the rows of each graph begin.
        data: int32, the local rows of all sections, then the segments of the rows of the spaces that ids point into.
        source: where a section begins in ``data``; -1 if all its entries are 0. segment: the same for segments.
        first, number: of the columns of each space. codes: of the segments of each table, in the order of the columns.
    """

    counts: np.ndarray
    firsts: np.ndarray
    ptr: np.ndarray
    data: np.ndarray
    source: dict[str, int]
    segment: dict[str, int]
    first: dict[str, int]
    number: dict[str, int]
    codes: Arrays

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self.counts.nbytes + self.firsts.nbytes + self.ptr.nbytes + self.data.nbytes


class TooManyColumnsError(ValueError):
    """The trees of a dataset have too many depths for a table of counts."""


def prepare(collator: Collator) -> Prepared:
    """Linear in the dataset, times the depth of its trees for the counts."""
    tables, graphs = collator.ds.tables, collator.num_graphs
    edges = np.diff(tables["edge_ptr"])
    parts = list(localize(collator.tables, graphs, edges, collator.rows_per_edge))
    codes = {
        table: np.unique(np.concatenate([np.empty(0, np.int64), *(p.codes[table] for p in parts)]))[::-1] for table in _codes()
    }
    number = {space: len(codes[table]) if table else 1 for space, table in SPACES.items()}
    ends = np.cumsum(list(number.values()))
    first = {space: int(end) - number[space] for space, end in zip(SPACES, ends, strict=True)}
    if ends[-1] > _MOST_COLUMNS:
        raise TooManyColumnsError(
            f"the trees have {ends[-1]} kinds of rows by depth; at most {_MOST_COLUMNS} can be kept on a device"
        )
    segments, counts = _segments(parts, codes, first, int(ends[-1]))
    ptr, firsts = np.zeros((len(SPACES), graphs + 1), np.int64), np.zeros_like(counts)
    for k, space in enumerate(SPACES):
        mine = slice(first[space], first[space] + number[space])
        np.cumsum(counts[:, mine], axis=1, out=firsts[:, mine])
        np.cumsum(counts[:, mine].sum(1, dtype=np.int64), out=ptr[k, 1:])
    firsts -= counts
    data, offsets = _joined(parts, segments)
    source = {name: offsets.get(name, -1) for name in SECTIONS}
    segment = {space: offsets.get(f"segment of {space}", -1) for space in TARGETS}
    return Prepared(counts, firsts, ptr, data, source, segment, first, number, codes)


def _codes() -> list[str]:
    return sorted({table for table in SPACES.values() if table})


def _segments(parts: list[Local], codes: Arrays, first: dict[str, int], columns: int) -> tuple[list[Arrays], np.ndarray]:
    """The segment of each row of the spaces that have any, and the counts of all graphs in all columns."""
    segments, counts = [], []
    for part in parts:
        graphs = len(part.counts["graph"])
        found: Arrays = {}
        count = np.zeros((graphs, columns), np.int32)
        for table in _codes():
            found[table] = len(codes[table]) - 1 - np.searchsorted(codes[table][::-1], part.codes[table])
        found["walk"] = found["spqr"][_row_of_items(part, "walk_ptr", "walk")]
        found["spqr_node"] = found["spqr"][_row_of_items(part, "spqr_node_ptr", "spqr_node")]
        found["block_node"] = found["block"][_row_of_items(part, "block_node_ptr", "block_node")]
        for space, table in SPACES.items():
            rows = part.counts[space]
            if table is None:
                count[:, first[space]] = rows
            elif len(codes[table]):
                width = len(codes[table])
                flat = np.repeat(np.arange(graphs), rows) * width + found[space]
                count[:, first[space] : first[space] + width] = np.bincount(flat, minlength=graphs * width).reshape(graphs, width)
        segments.append({space: found[space].astype(np.int32) for space in TARGETS})
        counts.append(count)
    small = max((int(c.max(initial=0)) for p in parts for c in p.counts.values()), default=0) < 2**15
    return segments, np.concatenate(
        [np.zeros((0, columns), np.int32), *counts], dtype=np.int16 if small else np.int32, casting="unsafe"
    )


def _row_of_items(part: Local, ptr: str, items: str) -> np.ndarray:
    """For each item, graph after graph, the row that it belongs to, counted in the chunk."""
    keys = part.counts[SECTIONS[ptr].space]
    begin = part.values[ptr] + np.repeat(np.cumsum(part.counts[items]) - part.counts[items], keys)
    return np.repeat(np.arange(len(begin)), np.diff(begin, append=part.counts[items].sum()))


def _joined(parts: list[Local], segments: list[Arrays]) -> tuple[np.ndarray, dict[str, int]]:
    """All sections and segments that are not zero everywhere, one after another, and where each begins."""
    pieces, offsets, at = [], {}, 0
    named = {name: [p.values[name] for p in parts if name in p.values] for name in SECTIONS}
    named |= {f"segment of {space}": [s[space] for s in segments] for space in TARGETS}
    for name, arrays in named.items():
        if any(a.any() for a in arrays):
            offsets[name] = at
            pieces += arrays
            at += sum(map(len, arrays))
    return np.concatenate([*pieces, np.zeros(1, np.int32)]), offsets
