"""Collation: every section against plain Python on graphs of all kinds; padding, transposes, slices."""

from __future__ import annotations

import random

import graphs
import maps
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_planar, planar_graphs

torch = pytest.importorskip("torch")

from collating import check_padding, check_sections, roomy, stand_in, tables_of  # noqa: E402
from slow_collate import table_of  # noqa: E402

import planegraph as pg  # noqa: E402
from planegraph.data import PackedDataset, PlanarBatch  # noqa: E402
from planegraph.data.batch import collate  # noqa: E402
from planegraph.data.needs import Needs  # noqa: E402
from planegraph.data.tables import PackedTables  # noqa: E402


@pytest.mark.parametrize("rows_per_edge", [0, 1, 2])
def test_families(rows_per_edge):
    named = list(graphs.families().values())
    tables = tables_of(named)
    everything = list(range(len(named)))
    rng = random.Random(1)
    rng.shuffle(everything)
    check_sections(tables, everything[:40], rows_per_edge)
    check_sections(tables, everything[40:], rows_per_edge, roomy(tables, everything[40:], rng))


@pytest.mark.parametrize("name", sorted(graphs.families()))
def test_each_family_alone(name):
    tables = tables_of([graphs.families()[name]])
    check_sections(tables, [0], 2)
    check_sections(tables, [0, 0], 1, roomy(tables, [0, 0], random.Random(name)))


@given(st.lists(planar_graphs(14), min_size=1, max_size=8), st.integers(0, 2), st.integers(0, 2**32))
def test_random_planar_graphs(made, rows_per_edge, seed):
    tables = tables_of(made)
    rng = random.Random(seed)
    ids = [rng.randrange(len(made)) for _ in range(rng.randrange(1, 10))]
    batch = check_sections(tables, ids, rows_per_edge)
    capacity = roomy(tables, ids, rng)
    check_padding(batch, check_sections(tables, ids, rows_per_edge, capacity))


@given(st.lists(any_planar(), min_size=1, max_size=4))
def test_labelled_graphs(made):
    """Other labels give other walks, but the same rules."""
    for g in made:
        tables = PackedTables.of(pg.GraphBatch.from_graphs([g.build()] * 2), 1)
        check_sections(tables, [1, 0], 2)


def test_nonplanar_sets():
    named = list(graphs.nonplanar().values()) + [maps.host_of_lookalikes(random.Random(seed)) for seed in range(5)]
    tables = tables_of(named, "set")
    assert tables.spqr_set.any()
    ids = list(range(len(named)))
    batch = check_sections(tables, ids, 2)
    check_padding(batch, check_sections(tables, ids, 2, roomy(tables, ids, random.Random(1))))


def test_nothing_at_all():
    empty = pg.Graph(0, [])
    lonely = pg.Graph(3, [])
    tables = PackedTables.of(pg.GraphBatch.from_graphs([empty, lonely, pg.Graph(1, [])]), 1)
    for ids in ([0], [1], [2], [0, 0, 0], [1, 0, 2], []):
        batch = check_sections(tables, ids, 1)
        assert batch.layout.spqr_slices == batch.layout.block_slices == ((0, 0),)
        assert batch.layout.cut_slices == ()
        check_padding(batch, check_sections(tables, ids, 1, roomy(tables, ids, random.Random(2))))


def test_zinc(data_root):
    import workloads

    ds = PackedDataset.from_graphs(workloads.zinc(data_root, 500), threads=1)
    rng = np.random.default_rng(0)
    for size in (1, 7, 60):
        ids = rng.choice(500, size, replace=False).tolist()
        batch = check_sections(ds.tables, ids, 1)
        check_padding(batch, check_sections(ds.tables, ids, 1, Needs(ds.tables, 0).likely(64)))
        assert ds[ids].edge_attr.shape == (batch.layout.num_rows, 1)


