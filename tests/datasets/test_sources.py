"""Tasks from your own data: what is found in it, and what is refused."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch

import planegraph as pg
from planegraph.data import PackedDataset
from planegraph.data.sizes import Categorical, Continuous
from planegraph.errors import InvalidGraphError, PlanegraphError
from planegraph.nn.for_data import sizes_of
from planegraph.tasks import Task

pyg = pytest.importorskip("torch_geometric.data")
COUNT = 60
SIZES = 3 + np.arange(COUNT) % 7


def rings(y=None, **more) -> list:
    """Cycles as PyG has them, with categories and numbers at their nodes and edges."""
    found = []
    for k, n in enumerate(SIZES.tolist()):
        u = torch.arange(n)
        index = torch.stack([torch.cat([u, (u + 1) % n]), torch.cat([(u + 1) % n, u])])
        data = pyg.Data(edge_index=index, x=(u % 3)[:, None], edge_attr=torch.full((2 * n, 2), 0.5))
        data.y = torch.tensor([float(n) if y is None else y[k]])
        for name, values in more.items():
            setattr(data, name, torch.tensor(values[k]))
        found.append(data)
    return found


def test_pyg():
    task = Task.from_pyg(rings(), name="rings")
    assert (task.name, task.kind, task.loss, task.metric, task.outputs, task.missing) == (
        "rings",
        "regression",
        "mse",
        "rmse",
        1,
        False,
    )
    assert task.node_features == Categorical((3,))
    assert task.edge_features == Continuous(2)
    center, spread = task.units[0]
    trained = SIZES[task.splits["train"]]  # validation and test have no part in the units
    assert (center, spread) == (trained.mean(), trained.std())
    assert np.allclose(task.dataset.y[:, 0] * spread + center, SIZES, atol=1e-5)
    assert task.dataset.y.dtype == np.float32
    assert [len(ids) for ids in task.splits.values()] == [48, 6, 6]
    assert sorted(np.concatenate(list(task.splits.values()))) == list(range(COUNT))
    again, other = Task.from_pyg(rings()), Task.from_pyg(rings(), seed=1)
    assert all(np.array_equal(task.splits[part], again.splits[part]) for part in task.splits)
    assert not np.array_equal(task.splits["test"], other.splits["test"])


def test_features_are_those_of_for_data():
    """Independent of which way they are read."""
    task, found = Task.from_pyg(rings()), sizes_of(rings())
    assert task.node_features == found.node_features
    assert task.edge_features == found.edge_features


def test_all_kinds_of_graphs_make_the_same_task():
    graphs = [pg.families.cycle(int(n)) for n in SIZES]
    as_nx = [nx.cycle_graph(int(n)) for n in SIZES]
    as_pyg = [pyg.Data(edge_index=torch.tensor(list(nx.DiGraph(g).edges)).T, num_nodes=len(g), y=float(len(g))) for g in as_nx]
    tasks = [Task.from_graphs(graphs, SIZES), Task.from_graphs(as_nx, SIZES.tolist()), Task.from_pyg(as_pyg)]
    tasks.append(Task.from_packed(PackedDataset.from_graphs(graphs, SIZES)))
    for task in tasks:
        assert np.array_equal(task.dataset.y, tasks[0].dataset.y)
        assert np.array_equal(np.diff(task.dataset.tables["node_ptr"]), SIZES)
        assert task.node_features is task.edge_features is None
        assert task.units == tasks[0].units
        assert all(np.array_equal(task.splits[part], tasks[0].splits[part]) for part in task.splits)


def test_networkx_attributes_are_features():
    graphs = [nx.cycle_graph(int(n)) for n in SIZES]
    for g in graphs:
        nx.set_node_attributes(g, 2, "element")
        nx.set_edge_attributes(g, 1.5, "length")
    task = Task.from_graphs(graphs, SIZES, node_attrs="element", edge_attrs="length")
    assert (task.node_features, task.edge_features) == (Categorical((3,)), Continuous(1))


@pytest.mark.parametrize(
    ("y", "kind", "outputs", "dtype"),
    [
        (np.arange(COUNT) % 2, "binary", 1, np.float32),
        (np.arange(COUNT) % 2 == 0, "binary", 1, np.float32),
        (np.arange(COUNT) % 3, "multiclass", 3, np.int32),
        ((np.arange(COUNT) % 3).astype(float), "multiclass", 3, np.int32),
        (np.arange(COUNT) % 3 - 1, "regression", 1, np.float32),
        (np.stack([np.arange(COUNT), np.arange(COUNT) % 2], 1), "regression", 2, np.float32),
    ],
)
def test_the_kind_is_guessed(y, kind, outputs, dtype):
    task = Task.from_graphs([pg.families.cycle(int(n)) for n in SIZES], y, metric={"binary": "accuracy"}.get(kind))
    assert (task.kind, task.outputs, task.dataset.y.dtype) == (kind, outputs, dtype)
    assert (task.units is None) == (kind != "regression")


def test_the_kind_can_be_said():
    graphs = [pg.families.cycle(int(n)) for n in SIZES]
    assert Task.from_graphs(graphs, np.arange(COUNT) % 3, kind="regression").units is not None
    assert Task.from_graphs(graphs, np.arange(COUNT) % 40, kind="multiclass").outputs == 40


def test_missing_values():
    """NaN is not measured: it does not count for the units, and a graph without any value is in no part."""
    y = np.stack([SIZES * 1.0, SIZES * 2.0], 1)
    y[:10] = np.nan
    y[10:20, 1] = np.nan
    task = Task.from_graphs([pg.families.cycle(int(n)) for n in SIZES], y, names=["n", "twice"])
    assert task.missing
    assert task.names == ("n", "twice")
    trained = y[task.splits["train"]]
    assert np.allclose(np.array(task.units).T, [np.nanmean(trained, 0), np.nanstd(trained, 0)])
    assert sorted(np.concatenate(list(task.splits.values()))) == list(range(10, COUNT))
    assert np.array_equal(np.isnan(task.dataset.y), np.isnan(y))


def test_splits():
    ids = {"train": np.arange(40), "valid": torch.arange(40, 50), "test": list(range(50, 60))}
    masks = {part: np.isin(np.arange(COUNT), which) for part, which in ids.items()}
    number = [0] * 40 + [1] * 10 + [2] * 10
    for task in (
        Task.from_pyg(rings(), split=ids),
        Task.from_pyg(rings(), split=masks),
        Task.from_pyg(rings(part=number), split="column:part"),
        Task.from_packed(PackedDataset.from_pyg(rings()).with_attrs(split=number), split="column:split"),
    ):
        assert {part: found.tolist() for part, found in task.splits.items()} == {
            "train": list(range(40)),
            "val": list(range(40, 50)),
            "test": list(range(50, 60)),
        }
    folds = Task.from_pyg(rings(), folds=5).folds
    assert sorted(np.concatenate([fold["test"] for fold in folds])) == list(range(COUNT))
    assert len(Task.from_pyg(rings(), split=[ids, ids]).folds) == 2


def test_a_packed_file(tmp_path):
    PackedDataset.from_pyg(rings()).save(tmp_path / "rings.safetensors")
    task = Task.from_packed(tmp_path / "rings.safetensors")
    assert task.name == "rings"
    assert task.digest == Task.from_pyg(rings(), name="rings").digest


def test_graphs_that_are_not_planar_are_told():
    graphs = [pg.families.cycle(int(n)) for n in SIZES[:-1]]
    task = Task.from_graphs([*graphs, pg.families.complete(5)], SIZES)
    assert task.notes == "1 of 60 graphs are not planar: their rigid components are read as sets"


def test_a_table(tmp_path):
    pytest.importorskip("rdkit")
    path = tmp_path / "mols.csv"
    path.write_text("smiles,length\n" + "".join(f"{'C' * n}O,{n}\n" for n in range(1, 41)))
    task = Task.from_csv(path, descriptors=False)
    assert (task.name, task.kind, task.names) == ("mols.csv", "regression", ("length",))
    trained = task.splits["train"] + 1
    assert task.units[0] == (trained.mean(), trained.std())
    with pytest.raises(TypeError, match="unexpected keyword argument 'smile'"):
        Task.from_csv(path, smile="smiles")


NAN = float("nan")
CASES = [
    ({"y": [3.0] * COUNT}, "task graphs: all values are 3 in column 0 of y; there is nothing to learn"),
    ({"y": [NAN] * COUNT}, "task graphs: all values are missing in column 0 of y; there is nothing to learn"),
    ({"y": [np.inf, *SIZES[1:]]}, "task graphs: y must be finite, or NaN if not measured; found inf at graph 0"),
    ({"y": np.zeros((COUNT, 2, 2))}, r"task graphs: y must have shape \(60,\) or \(60, targets\); found \(60, 2, 2\)"),
    ({"kind": "classes"}, "task graphs: kind is one of regression, binary, multiclass; found 'classes'"),
    ({"kind": "multiclass", "y": SIZES - 4.5}, r"task graphs: classes are numbered 0, 1, 2, .*; found -1\.5 at graph 0"),
    ({"kind": "multiclass", "y": [NAN, *SIZES[1:]]}, "classes are numbered 0, 1, 2, .*; found nan at graph 0"),
    ({"kind": "multiclass", "y": np.stack([SIZES, SIZES], 1)}, "a multiclass task has one target; found 2 columns of y"),
    (
        {"y": np.stack([np.arange(COUNT) % 3, np.arange(COUNT)], 1)},
        "different kinds .*column 0 of y: multiclass.*say the kind: kind=",
    ),
    ({"metric": "rocauc"}, "the metric of a regression task is one of mae, rmse, .*; found 'rocauc'"),
    ({"names": ["a", "b"]}, "names must have one for each of 1 columns of y; found a, b"),
    ({"split": "scaffold"}, "split is 'random', 'column:NAME', .*; found 'scaffold'"),
    ({"split": 3}, "split is 'random', 'column:NAME', .*; found 3"),
    ({"split": "column:part"}, "the dataset has no column 'part' to split by; its columns are none"),
    ({"split": {"train": [0], "val": [1], "test": [99]}}, "part 'test' names graph 99; there are 60, from 0"),
    ({"split": {"train": [0]}, "folds": 3}, "folds=3 are drawn at random; leave folds out, or the split"),
    ({"folds": 2}, "cross-validation needs 3 folds or more"),
    ({"folds": 61}, "61 folds need 61 graphs or more; found 60"),
]


@pytest.mark.parametrize(("options", "message"), CASES)
def test_refused(options, message):
    y = options.get("y", SIZES)
    options = {name: value for name, value in options.items() if name != "y"}
    with pytest.raises(PlanegraphError, match=message):
        Task.from_graphs([pg.families.cycle(int(n)) for n in SIZES], y, **options)


def test_more_that_is_refused():
    with pytest.raises(PlanegraphError, match="task graphs: the dataset has no y; give each graph a target"):
        Task.from_packed(PackedDataset.from_graphs([pg.families.cycle(3)]))
    with pytest.raises(
        PlanegraphError, match=r"4 graphs are too few for shares of 80 % / 10 % / 10 %: val would be empty\. Add graphs,"
    ):
        Task.from_graphs([pg.families.cycle(n) for n in (3, 4, 5, 6)], [1.0, 2.5, 3.0, 4.0])
    packed = PackedDataset.from_pyg(rings()).with_attrs(part=[0, 1, 7] * 20)
    with pytest.raises(
        PlanegraphError, match=r"column 'part' must hold 0 \(train\), 1 \(val\) or 2 \(test\) .*; found 7 at graph 2"
    ):
        Task.from_packed(packed, split="column:part")
    with pytest.raises(InvalidGraphError, match="no graph has the attribute part"):
        Task.from_pyg(rings(), split="column:part")
    with pytest.raises(InvalidGraphError, match="expected a networkx graph; found str"):
        Task.from_graphs(["C"] * 10, range(10))
    with pytest.raises(InvalidGraphError, match="y must have one row for each of the 2 graphs"):
        Task.from_graphs([pg.families.cycle(3)] * 2, [1, 2, 3])
