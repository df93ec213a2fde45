"""P3R: generated, and the same as the published one up to order and numbering."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import planegraph as pg
from planegraph.datasets import P3R
from planegraph.datasets.cubic import COUNTS, connected_cubic_planar_graphs
from planegraph.datasets.raw import read_npz
from planegraph.errors import InvalidGraphError


@pytest.mark.parametrize("n", [4, 6, 8, 10])
def test_counts_of_cubic_planar_graphs(n):
    graphs = connected_cubic_planar_graphs(n)
    assert len(graphs) == COUNTS[n]
    for g in graphs:
        assert (np.bincount(g.edges.ravel(), minlength=n) == 3).all()
    assert len(set(pg.canonical_codes(pg.GraphBatch.from_graphs(graphs)))) == len(graphs)


@pytest.mark.slow
def test_counts_of_cubic_planar_graphs_on_12_nodes():
    assert len(connected_cubic_planar_graphs(12)) == COUNTS[12]


@pytest.mark.parametrize("n", [0, 2, 7])
def test_impossible_sizes(n):
    with pytest.raises(InvalidGraphError, match="even number of nodes"):
        connected_cubic_planar_graphs(n)


def test_every_fold_is_balanced(tmp_path):
    task = P3R(tmp_path, tmp_path, threads=1).task()
    y = task.dataset.y
    assert (y.dtype, y.shape, task.outputs) == (np.int64, (450,), 9)
    for fold in task.folds:
        assert np.bincount(y[fold["test"]]).tolist() == [5] * 9
        assert np.bincount(y[fold["train"]]).min() >= 36


def test_the_same_every_time(tmp_path):
    a, b = (P3R(tmp_path, tmp_path / name, threads=1).load() for name in "ab")
    np.testing.assert_array_equal(a.tables.edges, b.tables.edges)
    np.testing.assert_array_equal(a.y, b.y)


def test_against_the_published_file(data_root, tmp_path):
    path = data_root / "plane" / "P3R.npz"
    if not path.is_file():
        pytest.skip(f"no published P3R: {path}")
    theirs, d = read_npz(path, ("y",))
    ours = P3R(tmp_path, tmp_path).read({})
    their_codes, our_codes = pg.canonical_codes(theirs), pg.canonical_codes(ours.batch)
    assert Counter(their_codes) == Counter(our_codes)
    for codes, y in ((their_codes, d["y"]), (our_codes, ours.y)):
        assert len(set(zip(codes, y.tolist(), strict=True))) == 9  # a class is an isomorphism type
