"""Planar graphs by name, for demos, tests and trying things out. Vectorised: a million nodes take about a second.

Random families take a ``seed`` and give the same graph for the same seed. ``complete`` and ``complete_bipartite`` are here for
graphs that are not planar.
"""

from __future__ import annotations

import numpy as np

from ..errors import InvalidGraphError
from .graph import Graph


def path(n: int) -> Graph:
    """A path of n nodes.

    >>> path(3).edges.tolist()
    [[0, 1], [1, 2]]
    """
    _least("n", n, 0)
    i = np.arange(max(n - 1, 0))
    return _graph(n, (i, i + 1))


def cycle(n: int) -> Graph:
    """A cycle of n >= 3 nodes."""
    _least("n", n, 3)
    return _graph(n, _ring(n))


def star(n: int) -> Graph:
    """Node 0 in the middle of n leaves."""
    _least("n", n, 0)
    leaves = np.arange(1, n + 1)
    return _graph(n + 1, (np.zeros_like(leaves), leaves))


def wheel(n: int) -> Graph:
    """Node n in the middle of a cycle of n >= 3 nodes."""
    _least("n", n, 3)
    i = np.arange(n)
    return _graph(n + 1, _ring(n), (i, np.full(n, n)))


def fan(n: int) -> Graph:
    """Node n joined to every node of a path of n >= 1 nodes."""
    _least("n", n, 1)
    i = np.arange(n)
    return _graph(n + 1, (i[:-1], i[1:]), (i, np.full(n, n)))


def prism(n: int) -> Graph:
    """Two cycles of n >= 3 nodes, joined rung by rung."""
    _least("n", n, 3)
    i = np.arange(n)
    u, v = _ring(n)
    return _graph(2 * n, (u, v), (u + n, v + n), (i, i + n))


def antiprism(n: int) -> Graph:
    """Two cycles of n >= 3 nodes with a zigzag of triangles between them."""
    _least("n", n, 3)
    i = np.arange(n)
    u, v = _ring(n)
    return _graph(2 * n, (u, v), (u + n, v + n), (i, i + n), (v, u + n))


def grid(rows: int, columns: int) -> Graph:
    """A rectangular grid of rows x columns nodes."""
    _least("rows", rows, 1)
    _least("columns", columns, 1)
    at = np.arange(rows * columns).reshape(rows, columns)
    return _graph(at.size, (at[:, :-1].ravel(), at[:, 1:].ravel()), (at[:-1].ravel(), at[1:].ravel()))


def ladder(n: int) -> Graph:
    """Two paths of n nodes, joined rung by rung."""
    return grid(2, n)


def k2n(n: int) -> Graph:
    """K2,n: the poles 0 and 1, both joined to n other nodes.

    >>> k2n(3).num_edges
    6
    """
    return complete_bipartite(2, n)


def complete(n: int) -> Graph:
    """All edges between n nodes; planar up to n = 4."""
    _least("n", n, 0)
    return _graph(n, np.triu_indices(n, 1))


def complete_bipartite(a: int, b: int) -> Graph:
    """All edges between a nodes and b others; planar if a or b is at most 2."""
    _least("a", a, 0)
    _least("b", b, 0)
    u, v = np.divmod(np.arange(a * b), max(b, 1))
    return _graph(a + b, (u, v + a))


def caterpillar(spine: int, legs: int = 2) -> Graph:
    """A path of ``spine`` nodes with ``legs`` leaves at each."""
    _least("spine", spine, 1)
    _least("legs", legs, 0)
    i = np.arange(spine)
    leaves = np.arange(spine, spine * (1 + legs))
    return _graph(spine * (1 + legs), (i[:-1], i[1:]), (np.repeat(i, legs), leaves))


def nested_k4(depth: int) -> Graph:
    """A K4 with one edge replaced by another such graph, ``depth`` K4s in all; its SPQR tree is a path of R nodes.

    >>> nested_k4(1) == complete(4)
    True
    """
    _least("depth", depth, 1)
    p = 2 * np.arange(depth)  # level i has the poles p, p + 1 and the nodes p + 2, p + 3, the poles of the next level
    ends = np.array([0, 2 * depth])
    return _graph(2 * depth + 2, (p, p + 2), (p, p + 3), (p + 1, p + 2), (p + 1, p + 3), (ends, ends + 1))


