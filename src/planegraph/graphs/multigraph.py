"""One graph that may have loops and parallel edges: what SPQR trees are natural for. Everything else is for a simple :class:`Graph`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidGraphError
from ..io.text import counted
from .graph import Graph, as_count, as_edges, as_names, check_size


class MultiGraph:
    """An undirected graph with loops and parallel edges, without labels. Immutable.

    Equality is that of :class:`Graph`; one without loops and parallel edges equals the :class:`Graph` of its edges without labels.

    :func:`planegraph.decompose` takes it, and so do :func:`is_planar`, :func:`kuratowski_witness` and :func:`st_numbering`, for which
    loops and parallel edges change nothing. Other functions want a simple graph, such as :meth:`simple` makes.

    Args:
        num_nodes: the nodes are 0..num_nodes - 1.
        edges: shape (m, 2), the ends of each edge.
        names: what the caller calls the nodes, as in :class:`Graph`.

    >>> import planegraph as pg
    >>> g = pg.MultiGraph(2, [(0, 1), (1, 0), (1, 1)])
    >>> g
    MultiGraph(2 nodes, 3 edges)
    >>> g.simple().edges.tolist()
    [[0, 1]]
    """

    __slots__ = ("__weakref__", "edges", "names", "num_nodes")
    num_nodes: int
    edges: np.ndarray
    """Shape (m, 2), int64, read-only; row e is edge e as it was given."""
    names: np.ndarray | None
    """What the caller calls the nodes, read-only; None if they are simply 0..n-1."""

    def __init__(self, num_nodes: int, edges: Any, names: Any = None) -> None:
        n, pairs = as_count(num_nodes), as_edges(edges)
        check_size(len(pairs), "edges")
        wrong = np.flatnonzero(((pairs < 0) | (pairs >= n)).any(axis=1))
        if len(wrong):
            u, v = pairs[wrong[0]].tolist()
            raise InvalidGraphError(
                f"edge {wrong[0]} = ({u}, {v}) names a node that does not exist; there are {counted(n, 'node')}"
            )
        pairs.flags.writeable = False
        for name, value in (("num_nodes", n), ("edges", pairs), ("names", as_names(names, n))):
            object.__setattr__(self, name, value)
        if self.names is not None:
            self.names.flags.writeable = False

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a MultiGraph cannot be changed; make a new one with another {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a MultiGraph cannot be changed")

    def __reduce__(self) -> tuple:
        return MultiGraph, (self.num_nodes, self.edges, self.names)

    def __repr__(self) -> str:
        return f"MultiGraph({counted(self.num_nodes, 'node')}, {counted(self.num_edges, 'edge')})"

    @property
    def num_edges(self) -> int:
        """The number of edges, each parallel one and each loop counted."""
        return len(self.edges)

    def named(self, nodes: np.ndarray) -> np.ndarray:
        """The names of these nodes, in an array of the same shape; the nodes themselves if they have no names."""
        return nodes if self.names is None else self.names[nodes]

    @classmethod
    def of(cls, graph: Any) -> MultiGraph:
        """Any graph that :func:`planegraph.as_graph` reads, with its loops and parallel edges; labels are left behind.

        >>> import networkx as nx
        >>> g = MultiGraph.of(nx.MultiGraph([("a", "b"), ("a", "b"), ("b", "b")]))
        >>> g, g.simple()
        (MultiGraph(2 nodes, 3 edges), Graph(2 nodes, 1 edge))
        """
        from .formats.convert import as_any_graph

        found = as_any_graph(graph)
        return found if isinstance(found, MultiGraph) else cls(found.num_nodes, found.edges, found.names)

    def to_networkx(self) -> Any:
        """See :func:`planegraph.graphs.formats.networkx.to_multigraph`."""
        from .formats.networkx import to_multigraph

        return to_multigraph(self)

    def _key(self) -> tuple:
        low, high = self.edges.min(axis=1, initial=self.num_nodes), self.edges.max(axis=1, initial=-1)
        order = np.lexsort((high, low))
        return self.num_nodes, np.stack([low[order], high[order]], axis=1).tobytes()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Graph):
            unlabelled = other.node_labels is None and other.edge_labels is None and other.dart_labels is None
            return unlabelled and self._key() == MultiGraph.of(other)._key()
        return self._key() == other._key() if isinstance(other, MultiGraph) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def simple(self) -> Graph:
        """The graph without loops, and with one edge for those that are parallel: the first of them."""
        return Graph(self.num_nodes, self.edges[_first_of_each(self.edges)], names=self.names)


def is_simple(edges: np.ndarray) -> bool:
    """Whether no edge is a loop, and no two are parallel.

    >>> is_simple(np.array([(0, 1), (1, 2)])), is_simple(np.array([(0, 1), (1, 0)]))
    (True, False)
    """
    return len(_first_of_each(edges)) == len(edges)


def _first_of_each(edges: np.ndarray) -> np.ndarray:
    """The edges that are no loops and have none parallel to them before, ascending."""
    if not len(edges):
        return np.empty(0, np.int64)
    low, high = edges.min(axis=1), edges.max(axis=1)
    first = np.unique(low * (int(high.max()) + 1) + high, return_index=True)[1]
    return np.sort(first[low[first] != high[first]])
