"""Triangulations, and orders of nodes that algorithms on planar graphs start from. All in O(n + m)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ..errors import InvalidEmbeddingError, InvalidGraphError
from ..graphs.formats.convert import as_simple_graph
from ..graphs.names import Numbers
from .embedding import Embedding
from .find import as_embedding


def triangulate(graph: Any) -> Embedding:
    """A maximal planar graph that contains the given one: 3n - 6 edges if n >= 3, every face a triangle, no parallel edges.

    The given edges come first, in their order and direction; ``result.edges[m:]`` are new. Give an :class:`Embedding` to keep its
    cyclic orders; one with loops or parallel edges, such as some duals, is refused. Components are joined, too. The outer face is a
    part of that of the first component.

    >>> import planegraph as pg
    >>> t = pg.triangulate(pg.families.cycle(5))
    >>> t
    Embedding(5 nodes, 9 edges, 6 faces)
    >>> t.edges[:5].tolist() == pg.families.cycle(5).edges.tolist()
    True
    """
    e = as_embedding(graph)
    e.to_graph()  # refuses loops and parallel edges
    edges, after, outer = _core.triangulate(e.num_nodes, e.edges, e.next, e._outer_darts)
    return Embedding._trusted(e.num_nodes, edges, after, e.names, outer)


def canonical_order(graph: Any) -> np.ndarray:
    """A canonical order v1, v2, ..., vn of a triangulation: its nodes, by their names if they have any.

    v1 and v2 are neighbours on the outer face, and for each k > 2 the first k nodes form a biconnected graph with v1, v2 and v(k)
    on its outer face. So nodes can be added one by one from the outside, each with at least two neighbours before it
    (de Fraysseix, Pach and Pollack 1990).

    Args:
        graph: a graph or an :class:`Embedding`, connected, with three nodes or more. All of its faces are triangles, except that
            the outer one may be any simple cycle. :func:`triangulate` makes one of any planar graph.

    >>> import planegraph as pg
    >>> order = pg.canonical_order(pg.triangulate(pg.families.path(5)))
    >>> sorted(order.tolist())
    [0, 1, 2, 3, 4]
    """
    e = as_embedding(graph)
    if e.num_nodes < 3 or len(e._outer_darts) != 1 or (e._first_dart < 0).any():
        raise InvalidEmbeddingError(
            "a canonical order needs a connected graph of three nodes or more; planegraph.triangulate makes one"
        )
    e.to_graph()  # refuses loops and parallel edges
    outer = e.outer_face
    sizes = np.diff(e.face_ptr)
    inner = np.flatnonzero((sizes != 3) & (np.arange(len(sizes)) != outer))
    if len(inner):
        raise InvalidEmbeddingError(
            f"a canonical order needs triangles inside; face {inner[0]} has {sizes[inner[0]]} edges; planegraph.triangulate cuts it"
        )
    cycle = e.face(outer)
    if len(set(cycle.tolist())) < len(cycle):
        raise InvalidEmbeddingError(
            "a canonical order needs an outer face that passes no node twice; planegraph.triangulate makes one"
        )
    return e.named(_core.canonical_order(e.num_nodes, e.edges, e.next, int(e._outer_darts[0])))


def st_numbering(graph: Any, s: Any, t: Any) -> np.ndarray | dict[Any, int]:
    """Numbers 0..n-1 for the nodes: s has 0, t has n - 1, and every other node has neighbours with lower and higher numbers.

    There is one exactly if the graph with the edge s-t is biconnected; otherwise :class:`InvalidGraphError` names a node that
    separates it. The graph need not be planar. The result is an array by node, or a dict if nodes have names (Tarjan 1986).

    >>> import planegraph as pg
    >>> pg.st_numbering(pg.families.cycle(5), 0, 4).tolist()
    [0, 1, 2, 3, 4]
    >>> pg.st_numbering(pg.families.path(5), 1, 4)
    Traceback (most recent call last):
    planegraph.errors.InvalidGraphError: node 1 separates the graph with the edge (1, 4); an st-numbering needs a biconnected one
    """
    graph = as_simple_graph(graph)
    numbers = Numbers(graph.num_nodes, graph.names)
    first, last = numbers[s], numbers[t]
    if first == last:
        raise InvalidGraphError(f"s and t must differ; found {s!r} twice")
    cut, number = _core.st_numbering(graph.num_nodes, graph.edges, first, last)
    if cut >= 0:
        name = graph.named(np.arange(graph.num_nodes)).tolist()[cut] if cut < graph.num_nodes else None
        what = f"node {name!r} separates the graph" if cut < graph.num_nodes else "the graph is not connected, even"
        raise InvalidGraphError(f"{what} with the edge ({s!r}, {t!r}); an st-numbering needs a biconnected one")
    if graph.names is None:
        return number
    return dict(zip(graph.names.tolist(), number.tolist(), strict=True))
