"""Models made for the features of a dataset, and models that would ignore features."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch_geometric.data import Data, InMemoryDataset
from torch_geometric.loader import DataLoader

import planegraph as pg
from planegraph.data import PackedDataset, PackedLoader
from planegraph.errors import InvalidGraphError
from planegraph.nn import GCN, GIN, GINE, BasePlanE, Categorical, Continuous, PlanEConfig
from planegraph.tasks.task import Task
from planegraph.testing import assert_invariant
from planegraph.transforms import Planar

from .examples import Example, Kind, planar_zoo
from .models import pack

MODELS = (BasePlanE, GCN, GIN, GINE)
KINDS = {
    Kind(): (None, None),
    Kind("categorical"): (Categorical((3, 2)), None),
    Kind("continuous", "categorical"): (Continuous(2), Categorical((2, 3))),
    Kind("none", "continuous"): (None, Continuous(2)),
    Kind("categorical", "categorical", darts=True): (Categorical((3, 2)), Categorical((2, 3))),
}


def examples(kind: Kind) -> list[Example]:
    return [Example.of(g, kind, i) for i, g in enumerate(planar_zoo()[:30])]


class InMemory(InMemoryDataset):
    """Without files."""

    def __init__(self, graphs: list[Data]) -> None:
        super().__init__()
        self.data, self.slices = self.collate(graphs)


def sources(kind: Kind) -> dict[str, object]:
    """The same graphs in everything that for_data takes."""
    found = examples(kind)
    data, graphs = [e.to_pyg() for e in found], [e.build() for e in found]
    return {
        "packed": pack(found),
        "data": data,
        "planar data": [Planar()(d) for d in data],
        "dataset": InMemory(data),
        "graphs": graphs,
        "graph batch": pg.GraphBatch.from_graphs(graphs),
    }


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_features_are_found(kind):
    nodes, edges = KINDS[kind]
    mean = np.mean([e.n for e in examples(kind)])
    for name, dataset in sources(kind).items():
        config = BasePlanE.for_data(dataset, hidden=8, layers=1).config
        assert (config.node_features, config.edge_features) == (nodes, edges), name
        assert (config.outputs, config.hidden) == (1, 8)
        assert config.graph_scale == float(f"{mean:.2g}")
    batch = pack(examples(kind))[:]
    for cls in MODELS:
        if cls is not GINE or edges is not None:
            assert cls.for_data(pack(examples(kind)), outputs=3, hidden=8)(batch).shape == (30, 3)


def test_settings_come_first():
    ds = pack(examples(Kind("categorical", "categorical")))
    config = BasePlanE.for_data(ds, 2, graph_scale=5.0, node_features=Categorical([9, 9]), norm="none").config
    assert config == PlanEConfig(Categorical([9, 9]), Categorical((2, 3)), outputs=2, graph_scale=5.0, norm="none")
    with pytest.raises(TypeError, match="widht"):
        BasePlanE.for_data(ds, widht=3)


def test_a_task_says_its_features():
    """Sizes and outputs are those of the task, categories that do not occur included."""
    ds = PackedDataset.from_graphs([pg.Graph(2, [(0, 1)], node_labels=[3, 5])] * 3, y=[0, 1, 2])
    split = {name: np.array([i]) for i, name in enumerate(("train", "val", "test"))}
    judged = {"kind": "multiclass", "loss": "ce", "metric": "accuracy", "outputs": 3}
    task = Task("pairs", ds, split, node_features=Categorical((28,)), **judged)
    config = BasePlanE.for_data(task).config
    assert config == PlanEConfig(Categorical((28,)), outputs=3, graph_scale=2.0)
    assert BasePlanE.for_data(task, outputs=7).config.outputs == 7


def test_types_of_columns():
    def config(**features) -> PlanEConfig:
        return BasePlanE.for_data([Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2, **features)]).config

    assert config(x=torch.tensor([True, False])).node_features == Categorical((2,))
    assert config(x=torch.tensor([[0, 7], [2, 0]], dtype=torch.int8)).node_features == Categorical((3, 8))
    assert config(x=torch.zeros(2, 4, dtype=torch.bfloat16)).node_features == Continuous(4)
    assert config(x=torch.zeros(2, 0)).node_features is None
    assert config(edge_attr=torch.tensor([0.5, 0.5])).edge_features == Continuous(1)


def test_no_edges():
    ds = PackedDataset.from_graphs([pg.Graph(3, [])])
    assert BasePlanE.for_data(ds).config.edge_features is None


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        ([], "0 graphs and no nodes"),
        ([pg.Graph(0, [])], "1 graphs and no nodes"),
        (pg.families.cycle(3), r"found one Graph: give a list, \[graph\]"),
        (Data(edge_index=torch.tensor([[0, 1], [1, 0]])), "found one Data: give a list"),
        (3, "expected a PackedDataset, a task, a PyG dataset, or a list of graphs; found int"),
        ("zinc", "found str"),
        ([pg.Graph(2, [(0, 1)], node_labels=[-1, 2])], "x, column 0, has the category -1; number the categories from 0"),
        (
            [pg.Graph(2, [(0, 1)], node_labels=[0, 10**9])],
            "x, column 0, has the category 1000000000, .* number them from 0 without gaps",
        ),
    ],
    ids=str,
)
def test_what_is_no_dataset(dataset, message):
    with pytest.raises(InvalidGraphError, match=message):
        BasePlanE.for_data(dataset)


def test_loaders_are_no_datasets():
    found = examples(Kind())
    for loader in (DataLoader([e.to_pyg() for e in found]), PackedLoader(pack(found), 2)):
        with pytest.raises(InvalidGraphError, match=r"Loader: give the dataset, not its loader"):
            BasePlanE.for_data(loader)
    with pytest.raises(InvalidGraphError, match="is a PyG batch"):
        BasePlanE.for_data(list(DataLoader([e.to_pyg() for e in found])))


# ---- features that would be ignored ---------------------------------------------------------------------------------------


def test_features_are_not_ignored_silently():
    both = pack(examples(Kind("categorical", "continuous")))
    batch, n, m = both[:], both.tables.size("node"), both.tables.size("edge")
    with pytest.raises(
        InvalidGraphError, match=rf"the batch has x of shape \({n}, 2\), int32, .*its node_features is None"
    ) as info:
        BasePlanE(PlanEConfig(hidden=4))(batch)
    assert 'BasePlanE.for_data(dataset, node_features=None, features="ignore")' in str(info.value)
    nodes = {"node_features": Categorical((3, 2)), "hidden": 4}
    for method in ("forward", "embed", "node_embeddings"):
        with pytest.raises(InvalidGraphError, match=rf"edge_attr of shape \({m}, 2\), float64, .*its edge_features is None"):
            getattr(BasePlanE(PlanEConfig(**nodes)), method)(batch)
    assert BasePlanE(PlanEConfig(**nodes, features="ignore"))(batch).shape == (30, 1)
    assert BasePlanE(PlanEConfig(hidden=4, features="ignore"))(batch).shape == (30, 1)


def test_pyg_batches_too():
    data = [Planar()(e.to_pyg()) for e in examples(Kind("categorical"))]
    batch = next(iter(DataLoader(data, batch_size=30)))
    with pytest.raises(InvalidGraphError, match="the model would ignore"):
        BasePlanE(PlanEConfig(hidden=4))(batch)
    assert BasePlanE.for_data(data, hidden=4)(batch).shape == (30, 1)


def test_gin_and_gcn_read_no_edges():
    """By nature: their edges are nobody's concern. Their nodes are."""
    ds = pack(examples(Kind("categorical", "categorical")))
    for cls in (GIN, GCN):
        assert cls(PlanEConfig(node_features=Categorical((3, 2)), hidden=4))(ds[:]).shape == (30, 1)
        model = cls.for_data(ds, hidden=4)
        assert model.edge_encoder is None
        assert model(ds[:]).shape == (30, 1)
        with pytest.raises(InvalidGraphError, match="the batch has x"):
            cls(PlanEConfig(hidden=4))(ds[:])
    with pytest.raises(ValueError, match="reads edge features; the config has none"):
        GINE(PlanEConfig(hidden=4))


def test_no_rows_are_nothing_to_ignore():
    ds = PackedDataset.from_arrays(
        pg.GraphBatch([0, 3], [0, 0], np.empty((0, 2), np.int64)), edge_attr=np.empty((0, 2), np.float32)
    )
    assert BasePlanE(PlanEConfig(hidden=4))(ds[:]).shape == (1, 1)


def test_the_choice_is_saved(tmp_path):
    BasePlanE(PlanEConfig(hidden=4, features="ignore")).save_pretrained(tmp_path)
    assert BasePlanE.from_pretrained(tmp_path).config.features == "ignore"
    with pytest.raises(ValueError, match="features must be one of strict, ignore; found 'all'"):
        PlanEConfig(features="all")


def test_the_model_of_a_dataset_is_invariant():
    found = examples(Kind("categorical", "categorical", darts=True))
    model = BasePlanE.for_data(pack(found), hidden=8, layers=2).double()
    for e in found[:5]:
        assert_invariant(model, e.build())
