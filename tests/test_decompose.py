"""Decompositions: every promise of docs/design.md, on every family; the same whatever the numbering; against networkx and brute force."""

from __future__ import annotations

import random

import graphs
import networkx as nx
import pytest
import reference
from hypothesis import given
from oracles import networkx_blocks, networkx_cut_nodes
from plain import Plain
from skeletons import tree_from_decomposition, tree_from_tables
from strategies import any_planar, glued_graphs, planar_graphs, seeds
from translate import canonical_tables, first_difference

import planegraph as pg

FAMILIES = graphs.families()


def decompose(g: Plain) -> pg.Decomposition:
    return pg.decompose(g.build())


def assert_same_tables(g: Plain, seed: int, times: int = 3) -> None:
    """The tables of shuffled copies are equal once node ids are canonical indices."""
    rng = random.Random(seed)
    expected = canonical_tables(g, decompose(g).arrays)
    for _ in range(times):
        h, _ = g.shuffled(rng)
        difference = first_difference(expected, canonical_tables(h, decompose(h).arrays))
        assert difference is None, f"{difference}; {g} against {h}"


@pytest.mark.parametrize("name", FAMILIES)
def test_families(name):
    """check() and equal tables, without labels and with labels of every kind."""
    g, rng = FAMILIES[name], random.Random(name)
    versions = [g]
    if g.dart_labels is None:
        for kinds in ({"nodes": 2}, {"edges": 2}, {"darts": 2}, {"nodes": 2, "edges": 3}, {"nodes": 3, "darts": 3}):
            versions.append(g.with_labels(rng, **kinds))
    for version in versions:
        decompose(version).check()
        assert_same_tables(version, 1)


@given(any_planar(), seeds)
def test_random_graphs(g, seed):
    decompose(g).check()
    assert_same_tables(g, seed, times=2)


@given(glued_graphs(14))
def test_glued_trees_come_back(glued):
    d = decompose(glued.graph)
    d.check()
    assert tree_from_decomposition(d) == (glued.nodes, glued.tree), glued.graph


@given(glued_graphs(10, nonplanar=True))
def test_glued_nonplanar_trees_come_back(glued):
    d = pg.decompose(glued.graph.build(), on_nonplanar="set")
    d.check()
    assert tree_from_decomposition(d) == (glued.nodes, glued.tree), glued.graph


@given(planar_graphs(30))
def test_blocks_against_networkx(g):
    d = decompose(g)
    found = {frozenset(frozenset(map(int, d.graph.edges[e])) for e in block.edges) for block in d.blocks}
    assert found == networkx_blocks(g), g
    assert {cut.node for cut in d.cut_nodes} == networkx_cut_nodes(g), g
    components = {frozenset(v for v in range(g.n) if d.components[v] == k) for k in set(d.components.tolist())}
    graph = nx.empty_graph(g.n)
    graph.add_edges_from(g.edges)
    assert components == {frozenset(c) for c in nx.connected_components(graph)}, g


@given(planar_graphs(16))
def test_spqr_trees_against_brute_force(g):
    assert tree_from_decomposition(decompose(g)) == tree_from_tables(g.edges, reference.tables(g)), g


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_many_glued_trees_come_back(seed):
    """Hundreds of skeletons in one tree."""
    from skeletons import glue_random_tree

    rng = random.Random(seed)
    glued = glue_random_tree(rng.randint(50, 600), rng)
    d = decompose(glued.graph)
    d.check()
    assert tree_from_decomposition(d) == (glued.nodes, glued.tree)
    assert_same_tables(glued.graph, seed, times=1)


COUNTS = {
    "one node": {"blocks": 0, "S": 0, "P": 0, "Q": 0, "R": 0},
    "one edge": {"blocks": 1, "S": 0, "P": 0, "Q": 1, "R": 0},
    "path 10": {"blocks": 9, "S": 0, "P": 0, "Q": 9, "R": 0},
    "cycle 12": {"blocks": 1, "S": 1, "P": 0, "Q": 0, "R": 0},
    "K2,8": {"blocks": 1, "S": 8, "P": 1, "Q": 0, "R": 0},
    "book 9": {"blocks": 1, "S": 9, "P": 1, "Q": 0, "R": 0},
    "K4": {"blocks": 1, "S": 0, "P": 0, "Q": 0, "R": 1},
    "C60": {"blocks": 1, "S": 0, "P": 0, "Q": 0, "R": 1},
    "fan 40": {"blocks": 1, "S": 39, "P": 38, "Q": 0, "R": 0},
    "ladder 15": {"blocks": 1, "S": 14, "P": 13, "Q": 0, "R": 0},
    "nested K4 30": {"blocks": 1, "S": 0, "P": 0, "Q": 0, "R": 30},
    "two centres RR": {"blocks": 1, "S": 0, "P": 0, "Q": 0, "R": 2},
    "triangulated polygon": {"blocks": 1, "S": 18, "P": 17, "Q": 0, "R": 0},
    "symmetric block tree of triangles": {"blocks": 1 + 3 + 9, "S": 13, "P": 0, "Q": 0, "R": 0},
}


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name):
    assert decompose(FAMILIES[name]).counts == COUNTS[name]


def test_two_hundred_nested_k4s():
    """Each with one edge replaced by the next; the published code is exponential in their number."""
    g = graphs.nested_k4(200)
    d = decompose(g)
    d.check()
    assert d.counts == {"blocks": 1, "S": 0, "P": 0, "Q": 0, "R": 200}
    assert_same_tables(g, 7)
    assert_same_tables(g.with_labels(random.Random(3), darts=2), 8)


@pytest.mark.parametrize("g", [graphs.ladder(1200), graphs.fan(1500)], ids=["ladder 1200", "fan 1500"])
def test_deep_trees(g):
    """The published code exceeds Python's recursion limit on these."""
    decompose(g).check()
    assert_same_tables(g, 9, times=1)


def test_walks_of_rigid_nodes_follow_the_embedding():
    """Weinberg's walk from its first dart, in networkx's embedding of the skeleton or in its mirror image."""
    rng = random.Random(11)
    for name, g in FAMILIES.items():
        d = decompose(g.shuffled(rng)[0])
        for c in d.spqr_nodes:
            if c.type != "R":
                continue
            _, embedding = nx.check_planarity(nx.Graph([(e.u, e.v) for e in c.edges]))
            found = list(zip(c.walk, (*c.walk[1:], c.walk[0]), strict=True))
            expected = [reference.weinberg(embedding, *found[0], turn) for turn in ("cw", "ccw")]
            assert found in expected, f"{name}: SPQR node {c.index} of {g}"


def test_the_objects_say_what_the_tables_say():
    g = graphs.two_centres(graphs.nested_k4(3), graphs.book(4))
    d = decompose(g)
    assert len(d.spqr_nodes) == sum(d.counts[t] for t in "SPQR")
    for c in d.spqr_nodes:
        assert set(c.nodes) == set(c.walk)
        assert len(c.real_edges) + len(c.virtual_edges) == len(c.edges)
        for e in c.real_edges:
            assert sorted((e.u, e.v)) == sorted(g.edges[e.edge])
        for e in c.virtual_edges:
            assert c.index in (d.spqr_nodes[e.other].parent, *[f.other for f in d.spqr_nodes[e.other].virtual_edges])
        if c.parent is not None:
            assert d.spqr_nodes[c.parent].level > c.level
    assert sorted(e for b in d.blocks for e in b.edges) == list(range(len(g.edges)))
    assert str(d)
