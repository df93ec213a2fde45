"""Graphs that are not planar: a maximal planar subgraph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core
from ..graphs.formats.convert import as_graph
from ..graphs.graph import Graph, read_only


@dataclass(frozen=True, eq=False)
class PlanarSubgraph:
    """What :func:`planegraph.planar_subgraph` finds. Its arrays are read-only."""

    graph: Graph
    """The planar graph: all nodes, with names and labels, and the edges that were kept, in their order."""
    kept: np.ndarray
    """For each of its edges, the number of the edge in the input."""
    left_out: np.ndarray
    """The numbers of the other edges, ascending."""


def planar_subgraph(graph: Any) -> PlanarSubgraph:
    """A maximal planar subgraph: it is planar, and is not with any of the edges that it leaves out.

    The fewest edges to leave out are hard to find (NP-hard); there are few where what makes the graph non-planar is local, such as bridges
    of a road network over others, or comes from few edges. Small regions are repaired first, then larger ones: O((n + m) log n), and a few
    planarity tests of the whole graph for every edge that no region shows. A graph that is far from planar may take O(m) such tests.

    Equal input gives an equal answer; another order of nodes and edges may give another one.

    >>> import planegraph as pg
    >>> found = pg.planar_subgraph(pg.families.complete(5))
    >>> found.graph, found.left_out.tolist()
    (Graph(5 nodes, 9 edges), [9])
    """
    graph = as_graph(graph)
    left_out = _core.beyond_planar(graph.num_nodes, graph.edges).astype(np.int64)
    kept = np.delete(np.arange(graph.num_edges), left_out)
    edge, dart = (None if rows is None else rows[kept] for rows in (graph.edge_labels, graph.dart_labels))
    planar = Graph._trusted(graph.num_nodes, graph.edges[kept], graph.node_labels, edge, dart, graph.names)
    return PlanarSubgraph(planar, read_only(kept), read_only(left_out))
