"""What must hold of embeddings, drawings and orders: networkx, exact arithmetic and the definitions, for tests and the torture suite."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable

import crossings
import networkx as nx
import numpy as np
import pytest

import planegraph as pg
from planegraph.planarity.planar_code import from_planar_code


def walks(e: pg.Embedding) -> list[list[int]]:
    """The darts of the faces, by definition: at the head of a dart, turn to the dart before its reverse."""
    before = {int(t): d for d, t in enumerate(e.next)}
    left, found = set(range(2 * e.num_edges)), []
    while left:
        walk = [min(left)]
        while (d := before[walk[-1] ^ 1]) != walk[0]:
            walk.append(d)
        left -= set(walk)
        found.append(walk)
    return found


def check_embedding(g: pg.Graph, e: pg.Embedding) -> None:
    """Everything that is promised of an embedding of a graph."""
    n, m = g.num_nodes, g.num_edges
    assert e.num_nodes == n
    assert np.array_equal(e.edges, g.edges)
    assert sorted(e.next.tolist()) == list(range(2 * m))
    e.check()
    # rotations hold each neighbour once; networkx agrees that they are planar
    theirs = nx.PlanarEmbedding()
    theirs.add_nodes_from(range(n))
    adjacency = nx.Graph(g.edges.tolist())
    for v in range(n):
        around = e.rotation(v).tolist() if e.names is None else [e._numbers[u] for u in e.rotation(e.names.tolist()[v])]
        assert sorted(around) == sorted(adjacency.adj.get(v, ()))
        for u, w in zip(around, [*around[1:], *around[:1]], strict=True):
            d = e.next[e.dart(*e.named(np.array([v, u])))]
            assert (e.source[d], e.source[d ^ 1]) == (v, w)
        theirs.set_data({v: around[::-1]})
    theirs.check_structure()
    # faces are the walks with the face on the left: networkx's, which are on the right of the reverse darts, the other way round
    assert [e.face_darts[a:b].tolist() for a, b in itertools.pairwise(e.face_ptr.tolist())] == walks(e)
    for f, walk in enumerate(walks(e)):
        assert (e.face_of[walk] == f).all()
        nodes = [int(e.source[d]) for d in walk]
        assert e.face_nodes[e.face_ptr[f] : e.face_ptr[f + 1]].tolist() == nodes
        right = theirs.traverse_face(*(int(e.source[walk[0] ^ k]) for k in (1, 0)))
        assert [right[0], *right[:0:-1]] == [*nodes[1:], nodes[0]]
    components = [c for c in nx.connected_components(adjacency) if len(c) > 1]
    assert len(adjacency) - m + e.num_faces == 2 * len(components)  # adjacency lacks isolated nodes
    assert len(e.outer_faces) == len(components)
    for face, component in zip(e.outer_faces, sorted(components, key=min), strict=True):
        assert set(e.source[e.face_darts[e.face_ptr[face] : e.face_ptr[face + 1]]].tolist()) <= component


def check_dual(e: pg.Embedding) -> None:
    d = e.dual()
    d.check()
    assert d.num_nodes == e.num_faces
    assert d.edges.tolist() == [[e.face_of[2 * k], e.face_of[2 * k + 1]] for k in range(e.num_edges)]
    for f, walk in enumerate(walks(e)):  # its darts keep their numbers, and go around a face as we do
        assert all(d.source[x] == f and d.next[x] == y for x, y in zip(walk, [*walk[1:], walk[0]], strict=True))
    multigraph = d.to_multigraph()
    assert sorted((min(u, v), max(u, v), k) for u, v, k in multigraph.edges(keys=True)) == sorted(
        (min(u, v), max(u, v), k) for k, (u, v) in enumerate(d.edges.tolist())
    )
    # the dual of the dual: the face of dart x is the node that x leads to
    assert d.num_faces == len(set(e.source.tolist()))
    name = {int(d.face_of[x]): int(e.source[x ^ 1]) for x in range(2 * e.num_edges)}
    assert [[name[u], name[v]] for u, v in d.dual().edges.tolist()] == e.edges[:, ::-1].tolist()
    assert np.array_equal(d.dual().next[np.arange(2 * e.num_edges) ^ 1] ^ 1, e.next)


def check_rotations(graph: nx.Graph, rng: random.Random) -> None:
    """Random orders around the nodes are accepted exactly if networkx accepts them."""
    rotations = {v: rng.sample(list(graph[v]), graph.degree[v]) for v in graph}
    theirs = nx.PlanarEmbedding()
    theirs.add_nodes_from(graph)
    theirs.set_data({v: around[::-1] for v, around in rotations.items()})
    try:
        theirs.check_structure()
    except nx.NetworkXException:
        with pytest.raises(pg.InvalidEmbeddingError, match="nodes - edges"):
            pg.Embedding.from_rotations(pg.as_graph(graph), rotations.values())
        return
    e = pg.Embedding.from_rotations(pg.as_graph(graph), rotations.values())
    assert [cyclic(e.rotation(v).tolist()) for v in graph] == [cyclic(rotations[v]) for v in graph]


def check_outside(g: pg.Graph, rng: random.Random) -> None:
    """Random nodes can lie outside exactly if the graph stays planar with a node joined to all of them."""
    nodes = rng.sample(range(g.num_nodes), rng.randint(0, g.num_nodes))
    apex = nx.Graph(g.edges.tolist())
    apex.add_edges_from((v, "apex") for v in nodes)
    if not nx.check_planarity(apex)[0]:
        with pytest.raises(pg.InvalidEmbeddingError, match="on one face"):
            pg.embedding(g, outer_face=nodes)
        return
    e = pg.embedding(g, outer_face=nodes)
    check_embedding(g, e)
    outside = {v for f in e.outer_faces for v in e.face(f).tolist()} | (set(range(g.num_nodes)) - set(g.edges.ravel().tolist()))
    assert set(nodes) <= outside


def check_positions(g: pg.Graph, size: int, rng: random.Random) -> None:
    """Random points of a small grid are accepted exactly if no two edges meet; orders are those of the angles."""
    scale = rng.choice([1, 0.1, 1e-9, 2.0**400])
    points = np.array([[rng.randint(-size, size) * scale for _ in range(2)] for _ in range(g.num_nodes)]).reshape(-1, 2)
    wrong = crossings.flaw(g.edges, points)
    assert (crossings.flaw_by_sweep(g.edges, points) is None) == (wrong is None)
    if wrong:
        with pytest.raises(pg.InvalidEmbeddingError):
            pg.embedding(g, points)
        return
    e = pg.embedding(g, points)
    check_embedding(g, e)
    for v in range(g.num_nodes):
        angles = [math.atan2(*(points[u] - points[v])[::-1] / scale) for u in e.rotation(v)]
        assert angles == sorted(angles) or sum(a > b for a, b in itertools.pairwise([*angles, angles[0]])) == 1


def check_planar_code(g: pg.Graph) -> None:
    """The code leads back, with or without its header."""
    if g.num_nodes == 0:
        return
    e = pg.embedding(g)
    code = e.to_planar_code()
    again = from_planar_code(code)
    assert again.to_graph() == g
    assert [cyclic(again.rotation(v).tolist()) for v in range(g.num_nodes)] == [
        cyclic(e.rotation(v).tolist()) for v in range(g.num_nodes)
    ]
    assert from_planar_code(code[len(">>planar_code<<") :]).next.tolist() == again.next.tolist()


def cyclic(items: list) -> list:
    k = items.index(min(items)) if items else 0
    return items[k:] + items[:k]


def check_drawing(g: pg.Graph, points: np.ndarray, flaw: Callable[..., str | None] = crossings.flaw) -> None:
    """No crossings, in exact arithmetic; integers within the grid."""
    assert points.shape == (g.num_nodes, 2)
    wrong = flaw(g.edges, points)
    assert wrong is None, f"{wrong} in {g.to_graph6() if g.num_nodes < 60 else g}"
    if points.dtype.kind == "i" and len(points):
        width, height = points.max(axis=0) - points.min(axis=0)
        n = g.num_nodes
        assert points.min() >= 0
        assert width <= max(2 * n - 4, n - 1), g
        assert height <= max(n - 2, 0), g


def check_drawn(e: pg.Embedding, points: np.ndarray) -> None:
    """A drawing of an embedding has these orders and outer faces."""
    drawn = pg.embedding(pg.Graph(e.num_nodes, e.edges), points)
    assert drawn.next.tolist() == e.next.tolist()
    assert drawn.outer_faces.tolist() == e.outer_faces.tolist()


def check_triangulation(g: pg.Graph) -> None:
    """Maximal, with the given edges first and their orders kept."""
    n = g.num_nodes
    e = pg.embedding(g)
    t = pg.triangulate(e)
    t.check()
    assert t.edges[: g.num_edges].tolist() == g.edges.tolist()
    assert t.to_graph().num_edges == (3 * n - 6 if n > 2 else n // 2)
    if n > 2:
        assert (np.diff(t.face_ptr) == 3).all()
    for v in range(n):  # orders of the given edges stay
        old = {int(u) for u in e.rotation(v)}
        assert cyclic([u for u in t.rotation(v).tolist() if u in old]) == cyclic(e.rotation(v).tolist())
    assert pg.triangulate(t).edges.tolist() == t.edges.tolist()


def check_canonical(e: pg.Embedding, order: list) -> None:
    """The definition: each prefix from three nodes on is biconnected, with v1, v2 and its last node on the outer face."""
    graph = e.to_graph().to_networkx()
    assert sorted(order) == sorted(graph)
    outer = set(e.face(e.outer_face).tolist())
    assert set(order[:2]) <= outer
    assert graph.has_edge(*order[:2])
    for k in range(3, len(order) + 1):
        assert nx.is_biconnected(graph.subgraph(order[:k]))
        # v(k) is on the outer face of the prefix if it can be joined to what comes later: the rest is connected to the outside
        if k < len(order):
            rest = nx.Graph(graph.subgraph(order[k:]))
            rest.add_node("outside")
            rest.add_edges_from((v, "outside") for v in rest if v in outer)
            assert nx.is_connected(rest)
            assert any(v in graph[order[k - 1]] for v in order[k:]) or order[k - 1] in outer


def check_st_numbering(graph: nx.Graph, s: int, t: int) -> None:
    """The definition; or, where networkx says that there is none, the error, which names a cut node."""
    n = len(graph)
    with_st = nx.Graph(graph)
    with_st.add_edge(s, t)
    if n > 2 and not nx.is_biconnected(with_st):
        with pytest.raises(pg.InvalidGraphError) as error:
            pg.st_numbering(graph, s, t)
        if nx.is_connected(with_st):
            cut = int(str(error.value).split()[1])
            assert cut in nx.articulation_points(with_st)
        else:
            assert "not connected" in str(error.value)
        return
    number = pg.st_numbering(graph, s, t).tolist()
    assert sorted(number) == list(range(n))
    assert (number[s], number[t]) == (0, n - 1)
    for v in set(graph) - {s, t}:
        near = [number[u] for u in graph[v]]
        assert min(near) < number[v] < max(near)
