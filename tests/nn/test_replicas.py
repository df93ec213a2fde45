"""Models stacked along a replica dimension, each on its own batch: the same numbers as one model after another."""

from __future__ import annotations

from functools import cache

import pytest
import torch

import planegraph as pg
from planegraph.data import PackedLoader, PlanarBatch
from planegraph.nn import BasePlanE

from .examples import NO_FEATURES, Example, Kind, planar_zoo
from .models import make_model, pack, small_config

REPLICAS = 3
SIZE = 8
KINDS = (NO_FEATURES, Kind("categorical", "categorical"), Kind("continuous", "continuous", darts=True))
OPTIONS = (
    {},
    {"norm": "none"},
    {"residual": False},
    {"pooling": "mean", "norm": "none", "residual": False},
    {"graph_scale": 3, "layers": 3},
    {"triconnected": False, "cut": False},
)
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-11}


@cache
def batches_of(kind: Kind) -> list[PlanarBatch]:
    """Different graphs, equal layouts."""
    zoo = [g for g in planar_zoo() if g.n][: 60 : 60 // (REPLICAS * SIZE)]
    loader = PackedLoader(pack([Example.of(g, kind, i) for i, g in enumerate(zoo)]), batch_size=SIZE, pad=True)
    found = list(loader)
    while len({batch.layout for batch in found}) > 1:  # the capacity has grown on the way
        found = list(loader)
    return found[:REPLICAS]


def step(model: torch.nn.Module, batch: PlanarBatch) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    model.zero_grad()
    out = model(batch)
    weight = torch.linspace(-1, 1, out[..., 0].numel() // (model.replicas or 1), dtype=out.dtype)[:, None]
    real = batch.graph_mask.unsqueeze(-1)
    torch.where(real, out * weight, 0).sum().backward()
    found = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    return torch.where(real, out, 0).detach(), found | dict(model.named_buffers())


@pytest.mark.parametrize("training", [False, True], ids=["eval", "train"])
@pytest.mark.parametrize(
    ("options", "dtype"), [*((options, torch.float64) for options in OPTIONS), (OPTIONS[0], torch.float32)], ids=str
)
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_same_as_one_by_one(kind, options, training, dtype):
    seeds = range(1, 1 + REPLICAS)  # 0 draws weights by which a batch norm sees nearly equal rows, and multiplies rounding
    models = [make_model(small_config(kind, **options), seed, dtype).train(training) for seed in seeds]
    batches = batches_of(kind)
    together = BasePlanE.stack(models)
    assert together.training == training
    found, state = step(together, PlanarBatch.stack(batches))
    for k, (model, batch) in enumerate(zip(models, batches, strict=True)):
        expected, expected_state = step(model, batch)
        tolerance = TOLERANCE[dtype]
        torch.testing.assert_close(found[k], expected, rtol=0, atol=tolerance * float(expected.abs().max()))
        largest = max(float(p.grad.abs().max()) for p in model.parameters() if p.grad is not None)
        for name, value in expected_state.items():
            if value.is_floating_point():
                atol = 10 * tolerance * max(float(value.abs().max()), largest if dtype == torch.float32 else 1e-3 * largest)
                torch.testing.assert_close(state[name][k], value, rtol=0, atol=atol, msg=lambda text, name=name: f"{name}: {text}")


def test_unstack_gives_the_models_back():
    models = [make_model(small_config(norm="batch"), seed) for seed in range(REPLICAS)]
    for model, copy in zip(models, BasePlanE.stack(models).unstack(), strict=True):
        for name, value in model.state_dict().items():
            assert torch.equal(copy.state_dict()[name], value)


def test_batches_and_models_must_fit():
    batches = batches_of(NO_FEATURES)
    model = make_model(small_config())
    with pytest.raises(pg.InvalidGraphError, match="replicas"):
        model(PlanarBatch.stack(batches))
    with pytest.raises(pg.InvalidGraphError, match="replicas"):
        BasePlanE.stack([model] * 2)(batches[0])
