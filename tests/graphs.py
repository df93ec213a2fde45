"""Named graphs: the families that the issue asks for, small enough to be decomposed, checked and canonised in every run."""

from __future__ import annotations

import random
from itertools import combinations

import networkx as nx
from plain import Plain, disjoint_union, identify, replace_edge


def from_nx(graph: nx.Graph) -> Plain:
    index = {v: i for i, v in enumerate(graph.nodes)}
    return Plain.of(len(index), [(index[u], index[v]) for u, v in graph.edges])


def path(n: int) -> Plain:
    return Plain.of(n, [(i, i + 1) for i in range(n - 1)])


def cycle(n: int) -> Plain:
    return Plain.of(n, [(i, (i + 1) % n) for i in range(n)])


def star(n: int) -> Plain:
    return Plain.of(n + 1, [(0, i + 1) for i in range(n)])


def binary_tree(depth: int) -> Plain:
    n = 2 ** (depth + 1) - 1
    return Plain.of(n, [((i - 1) // 2, i) for i in range(1, n)])


def caterpillar(spine: int, legs: int) -> Plain:
    edges = [(i, i + 1) for i in range(spine - 1)]
    edges += [(i, spine + i * legs + j) for i in range(spine) for j in range(legs)]
    return Plain.of(spine * (1 + legs), edges)


def complete(n: int) -> Plain:
    return Plain.of(n, combinations(range(n), 2))


def complete_bipartite(a: int, b: int) -> Plain:
    return Plain.of(a + b, [(i, a + j) for i in range(a) for j in range(b)])


def book(pages: int) -> Plain:
    """Triangles on one common edge: K2,n plus the edge between its two nodes."""
    g = complete_bipartite(2, pages)
    return Plain.of(g.n, [*g.edges, (0, 1)])


def wheel(k: int) -> Plain:
    return Plain.of(k + 1, [*cycle(k).edges, *((i, k) for i in range(k))])


def fan(k: int) -> Plain:
    return Plain.of(k + 1, [*path(k).edges, *((i, k) for i in range(k))])


def prism(k: int) -> Plain:
    rings = [(r * k + i, r * k + (i + 1) % k) for r in range(2) for i in range(k)]
    return Plain.of(2 * k, [*rings, *((i, k + i) for i in range(k))])


def antiprism(k: int) -> Plain:
    g = prism(k)
    return Plain.of(g.n, [*g.edges, *((i, k + (i + 1) % k) for i in range(k))])


def bipyramid(k: int) -> Plain:
    return Plain.of(k + 2, [*cycle(k).edges, *((i, k + p) for i in range(k) for p in range(2))])


def ladder(k: int) -> Plain:
    rails = [(r * k + i, r * k + i + 1) for r in range(2) for i in range(k - 1)]
    return Plain.of(2 * k, [*rails, *((i, k + i) for i in range(k))])


def grid(a: int, b: int) -> Plain:
    return from_nx(nx.grid_2d_graph(a, b))


def stacked_prism(k: int, layers: int) -> Plain:
    rings = [(r * k + i, r * k + (i + 1) % k) for r in range(layers) for i in range(k)]
    return Plain.of(layers * k, [*rings, *((r * k + i, r * k + k + i) for r in range(layers - 1) for i in range(k))])


def truncated(g: Plain) -> Plain:
    """Cut off every corner of a polyhedron: nodes are darts. Truncated icosahedron: the fullerene C60."""
    _, embedding = nx.check_planarity(nx.Graph(g.edges))
    index = {dart: i for i, dart in enumerate(embedding.edges)}
    edges = {tuple(sorted((i, index[v, u]))) for (u, v), i in index.items()}
    edges |= {tuple(sorted((i, index[u, embedding[u][v]["cw"]]))) for (u, v), i in index.items()}
    return Plain.of(len(index), sorted(edges))


def dual(g: Plain) -> Plain:
    """The dual of a polyhedron."""
    _, embedding = nx.check_planarity(nx.Graph(g.edges))
    face_of: dict[tuple[int, int], int] = {}
    count = 0
    for dart in embedding.edges:
        if dart not in face_of:
            nodes = embedding.traverse_face(*dart)
            for i, u in enumerate(nodes):
                face_of[u, nodes[(i + 1) % len(nodes)]] = count
            count += 1
    return Plain.of(count, [(face_of[u, v], face_of[v, u]) for u, v in g.edges])


def leapfrog(g: Plain) -> Plain:
    """Truncate the dual: a fullerene gives a fullerene three times as large."""
    return truncated(dual(g))


def cactus(cycles: int, length: int, seed: int) -> Plain:
    rng = random.Random(seed)
    g = cycle(length)
    for _ in range(cycles - 1):
        g = identify(g, cycle(rng.randrange(3, length + 1)), rng.randrange(g.n), 0)
    return g


def flower(petals: int, petal: Plain, at: int = 0) -> Plain:
    """Copies of one graph that share one node."""
    g = petal
    for _ in range(petals - 1):
        g = identify(g, petal, at, at)
    return g


def nested_k4(depth: int) -> Plain:
    """A chain of K4s, each with one edge replaced by the next."""
    edges: list[tuple[int, int]] = []
    a, b, n = 0, 1, 2
    for i in range(depth):
        c, d = n, n + 1
        n += 2
        edges += [(a, c), (a, d), (b, c), (b, d)]
        if i == 0:
            edges.append((a, b))
        a, b = c, d
    return Plain.of(n, [*edges, (a, b)])


def nested_bonds(depth: int) -> Plain:
    """P in S in P in S ...: each level doubles an edge and lengthens one of the two by a node."""
    g = book(2)
    for _ in range(depth):
        g = replace_edge(g, len(g.edges) - 1, book(2), 0, keep=True)
    return g


def polygon_triangulation(n: int, seed: int) -> Plain:
    """A random maximal outerplanar graph: SPQR trees of S (triangles) and P."""
    rng = random.Random(seed)
    edges = list(cycle(n).edges)
    todo = [list(range(n))]
    while todo:
        polygon = todo.pop()
        if len(polygon) < 4:
            continue
        i = rng.randrange(2, len(polygon) - 1)
        edges.append((polygon[0], polygon[i]))
        todo += [polygon[: i + 1], [polygon[0], *polygon[i:]]]
    return Plain.of(n, edges)


def skew_theta(directions: str) -> Plain:
    """Equal branches between two poles, each with a triangle near one end: ``+`` near the first pole, ``-`` near the second."""
    edges: list[tuple[int, int]] = []
    n = 2
    for sign in directions:
        u, v = (0, 1) if sign == "+" else (1, 0)
        a, b, c = n, n + 1, n + 2
        n += 3
        edges += [(u, a), (u, c), (a, c), (a, b), (b, v)]
    return Plain.of(n, edges)


def two_centres(left: Plain, right: Plain) -> Plain:
    """Two skeletons glued on one edge that vanishes: an SPQR tree with two centres."""
    return replace_edge(left, 0, right, 0)


def pendant(g: Plain, *nodes: int) -> Plain:
    """A new leaf at each of the nodes: symmetries of the block that move them do not extend to the graph."""
    return Plain.of(g.n + len(nodes), [*g.edges, *((v, g.n + i) for i, v in enumerate(nodes))])


def with_tails(g: Plain, lengths: dict[int, int]) -> Plain:
    for v, length in lengths.items():
        g = identify(g, path(length + 1), v, 0)
    return g


def symmetric_block_tree(leaf: Plain, arms: int, depth: int) -> Plain:
    """A tree of copies of one block, the same in every direction."""
    if depth == 0:
        return leaf
    below = symmetric_block_tree(leaf, arms, depth - 1)
    g = leaf
    for v in range(min(arms, leaf.n)):
        g = identify(g, below, v, 0)
    return g


def one_odd_dart(k: int, both: bool = False) -> Plain:
    """A cycle with one direction of one edge labelled differently (or both, which keeps the mirror symmetry)."""
    darts = [(0, 0)] * k
    darts[0] = (1, 1) if both else (1, 0)
    return Plain(k, cycle(k).edges, dart_labels=tuple(darts))


def platonic() -> dict[str, Plain]:
    names = ("tetrahedral", "cubical", "octahedral", "dodecahedral", "icosahedral")
    return {name: from_nx(getattr(nx, f"{name}_graph")()) for name in names}


def families() -> dict[str, Plain]:
    """Every named family at a size that a test can afford many times; all planar, some labelled."""
    k4, ico = complete(4), platonic()["icosahedral"]
    named = {
        "empty": Plain.of(0, []),
        "one node": Plain.of(1, []),
        "isolated nodes": Plain.of(5, []),
        "one edge": path(2),
        "edge and isolated nodes": Plain.of(5, [(1, 3)]),
        "path 3": path(3),
        "path 10": path(10),
        "star 7": star(7),
        "binary tree": binary_tree(4),
        "caterpillar": caterpillar(6, 2),
        "triangle": cycle(3),
        "cycle 12": cycle(12),
        "K2,3": complete_bipartite(2, 3),
        "K2,8": complete_bipartite(2, 8),
        "book 1": book(1),
        "book 2": book(2),
        "book 9": book(9),
        "K4": k4,
        "wheel 9": wheel(9),
        "fan 5": fan(5),
        "fan 40": fan(40),
        "prism 3": prism(3),
        "prism 8": prism(8),
        "antiprism 7": antiprism(7),
        "bipyramid 6": bipyramid(6),
        "ladder 2": ladder(2),
        "ladder 15": ladder(15),
        "grid 5x7": grid(5, 7),
        "grid 6x6": grid(6, 6),
        "stacked prism 5x6": stacked_prism(5, 6),
        "truncated tetrahedron": truncated(k4),
        "C60": truncated(ico),
        "C60 leapfrog": leapfrog(truncated(ico)),
        "cactus": cactus(12, 6, 1),
        "triangles at one node": flower(6, cycle(3)),
        "K4s at one node": flower(4, k4),
        "nested K4 2": nested_k4(2),
        "nested K4 3": nested_k4(3),
        "nested K4 30": nested_k4(30),
        "nested bonds 1": nested_bonds(1),
        "nested bonds 6": nested_bonds(6),
        "triangulated polygon": polygon_triangulation(20, 3),
        "theta +++": skew_theta("+++"),
        "theta ++-": skew_theta("++-"),
        "theta +-": skew_theta("+-"),
        "theta ++--": skew_theta("++--"),
        "two centres RR": two_centres(k4, k4),
        "two centres RR, unequal": two_centres(k4, prism(3)),
        "two centres RR, asymmetric": two_centres(wheel(4), wheel(5)),
        "two centres SR": two_centres(cycle(5), k4),
        "two centres PS": book(2),
        "two chains of K4 and prism": two_centres(nested_k4(3), prism(3)),
        "symmetric block tree of triangles": symmetric_block_tree(cycle(3), 3, 2),
        "symmetric block tree of K4": symmetric_block_tree(k4, 4, 1),
        "symmetric block tree of edges": symmetric_block_tree(path(2), 2, 4),
        "C4 with one pendant": pendant(cycle(4), 0),
        "C4 with adjacent pendants": pendant(cycle(4), 0, 1),
        "C4 with opposite pendants": pendant(cycle(4), 0, 2),
        "C6 with chiral tails": with_tails(cycle(6), {0: 1, 1: 2, 3: 1, 4: 2}),
        "K4 with two tails": with_tails(k4, {0: 1, 1: 2}),
        "prism with twisted tails": with_tails(prism(4), {0: 1, 5: 1, 2: 1, 7: 1}),
        "K2,5 with a tail at a pole": with_tails(complete_bipartite(2, 5), {0: 2}),
        "K2,5 with tails at two middles": with_tails(complete_bipartite(2, 5), {2: 1, 3: 1}),
        "three K4 and two cycles": disjoint_union(k4, cycle(5), k4, cycle(4), k4),
        "components of all kinds": disjoint_union(path(1), path(2), cycle(3), star(3), prism(3), path(1), book(3)),
        "cycle with one odd dart": one_odd_dart(6),
        "cycle with one odd edge": one_odd_dart(6, both=True),
    }
    return named | {f"platonic {name}": g for name, g in platonic().items()}


def nonplanar() -> dict[str, Plain]:
    """Graphs that are not planar, alone and as parts of others."""
    k5, k33, petersen = complete(5), complete_bipartite(3, 3), from_nx(nx.petersen_graph())
    return {
        "K5": k5,
        "K6": complete(6),
        "K3,3": k33,
        "K3,4": complete_bipartite(3, 4),
        "Petersen": petersen,
        "Moebius ladder 8": from_nx(nx.circulant_graph(16, [1, 8])),
        "toroidal grid": from_nx(nx.grid_2d_graph(4, 5, periodic=True)),
        "hypercube": from_nx(nx.hypercube_graph(4)),
        "K5 with a tail": with_tails(k5, {0: 3}),
        "K3,3 with tails": with_tails(k33, {0: 1, 1: 2, 4: 1}),
        "K5 and K4 on an edge": two_centres(k5, complete(4)),
        "two K5 on an edge": two_centres(k5, k5),
        "K3,3 and a cycle on an edge": two_centres(k33, cycle(5)),
        "Petersen with nested K4s": two_centres(petersen, nested_k4(4)),
        "K5 in a triangle": two_centres(cycle(3), k5),
        "K3,3 beside a prism": identify(k33, prism(3), 0, 0),
        "K5 and planar components": disjoint_union(k5, cycle(4), complete(4), path(3)),
        "K5s round a cycle": symmetric_block_tree(k5, 3, 1),
    }
