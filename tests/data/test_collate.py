"""Collation: every section against plain Python on graphs of all kinds, padding, transposes, features, damaged tables."""

from __future__ import annotations

import copy
import pickle
import random
from types import SimpleNamespace

import graphs
import maps
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain import Plain
from strategies import any_planar, planar_graphs

torch = pytest.importorskip("torch")

from slow_collate import slow_collate, table_of  # noqa: E402

import planegraph as pg  # noqa: E402
from planegraph import _core  # noqa: E402
from planegraph.data import Capacity, DoesNotFitError, Layout, PackedDataset, PlanarBatch  # noqa: E402
from planegraph.data.batch import Collator, collate  # noqa: E402
from planegraph.data.layout import SECTION_NAMES  # noqa: E402
from planegraph.data.tables import PackedTables, add_depths  # noqa: E402


def tables_of(made: list[Plain], on_nonplanar: str = "raise") -> PackedTables:
    plain = [Plain(g.n, g.edges) for g in made]
    return PackedTables.of(pg.GraphBatch.from_graphs([g.build() for g in plain]), 1, on_nonplanar)


def stand_in(tables: PackedTables, rows_per_edge: int = 0, seed: int = 0) -> SimpleNamespace:
    """A dataset with features that tell every row from every other."""
    rng = np.random.default_rng(seed)
    n, m, g = int(tables.node_ptr[-1]), len(tables.edges), len(tables.node_ptr) - 1
    return SimpleNamespace(
        tables=tables,
        x=np.arange(2 * n, dtype=np.float32).reshape(n, 2),
        edge_attr=np.arange(m, dtype=np.int32).reshape(m, 1) if rows_per_edge == 1 else None,
        dart_attr=np.arange(6 * m, dtype=np.float64).reshape(m, 2, 3) if rows_per_edge == 2 else None,
        y=rng.random((g, 4)).astype(np.float32),
        attrs={"weight": rng.random(g), "flag": rng.random(g) < 0.5},
        fingerprint="test",
    )


def check_sections(tables: PackedTables, ids: list[int], rows_per_edge: int, capacity: Capacity | None = None) -> PlanarBatch:
    batch = collate(stand_in(tables, rows_per_edge), ids, capacity)
    expected, sizes = slow_collate(tables, ids, rows_per_edge, capacity)
    assert batch.layout == Layout(sizes, rows_per_edge, capacity is not None)
    assert set(expected) == set(SECTION_NAMES)
    for name in SECTION_NAMES:
        assert getattr(batch, name).tolist() == expected[name], name
    assert batch.index.dtype == torch.int32
    assert batch.index.numel() == batch.layout.length
    return batch


def roomy(tables: PackedTables, ids: list[int], rng: random.Random) -> Capacity:
    """A capacity with random room to spare, and sometimes more slices than needed."""
    need = Collator(stand_in(tables))(ids).layout.sizes
    more = rng.randrange(3)

    def widen(widths: tuple[int, ...], longer: int) -> tuple[int, ...]:
        return tuple(w + rng.randrange(1, 5) for w in (0,) * longer + widths)

    names = ("graphs", "nodes", "edges", "walks", "node_spqr", "node_block", "max_position")
    return Capacity(
        **{name: getattr(need, name) + rng.randrange(1, 9) for name in names},
        spqr=widen(need.spqr, rng.randrange(3)),
        blocks=widen(need.blocks, more),
        cuts=widen(need.cuts, more),
    )


# ---- sections -----------------------------------------------------------------------------------------------------------


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
    import sys
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
    import workloads

    ds = PackedDataset.from_graphs(workloads.zinc(data_root, 500), threads=1)
    rng = np.random.default_rng(0)
    for size in (1, 7, 60):
        ids = rng.choice(500, size, replace=False).tolist()
        batch = check_sections(ds.tables, ids, 1)
        check_padding(batch, check_sections(ds.tables, ids, 1, Capacity.of(ds.tables, 64)))
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


# ---- padding, transposes, slices --------------------------------------------------------------------------------------------

ROWS = {
    "node": "node_mask",
    "dart": "dart_mask",
    "walk": "walk_mask",
    "spqr": "spqr_mask",
    "block": "block_mask",
    "cut": "cut_mask",
}
SECTION_OF = {  # section: what its entries stand for, and what they are ids of
    "node_graph": ("node", "graph"),
    "dart_source": ("dart", "node"),
    "dart_target": ("dart", "node"),
    "dart_reverse": ("dart", "dart"),
    "dart_row": ("dart", None),
    "walk_spqr": ("walk", "spqr"),
    "walk_node": ("walk", "node"),
    "walk_kappa": ("walk", None),
    "walk_pos": ("walk", None),
    "walk_row": ("walk", None),
    "spqr_type": ("spqr", None),
    "spqr_theta": ("spqr", None),
    "spqr_parent": ("spqr", "spqr"),
    "block_parent": ("block", "cut"),
    "cut_parent": ("cut", "block"),
    "cut_node": ("cut", "node"),
    "node_cut": ("node", "cut"),
}


