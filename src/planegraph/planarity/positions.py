"""Straight-line drawings as the caller has them: points that are checked, and the embedding that they show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import _core
from ..errors import InvalidEmbeddingError
from ..graphs.graph import Graph
from ..graphs.names import in_order, plain
from .embedding import Embedding


def as_points(graph: Graph, positions: Any, low: int = 400, high: int = 500) -> np.ndarray:
    """Shape (n, 2), float64, of coordinates for which the core is exact, or an error that says what was found instead.

    These are 0 or between 2^-low and 2^high in magnitude.
    """
    if isinstance(positions, Mapping):
        names = graph.named(np.arange(graph.num_nodes)).tolist()
        positions = in_order(names, positions, "positions", InvalidEmbeddingError)
    given = np.asarray(positions)
    if given.size == 0:
        given = given.reshape(-1, 2)
    if given.shape != (graph.num_nodes, 2) or given.dtype.kind not in "iuf":
        raise InvalidEmbeddingError(
            f"positions must be {graph.num_nodes} points, as numbers of shape ({graph.num_nodes}, 2); found shape {given.shape}, "
            f"dtype {given.dtype}"
        )
    points = np.ascontiguousarray(given, np.float64)
    size = np.abs(points)
    exact = points == given if given.dtype.kind == "f" else _are_exact(points, given)
    good = exact & ((size == 0) | ((size > 2.0**-low) & (size < 2.0**high)))
    if not good.all():
        v = int(np.argmin(good.all(axis=1)))
        name = plain(graph.named(np.array([v]))[0])
        raise InvalidEmbeddingError(
            f"node {name!r} is at {tuple(given[v].tolist())}; coordinates must be finite, exact in double precision, and 0 or "
            f"between 2^-{low} and 2^{high} in magnitude"
        )
    return points


def _are_exact(points: np.ndarray, given: np.ndarray) -> np.ndarray:
    """Which integers doubles hold exactly; numpy compares the two after rounding."""
    exact = points < np.iinfo(given.dtype).max  # rounded up to a power of 2, the largest would not fit back
    exact[exact] = points[exact].astype(given.dtype) == given[exact]
    return exact


def of_drawing(graph: Graph, points: np.ndarray) -> Embedding:
    """The embedding of a straight-line drawing, or an error that says where edges or nodes meet."""
    flaw, a, b, after, outer = _core.read_drawing(points, graph.edges)
    if not flaw:
        return Embedding._trusted(graph.num_nodes, graph.edges, after, graph.names, outer)
    u, v = (plain(graph.named(np.array([k]))[0]) if k < graph.num_nodes else None for k in (a, b))
    if flaw == 1:
        x, y = points[a].tolist()
        raise InvalidEmbeddingError(f"nodes {u!r} and {v!r} are both at ({x}, {y})")
    ids = [b] if flaw == 2 else [a, b]
    rows = graph.named(graph.edges[ids])
    first, *second = (f"{e} = ({row[0]!r}, {row[1]!r})" for e, row in zip(ids, rows.tolist(), strict=True))
    if flaw == 2:
        raise InvalidEmbeddingError(f"node {u!r} lies on edge {first}", rows)
    shared = np.intersect1d(*graph.edges[ids])
    how = f"leave node {plain(graph.named(shared)[0])!r} in the same direction" if len(shared) else "cross"
    raise InvalidEmbeddingError(f"edges {first} and {second[0]} {how}", rows)
