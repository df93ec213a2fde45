"""Capacities: what a padded batch has room for."""

from __future__ import annotations

import random

import graphs
import maps
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import planar_graphs

pytest.importorskip("torch")

from collating import check_padding, roomy, stand_in, tables_of

from planegraph.data import Capacity, DoesNotFitError, Layout
from planegraph.data.batch import Collator, collate
from planegraph.data.needs import Needs


def test_capacity_holds_random_batches():
    made = [maps.planar(random.Random(k).randrange(1, 30), 0.6, random.Random(k)) for k in range(300)]
    tables = tables_of(made)
    capacity = Needs(tables, 0).likely(32)
    collator = Collator(stand_in(tables))
    rng = np.random.default_rng(0)
    assert {collator(rng.choice(300, 32, replace=False), capacity).layout for _ in range(200)} == {Layout(capacity, 0, True)}
    whole = Needs(tables, 0).likely(300)
    collator(np.arange(300), whole)
    need = collator(np.arange(300)).layout.sizes
    for name in ("nodes", "edges", "walks", "node_spqr", "node_block"):
        assert getattr(whole, name) % 8 == 0
        assert getattr(need, name) < getattr(whole, name) <= getattr(need, name) + 8


@given(st.lists(planar_graphs(14), min_size=2, max_size=6), st.integers(0, 2**32))
def test_growing(made, seed):
    tables = tables_of(made)
    rng = random.Random(seed)
    capacity = roomy(tables, [0], rng)
    collator = Collator(stand_in(tables, 1))
    ids = [rng.randrange(len(made)) for _ in range(6)]
    exact = collator(ids).layout
    grown = capacity.grow(exact)
    batch = collator(ids, grown)
    assert collator([0], grown).layout == batch.layout
    assert grown.grow(exact) == grown
    if grown == capacity:
        collator(ids, capacity)
    else:
        with pytest.raises(DoesNotFitError) as caught:
            collator(ids, capacity)
        assert caught.value.layout == exact
    check_padding(collator(ids), batch)


def test_maximum_of_capacities():
    one = Capacity(4, 40, 48, 120, 48, 48, 16, spqr=(8, 16), blocks=(1, 2, 3), cuts=(4, 5))
    other = Capacity(9, 8, 64, 8, 64, 8, 24, spqr=(1, 24, 8), blocks=(7,))
    both = Capacity(9, 40, 64, 120, 64, 48, 24, spqr=(1, 24, 16), blocks=(1, 2, 7), cuts=(4, 5))
    assert one.maximum(other) == other.maximum(one) == both
    assert both.maximum(one) == both.maximum(other) == both
    assert one.maximum(one) == one


@given(st.lists(planar_graphs(14), min_size=2, max_size=6), st.integers(0, 2**32))
def test_what_fits_into_one_capacity_fits_into_the_maximum(made, seed):
    tables = tables_of(made)
    rng = random.Random(seed)
    collator = Collator(stand_in(tables, 1))
    parts = [[rng.randrange(len(made)) for _ in range(3)] for _ in range(2)]
    both = roomy(tables, parts[0], rng).maximum(roomy(tables, parts[1], rng))
    for ids in parts:
        check_padding(collator(ids), collator(ids, both))


def test_a_capacity_that_is_exactly_full_does_not_fit():
    tables = tables_of([graphs.path(4)])
    exact = Collator(stand_in(tables))([0]).layout.sizes
    with pytest.raises(DoesNotFitError, match=r"nodes 4 for 4.*grow"):
        collate(stand_in(tables), [0], exact)
    with pytest.raises(ValueError, match="one slice of blocks more"):
        Capacity(1, 8, 8, 8, 8, 8, 8, blocks=(1, 2))
