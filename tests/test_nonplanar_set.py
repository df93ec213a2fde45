"""``on_nonplanar="set"``: rigid components that are not planar become plain sets of darts; everything else keeps its walk."""

from __future__ import annotations

import random
from collections import Counter

import graphs
import pytest
from hypothesis import given
from strategies import any_planar, glued_graphs, labels_on, lookalike_graphs, seeds

import planegraph as pg

NONPLANAR = graphs.nonplanar()


def as_set(g) -> pg.Decomposition:
    return pg.decompose(g.build(), on_nonplanar="set")


def profile(d: pg.Decomposition) -> Counter:
    """What must not depend on the numbering, without any canonical labelling: types, sizes, walks as far as they are ordered."""
    return Counter((c.type, c.is_set, c.kappa, c.positions, c.theta, c.level, len(c.edges)) for c in d.spqr_nodes)


@pytest.mark.parametrize("name", NONPLANAR)
def test_families(name):
    g, rng = NONPLANAR[name], random.Random(name)
    for version in (g, g.with_labels(rng, nodes=2), g.with_labels(rng, darts=2)):
        d = as_set(version)
        d.check()
        assert any(c.is_set for c in d.spqr_nodes)
        for _ in range(4):
            other = as_set(version.shuffled(rng)[0])
            other.check()
            assert profile(other) == profile(d), version


@given(labels_on(glued_graphs(10, nonplanar=True).map(lambda glued: glued.graph)), seeds)
def test_glued_graphs(g, seed):
    d = as_set(g)
    d.check()
    assert profile(as_set(g.shuffled(random.Random(seed))[0])) == profile(d), g


@given(labels_on(lookalike_graphs()), seeds)
def test_lookalikes(g, seed):
    d = as_set(g)
    d.check()
    assert profile(as_set(g.shuffled(random.Random(seed))[0])) == profile(d), g


@given(any_planar())
def test_planar_graphs_are_untouched(g):
    """On planar graphs the two modes give the same tables."""
    a, b = pg.decompose(g.build()).arrays, as_set(g).arrays
    assert {name: x.tolist() for name, x in a.items()} == {name: x.tolist() for name, x in b.items()}, g


def test_planar_components_keep_their_walks():
    d = as_set(NONPLANAR["K5 and planar components"])
    assert Counter((c.type, c.is_set) for c in d.spqr_nodes) == {("R", True): 1, ("R", False): 1, ("S", False): 1, ("Q", False): 2}


def test_codes_of_nonplanar_graphs_are_refused():
    batch = pg.GraphBatch.from_graphs([graphs.complete(5).build()])
    with pytest.raises(pg.NotPlanarError):
        pg.decompose_batch(batch, on_nonplanar="set", codes=True)
    with pytest.raises(pg.NotPlanarError):
        pg.canonical_codes(batch)


def test_the_option_is_checked():
    with pytest.raises(ValueError, match="on_nonplanar"):
        pg.decompose(graphs.complete(5).build(), on_nonplanar="ignore")
