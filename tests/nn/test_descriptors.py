"""Descriptors of graphs beside the sums over nodes, and outputs in units."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

import planegraph as pg
from planegraph.data import PackedDataset, PackedLoader
from planegraph.errors import InvalidGraphError
from planegraph.nn import BasePlanE, Categorical, Continuous, PlanEConfig

CONFIG = PlanEConfig(Categorical([3]), hidden=8, layers=2, outputs=2, descriptors=3, units=((5.0, 2.0), (-1.0, 0.5)))


def dataset(count: int = 6, descriptors: np.ndarray | None = None) -> PackedDataset:
    rng = np.random.default_rng(0)
    graphs = [pg.families.random_planar(8, 0.5, seed=s) for s in range(count)]
    graphs = [pg.Graph(g.num_nodes, g.edges, node_labels=rng.integers(0, 3, g.num_nodes)) for g in graphs]
    values = rng.normal(size=(count, 3)).astype(np.float32) if descriptors is None else descriptors
    return PackedDataset.from_graphs(graphs).with_attrs(descriptors=values)


def model(config: PlanEConfig = CONFIG, seed: int = 0) -> BasePlanE:
    torch.manual_seed(seed)
    return BasePlanE(config).double().eval()


def test_the_output_mlp_reads_them_and_gives_units():
    batch, m = dataset()[:], model()
    sums, numbers = m.embed(batch), batch.attrs["descriptors"].double()
    raw = m.readout(sums, numbers)
    assert torch.allclose(m(batch), raw * torch.tensor([2.0, 0.5]).double() + torch.tensor([5.0, -1.0]).double())
    other = dataset(descriptors=np.zeros((6, 3), np.float32))[:]
    assert not torch.allclose(m(batch), m(other))
    assert torch.equal(sums, m.embed(other))


def test_stacked_padded_and_saved(tmp_path):
    ds, models = dataset(), [model(seed=k) for k in range(3)]
    batch = ds[:]
    stacked = BasePlanE.stack(models)(type(batch).stack([batch] * 3))
    for k, m in enumerate(models):
        assert torch.allclose(stacked[k], m(batch), atol=1e-12)
    padded = next(iter(PackedLoader(ds, batch_size=6, pad=True)))
    assert torch.allclose(models[0](padded)[:6], models[0](batch), atol=1e-12)
    models[0].save_pretrained(tmp_path)
    assert torch.equal(BasePlanE.from_pretrained(tmp_path)(batch), models[0](batch))


def test_units_may_be_given_when_saving(tmp_path):
    plain = model(PlanEConfig(Categorical([3]), hidden=8, layers=1, descriptors=3))
    plain.save_pretrained(tmp_path, units=((10.0, 4.0),))
    batch = dataset()[:]
    assert torch.allclose(BasePlanE.from_pretrained(tmp_path)(batch), 4 * plain(batch) + 10)
    assert plain.config.units is None


def test_for_data_finds_them():
    assert BasePlanE.for_data(dataset()).config.descriptors == 3


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (None, "none"),
        (np.zeros((6, 2), np.float32), r"\(6, 2\), float32"),
        (np.zeros((6, 3), np.int32), r"\(6, 3\), int32"),
        (np.zeros((6, 1, 3), np.float32), r"\(6, 1, 3\), float32"),
        (np.zeros(6, np.float32), r"\(6,\), float32"),
    ],
)
def test_what_does_not_fit_is_refused(values, found):
    ds = dataset(descriptors=values) if values is not None else PackedDataset.from_graphs([pg.Graph(1, [], node_labels=[1])])
    with pytest.raises(InvalidGraphError, match=rf"reads 3 descriptors of each graph, floats of shape .* the batch has {found}"):
        model()(ds[:])


def test_unread_descriptors_are_refused_unless_ignored():
    batch = dataset()[:]
    with pytest.raises(InvalidGraphError, match=r"has descriptors of shape .* which the model would ignore: its descriptors is 0"):
        model(PlanEConfig(Categorical([3]), hidden=8, layers=1))(batch)
    model(PlanEConfig(Categorical([3]), hidden=8, layers=1, features="ignore"))(batch)


@pytest.mark.parametrize("units", [5, [0, 1], [None], [(0, 0)], [(0, 1), (0, 1)], [(float("nan"), 1)], [("a", 1)]])
def test_units_are_pairs(units):
    with pytest.raises(ValueError, match=r"units must be a pair \(center, spread\) of numbers for each of 1 outputs"):
        PlanEConfig(units=units)


@pytest.mark.parametrize("count", [-1, 1.5, True, False, None])
def test_descriptors_are_counted(count):
    with pytest.raises(ValueError, match="descriptors must be an integer, at least 0"):
        PlanEConfig(descriptors=count)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_units_are_not_cast(tmp_path, dtype):
    """An energy of -76,000.1 is infinite in half precision, and rounded to 256 in bfloat16."""
    data = PackedDataset.from_graphs([pg.families.random_planar(n, seed=n) for n in (5, 12, 30)])[:]
    center, spread = -76_000.1, 10.3
    plain = BasePlanE(PlanEConfig(hidden=8, layers=1)).eval()
    inside = BasePlanE(PlanEConfig(hidden=8, layers=1, units=((center, spread),))).eval()
    inside.load_state_dict(plain.state_dict())
    found = inside.to(dtype)(data)
    assert found.dtype == torch.promote_types(dtype, torch.float32)
    torch.testing.assert_close(found.double(), plain.to(dtype)(data).double() * spread + center, rtol=1e-7, atol=0)
    inside.save_pretrained(tmp_path / "model")
    assert torch.equal(BasePlanE.from_pretrained(tmp_path / "model")(data), found)


def test_numpy_integers_are_integers():
    config = PlanEConfig(Categorical(np.array([3, 4])), Continuous(np.int32(2)), hidden=np.int64(8), layers=np.int64(1))
    assert PlanEConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config
    assert {type(config.hidden), type(config.edge_features.width), *map(type, config.node_features.sizes)} == {int}
    with pytest.raises(ValueError, match="hidden must be an integer"):
        PlanEConfig(hidden=np.float64(8))
