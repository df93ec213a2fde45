"""GCN, GIN and GINE: invariant, blind to what 1-WL does not see, and the same on every path to a batch."""

from __future__ import annotations

import pytest
import torch
from torch_geometric.loader import DataLoader

from planegraph.nn import GCN, GIN, GINE
from planegraph.testing import assert_invariant
from planegraph.transforms import Planar

from .examples import NO_FEATURES, Example, Kind, planar_zoo
from .models import DTYPES, make_model, pack, small_config

torch.set_num_threads(1)

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
