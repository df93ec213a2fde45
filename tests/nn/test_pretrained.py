"""Saving and loading models: equal bit for bit, never half a file, and clear errors."""

from __future__ import annotations

import io
import json
import os
import time

import pytest
import torch
from safetensors.torch import save

from planegraph.errors import FormatError
from planegraph.io.checksums import SEAL, UNSEALED, sealed_file
from planegraph.nn import GCN, GIN, GINE, BasePlanE, Categorical, Continuous, Mixed, PlanEConfig
from planegraph.nn.model import FORMAT

from .examples import Example, Kind, planar_zoo
from .models import DTYPES, make_model, pack, small_config

OPTIONS = (
    {},
    {"norm": "none", "cut": False},
    {"pooling": "mean", "residual": False, "dropout": 0.1},
)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_round_trip_bit_for_bit(tmp_path, options, dtype):
    kind = Kind("categorical", "continuous")
    model = make_model(small_config(kind, **options), 3, dtype)
    model.save_pretrained(tmp_path / "model")
    again = BasePlanE.from_pretrained(tmp_path / "model")
    assert again.config == model.config
    assert not again.training
    state, found = model.state_dict(), again.state_dict()
    assert list(state) == list(found)
    assert all(torch.equal(state[name], found[name]) and state[name].dtype == found[name].dtype for name in state)
    batch = pack([Example.of(g, kind, i) for i, g in enumerate(planar_zoo()[:20])])[list(range(20))]
    assert torch.equal(model(batch), again(batch))
    assert sorted(p.name for p in (tmp_path / "model").iterdir()) == ["config.json", "model.safetensors"]


def test_saving_again_replaces(tmp_path):
    for hidden in (4, 6):
        BasePlanE(PlanEConfig(hidden=hidden)).save_pretrained(tmp_path)
    assert BasePlanE.from_pretrained(tmp_path).config.hidden == 6


def test_the_settings_are_readable(tmp_path):
    BasePlanE(PlanEConfig(node_features=Categorical([28]), edge_features=Continuous(2), hidden=4)).save_pretrained(tmp_path)
    settings = json.loads((tmp_path / "config.json").read_text())
    assert settings["model"] == "BasePlanE"
    assert settings["config"]["node_features"] == {"categorical": [28]}
    assert settings["config"]["edge_features"] == {"continuous": 2}


def test_another_class_is_named(tmp_path):
    GIN(PlanEConfig(hidden=4)).save_pretrained(tmp_path)
    with pytest.raises(FormatError, match=r"is a GIN; use GIN\.from_pretrained"):
        BasePlanE.from_pretrained(tmp_path)
    assert GIN.from_pretrained(tmp_path).config.hidden == 4


@pytest.mark.parametrize("damage", ["no folder", "no settings", "cut short", "a byte changed", "other width", "other format"])
def test_what_is_not_a_model_is_refused(tmp_path, damage):
    model = BasePlanE(PlanEConfig(hidden=4))
    model.save_pretrained(tmp_path)
    weights = tmp_path / "model.safetensors"
    data = weights.read_bytes()
    if damage == "no folder":
        tmp_path = tmp_path / "nothing"
    elif damage == "no settings":
        weights.write_bytes(save(model.state_dict()))
    elif damage == "cut short":
        weights.write_bytes(data[:-100])
    elif damage == "a byte changed":
        weights.write_bytes(data[:20] + b"\xff" + data[21:])
    else:
        old, new = (b'hidden\\": 4', b'hidden\\": 5') if damage == "other width" else (b'format\\": 2', b'format\\": 9')
        assert old in data
        weights.write_bytes(data.replace(old, new))
    with pytest.raises(FormatError, match=r"model\.safetensors"):
        BasePlanE.from_pretrained(tmp_path)


def test_the_format_before_is_refused(tmp_path):
    """Its weights are those of another function."""
    BasePlanE(PlanEConfig(hidden=4)).save_pretrained(tmp_path)
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes().replace(b'format\\": 2', b'format\\": 1'))
    with pytest.raises(FormatError, match=r"model\.safetensors has format 1; this planegraph reads 2"):
        BasePlanE.from_pretrained(tmp_path)


def test_every_flipped_bit_is_found(tmp_path):
    """Of settings and weights, and of the header: types, shapes, names, and the checksum itself."""
    BasePlanE(PlanEConfig(hidden=2, layers=1, pos_dim=2, triconnected=False, biconnected=False, cut=False)).save_pretrained(
        tmp_path
    )
    file = tmp_path / "model.safetensors"
    data = file.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    for at in [*range(start), *range(start, len(data), 7)]:
        spoilt = bytearray(data)
        spoilt[at] ^= 1 << at % 8
        file.write_bytes(spoilt)
        with pytest.raises(FormatError, match=r"model\.safetensors"):
            BasePlanE.from_pretrained(tmp_path)


