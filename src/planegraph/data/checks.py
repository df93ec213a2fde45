"""What must hold of the tables of a packed dataset before batches are made of them: shapes, offsets, and positions within bounds.

Ids are checked in every batch, by the core.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..decomposition.tables import COLUMNS
from ..errors import FormatError
from ..graphs.batch import locate
from .tables import TABLES


def check_offsets(arrays: Mapping[str, np.ndarray]) -> None:
    """Types, shapes and offsets: what must hold before any row may be looked at. O(graphs)."""
    graphs = len(arrays["node_ptr"]) - 1
    for table, columns in TABLES.items():
        name = f"{table}_ptr"
        ptr = arrays[name]
        if ptr.dtype != np.int64 or ptr.ndim != 1:
            _require(False, f"{name} must be int64 offsets; found {ptr.dtype}, shape {ptr.shape}")
        _require(len(ptr) == graphs + 1 > 0, f"{name} has {len(ptr)} offsets; node_ptr tells of {graphs} graphs")
        _require(ptr[0] == 0 and not (ptr[1:] < ptr[:-1]).any(), f"{name} must start at 0 and never fall")
        for column in map(COLUMNS.__getitem__, columns):
            values = arrays[column.name]
            shape = (int(ptr[-1]),) if column.width == 1 else (int(ptr[-1]), column.width)
            if values.dtype != column.dtype:
                _require(False, f"{column.name} must be {column.dtype}; found {values.dtype}")
            if values.shape != shape:
                _require(False, f"{column.name} must have shape {shape}, as {name} says; found {values.shape}")


def check_positions(t: Mapping[str, np.ndarray]) -> None:
    """No position is beyond the longest walk that a graph has room for, no depth beyond the largest tree; O(rows).

    Batches have a row of a table for each position and a slice for each depth: without bounds, damage asks for more memory than there is.
    """
    rows = np.empty(len(t["node_ptr"]) - 1, np.int64)  # one array for all, as fresh pages take longer than the sums

    def longest(*tables: str) -> int:
        """Rows of one graph in these tables together."""
        rows.fill(0)
        for ptr in (t[f"{table}_ptr"] for table in tables):
            np.add(rows, ptr[1:], out=rows)
            np.subtract(rows, ptr[:-1], out=rows)
        return int(rows.max(initial=0))

    walk, spqr, trees = longest("walk"), longest("spqr"), longest("block", "cut")
    for name, most, what in (
        ("walk_kappa", walk, "walk entries"),
        ("walk_pos", walk, "walk entries"),
        ("spqr_theta", walk, "walk entries"),
        ("spqr_depth", spqr, "SPQR nodes"),
        ("block_depth", trees, "blocks and cut nodes"),
        ("cut_depth", trees, "blocks and cut nodes"),
    ):
        values = t[name]
        if values.view(np.uint32).max(initial=0) > most:  # what is below 0 is large there
            _all(t, name, (values >= 0) & (values <= most), f"must be 0 to {most}, as there are no more {what} in any graph")


def _all(t: Mapping[str, np.ndarray], name: str, good: np.ndarray, what: str) -> None:
    if not good.all():
        row = int(np.argmin(good))
        g, at = locate(t[f"{COLUMNS[name].table}_ptr"], row)
        _require(False, f"graph {g}: {name}[{at}] = {_shown(t[name][row])} {what}")


def _shown(value: Any) -> str:
    return str(np.asarray(value).tolist())


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise FormatError(f"damaged tables: {message}")
