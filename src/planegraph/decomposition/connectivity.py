"""What the tables say about connectivity, as flat arrays: bridges, separation pairs, node connectivity. All in O(n + m).

A block that is one edge is a bridge. The pairs of nodes that separate a block are the poles of its virtual edges, and two nodes of an S
cycle that are not adjacent on it; no other pair separates it (Hopcroft and Tarjan 1973). In multigraphs some virtual edges separate
nothing but parallel edges from the rest; their poles do not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, pairwise
from typing import Any

import numpy as np

from ..graphs.graph import Graph
from ..graphs.multigraph import MultiGraph
from ..io.text import counted

S, P, Q, R = range(4)
Arrays = Mapping[str, np.ndarray]


def spqr_of_edges(num_edges: int, a: Arrays) -> np.ndarray:
    """The SPQR node whose skeleton holds each edge of the graph."""
    owner = np.empty(num_edges, np.int32)
    real = a["walk_edge"] >= 0
    owner[a["walk_edge"][real]] = a["walk_spqr"][real]
    return owner


def first_rows(group: np.ndarray, count: int) -> np.ndarray:
    """The first row of each of the groups 0..count-1, -1 where there is none.

    >>> first_rows(np.array([2, 0, 2]), 4).tolist()
    [1, -1, 0, -1]
    """
    first = np.full(count, -1)
    first[group[::-1]] = np.arange(len(group))[::-1]
    return first


def dart_targets(a: Arrays) -> np.ndarray:
    """The node to which the dart of each row of the walks leads."""
    node, owner = a["walk_node"], a["walk_spqr"]
    begin = np.searchsorted(owner, np.arange(len(a["spqr_type"]) + 1, dtype=owner.dtype))
    target = np.empty_like(node)
    target[:-1] = node[1:]
    target[begin[1:] - 1] = node[begin[:-1]]
    # in Q, P and sets the row after a dart or that before it is its reverse
    second = (np.isin(a["spqr_type"], (P, Q)) | (a["spqr_set"] > 0))[owner]
    second &= (np.arange(len(node)) - begin[:-1][owner]) % 2 == 1
    at = np.flatnonzero(second)
    target[at] = node[at - 1]
    return target


def parent_poles(a: Arrays) -> np.ndarray:
    """Shape (SPQR nodes, 2): the ends of the virtual edge between each SPQR node and its parent, -1 at roots."""
    parent = a["spqr_parent"]
    up = np.flatnonzero((a["walk_other"] >= 0) & (a["walk_other"] == parent[a["walk_spqr"]]))
    poles = np.full((len(parent), 2), -1, np.int32)
    owner = a["walk_spqr"][up[::-1]]  # the first row counts: the direction in which the walk meets the edge
    poles[owner, 0] = a["walk_node"][up[::-1]]
    poles[owner, 1] = dart_targets(a)[up[::-1]]
    return poles


class SeparationPairs:
    """All pairs of nodes that separate their block: ``len(pairs)`` is their number, and iterating yields each once, as two names.

    A cycle of k nodes in an SPQR tree has k (k - 3) / 2 of them, so they are kept in a compact form: some pairs, and cycles of which
    any two nodes that are not adjacent are a pair.

    Attributes:
        poles: shape (p, 2), int32: the pairs that are the ends of virtual edges, each once.
        cycle_ptr, cycle_nodes: S cycle k has the nodes ``cycle_nodes[cycle_ptr[k]:cycle_ptr[k + 1]]``, in their order. Only cycles of
            four or more nodes are here, as triangles have no such pair.

    >>> import planegraph as pg
    >>> pairs = pg.decompose(pg.Graph(6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 2)])).separation_pairs
    >>> pairs
    SeparationPairs(6: 1 at virtual edges, the others on 1 cycle)
    >>> pairs.poles.tolist(), pairs.cycle_nodes.tolist()
    ([[0, 2]], [0, 2, 3, 4, 5])
    >>> list(pairs)
    [(0, 2), (0, 3), (0, 4), (2, 4), (2, 5), (3, 5)]
    """

    def __init__(self, graph: Graph | MultiGraph, a: Arrays) -> None:
        self._named = graph.named
        self.poles = _separating_poles(a)
        self.cycle_ptr, self.cycle_nodes = _long_cycles(a)
        for array in (self.poles, self.cycle_ptr, self.cycle_nodes):
            array.flags.writeable = False

    def __len__(self) -> int:
        k = np.diff(self.cycle_ptr)
        return len(self.poles) + int((k * (k - 3) // 2).sum())

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        yield from map(tuple, self._named(self.poles).tolist())
        for a, b in pairwise(self.cycle_ptr.tolist()):
            cycle = self._named(self.cycle_nodes[a:b]).tolist()
            for i, u in enumerate(cycle):
                for v in islice(cycle, i + 2, len(cycle) - (i == 0)):
                    yield u, v

    def __repr__(self) -> str:
        cycles = counted(len(self.cycle_ptr) - 1, "cycle")
        return f"SeparationPairs({len(self)}: {len(self.poles)} at virtual edges, the others on {cycles})"


def _separating_poles(a: Arrays) -> np.ndarray:
    """Of each virtual edge that separates nodes; once for all edges of a bond, which have the same ends."""
    kind, parent = a["spqr_type"], a["spqr_parent"]
    child = np.flatnonzero(parent >= 0)
    above = parent[child]
    virtual = np.bincount(above, minlength=len(kind)) + (parent >= 0)
    bond, leaf = kind == P, (kind == P) & (virtual < 2)  # a leaf has real edges only, of a multigraph
    is_first = first_rows(above, len(kind))[above] == np.arange(len(child))
    once = ~bond[above] | ((parent[above] < 0) & is_first)  # a bond that hangs is counted at its own edge
    chosen = child[once & ~leaf[child] & ~leaf[above]]
    return parent_poles(a)[chosen]


def _long_cycles(a: Arrays) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and nodes of the S cycles of four nodes or more."""
    kind, owner = a["spqr_type"], a["walk_spqr"]
    rows = np.bincount(owner, minlength=len(kind))
    plain = (kind == S) & (a["spqr_set"] == 0) & (rows > 3)
    nodes = a["walk_node"][plain[owner]]
    # the walk of a set has both darts of each edge, and the edges in any order
    sets = [_cycle(a, c) for c in np.flatnonzero((kind == S) & (a["spqr_set"] > 0) & (rows > 6)).tolist()]
    lengths = np.concatenate([rows[plain], np.array([len(cycle) for cycle in sets], rows.dtype)])
    return np.concatenate([[0], np.cumsum(lengths)]), np.concatenate([nodes, *sets])


def _cycle(a: Arrays, c: int) -> np.ndarray:
    """The nodes of a cycle that is encoded as a set, from one of them round."""
    first, last = np.searchsorted(a["walk_spqr"], np.array([c, c + 1], np.int32))
    darts = a["walk_node"][first:last].reshape(-1, 2).tolist()
    adjacent: dict[int, list[int]] = {}
    for u, v in darts:
        adjacent.setdefault(u, []).append(v)
        adjacent.setdefault(v, []).append(u)
    cycle = darts[0]
    while len(cycle) < len(adjacent):
        one, other = adjacent[cycle[-1]]
        cycle.append(other if one == cycle[-2] else one)
    return np.array(cycle, np.int32)