def check_padding(plain: PlanarBatch, padded: PlanarBatch) -> None:
    """Take the pad rows out, renumber, and the unpadded batch is left; and the last row of each table is padding."""
    assert plain.counts.equal(padded.counts)
    assert plain.node_mask is plain.graph_mask is plain.spqr_mask is None
    assert padded.graph_mask.sum() == padded.num_graphs == plain.num_graphs
    masks = {kind: getattr(padded, name) for kind, name in ROWS.items()} | {"graph": padded.graph_mask}
    for kind, mask in masks.items():
        assert mask.sum() == getattr(plain.layout, f"num_{kind}" + ("s" if kind not in ("spqr",) else "")), kind
        assert kind == "graph" or len(mask) == 0 or not mask[-1], kind
    renumber = {kind: torch.cumsum(mask, 0) - 1 for kind, mask in masks.items()}
    for name, (kind, of) in SECTION_OF.items():
        values = getattr(padded, name)
        if len(values) == 0:
            continue
        values = values[masks[kind]]
        if of is not None:
            new = torch.cat([renumber[of], torch.tensor([-1])])  # -1 stays
            values = new[values]
        assert values.tolist() == getattr(plain, name).tolist(), name
    for name in ("x", "edge_attr", "y"):
        a, b = getattr(plain, name), getattr(padded, name)
        if a is not None:
            assert torch.equal(a, b[: len(a)])
            assert not b[len(a) :].any()


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


# ---- capacities -----------------------------------------------------------------------------------------------------------------


def test_capacity_holds_random_batches():
    made = [maps.planar(random.Random(k).randrange(1, 30), 0.6, random.Random(k)) for k in range(300)]
    tables = tables_of(made)
    capacity = Capacity.of(tables, 32)
    collator = Collator(stand_in(tables))
    rng = np.random.default_rng(0)
    assert {collator(rng.choice(300, 32, replace=False), capacity).layout for _ in range(200)} == {Layout(capacity, 0, True)}
    whole = Capacity.of(tables, 300)
    collator(np.arange(300), whole)
    need = collator(np.arange(300)).layout.sizes
    for name in ("nodes", "edges", "walks", "node_spqr", "node_block"):
        assert getattr(whole, name) % 8 == 0
        assert getattr(need, name) < getattr(whole, name) <= getattr(need, name) + 8
    with pytest.raises(ValueError, match="batch_size"):
        Capacity.of(tables, 0)
    with pytest.raises(ValueError, match="without graphs"):
        Capacity.of(PackedTables.of(pg.GraphBatch.from_graphs([]), 1), 4)


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


# ---- features and the batch object ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows_per_edge", [0, 1, 2])
def test_features(rows_per_edge):
    tables = tables_of([graphs.path(3), graphs.cycle(4), Plain.of(2, []), graphs.wheel(4), Plain.of(0, [])])
    ds = stand_in(tables, rows_per_edge)
    ids = [3, 0, 2, 3, 4]
    batch = collate(ds, ids)
    nodes = np.concatenate([np.arange(tables.node_ptr[i], tables.node_ptr[i + 1]) for i in ids])
    edges = np.concatenate([np.arange(tables.edge_ptr[i], tables.edge_ptr[i + 1]) for i in ids])
    assert np.array_equal(batch.x, ds.x[nodes])
    if rows_per_edge == 0:
        assert batch.edge_attr is None
    if rows_per_edge == 1:
        assert np.array_equal(batch.edge_attr, ds.edge_attr[edges])
    if rows_per_edge == 2:
        assert batch.edge_attr.dtype == torch.float64
        assert np.array_equal(batch.edge_attr, ds.dart_attr[edges].reshape(-1, 3))
    assert np.array_equal(batch.y, ds.y[ids])
    assert np.array_equal(batch.attrs["weight"], ds.attrs["weight"][ids])
    assert np.array_equal(batch.attrs["flag"], ds.attrs["flag"][ids])
    assert batch.graph_ids.tolist() == ids
    assert batch.num_graphs == len(ids)
    assert batch.fingerprint == "test"