def test_pooling_a_joined_batch():
    """A batch that comes as one graph with global ids, as from PyG, gives the same sections as its graphs."""
    made = list(graphs.families().values())
    tables = tables_of(made)
    joined = {}
    for name, values in tables.items():
        if name.endswith("_ptr"):
            joined[name] = np.array([0, values[-1]])
            continue
        of = {
            "node": tables.node_ptr,
            "edge": tables.edge_ptr,
            "spqr": tables.spqr_ptr,
            "block": tables.block_ptr,
            "cut": tables.cut_ptr,
        }
        kind = KIND.get(name)
        counts = np.diff(tables[f"{table_of(name)}_ptr"])
        shift = np.repeat(of[kind][:-1], counts) if kind else np.zeros(len(values), np.int64)
        shift = shift[:, None] if values.ndim == 2 else shift
        joined[name] = np.where(values < 0, -1, values + shift).astype(np.int32)
    one = PlanarBatch.from_tables(joined, pool_ptr=tables.node_ptr, rows_per_edge=2)
    many = PlanarBatch.from_tables(tables, rows_per_edge=2)
    assert one.layout == many.layout
    assert torch.equal(one.index, many.index)
    assert one.num_graphs == len(made)
    for bad in ([0, 5], [1, tables.node_ptr[-1]], [0, 9, 3, tables.node_ptr[-1]], []):
        with pytest.raises(ValueError, match="pool_ptr"):
            PlanarBatch.from_tables(joined, pool_ptr=np.array(bad, np.int64))


KIND = {
    "edges": "node",
    "walk_node": "node",
    "walk_edge": "edge",
    "walk_spqr": "spqr",
    "spqr_parent": "spqr",
    "spqr_block": "block",
    "block_root": "spqr",
    "block_parent_cut": "cut",
    "cut_node": "node",
    "cut_parent_block": "block",
    "node_spqr_node": "node",
    "node_spqr_spqr": "spqr",
    "node_block_node": "node",
    "node_block_block": "block",
}


def segments(ptr: torch.Tensor, items: torch.Tensor) -> list[list[int]]:
    return [items[a:b].tolist() for a, b in zip(ptr[:-1].tolist(), ptr[1:].tolist(), strict=True)]


@given(st.lists(planar_graphs(14), min_size=1, max_size=6), st.integers(0, 2**32))
def test_transposes_and_slices(made, seed):
    tables = tables_of(made)
    rng = random.Random(seed)
    ids = list(range(len(made)))
    for capacity in (None, roomy(tables, ids, rng)):
        b = collate(stand_in(tables, 1), ids, capacity)
        for ptr, items, keys in (
            (b.node_walk_ptr, b.node_walk, b.walk_node),
            (b.row_walk_ptr, b.row_walk, b.walk_row),
            (b.row_dart_ptr, b.row_dart, b.dart_row),
        ):
            found = sorted((k, i) for k, part in enumerate(segments(ptr, items)) for i in part)
            assert found == sorted((k, i) for i, k in enumerate(keys.tolist()) if k >= 0)
        for one, other in (("node", "spqr"), ("node", "block")):
            there = segments(getattr(b, f"{one}_{other}_ptr"), getattr(b, f"{one}_{other}"))
            back = segments(getattr(b, f"{other}_{one}_ptr"), getattr(b, f"{other}_{one}"))
            assert sorted((u, c) for u, part in enumerate(there) for c in part) == sorted(
                (u, c) for c, p in enumerate(back) for u in p
            )
        real = b.dart_source >= 0
        back = b.dart_reverse[real].long()
        assert torch.equal(b.dart_source[back], b.dart_target[real])
        assert torch.equal(back[back], torch.arange(len(back)))
        check_slices(b)


def check_slices(b: PlanarBatch) -> None:
    """Children of a slice are in the slice before; every row with a parent is between begin and end of the parent."""
    layout = b.layout
    tree = [
        (layout.spqr_slices[k + 1], layout.spqr_slices[k], b.spqr_begin, b.spqr_end, b.spqr_parent)
        for k in range(len(layout.spqr_slices) - 1)
    ]
    for t, cuts in enumerate(layout.cut_slices):
        tree.append((cuts, layout.block_slices[t], b.cut_begin, b.cut_end, b.block_parent))
        tree.append((layout.block_slices[t + 1], cuts, b.block_begin, b.block_end, b.cut_parent))
    for (a, z), (ca, cz), begin, end, parent in tree:
        for row in range(a, z):
            for child in range(begin[row], end[row]):
                assert ca <= child < cz
                assert parent[child] == row
        with_parent = [r for r in range(ca, cz) if parent[r] >= 0]
        assert len(with_parent) == int((end[a:z] - begin[a:z]).sum())
