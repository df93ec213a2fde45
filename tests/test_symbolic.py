"""A symbolic PlanE over the decomposition: invariant under relabelling, and complete on planar graphs (the paper's theorem)."""

from __future__ import annotations

import random

import exhaustive
import graphs
import pytest
import reference
from hypothesis import given
from strategies import any_planar, glued_graphs, labels_on, lookalike_graphs, seeds
from symbolic import SymbolicPlanE

import planegraph as pg

FAMILIES = graphs.families()
NONPLANAR = graphs.nonplanar()


def encode(model: SymbolicPlanE, g, on_nonplanar: str = "raise") -> int:
    return model.encode(g, pg.decompose(g.build(), on_nonplanar=on_nonplanar).arrays)


def assert_invariant(g, seed: int, on_nonplanar: str = "raise", times: int = 3) -> None:
    rng = random.Random(seed)
    model = SymbolicPlanE()
    expected = encode(model, g, on_nonplanar)
    for _ in range(times):
        assert encode(model, g.shuffled(rng)[0], on_nonplanar) == expected, f"not invariant: {g}"


@pytest.mark.parametrize("name", FAMILIES)
def test_invariant_on_families(name):
    rng = random.Random(name)
    assert_invariant(FAMILIES[name], 1)
    if FAMILIES[name].dart_labels is None:
        for kinds in ({"nodes": 2}, {"edges": 2}, {"darts": 2}, {"nodes": 3, "darts": 2}):
            assert_invariant(FAMILIES[name].with_labels(rng, **kinds), 2)


@given(any_planar(), seeds)
def test_invariant_on_random_graphs(g, seed):
    assert_invariant(g, seed, times=2)


@pytest.mark.parametrize("name", NONPLANAR)
def test_invariant_on_nonplanar_families(name):
    rng = random.Random(name)
    assert_invariant(NONPLANAR[name], 1, "set", times=6)
    for kinds in ({"nodes": 2}, {"edges": 2}, {"darts": 2}):
        assert_invariant(NONPLANAR[name].with_labels(rng, **kinds), 2, "set", times=4)


@given(labels_on(glued_graphs(10, nonplanar=True).map(lambda glued: glued.graph)), seeds)
def test_invariant_on_glued_nonplanar_graphs(g, seed):
    assert_invariant(g, seed, "set")


@given(labels_on(lookalike_graphs()), seeds)
def test_invariant_where_ties_prove_nothing(g, seed):
    """Parts that are different but equal as plain sets: a walk must not depend on a tie between them."""
    assert_invariant(g, seed, "set")


@pytest.mark.parametrize("edge_features", [False, True])
def test_complete_on_all_connected_planar_graphs(edge_features):
    """All of them up to 7 nodes, pairwise."""
    model = SymbolicPlanE(edge_features=edge_features, layers=4)
    seen = {}
    for n in range(1, 8):
        for g in exhaustive.connected_planar_graphs(n):
            code = encode(model, g)
            assert code not in seen, f"{g} and {seen[code]} look the same"
            seen[code] = g
    assert len(seen) == sum(exhaustive.COUNTS[:7])


def test_complete_on_two_coloured_graphs():
    model = SymbolicPlanE(layers=4)
    seen = {}
    for n in range(1, 6):
        for g in exhaustive.coloured(n):
            code = encode(model, g)
            certificate = exhaustive.nauty_certificate(g)
            assert seen.setdefault(code, certificate) == certificate, f"{g} looks like another graph"
            assert seen.setdefault(certificate, code) == code, f"not invariant: {g}"


@pytest.mark.slow
def test_complete_on_all_connected_planar_graphs_on_eight_nodes():
    model = SymbolicPlanE(layers=4)
    codes = [encode(model, g) for g in exhaustive.connected_planar_graphs(8)]
    assert len(set(codes)) == len(codes) == exhaustive.COUNTS[7]


def test_this_test_can_fail():
    """Walks that are right but not canonical, and a model of fewer terms: both are noticed."""
    model, rng = SymbolicPlanE(), random.Random(1)
    g = graphs.polygon_triangulation(12, 5).with_labels(rng, nodes=3)
    codes = {model.encode(h, reference.tables(h)) for h in (g.shuffled(rng)[0] for _ in range(10))}
    assert len(codes) > 1
