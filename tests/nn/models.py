"""Small models for the tests, and examples packed for them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

import planegraph as pg
from planegraph.data import PackedDataset
from planegraph.nn import BasePlanE, Categorical, Continuous, PlanEConfig

from .examples import EDGE_SIZES, NO_FEATURES, NODE_SIZES, WIDTH, Example, Kind

DTYPES = (torch.float32, torch.float64)


def features(kind: str, sizes: tuple[int, ...]):
    return {"none": None, "categorical": Categorical(sizes), "continuous": Continuous(WIDTH)}[kind]


def small_config(kind: Kind = NO_FEATURES, **options) -> PlanEConfig:
    """A config for examples of this kind; narrow unless told otherwise."""
    options = {"hidden": 8, "layers": 2, "pos_dim": 4, "outputs": 3} | options
    return PlanEConfig(node_features=features(kind.nodes, NODE_SIZES), edge_features=features(kind.edges, EDGE_SIZES), **options)


def make_model(config: PlanEConfig, seed: int = 0, dtype: torch.dtype = torch.float64, cls: type = BasePlanE) -> torch.nn.Module:
    """A model in evaluation mode whose biases, norms and running statistics are away from their neutral first values."""
    torch.manual_seed(seed)
    model = cls(config).to(dtype).eval()
    with torch.no_grad():
        for tensor in (*model.parameters(), *model.buffers()):
            if tensor.is_floating_point() and tensor.dim() == 1:
                tensor += 0.2 * torch.rand_like(tensor)
    return model


def pack(examples: Sequence[Example], **options) -> PackedDataset:
    """The examples as a dataset; features are there even where no graph has a node or an edge."""
    node_ptr = np.cumsum([0, *(e.n for e in examples)])
    edge_ptr = np.cumsum([0, *(len(e.edges) for e in examples)])
    batch = pg.GraphBatch(node_ptr, edge_ptr, np.concatenate([e.edges for e in examples]))
    columns = {}
    for name in ("x", "edge_attr", "dart_attr"):
        if getattr(examples[0], name) is not None:
            columns[name] = np.concatenate([getattr(e, name) for e in examples])
    return PackedDataset.from_arrays(batch, threads=1, **columns, **options)
