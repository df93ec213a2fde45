"""Collation in plain Python, written from the description of a batch: every section as a list, padding included.

Things are named by (position of the graph in the batch, id in the graph); rows are given to them in the order that the description asks
for, and every section is then read off, one entry after another. Slow on purpose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

import numpy as np

from planegraph.data import Capacity

Thing = tuple[int, int]  # position of the graph, id there
Sections = dict[str, list[int]]


def table_of(column: str) -> str:
    """The table of a column: node_spqr and node_block, or the first word."""
    pair = "_".join(column.split("_")[:2])
    return "edge" if column == "edges" else pair if column.startswith("node_") else column.split("_")[0]


class Graphs:
    """The chosen graphs, one plain dict of lists each."""

    def __init__(self, tables: Mapping[str, np.ndarray], ids: Sequence[int]) -> None:
        self.columns = []
        for g in ids:
            mine = {}
            for name, values in tables.items():
                if name.endswith("_ptr"):
                    continue
                table = table_of(name)
                a, b = tables[f"{table}_ptr"][g : g + 2]
                mine[name] = values[a:b].tolist()
            mine["nodes"] = int(tables["node_ptr"][g + 1] - tables["node_ptr"][g])
            self.columns.append(mine)

    def things(self, column: str) -> list[Thing]:
        return [(g, k) for g, mine in enumerate(self.columns) for k in range(len(mine[column]))]

    def get(self, column: str, thing: Thing) -> int:
        return self.columns[thing[0]][column][thing[1]]

    def parent(self, column: str, thing: Thing) -> Thing | None:
        p = self.get(column, thing)
        return None if p < 0 else (thing[0], p)


def exact_capacity(graphs: Graphs) -> Capacity:
    """What the chosen graphs need, no more."""

    def widths(column: str, first: int, step: int) -> list[int]:
        depths = [graphs.get(column, x) for x in graphs.things(column)]
        return [depths.count(d) for d in range(first, max(depths, default=first - step) + 1, step)]

    blocks, cuts = widths("block_depth", 0, 2) or [0], widths("cut_depth", 1, 2)
    positions = [v for mine in graphs.columns for name in ("walk_kappa", "walk_pos", "spqr_theta") for v in mine[name]]
    return Capacity(
        graphs=len(graphs.columns),
        nodes=sum(mine["nodes"] for mine in graphs.columns),
        edges=len(graphs.things("edges")),
        walks=len(graphs.things("walk_node")),
        node_spqr=len(graphs.things("node_spqr_node")),
        node_block=len(graphs.things("node_block_node")),
        max_position=max(positions, default=0),
        spqr=tuple(widths("spqr_depth", 0, 1)[:0:-1]),
        blocks=tuple(blocks[::-1]),
        cuts=tuple(cuts[::-1]),
    )


def slow_collate(
    tables: Mapping[str, np.ndarray], ids: Sequence[int], rows_per_edge: int, capacity: Capacity | None = None
) -> tuple[Sections, Capacity]:
    """Every section of the batch, and the sizes it has."""
    graphs = Graphs(tables, ids)
    exact = exact_capacity(graphs)
    size = capacity or exact
    first_node = list(accumulate((mine["nodes"] for mine in graphs.columns), initial=0))
    first_edge = list(accumulate((len(mine["edges"]) for mine in graphs.columns), initial=0))
    node = {(g, v): first_node[g] + v for g, mine in enumerate(graphs.columns) for v in range(mine["nodes"])}
    blocks, cuts = block_and_cut_rows(graphs, size)
    spqr = spqr_rows(graphs, size, blocks)
    s: Sections = {}
    s |= node_sections(first_node, size)
    ends = [(node[g, u], node[g, v]) for g, e in graphs.things("edges") for u, v in [graphs.columns[g]["edges"][e]]]
    s |= dart_sections(ends, rows_per_edge, size)
    s |= walk_sections(graphs, node, spqr, ends, first_edge, rows_per_edge, size)
    s |= tree_sections(graphs, size, node, blocks, cuts, spqr)
    s |= incidence("node", "spqr", graphs, node, spqr, size.nodes, size.num_spqr, size.node_spqr)
    s |= incidence("node", "block", graphs, node, blocks, size.nodes, sum(size.blocks), size.node_block)
    s["counts"] = [
        exact.graphs,
        exact.nodes,
        2 * exact.edges,
        rows_per_edge * exact.edges,
        exact.walks,
        len(spqr),
        len(blocks),
        len(cuts),
        exact.node_spqr,
        exact.node_block,
    ]
    return s, size


def padded(values: list[int], length: int, pad: int = -1) -> list[int]:
    assert len(values) <= length
    return values + [pad] * (length - len(values))


def grouped(keys: list[int], values: list[int], count: int, length: int) -> tuple[list[int], list[int]]:
    """Offsets and values sorted by key (stable); keys of -1 are left out."""
    pairs = sorted([(k, i) for i, k in enumerate(keys) if k >= 0])
    counts = [0] * count
    for k, _ in pairs:
        counts[k] += 1
    ptr = list(accumulate(counts, initial=0))
    return ptr, padded([values[i] for _, i in pairs], length)


# ---- rows ---------------------------------------------------------------------------------------------------------------


def starts(widths: Sequence[int]) -> list[int]:
    """The first row of each slice, the roots' first; ``widths`` are deepest first."""
    return list(accumulate(widths, initial=0))[:-1][::-1]


