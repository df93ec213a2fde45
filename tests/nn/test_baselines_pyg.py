"""GCN, GIN and GINE against stacks of PyG's own layers with the same weights: outputs, gradients and running averages.

The oracle reads the examples themselves, joined by PyG; of the model it shares the encoders, the MLPs and the readout only.
"""

from __future__ import annotations

import copy
import random

import maps
import pytest
import torch
from plain import disjoint_union

from planegraph.data import PackedLoader, PlanarBatch
from planegraph.nn import GCN, GIN, GINE

from .examples import NO_FEATURES, Example, Kind, corner_cases
from .models import make_model, pack, small_config

conv = pytest.importorskip("torch_geometric.nn").conv

REPLICAS, SIZE, TOLERANCE = 3, 12, 1e-10
EDGES, DARTS = Kind("categorical", "categorical"), Kind("continuous", "continuous", darts=True)
CASES = [
    (GCN, NO_FEATURES),
    (GCN, DARTS),
    (GIN, NO_FEATURES),
    (GIN, EDGES),
    (GINE, Kind("none", "categorical")),
    (GINE, EDGES),
    (GINE, DARTS),
]
OPTIONS = (
    {},
    {"norm": "none", "layers": 3},
    {"residual": False},
    {"pooling": "mean"},
    {"graph_scale": 3, "hidden": 10},
)
State = dict[str, torch.Tensor]


def examples(kind: Kind) -> list[Example]:
    """Graphs without nodes or edges, and random planar ones with isolated nodes beside them; as many as fill all replicas."""
    rng, found = random.Random(5), corner_cases()
    while len(found) < REPLICAS * SIZE:
        parts = [maps.planar(rng.randint(2, 14), rng.choice((0.3, 0.7, 1.0)), rng), *[maps.planar(1, 1.0, rng)] * rng.randint(0, 2)]
        found.append(disjoint_union(*rng.sample(parts, len(parts))))
    rng.shuffle(found)
    return [Example.of(g, kind, i) for i, g in enumerate(found)]


def oracle_of(model: torch.nn.Module) -> torch.nn.Module:
    """A copy of the model whose layers are PyG's; its parameters and buffers have the names of the model's."""
    d, oracle, layers = model.config.hidden, copy.deepcopy(model), []
    for layer in oracle.layers:
        if isinstance(model, GCN):
            new = conv.GCNConv(d, d)
        else:
            new = (conv.GINEConv if isinstance(model, GINE) else conv.GINConv)(copy.deepcopy(layer.nn), train_eps=True)
        new.to(next(model.parameters())).load_state_dict(layer.state_dict())
        layers.append(new.train(model.training))
    oracle.layers = torch.nn.ModuleList(layers)
    return oracle


def pooled_by_pyg(oracle: torch.nn.Module, graphs: list[Example]) -> torch.Tensor:
    """The outputs, from PyG's batch of the graphs."""
    from torch_geometric.data import Batch
    from torch_geometric.nn import global_add_pool, global_mean_pool

    data = Batch.from_data_list([g.to_pyg() for g in graphs])
    h, of_darts = oracle.node_encoder(data.x, data.num_nodes), ()
    if oracle.edge_encoder is not None:
        of_darts = (oracle.edge_encoder(data.edge_attr, data.edge_index.shape[1]),)
    sums = []
    for layer in oracle.layers:
        new = torch.relu(layer(h, data.edge_index, *of_darts))
        h = h + new if oracle.config.residual else new
        if oracle.config.pooling == "mean":
            sums.append(global_mean_pool(h, data.batch, len(graphs)))
        else:
            sums.append(global_add_pool(h, data.batch, len(graphs)) / oracle.config.graph_scale)
    return oracle.readout(torch.cat(sums, -1))


def state_after(model: torch.nn.Module, out: torch.Tensor) -> State:
    """The outputs ((replicas,) real graphs, outputs), the gradients of a weighted sum of them, and the running averages."""
    weights = torch.cos(torch.arange(out.shape[-2:].numel(), dtype=out.dtype)).view(out.shape[-2:])
    model.zero_grad()
    (out * weights).sum().backward()
    found = {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
    return found | {n: b.clone() for n, b in model.named_buffers() if b.is_floating_point()} | {"output": out.detach()}


def assert_same(found: State, expected: State) -> None:
    assert found.keys() == expected.keys()
    scale = max(float(value.abs().max()) for value in expected.values())
    for name, value in expected.items():
        atol = TOLERANCE * max(float(value.abs().max()), 1e-3 * scale)
        torch.testing.assert_close(found[name], value, rtol=0, atol=atol, msg=lambda text, name=name: f"{name}: {text}")


def make(cls: type, kind: Kind, options: dict, training: bool, seed: int = 0) -> torch.nn.Module:
    model = make_model(small_config(kind, **options), seed, cls=cls).train(training)
    if cls is not GCN:
        with torch.no_grad():
            for k, layer in enumerate(model.layers):
                layer.eps.fill_(0.3 + 0.1 * k + 0.01 * seed)
    return model


def padded(kind: Kind) -> list[PlanarBatch]:
    loader = PackedLoader(pack(examples(kind)), batch_size=SIZE, pad=True)
    found = list(loader)
    while len({batch.layout for batch in found}) > 1:  # the capacity has grown on the way
        found = list(loader)
    assert found[0].layout.num_nodes > int(found[0].counts[1])
    return found


@pytest.mark.parametrize("training", [False, True], ids=["eval", "train"])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize(("cls", "kind"), CASES, ids=str)
def test_the_function_is_that_of_pyg(cls, kind, options, training):
    """On plain batches and padded ones, and for each replica of a stack."""
    batches, graphs = padded(kind), examples(kind)
    parts = [graphs[k * SIZE : (k + 1) * SIZE] for k in range(REPLICAS)]
    models = [make(cls, kind, options, training, seed) for seed in range(REPLICAS)]
    oracles = [oracle_of(model) for model in models]
    expected = [state_after(oracle, pooled_by_pyg(oracle, part)) for oracle, part in zip(oracles, parts, strict=True)]

    together = cls.stack(models)
    stacked = state_after(together, together(PlanarBatch.stack(batches))[:, :SIZE])
    for k, (model, batch, part) in enumerate(zip(models, batches, parts, strict=True)):
        assert_same({name: value[k] for name, value in stacked.items()}, expected[k])
        for given in (batch, pack(part)[:]):
            one = copy.deepcopy(model)
            assert_same(state_after(one, one(given)[:SIZE]), expected[k])
