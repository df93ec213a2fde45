"""Graphs from and to networkx. Duck-typed: reading does not need it installed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from ...errors import InvalidGraphError, MissingDependencyError
from ..directions import by_edge, pair_directions
from ..graph import Graph
from ..labels import as_labels

_EXACT_IN_DOUBLE = 2**53


def from_networkx(G: Any, node_attrs: Any = None, edge_attrs: Any = None) -> Graph:
    """A networkx graph; node i of the result is the i-th of ``G.nodes``, which ``names`` keeps.

    Args:
        node_attrs: a name or several names of node attributes; their values (numbers, text or rows of them) become the labels.
        edge_attrs: the same for edges. In a ``DiGraph`` every edge must be there in both directions, and each direction gives
            its own label.

    >>> import networkx as nx
    >>> G = nx.cycle_graph(4)
    >>> nx.set_node_attributes(G, 6, "element")
    >>> from_networkx(G, node_attrs="element")
    Graph(4 nodes, 4 edges, node_labels=int64 x 1)
    """
    if not is_networkx(G):
        raise InvalidGraphError(f"expected a networkx graph; found {type(G).__name__}")
    n, edges, nodes = _parts(G)
    pairs = [(u, v) for u, v, *_ in G.edges]
    node_labels = _columns([G.nodes[v] for v in nodes], node_attrs, lambda i: f"node {nodes[i]!r}")
    attributes = [data for *_, data in G.edges(data=True)]
    edge_labels = _columns(attributes, edge_attrs, lambda i: f"edge {pairs[i]!r}")
    if not _has_directions(G):
        return Graph(n, edges, node_labels, edge_labels, names=nodes)
    for u, v in pairs:
        if u == v:
            raise InvalidGraphError(f"edge {(u, v)!r} is a self-loop; drop it, or say it by a node label")
        if not G.has_edge(v, u):
            raise InvalidGraphError(
                f"the DiGraph has edge {(u, v)!r} but not {(v, u)!r}; give both directions, or use G.to_undirected()"
            )
    if len(set(pairs)) < len(pairs):
        raise InvalidGraphError(
            "the MultiDiGraph has parallel edges; give each direction once, and put a multiplicity into its label"
        )
    d = pair_directions(edges.T, np.array([0, len(edges)]), np.array([0, n]))
    labels = None if edge_labels is None else by_edge(edge_labels, d)
    by_dart = labels is not None and labels.ndim == 3
    return Graph(n, edges[d.first], node_labels, None if by_dart else labels, labels if by_dart else None, names=nodes)


def is_networkx(G: Any) -> bool:
    """Whether it looks like a graph of networkx."""
    return all(hasattr(G, name) for name in ("nodes", "edges", "is_directed", "is_multigraph"))


def undirected_edges(G: Any) -> tuple[int, np.ndarray, list] | None:
    """The number of nodes, the edges as numbers, and the nodes; None if the graph has two directions."""
    return None if _has_directions(G) else _parts(G)


def _has_directions(G: Any) -> bool:
    """A PlanarEmbedding has both directions, but says that it is not directed."""
    return G.is_directed() or hasattr(G, "neighbors_cw_order")


def _parts(G: Any) -> tuple[int, np.ndarray, list]:
    nodes = list(G.nodes)
    number = {v: i for i, v in enumerate(nodes)}
    ends = list(chain.from_iterable(edge[:2] for edge in G.edges))
    return len(nodes), np.fromiter(map(number.__getitem__, ends), np.int64, len(ends)).reshape(-1, 2), nodes


def to_networkx(graph: Graph) -> Any:
    """A networkx ``Graph``, or a ``DiGraph`` with both directions if there are dart labels; labels are attributes ``label``.

    Nodes have their names, if the graph has any. A label of width 1 is a number, a wider one a tuple.

    >>> import planegraph as pg
    >>> to_networkx(pg.Graph(2, [(0, 1)], node_labels=[5, 7])).nodes(data="label")
    NodeDataView({0: 5, 1: 7}, data='label')
    """
    nx = networkx_for("to_networkx")
    nodes, labels = graph.named(np.arange(graph.num_nodes)).tolist(), _values(graph.node_labels)
    G = nx.Graph() if graph.dart_labels is None else nx.DiGraph()
    G.add_nodes_from(nodes if labels is None else ((v, {"label": x}) for v, x in zip(nodes, labels, strict=True)))
    pairs = graph.named(graph.edges).tolist()
    if graph.dart_labels is not None:
        for (u, v), there, back in zip(pairs, _values(graph.dart_labels[:, 0]), _values(graph.dart_labels[:, 1]), strict=True):
            G.add_edge(u, v, label=there)
            G.add_edge(v, u, label=back)
    elif graph.edge_labels is not None:
        G.add_edges_from((u, v, {"label": x}) for (u, v), x in zip(pairs, _values(graph.edge_labels), strict=True))
    else:
        G.add_edges_from(pairs)
    return G


def to_multigraph(graph: Any) -> Any:
    """A ``networkx.MultiGraph`` in which edge e has the key e: of a :class:`MultiGraph` or an :class:`Embedding`.

    >>> import planegraph as pg
    >>> list(pg.embedding(pg.families.cycle(3)).dual().to_multigraph().edges(keys=True))
    [(0, 1, 0), (0, 1, 1), (0, 1, 2)]
    """
    G = networkx_for("to_multigraph").MultiGraph()
    G.add_nodes_from(graph.named(np.arange(graph.num_nodes)).tolist())
    G.add_edges_from((u, v, e) for e, (u, v) in enumerate(graph.named(graph.edges).tolist()))
    return G


def networkx_for(what: str) -> Any:
    """The module, or an error that says what needs it."""
    try:
        import networkx
    except ImportError:
        raise MissingDependencyError(f"{what} needs networkx: pip install networkx") from None
    return networkx


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
    if not values:
        return np.empty((0, 1), np.int64)
    labels = as_labels(values, (len(values),), f"attribute {name!r}")
    return np.empty((len(values), 0), np.int64) if labels is None else labels


def _values(labels: np.ndarray | None) -> list | None:
    if labels is None:
        return None
    return labels[:, 0].tolist() if labels.shape[1] == 1 else [tuple(row) for row in labels.tolist()]
