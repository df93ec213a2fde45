"""Graphs from and to networkx, and from PyG data. Both are duck-typed: reading needs neither package installed."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ...errors import InvalidGraphError, MissingDependencyError
from ..graph import Graph, as_count
from ..labels import refuse_masked, refuse_rounding

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
    first, second = _pair_directions(n, edges, "DiGraph; use G.to_undirected() if directions mean nothing")
    if len(second) == 0 and len(edges):
        u, v = names[0]
        raise InvalidGraphError(
            f"the DiGraph has edge {(u, v)!r} but not {(v, u)!r}; give both directions, or use G.to_undirected()"
        )
    return _from_directions(n, edges, node_labels, edge_labels, first, second)


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


def from_pyg(data: Any, node_attr: str | None = "x", edge_attr: str | None = "edge_attr") -> Graph:
    """A PyG ``Data`` object, or anything with an ``edge_index`` of shape (2, E).

    Either every edge is there in both directions (PyG's habit; labels that differ by direction become dart labels), or every
    edge is there once. All of ``x`` and ``edge_attr`` become labels; pass None for those that should not count.

    >>> from types import SimpleNamespace
    >>> from_pyg(SimpleNamespace(edge_index=[[0, 1, 1, 2], [1, 0, 2, 1]], num_nodes=3)).edges.tolist()
    [[0, 1], [1, 2]]
    """
    index = _array(data, "edge_index")
    if index is None:
        raise InvalidGraphError(f"edge_index is missing from {type(data).__name__}")
    if index.size == 0:
        index = np.empty((2, 0), np.int64)
    if index.ndim != 2 or index.shape[0] != 2 or index.dtype.kind not in "iu":
        raise InvalidGraphError(f"edge_index must be integers of shape (2, E); found shape {index.shape}, dtype {index.dtype}")
    edges = np.ascontiguousarray(index.T).astype(np.int64)
    x, labels = _array(data, node_attr), _array(data, edge_attr)
    n = _num_nodes(data, x, edges)
    if labels is not None and len(labels) != len(edges):
        raise InvalidGraphError(f"{edge_attr} must have a row per column of edge_index, {len(edges)}; found {len(labels)}")
    first, second = _pair_directions(n, edges, "edge_index")
    return _from_directions(n, edges, x, labels, first, second)


def _num_nodes(data: Any, x: np.ndarray | None, edges: np.ndarray) -> int:
    n = getattr(data, "num_nodes", None)
    if n is not None:
        with suppress(TypeError):  # anything that is not an integer is refused, and named, by as_count
            n = operator.index(n)
        return as_count(n)
    if x is not None:
        return len(x)
    return int(edges.max()) + 1 if len(edges) else 0


def _array(data: Any, name: str | None) -> np.ndarray | None:
    """The named attribute, a tensor on any device or anything array-like, as a numpy array with at least one axis."""
    if not name:
        return None
    values = getattr(data, name, None)
    if values is None:
        return None
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    refuse_masked(values, name)
    try:
        array = np.asarray(values)
    except ValueError as error:  # ragged nesting
        raise InvalidGraphError(f"{name} must be a rectangular array of numbers; {error}") from None
    if array.ndim == 0:
        raise InvalidGraphError(f"{name} must be an array; found a single {type(values).__name__}, shape ()")
    return array


def _pair_directions(n: int, edges: np.ndarray, source: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows of each undirected edge: its first appearance, and its other direction (empty if every edge is there once)."""
    if len(edges) and (edges.min() < 0 or edges.max() >= n):
        e = int(np.argmax(((edges < 0) | (edges >= n)).any(axis=1)))
        u, v = edges[e].tolist()
        raise InvalidGraphError(f"edge {e} = ({u}, {v}) names a node that does not exist; there are {n} nodes")
    keys = edges.min(axis=1) * n + edges.max(axis=1)
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    counts = np.diff(np.append(starts, len(keys)))
    if (counts == 1).all():
        return np.arange(len(edges)), np.empty(0, np.int64)
    if (counts != 2).any():
        at = int(np.argmax(counts != 2))
        rows = order[starts[at] : starts[at] + counts[at]]
        u, v = edges[rows[0]].tolist()
        raise InvalidGraphError(
            f"edge ({u}, {v}) is there {counts[at]} times (first at {rows[0]}), while others have both directions; "
            f"give every edge in both directions, or every edge once, in the {source}"
        )
    first, second = order[starts], order[starts + 1]
    same = (edges[first] == edges[second]).all(axis=1)
    if same.any():
        at = int(np.argmax(same))
        u, v = edges[first[at]].tolist()
        raise InvalidGraphError(f"edge ({u}, {v}) is there twice in the same direction, at {first[at]} and {second[at]}")
    by_appearance = np.argsort(first)
    return first[by_appearance], second[by_appearance]


def _from_directions(n: int, edges: np.ndarray, nodes: Any, labels: Any, first: np.ndarray, second: np.ndarray) -> Graph:
    if labels is None:
        return Graph(n, edges[first], nodes)
    labels = np.asarray(labels)
    if len(second) == 0:
        return Graph(n, edges[first], nodes, labels[first])
    if np.array_equal(labels[first], labels[second]):
        return Graph(n, edges[first], nodes, labels[first])
    return Graph(n, edges[first], nodes, dart_labels=np.stack([labels[first], labels[second]], axis=1))


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


def _values(labels: np.ndarray | None) -> Any:
    if labels is None:
        return None
    return labels[:, 0].tolist() if labels.shape[1] == 1 else [tuple(row) for row in labels.tolist()]
