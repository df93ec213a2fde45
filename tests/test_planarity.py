"""Planarity against networkx; every refusal comes with a subdivision of K5 or K3,3, verified edge by edge."""

from __future__ import annotations

import pickle
import random
from itertools import combinations, pairwise, product

import graphs
import maps
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import is_kuratowski_subdivision, networkx_planar
from plain import Plain, replace_edge
from strategies import seeds

import planegraph as pg

NONPLANAR = graphs.nonplanar()


def assert_witness(g: Plain, witness) -> str:
    """The witness is a set of edges of g that is exactly a subdivision of K5 or K3,3."""
    edges = [tuple(sorted(map(int, e))) for e in witness]
    present = {tuple(sorted(e)) for e in g.edges}
    assert len(set(edges)) == len(edges), f"an edge is there twice: {g}"
    assert set(edges) <= present, f"the witness has edges that {g} has not"
    kind = is_kuratowski_subdivision(edges)
    assert kind, f"no subdivision of K5 or K3,3: {edges} in {g}"
    assert_structure(witness, kind)
    return kind


def assert_structure(witness, kind: str) -> None:
    """Kind, branch nodes and paths say the same as the edges."""
    assert witness.kind == kind
    branch, paths = witness.branch_nodes, witness.paths
    steps = [frozenset(step) for path in paths for step in pairwise(path)]
    assert sorted(map(sorted, steps)) == sorted(sorted(edge) for edge in witness.tolist())
    inner = [v for path in paths for v in path[1:-1]]
    assert len({*inner, *branch}) == len(inner) + len(branch)
    pairs = combinations(branch, 2) if kind == "K5" else product(branch[:3], branch[3:])
    assert {frozenset((path[0], path[-1])) for path in paths} == set(map(frozenset, pairs))
    assert len(branch) == (5 if kind == "K5" else 6)


def assert_refused(g: Plain) -> str:
    assert not pg.is_planar(g.build())
    for call in (pg.decompose, pg.canonical_form):
        with pytest.raises(pg.NotPlanarError) as caught:
            call(g.build())
        assert_witness(g, caught.value.witness)
    return assert_witness(g, pg.kuratowski_witness(g.build()))


@pytest.mark.parametrize("name", NONPLANAR)
def test_nonplanar_families_are_refused_with_a_witness(name):
    rng = random.Random(name)
    for _ in range(5):
        assert_refused(NONPLANAR[name].shuffled(rng)[0])


@pytest.mark.parametrize("name", graphs.families())
def test_planar_families(name):
    g = graphs.families()[name].build()
    assert pg.is_planar(g)
    assert pg.kuratowski_witness(g) is None


@given(st.integers(1, 14), st.floats(0.1, 1.0), seeds)
def test_random_graphs_against_networkx(n, density, seed):
    rng = random.Random(seed)
    most = n * (n - 1) // 2
    m = min(most, int(density * 3 * n))
    g = Plain.of(n, rng.sample([(i, j) for i in range(n) for j in range(i)], m))
    if networkx_planar(g):
        assert pg.is_planar(g.build()), g
        assert pg.kuratowski_witness(g.build()) is None
    else:
        assert_refused(g)


@given(st.integers(5, 60), st.integers(1, 3), seeds)
def test_triangulations_with_an_edge_too_many(n, extra, seed):
    """Maximal planar graphs plus edges: just not planar."""
    rng = random.Random(seed)
    g = maps.triangulation(n, rng)
    present = {frozenset(e) for e in g.edges}
    free = [(i, j) for i in range(n) for j in range(i) if frozenset((i, j)) not in present]
    if free:
        assert_refused(Plain.of(n, [*g.edges, *rng.sample(free, min(extra, len(free)))]).shuffled(rng)[0])


def test_subdivisions_are_found_whole():
    """K5 and K3,3 with long subdivided edges, hidden in a planar graph on shared nodes."""
    rng = random.Random(3)
    kinds = set()
    for _ in range(60):
        g = rng.choice((graphs.complete(5), graphs.complete_bipartite(3, 3)))
        for _ in range(rng.randrange(12)):
            g = replace_edge(g, rng.randrange(len(g.edges)), graphs.cycle(rng.randint(3, 6)), 0)
        host = maps.planar(rng.randint(3, 20), 0.7, rng)
        shift = [(u + g.n, v + g.n) for u, v in host.edges]
        bridges = [(rng.randrange(g.n), g.n + rng.randrange(host.n))]
        kinds.add(assert_refused(Plain.of(g.n + host.n, [*g.edges, *shift, *bridges]).shuffled(rng)[0]))
    assert kinds == {"K5", "K3,3"}


