"""TIGER road-and-parcel maps of Alaska: counts known from elsewhere, every promise checked, the same whatever the numbering."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest
from plain import Plain
from translate import canonical_tables, first_difference

import planegraph as pg


def tiger(data_root, size: str) -> Plain:
    d = np.load(data_root / "plane" / f"Large_Tiger_Alaska_{size}.npz", allow_pickle=False)
    index = d["edge_index"].astype(np.int64)
    once = index[0] < index[1]
    return Plain.of(int(d["node_ptr"][-1]), index[:, once].T.tolist())


def test_counts_of_tiger_1k(data_root):
    d = pg.decompose(tiger(data_root, "1k").build())
    counts = d.counts
    assert (counts["blocks"], counts["S"], counts["P"], counts["R"]) == (122, 601, 424, 73)


@pytest.mark.parametrize("size", ["1k", "2k", "3k", "4k", "5k"])
def test_tiger(size, data_root):
    """3k, 4k and 5k: the published code takes minutes or never ends."""
    g = tiger(data_root, size)
    start = time.perf_counter()
    d = pg.decompose(g.build())
    assert time.perf_counter() - start < 5
    d.check()
    h, _ = g.shuffled(random.Random(1))
    other = pg.decompose(h.build())
    difference = first_difference(canonical_tables(g, d.arrays), canonical_tables(h, other.arrays))
    assert difference is None, difference
    assert pg.canonical_form(g.build()).code == pg.canonical_form(h.build()).code


@pytest.mark.slow
@pytest.mark.parametrize("size", ["10k", "25k"])
def test_large_tiger(size, data_root):
    test_tiger(size, data_root)
