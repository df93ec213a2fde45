"""Symmetries, connectivity, planar subgraphs and arrangements against nauty, sympy, networkx and fractions: for tests and torture."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import pytest
from oracles import is_isomorphism, nauty_automorphisms
from plain import Plain

import planegraph as pg


def numbered(keys) -> list[int]:
    """Numbers by first appearance."""
    seen: dict = {}
    return [seen.setdefault(key, len(seen)) for key in keys]


def orbits_of(n: int, permutations) -> list[int]:
    """Orbits of 0..n-1 under the group that these permutations generate."""
    joined = nx.Graph()
    joined.add_nodes_from(range(n))
    joined.add_edges_from((v, int(w)) for p in permutations for v, w in enumerate(p))
    of = {v: k for k, component in enumerate(nx.connected_components(joined)) for v in component}
    return numbered(of[v] for v in range(n))


def check_orbits(g: Plain, a: pg.Automorphisms) -> None:
    """Order and orbits are those of nauty."""
    mantissa, exponent, nodes, edges = nauty_automorphisms(g)
    assert a.node_orbits.tolist() == numbered(nodes), f"orbits of nodes of {g}"
    assert a.edge_orbits.tolist() == numbered(edges), f"orbits of edges of {g}"
    assert exponent or a.order == mantissa, f"the order of {g} is {mantissa}, not {a.order}"
    assert math.isclose(a.log10_order, math.log10(mantissa) + exponent, abs_tol=1e-9), f"the order of {g}"
    assert math.isclose(a.log10_order, math.log10(a.order), abs_tol=1e-9)


def check_generators(g: Plain, a: pg.Automorphisms) -> list[np.ndarray]:
    """They are automorphisms, none is the identity, and they have the right orbits."""
    permutations = []
    for k, (nodes, images) in enumerate(a.generators):
        p = a.generators.permutation(k)
        assert is_isomorphism(g, g, p), f"generator {k} of {g}: {p.tolist()}"
        assert np.flatnonzero(p != np.arange(g.n)).tolist() == nodes.tolist()
        assert p[nodes].tolist() == images.tolist()
        assert len(nodes)
        permutations.append(p)
    assert orbits_of(g.n, permutations) == a.node_orbits.tolist(), f"orbits of the generators of {g}"
    return permutations


def group_order(n: int, permutations: list[np.ndarray]) -> int:
    from sympy.combinatorics import Permutation, PermutationGroup

    return int(PermutationGroup([Permutation(p.tolist()) for p in permutations] or [Permutation(n - 1)]).order()) if n else 1


def check(g: Plain, group: bool = True) -> pg.Automorphisms:
    a = pg.automorphisms(g.build())
    check_orbits(g, a)
    permutations = check_generators(g, a)
    if group:
        assert group_order(g.n, permutations) == a.order, f"the generators of {g} generate another group"
    assert a.is_trivial == (a.order == 1) == (not permutations)
    return a


def is_planar(n: int, edges) -> bool:
    G = nx.Graph(edges)
    G.add_nodes_from(range(n))
    return nx.check_planarity(G)[0]


def assert_maximal(g: Plain) -> list[int]:
    """What is kept is planar, and with each of the others it is not; networkx says so."""
    found = pg.planar_subgraph(g.build())
    left_out, kept = found.left_out.tolist(), found.kept.tolist()
    assert sorted(left_out + kept) == list(range(len(g.edges))), g
    assert found.graph.edges.tolist() == [list(g.edges[e]) for e in kept], g
    edges = [g.edges[e] for e in kept]
    assert is_planar(g.n, edges), g
    for e in left_out:
        assert not is_planar(g.n, [*edges, g.edges[e]]), f"edge {e} can be put back: {g}"
    return left_out


def networkx_graph(g: Plain) -> nx.Graph:
    graph = nx.Graph(g.edges)
    graph.add_nodes_from(range(g.n))
    return graph


def pairs_by_brute_force(graph: nx.Graph) -> set[frozenset[int]]:
    """Pairs of nodes without which the rest of their block is not connected."""
    found = set()
    for block in nx.biconnected_components(graph):
        for pair in itertools.combinations(block, 2):
            rest = graph.subgraph(block - set(pair))
            if rest and not nx.is_connected(rest):
                found.add(frozenset(pair))
    return found


def assert_connectivity(g: Plain) -> None:
    graph, d = networkx_graph(g), pg.decompose(g.build())
    assert {frozenset(e) for e in d.ends(d.bridges).tolist()} == set(map(frozenset, nx.bridges(graph))), g
    assert sorted(d.bridges) == d.bridges.tolist()
    assert set(d.cut_nodes.node.tolist()) == set(nx.articulation_points(graph)), g
    blocks = {frozenset(map(frozenset, block)) for block in nx.biconnected_component_edges(graph)}
    edges = [frozenset(e) for e in g.edges]
    assert {frozenset(edges[e] for e in np.flatnonzero(d.edge_block == b)) for b in range(len(d.blocks))} == blocks, g
    pairs = [frozenset(pair) for pair in d.separation_pairs]
    assert len(pairs) == len(set(pairs)) == len(d.separation_pairs), g
    assert set(pairs) == pairs_by_brute_force(graph), g
    assert d.is_biconnected == (g.n > 0 and nx.is_biconnected(graph)), g
    assert d.node_connectivity == (min(nx.node_connectivity(graph), 3) if g.n else 0), g
    assert d.is_triconnected == (g.n > 3 and nx.node_connectivity(graph) >= 3), g


def cross(o, p, q):
    return (p[0] - o[0]) * (q[1] - o[1]) - (p[1] - o[1]) * (q[0] - o[0])


def meetings(a, b, c, d) -> set:
    """The ends of the common part of two segments, or the point where they cross."""
    found = {p for p in (c, d) if on_segment(p, a, b)} | {p for p in (a, b) if on_segment(p, c, d)}
    if not found and cross(a, b, c) * cross(a, b, d) < 0 and cross(c, d, a) * cross(c, d, b) < 0:
        t = cross(c, d, a) / (cross(c, d, a) - cross(c, d, b))
        found = {(a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]))}
    return found


def on_segment(p, a, b) -> bool:
    return cross(a, b, p) == 0 and min(a, b) <= p <= max(a, b)


def by_angle(at, points):
    """Counter-clockwise from downwards, exactly."""
    right = [p for p in points if p > at]
    left = [p for p in points if p < at]

    def slope(p):  # a monotone function of the angle in each half
        dx, dy = p[0] - at[0], p[1] - at[1]
        return (1, Fraction(0)) if dx == 0 else (0, dy / dx)

    return sorted(right, key=slope) + sorted(left, key=slope)


def assert_arrangement(xy, edges) -> pg.Planarization:
    """The result is the arrangement that fractions give."""
    shown = f"points {np.asarray(xy).tolist()}, edges {list(edges)}"
    found = pg.planarize(pg.Graph(len(xy), edges), np.array(xy, float).reshape(-1, 2))
    exact = [(Fraction(float(x)), Fraction(float(y))) for x, y in xy]
    on_edge = [{exact[u], exact[v]} | {p for p in exact if on_segment(p, exact[u], exact[v])} for u, v in edges]
    for e, f in combinations(range(len(edges)), 2):
        common = meetings(*(exact[v] for v in (*edges[e], *edges[f])))
        on_edge[e] |= common
        on_edge[f] |= common
    point = dict(enumerate(exact))
    pieces = {}
    for e, (u, v) in enumerate(edges):
        way = sorted(on_edge[e], reverse=exact[u] > exact[v])
        parts = found.parts[found.part_ptr[e] : found.part_ptr[e + 1]]
        assert len(parts) == len(way) - 1, shown
        at = u
        for k, (p, q) in zip(parts, pairwise(way), strict=True):
            ends = found.graph.edges[k].tolist()
            assert at in ends, shown
            assert point.setdefault(at, p) == p, shown
            pieces.setdefault(frozenset((p, q)), (e, k))
            if found.source[k] == e:
                assert ends[0] == at, shown
                t = [float((r[0] - p0[0]) / (p1[0] - p0[0]) if p1[0] != p0[0] else (r[1] - p0[1]) / (p1[1] - p0[1]))
                     for p0, p1 in [(exact[u], exact[v])] for r in (p, q)]  # fmt: skip
                assert found.along[k].tolist() == pytest.approx(t, abs=1e-9), shown
            at = sum(ends) - at
        assert at == v, shown
    assert len(pieces) == found.graph.num_edges, shown
    assert sorted(found.source) == sorted(e for e, _ in pieces.values()), shown  # overlaps belong to the first
    assert len(set(point.values())) == len(point) == found.graph.num_nodes, shown
    size = max((abs(c) for p in exact for c in p), default=Fraction(0))
    for v, p in point.items():
        assert all(
            abs(Fraction(c) - x) <= size * Fraction(1, 2**48) for c, x in zip(found.positions[v].tolist(), p, strict=True)
        ), shown
    number = {p: v for v, p in point.items()}
    around = {v: [] for v in point}
    for p, q in (tuple(pair) for pair in pieces):
        around[number[p]].append(q)
        around[number[q]].append(p)
    e = found.embedding
    e.check()
    for v, others in around.items():
        expected = [number[q] for q in by_angle(point[v], others)]
        given_ = e.rotation(v).tolist()
        k = given_.index(expected[0]) if expected else 0
        assert given_[k:] + given_[:k] == expected, shown
    for face in e.outer_faces:
        walk = [point[v] for v in e.face(face).tolist()]
        assert sum(p[0] * q[1] - q[0] * p[1] for p, q in zip(walk, walk[1:] + walk[:1], strict=True)) <= 0, shown
    return found
