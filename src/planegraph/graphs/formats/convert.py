"""Any graph that the caller has, as a :class:`Graph`: what all functions of the package accept. Duck-typed: nothing has to be installed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InvalidGraphError
from ..graph import Graph
from .networkx import from_networkx
from .pyg import from_pyg


def as_graph(graph: Any) -> Graph:
    """A graph of planegraph, networkx, igraph, rustworkx or PyG.

    Nodes keep their names where others have them: the nodes of networkx, the indices of rustworkx. All features of PyG become labels;
    attributes of other graphs do not, unless you name them: :meth:`Graph.from_networkx`.

    >>> import networkx as nx
    >>> as_graph(nx.Graph([("a", "b"), ("b", "c")])).names.tolist()
    ['a', 'b', 'c']
    """
    if isinstance(graph, Graph):
        return graph
    if all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed", "is_multigraph")):
        return from_networkx(graph)
    if all(hasattr(graph, name) for name in ("vcount", "get_edgelist", "is_directed")):  # igraph
        return _undirected(graph.is_directed(), graph.vcount(), graph.get_edgelist())
    if all(hasattr(graph, name) for name in ("node_indices", "edge_list")):  # rustworkx
        return _from_rustworkx(graph)
    if hasattr(graph, "edge_index"):
        return from_pyg(graph)
    raise InvalidGraphError(
        f"expected a planegraph.Graph, or a graph of networkx, igraph, rustworkx or PyG; found {type(graph).__name__}"
    )


def _undirected(directed: bool, n: int, pairs: Any, names: Any = None) -> Graph:
    if directed:
        raise InvalidGraphError("the graph is directed; give an undirected one, such as graph.to_undirected() makes")
    return Graph(n, np.array(pairs, np.int64).reshape(-1, 2), names=names)


def _from_rustworkx(graph: Any) -> Graph:
    """Indices may have gaps, where nodes were removed."""
    indices = np.array(graph.node_indices(), np.int64)
    pairs = np.array(graph.edge_list(), np.int64).reshape(-1, 2)
    return _undirected(type(graph).__name__ == "PyDiGraph", len(indices), np.searchsorted(indices, pairs), indices)
