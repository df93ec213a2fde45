"""Automorphisms against nauty (order, orbits of nodes and edges), brute force (labels of darts) and sympy (what generators generate)."""

from __future__ import annotations

import itertools
import math
import pickle
import random

import graphs
import maps
import networkx as nx
import numpy as np
import pytest
from exhaustive import ALL_COUNTS, connected_planar_graphs, planar_graphs
from hypothesis import given
from hypothesis import strategies as st
from oracles import is_isomorphism
from plain import Plain, disjoint_union, identify, replace_edge
from strategies import any_planar, glued_graphs, labels_on, seeds, unions
from strategies import planar_graphs as random_planar_graphs
from toolkit_checks import check, check_generators, check_orbits, orbits_of

import planegraph as pg
from planegraph.canonical import automorphisms as canonical


def shuffles(g: Plain, rng: random.Random) -> list[Plain]:
    """The graph, renumbered, and with labels of all kinds."""
    return [g.shuffled(rng)[0], *(g.with_labels(rng, **kinds) for kinds in ({"nodes": 2}, {"edges": 2}, {"darts": 2}))]


@pytest.mark.parametrize("n", range(1, 8))
def test_all_planar_graphs(n):
    """Connected or not; renumbered, and with labels."""
    rng, count = random.Random(n), 0
    for g in planar_graphs(n):
        for h in shuffles(g, rng):
            check(h, group=n < 7 or count % 10 == 0)
        count += 1
    assert count == ALL_COUNTS[n - 1]


@pytest.mark.slow
@pytest.mark.parametrize("n", [8, 9])
def test_all_planar_graphs_of_eight_and_nine_nodes(n):
    plain = list(planar_graphs(n))
    for g, a in zip(plain, pg.automorphism_batch(g.build() for g in plain), strict=True):
        check_orbits(g, a)
    assert len(plain) == ALL_COUNTS[n - 1]


def brute_force(g: Plain) -> list[tuple[int, ...]]:
    return [p for p in itertools.permutations(range(g.n)) if is_isomorphism(g, g, p)]


@pytest.mark.parametrize("n", range(2, 5))
def test_all_labels_of_darts_against_brute_force(n):
    """All ways to label the darts with two values, on graphs of at most 5 edges."""
    for plain in connected_planar_graphs(n):
        m = len(plain.edges)
        if m > 5:
            continue
        for bits in range(4**m):
            g = Plain(n, plain.edges, dart_labels=tuple((bits >> 2 * e & 1, bits >> 2 * e + 1 & 1) for e in range(m)))
            found, a = brute_force(g), pg.automorphisms(g.build())
            assert (a.order, a.node_orbits.tolist()) == (len(found), orbits_of(n, found)), g
            check_generators(g, a)


@given(labels_on(random_planar_graphs(6)))
def test_brute_force(g):
    """All automorphisms by trying all permutations; orbits of edges from where they go."""
    a, found = pg.automorphisms(g.build()), brute_force(g)
    assert (a.order, a.node_orbits.tolist()) == (len(found), orbits_of(g.n, found)), g
    number = {frozenset(e): k for k, e in enumerate(g.edges)}
    moved = [[number[frozenset((p[u], p[v]))] for u, v in g.edges] for p in found]
    assert a.edge_orbits.tolist() == orbits_of(len(g.edges), moved), g


@pytest.mark.parametrize("name", graphs.families())
def test_families(name):
    g, rng = graphs.families()[name], random.Random(name)
    for h in [g] if g.dart_labels else shuffles(g, rng):
        check(h, group=h.n <= 40)


@given(any_planar())
def test_random_graphs(g):
    check(g)


@given(unions(glued_graphs(4).map(lambda glued: glued.graph)), seeds)
def test_equal_components(g, seed):
    check(g.shuffled(random.Random(seed))[0], group=False)


@st.composite
def composed(draw) -> Plain:
    """Pieces on equal places of a symmetric graph, in the one or the other direction: at its nodes, or at its edges."""
    rng = random.Random(draw(seeds))
    named = [graphs.cycle(4), graphs.cycle(5), graphs.star(3), graphs.complete(4), graphs.prism(3), graphs.prism(4), graphs.path(4)]
    named += [
        graphs.wheel(4),
        graphs.wheel(5),
        graphs.book(3),
        graphs.complete_bipartite(2, 4),
        graphs.bipyramid(3),
        graphs.ladder(3),
    ]
    frame = g = rng.choice(named)
    for _ in range(draw(st.integers(1, 2))):
        piece = rng.choice(named)
        at_edges, of_piece = rng.random() < 0.6, rng.randrange(3)
        share = rng.choice([0.3, 1, 1])
        if at_edges and len(frame.edges) > 1:
            flip = rng.choice([0, 1, 0.5])
            for e in reversed([e for e in range(len(frame.edges)) if rng.random() < share]):
                turned = rng.random() < flip
                g = replace_edge(g, e, piece, of_piece, flip=turned, keep=True)
        else:
            for v in [v for v in range(frame.n) if rng.random() < share]:
                g = identify(g, piece, v, of_piece)
        if g.n > 120:
            break
    return g.shuffled(rng)[0]


