"""The tables that are checked, as plain Python lists, and that their shapes and ids make sense at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import PlanegraphError
from ..tables import COLUMNS, TABLES

S, P, Q, R = range(4)
TYPE_NAMES = "SPQR"


class DecompositionError(PlanegraphError, AssertionError):
    """A decomposition breaks one of its promises; the message says which, and where."""


@dataclass
class Skeleton:
    """One skeleton as its walk shows it. An edge is ``("real", e)`` or ``("virtual", other SPQR node)``."""

    ends: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    first: dict[tuple[str, int], int] = field(default_factory=dict)  # index of the entry that meets the edge first
    begin: int = 0  # its rows in the walk table
    end: int = 0

    @property
    def nodes(self) -> set[int]:
        return {v for pair in self.ends.values() for v in pair}


class Lists:
    """The columns as Python lists, one attribute each."""

    def __init__(self, num_nodes: int, edges: Any, arrays: Mapping[str, Any]) -> None:
        self.num_nodes = int(num_nodes)
        self.edges: list[tuple[int, int]] = [(int(u), int(v)) for u, v in np.asarray(edges, dtype=np.int64).reshape(-1, 2)]
        for columns in TABLES.values():
            for name in columns:
                setattr(self, name, np.asarray(arrays[name]).tolist())
        self.skeletons: list[Skeleton] = []

    def __getattr__(self, name: str) -> list[int]:  # for type checkers: the columns set above
        raise AttributeError(name)

    def edge_of(self, i: int) -> tuple[str, int]:
        """The skeleton edge of walk entry ``i``."""
        return ("real", self.walk_edge[i]) if self.walk_edge[i] >= 0 else ("virtual", self.walk_other[i])


def require(condition: object, message: str) -> None:
    if not condition:
        raise DecompositionError(message)


def title(t: Lists, c: int) -> str:
    return f"SPQR node {c} ({TYPE_NAMES[t.spqr_type[c]]})"


def check_shapes(t: Lists) -> None:
    for table, columns in TABLES.items():
        lengths = {name: len(getattr(t, name)) for name in columns}
        require(len(set(lengths.values())) <= 1, f"columns of table {table} differ in length: {lengths}")
    n, walks = t.num_nodes, len(t.walk_node)
    rows = {"node": n, "edge": len(t.edges), "spqr": len(t.spqr_type), "block": len(t.block_root), "cut": len(t.cut_node)}
    require(len(t.node_component) == n, f"node_component has {len(t.node_component)} rows for {n} nodes")
    heights = rows["block"] + rows["cut"]
    below = {
        "walk_kappa": n + 1,
        "walk_pos": walks + 1,
        "spqr_type": len(TYPE_NAMES),
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
        for row, value in enumerate(getattr(t, name)):
            require(low <= value < high, f"{name}[{row}] = {value} is outside {low}..{high - 1}")
    require(t.walk_spqr == sorted(t.walk_spqr), "walk_spqr does not ascend")
    require(set(t.walk_spqr) == set(range(rows["spqr"])), "some SPQR node has no walk")
    for i, (edge, other) in enumerate(zip(t.walk_edge, t.walk_other, strict=True)):
        require((edge >= 0) != (other >= 0), f"walk entry {i} must be real or virtual: edge {edge}, other {other}")