def saved(state: dict, settings: dict) -> bytes:
    """A file that is sealed, whatever it says."""
    out = io.BytesIO()
    sealed_file(save(state, {"planegraph": json.dumps(settings), SEAL: UNSEALED}))(out)
    return out.getvalue()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_weights_that_are_not_finite_are_refused(tmp_path, value):
    model = BasePlanE(PlanEConfig(hidden=4))
    with torch.no_grad():
        model.readout.last.bias[0] = value
    model.save_pretrained(tmp_path)
    with pytest.raises(FormatError, match=r"model\.safetensors .*: readout\.last\.bias has values that are not finite"):
        BasePlanE.from_pretrained(tmp_path)


def test_weights_of_eight_bits_come_back(tmp_path):
    model = BasePlanE(PlanEConfig(hidden=4, layers=1)).to(torch.float8_e5m2)
    model.save_pretrained(tmp_path)
    again = BasePlanE.from_pretrained(tmp_path)
    assert torch.equal(again.readout.last.weight.view(torch.uint8), model.readout.last.weight.view(torch.uint8))


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_large_weights_are_finite_though_their_sum_is_not(tmp_path, dtype):
    model = BasePlanE(PlanEConfig(hidden=4, layers=1)).to(dtype)
    with torch.no_grad():
        model.readout.last.weight.fill_(torch.finfo(dtype).max)
    model.save_pretrained(tmp_path)
    again = BasePlanE.from_pretrained(tmp_path)
    assert torch.equal(again.readout.last.weight, model.readout.last.weight)
    with torch.no_grad():
        model.readout.last.weight[..., 0] = -torch.inf
    model.save_pretrained(tmp_path)
    with pytest.raises(FormatError, match=r"readout\.last\.weight has values that are not finite"):
        BasePlanE.from_pretrained(tmp_path)


