"""The tables that are checked, as plain Python lists, and that their shapes and ids make sense at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import PlanegraphError

S, P, Q, R = range(4)
TYPE_NAMES = "SPQR"

TABLES = {
    "walk": ("walk_node", "walk_edge", "walk_other", "walk_kappa", "walk_pos", "walk_spqr"),
    "spqr": ("spqr_type", "spqr_set", "spqr_parent", "spqr_theta", "spqr_level", "spqr_block"),
    "block": ("block_root", "block_level", "block_parent_cut"),
    "cut": ("cut_node", "cut_level", "cut_parent_block"),
    "node_spqr": ("node_spqr_node", "node_spqr_spqr"),
    "node_block": ("node_block_node", "node_block_block"),
    "node": ("node_component", "labelling"),
}


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


class Tables:
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


def title(t: Tables, c: int) -> str:
    return f"SPQR node {c} ({TYPE_NAMES[t.spqr_type[c]]})"


def check_shapes(t: Tables) -> None:
    for table, columns in TABLES.items():
        lengths = {name: len(getattr(t, name)) for name in columns}
        require(len(set(lengths.values())) <= 1, f"columns of table {table} differ in length: {lengths}")
    n, m = t.num_nodes, len(t.edges)
    walks, spqrs, blocks, cuts = len(t.walk_node), len(t.spqr_type), len(t.block_root), len(t.cut_node)
    require(len(t.node_component) == n, f"node_component has {len(t.node_component)} rows for {n} nodes")
    for name, low, high in (
        ("walk_node", 0, n),
        ("walk_edge", -1, m),
        ("walk_other", -1, spqrs),
        ("walk_kappa", 0, n + 1),
        ("walk_pos", 0, walks + 1),
        ("walk_spqr", 0, spqrs),
        ("spqr_type", 0, 4),
        ("spqr_set", 0, 2),
        ("spqr_parent", -1, spqrs),
        ("spqr_theta", 0, walks + 1),
        ("spqr_level", 0, spqrs),
        ("spqr_block", 0, blocks),
        ("block_root", 0, spqrs),
        ("block_level", 0, blocks + cuts),
        ("block_parent_cut", -1, cuts),
        ("cut_node", 0, n),
        ("cut_level", 0, blocks + cuts),
        ("cut_parent_block", -1, blocks),
        ("node_spqr_node", 0, n),
        ("node_spqr_spqr", 0, spqrs),
        ("node_block_node", 0, n),
        ("node_block_block", 0, blocks),
        ("node_component", 0, n),
    ):
        for row, value in enumerate(getattr(t, name)):
            require(low <= value < high, f"{name}[{row}] = {value} is outside {low}..{high - 1}")
    require(t.walk_spqr == sorted(t.walk_spqr), "walk_spqr does not ascend")
    require(set(t.walk_spqr) == set(range(spqrs)), "some SPQR node has no walk")
    for i, (edge, other) in enumerate(zip(t.walk_edge, t.walk_other, strict=True)):
        require((edge >= 0) != (other >= 0), f"walk entry {i} must be real or virtual: edge {edge}, other {other}")
