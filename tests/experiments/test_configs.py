"""Every published result has a config or a measure; every config loads, names a task that there is, and builds its model."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from planegraph import datasets, nn
from planegraph.data.sizes import Categorical
from planegraph.datasets.exp import Exp
from planegraph.datasets.molhiv import ATOM_SIZES as HIV_ATOMS
from planegraph.datasets.molhiv import BOND_SIZES as HIV_BONDS
from planegraph.datasets.qm9 import TARGETS
from planegraph.datasets.zinc import BOND_SIZES
from planegraph.datasets.zinc_molecules import ATOM_TYPES
from planegraph.errors import PlanegraphError
from planegraph.experiments.configs import config_names, differences, load_config
from planegraph.experiments.published import TABLE_NAMES, TABLES
from planegraph.experiments.reproduce import names_of
from planegraph.runs.models import model_class

FEATURES = {  # of nodes and edges, and the number of outputs, without loading the data
    "p3r": (None, None, 9),
    "exp": (nn.Categorical((2,)), None, 1),
    "qm9_cc": (None, None, 1),
    "zinc12k": (nn.Categorical((len(ATOM_TYPES),)), nn.Categorical(BOND_SIZES), 1),
    "zincfull": (nn.Categorical((len(ATOM_TYPES),)), nn.Categorical(BOND_SIZES), 1),
    "molhiv": (nn.Categorical(HIV_ATOMS), nn.Categorical(HIV_BONDS), 1),
    "qm9": (nn.Continuous(15), nn.Categorical((5,)), 1),
}


@pytest.mark.parametrize("name", config_names())
def test_a_config_builds_its_model(name):
    settings = load_config(name)
    assert settings.task in datasets.DATASETS
    nodes, edges, outputs = FEATURES[settings.task]
    edges = edges if settings.options.get("edge_features", True) else None
    config = nn.PlanEConfig(node_features=nodes, edge_features=edges, outputs=outputs, **settings.model)
    with torch.device("meta"):
        model = model_class(settings)(config)
    assert sum(p.numel() for p in model.parameters()) > 1000
    assert differences(settings, name) == []
    assert settings.train.batch_size is not None, "a record has a size, so a config must say it"


def test_every_published_row_has_a_config():
    rows = {row.name for table in TABLES for row in table.rows}
    assert rows == set(config_names())
    assert names_of("all") == [row.name for table in TABLES for row in table.rows]
    assert len(set(TABLE_NAMES)) == len(TABLE_NAMES)


def test_seeds_are_those_of_the_rows():
    folds = {"p3r": 10, "exp": 10}
    for table in TABLES:
        for row in table.rows:
            settings = load_config(row.name)
            assert settings.train.seeds * folds.get(settings.task, 1) >= row.repeats, row.name


def test_a_deviation_is_that_of_several_runs():
    rows = [row for table in TABLES for row in table.rows if row.std is not None]
    assert len(rows) > 30
    assert all(row.repeats >= 5 for row in rows), [row.name for row in rows if row.repeats < 5]


def test_qm9_has_a_config_for_each_target():
    for target in TARGETS:
        settings = load_config(f"qm9-{target}")
        assert settings.options["target"] == target


def test_the_ablation_differs_in_its_terms_only():
    full, terms = load_config("ablation-full"), {}
    for name in names_of("ablation")[1:]:
        settings = load_config(name)
        assert (settings.train, settings.options, settings.model_class) == (full.train, full.options, full.model_class)
        config = nn.PlanEConfig(**settings.model)
        terms[name] = set(config.terms)
        rest = {key: value for key, value in settings.model.items() if value is not False}
        assert rest == full.model
    every = {"neighbours", "readout", "triconnected", "biconnected", "cut"}
    assert terms == {
        "ablation-no-readout": every - {"readout"},
        "ablation-no-cutenc": every - {"cut"},
        "ablation-no-neighbours": every - {"neighbours"},
        "ablation-only-bienc": {"biconnected"},
        "ablation-only-trienc": {"triconnected"},
    }


def test_differences_know_defaults():
    settings = load_config("p3r-baseplane")
    assert differences(settings.with_overrides(["model.cut=true", "train.save_seconds=1"]), "p3r-baseplane") == []
    changed = settings.with_overrides(["model.cut=false", "train.clip=0.5", "train.schedule=step"])
    found = differences(changed, "p3r-baseplane")
    assert found == ["model.cut=false", "train.clip=0.5", "train.schedule={kind: step, gamma: 0.7, every: 25}"]


CHANGED = {
    "as it is": [],
    "another kind of schedule": ["train.schedule={kind: plateau, factor: 0.7, threshold: 0.000123456789}"],
    "the same kind": ["train.schedule={kind: cosine, warmup: 2.5}"],
    "numbers and texts": [
        "train.lr=0.00123456789",
        "train.weight_decay=1e-7",
        "train.ema=null",
        "options.word='no'",
        "options.n='1'",
    ],
    "tables and lists": ["options={target: [mu, 'true', 1e-3], deep: {a: null, b: [1, 2]}}"],
}


@pytest.mark.parametrize("what", CHANGED)
@pytest.mark.parametrize("base", ["p3r-gin", "zinc12k-edges-baseplane"])
def test_differences_make_the_settings_of_the_config(base, what):
    """Any settings come from any config by --set and what differs from it."""
    settings = load_config(base).with_overrides(CHANGED[what])
    for name in config_names():
        found = load_config(name).with_overrides(differences(settings, name))
        found = replace(found, train=replace(found.train, save_seconds=settings.train.save_seconds))
        assert found.complete() == settings.complete(), name


def test_differences_keep_numbers_that_are_not_finite():
    base, texts = load_config("p3r-gin"), ["options.a=.inf", "options.b=[.nan, -.inf]"]
    found = differences(base.with_overrides(texts), "p3r-gin")
    assert found == ["options.a=.inf", "options.b=[.nan, -.inf]"]
    again = base.with_overrides(found).options
    assert again["a"] == math.inf
    assert math.isnan(again["b"][0])
    assert again["b"][1] == -math.inf


def test_unknown_names():
    with pytest.raises(PlanegraphError, match=r"there is no nothing\.yaml"):
        load_config("nothing")
    with pytest.raises(PlanegraphError, match="there is no table 'nothing'"):
        names_of("nothing")
    with pytest.raises(PlanegraphError, match="p3r has no 'exp-gin'; it has p3r-baseplane, p3r-gin"):
        names_of("p3r", "exp-gin")


def test_features_are_those_of_the_tasks(data_root):
    task = Exp(data_root).task()
    assert task.node_features == Categorical((2,))
    assert task.outputs == 1
