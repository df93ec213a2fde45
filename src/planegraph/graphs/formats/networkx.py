"""Graphs from and to networkx. Duck-typed: reading does not need it installed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import InvalidGraphError, MissingDependencyError
from ..directions import by_edge, pair_directions
from ..graph import Graph
from ..labels import refuse_rounding

_EXACT_IN_DOUBLE = 2**53


def from_networkx(G: Any, node_attrs: Any = None, edge_attrs: Any = None) -> Graph:
    """A networkx graph; node i of the result is the i-th of ``G.nodes``.

    Args:
        node_attrs: a name or several names of node attributes; their values (numbers or rows of numbers) become the labels.
        edge_attrs: the same for edges. In a ``DiGraph`` every edge must be there in both directions, and each direction gives
            its own label.

    >>> import networkx as nx
    >>> G = nx.cycle_graph(4)
    >>> nx.set_node_attributes(G, 6, "element")
    >>> from_networkx(G, node_attrs="element")
    Graph(4 nodes, 4 edges, node_labels=int64 x 1)
    """
    if not all(hasattr(G, name) for name in ("nodes", "edges", "is_directed", "is_multigraph")):
        raise InvalidGraphError(f"expected a networkx graph; found {type(G).__name__}")
    nodes = list(G.nodes)
    number = {v: i for i, v in enumerate(nodes)}
    n = len(nodes)
    names = list(G.edges) if not G.is_multigraph() else [(u, v) for u, v, _ in G.edges]
    edges = np.array([(number[u], number[v]) for u, v in names], np.int64).reshape(-1, 2)
    node_labels = _columns([G.nodes[v] for v in nodes], node_attrs, lambda i: f"node {nodes[i]!r}")
    attributes = [data for *_, data in G.edges(data=True)]
    edge_labels = _columns(attributes, edge_attrs, lambda i: f"edge {names[i]!r}")
    if not G.is_directed():
        return Graph(n, edges, node_labels, edge_labels)
    for u, v in names:
        if u == v:
            raise InvalidGraphError(f"edge {(u, v)!r} is a self-loop; drop it, or say it by a node label")
        if not G.has_edge(v, u):
            raise InvalidGraphError(
                f"the DiGraph has edge {(u, v)!r} but not {(v, u)!r}; give both directions, or use G.to_undirected()"
            )
    if len(set(names)) < len(names):
        raise InvalidGraphError(
            "the MultiDiGraph has parallel edges; give each direction once, and put a multiplicity into its label"
        )
    d = pair_directions(edges.T, np.array([0, len(edges)]), np.array([0, n]))
    labels = None if edge_labels is None else by_edge(edge_labels, d)
    by_dart = labels is not None and labels.ndim == 3
    return Graph(n, edges[d.first], node_labels, None if by_dart else labels, labels if by_dart else None)


def to_networkx(graph: Graph) -> Any:
    """A networkx ``Graph``, or a ``DiGraph`` with both directions if there are dart labels; labels are attributes ``label``.

    A label of width 1 is a number, a wider one a tuple.

    >>> import planegraph as pg
    >>> to_networkx(pg.Graph(2, [(0, 1)], node_labels=[5, 7])).nodes(data="label")
    NodeDataView({0: 5, 1: 7}, data='label')
    """
    try:
        import networkx as nx
    except ImportError:
        raise MissingDependencyError("to_networkx needs networkx: pip install networkx") from None
    nodes, labels = range(graph.num_nodes), _values(graph.node_labels)
    G = nx.Graph() if graph.dart_labels is None else nx.DiGraph()
    G.add_nodes_from(nodes if labels is None else ((v, {"label": x}) for v, x in zip(nodes, labels, strict=True)))
    pairs = graph.edges.tolist()
    if graph.dart_labels is not None:
        for (u, v), there, back in zip(pairs, _values(graph.dart_labels[:, 0]), _values(graph.dart_labels[:, 1]), strict=True):
            G.add_edge(u, v, label=there)
            G.add_edge(v, u, label=back)
    elif graph.edge_labels is not None:
        G.add_edges_from((u, v, {"label": x}) for (u, v), x in zip(pairs, _values(graph.edge_labels), strict=True))
    else:
        G.add_edges_from(pairs)
    return G


def _columns(rows: list[dict], attrs: str | Sequence[str] | None, where: Any) -> np.ndarray | None:
    """The named attributes of all rows, side by side."""
    if attrs is None:
        return None
    columns = []
    for name in [attrs] if isinstance(attrs, str) else list(attrs):
        missing = [i for i, row in enumerate(rows) if name not in row]
        if missing:
            raise InvalidGraphError(f"{where(missing[0])} has no attribute {name!r}; found {sorted(map(str, rows[missing[0]]))}")
        columns.append(_column([row[name] for row in rows], name))
    if not columns:
        return None
    floats = any(c.dtype.kind == "f" for c in columns)
    for c in columns:
        if floats and c.dtype.kind in "iu" and c.size and max(abs(int(c.max())), abs(int(c.min()))) > _EXACT_IN_DOUBLE:
            raise InvalidGraphError(f"{list(attrs)} mix floats with integers beyond 2**53, which no double holds exactly")
    return np.concatenate(columns, axis=1)


def _column(values: list, name: str) -> np.ndarray:
    try:
        column = np.array(values) if values else np.empty((0, 1), np.int64)
    except ValueError:
        raise InvalidGraphError(f"attribute {name!r} holds rows of different lengths") from None
    if column.dtype.kind == "f":
        refuse_rounding(values, f"attribute {name!r}")
    if column.dtype.kind not in "biuf" or column.ndim > 2:
        raise InvalidGraphError(
            f"attribute {name!r} must hold numbers or rows of numbers; found {values[0]!r} (dtype {column.dtype}). "
            "Number other values first"
        )
    return column.reshape(len(values), -1) if values else column


def _values(labels: np.ndarray | None) -> list | None:
    if labels is None:
        return None
    return labels[:, 0].tolist() if labels.shape[1] == 1 else [tuple(row) for row in labels.tolist()]
