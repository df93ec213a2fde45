"""Saving and loading models: equal bit for bit, never half a file, and clear errors."""

from __future__ import annotations

import json
import os

import pytest
import torch
from safetensors.torch import save

from planegraph.errors import FormatError
from planegraph.nn import GIN, BasePlanE, Categorical, Continuous, PlanEConfig

from .examples import Example, Kind, planar_zoo
from .models import DTYPES, make_model, pack, small_config

torch.set_num_threads(1)

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
