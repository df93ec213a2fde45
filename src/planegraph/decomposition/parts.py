"""A large graph cut into parts along its cut nodes and components: for models that read one part at a time.

Blocks are taken in preorder of the block-cut tree, so that neighbours in the tree mostly stay together, and consecutive blocks make a part
until it is full. O(n log n) in flat arrays, however deep the tree is.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from ..errors import InvalidGraphError, PlanegraphWarning
from ..graphs.formats.convert import as_graph
from ..graphs.graph import Graph
from ..io.text import counted
from .api import decompose


class GraphPart(NamedTuple):
    """Whole blocks of a graph.

    Attributes:
        graph: the blocks, with labels and names.
        nodes: (nodes of the part,) where each of them is in the whole graph, ascending.
        owned: (nodes of the part,) a mask: each node of the whole graph is owned by one of the parts it lies in.
    """

    graph: Graph
    nodes: np.ndarray
    owned: np.ndarray


def block_parts(graph: Any, most: int) -> list[GraphPart]:
    """The parts of a planar graph, each of at most so many nodes; a cut node belongs to all parts it touches.

    A block that is larger stays whole, which a :class:`PlanegraphWarning` says. The blocks of a part need not be connected. Nodes are
    counted once for each of their blocks, so a part of many small blocks has fewer than ``most``.

    >>> import planegraph as pg
    >>> [p.nodes.tolist() for p in pg.block_parts(pg.families.path(6), most=4)]
    [[1, 2, 3], [0, 1, 3, 4], [4, 5]]
    """
    graph = as_graph(graph)
    if isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 1:
        raise InvalidGraphError(f"most must be a number of nodes, at least 1; found {most!r}")
    nodes, blocks, of_edge, order = _blocks(graph)
    sizes = np.bincount(blocks, minlength=len(order))[order]
    if len(sizes) and sizes.max() > most:
        warnings.warn(
            f"{counted(int((sizes > most).sum()), 'block')} of more than {most} nodes stay whole, the largest with {sizes.max()}",
            PlanegraphWarning,
            stacklevel=2,
        )
    part = np.empty(len(order), np.int64)
    part[order] = _runs(sizes, most)
    return _cut(graph, part[blocks], nodes, part[of_edge])


def _blocks(graph: Graph) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Nodes and blocks of all incidences, the block of each edge, and the blocks in preorder. Isolated nodes count as blocks here."""
    d = decompose(graph)
    a, n = d.arrays, graph.num_nodes
    parent_cut = a["block_parent_cut"]
    above = np.where(parent_cut < 0, -1, np.append(a["cut_node"], -1)[parent_cut])  # the node that a block hangs at
    parent = np.where(parent_cut < 0, -1, np.append(a["cut_parent_block"], -1)[parent_cut])
    alone = np.setdiff1d(np.arange(n), a["node_block_node"])
    nodes = np.concatenate([a["node_block_node"], alone])
    blocks = np.concatenate([a["node_block_block"], len(parent_cut) + np.arange(len(alone))])
    roots = np.full(len(alone), -1)
    return nodes, blocks, d.edge_block, _preorder(np.append(parent, roots), np.append(above, roots))


def _preorder(parent: np.ndarray, hook: np.ndarray) -> np.ndarray:
    """The nodes of a forest in preorder; children of one parent by ``hook``. By pointer jumping: O(n log n), without a loop over depths."""
    n = len(parent)
    order = np.lexsort((hook, parent))
    siblings = parent[order[1:]] == parent[order[:-1]]
    sibling, child = np.full(n + 1, n), np.full(n + 1, n)  # the next one, and the first; n is none
    sibling[order[:-1][siblings]] = order[1:][siblings]
    first = order[np.append(True, ~siblings)[: len(order)]]
    child[parent[first]] = first  # of the roots, whose parent is -1, at n
    start, child[n] = int(child[n]), n
    climb = np.append(np.where((sibling[:n] < n) | (parent < 0), np.arange(n), parent), n)  # to the nearest that has a next sibling
    while (climb[climb] != climb).any():
        climb = climb[climb]
    following = np.where(child < n, child, sibling[climb])
    left = np.append(np.ones(n, np.int64), 0)  # steps to the end
    while (following != n).any():
        left, following = left + left[following], following[following]
    assert n == 0 or left[start] == n
    return np.argsort(-left[:n], kind="stable")


def _runs(sizes: np.ndarray, most: int) -> np.ndarray:
    """Number consecutive items so that those of one number have a sum of at most ``most``, or are a single one.

    >>> _runs(np.array([2, 2, 9, 1, 3]), 4).tolist()
    [0, 0, 1, 2, 2]
    """
    total, number = np.cumsum(sizes), np.empty(len(sizes), np.int64)
    start, k, before = 0, 0, 0
    while start < len(sizes):
        end = max(int(np.searchsorted(total, before + most, side="right")), start + 1)
        number[start:end] = k
        start, k, before = end, k + 1, int(total[end - 1])
    return number


def _cut(graph: Graph, part: np.ndarray, nodes: np.ndarray, part_of_edge: np.ndarray) -> list[GraphPart]:
    """The parts, given the part and node of each incidence and the part of each edge. The first part of a node owns it."""
    n, count = graph.num_nodes, int(part.max(initial=-1)) + 1
    pairs = np.unique(part * n + nodes)
    part, nodes = np.divmod(pairs, max(n, 1))
    owned = np.zeros(len(nodes), bool)
    owned[np.unique(nodes, return_index=True)[1]] = True
    edges = np.argsort(part_of_edge, kind="stable")
    node_at, edge_at = (np.searchsorted(of, np.arange(count + 1)) for of in (part, part_of_edge[edges]))

    def rows(labels: np.ndarray | None, ids: np.ndarray) -> np.ndarray | None:
        return None if labels is None else labels[ids]

    found = []
    for k in range(count):
        here, mine = nodes[node_at[k] : node_at[k + 1]], edges[edge_at[k] : edge_at[k + 1]]
        cut = Graph(
            len(here),
            np.searchsorted(here, graph.edges[mine]),
            node_labels=rows(graph.node_labels, here),
            edge_labels=rows(graph.edge_labels, mine),
            dart_labels=rows(graph.dart_labels, mine),
            names=rows(graph.names, here),
        )
        found.append(GraphPart(cut, here, owned[node_at[k] : node_at[k + 1]]))
    return found