def test_no_weights_are_drawn_that_are_then_loaded(tmp_path, monkeypatch):
    make_model(small_config(Kind("categorical", "continuous"), dropout=0.0), 3).save_pretrained(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(torch.nn.init, "uniform_", lambda *_: pytest.fail("weights are drawn"))
        BasePlanE.from_pretrained(tmp_path)
    torch.manual_seed(0)
    fresh = BasePlanE(PlanEConfig(hidden=4))
    assert all(torch.isfinite(value).all() for value in fresh.parameters())
    assert fresh.readout.last.weight.abs().max() > 0  # drawn again


def test_integers_are_no_weights(tmp_path):
    model = BasePlanE(PlanEConfig(hidden=4))
    state = model.state_dict()
    state["readout.last.bias"] = state["readout.last.bias"].int()
    settings = {"model": "BasePlanE", "format": FORMAT, "config": model.config.to_dict()}
    (tmp_path / "model.safetensors").write_bytes(saved(state, settings))
    with pytest.raises(FormatError, match=r"model\.safetensors does not hold the weights of the model that it describes"):
        BasePlanE.from_pretrained(tmp_path)


@pytest.mark.parametrize(
    "claim",
    [
        {"layers": 10**6},
        {"hidden": 20_000},
        {"hidden": 10**30},
        {"pos_dim": 10**9},
        {"outputs": 10**9},
        {"descriptors": 10**9},
        {"node_features": {"categorical": [10**9]}},
        {"node_features": {"categorical": [1] * 10**5}},
        {"node_features": {"categorical": [1], "continuous": 10**9}},
        {"edge_features": {"continuous": 10**9}},
    ],
    ids=lambda claim: f"{next(iter(claim))}={str(next(iter(claim.values())))[:40]}",
)
def test_a_small_file_that_describes_a_large_model_is_refused_at_once(tmp_path, claim):
    model = BasePlanE(PlanEConfig(hidden=4, layers=1))
    settings = {"model": "BasePlanE", "format": FORMAT, "config": model.config.to_dict() | claim}
    (tmp_path / "model.safetensors").write_bytes(saved(model.state_dict(), settings))
    began = time.thread_time()
    with pytest.raises(FormatError, match=r"model\.safetensors does not hold the weights of the model that it describes"):
        BasePlanE.from_pretrained(tmp_path)
    assert time.thread_time() - began < 0.5


@pytest.mark.parametrize("kind", [BasePlanE, GCN])
def test_many_layers_are_not_built_for_as_many_empty_tensors(tmp_path, kind):
    settings = {"model": kind.__name__, "format": FORMAT, "config": PlanEConfig(hidden=1, layers=1000).to_dict()}
    tensors = {f"layers.{k}.x": torch.empty(0) for k in range(1000)} | {"rest": torch.zeros(10_000)}
    (tmp_path / "model.safetensors").write_bytes(saved(tensors, settings))
    began = time.thread_time()
    with pytest.raises(FormatError, match=r"its settings need \d+ tensors or more; the file has 1001"):
        kind.from_pretrained(tmp_path)
    assert time.thread_time() - began < 0.5


def test_a_model_of_many_layers_comes_back(tmp_path):
    model = BasePlanE(PlanEConfig(hidden=2, layers=17))
    model.save_pretrained(tmp_path)
    found = BasePlanE.from_pretrained(tmp_path).state_dict()
    assert all(torch.equal(found[name], value) for name, value in model.state_dict().items())


@pytest.mark.parametrize("cls", [BasePlanE, GIN, GINE, GCN])
@pytest.mark.parametrize("nodes", [None, Categorical([28, 5]), Continuous(30), Mixed([5, 7], 20)], ids=str)
def test_no_model_is_too_large_for_its_file(tmp_path, cls, nodes):
    edges = None if cls in (GIN, GCN) else Categorical([3])
    for options in (
        {},
        {"layers": 9},
        {"descriptors": 50},
        {"outputs": 40},
        {"cut": False, "biconnected": False, "triconnected": False},
    ):
        config = PlanEConfig(
            node_features=nodes, edge_features=edges, **{"hidden": 2, "layers": 1, "pos_dim": 64, "norm": "none"} | options
        )
        cls(config).save_pretrained(tmp_path)
        assert cls.from_pretrained(tmp_path).config == config


def test_a_file_without_its_checksum_is_refused(tmp_path):
    model = BasePlanE(PlanEConfig(hidden=4))
    text = json.dumps({"model": "BasePlanE", "format": FORMAT, "config": model.config.to_dict()})
    (tmp_path / "model.safetensors").write_bytes(save(model.state_dict(), {"planegraph": text}))
    with pytest.raises(FormatError, match="is damaged: it has no checksum"):
        BasePlanE.from_pretrained(tmp_path)


@pytest.mark.parametrize("where", ["settings", "weights"])
def test_a_wrong_bit_is_found(tmp_path, where):
    BasePlanE(PlanEConfig(hidden=4, dropout=0.25, dropout_readout=0.25)).save_pretrained(tmp_path)
    file = tmp_path / "model.safetensors"
    data = bytearray(file.read_bytes())
    data[len(data) - 10 if where == "weights" else data.index(b"0.25") + 3] ^= 1
    file.write_bytes(data)
    with pytest.raises(FormatError, match=r"model\.safetensors is damaged: its checksum is \w{8}, not \w{8}"):
        BasePlanE.from_pretrained(tmp_path)


def test_a_stop_between_the_two_files_loses_nothing(tmp_path, monkeypatch):
    BasePlanE(PlanEConfig(hidden=4)).save_pretrained(tmp_path)
    real = os.replace

    def stopped(temporary, path):
        if path.name == "config.json":
            raise KeyboardInterrupt
        real(temporary, path)

    monkeypatch.setattr(os, "replace", stopped)
    with pytest.raises(KeyboardInterrupt):
        BasePlanE(PlanEConfig(hidden=6)).save_pretrained(tmp_path)
    assert BasePlanE.from_pretrained(tmp_path).config.hidden == 6


def test_every_dtype_comes_back(tmp_path):
    model = BasePlanE(PlanEConfig(hidden=4))
    model.readout.double()
    model.save_pretrained(tmp_path)
    state, found = model.state_dict(), BasePlanE.from_pretrained(tmp_path).state_dict()
    assert all(torch.equal(state[name], found[name]) and state[name].dtype == found[name].dtype for name in state)


def test_a_stack_is_not_saved_as_one(tmp_path):
    with pytest.raises(ValueError, match="unstack"):
        BasePlanE(PlanEConfig(hidden=4), replicas=2).save_pretrained(tmp_path)


def test_stack_and_unstack():
    models = [make_model(small_config(), seed) for seed in range(3)]
    for model, again in zip(models, BasePlanE.stack(models).unstack(), strict=True):
        state, found = model.state_dict(), again.state_dict()
        assert all(torch.equal(state[name], found[name]) for name in state)


def test_memory_that_runs_out_is_no_damage(tmp_path, monkeypatch):
    """A user might delete a sound model."""
    make_model(small_config()).save_pretrained(tmp_path)

    def load(data: bytes) -> None:
        raise MemoryError

    monkeypatch.setattr("safetensors.torch.load", load)
    with pytest.raises(MemoryError):
        BasePlanE.from_pretrained(tmp_path)
