"""Straight-line drawings without crossings: coordinates for the nodes of a planar graph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from .. import _core
from ..graphs.formats.convert import as_graph
from .embedding import Embedding
from .find import embedding, not_planar
from .tutte import tutte_layout


def planar_layout(
    graph: Any, method: Literal["grid", "tutte"] = "grid", outer_face: int | Iterable[Any] | None = None
) -> np.ndarray | dict[Any, np.ndarray]:
    """Points for the nodes such that no two edges, drawn as straight lines, cross or touch.

    Args:
        graph: a planar graph, or an :class:`Embedding`, whose cyclic orders the drawing then has.
        method: "grid" gives integers in a grid of 2n - 4 by n - 2, in O(n + m): a million nodes take seconds (de Fraysseix, Pach
            and Pollack; Chrobak and Payne). "tutte" is pleasant up to some hundred nodes: a convex outer face, and every other
            node in the middle of its neighbours, weighted so that faces get room. Large graphs need scipy for it.
        outer_face: which face to draw outside. Nodes, which must then lie on it; or the number of a face of the embedding given.

    The result is an array of shape (n, 2), by node; if nodes have names, it is a dict from names to points, as
    ``networkx.draw(G, pos)`` wants it. Components stand side by side.

    >>> import planegraph as pg
    >>> pg.planar_layout(pg.families.complete(4)).tolist()
    [[4, 0], [0, 0], [2, 1], [2, 2]]
    >>> import networkx as nx
    >>> pg.planar_layout(nx.Graph([("a", "b")]))["a"].tolist()
    [1, 0]
    """
    points, names = layout(graph, method, outer_face)
    return points if names is None else dict(zip(names.tolist(), points, strict=True))


def layout(graph: Any, method: str, outer_face: Any = None) -> tuple[np.ndarray, np.ndarray | None]:
    """The points in an array, and the names of the nodes."""
    if method not in ("grid", "tutte"):
        raise ValueError(f"method must be 'grid' or 'tutte'; found {method!r}")
    if isinstance(graph, Embedding):
        e = graph if outer_face is None else graph.with_outer_face(outer_face)
        e.to_graph()  # straight lines cannot be loops or parallels
    else:
        graph = as_graph(graph)
        if method == "grid" and outer_face is None:
            points = _core.grid_layout(graph.num_nodes, graph.edges)
            if points is None:
                raise not_planar(graph)
            return points, graph.names
        e = embedding(graph, outer_face=outer_face)
    if method == "tutte":
        return tutte_layout(e), e.names
    return _core.grid_layout_of(e.num_nodes, e.edges, e.next, e._outer_darts), e.names
