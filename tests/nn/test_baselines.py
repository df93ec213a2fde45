"""GCN, GIN and GINE: invariant, the same on every path to a batch, stacked or alone, and without PyG.

That their function is that of PyG's layers is for test_baselines_pyg.py.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch

from planegraph.data import PackedLoader, PlanarBatch
from planegraph.nn import GCN, GIN, GINE
from planegraph.nn.dropout import Dropout
from planegraph.testing import assert_invariant

from .examples import NO_FEATURES, Example, Kind, planar_zoo
from .models import DTYPES, make_model, pack, small_config

EDGES, DARTS = Kind("categorical", "categorical"), Kind("continuous", "continuous", darts=True)
CASES = [(GCN, NO_FEATURES), (GIN, NO_FEATURES), (GIN, EDGES), (GINE, EDGES), (GINE, DARTS)]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("cls", "kind"), CASES, ids=str)
def test_invariant(cls, kind, dtype):
    model = make_model(small_config(kind), dtype=dtype, cls=cls)
    for i, g in enumerate(planar_zoo()[5:60:6]):
        assert_invariant(model, Example.of(g, kind, i).to_pyg(), relabelings=2)


@pytest.mark.parametrize(("cls", "kind"), CASES, ids=str)
def test_same_from_packed_data_and_from_pyg(cls, kind):
    from torch_geometric.loader import DataLoader

    from planegraph.transforms import Planar

    model = make_model(small_config(kind), cls=cls)
    examples = [Example.of(g, kind, i) for i, g in enumerate(planar_zoo()[:60:4])]
    data = next(iter(DataLoader([Planar()(e.to_pyg()) for e in examples], batch_size=len(examples))))
    torch.testing.assert_close(model(data), model(pack(examples)[:]))


@pytest.mark.parametrize("cls", [GCN, GIN])
def test_edge_features_are_not_read(cls):
    model = make_model(small_config(EDGES), cls=cls)
    one, other = Example.of(planar_zoo()[20], EDGES, 1), Example.of(planar_zoo()[20], EDGES, 2)
    other = type(other)(one.n, one.edges, one.x, other.edge_attr)
    a, b = (model(pack([e])[:]) for e in (one, other))
    torch.testing.assert_close(a, b)


def test_gine_needs_edge_features():
    with pytest.raises(ValueError, match="Use GIN"):
        GINE(small_config())


@pytest.mark.parametrize(("cls", "kind"), CASES, ids=str)
def test_nodes_follow_a_relabelling(cls, kind):
    """All of them, those that an automorphism moves too."""
    model = make_model(small_config(kind), cls=cls)
    for i, g in enumerate(planar_zoo()[5:60:9]):
        one = Example.of(g, kind, i)
        new = np.random.default_rng(i).permutation(one.n)  # the first that shuffled draws
        a, b = (model.node_embeddings(pack([e])[:]) for e in (one, one.shuffled(np.random.default_rng(i))))
        torch.testing.assert_close(b[new], a)


@pytest.mark.parametrize(("cls", "kind"), CASES, ids=str)
def test_dropout_of_a_replica_is_that_of_the_model_alone(cls, kind):
    """Padded or not; and it is there, in training only."""
    options = {"dropout": 0.4, "dropout_readout": 0.2}
    models = [make_model(small_config(kind, **options), seed, cls=cls).train() for seed in range(2)]
    assert all(isinstance(model.dropout, Dropout) for model in models)
    examples = [Example.of(g, kind, i) for i, g in enumerate(planar_zoo()[8:40])]
    loader = PackedLoader(pack(examples), batch_size=16, pad=True)
    batches = list(loader)
    while len({batch.layout for batch in batches}) > 1:
        batches = list(loader)
    together = cls.stack(models)
    for _ in range(2):  # each call drops anew
        found = together(PlanarBatch.stack(batches))
        for k, model in enumerate(models):
            torch.testing.assert_close(found[k, :16], model(pack(examples[16 * k : 16 * k + 16])[:]))
    again = together.unstack()[1]
    torch.testing.assert_close(again(batches[1]), models[1](batches[1]))
    assert not torch.allclose(again(batches[1]), again(batches[1]))
    again.eval()
    assert torch.equal(again(batches[1]), again(batches[1]))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("cls", "kind"), CASES, ids=str)
def test_round_trips(tmp_path, cls, kind, dtype):
    """Through a file and through a stack: bit for bit."""
    options = {"dropout": 0.1}
    models = [make_model(small_config(kind, **options), seed, dtype, cls) for seed in range(3)]
    models[0].save_pretrained(tmp_path)
    for model, again in zip([models[0], *models], [cls.from_pretrained(tmp_path), *cls.stack(models).unstack()], strict=True):
        state, found = model.state_dict(), again.state_dict()
        assert type(again) is cls
        assert list(state) == list(found)
        assert all(torch.equal(state[name], found[name]) and state[name].dtype == found[name].dtype for name in state)


def test_first_weights():
    """As PyG draws them: eps 0, GCN's weights uniform within sqrt(3 / hidden), its biases 0; replicas differ."""
    torch.manual_seed(0)
    assert all(layer.eps.eq(0).all() for layer in GIN(small_config()).layers)
    layer = GCN(small_config(hidden=48), replicas=2).layers[0]
    weight = layer.lin["weight"]
    assert not layer.bias.any()
    assert 0.99 * 0.25 < weight.abs().max() <= 0.25
    assert not torch.equal(weight[0], weight[1])


def test_neither_pyg_nor_the_compiler_is_needed():
    """Importing the compiler takes a second."""
    code = """
import sys
sys.modules["torch_geometric"] = None
import planegraph as pg
from planegraph.data import PackedDataset
from planegraph.nn import GCN, GIN, GINE, Continuous, PlanEConfig
g = pg.families.cycle(5)
batch = PackedDataset.from_graphs([pg.Graph(5, g.edges, edge_labels=[[float(k)] for k in range(5)])])[[0]]
for cls, features in ((GCN, None), (GIN, None), (GINE, Continuous(1))):
    assert cls(PlanEConfig(hidden=4, edge_features=features))(batch).shape == (1, 1)
assert "torch._dynamo" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