def test_no_features_and_no_columns():
    tables = tables_of([graphs.path(3), Plain.of(0, [])])
    ds = SimpleNamespace(tables=tables, x=None, edge_attr=np.empty((2, 0), np.float32), y=None, attrs={}, fingerprint=None)
    batch = collate(ds, [0, 1])
    assert batch.x is batch.y is None
    assert batch.edge_attr.shape == (2, 0)
    capacity = roomy(tables, [1], random.Random(0))
    ds.edge_attr = np.ones((2, 1), np.float32)
    assert collate(ds, [1], capacity).edge_attr.tolist() == [[0.0]] * capacity.edges


def test_features_of_torch_and_wrong_length():
    tables = tables_of([graphs.path(3)])
    ds = stand_in(tables)
    ds.x = torch.tensor([[1.0], [2.0], [3.0]], requires_grad=True)
    assert collate(ds, [0]).x.tolist() == [[1.0], [2.0], [3.0]]
    ds.x = np.zeros((2, 1))
    with pytest.raises(ValueError, match="2 rows of features for 3"):
        collate(ds, [0])


def test_from_tables_pads_but_never_invents():
    tables = tables_of([graphs.path(3), graphs.cycle(4)])
    given_rows = {"x": torch.ones(7, 1), "edge_attr": torch.ones(6, 2), "y": torch.ones(2, 3), "attrs": {"w": torch.ones(2)}}
    for capacity in (None, roomy(tables, [0, 1], random.Random(1))):
        batch = PlanarBatch.from_tables(tables, capacity=capacity, **given_rows)
        layout = batch.layout
        for values, ones, rows in (
            (batch.x, 7, layout.num_nodes),
            (batch.edge_attr, 6, layout.num_rows),
            (batch.y, 2, layout.num_graphs),
            (batch.attrs["w"], 2, layout.num_graphs),
        ):
            assert len(values) == rows
            assert (values[:ones] == 1).all()
            assert (values[ones:] == 0).all()
        for rows, message in (
            ({"y": torch.ones(1, 3)}, r"y must have one row for each of the 2 graphs of the batch; found shape \(1, 3\)"),
            ({"y": torch.ones(3)}, "y must have one row for each of the 2 graphs"),
            ({"y": torch.tensor(1.0)}, r"y must have .* found shape \(\)"),
            ({"attrs": {"w": torch.ones(1)}}, "w must have one row for each of the 2 graphs"),
            ({"x": torch.ones(6, 1)}, "x must have one row for each of the 7 nodes"),
            ({"edge_attr": torch.ones(5, 2)}, "edge_attr must have one row for each of the 6 edges"),
        ):
            with pytest.raises(ValueError, match=message):
                PlanarBatch.from_tables(tables, capacity=capacity, **{**given_rows, **rows})


def test_moving_copying_stacking():
    tables = tables_of([graphs.path(3), graphs.cycle(4), graphs.wheel(5), graphs.star(4)])
    ds = stand_in(tables, 1)
    capacity = Capacity.of(tables, 2)
    a, b = collate(ds, [0, 1], capacity), collate(ds, [3], capacity)
    meta = a.to("meta")
    assert {t.device.type for t in (meta.index, meta.x, meta.y, meta.attrs["weight"], meta.node_ptr)} == {"meta"}
    assert meta.layout is a.layout
    both = PlanarBatch.stack([a, b])
    for k, one in enumerate((a, b)):
        for name in (*SECTION_NAMES, "index", "x", "edge_attr", "y"):
            assert torch.equal(getattr(both, name)[k], getattr(one, name)), name
        for name in ("graph_mask", *ROWS.values()):
            assert torch.equal(getattr(both, name)[k], getattr(one, name)), name
    assert both.num_graphs == 3
    assert both.graph_ids.tolist() == [0, 1, 3]
    kept = a.node_graph
    a.copy_(b)
    assert torch.equal(a.index, b.index)
    assert torch.equal(kept, b.node_graph)  # in place
    assert a.num_graphs == 1
    for call in (a.copy_, lambda other: PlanarBatch.stack([a, other])):
        with pytest.raises(ValueError, match="layout"):
            call(collate(ds, [0]))
    with pytest.raises(ValueError, match="nothing to stack"):
        PlanarBatch.stack([])


# ---- bad input ------------------------------------------------------------------------------------------------------------------


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


def test_pickling_keeps_the_sections_views_of_the_buffer():
    batch = PlanarBatch.from_tables(tables_of([graphs.wheel(5), graphs.path(4)]))
    for again in (pickle.loads(pickle.dumps(batch)), copy.deepcopy(batch)):
        assert torch.equal(again.index, batch.index)
        assert again.layout == batch.layout
        for name in SECTION_NAMES:
            section = getattr(again, name)
            assert section.untyped_storage().data_ptr() == again.index.untyped_storage().data_ptr()
        again.index.zero_()
        assert not again.walk_node.any()
    assert len(pickle.dumps(batch)) < 4 * batch.index.numel() + 4000
