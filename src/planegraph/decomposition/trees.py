"""The trees of a decomposition as graphs of networkx, with the caller's names. A Python object for each node and edge: some ten
microseconds each, where arrays take nanoseconds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..graphs.formats.networkx import networkx_for
from .connectivity import parent_poles
from .rows import Groups, checked_number
from .tables import TYPES

if TYPE_CHECKING:
    from .objects import Decomposition

LETTERS = np.array(list(TYPES), object)


def block_cut_tree(d: Decomposition) -> Any:
    """The block-cut tree as a ``networkx.Graph``; a forest, with a tree for each component that has an edge.

    Nodes are ``("block", 0)``, ``("block", 1)``, ... and ``("cut", name)``. Attributes of a block: ``kind`` "block", ``nodes``, and
    ``edges`` as (u, v), both by name; ``edge_ids``, their numbers; ``level``, its height. Of a cut node: ``kind`` "cut", ``node``,
    ``level``. A million nodes take some ten seconds.

    >>> import planegraph as pg
    >>> tree = pg.decompose(pg.Graph(3, [(0, 1), (1, 2)], names="abc")).block_cut_tree()
    >>> sorted(tree.edges)
    [(('block', 0), ('cut', 'b')), (('block', 1), ('cut', 'b'))]
    >>> tree.nodes["block", 0]["edges"]
    [('a', 'b')]
    """
    a = d.arrays
    count = len(a["block_root"])
    tree = networkx_for("block_cut_tree").Graph()
    nodes = Lists(Groups(a["node_block_block"]), count, d.named(a["node_block_node"]))
    ids = Lists(Groups(d.edge_block), count, np.arange(d.graph.num_edges))
    pairs = Lists(Groups(d.edge_block), count, pairs_of(d))
    tree.add_nodes_from(
        (("block", b), {"kind": "block", "nodes": nodes[b], "edges": pairs[b], "edge_ids": ids[b], "level": level})
        for b, level in enumerate(a["block_level"].tolist())
    )
    cuts = d.named(a["cut_node"]).tolist()
    tree.add_nodes_from(
        (("cut", v), {"kind": "cut", "node": v, "level": level}) for v, level in zip(cuts, a["cut_level"].tolist(), strict=True)
    )
    tree.add_edges_from((("cut", cuts[c]), ("block", b)) for b, c in enumerate(a["block_parent_cut"].tolist()) if c >= 0)
    tree.add_edges_from((("block", b), ("cut", cuts[c])) for c, b in enumerate(a["cut_parent_block"].tolist()) if b >= 0)
    return tree


def spqr_tree(d: Decomposition, block: int | None = None) -> Any:
    """The SPQR tree of a block as a ``networkx.Graph``, or of all blocks as a forest. Its nodes are the indices in ``spqr_nodes``.

    Attributes of a node: ``kind``, one of "S", "P", "Q", "R"; ``nodes`` of the skeleton, by name; ``edges``, its real edges as
    (u, v), by name; ``edge_ids``, their numbers; ``virtual_edges``, a dict from the SPQR node behind a virtual edge to its ends, by
    name; ``block``; ``level``, its height in the tree. An edge of the tree stands for two virtual edges that are twins:
    ``tree.nodes[a]["virtual_edges"][b]`` and ``tree.nodes[b]["virtual_edges"][a]``; its attribute ``poles`` is their ends.
    :func:`skeleton` gives a skeleton as a graph. A million SPQR nodes take some ten seconds.

    >>> import planegraph as pg
    >>> tree = pg.decompose(pg.Graph(4, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)], names="abcd")).spqr_tree()
    >>> sorted(tree.nodes(data="kind"))
    [(0, 'P'), (1, 'S'), (2, 'S')]
    >>> tree.edges[0, 1]["poles"], tree.nodes[0]["edges"]
    (('a', 'c'), [('a', 'c')])
    """
    a = d.arrays
    tree = networkx_for("spqr_tree").Graph()
    first, last = bounds_of(d, block)
    inside = np.flatnonzero((a["node_spqr_spqr"] >= first) & (a["node_spqr_spqr"] < last))
    nodes = Lists(Groups(a["node_spqr_spqr"][inside] - first), last - first, d.named(a["node_spqr_node"][inside]))
    real = np.flatnonzero((d.edge_spqr >= first) & (d.edge_spqr < last))
    groups = Groups(d.edge_spqr[real] - first)
    ids, pairs = Lists(groups, last - first, real), Lists(groups, last - first, pairs_of(d, real))
    table = {name: a[name][first:last].tolist() for name in ("spqr_level", "spqr_block", "spqr_parent")}
    kinds = LETTERS[a["spqr_type"][first:last]].tolist()
    poles = pole_names(d, first, last)
    for i, c in enumerate(range(first, last)):
        tree.add_node(
            c,
            kind=kinds[i],
            nodes=nodes[i],
            edges=pairs[i],
            edge_ids=ids[i],
            virtual_edges={},
            block=table["spqr_block"][i],
            level=table["spqr_level"][i],
        )
    for c in range(first, last):
        parent = table["spqr_parent"][c - first]
        if parent >= 0:
            ends = poles[c - first]
            tree.add_edge(parent, c, poles=ends)
            tree.nodes[parent]["virtual_edges"][c] = tree.nodes[c]["virtual_edges"][parent] = ends
    return tree


def skeleton(d: Decomposition, index: int) -> Any:
    """The skeleton of an SPQR node as a ``networkx.MultiGraph`` of nodes by name.

    Attributes of an edge: ``edge``, its number in the graph, None if it is virtual; ``other``, the SPQR node behind a virtual edge,
    which has its twin, None if it is real.

    >>> import planegraph as pg
    >>> bond = pg.decompose(pg.families.k2n(3)).skeleton(0)
    >>> sorted(other for _, _, other in bond.edges(data="other"))
    [1, 2, 3]
    """
    graph = networkx_for("skeleton").MultiGraph()
    node = d.spqr_nodes[checked_number(index, len(d.spqr_nodes), "SPQR node")]
    name = dict(zip(node.nodes, d.named(list(node.nodes)).tolist(), strict=True))
    graph.add_nodes_from(name.values())
    graph.add_edges_from((name[e.u], name[e.v], {"edge": e.edge, "other": e.other}) for e in node.edges)
    return graph


def bounds_of(d: Decomposition, block: int | None) -> tuple[int, int]:
    """The first SPQR node of a block and the one after its last, as they stand together; of all blocks for None."""
    if block is None:
        return 0, len(d.arrays["spqr_type"])
    nodes = d.blocks[checked_number(block, len(d.blocks), "block")].spqr_nodes
    return nodes[0], nodes[-1] + 1


def pairs_of(d: Decomposition, edges: np.ndarray | slice = slice(None)) -> np.ndarray:
    """The ends of edges as an array of tuples, by name."""
    return _objects(map(tuple, d.ends(edges).tolist()), len(d.graph.edges[edges]))


def pole_names(d: Decomposition, first: int, last: int) -> list[tuple[Any, Any]]:
    """The ends of the virtual edges between the SPQR nodes first, ..., last - 1 and their parents; roots have anything."""
    return list(map(tuple, d.named(parent_poles(d.arrays)[first:last]).tolist()))


class Lists:
    """Values of the rows of each group, as lists."""

    def __init__(self, groups: Groups, count: int, values: np.ndarray) -> None:
        self._values, self._bounds = values[groups.rows].tolist(), groups.bounds(0, count).tolist()

    def __getitem__(self, group: int) -> list:
        return self._values[self._bounds[group] : self._bounds[group + 1]]


def _objects(values: Iterable[Any], count: int) -> np.ndarray:
    return np.fromiter(values, object, count)
