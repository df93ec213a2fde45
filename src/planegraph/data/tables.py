"""The tables of a packed dataset: names, types, depths (checks.py verifies them).

A table is a set of columns of one length, with offsets ``<table>_ptr`` that say which rows belong to which graph. Ids are local to
their graph (docs/arrays.md); columns are int32, offsets int64. To what the core gives, packing adds the depth of every tree node:

- ``spqr_depth``: 0 at the root of a block's SPQR tree, the parent's + 1 elsewhere.
- ``block_depth`` (even) and ``cut_depth`` (odd): a root block has 0, a root cut node 1, every other the parent's + 1.

Collation sorts rows by depth, so that each step of a model over the trees is a slice. All costs are linear.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields

import numpy as np

from .. import _core
from ..errors import FormatError
from ..graphs.batch import GraphBatch, rows_of

TABLES: dict[str, tuple[str, ...]] = {
    "node": (),
    "edge": ("edges",),
    "walk": ("walk_node", "walk_edge", "walk_kappa", "walk_pos", "walk_spqr"),
    "spqr": (
        "spqr_type",
        "spqr_set",
        "spqr_parent",
        "spqr_theta",
        "spqr_level",
        "spqr_block",
        "spqr_depth",
    ),
    "block": ("block_root", "block_level", "block_parent_cut", "block_depth"),
    "cut": ("cut_node", "cut_level", "cut_parent_block", "cut_depth"),
    "node_spqr": ("node_spqr_node", "node_spqr_spqr"),
    "node_block": ("node_block_node", "node_block_block"),
}
"""Columns of each table; its offsets are ``<table>_ptr``."""

IDS: dict[str, tuple[str, bool]] = {
    "edges": ("node", False),
    "walk_node": ("node", False),
    "walk_edge": ("edge", True),
    "walk_spqr": ("spqr", False),
    "spqr_parent": ("spqr", True),
    "spqr_block": ("block", False),
    "block_root": ("spqr", False),
    "block_parent_cut": ("cut", True),
    "cut_node": ("node", False),
    "cut_parent_block": ("block", True),
    "node_spqr_node": ("node", False),
    "node_spqr_spqr": ("spqr", False),
    "node_block_node": ("node", False),
    "node_block_block": ("block", False),
}
"""Columns that hold ids: of which table, and whether -1 (none) may occur."""


@dataclass(frozen=True, eq=False, repr=False)
class PackedTables(Mapping[str, np.ndarray]):
    """All tables of a packed dataset, each column an attribute and an entry: ``tables.walk_node is tables["walk_node"]``.

    >>> import planegraph as pg
    >>> tables = PackedTables.of(pg.GraphBatch.from_graphs([pg.families.path(4), pg.families.cycle(3)]))
    >>> tables
    PackedTables(2 graphs, 7 nodes, 6 edges, 9 walk entries, 4 SPQR nodes, 4 blocks, 2 cut nodes)
    >>> tables.block_depth.tolist(), tables.cut_depth.tolist()
    ([0, 2, 2, 0], [1, 1])
    """

    node_ptr: np.ndarray
    edge_ptr: np.ndarray
    edges: np.ndarray
    walk_ptr: np.ndarray
    walk_node: np.ndarray
    walk_edge: np.ndarray
    walk_kappa: np.ndarray
    walk_pos: np.ndarray
    walk_spqr: np.ndarray
    spqr_ptr: np.ndarray
    spqr_type: np.ndarray
    spqr_set: np.ndarray
    spqr_parent: np.ndarray
    spqr_theta: np.ndarray
    spqr_level: np.ndarray
    spqr_block: np.ndarray
    spqr_depth: np.ndarray
    block_ptr: np.ndarray
    block_root: np.ndarray
    block_level: np.ndarray
    block_parent_cut: np.ndarray
    block_depth: np.ndarray
    cut_ptr: np.ndarray
    cut_node: np.ndarray
    cut_level: np.ndarray
    cut_parent_block: np.ndarray
    cut_depth: np.ndarray
    node_spqr_ptr: np.ndarray
    node_spqr_node: np.ndarray
    node_spqr_spqr: np.ndarray
    node_block_ptr: np.ndarray
    node_block_node: np.ndarray
    node_block_block: np.ndarray

    @classmethod
    def of(cls, batch: GraphBatch, threads: int | None = None, on_nonplanar: str = "raise") -> PackedTables:
        """Decomposes a batch by one call of the core."""
        from ..decomposition.api import run_batch

        found = run_batch(batch, threads, on_nonplanar, walks=True, codes=False)
        found |= {"node_ptr": batch.node_ptr, "edge_ptr": batch.edge_ptr, "edges": batch.edges.astype(np.int32)}
        return cls.from_arrays(add_depths(found))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> PackedTables:
        """Of the arrays by name; others are ignored, missing ones are an error."""
        missing = [name for name in NAMES if name not in arrays]
        if missing:
            raise FormatError(f"the tables of a packed dataset lack {', '.join(missing)}")
        return cls(**{name: arrays[name] for name in NAMES})

    def select(self, ids: np.ndarray) -> PackedTables:
        """The tables of the graphs with these (valid) ids, in this order."""
        new = {}
        for table, columns in TABLES.items():
            rows, new[f"{table}_ptr"] = rows_of(self[f"{table}_ptr"], ids)
            new |= {name: self[name][rows] for name in columns}
        return PackedTables.from_arrays(new)

    @property
    def num_graphs(self) -> int:
        """The number of graphs."""
        return len(self.node_ptr) - 1

    def size(self, table: str) -> int:
        """How many rows a table has: ``size("walk")``."""
        return int(self[f"{table}_ptr"][-1])

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in _NAMES:
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)

    def __repr__(self) -> str:
        what = {
            "node": "nodes",
            "edge": "edges",
            "walk": "walk entries",
            "spqr": "SPQR nodes",
            "block": "blocks",
            "cut": "cut nodes",
        }
        sizes = ", ".join(f"{self.size(table)} {words}" for table, words in what.items())
        return f"PackedTables({self.num_graphs} graphs, {sizes})"


NAMES = tuple(f.name for f in fields(PackedTables))
_NAMES = frozenset(NAMES)


def dtype_of(name: str) -> np.dtype:
    """The type of a column: offsets int64, everything else int32."""
    return np.dtype(np.int64 if name.endswith("_ptr") else np.int32)


def add_depths(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays with ``spqr_depth``, ``block_depth`` and ``cut_depth``, which follow from the parents."""
    names = ("spqr_ptr", "spqr_parent", "block_ptr", "block_parent_cut", "cut_ptr", "cut_parent_block")
    spqr, block, cut = _core.depths(*(arrays[name] for name in names))
    return {**arrays, "spqr_depth": spqr, "block_depth": block, "cut_depth": cut}


def table_of(column: str) -> str:
    """The table of a column: ``table_of("block_root") == "block"``."""
    return next(table for table, columns in TABLES.items() if column in columns)
