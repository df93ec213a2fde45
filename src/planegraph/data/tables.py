"""The tables of a packed dataset: names, types, depths (checks.py verifies them).

A table is a set of columns of one length, with offsets ``<table>_ptr`` that say which rows belong to which graph. Ids are local to
their graph (docs/arrays.md); columns are int32, offsets int64. To what the core gives, packing adds the depth of every tree node:

- ``spqr_depth``: 0 at the root of a block's SPQR tree, the parent's + 1 elsewhere.
- ``block_depth`` (even) and ``cut_depth`` (odd): a root block has 0, a root cut node 1, every other the parent's + 1.

Collation sorts rows by depth, so that each step of a model over the trees is a slice. All costs are linear.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

import numpy as np

from .. import _core
from ..decomposition.tables import COLUMNS, Tables, by_table
from ..errors import require
from ..graphs.batch import GraphBatch, rows_of, shift_of

_STORED = [column for column in COLUMNS.values() if column.file]

NAMES = tuple(column.name for column in _STORED)
"""All arrays, in their order."""

TABLES = by_table(_STORED)
"""Columns of each table; its offsets are ``<table>_ptr``."""


class PackedTables(Tables, Mapping[str, np.ndarray]):
    """All tables of a packed dataset, each column an attribute and an entry: ``tables.walk_node is tables["walk_node"]``.

    >>> import planegraph as pg
    >>> tables = PackedTables.of(pg.GraphBatch.from_graphs([pg.families.path(4), pg.families.cycle(3)]))
    >>> tables
    PackedTables(2 graphs, 7 nodes, 6 edges, 9 walk entries, 4 SPQR nodes, 4 blocks, 2 cut nodes)
    >>> tables.block_depth.tolist(), tables.cut_depth.tolist()
    ([0, 2, 2, 0], [1, 1])
    """

    NAMES = NAMES
    WHAT = "the tables of a packed dataset"

    @classmethod
    def of(
        cls, batch: GraphBatch, threads: int | None = None, on_nonplanar: Literal["raise", "set", "subgraph"] = "raise"
    ) -> PackedTables:
        """Decomposes a batch by one call of the core.

        "subgraph" decomposes a maximal planar subgraph of each graph; its other edges are in ``edges`` and in no walk.
        """
        from ..decomposition.api import run_batch

        kept = _planar_part(batch) if on_nonplanar == "subgraph" else None
        planar = batch if kept is None else _with_edges(batch, kept)
        found = run_batch(planar, threads, "set" if on_nonplanar == "set" else "raise", walks=True, codes=False)
        if kept is not None:
            walked = np.repeat(planar.edge_ptr[:-1], np.diff(found["walk_ptr"])) + found["walk_edge"]
            number = kept - np.repeat(batch.edge_ptr[:-1], np.diff(planar.edge_ptr))  # in their graphs
            found["walk_edge"] = np.where(found["walk_edge"] < 0, -1, np.append(number, -1)[walked]).astype(np.int32)
        found |= {"node_ptr": batch.node_ptr, "edge_ptr": batch.edge_ptr, "edges": batch.edges.astype(np.int32)}
        return cls(add_depths(found))

    def select(self, ids: np.ndarray) -> PackedTables:
        """The tables of the graphs with these (valid) ids, in this order."""
        new = {}
        for table, columns in TABLES.items():
            rows, new[f"{table}_ptr"] = rows_of(self[f"{table}_ptr"], ids)
            new |= {name: self[name][rows] for name in columns}
        return PackedTables(new)

    def left_out(self) -> np.ndarray:
        """For each edge, whether it is in no walk: left out of the planar subgraph that was decomposed."""
        edge = (self.walk_edge + shift_of(self.walk_ptr, self.edge_ptr))[self.walk_edge >= 0]
        require((edge < len(self.edges)).all(), "damaged tables: a walk names an edge that is not there")
        outside = np.ones(len(self.edges), bool)
        outside[edge] = False
        return outside

    @property
    def num_graphs(self) -> int:
        """The number of graphs."""
        return len(self.node_ptr) - 1

    def __getitem__(self, name: str) -> np.ndarray:
        return self.__dict__[name]

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)

    def __repr__(self) -> str:
        sizes = self.sizes(node="node", edge="edge", walk="walk entry", spqr="SPQR node", block="block", cut="cut node")
        return f"PackedTables({self.num_graphs} graphs, {sizes})"


def _planar_part(batch: GraphBatch) -> np.ndarray | None:
    """The rows of the edges in maximal planar subgraphs; None if these are all."""
    from ..decomposition.api import planar_mask

    keep = np.ones(len(batch.edges), bool)
    for g in np.flatnonzero(~planar_mask(batch)):
        first, last = batch.edge_ptr[g : g + 2]
        keep[first + _core.beyond_planar(int(np.diff(batch.node_ptr[g : g + 2])[0]), batch.edges[first:last])] = False
    return None if keep.all() else np.flatnonzero(keep)


def _with_edges(batch: GraphBatch, rows: np.ndarray) -> GraphBatch:
    """The batch with these edges alone."""
    labels = (None if found is None else found[rows] for found in (batch.edge_labels, batch.dart_labels))
    return GraphBatch(batch.node_ptr, np.searchsorted(rows, batch.edge_ptr), batch.edges[rows], batch.node_labels, *labels)


def add_depths(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays with ``spqr_depth``, ``block_depth`` and ``cut_depth``, which follow from the parents."""
    names = ("spqr_ptr", "spqr_parent", "block_ptr", "block_parent_cut", "cut_ptr", "cut_parent_block")
    spqr, block, cut = _core.depths(*(arrays[name] for name in names))
    return {**arrays, "spqr_depth": spqr, "block_depth": block, "cut_depth": cut}
