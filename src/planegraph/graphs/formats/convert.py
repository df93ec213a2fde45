"""Any graph that the caller has, as a :class:`Graph`: what all functions of the package accept. Duck-typed: nothing has to be installed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...errors import InvalidGraphError
from ..batch import GraphBatch
from ..graph import Graph
from ..multigraph import MultiGraph, is_simple
from .networkx import from_networkx, is_networkx, undirected_edges
from .pyg import from_pyg


def as_graph(graph: Any) -> Graph:
    """A graph of planegraph, networkx, igraph, rustworkx or PyG, or that of an :class:`Embedding`.

    Nodes keep their names where others have them: the nodes of networkx, the indices of rustworkx. All features of PyG become labels;
    attributes of other graphs do not, unless you name them: :meth:`Graph.from_networkx`.

    >>> import networkx as nx
    >>> as_graph(nx.Graph([("a", "b"), ("b", "c")])).names.tolist()
    ['a', 'b', 'c']
    """
    if isinstance(graph, Graph):
        return graph
    if isinstance(graph, MultiGraph):
        raise InvalidGraphError(
            "a MultiGraph may have loops and parallel edges, which this function does not take; give graph.simple()"
        )
    if (parts := _parts(graph)) is not None:
        n, pairs, names = parts
        return Graph(n, pairs, names=names)
    if is_networkx(graph):  # directed
        return from_networkx(graph)
    if hasattr(graph, "edge_index"):
        return from_pyg(graph)
    raise InvalidGraphError(
        f"expected a planegraph.Graph, or a graph of networkx, igraph, rustworkx or PyG; found {type(graph).__name__}"
    )


def as_any_graph(graph: Any) -> Graph | MultiGraph:
    """The same for functions that take loops and parallel edges: a :class:`MultiGraph` if there are some.

    >>> import networkx as nx
    >>> as_any_graph(nx.MultiGraph([("a", "b"), ("a", "b")]))
    MultiGraph(2 nodes, 2 edges)
    """
    if isinstance(graph, MultiGraph):
        return graph
    parts = None if isinstance(graph, Graph) else _parts(graph)
    if parts is None or is_simple(parts[1]):
        return as_graph(graph)
    return MultiGraph(*parts)


def as_simple_graph(graph: Any) -> Graph:
    """The same for functions for which loops and parallel edges change nothing: without them.

    >>> as_simple_graph(MultiGraph(2, [(0, 1), (1, 0), (1, 1)]))
    Graph(2 nodes, 1 edge)
    """
    found = as_any_graph(graph)
    return found.simple() if isinstance(found, MultiGraph) else found


def as_batch(graphs: Any) -> GraphBatch:
    """A batch as it is, or one of several graphs, each of any kind that :func:`as_graph` reads.

    >>> import planegraph as pg
    >>> as_batch([pg.families.path(3), pg.embedding(pg.families.cycle(3))])
    GraphBatch(2 graphs, 6 nodes, 5 edges)
    """
    if isinstance(graphs, GraphBatch):
        return graphs
    if isinstance(graphs, Graph | MultiGraph) or any(hasattr(graphs, name) for name in _OF_ONE):
        raise InvalidGraphError(f"expected several graphs; found one, a {type(graphs).__name__}: put it into a list")
    if isinstance(graphs, str | bytes) or not isinstance(graphs, Iterable):
        raise InvalidGraphError(f"expected a planegraph.GraphBatch, or several graphs; found {type(graphs).__name__}")
    return GraphBatch.from_graphs(graphs)


_OF_ONE = ("is_multigraph", "get_edgelist", "edge_list", "edge_index", "face_darts")
"""What a graph of networkx, igraph, rustworkx or PyG and an embedding have."""


def _parts(graph: Any) -> tuple[int, np.ndarray, Any] | None:
    """Nodes, edges and names of an embedding or of an undirected graph of networkx, igraph or rustworkx; None for others."""
    if hasattr(graph, "face_darts"):  # an Embedding, of a later layer
        return graph.num_nodes, graph.edges, graph.names
    if is_networkx(graph):
        return undirected_edges(graph)
    if all(hasattr(graph, name) for name in ("vcount", "get_edgelist", "is_directed")):  # igraph
        directed, n, pairs, names = graph.is_directed(), graph.vcount(), graph.get_edgelist(), None
    elif all(hasattr(graph, name) for name in ("node_indices", "edge_list")):  # rustworkx
        names = np.array(graph.node_indices(), np.int64)  # with gaps, where nodes were removed
        directed, n, pairs = (
            type(graph).__name__ == "PyDiGraph",
            len(names),
            np.searchsorted(names, np.array(graph.edge_list(), np.int64)),
        )
    else:
        return None
    if directed:
        raise InvalidGraphError("the graph is directed; give an undirected one, such as graph.to_undirected() makes")
    return n, np.array(pairs, np.int64).reshape(-1, 2), names
