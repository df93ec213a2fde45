"""How a batch is made of runs: the rows of one graph that stand together, in every order that a batch has.

A *space* is something that rows of a batch are counted in: nodes, darts, walk entries sorted by SPQR node, walk entries sorted by node, and
so on. The rows of a space come graph after graph, or, in the spaces of trees, segment after segment and in each segment graph after graph.
The segments of block-cut trees are (depth, whether the tree has a root block or a root cut node); those of SPQR trees are (depth, segment
of the block). Collation sorts the rows of a slice by their parents (cpp/planegraph/collate/collate.hpp), and this is what comes of it: rows
without a parent come first, so the trees that they are roots of stay apart all the way down; and roots of SPQR trees follow the blocks.

So a batch is known from how many rows each of its graphs has in each *column*, a segment of a space, and from each graph's rows with ids
counted within the graph. A section of the buffer (layout.SECTIONS) lies in one of them.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from .layout import COUNTS, SECTIONS, UNIT_OF

SPACES = {
    "graph": None,
    "node": None,
    "dart": None,
    "row": None,
    "node_walk": None,
    "row_walk": None,
    "node_spqr": None,
    "node_block": None,
    "walk": "spqr",
    "spqr": "spqr",
    "spqr_node": "spqr",
    "block": "block",
    "block_node": "block",
    "cut": "cut",
}
"""Each space and the table whose segments it has; None: graph after graph."""

UNITS = tuple(UNIT_OF)[: len(COUNTS)]
"""The spaces that the section ``counts`` counts."""


ROW_SECTIONS = tuple(name for name, s in SECTIONS.items() if s.rows_only)
"""Those that are empty without edge features."""

TARGETS = ("walk", "spqr", "block", "cut")
"""The spaces with segments that ids point into: of their rows, the segment is kept."""


# ---- codes of segments ------------------------------------------------------------------------------------------------------

_STEP = 1 << 32


def code(depth: np.ndarray | int, level: np.ndarray | int, under_block: np.ndarray) -> np.ndarray:
    """One int64 for a segment; a batch has the largest code first.

    Args:
        depth: in the SPQR tree; 0 for segments of blocks and cut nodes.
        level: of the block or cut node, 0 for the first of its kind from the root.
        under_block: whether the root of its block-cut tree is a block.
    """
    return np.asarray(depth, np.int64) * _STEP + 2 * np.asarray(level, np.int64) + 1 - np.asarray(under_block, np.int64)


def depth_of(codes: np.ndarray) -> np.ndarray:
    """The depth of each code."""
    return codes // _STEP


def level_of(codes: np.ndarray) -> np.ndarray:
    """The level of each code."""
    return codes % _STEP // 2


# ---- descriptors: what a fill reads, a line of integers per section ----------------------------------------------------------


class Field(IntEnum):
    """The entries of a descriptor."""

    OFFSET = 0  # where the section begins in the output
    LENGTH = 1
    FIRST = 2  # the first column of its space
    COLUMNS = 3  # and how many there are
    SPACE = 4  # the number of the space, for the offsets of the graphs' rows
    SOURCE = 5  # where the section begins in the data; -1: all its entries are 0
    KIND = 6
    TARGET = 7  # the first column of the target space
    TARGET_SPACE = 8
    SEGMENT = 9  # where the segments of the target's rows begin in the data; -1: it has one column
    PAD = 10
    PLUS = 11