def test_large_witnesses():
    """A grid on a torus and a long Moebius ladder: thousands of nodes."""
    side = 40
    torus = Plain.of(
        side * side,
        [
            (side * i + j, side * a + b)
            for i in range(side)
            for j in range(side)
            for a, b in (((i + 1) % side, j), (i, (j + 1) % side))
        ],
    )
    assert_refused(torus.shuffled(random.Random(1))[0])
    k = 2000
    moebius = Plain.of(2 * k, [*((i, (i + 1) % (2 * k)) for i in range(2 * k)), *((i, i + k) for i in range(k))])
    assert assert_refused(moebius.shuffled(random.Random(2))[0]) == "K3,3"


def test_only_a_whole_witness_has_a_structure():
    w = pg.kuratowski_witness(pg.families.complete(5))
    results = (
        w[:, 0],
        w[0],
        w[:],
        w[w[:, 0] > 1],
        next(iter(w)),
        w + 1,
        2 * w,
        w == w,
        w.sum(axis=0),
        np.sort(w)[:3],
        np.minimum(w, 3),
    )
    assert {type(result) for result in results} == {np.ndarray}
    for result in (w.sum(), w.max(), w[0, 0], np.add.reduce(w, axis=None)):
        assert type(result) is np.int64
    for whole in (w, w.copy(), pickle.loads(pickle.dumps(w))):
        assert whole.kind == "K5"
    with pytest.raises(ValueError, match=r"this array has shape \(2, 10\)"):
        w.T.kind  # noqa: B018
    with pytest.raises(ValueError, match="these 7 edges are no subdivision"):
        pg.KuratowskiWitness.of(w[:7]).kind  # noqa: B018
    w += 1
    assert w.branch_nodes == [1, 2, 3, 4, 5]


def assert_shortest_paths(g: Plain, witness) -> None:
    """No path of the witness can be replaced by a shorter one that avoids the others."""
    graph = nx.Graph(g.edges)
    others = set(np.ravel(witness).tolist())
    for path in witness.paths:
        free = graph.subgraph((set(graph) - others) | set(path))
        assert nx.shortest_path_length(free, path[0], path[-1]) == len(path) - 1, (g, path)


@given(st.integers(5, 40), st.floats(0, 1), seeds)
def test_paths_of_witnesses_are_shortest(n, density, seed):
    """Also of graphs with more edges than a planarity test has to look at."""
    rng = random.Random(seed)
    pairs = list(combinations(range(n), 2))
    g = Plain.of(n, rng.sample(pairs, round(n + density * (len(pairs) - n))))
    witness = pg.kuratowski_witness(g.build())
    if witness is not None:
        assert_witness(g, witness)
        assert_shortest_paths(g, witness)


def test_witnesses_are_small_where_the_obstruction_is():
    """One bridge over a street of a grid: a dozen edges or two are enough, wherever it is; and no path can be shortened."""
    side = 90
    v = np.arange(side * side).reshape(side, side)
    streets = np.concatenate([np.stack([a.ravel(), b.ravel()], 1) for a, b in ((v[1:], v[:-1]), (v[:, 1:], v[:, :-1]))])
    for seed in range(5):
        rng = np.random.default_rng(seed)
        x, y = rng.integers(10, side - 13, (2, 20))
        bridges = np.unique(np.stack([v[x, y], v[x + 2, y + 1]], 1), axis=0)
        g = pg.families.shuffled(pg.Graph(side * side, np.concatenate([streets, bridges])), seed)
        witness = pg.kuratowski_witness(g)
        assert_witness(Plain.of(g.num_nodes, g.edges.tolist()), witness)
        assert len(witness) <= 60
        G = nx.Graph(g.edges.tolist())
        for path in witness.paths:
            others = {u for other in witness.paths for u in other} - set(path)
            assert nx.shortest_path_length(G.subgraph(set(G) - others), path[0], path[-1]) == len(path) - 1


def test_the_first_bad_graph_of_a_batch_is_named():
    batch = pg.GraphBatch.from_graphs([graphs.cycle(5).build(), graphs.complete(5).build(), graphs.complete(6).build()])
    for threads in (1, 2):
        with pytest.raises(pg.NotPlanarError) as caught:
            pg.decompose_batch(batch, threads=threads)
        assert caught.value.graph_index == 1
        assert_witness(graphs.complete(5), caught.value.witness)


def test_the_oracle_can_fail():
    k5 = graphs.complete(5)
    assert is_kuratowski_subdivision(k5.edges) == "K5"
    assert is_kuratowski_subdivision(k5.edges[1:]) is None
    assert is_kuratowski_subdivision([*k5.edges, (5, 6), (6, 7), (7, 5)]) is None
    assert is_kuratowski_subdivision(graphs.prism(3).edges) is None
    assert is_kuratowski_subdivision(np.array(graphs.complete_bipartite(3, 3).edges)) == "K3,3"
