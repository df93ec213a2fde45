"""Return probabilities of random walks: those of PyG, the same bits for isomorphic graphs, and read by models as mixed features."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

import torch
from packed_samples import shapes
from torch_geometric.data import Data
from torch_geometric.transforms import AddRandomWalkPE

import planegraph as pg
from planegraph.data import PackedDataset
from planegraph.data.returns import SCALE, return_probabilities
from planegraph.data.tables import PackedTables
from planegraph.errors import InvalidGraphError, PlanegraphError
from planegraph.nn import BasePlanE, Mixed, PlanEConfig
from planegraph.tasks.task import Task

STEPS = 9


def returns_of(graphs: list[pg.Graph], steps: int = STEPS) -> np.ndarray:
    return return_probabilities(PackedTables.of(pg.GraphBatch.from_graphs(graphs)), steps)


def test_as_pyg_computes_them() -> None:
    graphs = [g for g in shapes() if g.num_nodes and g.num_edges]
    at = 0
    found = returns_of(graphs)
    for g in graphs:
        columns = torch.tensor(np.concatenate([g.edges, g.edges[:, ::-1]]).T.copy())
        walk = AddRandomWalkPE(STEPS, attr_name="walk")(Data(edge_index=columns, num_nodes=g.num_nodes)).walk
        assert np.abs(found[at : at + g.num_nodes] - walk.numpy()).max() < 1e-5
        at += g.num_nodes


def test_the_same_bits_for_isomorphic_graphs() -> None:
    """Sums in another order would differ in the last bits, and a model over them would not be invariant."""
    for seed, g in enumerate([*shapes(), *(pg.families.random_planar(60, 0.6, seed=s) for s in range(20))]):
        order = np.random.default_rng(seed).permutation(g.num_nodes)
        a, b = returns_of([g], 20), returns_of([g.relabel(order)], 20)
        assert np.array_equal(a, b[order])


def test_who_never_comes_back() -> None:
    assert not returns_of([pg.Graph(1, [])]).any()
    assert returns_of([pg.Graph(0, [])]).shape == (0, STEPS)
    assert returns_of([pg.families.path(2)], 4).tolist() == [[0, 1, 0, 1]] * 2


@pytest.mark.parametrize("steps", [0, -1, 2.0, True, 1001, 2**70])
def test_steps_are_counted(steps) -> None:
    with pytest.raises(ValueError, match="steps must be a whole number from 1 to 1000"):
        returns_of([pg.families.cycle(3)], steps)


# ---- as features ------------------------------------------------------------------------------------------------------------


def labelled(count: int = 12) -> PackedDataset:
    graphs = [pg.families.random_planar(12, 0.5, seed=s) for s in range(count)]
    rng = np.random.default_rng(0)
    graphs = [pg.Graph(g.num_nodes, g.edges, node_labels=rng.integers(0, 3, g.num_nodes)) for g in graphs]
    return PackedDataset.from_graphs(graphs, y=[[float(k)] for k in range(count)])


def test_columns_stand_beside_the_categories() -> None:
    ds = labelled()
    found = ds.with_returns(STEPS)
    assert np.array_equal(found.x[:, :1], ds.x)
    assert np.array_equal(found.x[:, 1:], SCALE * return_probabilities(ds.tables, STEPS))
    assert found.x.dtype == np.float32
    alone = PackedDataset.from_graphs([pg.families.cycle(4)]).with_returns(2)
    assert alone.x.tolist() == [[0, SCALE / 2]] * 4
    assert BasePlanE.for_data(alone)(alone[:]).shape == (1, 1)
    large = PackedDataset.from_graphs([pg.Graph(2, [(0, 1)], node_labels=[2**24 + 1, 2**24])]).with_returns(1)
    assert large.x[:, 0].tolist() == [2**24 + 1, 2**24]


def test_walks_that_read_them_are_those_of_their_labels() -> None:
    ds = labelled()
    found = ds.with_returns(STEPS, walks=True)
    tables = ds.tables
    batch = pg.GraphBatch(tables.node_ptr, tables.edge_ptr, tables.edges.astype(np.int64))
    expected = PackedDataset.from_arrays(batch, x=ds.with_returns(STEPS).x, y=ds.y)
    assert (found.node_labels, found.edge_labels) == (expected.node_labels, expected.edge_labels) == (("x",), ())
    assert np.array_equal(found.x, expected.x)
    assert np.array_equal(found.y, ds.y)
    assert all(np.array_equal(found.tables[name], expected.tables[name]) for name in found.tables)
    assert any(not np.array_equal(found.tables[name], tables[name]) for name in tables)


def test_walks_need_all_their_labels() -> None:
    graph = pg.GraphBatch.from_graphs([pg.Graph(3, [(0, 1), (1, 2)], node_labels=[1, 1, 2])])
    ds = PackedDataset.from_arrays(graph, x=[[0], [0], [0]])
    assert ds.node_labels == ("x", "labels")
    with pytest.raises(ValueError, match="walks broke ties by labels, which the dataset does not hold"):
        ds.with_returns(STEPS, walks=True)


@pytest.mark.parametrize("replicas", [None, 3])
def test_a_model_reads_embeddings_and_numbers(replicas) -> None:
    ds = labelled().with_returns(STEPS)
    torch.manual_seed(0)
    model = BasePlanE(PlanEConfig(Mixed([3], STEPS), hidden=8, layers=1)).double()
    batch = ds[:]
    x = batch.x
    h = model.node_encoder(x, len(x))
    table, linear = model.node_encoder.categorical.tables[0], model.node_encoder.linear
    expected = table[x[:, 0].long()] + x[:, 1:].double() @ linear.weight.T + linear.bias
    assert torch.allclose(h, expected, atol=1e-12)
    if replicas:
        stack = BasePlanE.stack([model] * replicas)
        three = type(batch).stack([batch] * replicas)
        assert torch.allclose(stack(three), model(batch).expand(replicas, -1, -1), atol=1e-10)


def test_saved_and_read_back(tmp_path) -> None:
    model = BasePlanE(PlanEConfig(Mixed([3], STEPS), hidden=8, layers=1)).eval()
    model.save_pretrained(tmp_path)
    again = BasePlanE.from_pretrained(tmp_path)
    assert again.config.node_features == Mixed((3,), STEPS)
    batch = labelled().with_returns(STEPS)[:]
    assert torch.equal(again(batch), model(batch))


def test_what_does_not_fit_is_refused() -> None:
    ds, part = labelled().with_returns(STEPS), {"train": [0], "val": [1], "test": [2]}
    Task("walks", ds, part, node_features=Mixed((3,), STEPS))
    with pytest.raises(PlanegraphError, match=r"x, column 0, must be 0 to 1; found 2\.0 at node"):
        Task("walks", ds, part, node_features=Mixed((2,), STEPS))
    with pytest.raises(PlanegraphError, match=r"x must have 9 columns of floats; found 10 columns of float32"):
        Task("walks", ds, part, node_features=Mixed((3,), STEPS - 1))
    halves = ds._with(x=ds.x + np.float32(0.5) * (np.arange(STEPS + 1) == 0))
    with pytest.raises(PlanegraphError, match="x, column 0, must be 0 to 3; found"):
        Task("walks", halves, part, node_features=Mixed((4,), STEPS))
    with pytest.raises(InvalidGraphError, match="the model knows values 0 to 1; found 2"):
        BasePlanE(PlanEConfig(Mixed([2], STEPS), hidden=8, layers=1))(ds[:])
    with pytest.raises(InvalidGraphError, match=r"graph 0 of the batch, node 0: a category is a whole number; found \d\.5"):
        BasePlanE(PlanEConfig(Mixed([4], STEPS), hidden=8, layers=1))(halves[:])
    with pytest.raises(InvalidGraphError, match=r"the model reads 10 float columns; the batch has dtype torch\.int32"):
        BasePlanE(PlanEConfig(Mixed([3], STEPS), hidden=8, layers=1))(labelled()[:])
