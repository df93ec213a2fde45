"""The rows of every section with ids counted within each graph, and the segments of all rows (runs.py): what a device keeps of a dataset.

The core collates some thousand graphs at a time; here the rows of its batch are sorted back by graph (stable, so that a graph's rows keep
their order) and ids become positions among the rows of their graph. Linear, and vectorised per section and slice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ... import _core
from ...errors import FormatError
from ..collate import collate_index
from ..layout import SECTIONS, Kind, Layout, Slices
from ..runs import ROW_SECTIONS, SPACES, code

_CHUNK = 8192  # graphs; below 2^16, so that sorting by graph is a radix sort

Arrays = dict[str, np.ndarray]


@dataclass
class Local:
    """Some graphs: ``counts[space]`` rows of each, ``values[section]`` graph after graph, ``codes[table]`` of the rows' segments."""

    counts: Arrays
    values: Arrays
    codes: Arrays


def localize(tables: _core.Tables, num_graphs: int, edges: np.ndarray, rows_per_edge: int) -> Iterator[Local]:
    """All graphs in chunks; ``edges`` is the number of edges of each."""
    for first in range(0, num_graphs, _CHUNK):
        ids = np.arange(first, min(first + _CHUNK, num_graphs))
        yield _localize(tables, ids, edges[ids], rows_per_edge)


def _localize(tables: _core.Tables, ids: np.ndarray, edges: np.ndarray, rows_per_edge: int) -> Local:
    index, layout, graphs = collate_index(tables, ids, rows_per_edge)
    buffer = index.numpy()
    batch = {name: buffer[a:b] for name, (a, b) in layout.offsets.items()}
    if rows_per_edge:
        batch["row_walk"] = batch["row_walk"][: batch["row_walk_ptr"][-1]]
    graph = _graph_of_rows(batch, graphs, rows_per_edge * edges)
    counts = {space: np.bincount(graph[space], minlength=graphs) for space in SPACES}
    order = {space: np.argsort(graph[space].astype(np.uint16), kind="stable") for space, table in SPACES.items() if table}
    codes = {table: found[order[table]] for table, found in _codes(batch, layout).items()}
    _mark_leaves(batch)
    position = {space: _positions(order.get(space), counts[space]) for space in SPACES}
    values = {}
    for name, section in SECTIONS.items():
        if name in ROW_SECTIONS and not rows_per_edge:
            continue
        found = batch[name]
        if section.kind == Kind.PTR:
            values[name] = _local_ptr(found, order.get(section.space), counts[section.space])
            continue
        if section.kind == Kind.ID:
            found = position[section.target][found]
        values[name] = found[order[section.space]] if section.space in order else found
    return Local(counts, {name: found.astype(np.int32, copy=False) for name, found in values.items()}, codes)


def _graph_of_rows(batch: Arrays, graphs: int, rows: np.ndarray) -> Arrays:
    """The graph of each row of each space, counted within the chunk."""
    node = batch["node_graph"]
    graph = {"graph": np.arange(graphs), "node": node, "row": np.repeat(np.arange(graphs), rows)}
    for table in ("spqr", "block"):
        ptr = batch[f"{table}_node_ptr"]
        if (np.diff(ptr) == 0).any():
            raise FormatError(f"row {int(np.argmin(np.diff(ptr)))} of the table of {table}s has no nodes. The tables are damaged")
        graph[table] = node[batch[f"{table}_node"][ptr[:-1]]]
    graph["cut"] = node[batch["cut_node"]]
    for name, section in SECTIONS.items():
        if section.kind == Kind.PTR and section.target not in graph:
            ptr = batch[name]
            graph[section.target] = np.repeat(graph[section.space], np.diff(ptr)) if len(ptr) else np.empty(0, np.int32)
    return graph


def _positions(order: np.ndarray | None, counts: np.ndarray) -> np.ndarray:
    """Of each row of a space its position among those of its graph; and -1 at the end, for the id -1."""
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    found = np.full(len(within) + 1, -1, np.int32)
    found[slice(0, -1) if order is None else order] = within
    return found


def _local_ptr(ptr: np.ndarray, order: np.ndarray | None, rows: np.ndarray) -> np.ndarray:
    """Where the items of each row begin among those of its graph; ``rows`` of each graph."""
    lengths = np.diff(ptr) if order is None else np.diff(ptr)[order]
    begin = np.cumsum(lengths) - lengths
    first = np.cumsum(rows) - rows
    return begin - np.repeat(begin[np.minimum(first, max(len(begin) - 1, 0))], rows) if len(begin) else begin


def _mark_leaves(batch: Arrays) -> None:
    """Children as ids: the first and the last one, -1 if there are none."""
    for table in ("spqr", "block", "cut"):
        begin, end = batch[f"{table}_begin"], batch[f"{table}_end"]
        leaf = begin == end
        batch[f"{table}_begin"], batch[f"{table}_end"] = np.where(leaf, -1, begin), np.where(leaf, -1, end - 1)


# ---- segments ----------------------------------------------------------------------------------------------------------------


def _codes(batch: Arrays, layout: Layout) -> Arrays:
    """The code of the segment of each block, cut node and SPQR node, from the roots down."""
    blocks, cuts, spqr = layout.block_slices[::-1], layout.cut_slices[::-1], layout.spqr_slices[::-1]
    under = {"block": np.ones(layout.num_blocks, bool), "cut": np.ones(layout.num_cuts, bool)}
    for level, rows in enumerate(cuts):
        _inherit(under["cut"], slice(*rows), under["block"], batch["cut_parent"])
        _inherit(under["block"], slice(*blocks[level + 1]), under["cut"], batch["block_parent"])
    codes = {
        "block": code(0, _number(blocks, layout.num_blocks), under["block"]),
        "cut": code(0, _number(cuts, layout.num_cuts), under["cut"]),
        "spqr": code(_number(spqr, layout.num_spqr), 0, np.ones(layout.num_spqr, bool)),
    }
    inherited = np.zeros(layout.num_spqr, np.int64)
    inherited[slice(*spqr[0])] = codes["block"]
    for rows in spqr[1:]:
        _inherit(inherited, slice(*rows), inherited, batch["spqr_parent"])
    codes["spqr"] += inherited
    return codes


def _inherit(own: np.ndarray, rows: slice, above: np.ndarray, parent: np.ndarray) -> None:
    """Each of the rows gets what its parent has; without a parent, nothing."""
    parents = parent[rows]
    own[rows] = np.where(parents < 0, 0, above[parents]) if len(above) else 0


def _number(slices: Slices, rows: int) -> np.ndarray:
    """The number of the slice that each row is in."""
    found = np.zeros(rows, np.int64)
    for k, (start, stop) in enumerate(slices):
        found[start:stop] = k
    return found
