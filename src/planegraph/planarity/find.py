"""Finds planar embeddings of graphs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import _core
from ..errors import InvalidEmbeddingError, NotPlanarError
from ..graphs.formats.convert import as_graph
from ..graphs.graph import Graph
from ..graphs.names import Numbers
from .embedding import Embedding
from .positions import as_points, of_drawing


def embedding(graph: Any, positions: Any = None, outer_face: Iterable[Any] | None = None) -> Embedding:
    """A planar embedding; O(n + m).

    Args:
        graph: a :class:`Graph`, or anything that :func:`planegraph.as_graph` reads.
        positions: the points of a straight-line drawing without crossings, such as a road map: shape (n, 2), or a dict by node.
            The embedding is then that of the drawing, with its outer faces; O((n + m) log n). Points are compared exactly. Where
            edges cross, or nodes lie on each other or on edges, :class:`InvalidEmbeddingError` says where.
        outer_face: nodes that must lie on the outer face, if there is such an embedding. With all nodes, this decides whether
            the graph is outerplanar. Without it, the outer face is the longest one of the embedding that is found.

    Raises :class:`NotPlanarError` with a witness if there is none. Which of several is found depends on the order of the input.

    >>> import planegraph as pg
    >>> square = pg.Graph(4, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])
    >>> e = pg.embedding(square, positions=[(0, 0), (1, 0), (1, 1), (0, 1)])
    >>> [e.face(f).tolist() for f in range(e.num_faces) if f != e.outer_face]
    [[0, 1, 2], [2, 3, 0]]
    >>> pg.embedding(square, positions=[(0, 0), (1, 1), (1, 0), (0, 1)])
    Traceback (most recent call last):
    planegraph.errors.InvalidEmbeddingError: edges 0 = (0, 1) and 2 = (2, 3) cross
    """
    graph = as_graph(graph)
    if positions is not None:
        if outer_face is not None:
            raise ValueError("positions have their own outer faces; give positions or outer_face, not both")
        return of_drawing(graph, as_points(graph, positions))
    if isinstance(outer_face, int | np.integer):
        raise ValueError(
            "faces have numbers in an embedding: give the nodes of a face, or planegraph.embedding(graph) and a number"
        )
    if outer_face is not None:
        return _with_nodes_outside(graph, Numbers(graph.num_nodes, graph.names).of(outer_face))
    after = _core.embed(graph.num_nodes, graph.edges)
    if after is None:
        raise not_planar(graph)
    return Embedding._trusted(graph.num_nodes, graph.edges, after, graph.names)


def as_embedding(graph: Any) -> Embedding:
    """An embedding as it is, or one of a graph."""
    return graph if isinstance(graph, Embedding) else embedding(graph)


def not_planar(graph: Graph) -> NotPlanarError:
    """The error for a graph that is not planar, with its witness."""
    witness = graph.edges[_core.kuratowski(graph.num_nodes, graph.edges)]
    return NotPlanarError(
        f"the graph is not planar: {len(witness)} of its edges form a subdivision of K5 or K3,3 (see .witness)",
        graph.named(witness),
    )


def _with_nodes_outside(graph: Graph, nodes: np.ndarray) -> Embedding:
    """A new node, joined to all of these, shares a face with each; when it is gone, they share one."""
    n, m, k = graph.num_nodes, graph.num_edges, len(nodes)
    nodes = np.unique(nodes)
    spokes = np.stack([nodes, np.full(len(nodes), n)], axis=1)
    after = _core.embed(n + 1, np.concatenate([graph.edges, spokes]))
    if after is None:
        if not _core.is_planar(n, graph.edges):
            raise not_planar(graph)
        named = graph.named(nodes).tolist()
        raise InvalidEmbeddingError(f"no planar embedding has all of the nodes {named[:10]}{' ...' if k > 10 else ''} on one face")
    gone = 2 * m + 2 * np.arange(len(nodes))
    back = np.empty_like(after)
    back[after] = np.arange(len(after), dtype=after.dtype)
    gone = gone[after[gone] != gone]  # other nodes have no edge but this
    after[back[gone]] = after[gone]  # a node has one such dart, so no two of them are neighbours
    found = Embedding._trusted(n, graph.edges, after[: 2 * m].copy(), graph.names)
    return Embedding._trusted(n, graph.edges, found.next, graph.names, found._complete(back[gone]))
