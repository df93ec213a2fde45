"""Tutte's drawings: a convex outer face, and every other node in the middle of its neighbours.

If the faces inside are triangles and the outer one is a convex polygon, no two edges cross, whatever positive weights the
neighbours have (Tutte 1963, Floater 2003). So faces get helpers, which are left out of the result:

- a cycle inside gets a star: a new node joined to all of it;
- a face inside that passes a node twice, because of a cut node or a bridge, gets a ring of new nodes, one for each of its darts
  and joined to both ends of the dart; and the ring gets a star;
- an outer face that is not a cycle gets such a ring around it, which is then the polygon.

With equal weights inner nodes crowd. So the weights are changed in a few rounds: an edge between large triangles pulls harder.
"""

from __future__ import annotations

import warnings

import numpy as np

from .. import _core
from ..errors import MissingDependencyError, PlanegraphWarning
from .embedding import Embedding

ROUNDS, POWER = 10, 0.25  # more rounds change little; with a larger power they overshoot
DENSE = 500  # nodes and helpers up to which numpy solves the equations


def tutte_layout(e: Embedding) -> np.ndarray:
    """Shape (n, 2), float64: components side by side, each with an area that grows with its nodes.

    A drawing for which doubles are too coarse is replaced by one on the grid, with a :class:`PlanegraphWarning`.
    """
    triangles, polygon, corners = _triangles(e)
    total = max(e.num_nodes, int(triangles.max(initial=-1)) + 1, int(polygon.max(initial=-1)) + 1)
    points = np.zeros((total, 2))
    points[polygon] = corners
    free = np.zeros(total, bool)
    free[triangles] = True
    free[polygon] = False
    weight = np.ones(len(triangles))
    for _ in range(ROUNDS if free.any() else 0):
        points[free] = _balance(points, free, triangles, weight)
        area = _areas(points, triangles)
        weight *= (area / area.mean() + 1e-12) ** POWER
    points = _side_by_side(e, points[: e.num_nodes])
    if not np.isfinite(points).all() or _core.read_drawing(points, e.edges)[0]:
        warnings.warn(
            f"Tutte's drawing of these {e.num_nodes} nodes needs more digits than doubles have; this is a drawing on the grid",
            PlanegraphWarning,
            stacklevel=4,
        )
        return _core.grid_layout_of(e.num_nodes, e.edges, e.next, e._outer_darts).astype(float)
    return points


def _triangles(e: Embedding) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The triangles inside, as rows of nodes and helpers, counter-clockwise; the nodes of the outer polygons, and their points."""
    size = np.diff(e.face_ptr)
    face = np.repeat(np.arange(e.num_faces), size)  # of each corner, in the order of face_darts
    tail, head = e.face_nodes, e.source[e.face_darts ^ 1]
    after = np.arange(1, len(face) + 1)  # the next corner of the face
    after[e.face_ptr[1:] - 1] = e.face_ptr[:-1]
    outer = np.zeros(e.num_faces, bool)
    outer[e.outer_faces] = True
    visits = np.unique(face * e.num_nodes + tail) // max(e.num_nodes, 1)  # faces, once for each node
    is_cycle = np.bincount(visits, minlength=e.num_faces) == size

    ringed = np.flatnonzero(~is_cycle[face])
    rim = tail.copy()  # what a star or a polygon joins: the cycle or its ring
    rim[ringed] = e.num_nodes + np.arange(len(ringed))
    has_star = ~outer & (~is_cycle | (size > 3))
    star = e.num_nodes + len(ringed) + np.cumsum(has_star) - 1
    starred = np.flatnonzero(has_star[face])
    plain = e.face_ptr[:-1][~outer & ~has_star]
    triangles = [
        (tail[plain], tail[plain + 1], tail[plain + 2]),
        (head[ringed], rim[ringed], tail[ringed]),
        (head[ringed], rim[after[ringed]], rim[ringed]),
        (rim[starred], rim[after[starred]], star[face[starred]]),
    ]
    at = np.flatnonzero(outer[face])  # the face is on the left, so its walk is clockwise
    angle = np.pi * ((1 - 2 * (at - e.face_ptr[face[at]])) / size[face[at]] - 0.5)
    return np.concatenate([np.stack(t, axis=1) for t in triangles]), rim[at], np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _balance(points: np.ndarray, free: np.ndarray, triangles: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The points of the free nodes, each the mean of its neighbours; an edge has the product of the weights of its triangles."""
    total = len(points)
    u, v, w = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel(), np.repeat(weight, 3)
    if total <= DENSE:
        side = np.bincount(u * total + v, w, total * total).reshape(total, total)
        rows = (side * side.T)[free]  # edges of the polygon have one triangle, and no say
        return np.linalg.solve(np.diag(rows.sum(axis=1)) - rows[:, free], rows[:, ~free] @ points[~free])
    try:
        from scipy import sparse
        from scipy.sparse.linalg import splu
    except ImportError:
        raise MissingDependencyError("planar_layout(method='tutte') of large graphs needs scipy: pip install scipy") from None
    side = sparse.coo_matrix((w, (u, v)), (total, total)).tocsr()
    rows = side.multiply(side.T).tocsr()[free]
    equations = sparse.diags(np.asarray(rows.sum(axis=1)).ravel()) - rows[:, free]
    return splu(equations.tocsc(), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}).solve(
        rows[:, ~free] @ points[~free]
    )


def _areas(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    a, b, c = (points[triangles[:, k]] for k in range(3))
    u, v = b - a, c - a
    return np.abs(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0])


def _side_by_side(e: Embedding, points: np.ndarray) -> np.ndarray:
    """Each component as large as the square root of its number of nodes, from left to right; isolated nodes last."""
    component = e._faces[4].copy()
    alone = np.flatnonzero(component < 0)
    k = len(e._outer_darts)
    component[alone] = k + np.arange(len(alone))
    nodes = np.bincount(component, minlength=k + len(alone))
    low, high = np.full((len(nodes), 2), np.inf), np.full((len(nodes), 2), -np.inf)
    np.minimum.at(low, component, points)
    np.maximum.at(high, component, points)
    extent = high - low
    scale = np.sqrt(nodes) / np.where(nodes > 1, extent.max(axis=1), 1)
    width = extent[:, 0] * scale
    left = np.cumsum(width + 1) - width - 1
    placed = (points - low[component]) * scale[component][:, None]
    placed[:, 0] += left[component]
    return placed
