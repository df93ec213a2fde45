"""Canonical forms: equal exactly for isomorphic labelled graphs; the code rebuilds the graph; mappings are isomorphisms."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations

import graphs
import maps
import numpy as np
import pytest
from hypothesis import given
from oracles import is_isomorphism, nauty_certificate, networkx_isomorphic
from plain import Plain, disjoint_union
from strategies import any_planar, labels_on, planar_graphs, seeds

import planegraph as pg
from planegraph.canonical.code import encode

FAMILIES = graphs.families()


def code(g: Plain) -> bytes:
    return pg.canonical_form(g.build()).code


def assert_canonical(g: Plain, rng: random.Random, times: int = 3) -> None:
    """Shuffled copies get the same code and digest, and their labellings compose to an isomorphism."""
    form = pg.canonical_form(g.build())
    assert form.graph() == g.build().relabel(form.labelling), f"the code does not rebuild {g}"
    assert encode(form.graph()) == form.code, g
    for _ in range(times):
        h, _ = g.shuffled(rng)
        other = pg.canonical_form(h.build())
        assert other.code == form.code, f"codes differ: {g} and {h}"
        assert other.digest == form.digest
        back = np.argsort(other.labelling)
        assert is_isomorphism(g, h, back[form.labelling]), f"labellings of {g} and {h} do not compose"
        mapping = pg.isomorphism(g.build(), h.build())
        assert mapping is not None
        assert is_isomorphism(g, h, mapping), f"wrong mapping from {g} to {h}"


@pytest.mark.parametrize("name", FAMILIES)
def test_families(name):
    g, rng = FAMILIES[name], random.Random(name)
    assert_canonical(g, rng, times=4)
    if g.dart_labels is None:
        for kinds in ({"nodes": 2}, {"edges": 2}, {"darts": 2}, {"nodes": 3, "darts": 2}):
            assert_canonical(g.with_labels(rng, **kinds), rng)


def test_families_are_told_apart():
    rng = random.Random(2)
    labelled = [g for g in FAMILIES.values() if g.dart_labels is None]
    labelled = [
        h for g in labelled for h in (g, *(replace(g, node_labels=g.with_labels(rng, nodes=2).node_labels) for _ in range(4)))
    ]
    by_code, by_certificate = {}, {}
    for g in labelled:
        same = by_code.setdefault(code(g), g)
        certificate = (not g.node_labels, nauty_certificate(g))
        assert by_certificate.setdefault(certificate, same) is same, f"{g} and {same}"
        assert (not same.node_labels, nauty_certificate(same)) == certificate, f"{g} and {same}"


@given(any_planar(), seeds)
def test_random_graphs(g, seed):
    assert_canonical(g, random.Random(seed), times=2)


@given(labels_on(planar_graphs(9)), seeds)
def test_one_small_change_against_nauty(g, seed):
    """A graph and the same with one edge moved or one label changed: equal codes exactly if nauty says so."""
    rng = random.Random(seed)
    h = mutate(g, rng)
    if h is not None:
        equal = nauty_certificate(g) == nauty_certificate(h)
        assert (code(g) == code(h)) == equal, f"{g} and {h}"
        assert pg.is_isomorphic(g.build(), h.build()) == equal


def mutate(g: Plain, rng: random.Random) -> Plain | None:
    """One edge moved to a free place or one label changed; None if that is not planar or not possible."""
    if g.node_labels and rng.random() < 0.5:
        labels = list(g.node_labels)
        rng.shuffle(labels)
        return replace(g, node_labels=tuple(labels))
    if g.dart_labels and rng.random() < 0.7:
        darts = list(g.dart_labels)
        e = rng.randrange(len(darts)) if darts else 0
        if darts:
            darts[e] = darts[e][::-1]
        return replace(g, dart_labels=tuple(darts))
    present = {frozenset(e) for e in g.edges}
    free = [pair for pair in combinations(range(g.n), 2) if frozenset(pair) not in present]
    if not free or not g.edges:
        return None
    edges = list(g.edges)
    edges[rng.randrange(len(edges))] = rng.choice(free)
    h = replace(g, edges=tuple(edges))
    return h if pg.is_planar(h.build()) else None


@given(labels_on(planar_graphs(7)), labels_on(planar_graphs(7)))
def test_against_networkx(g, h):
    """VF2 with labels, on pairs made comparable: both get labels of the same kinds."""
    h = replace(h, node_labels=None, edge_labels=None, dart_labels=None)
    g0 = replace(g, node_labels=None, edge_labels=None, dart_labels=None)
    assert pg.is_isomorphic(g0.build(), h.build()) == networkx_isomorphic(g0, h), f"{g0} and {h}"


def test_pairs_of_small_graphs_against_networkx():
    rng = random.Random(4)
    seen = {True: 0, False: 0}
    for _ in range(400):
        g = maps.planar(6, 0.5, rng).with_labels(rng, nodes=2, darts=2)
        h = mutate(g.shuffled(rng)[0], rng)
        if h is not None:
            expected = networkx_isomorphic(g, h)
            seen[expected] += 1
            assert pg.is_isomorphic(g.build(), h.build()) == expected, f"{g} and {h}"
    assert min(seen.values()) > 20, seen


def test_one_direction_of_one_edge():
    """A cycle with one odd dart is chiral, with one odd edge it is not; turning the dart round is an automorphism's image."""
    one, both = graphs.one_odd_dart(5), graphs.one_odd_dart(5, both=True)
    none = replace(one, dart_labels=((0, 0),) * 5)
    turned = replace(one, dart_labels=((0, 1), *one.dart_labels[1:]))
    assert len({code(one), code(both), code(none)}) == 3
    assert code(one) == code(turned)
    chiral = [((1, 0), (0, 0), (2, 0)), ((1, 0), (0, 0), (0, 2))]
    a, b = (Plain(3, graphs.cycle(3).edges, dart_labels=darts) for darts in chiral)
    assert (code(a) == code(b)) == (nauty_certificate(a) == nauty_certificate(b))