def geodesic_sphere(frequency: int) -> Graph:
    """The icosahedron with each face cut into frequency^2 triangles: 10 frequency^2 + 2 nodes, a triangulation of degrees 5, 6.

    >>> geodesic_sphere(1).num_edges  # the icosahedron
    30
    """
    triangles = _geodesic_triangles(frequency)
    return _graph(10 * frequency**2 + 2, _sides(triangles))


def fullerene(frequency: int) -> Graph:
    """The dual of ``geodesic_sphere``: 20 frequency^2 nodes of degree 3, 12 pentagons, otherwise hexagons.

    >>> fullerene(1).num_nodes  # the dodecahedron
    20
    """
    triangles = _geodesic_triangles(frequency)
    sides = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    face = np.tile(np.arange(len(triangles)), 3)
    order = np.lexsort((sides[:, 1], sides[:, 0]))  # each side lies in exactly two triangles
    return _graph(len(triangles), (face[order[::2]], face[order[1::2]]))


def random_tree(n: int, seed: int = 0) -> Graph:
    """A random recursive tree: each node hangs at a random earlier one."""
    _least("n", n, 0)
    child = np.arange(1, max(n, 1))
    parent = (np.random.default_rng(seed).random(len(child)) * child).astype(np.int64)
    return _graph(n, (parent, child))


