"""Maps with crossings: a node at every crossing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core
from ..errors import InvalidEmbeddingError
from ..graphs.formats.convert import as_graph
from ..graphs.graph import Graph, read_only
from ..graphs.names import plain
from .embedding import Embedding
from .positions import as_points


@dataclass(frozen=True, eq=False)
class Planarization:
    """What :func:`planegraph.planarize` makes of a map: edges are cut into parts at the nodes on them. Its arrays are read-only."""

    graph: Graph
    """The nodes of the input, then one for every crossing. Without labels: those of edges are ``labels[source]``."""
    positions: np.ndarray
    """Shape (nodes, 2), float64: the points given, then those of the crossings, rounded."""
    source: np.ndarray
    """For each edge, int64: the edge of the input that it is a part of; it has the same direction."""
    along: np.ndarray
    """Shape (edges, 2): where on that edge it begins and ends, from 0 to 1."""
    part_ptr: np.ndarray
    """Edge e of the input consists of the edges ``parts[part_ptr[e]:part_ptr[e + 1]]``, in its direction."""
    parts: np.ndarray
    """See ``part_ptr``; int64. Parts where edges of the input overlap come several times."""
    embedding: Embedding
    """The true arrangement: its faces are those of the map."""


def planarize(graph: Any, positions: Any) -> Planarization:
    """Makes a planar graph of a straight-line drawing with crossings, such as a road map.

    Edges are cut where they cross, and where a node lies on them. Where they overlap, the common part is one edge; its ``source`` is
    the first of them, and ``parts`` lists it for all. Several edges that cross at one point get one node there. Nodes at one point are
    refused: merge them first.

    All decisions are exact: who crosses whom, where along an edge, and the order around every node. Only the points of crossings are
    rounded to doubles, to some units in the last place of the coordinates of their edges. So ``embedding`` is that of the true
    arrangement, even where a drawing of the rounded points would show it differently because crossings are closer together than
    doubles can tell.

    O((n + m + k) log n), where k counts the pairs of edges that are near each other and share no node. In maps these are few. Long edges
    side by side can form O(m^2) of them without crossing, as can two nodes with many neighbours in common.

    Args:
        graph: a :class:`Graph`, or anything that :func:`planegraph.as_graph` reads.
        positions: shape (n, 2), or a dict by node; coordinates are 0 or between 2^-200 and 2^250 in magnitude.

    If nodes have names, the crossings are called ``("crossing", 0)``, ``("crossing", 1)``, ... Where nodes are called so before,
    as after another call, the numbers continue from theirs.

    >>> import planegraph as pg
    >>> found = pg.planarize(pg.Graph(4, [(0, 1), (2, 3)]), [(0, 0), (2, 2), (2, 0), (0, 2)])
    >>> found.graph.edges.tolist(), found.positions[4].tolist()
    ([[0, 4], [4, 1], [2, 4], [4, 3]], [1.0, 1.0])
    >>> found.source.tolist(), found.along.tolist()
    ([0, 0, 1, 1], [[0.0, 0.5], [0.5, 1.0], [0.0, 0.5], [0.5, 1.0]])
    """
    graph = as_graph(graph)
    points = as_points(graph, positions, 200, 250)
    meeting, crossings, edges, source, along, part_ptr, parts, after, outer = _core.arrange(points, graph.edges)
    if meeting[0] >= 0:
        u, v = (plain(name) for name in graph.named(np.array(meeting)))
        x, y = points[meeting[0]].tolist()
        raise InvalidEmbeddingError(f"nodes {u!r} and {v!r} are both at ({x}, {y}); merge them into one")
    n = graph.num_nodes + len(crossings)
    names = None if graph.names is None else _names(graph.names, len(crossings))
    planar = Graph._trusted(n, edges, names=names)
    embedding = Embedding._trusted(n, planar.edges, after, names, outer)
    return Planarization(
        graph=planar,
        positions=read_only(np.concatenate([points, crossings])),
        source=read_only(source.astype(np.int64)),
        along=read_only(along),
        part_ptr=read_only(part_ptr),
        parts=read_only(parts.astype(np.int64)),
        embedding=embedding,
    )


def _names(names: np.ndarray, crossings: int) -> np.ndarray:
    longer = np.empty(len(names) + crossings, object)
    longer[: len(names)] = names.tolist()
    first = 1 + max((name[1] for name in names.tolist() if _is_crossing(name)), default=-1)
    for k in range(crossings):
        longer[len(names) + k] = ("crossing", first + k)
    return longer


def _is_crossing(name: Any) -> bool:
    return isinstance(name, tuple) and len(name) == 2 and name[0] == "crossing" and isinstance(name[1], int)
