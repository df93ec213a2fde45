"""Random polyhedra (3-connected planar graphs) and random planar graphs, from a seed."""

from __future__ import annotations

import random
from functools import lru_cache

import graphs
import networkx as nx
from plain import Plain, identify, replace_edge


def apollonian(n: int, rng: random.Random) -> Plain:
    """A stacked triangulation: start from a triangle's two sides and put each new node into a random face. n >= 3."""
    edges = [(0, 1), (0, 2), (1, 2)]
    faces = [(0, 1, 2), (0, 1, 2)]
    for v in range(3, n):
        a, b, c = faces.pop(rng.randrange(len(faces)))
        edges += [(a, v), (b, v), (c, v)]
        faces += [(a, b, v), (a, c, v), (b, c, v)]
    return Plain.of(n, edges)


def flipped(g: Plain, flips: int, rng: random.Random) -> Plain:
    """Flip random edges of a triangulation: no longer stacked, still a triangulation without parallel edges."""
    edges = {tuple(sorted(e)) for e in g.edges}
    _, embedding = nx.check_planarity(nx.Graph(list(edges)))
    rotation = {v: list(embedding.neighbors_cw_order(v)) for v in range(g.n)}
    for _ in range(flips):
        a, b = rng.choice(sorted(edges))
        around = rotation[a]
        i = around.index(b)
        c, d = around[i - 1], around[(i + 1) % len(around)]
        if c == d or tuple(sorted((c, d))) in edges:
            continue
        edges.remove((a, b))
        edges.add(tuple(sorted((c, d))))
        rotation[a].remove(b)
        rotation[b].remove(a)
        # In the quadrilateral a, c, b, d the new edge leaves c between its edges to a and b, and d likewise.
        _insert_between(rotation[c], a, b, d)
        _insert_between(rotation[d], a, b, c)
    return Plain.of(g.n, sorted(edges))


def _insert_between(around: list[int], x: int, y: int, new: int) -> None:
    i, j = around.index(x), around.index(y)
    if (i + 1) % len(around) == j:
        around.insert(i + 1, new)
    else:
        assert (j + 1) % len(around) == i
        around.insert(j + 1, new)


def triangulation(n: int, rng: random.Random) -> Plain:
    return flipped(apollonian(n, rng), rng.randrange(3 * n), rng) if n > 4 else apollonian(n, rng)


def planar(n: int, density: float, rng: random.Random) -> Plain:
    """Keep each edge of a random triangulation with the given probability."""
    if n < 3:
        return Plain.of(n, [(0, 1)] if n == 2 and rng.random() < density else [])
    return Plain.of(n, [e for e in triangulation(n, rng).edges if rng.random() < density])


def is_three_connected_brute_force(g: Plain) -> bool:
    """Remove every node and look for cut nodes: the oracle for planegraph.decomposition.check.is_three_connected."""
    graph = nx.Graph(list(g.edges))
    if len(graph) < 4 or not nx.is_biconnected(graph):
        return False
    return all(nx.is_biconnected(nx.restricted_view(graph, [v], [])) for v in graph)


def polyhedron(n: int, rng: random.Random, delete: float = 0.5) -> Plain:
    """A random triangulation less a random part of those edges that can go without losing 3-connectivity."""
    edges = list(triangulation(n, rng).edges)
    candidates = edges[:]
    rng.shuffle(candidates)
    for e in candidates:
        if rng.random() < delete:
            rest = [f for f in edges if f != e]
            if all(sum(x in f for f in rest) >= 3 for x in e) and is_three_connected_brute_force(Plain.of(n, rest)):
                edges = rest
    return Plain.of(n, edges)


@lru_cache(maxsize=4)
def polyhedra(count: int, largest: int = 10, seed: int = 0) -> tuple[Plain, ...]:
    """A pool of random polyhedra on 4..largest nodes."""
    rng = random.Random(seed)
    return tuple(polyhedron(rng.randint(4, largest), rng, rng.choice((0.0, 0.3, 0.6, 1.0))) for _ in range(count))


@lru_cache(maxsize=1)
def nonplanar_lookalikes() -> tuple[Plain, ...]:
    """Cubic, 3-connected, not planar, on 8 nodes: as plain sets of darts they are equal, as graphs they are not."""
    found: list[nx.Graph] = []
    for seed in range(200):
        graph = nx.random_regular_graph(3, 8, seed=seed)
        g = Plain.of(8, graph.edges)
        wanted = is_three_connected_brute_force(g) and not nx.check_planarity(graph)[0]
        if wanted and not any(nx.is_isomorphic(graph, other) for other in found):
            found.append(graph)
    assert len(found) > 1
    return tuple(Plain.of(8, graph.edges) for graph in found)


def host_of_lookalikes(rng: random.Random) -> Plain:
    """A symmetric graph with lookalikes on its edges and at its nodes: most ties in it prove nothing."""
    host = rng.choice(
        (
            graphs.cycle(rng.randint(3, 6)),
            graphs.book(rng.randint(2, 5)),
            graphs.complete_bipartite(2, rng.randint(3, 5)),
            graphs.complete(4),
            graphs.prism(3),
            graphs.wheel(4),
            graphs.star(rng.randint(2, 4)),
            graphs.path(rng.randint(2, 4)),
            rng.choice(nonplanar_lookalikes()),
        )
    )
    pool = rng.sample(nonplanar_lookalikes(), 2)
    edges = rng.random()
    g = host
    for e in reversed(range(len(host.edges))):
        if rng.random() < edges:
            parallel = rng.choice((1, 1, 2, 3))
            for k in range(parallel):
                keep = k + 1 < parallel or rng.random() < 0.3
                g = replace_edge(g, e, rng.choice(pool), rng.randrange(12), flip=rng.random() < 0.5, keep=keep)
    for v in range(host.n):
        if rng.random() < 0.3:
            g = identify(g, rng.choice(pool), v, rng.randrange(8))
    return g
