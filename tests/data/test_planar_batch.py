"""The batch object: features and targets, moving, copying, stacking, pickling."""

from __future__ import annotations

import copy
import pickle
import random
from types import SimpleNamespace

import graphs
import numpy as np
import pytest
from plain import Plain

torch = pytest.importorskip("torch")

from collating import ROWS, roomy, stand_in, tables_of  # noqa: E402

from planegraph.data import PlanarBatch  # noqa: E402
from planegraph.data.batch import collate  # noqa: E402
from planegraph.data.layout import SECTION_NAMES  # noqa: E402
from planegraph.data.needs import Needs  # noqa: E402


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


def test_from_tables_never_invents_rows():
    tables = tables_of([graphs.path(3), graphs.cycle(4)])
    given_rows = {"x": torch.ones(7, 1), "edge_attr": torch.ones(6, 2), "y": torch.ones(2, 3), "attrs": {"w": torch.ones(2)}}
    batch = PlanarBatch.from_tables(tables, **given_rows)
    assert [len(values) for values in (batch.x, batch.edge_attr, batch.y, batch.attrs["w"])] == [7, 6, 2, 2]
    for rows, message in (
        ({"y": torch.ones(1, 3)}, r"y must have one row for each of the 2 graphs of the batch; found shape \(1, 3\)"),
        ({"y": torch.ones(3)}, "y must have one row for each of the 2 graphs"),
        ({"y": torch.tensor(1.0)}, r"y must have .* found shape \(\)"),
        ({"attrs": {"w": torch.ones(1)}}, "w must have one row for each of the 2 graphs"),
        ({"x": torch.ones(6, 1)}, "x must have one row for each of the 7 nodes"),
        ({"edge_attr": torch.ones(5, 2)}, "edge_attr must have one row for each of the 6 edges"),
    ):
        with pytest.raises(ValueError, match=message):
            PlanarBatch.from_tables(tables, **{**given_rows, **rows})


def test_moving_copying_stacking():
    tables = tables_of([graphs.path(3), graphs.cycle(4), graphs.wheel(5), graphs.star(4)])
    ds = stand_in(tables, 1)
    capacity = Needs(tables, 0).likely(2)
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