def slice_rows(things: list[Thing], parent_row: dict[Thing, int], start: int) -> dict[Thing, int]:
    """Rows from ``start`` on: by the row of the parent (none: first), then by graph and id."""
    order = sorted(things, key=lambda x: (parent_row[x], x))
    return {x: start + k for k, x in enumerate(order)}


def block_and_cut_rows(graphs: Graphs, size: Capacity) -> tuple[dict[Thing, int], dict[Thing, int]]:
    blocks: dict[Thing, int] = {}
    cuts: dict[Thing, int] = {}
    for level, start in enumerate(starts(size.blocks)):
        here = [b for b in graphs.things("block_depth") if graphs.get("block_depth", b) == 2 * level]
        blocks |= slice_rows(here, {b: cuts.get(graphs.parent("block_parent_cut", b), -1) for b in here}, start)
        if level < len(size.cuts):
            here = [c for c in graphs.things("cut_depth") if graphs.get("cut_depth", c) == 2 * level + 1]
            parents = {c: blocks.get(graphs.parent("cut_parent_block", c), -1) for c in here}
            cuts |= slice_rows(here, parents, starts(size.cuts)[level])
    return blocks, cuts


def spqr_rows(graphs: Graphs, size: Capacity, blocks: dict[Thing, int]) -> dict[Thing, int]:
    rows: dict[Thing, int] = {}
    for depth, start in enumerate(starts((*size.spqr, sum(size.blocks)))):
        here = [c for c in graphs.things("spqr_depth") if graphs.get("spqr_depth", c) == depth]
        if depth == 0:
            rows |= {c: start + blocks[c[0], graphs.get("spqr_block", c)] for c in here}
        else:
            rows |= slice_rows(here, {c: rows[graphs.parent("spqr_parent", c)] for c in here}, start)
    return rows


# ---- sections -----------------------------------------------------------------------------------------------------------


def node_sections(first_node: list[int], size: Capacity) -> Sections:
    graph = [g for g, (a, b) in enumerate(pairwise(first_node)) for _ in range(a, b)]
    return {"node_ptr": padded(first_node, size.graphs + 1, first_node[-1]), "node_graph": padded(graph, size.nodes)}


def dart_sections(ends: list[tuple[int, int]], rows_per_edge: int, size: Capacity) -> Sections:
    darts = [(v, e, k, u) for e, (a, b) in enumerate(ends) for k, (u, v) in enumerate([(a, b), (b, a)])]  # u -> v
    darts.sort()
    position = {(e, k): i for i, (_, e, k, _) in enumerate(darts)}
    length, rows = 2 * size.edges, rows_per_edge * size.edges
    s = {
        "dart_ptr": grouped([v for v, *_ in darts], list(range(len(darts))), size.nodes, length)[0],
        "dart_source": padded([u for *_, u in darts], length),
        "dart_target": padded([v for v, *_ in darts], length),
        "dart_reverse": padded([position[e, 1 - k] for _, e, k, _ in darts], length),
        "dart_row": [],
        "row_dart_ptr": [],
        "row_dart": [],
    }
    if rows_per_edge:
        row = [e if rows_per_edge == 1 else 2 * e + k for _, e, k, _ in darts]
        s["dart_row"] = padded(row, length)
        s["row_dart_ptr"], s["row_dart"] = grouped(row, list(range(len(darts))), rows, length)
    return s


