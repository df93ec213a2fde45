"""How large batches are, before they are made: against collation, which finds it out."""

from __future__ import annotations

import random
from functools import reduce

import maps
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain import Plain
from strategies import planar_graphs

pytest.importorskip("torch")

from collating import check_padding, stand_in, tables_of

from planegraph.data import needs
from planegraph.data.batch import Collator
from planegraph.data.needs import Needs, make_needs

MADE = [maps.planar(random.Random(k).randrange(1, 30), 0.6, random.Random(k)) for k in range(60)]


def largest(collator: Collator, orders: list[np.ndarray], batch_size: int):
    """By collating all batches."""
    parts = [order[k : k + batch_size] for order in orders for k in range(0, max(len(order), 1), batch_size)]
    return reduce(lambda a, b: a.maximum(b), (collator(part).layout.sizes for part in parts))


@pytest.mark.parametrize("exact", [2**24, 1], ids=["float32", "float64"])
def test_the_most_of_all_batches(monkeypatch, exact):
    monkeypatch.setattr(needs, "_EXACT", exact)
    made = [*MADE, Plain.of(0, []), Plain.of(5, [])]
    tables = tables_of(made)
    found, collator, rng = Needs(tables, 1), Collator(stand_in(tables, 1)), np.random.default_rng(0)
    for batch_size in (1, 7, 62, 100):
        orders = [rng.permutation(62), rng.permutation(62)[::-1][::3], np.empty(0, np.int64)]
        assert found.most(orders, batch_size) == largest(collator, orders, batch_size)
    assert found.most([np.empty(0, np.int64)], 4) == collator([]).layout.sizes


@given(st.lists(planar_graphs(14), min_size=1, max_size=8), st.integers(1, 5), st.integers(0, 2**32))
def test_padded_sizes_hold_every_batch(made, batch_size, seed):
    tables, rng = tables_of(made), np.random.default_rng(seed)
    found, collator = Needs(tables, 0), Collator(stand_in(tables))
    order = rng.permutation(len(made))
    sizes = found.most([order], batch_size)
    capacity = sizes.padded()
    for name in ("nodes", "edges", "walks", "node_spqr", "node_block"):
        assert getattr(capacity, name) % 8 == 0
        assert getattr(sizes, name) < getattr(capacity, name) <= getattr(sizes, name) + 8
    for k in range(0, len(made), batch_size):
        ids = order[k : k + batch_size]
        found.check(ids, capacity)
        check_padding(collator(ids), collator(ids, capacity))


def test_deep_trees_have_no_matrix(monkeypatch):
    tables = tables_of(MADE)
    assert make_needs(tables, 0) is not None
    monkeypatch.setattr(needs, "_MOST_NUMBERS", 100)
    assert make_needs(tables, 0) is None
