"""Batches and settings that a model must refuse, with an error that says what was wanted and what was found."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import planegraph as pg
from planegraph.data import PackedDataset, PlanarBatch
from planegraph.errors import FormatError, InvalidGraphError, NotPlanarError
from planegraph.nn import GINE, BasePlanE, BiEnc, Categorical, Continuous, CutEnc, PlanEConfig, PlanEConv, Structure, TriEnc, Update

GRAPHS = pg.GraphBatch.from_graphs([pg.families.wheel(5), pg.families.path(4)])
N, M = GRAPHS.num_nodes, GRAPHS.num_edges


def batch(**features) -> PlanarBatch:
    return PackedDataset.from_arrays(GRAPHS, **features)[[0, 1]]


def model(**settings) -> BasePlanE:
    return BasePlanE(PlanEConfig(hidden=4, layers=1, **settings))


CATEGORIES = np.zeros((N, 1), np.int64)


@pytest.mark.parametrize(
    ("settings", "features", "message"),
    [
        ({"node_features": Categorical([3])}, {}, "reads x|reads 1 integer column"),
        (
            {"node_features": Categorical([3])},
            {"x": np.zeros((N, 1), np.float32)},
            "1 integer column; the batch has dtype torch.float32",
        ),
        ({"node_features": Categorical([3, 3])}, {"x": CATEGORIES}, "2 integer columns; the batch has 1"),
        ({"node_features": Continuous(2)}, {"x": CATEGORIES}, "2 float columns; the batch has dtype torch.int32"),
        (
            {"node_features": Categorical([3])},
            {"x": CATEGORIES + 3},
            "graph 0 of the batch, node 0: the model knows values 0 to 2; found 3",
        ),
        ({"node_features": Categorical([3])}, {"x": CATEGORIES - 1}, "graph 0 of the batch, node 0: .* found -1"),
        (
            {"edge_features": Continuous(1)},
            {"edge_attr": np.zeros((M, 2), np.float32)},
            "edge features edge_attr.*1 float column; .* has 2",
        ),
    ],
)
def test_features(settings, features, message):
    with pytest.raises(InvalidGraphError, match=message):
        model(**settings)(batch(**features))


def test_a_bad_category_is_located():
    x = CATEGORIES.copy()
    x[8] = 5
    with pytest.raises(InvalidGraphError, match=r"node features x, column 0, graph 1 of the batch, node 2: .* found 5"):
        model(node_features=Categorical([3]))(batch(x=x))
    attr = np.zeros((M, 1), np.int64)
    attr[-1] = 7
    with pytest.raises(InvalidGraphError, match=r"edge_attr, column 0, graph 1 of the batch, node [23] and node [23]: .* found 7"):
        model(edge_features=Categorical([3]))(batch(edge_attr=attr))


def test_labels_that_did_not_break_ties():
    x = np.arange(N, dtype=np.int64)[:, None] % 3
    plain = batch()
    foreign = PlanarBatch(plain.index, plain.layout, x=torch.from_numpy(x).int(), fingerprint=plain.fingerprint)
    with pytest.raises(InvalidGraphError, match="Pack the data with x among the labels"):
        model(node_features=Categorical([3]))(foreign)


def test_another_version():
    b = batch()
    b.fingerprint = "planegraph-packed/999;nodes=;edges="
    with pytest.raises(FormatError, match="format version 999"):
        model()(b)
    b.fingerprint = "something else"
    with pytest.raises(FormatError, match="not the fingerprint"):
        model()(b)


def test_no_graphs():
    empty = PackedDataset.from_arrays(GRAPHS)[[]]
    with pytest.raises(InvalidGraphError, match="no graphs"):
        model()(empty)


def test_not_a_batch():
    with pytest.raises(InvalidGraphError, match="Planar first"):
        model()(3)


def test_stacked_or_not():
    b = batch()
    with pytest.raises(InvalidGraphError, match="no replicas; the batch has 2"):
        model()(PlanarBatch.stack([b, b]))
    with pytest.raises(InvalidGraphError, match="2 replicas; the batch has none"):
        BasePlanE(PlanEConfig(hidden=4), replicas=2)(b)


def test_nan_and_nonplanar_are_refused_when_packed():
    x = np.zeros((N, 2), np.float32)
    x[7, 1] = np.nan
    with pytest.raises(InvalidGraphError, match=r"graph 1.*x|x.*graph 1"):
        PackedDataset.from_arrays(GRAPHS, x=x)
    with pytest.raises(NotPlanarError, match="graph 1 is not planar"):
        PackedDataset.from_graphs([pg.families.path(3), pg.families.complete(5)])


def test_another_device():
    with pytest.raises(InvalidGraphError, match="the batch is on meta, the model on cpu"):
        model(triconnected=False, biconnected=False, cut=False)(batch().to("meta"))


def test_encoders_count_rows():
    """A row too few would be read from memory of something else."""
    config = PlanEConfig(hidden=4, edge_features=Continuous(1))
    s = Structure(batch(edge_attr=np.zeros((M, 1), np.float32)), config.pos_dim, torch.float32)
    rows = {"h": N, "edges": M, "h_spqr": s.layout.num_spqr, "h_block": s.layout.num_blocks, "h_cut": s.layout.num_cuts}
    read = {TriEnc: ("h", "edges"), BiEnc: ("h_spqr",), CutEnc: ("h", "h_block"), Update: tuple(rows)}
    for encoder, names in read.items():
        given = {name: torch.zeros(rows[name], 4) for name in names}
        encoder(config)(*given.values(), s)
        for name, x in given.items():
            too_few = 0 if encoder is CutEnc and name == "h_block" else len(x) - 1  # of h_block it reads what is below the roots
            with pytest.raises(ValueError, match="found a tensor of shape"):
                encoder(config)(*(given | {name: x[:too_few]}).values(), s)


def test_autocast_and_compile_leave_the_model_as_it_is():
    b, m = batch(), model()
    expected = m(b)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(m(b), expected)
    assert torch.equal(torch.compile(m, backend="eager")(b), expected)


@pytest.mark.parametrize(
    "settings",
    [
        {"hidden": 0},
        {"layers": 1.5},
        {"pos_dim": 3},
        {"norm": "layer"},
        {"dropout": 1.0},
        {"norm_momentum": 0},
        {"norm_momentum": "slow"},
        {"graph_scale": 0},
        {"graph_scale": float("nan")},
        {"graph_scale": True},
        {"graph_scale": float("inf")},
        {"graph_scale": 10**40},
        {"units": [(10**400, 1.0)]},
        {"graph_scale": None},
        {"pooling": "last"},
        {"cut": "false"},
        {"residual": 1},
        {"dropout": "a"},
        {"dropout_readout": -0.1},
        {"neighbours": False, "readout": False, "triconnected": False, "biconnected": False, "cut": False},
    ],
    ids=str,
)
def test_settings(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        PlanEConfig(**settings)


def test_edge_features_that_no_term_reads():
    off = {"neighbours": False, "triconnected": False, "biconnected": False, "cut": False}
    for make in (lambda: PlanEConfig(edge_features=Continuous(1), **off), lambda: PlanEConv(4, 4, edge_dim=1, **off)):
        with pytest.raises(ValueError, match="no term that is on reads edges: switch on"):
            make()


@pytest.mark.parametrize("replicas", [0, 2.5, True])
def test_replicas_are_counted(replicas):
    for make in (lambda: BasePlanE(PlanEConfig(hidden=4), replicas), lambda: PlanEConv(4, 4, replicas=replicas)):
        with pytest.raises(ValueError, match="replicas must be an integer, at least 1; found"):
            make()


@pytest.mark.parametrize("settings", [16, {"hidden": 16}, None], ids=str)
@pytest.mark.parametrize("cls", [BasePlanE, GINE])
def test_settings_are_a_config(cls, settings):
    with pytest.raises(TypeError, match=rf"{cls.__name__} needs its settings.*{cls.__name__}\.for_data\(dataset\); found"):
        cls(settings, 32)


def test_packed_without_the_features_that_are_read():
    """What is missing is said, not that ties were broken without it."""
    packed = PackedDataset.from_graphs([pg.families.cycle(4)])[[0]]
    with pytest.raises(InvalidGraphError, match="the batch has none"):
        model(node_features=Continuous(1))(packed)


def test_a_setting_of_another_version_is_named():
    with pytest.raises(ValueError, match="there is no setting g_depth, mlp_depth"):
        PlanEConfig.from_dict(PlanEConfig().to_dict() | {"mlp_depth": 2, "g_depth": 2})


@pytest.mark.parametrize(
    "wrong", [lambda: Categorical("28"), lambda: Categorical(28), lambda: Categorical([3.7]), lambda: Continuous(2.5)]
)
def test_feature_sizes(wrong):
    with pytest.raises((TypeError, ValueError), match="needs a"):
        wrong()


def test_features_need_their_classes():
    with pytest.raises(TypeError, match=r"node_features must be Categorical\(sizes\)"):
        PlanEConfig(node_features=28)
