"""The tables that are checked: that their shapes and ids make sense at all, and what all checks look up in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...errors import PlanegraphError
from ..tables import COLUMNS, TABLES, TYPES

S, P, Q, R = range(4)


class DecompositionError(PlanegraphError, AssertionError):
    """A decomposition breaks one of its promises; the message says which, and where."""


class Tables:
    """The columns as arrays, one attribute each."""

    def __init__(self, num_nodes: int, edges: Any, arrays: Mapping[str, Any]) -> None:
        self.num_nodes = int(num_nodes)
        self.edges = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
        for columns in TABLES.values():
            for name in columns:
                setattr(self, name, np.asarray(arrays[name]).astype(np.int64, copy=False))

    def __getattr__(self, name: str) -> np.ndarray:  # for type checkers: the columns set above
        raise AttributeError(name)

    @property
    def num_spqr(self) -> int:
        return len(self.spqr_type)

    @property
    def num_blocks(self) -> int:
        return len(self.block_root)

    def title(self, c: int) -> str:
        return f"SPQR node {c} ({TYPES[self.spqr_type[c]]})"


def require(condition: object, message: str) -> None:
    if not condition:
        raise DecompositionError(message)


def refuse(wrong: np.ndarray, message: Callable[[int], str]) -> None:
    """Raises if a mask is set anywhere; the message is for the first such row."""
    if wrong.any():
        raise DecompositionError(message(int(np.argmax(wrong))))


def distinct(rows: np.ndarray, columns: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """The different pairs, ascending: all numbers in ``columns`` are below ``width``."""
    codes = np.sort(rows * width + columns)
    return np.divmod(codes[np.concatenate([[True], codes[1:] != codes[:-1]])] if len(codes) else codes, max(width, 1))


def check_shapes(t: Tables) -> None:
    for table, columns in TABLES.items():
        lengths = {name: len(getattr(t, name)) for name in columns}
        require(len(set(lengths.values())) <= 1, f"columns of table {table} differ in length: {lengths}")
    n, walks = t.num_nodes, len(t.walk_node)
    rows = {"node": n, "edge": len(t.edges), "spqr": t.num_spqr, "block": t.num_blocks, "cut": len(t.cut_node)}
    require(len(t.node_component) == n, f"node_component has {len(t.node_component)} rows for {n} nodes")
    heights = rows["block"] + rows["cut"]
    below = {
        "walk_kappa": n + 1,
        "walk_pos": walks + 1,
        "spqr_type": len(TYPES),
        "spqr_set": 2,
        "spqr_theta": walks + 1,
        "spqr_level": rows["spqr"],
        "block_level": heights,
        "cut_level": heights,
        "node_component": n,
    }
    for name in (name for columns in TABLES.values() for name in columns if name != "labelling"):
        column = COLUMNS[name]
        low, high = (-1 if column.none else 0), rows[column.ids_of] if column.ids_of else below[name]
        _check_range(name, getattr(t, name), low, high)
    require((t.walk_spqr[1:] >= t.walk_spqr[:-1]).all(), "walk_spqr does not ascend")
    require(np.bincount(t.walk_spqr, minlength=rows["spqr"]).all(), "some SPQR node has no walk")
    refuse(
        (t.walk_edge >= 0) == (t.walk_other >= 0),
        lambda i: f"walk entry {i} must be real or virtual: edge {t.walk_edge[i]}, other {t.walk_other[i]}",
    )


def _check_range(name: str, values: np.ndarray, low: int, high: int) -> None:
    refuse((values < low) | (values >= high), lambda row: f"{name}[{row}] = {values[row]} is outside {low}..{high - 1}")
