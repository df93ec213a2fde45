"""Verifies a packed dataset with code simpler than what made it: for all graphs at once, O(n log n).

A tree table is a forest if depths grow by one from parent to child; that, ranges of ids, and that incidences are what the walks
visit, is checked here. That a walk is canonical is not: compare with a fresh decomposition for that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from planegraph.data import PackedDataset
from planegraph.data.checks import check_offsets
from planegraph.data.tables import NAMES
from planegraph.decomposition.tables import COLUMNS, Column
from planegraph.errors import FormatError
from planegraph.graphs.batch import locate, shift_of


def check_dataset(ds: PackedDataset) -> None:
    """Verifies tables and features; FormatError says what is wrong and in which graph."""
    check_tables(ds.tables)
    ds.features.check(ds.tables.node_ptr, ds.tables.size("edge"))
    for name in ("x", "edge_attr", "dart_attr"):
        values = getattr(ds.features, name)
        _require(values is None or not np.isnan(values).any(), f"{name} holds NaN")


def check_tables(tables: Mapping[str, np.ndarray]) -> None:
    """Verifies offsets, ranges of ids, trees, depths and incidences of all graphs at once; raises FormatError."""
    check_offsets(tables)
    for name in NAMES:
        if COLUMNS[name].ids_of:
            _check_ids(tables, COLUMNS[name])
    _check_values(tables)
    _check_trees(tables)
    _check_walks(tables)
    _check_incidences(tables)


def _check_ids(t: Mapping[str, np.ndarray], column: Column) -> None:
    ptr = t[f"{column.table}_ptr"]
    limit = np.repeat(np.diff(t[f"{column.ids_of}_ptr"]), np.diff(ptr))
    values = t[column.name].reshape(-1, column.width)
    bad = ((values < (-1 if column.none else 0)) | (values >= limit[:, None])).any(axis=1)
    if bad.any():
        row = int(np.argmax(bad))
        g, at = locate(ptr, row)
        found = _shown(t[column.name][row])
        _require(False, f"graph {g}: {column.name}[{at}] is {found}; the graph has {limit[row]} rows of table {column.ids_of}")


def _check_values(t: Mapping[str, np.ndarray]) -> None:
    for name, low, high in (("spqr_type", 0, 3), ("spqr_set", 0, 1)):
        _all(t, name, (t[name] >= low) & (t[name] <= high), f"must be {low} to {high}")
    ends = t["edges"]
    _all(t, "edges", ends[:, 0] != ends[:, 1], "is a self-loop")
    spqr = t["walk_spqr"] + shift_of(t["walk_ptr"], t["spqr_ptr"])
    lengths = np.bincount(spqr, minlength=len(t["spqr_type"]))
    for name in ("walk_kappa", "walk_pos"):
        _all(t, name, (t[name] >= 0) & (t[name] <= lengths[spqr]), "must be a position in its walk")
    parent = _global(t["spqr_parent"], shift_of(t["spqr_ptr"], t["spqr_ptr"]))
    most = np.where(parent < 0, 0, lengths[parent])
    _all(t, "spqr_theta", (t["spqr_theta"] >= 0) & (t["spqr_theta"] <= most), "must be a position in its parent's walk")


def _check_trees(t: Mapping[str, np.ndarray]) -> None:
    """Depths that grow by one from parent to child prove that there are no circles; levels are heights, leaves 0."""
    heights = {table: np.zeros(len(t[f"{table}_depth"]), np.int32) for table in ("spqr", "block", "cut")}
    for child, up, parent, root in (
        ("spqr", "spqr_parent", "spqr", 0),
        ("block", "block_parent_cut", "cut", 0),
        ("cut", "cut_parent_block", "block", 1),
    ):
        above = _global(t[up], shift_of(t[f"{child}_ptr"], t[f"{parent}_ptr"]))
        has = above >= 0
        expected = np.full(len(above), root, np.int32)
        expected[has] = t[f"{parent}_depth"][above[has]] + 1
        _all(t, f"{child}_depth", t[f"{child}_depth"] == expected, "must be one more than its parent's")
        np.maximum.at(heights[parent], above[has], t[f"{child}_level"][has] + 1)
    for table, height in heights.items():
        _all(t, f"{table}_level", t[f"{table}_level"] == height, "must be one more than the highest below it")
    parent = _global(t["spqr_parent"], shift_of(t["spqr_ptr"], t["spqr_ptr"]))
    has = parent >= 0
    same = np.ones(len(parent), bool)
    same[has] = t["spqr_block"][has] == t["spqr_block"][parent[has]]
    _all(t, "spqr_block", same, "must be its parent's")
    roots = t["block_root"] + shift_of(t["block_ptr"], t["spqr_ptr"])
    _all(t, "block_root", ~has[roots], "must be a root")
    block = np.arange(len(roots)) - shift_of(t["block_ptr"], t["block_ptr"])
    _all(t, "block_root", t["spqr_block"][roots] == block, "must lie in its block")
    _require(int((~has).sum()) == len(roots), f"there are {len(roots)} blocks, but {int((~has).sum())} roots of SPQR trees")


def _check_walks(t: Mapping[str, np.ndarray]) -> None:
    """Walks are runs of rows, one per SPQR node; a real dart leaves an end of its edge; every edge is walked along."""
    spqr = t["walk_spqr"] + shift_of(t["walk_ptr"], t["spqr_ptr"])
    _all(t, "walk_spqr", np.diff(spqr, prepend=spqr[:1]) >= 0, "must ascend")
    walked = np.zeros(len(t["spqr_type"]), bool)
    walked[spqr] = True
    _all(t, "spqr_type", walked, "has no walk")
    edge = _global(t["walk_edge"], shift_of(t["walk_ptr"], t["edge_ptr"]))
    real = edge >= 0
    fits = np.ones(len(edge), bool)
    fits[real] = (t["edges"][edge[real]] == t["walk_node"][real, None]).any(axis=1)
    _all(t, "walk_node", fits, "is no end of the edge that its walk goes along")
    used = np.zeros(len(t["edges"]), bool)
    used[edge[real]] = True
    _all(t, "edges", used, "is in no walk")


def _check_incidences(t: Mapping[str, np.ndarray]) -> None:
    """The incidences are what the walks visit: of each SPQR node, and of each block."""
    spqr = t["walk_spqr"] + shift_of(t["walk_ptr"], t["spqr_ptr"])
    node = t["walk_node"] + shift_of(t["walk_ptr"], t["node_ptr"])
    block = (t["spqr_block"] + shift_of(t["spqr_ptr"], t["block_ptr"]))[spqr]
    for table, owner, of_walk in (("node_spqr", "spqr", spqr), ("node_block", "block", block)):
        ptr = t[f"{table}_ptr"]
        mine = t[f"{table}_{owner}"] + shift_of(ptr, t[f"{owner}_ptr"])
        nodes = t[f"{table}_node"] + shift_of(ptr, t["node_ptr"])
        count = int(t["node_ptr"][-1])
        found, wanted = np.sort(mine * count + nodes), np.unique(of_walk * count + node)
        _require(np.array_equal(found, wanted), f"{table} is not what the walks visit: {len(found)} rows for {len(wanted)} pairs")
    where = t["cut_node"] + shift_of(t["cut_ptr"], t["node_ptr"])
    _require(len(np.unique(where)) == len(where), "a node is there twice in cut_node")
    blocks_at = np.bincount(t["node_block_node"] + shift_of(t["node_block_ptr"], t["node_ptr"]), minlength=int(t["node_ptr"][-1]))
    _require(np.array_equal(np.sort(where), np.flatnonzero(blocks_at > 1)), "the cut nodes are not the nodes in several blocks")


def _all(t: Mapping[str, np.ndarray], name: str, good: np.ndarray, what: str) -> None:
    if not good.all():
        row = int(np.argmin(good))
        g, at = locate(t[f"{COLUMNS[name].table}_ptr"], row)
        _require(False, f"graph {g}: {name}[{at}] = {_shown(t[name][row])} {what}")


def _global(local: np.ndarray, shift: np.ndarray) -> np.ndarray:
    return np.where(local < 0, -1, local + shift)


def _shown(value: Any) -> str:
    return str(np.asarray(value).tolist())


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise FormatError(f"damaged tables: {message}")