def test_every_pair_of_odd_darts_on_a_cycle():
    """All ways to mark two darts of a cycle of 6, against nauty."""
    by_code = {}
    for marked in combinations(range(12), 2):
        darts = tuple((int(2 * e in marked), int(2 * e + 1 in marked)) for e in range(6))
        g = Plain(6, graphs.cycle(6).edges, dart_labels=darts)
        assert by_code.setdefault(code(g), nauty_certificate(g)) == nauty_certificate(g), g
    assert len(by_code) == len(set(by_code.values()))


def test_equal_dart_labels_are_edge_labels():
    g = graphs.prism(4)
    values = tuple(range(len(g.edges)))
    assert code(replace(g, edge_labels=values)) == code(replace(g, dart_labels=tuple((x, x) for x in values)))


def test_components_in_any_order():
    parts = [graphs.cycle(4), graphs.complete(4), graphs.path(3), graphs.path(1), graphs.cycle(4)]
    codes = set()
    for seed in range(10):
        rng = random.Random(seed)
        rng.shuffle(parts)
        codes.add(code(disjoint_union(*parts)))
    assert len(codes) == 1
    assert code(disjoint_union(*parts[1:])) not in codes


def test_many_components():
    """400 equal molecules, and 400 with one odd among them."""
    unit = graphs.with_tails(graphs.two_centres(graphs.cycle(6), graphs.cycle(5)), {0: 2, 3: 1})
    same = disjoint_union(*[unit] * 400)
    odd = disjoint_union(*[unit] * 399, graphs.path(unit.n))
    assert code(same) == code(same.shuffled(random.Random(1))[0])
    assert code(same) != code(odd)


@pytest.mark.parametrize("kind", [np.int64, np.float64, np.uint8, np.int8, bool, np.float32])
def test_label_dtypes(kind):
    """Labels of any dtype: rebuilt, and equal under relabelling."""
    rng = np.random.default_rng(3)
    g = graphs.wheel(7)
    nodes = rng.integers(0, 2, (g.n, 3)).astype(kind)
    edges = rng.integers(0, 2, (len(g.edges), 2)).astype(kind)
    a = pg.Graph(g.n, g.edges, node_labels=nodes, edge_labels=edges)
    permutation = rng.permutation(g.n)
    assert pg.canonical_form(a).code == pg.canonical_form(a.relabel(permutation)).code
    form = pg.canonical_form(a)
    assert form.graph() == a.relabel(form.labelling)


def test_extreme_labels():
    """The largest and smallest integers and doubles, infinities and denormals: rebuilt exactly, all different."""
    integers = [0, 1, -1, 2**63 - 1, -(2**63), 127, 128, -129]
    floats = [0.0, 1.0, -1.0, np.inf, -np.inf, 5e-324, -5e-324, 1.7976931348623157e308, np.nextafter(1, 2)]
    for values in (integers, floats):
        codes = set()
        for x in values:
            g = pg.Graph(3, [(0, 1), (1, 2)], node_labels=np.array([x, 0, 0], dtype=np.float64 if values is floats else np.int64))
            form = pg.canonical_form(g)
            assert form.graph() == g.relabel(form.labelling)
            codes.add(form.code)
        assert len(codes) == len(values)
    zero = pg.Graph(1, [], node_labels=[0.0])
    assert pg.canonical_form(zero).code == pg.canonical_form(pg.Graph(1, [], node_labels=[-0.0])).code
    assert pg.canonical_form(zero).code != pg.canonical_form(pg.Graph(1, [], node_labels=[0])).code


@pytest.mark.slow
def test_large_random_graphs():
    """Thousands of nodes: equal under relabelling, labellings compose."""
    rng = random.Random(8)
    for n in (300, 1000, 3000):
        for density in (0.5, 0.6, 0.8, 1.0):
            g = maps.planar(n, density, rng)
            assert_canonical(g, rng, times=1)
            assert_canonical(g.with_labels(rng, nodes=2), rng, times=1)