@given(labels_on(composed()))
def test_composed_graphs(g):
    check(g, group=g.n <= 30)


@given(glued_graphs(6), seeds)
def test_two_equal_halves(glued, seed):
    """SPQR trees with two centres: a half glued to itself at any two of its edges, in both directions."""
    rng, half = random.Random(seed), glued.graph
    e = rng.randrange(len(half.edges))
    f = rng.choice([e, rng.randrange(len(half.edges))])
    for flip in (False, True):
        g = replace_edge(half, e, half, f, flip=flip, keep=rng.random() < 0.3)
        if len(set(map(frozenset, g.edges))) == len(g.edges):
            check(g.shuffled(rng)[0], group=g.n <= 30)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_thousands_of_larger_graphs(seed):
    """Random planar graphs and their unions, up to 150 nodes, with and without labels."""
    rng = random.Random(seed)
    for _ in range(500):
        g = maps.planar(rng.randint(10, 70), rng.choice([0.3, 0.4, 0.5, 0.7, 1.0]), rng)
        g = disjoint_union(g, g) if rng.random() < 0.3 else g
        for h in (g, rng.choice(shuffles(g, rng))):
            check(h, group=False)


# ---- groups that are known ---------------------------------------------------------------------------------------------------

KNOWN = {
    "C60": (graphs.truncated(graphs.platonic()["icosahedral"]), 120, 1, 2, True),
    "prism 12": (graphs.prism(12), 48, 1, 2, True),
    "cube": (graphs.prism(4), 48, 1, 1, True),
    "antiprism 7": (graphs.antiprism(7), 28, 1, 2, True),
    "cycle 9": (graphs.cycle(9), 18, 1, 1, False),
    "K2,6": (graphs.complete_bipartite(2, 6), 2 * math.factorial(6), 2, 1, False),
    "grid 6 x 6": (graphs.grid(6, 6), 8, 6, 9, True),
    "grid 5 x 7": (graphs.grid(5, 7), 4, 12, 17, True),
    "binary tree": (graphs.binary_tree(4), 2**15, 5, 4, False),
    "star 7": (graphs.star(7), math.factorial(7), 2, 1, False),
    "isolated nodes": (Plain.of(30, []), math.factorial(30), 1, 0, False),
    "three K4": (disjoint_union(*[graphs.complete(4)] * 3), 6 * 24**3, 1, 1, True),
    "one node": (Plain.of(1, []), 1, 1, 0, False),
    "empty": (Plain.of(0, []), 1, 0, 0, False),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_groups(name):
    g, order, nodes, edges, reflects = KNOWN[name]
    a = pg.automorphisms(g.build())
    assert (a.order, len(set(a.node_orbits)), len(set(a.edge_orbits)), a.reflects) == (order, nodes, edges, reflects)


def reflects_by_definition(g: Plain) -> bool:
    """For a 3-connected graph: whether some automorphism reverses the embedding that networkx finds."""
    _, embedding = nx.check_planarity(nx.Graph(g.edges))
    return any(all(p[embedding[u][v]["cw"]] == embedding[p[u]][p[v]]["ccw"] for u, v in embedding.edges) for p in brute_force(g))


def test_reflections_of_small_polyhedra():
    rng = random.Random(3)
    polyhedra = [g for n in range(4, 7) for g in connected_planar_graphs(n) if nx.node_connectivity(nx.Graph(g.edges)) >= 3]
    found = [
        (pg.automorphisms(h.build()).reflects, reflects_by_definition(h))
        for g in polyhedra
        for h in (g, g.with_labels(rng, nodes=2), g.with_labels(rng, darts=2))
    ]
    assert all(a == b for a, b in found)
    assert {a for a, _ in found} == {True, False}


def test_a_chiral_map():
    """The snub cube: rotations alone, 24 of them."""
    cube = graphs.platonic()["cubical"]
    _, embedding = nx.check_planarity(nx.Graph(cube.edges))
    name = {dart: k for k, dart in enumerate(embedding.edges)}  # a node for each dart, in the face on its right
    edges = set()
    for u, v in embedding.edges:
        following = embedding.next_face_half_edge(u, v)
        for other in (following, (v, u), embedding.next_face_half_edge(v, u)):
            edges.add(tuple(sorted((name[u, v], name[other]))))
    snub = Plain.of(24, sorted(edges))
    assert len(snub.edges) == 60
    a = check(snub)
    assert (a.order, a.reflects) == (24, False)


def test_reflections_of_parts():
    """A K4 in place of an edge of a cycle: one reflection fixes the edge, one turns it round together with the cycle."""
    g = replace_edge(graphs.cycle(5), 0, graphs.complete(4), 0)
    inside, outside = {5: 1}, {2: 1}  # one of the two nodes that are not on the cycle; one of the cycle that no symmetry fixes
    for marked, order in (({}, 4), (inside, 2), (outside, 2), (inside | outside, 1)):
        labels = tuple(marked.get(v, 0) for v in range(g.n))
        a = pg.automorphisms(Plain(g.n, g.edges, node_labels=labels).build())
        assert (a.order, a.reflects) == (order, order > 1)


# ---- sizes -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [100, 1000, 10_000])
def test_generators_are_sparse(n):
    """At most n log2 n moved nodes, in trees, chains and nests of all kinds."""
    f = pg.families
    for g in (f.nested_k4(n // 2), f.star(n - 1), f.k2n(n - 2), f.random_tree(n), f.cactus(n), f.caterpillar(n // 3, 2), f.path(n)):
        a = pg.automorphisms(f.shuffled(g, seed=1))
        assert len(a.generators.nodes) <= n * math.log2(n), g


def test_large_orders_are_lazy():
    a = pg.automorphisms(pg.families.star(200_000))
    assert a.factors.factorials.tolist() == [[200_000, 1]]
    assert a.log10_order == pytest.approx(math.lgamma(200_001) / math.log(10))
    assert "order about 10^973350.2" in repr(a)
    assert "order" not in a.__dict__


# ---- the object --------------------------------------------------------------------------------------------------------------


@given(st.lists(any_planar(), max_size=6), st.integers(1, 3))
def test_batches(plain, threads):
    plain = [Plain(g.n, g.edges) for g in plain]
    batch = pg.automorphism_batch((g.build() for g in plain), threads=threads)
    assert len(batch) == len(plain)
    for g, a in zip(plain, batch, strict=True):
        one = pg.automorphisms(g.build())
        assert a.graph == one.graph
        assert a.node_orbits.tolist() == one.node_orbits.tolist()
        assert a.edge_orbits.tolist() == one.edge_orbits.tolist()
        assert (a.order, a.reflects) == (one.order, one.reflects)


def test_a_large_batch_does_not_depend_on_threads():
    graphs_ = [pg.families.random_planar(12, 0.5, seed=k) for k in range(3000)]
    one, many = (pg.automorphism_batch(graphs_, threads=threads) for threads in (1, 3))
    names = [name for name in one.__dict__ if name != "batch"]
    assert len(names) == 7
    assert all(np.array_equal(getattr(one, name), getattr(many, name)) for name in names)
    assert one.node_orbits[one.batch.node_ptr[2999] :].tolist() == pg.automorphisms(graphs_[2999]).node_orbits.tolist()
    assert one[-1].order == one[2999].order == pg.automorphisms(graphs_[2999]).order


def test_names():
    G = nx.Graph([("hub", "a"), ("hub", "b"), ("hub", "c")])
    a = pg.automorphisms(G)
    assert a.orbit("a").tolist() == ["a", "b", "c"]
    assert [(x.tolist(), y.tolist()) for x, y in a.generators] == [(["a", "b"], ["b", "a"]), (["b", "c"], ["c", "b"])]
    with pytest.raises(pg.InvalidGraphError, match="'d' is not a node"):
        a.orbit("d")


def test_graphs_that_are_not_planar():
    with pytest.raises(pg.NotPlanarError, match="subdivision of K5") as caught:
        pg.automorphisms(nx.relabel_nodes(nx.complete_graph(5), dict(enumerate("vwxyz"))))
    assert set(caught.value.witness.ravel()) == set("vwxyz")
    with pytest.raises(pg.NotPlanarError, match="graph 1"):
        pg.automorphism_batch([pg.families.path(3), pg.families.complete(5)])


def test_wrong_arguments():
    with pytest.raises(ValueError, match="threads"):
        pg.automorphism_batch([pg.families.path(3)], threads=0)
    a = pg.automorphisms(pg.families.path(3))
    with pytest.raises(IndexError, match="generator 1 of 1"):
        a.generators[1]
    with pytest.raises(IndexError, match="graph 2 of a batch of 1"):
        pg.automorphism_batch([pg.families.path(3)])[2]
    with pytest.raises(AttributeError):
        a.node_orbits = None
    with pytest.raises(ValueError, match="read-only"):
        a.node_orbits[0] = 1


def test_pickle_and_repr():
    a = pg.automorphisms(pg.families.wheel(5))
    b = pickle.loads(pickle.dumps(a))
    assert (b.order, b.reflects, b.node_orbits.tolist(), b.graph) == (10, True, a.node_orbits.tolist(), a.graph)
    assert len(b.generators) == len(a.generators)
    assert repr(a) == "Automorphisms(order 10, 2 node orbits, 2 edge orbits)"
    assert repr(pg.automorphism_batch([a.graph])) == "AutomorphismBatch(1 graph)"
    assert repr(a.generators).startswith("Generators(")


def test_the_numbers_of_names_are_looked_up_once(monkeypatch):
    made = []
    numbers = canonical.Numbers
    monkeypatch.setattr(canonical, "Numbers", lambda *args: made.append(1) or numbers(*args))
    a = pg.automorphisms(pg.Graph(3, [(0, 1), (1, 2)], names="abc"))
    assert [a.orbit(v).tolist() for v in "abc"] == [["a", "c"], ["b"], ["a", "c"]]
    assert len(made) == 1
