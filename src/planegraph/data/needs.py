"""Whether a batch fits into a capacity, known on the host before a device makes it: sums of a few numbers per graph."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .collate import misfit
from .layout import Capacity, DoesNotFitError, Layout
from .prepare import Prepared
from .runs import depth_of, level_of

_TABLES = {"nodes": "node", "edges": "edge", "walks": "walk", "node_spqr": "node_spqr", "node_block": "node_block"}


class Needs:
    """How large a batch of given graphs is, on the host: O(batch * slices), some microseconds."""

    def __init__(self, prepared: Prepared, tables: Mapping[str, np.ndarray], rows_per_edge: int) -> None:
        self.rows_per_edge = rows_per_edge
        self.num_graphs = len(prepared.counts)
        self.max_position = _largest(tables)
        slices = {table: level_of(codes) for table, codes in prepared.codes.items()} | {"spqr": depth_of(prepared.codes["spqr"])}
        self.depths = {table: max(1, int(found.max(initial=-1)) + 1) for table, found in slices.items()}
        columns = [np.diff(tables[f"{table}_ptr"]) for table in _TABLES.values()]
        for table in ("spqr", "block", "cut"):
            mine = prepared.counts[:, prepared.first[table] : prepared.first[table] + prepared.number[table]]
            columns += [mine[:, slices[table] == depth].sum(1) for depth in range(self.depths[table])]
        self.columns = np.ascontiguousarray(np.stack(columns, 1), np.int64)
        self._limits: tuple[Capacity, np.ndarray] | None = None

    def sizes(self, ids: np.ndarray) -> Layout:
        """The exact sizes, as collation without a capacity finds them."""
        total, tables = self._total(ids).tolist(), len(_TABLES)
        by_depth, at = {}, tables
        for table in ("spqr", "block", "cut"):
            by_depth[table] = total[at : at + self.depths[table]]
            at += self.depths[table]
        levels = max(_used(by_depth["cut"]), _used(by_depth["block"]) - 1)
        return Layout(
            Capacity(
                graphs=len(ids),
                **dict(zip(_TABLES, total[:tables], strict=True)),
                max_position=int(self.max_position[ids].max(initial=0)),
                spqr=tuple(by_depth["spqr"][1 : _used(by_depth["spqr"])][::-1]),
                blocks=tuple(_resized(by_depth["block"], levels + 1)[::-1]),
                cuts=tuple(_resized(by_depth["cut"], levels)[::-1]),
            ),
            self.rows_per_edge,
        )

    def check(self, ids: np.ndarray, capacity: Capacity) -> None:
        """Raises DoesNotFitError if a batch of these graphs does not fit."""
        total = self._total(ids)
        fits = len(ids) <= capacity.graphs and self.max_position[ids].max(initial=0) <= capacity.max_position
        if not fits or (total > self._limit(capacity)).any():
            need = self.sizes(ids)
            raise DoesNotFitError(misfit(capacity, need.sizes), need)

    def _total(self, ids: np.ndarray) -> np.ndarray:
        if len(ids) and (ids.min() < 0 or ids.max() >= self.num_graphs):
            raise IndexError(f"graphs {ids.min()} to {ids.max()} of a dataset of {self.num_graphs}")
        return self.columns[ids].sum(0)

    def _limit(self, capacity: Capacity) -> np.ndarray:
        """The most rows that may be in each column of ``columns``; the last row of each table stays free."""
        known = self._limits
        if known is None or known[0] != capacity:
            limit = [getattr(capacity, name) - 1 for name in _TABLES]
            limit += _resized([sum(capacity.blocks) - 1, *capacity.spqr[::-1]], self.depths["spqr"])
            for table, widths in (("block", capacity.blocks), ("cut", capacity.cuts)):
                mine = list(widths[::-1])
                limit += _resized([mine[0] - 1, *mine[1:]] if mine else [], self.depths[table])
            known = self._limits = capacity, np.array(limit, np.int64)
        return known[1]


def _used(widths: list[int]) -> int:
    """How many slices there are up to the last that is not empty."""
    return max((k + 1 for k, width in enumerate(widths) if width), default=0)


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
