"""How large batches are, known on the host before they are made: sums of a few numbers per graph.

A *column* is a table, or one slice of a tree; a matrix says how many rows each graph has in each. The totals of an epoch's batches are one
call of ``embedding_bag``, which is fast enough to look at all batches of a run before it begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from .collate import misfit
from .layout import TABLE_OF, Capacity, DoesNotFitError, Layout

_TREES = {"spqr": 1, "block": 2, "cut": 2}  # depths from one slice to the next
_EXACT = 2**24  # float32 counts up to here
_MOST_NUMBERS = 2**27


class Needs:
    """The needs of any batch of a dataset's graphs.

    Args:
        tables: of the dataset.
        rows_per_edge: rows of edge features per edge: 0 (none), 1, or 2 (one per direction).

    >>> import planegraph as pg
    >>> from planegraph.data import PackedDataset
    >>> ds = PackedDataset.from_graphs([pg.families.cycle(n) for n in range(3, 10)])
    >>> needs = Needs(ds.tables, 0)
    >>> needs.sizes(np.array([6, 0])).num_nodes
    12
    >>> needs.most([np.arange(7), np.arange(7)[::-1]], batch_size=2).nodes
    17
    """

    def __init__(self, tables: Mapping[str, np.ndarray], rows_per_edge: int) -> None:
        self.rows_per_edge = rows_per_edge
        self.num_graphs = len(tables["node_ptr"]) - 1
        self.max_position = _largest(tables)
        self.depths = {tree: _depths(tables, tree) for tree in _TREES}
        columns = [np.diff(tables[f"{table}_ptr"])[:, None] for table in TABLE_OF.values()]
        columns += [_by_depth(tables, tree, self.depths[tree]) for tree in _TREES]
        matrix = np.concatenate(columns, 1)
        self._largest_count = int(matrix.max(initial=0))
        self._columns = torch.from_numpy(matrix.astype(np.float32 if self._largest_count < _EXACT else np.float64))
        self._limits: tuple[Capacity, np.ndarray] | None = None

    def sizes(self, ids: np.ndarray) -> Layout:
        """The exact sizes of a batch, as collation without a capacity finds them."""
        return Layout(self._capacity(self._total(ids), len(ids), self.max_position[ids].max(initial=0)), self.rows_per_edge)

    def most(self, orders: Iterable[np.ndarray], batch_size: int) -> Capacity:
        """Of each table and slice, the most rows that a batch has, where each order is cut into batches of ``batch_size`` graphs."""
        total, graphs, position = torch.zeros(self._columns.shape[1]), 0, 0
        columns = self._exact(batch_size)
        for order in orders:
            ids = torch.from_numpy(np.array(order, np.int64))  # a copy: torch takes no views that run backwards
            starts = torch.arange(0, max(len(ids), 1), batch_size)
            total = torch.maximum(total, F.embedding_bag(ids, columns, starts, mode="sum").amax(0))
            graphs = max(graphs, min(len(ids), batch_size))
            position = max(position, self.max_position[order].max(initial=0))
        return self._capacity(total.numpy(), graphs, position)

    def likely(self, batch_size: int) -> Capacity:
        """A capacity that almost every random batch of so many graphs fits into.

        Of each table and slice mean * B + 6 standard deviations * sqrt(B) rows, but no more than the B largest graphs have together.
        """
        rows = self._columns.double()
        likely = (rows.mean(0) * batch_size + 6 * rows.std(0, correction=0) * batch_size**0.5).ceil()
        most = rows.topk(min(batch_size, self.num_graphs), 0).values.sum(0)
        return self._capacity(torch.minimum(likely, most).numpy(), batch_size, self.max_position.max(initial=0)).padded()

    def check(self, ids: np.ndarray, capacity: Capacity) -> None:
        """Raises DoesNotFitError if a batch of these graphs does not fit."""
        total = self._total(ids)
        fits = len(ids) <= capacity.graphs and self.max_position[ids].max(initial=0) <= capacity.max_position
        if not fits or (total > self._limit(capacity)).any():
            need = self.sizes(ids)
            raise DoesNotFitError(misfit(capacity, need.sizes), need)

    def _total(self, ids: np.ndarray) -> np.ndarray:
        """Without torch, whose threads may wait for each other longer than this takes."""
        if len(ids) and (ids.min() < 0 or ids.max() >= self.num_graphs):
            raise IndexError(f"graphs {ids.min()} to {ids.max()} of a dataset of {self.num_graphs}")
        return self._exact(len(ids)).numpy().take(ids, 0).sum(0)

    def _exact(self, graphs: int) -> Tensor:
        """The matrix, of a type that counts the rows of this many graphs exactly."""
        return self._columns if graphs * self._largest_count < _EXACT else self._doubles

    @cached_property
    def _doubles(self) -> Tensor:
        return self._columns.double()

    def _capacity(self, total: np.ndarray, graphs: int, max_position: int) -> Capacity:
        """Rows in each column as sizes."""
        tables, *trees = np.split(total.astype(np.int64), np.cumsum([len(TABLE_OF), *self.depths.values()])[:-1])
        spqr, blocks, cuts = (_used(tree.tolist()) for tree in trees)
        levels = max(len(cuts), len(blocks) - 1)
        return Capacity(
            graphs=graphs,
            **dict(zip(TABLE_OF, tables.tolist(), strict=True)),
            max_position=int(max_position),
            spqr=tuple(spqr[1:][::-1]),
            blocks=tuple(_resized(blocks, levels + 1)[::-1]),
            cuts=tuple(_resized(cuts, levels)[::-1]),
        )

    def _limit(self, capacity: Capacity) -> np.ndarray:
        """The most rows that may be in each column; the last row of each table stays free."""
        known = self._limits
        if known is None or known[0] != capacity:
            limit = [getattr(capacity, name) - 1 for name in TABLE_OF]
            limit += _resized([sum(capacity.blocks) - 1, *capacity.spqr[::-1]], self.depths["spqr"])
            for table, widths in (("block", capacity.blocks), ("cut", capacity.cuts)):
                mine = list(widths[::-1])
                limit += _resized([mine[0] - 1, *mine[1:]] if mine else [], self.depths[table])
            known = self._limits = capacity, np.array(limit, np.int64)
        return known[1]


def make_needs(tables: Mapping[str, np.ndarray], rows_per_edge: int) -> Needs | None:
    """The needs of a dataset, or None if its trees are so deep that the matrix would take more than half a gigabyte."""
    columns = len(TABLE_OF) + sum(_depths(tables, tree) for tree in _TREES)
    return Needs(tables, rows_per_edge) if columns * len(tables["node_ptr"]) <= _MOST_NUMBERS else None


def _depths(tables: Mapping[str, np.ndarray], tree: str) -> int:
    """How many slices a tree has, at least one."""
    return int(tables[f"{tree}_depth"].max(initial=0)) // _TREES[tree] + 1


def _by_depth(tables: Mapping[str, np.ndarray], tree: str, depths: int) -> np.ndarray:
    """(graphs, depths): the rows of each graph in each slice of a tree."""
    ptr, level = tables[f"{tree}_ptr"], tables[f"{tree}_depth"] // _TREES[tree]
    graphs = len(ptr) - 1
    at = np.repeat(np.arange(graphs) * depths, np.diff(ptr)) + level
    return np.bincount(at, minlength=graphs * depths).reshape(graphs, depths)


def _used(widths: list[int]) -> list[int]:
    """The slices up to the last that is not empty."""
    return widths[: max((k + 1 for k, width in enumerate(widths) if width), default=0)]


def _resized(widths: list[int], length: int) -> list[int]:
    return (widths + [0] * length)[:length]


def _largest(tables: Mapping[str, np.ndarray]) -> np.ndarray:
    """The largest position of each graph."""
    found = np.zeros(len(tables["node_ptr"]) - 1, np.int64)
    for table, column in (("walk", "walk_kappa"), ("walk", "walk_pos"), ("spqr", "spqr_theta")):
        ptr = tables[f"{table}_ptr"]
        has = np.flatnonzero(np.diff(ptr))
        if len(has):
            found[has] = np.maximum(found[has], np.maximum.reduceat(tables[column], ptr[:-1][has]))
    return found