def walk_sections(
    graphs: Graphs,
    node: dict[Thing, int],
    spqr: dict[Thing, int],
    ends: list[tuple[int, int]],
    first_edge: list[int],
    rows_per_edge: int,
    size: Capacity,
) -> Sections:
    entries = sorted((spqr[w[0], graphs.get("walk_spqr", w)], w) for w in graphs.things("walk_node"))

    def column(name: str) -> list[int]:
        return [graphs.get(name, w) for _, w in entries]

    nodes = [node[w[0], graphs.get("walk_node", w)] for _, w in entries]
    numbers = list(range(len(entries)))
    s = {
        "walk_ptr": grouped([row for row, _ in entries], numbers, size.num_spqr, size.walks)[0],
        "walk_spqr": padded([row for row, _ in entries], size.walks),
        "walk_node": padded(nodes, size.walks),
        "walk_kappa": padded(column("walk_kappa"), size.walks, 0),
        "walk_pos": padded(column("walk_pos"), size.walks, 0),
        "walk_row": [],
        "row_walk_ptr": [],
        "row_walk": [],
    }
    s["node_walk_ptr"], s["node_walk"] = grouped(nodes, numbers, size.nodes, size.walks)
    if rows_per_edge:
        rows = []
        for (_, w), u in zip(entries, nodes, strict=True):
            e = graphs.get("walk_edge", w)
            e = -1 if e < 0 else first_edge[w[0]] + e
            direction = 0 if e < 0 else ends[e].index(u)
            rows.append(-1 if e < 0 else e if rows_per_edge == 1 else 2 * e + direction)
        s["walk_row"] = padded(rows, size.walks)
        s["row_walk_ptr"], s["row_walk"] = grouped(rows, numbers, rows_per_edge * size.edges, size.walks)
    return s


def tree_sections(
    graphs: Graphs, size: Capacity, node: dict[Thing, int], blocks: dict[Thing, int], cuts: dict[Thing, int], spqr: dict[Thing, int]
) -> Sections:
    def column(rows: dict[Thing, int], length: int, value, pad: int = -1) -> list[int]:
        out = [pad] * length
        for thing, row in rows.items():
            out[row] = value(thing)
        return out

    def children(rows: dict[Thing, int], length: int, parents: list[int]) -> tuple[list[int], list[int]]:
        begin, end = [0] * length, [0] * length
        for row in rows.values():
            mine = [child for child, parent in enumerate(parents) if parent == row]
            if mine:
                assert mine == list(range(mine[0], mine[-1] + 1)), "children must be contiguous"
                begin[row], end[row] = mine[0], mine[-1] + 1
        return begin, end

    c, b, k = size.num_spqr, sum(size.blocks), sum(size.cuts)
    s = {
        "spqr_type": column(spqr, c, lambda x: graphs.get("spqr_type", x)),
        "spqr_theta": column(spqr, c, lambda x: graphs.get("spqr_theta", x), 0),
        "spqr_parent": column(spqr, c, lambda x: spqr.get(graphs.parent("spqr_parent", x), -1)),
        "block_parent": column(blocks, b, lambda x: cuts.get(graphs.parent("block_parent_cut", x), -1)),
        "cut_parent": column(cuts, k, lambda x: blocks.get(graphs.parent("cut_parent_block", x), -1)),
        "cut_node": column(cuts, k, lambda x: node[x[0], graphs.get("cut_node", x)]),
        "node_cut": [-1] * size.nodes,
    }
    for row, v in enumerate(s["cut_node"]):
        if v >= 0:
            s["node_cut"][v] = row
    s["spqr_begin"], s["spqr_end"] = children(spqr, c, s["spqr_parent"])
    s["block_begin"], s["block_end"] = children(blocks, b, s["cut_parent"])
    s["cut_begin"], s["cut_end"] = children(cuts, k, s["block_parent"])
    return s


def incidence(
    one: str, other: str, graphs: Graphs, node: dict[Thing, int], rows: dict[Thing, int], nodes: int, others: int, length: int
) -> Sections:
    table = f"{one}_{other}"
    things = graphs.things(f"{table}_{one}")
    left = [node[x[0], graphs.get(f"{table}_{one}", x)] for x in things]
    right = [rows[x[0], graphs.get(f"{table}_{other}", x)] for x in things]
    ptr, by_node = grouped(left, right, nodes, length)
    order = sorted(range(len(left)), key=lambda i: (right[i], left[i]))
    back = grouped([right[i] for i in order], [left[i] for i in order], others, length)
    return {f"{one}_{other}_ptr": ptr, f"{one}_{other}": by_node, f"{other}_{one}_ptr": back[0], f"{other}_{one}": back[1]}
