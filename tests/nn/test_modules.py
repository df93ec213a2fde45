"""Manners of all modules: ``reset_parameters`` draws what a fresh module draws, and a repr is one line."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

import planegraph as pg
from planegraph.data import PackedDataset
from planegraph.nn import (
    GCN,
    GIN,
    GINE,
    BasePlanE,
    BiEnc,
    Categorical,
    Continuous,
    CutEnc,
    Mixed,
    PlanEConfig,
    PlanEConv,
    TriEnc,
    Update,
)
from planegraph.nn.baselines import GCNLayer, GINELayer, GINLayer
from planegraph.nn.dropout import Dropout
from planegraph.nn.features import make_encoder
from planegraph.nn.layer import PlanELayer
from planegraph.nn.linear import Linear
from planegraph.nn.mlp import MLP
from planegraph.nn.norm import BatchNorm

CONFIG = PlanEConfig(Categorical((3, 2)), Continuous(2), hidden=8, layers=2, dropout=0.1, dropout_readout=0.2)
PLAIN = PlanEConfig(hidden=8, norm="none", residual=False, readout=False, cut=False)
MODULES = {
    "Linear(4, 8)": lambda r: Linear(4, 8, r),
    "Linear(4, 8, bias=False)": lambda r: Linear(4, 8, r, bias=False),
    "MLP(4 + 2, 8, batch norm)": lambda r: MLP((4, 2), 8, "batch", r),
    "MLP(4, 8, linear at the end)": lambda r: MLP(4, 8, "none", r, ends=False, dropout=0.5),
    "BatchNorm(8)": lambda r: BatchNorm(8, r),
    "Dropout(p=0.5)": lambda r: Dropout(0.5, r),
    "ConstantEncoder(8)": lambda r: make_encoder(None, 8, "x", r),
    "ContinuousEncoder(2, 8)": lambda r: make_encoder(Continuous(2), 8, "x", r),
    "CategoricalEncoder((3, 2), 8)": lambda r: make_encoder(Categorical((3, 2)), 8, "x", r),
    "MixedEncoder((3, 2), 4, 8)": lambda r: make_encoder(Mixed((3, 2), 4), 8, "x", r),
    "TriEnc(8, with edge features)": lambda r: TriEnc(CONFIG, r),
    "TriEnc(8)": lambda r: TriEnc(PLAIN, r),
    "BiEnc(8)": lambda r: BiEnc(CONFIG, r),
    "CutEnc(8)": lambda r: CutEnc(CONFIG, r),
    "Update(8, neighbours || readout || triconnected || biconnected || cut)": lambda r: Update(CONFIG, r),
    "Update(8, neighbours || triconnected || biconnected)": lambda r: Update(PLAIN, r),
    "PlanELayer(8, neighbours || readout || triconnected || biconnected || cut, residual)": lambda r: PlanELayer(CONFIG, r),
    "PlanELayer(8, neighbours || triconnected || biconnected)": lambda r: PlanELayer(PLAIN, r),
    "PlanEConv(4, 8, edge_dim=2)": lambda r: PlanEConv(4, 8, 2, dropout=0.1, replicas=r),
    "GCNLayer(8)": lambda r: GCNLayer(CONFIG, r),
    "GINLayer(MLP(8, 8, batch norm, linear at the end))": lambda r: GINLayer(CONFIG, r),
    "GINELayer(MLP(8, 8, batch norm, linear at the end))": lambda r: GINELayer(CONFIG, r),
    "BasePlanE(2 layers of width 8": lambda r: BasePlanE(CONFIG, r),
    "BasePlanE(3 layers of width 8": lambda r: BasePlanE(PLAIN, r),
    "GCN(2 layers of width 8": lambda r: GCN(CONFIG, r),
    "GIN(2 layers of width 8": lambda r: GIN(CONFIG, r),
    "GINE(2 layers of width 8": lambda r: GINE(CONFIG, r),
}


@pytest.mark.parametrize("replicas", [None, 2])
@pytest.mark.parametrize("name", MODULES)
def test_reset_draws_what_a_fresh_module_draws(name, replicas):
    torch.manual_seed(0)
    fresh = MODULES[name](replicas).state_dict()
    torch.manual_seed(1)
    module = MODULES[name](replicas)
    with torch.no_grad():
        for tensor in (*module.parameters(), *module.buffers()):
            tensor.add_(1)  # parameters that start as constants, and counts, have moved too
    torch.manual_seed(0)
    module.reset_parameters()
    found = module.state_dict()
    assert list(found) == list(fresh)
    for key, value in found.items():
        assert torch.equal(value, fresh[key]), key


@pytest.mark.parametrize("name", MODULES)
def test_reprs_are_one_line(name):
    text = repr(MODULES[name](None))
    assert "\n" not in text
    assert text.startswith(name)
    assert text.endswith(")")


@pytest.mark.parametrize("initialise", ["reset", "load"])
def test_a_model_made_without_memory(initialise):
    """On the meta device, then to_empty(): where the columns of categories begin is not a weight, and must not stay empty."""
    torch.manual_seed(0)
    fresh = BasePlanE(CONFIG).eval()
    with torch.device("meta"):
        model = BasePlanE(CONFIG)
    model = model.to_empty(device="cpu").eval()
    with torch.no_grad():
        for tensor in (*model.parameters(), *model.buffers()):
            tensor.fill_(77)  # to_empty leaves anything
    if initialise == "reset":
        torch.manual_seed(0)
        model.reset_parameters()
    else:
        model.load_state_dict(fresh.state_dict())
    graphs = pg.GraphBatch.from_graphs([pg.families.cycle(4)])
    batch = PackedDataset.from_arrays(graphs, x=np.array([[0, 0], [1, 1], [2, 0], [2, 1]]), edge_attr=np.ones((4, 2)))[:]
    assert torch.equal(model(batch), fresh(batch))


def test_every_module_can_be_reset():
    """Also those inside others; lists of modules leave it to their items."""
    for make in MODULES.values():
        for part in make(None).modules():
            lists = isinstance(part, nn.ModuleList | nn.ParameterList | nn.ParameterDict)
            assert lists or hasattr(part, "reset_parameters"), type(part)
