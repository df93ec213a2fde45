"""Ids and tables that are wrong: refused with a message, never a crash; depths, and parents in a circle."""

from __future__ import annotations

import random

import graphs
import numpy as np
import pytest

pytest.importorskip("torch")

from collating import stand_in, tables_of

import planegraph as pg
from planegraph import _core
from planegraph.data import PlanarBatch
from planegraph.data.batch import collate
from planegraph.data.tables import add_depths


def test_bad_ids():
    ds = stand_in(tables_of([graphs.path(3)] * 4))
    for ids in ([4], [-1], [0, 2**40]):
        with pytest.raises(IndexError, match="of a dataset of 4"):
            collate(ds, ids)
    for ids in ([0.5], [[0]], ["a"]):
        with pytest.raises(TypeError, match="graph ids"):
            collate(ds, ids)


def test_wrong_arrays():
    tables = dict(tables_of([graphs.path(3)]))
    for name, value in (
        ("walk_node", tables["walk_node"].astype(np.int64)),
        ("edges", tables["edges"].ravel()),
        ("cut_ptr", [0, 1]),
    ):
        with pytest.raises(TypeError, match=name):
            _core.Tables(tables | {name: value})
    with pytest.raises(KeyError):
        _core.Tables({})
    for name in ("walk_node", "spqr_ptr", "cut_depth"):
        with pytest.raises(pg.FormatError):
            _core.Tables(tables | {name: tables[name][:-1].copy()})


@pytest.mark.parametrize(
    ("name", "row", "value"),
    [
        ("edges", 0, 99),
        ("edges", 1, -1),
        ("walk_node", 3, 4),
        ("walk_edge", 0, -2),
        ("walk_spqr", 2, -1),
        ("walk_spqr", 5, 0),
        ("walk_kappa", 1, -3),
        ("walk_kappa", 1, 2**31 - 2),
        ("walk_pos", 1, 100),
        ("spqr_theta", 1, 100),
        ("spqr_type", 0, 4),
        ("spqr_parent", 0, 0),
        ("spqr_block", 1, 77),
        ("spqr_depth", 0, 2**31 - 1),
        ("spqr_depth", 0, -1),
        ("block_root", 0, 1),
        ("block_parent_cut", 0, 0),
        ("block_depth", 0, 1),
        ("cut_node", 0, 2**31 - 1),
        ("cut_parent_block", 0, -5),
        ("cut_depth", 0, 3),
        ("node_spqr_node", 0, 9),
        ("node_spqr_spqr", 0, 9),
        ("node_block_node", 0, -9),
        ("node_block_block", 0, 9),
        ("spqr_ptr", 1, 1000),
        ("walk_ptr", 1, -1),
        ("node_ptr", 1, -1),
    ],
)
def test_damage_is_refused(name, row, value):
    tables = {name: values.copy() for name, values in tables_of([graphs.path(4)]).items()}
    tables[name].reshape(-1)[row] = value
    ds = stand_in(tables_of([graphs.path(4)]), 1)
    ds.tables = tables
    with pytest.raises((pg.FormatError, ValueError), match=rf"graph 0: .*{name}|parent|blocks|features"):
        collate(ds, [0])


def test_damage_never_crashes():
    """Any one entry of any table set to anything: an error or a batch."""
    made = [graphs.nested_k4(3), graphs.caterpillar(4, 2), graphs.book(3), graphs.wheel(5)]
    good = tables_of(made)
    rng = random.Random(3)
    outcomes = {"refused": 0, "accepted": 0}
    for _ in range(3000):
        tables = dict(good)
        name = rng.choice([n for n in tables if len(tables[n])])
        changed = tables[name].copy()
        flat = changed.reshape(-1)
        flat[rng.randrange(len(flat))] = rng.choice([-(2**31), -2, -1, 0, 1, 2, 3, 7, 50, 2**31 - 1, rng.randrange(40)])
        if name == "node_ptr" and flat.max() > 10**6:
            continue  # honest, but it asks for a batch of 2^31 nodes
        tables[name] = changed
        try:
            PlanarBatch.from_tables(tables, rows_per_edge=2)
            outcomes["accepted"] += 1
        except (pg.FormatError, ValueError, MemoryError, RuntimeError):
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 300, outcomes


def test_depths():
    made = list(graphs.families().values())
    t = tables_of(made)
    for name, parent, above, root in (
        ("spqr", "spqr_parent", "spqr", 0),
        ("block", "block_parent_cut", "cut", 0),
        ("cut", "cut_parent_block", "block", 1),
    ):
        for g in range(len(made)):
            mine = slice(*t[f"{name}_ptr"][g : g + 2])
            depth_above = t[f"{above}_depth"][slice(*t[f"{above}_ptr"][g : g + 2])]
            for depth, p in zip(t[f"{name}_depth"][mine], t[parent][mine], strict=True):
                assert depth == (root if p < 0 else depth_above[p] + 1)


def test_parents_in_a_circle_are_refused():
    t = tables_of(list(graphs.families().values()))
    parent = t.spqr_parent.copy()
    row = int(np.argmax(parent >= 0))
    g = int(np.searchsorted(t.spqr_ptr, row, side="right")) - 1
    parent[row] = row - t.spqr_ptr[g]
    with pytest.raises(pg.FormatError, match=rf"graph {g}.*cycle"):
        add_depths({**t, "spqr_parent": parent})