def cactus(n: int, seed: int = 0, longest: int = 7) -> Graph:
    """Cycles of 3 to ``longest`` nodes, each hanging at a random earlier node; at least n nodes, fewer than n + longest."""
    _least("n", n, 1)
    _least("longest", longest, 3)
    rng = np.random.default_rng(seed)
    new = rng.integers(2, longest, size=n // 2 + 1)  # nodes that each cycle adds
    first = 1 + np.cumsum(new) - new
    cycles = int(np.searchsorted(first, n))
    new, first = new[:cycles], first[:cycles]
    hook = (rng.random(cycles) * first).astype(np.int64)
    node = np.arange(1, 1 + int(new.sum()))
    inner = np.ones(len(node), bool)
    inner[first + new - 2] = False  # the last node of a cycle has no successor within it
    u = node[inner]
    return _graph(1 + len(node), (hook, first), (u, u + 1), (first + new - 1, hook))


def apollonian(n: int, seed: int = 0) -> Graph:
    """A random stacked triangulation of n >= 3 nodes: starting from a triangle, nodes are put into random faces.

    It grows in rounds, each filling at most half of the faces, at random.

    >>> apollonian(100).num_edges  # 3 n - 6
    294
    """
    return _graph(n, _apollonian_edges(n, np.random.default_rng(seed)))


def random_planar(n: int, density: float = 0.6, seed: int = 0) -> Graph:
    """A random ``density`` of the edges of a random stacked triangulation, nodes in random order.

    >>> random_planar(100, 0.5).num_edges
    147
    """
    rng = np.random.default_rng(seed)
    u, v = _apollonian_edges(n, rng)
    keep = rng.permutation(len(u))[: round(density * len(u))]
    name = rng.permutation(n)
    return _graph(n, (name[u[keep]], name[v[keep]]))


def disjoint_union(*graphs: Graph) -> Graph:
    """The graphs side by side, without labels.

    >>> disjoint_union(cycle(3), path(2)).edges.tolist()
    [[0, 1], [1, 2], [2, 0], [3, 4]]
    """
    shift = np.cumsum([0, *(g.num_nodes for g in graphs)])
    edges = [np.empty((0, 2), np.int64), *(g.edges + s for g, s in zip(graphs, shift, strict=False))]
    return Graph._trusted(int(shift[-1]), np.concatenate(edges))


def shuffled(graph: Graph, seed: int = 0) -> Graph:
    """The same graph with its nodes renumbered, its edges reordered and turned round at random: isomorphic, hardly ever equal.

    >>> g = wheel(5)
    >>> h = shuffled(g)
    >>> sorted(np.bincount(h.edges.ravel())) == sorted(np.bincount(g.edges.ravel()))
    True
    """
    rng = np.random.default_rng(seed)
    g = graph.relabel(rng.permutation(graph.num_nodes))
    order, turn = rng.permutation(g.num_edges), rng.random(g.num_edges) < 0.5
    edges = np.where(turn[:, None], g.edges[:, ::-1], g.edges)[order]
    darts = g.dart_labels
    if darts is not None:
        darts = np.where(turn[:, None, None], darts[:, ::-1], darts)[order]
    return Graph(g.num_nodes, edges, g.node_labels, None if g.edge_labels is None else g.edge_labels[order], darts)


# ---- building blocks -----------------------------------------------------------------------------------------------------


def _graph(n: int, *parts: tuple[np.ndarray, np.ndarray]) -> Graph:
    edges = np.concatenate([np.stack(part, axis=1) for part in parts]).astype(np.int64)
    return Graph(n, edges)


def _ring(n: int) -> tuple[np.ndarray, np.ndarray]:
    i = np.arange(n)
    return i, (i + 1) % n


def _least(name: str, value: int, least: int) -> None:
    if not isinstance(value, int | np.integer) or value < least:
        raise InvalidGraphError(f"{name} must be an integer of at least {least}; found {value!r}")


def _sides(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The edges of a closed triangulation, whose triangles all turn the same way: each side once."""
    sides = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    once = sides[sides[:, 0] < sides[:, 1]]
    return once[:, 0], once[:, 1]


def _apollonian_edges(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    _least("n", n, 3)
    faces = np.array([[0, 1, 2], [0, 2, 1]])
    done = 3
    while done < n:
        count = min(n - done, (len(faces) + 1) // 2)
        chosen = rng.permutation(len(faces))[:count]
        a, b, c = faces[chosen].T
        v = np.arange(done, done + count)
        faces[chosen] = np.stack([a, b, v], axis=1)
        faces = np.concatenate([faces, np.stack([b, c, v], axis=1), np.stack([c, a, v], axis=1)])
        done += count
    return _sides(faces)


def _icosahedron() -> np.ndarray:
    """Twenty triangles that all turn the same way: pole 0, ring 1..5, ring 6..10, pole 11."""
    i = np.arange(5)
    up, up_next, down, down_next = 1 + i, 1 + (i + 1) % 5, 6 + i, 6 + (i + 1) % 5
    top = np.stack([np.zeros(5, int), up, up_next], axis=1)
    middle = np.concatenate([np.stack([up, down, up_next], axis=1), np.stack([up_next, down, down_next], axis=1)])
    bottom = np.stack([np.full(5, 11), down_next, down], axis=1)
    return np.concatenate([top, middle, bottom])


def _geodesic_triangles(f: int) -> np.ndarray:
    """All small triangles. Corners keep their numbers, then come the inner points of the 30 edges, then those of the faces."""
    _least("frequency", f, 1)
    faces = _icosahedron()
    sides = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    number = {tuple(s): e for e, s in enumerate(np.unique(sides, axis=0).tolist())}
    i, j = (x.ravel() for x in np.meshgrid(np.arange(f + 1), np.arange(f + 1), indexing="ij"))
    small = []
    for t, corners in enumerate(faces.tolist()):
        p = _face_points(t, corners, f, i, j, number).reshape(f + 1, f + 1)
        a, b = i[i + j < f], j[i + j < f]
        small.append(np.stack([p[a, b], p[a + 1, b], p[a, b + 1]], axis=1))
        a, b = i[i + j < f - 1], j[i + j < f - 1]
        small.append(np.stack([p[a + 1, b], p[a + 1, b + 1], p[a, b + 1]], axis=1))
    return np.concatenate(small)


def _face_points(t: int, corners: list[int], f: int, i: np.ndarray, j: np.ndarray, number: dict) -> np.ndarray:
    """The id of the point with weights (f - i - j, i, j) in face t, for all i, j; rubbish where i + j > f."""
    a, b, c = corners
    k = f - i - j
    inner_before = (i - 1) * (f - 1) - (i - 1) * i // 2  # inner points with a smaller i
    point = 12 + 30 * (f - 1) + t * ((f - 1) * (f - 2) // 2) + inner_before + j - 1
    for u, v, along, where in ((a, b, i, j == 0), (b, c, j, k == 0), (c, a, k, i == 0)):
        step = along if u < v else f - along
        edge = number[min(u, v), max(u, v)]
        point = np.where(where, 12 + edge * (f - 1) + step - 1, point)
    for corner, where in ((a, k == f), (b, i == f), (c, j == f)):
        point = np.where(where, corner, point)
    return point
