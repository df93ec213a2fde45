"""PlanEConv: the layer of BasePlanE for tensors of any width, in PyG's layout, and errors that say what was wanted."""

from __future__ import annotations

import copy
from inspect import signature

import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import Sequential, global_add_pool
from torch_geometric.utils import to_undirected

import planegraph as pg
from planegraph.data import PackedDataset, PlanarBatch, pyg
from planegraph.data.batch import collate
from planegraph.errors import InvalidGraphError, NotPlanarError
from planegraph.nn import BasePlanE, Continuous, PlanEConfig, PlanEConv
from planegraph.transforms import Planar

from .examples import WIDTH, Example, Kind, corner_cases, planar_zoo
from .models import pack

EDGES, DARTS = Kind("continuous", "continuous"), Kind("continuous", "continuous", darts=True)
OPTIONS = ({}, {"norm": "none", "residual": False}, {"neighbours": False, "cut": False})


def examples(kind: Kind) -> list[Example]:
    plain = [g for g in corner_cases() if g.n] + list(planar_zoo()[40:70])
    return [Example.of(g, kind, i) for i, g in enumerate(plain)]


def pair(edges: bool = True, **options) -> tuple[BasePlanE, PlanEConv]:
    """A model of one layer and the conv with its weights: the maps of the encoders are those of the conv."""
    torch.manual_seed(0)
    continuous = Continuous(WIDTH)
    config = PlanEConfig(node_features=continuous, edge_features=continuous if edges else None, hidden=8, layers=1, **options)
    model, conv = BasePlanE(config).double(), PlanEConv(WIDTH, 8, WIDTH if edges else None, **options).double()
    conv.lin.load_state_dict(model.node_encoder.linear.state_dict())
    conv.layer.load_state_dict(model.layers[0].state_dict())
    if edges:
        conv.lin_edge.load_state_dict(model.edge_encoder.linear.state_dict())
    return model, conv


def pyg_batch(found: list[Example], seed: int | None = None) -> Batch:
    rng = None if seed is None else np.random.default_rng(seed)
    data = [Planar()(e.to_pyg(rng)) for e in found]
    return next(iter(DataLoader(data, batch_size=len(data))))


def close(a: torch.Tensor, b: torch.Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-9)


# ---- what it computes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", [EDGES, DARTS], ids=str)
def test_it_is_the_layer_of_the_model(kind, options):
    """For a PyG batch with its columns in any order, with and without its own edge features, and for a packed batch."""
    model, conv = pair(**options)
    found = examples(kind)
    data, packed = pyg_batch(found, seed=1), pack(found)[:]
    assert data.edge_attr.shape[0] == 2 * sum(len(e.edges) for e in found)
    close(conv(data.x, data, data.edge_attr), model.node_embeddings(data))
    close(conv(packed.x, packed, packed.edge_attr), model.node_embeddings(packed))
    without = data.clone()
    del without.edge_attr, without.x
    close(conv(data.x, without, data.edge_attr), model.node_embeddings(data))


def test_without_edges():
    model, conv = pair(edges=False)
    found = examples(Kind("continuous"))
    data, packed = pyg_batch(found, seed=1), pack(found)[:]
    close(conv(data.x, data), model.node_embeddings(data))
    close(conv(packed.x, packed), model.node_embeddings(packed))


def test_the_order_of_columns_does_not_matter():
    """Sums over the nodes: where a graph has automorphisms, walks, and with them rows of nodes, may be exchanged."""
    _, conv = pair()
    outputs = []
    for seed in (None, 1, 2):
        data = pyg_batch(examples(DARTS), seed)
        outputs.append(global_add_pool(conv(data.x, data, data.edge_attr), data.batch))
    close(outputs[0], outputs[1])
    close(outputs[0], outputs[2])


def test_each_direction_is_read():
    """e_vu is that of the column (v, u): the values of the reverse columns give something else, as they do in the model."""
    model, conv = pair()
    data = pyg_batch(examples(EDGES))
    turned = data.clone()
    turned.edge_attr = data.edge_attr + 0.1 * (data.edge_index[0] < data.edge_index[1])[:, None]
    back = turned.edge_attr[data.dart_reverse]
    one, other = conv(data.x, data, turned.edge_attr), conv(data.x, data, back)
    assert (one - other).abs().max() > 1e-3
    close(one, model.node_embeddings(turned))
    turned.edge_attr = back
    close(other, model.node_embeddings(turned))


def test_neighbours_are_summed_along_columns():
    """By hand: only the neighbours' term, whose sum at u is over the columns (v, u) of edge_index."""
    off = {"readout": False, "triconnected": False, "biconnected": False, "cut": False}
    torch.manual_seed(0)
    conv = PlanEConv(3, 4, edge_dim=2, norm="none", residual=False, **off).double()
    data = pyg_batch([Example.of(g) for g in planar_zoo()[:20]], seed=3)
    x, edge_attr = torch.randn(data.num_nodes, 3).double(), torch.randn(data.edge_index.size(1), 2).double()
    update, (v, u) = conv.layer.update, data.edge_index
    h = conv.lin(x)
    messages = update.g5(h[v], conv.lin_edge(edge_attr))
    close(conv(x, data, edge_attr), update.f(update.g1(h.index_add(0, u, messages))))


def test_gradients_come_back_by_column():
    model, conv = pair(norm="none")
    data = pyg_batch(examples(DARTS), seed=1)
    x, edge_attr = (t.clone().requires_grad_() for t in (data.x, data.edge_attr))
    weights = torch.randn(data.num_nodes, 8).double()
    (conv(x, data, edge_attr) * weights).sum().backward()
    data.x, data.edge_attr = (t.clone().requires_grad_() for t in (data.x, data.edge_attr))
    (model.node_embeddings(data) * weights).sum().backward()
    close(x.grad, data.x.grad)
    close(edge_attr.grad, data.edge_attr.grad)


def test_one_graph():
    data = Planar()(Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=3))
    assert PlanEConv(4, 6, edge_dim=2)(torch.randn(3, 4), data, torch.randn(2, 2)).shape == (3, 6)


def test_no_edges_need_no_representations():
    data = Planar()(Data(edge_index=torch.empty(2, 0, dtype=torch.int64), num_nodes=3))
    conv = PlanEConv(4, 6, edge_dim=2)
    torch.manual_seed(0)
    x = torch.randn(3, 4)
    assert torch.equal(conv(x, data), conv(x, data, torch.empty(0, 2)))


def test_padded():
    found = examples(DARTS)
    ds = pack(found)
    batch = ds[:]
    padded = collate(ds, range(len(found)), batch.layout.sizes.grow(batch.layout))
    assert padded.layout.padded
    _, conv = pair()
    rows = batch.layout.num_nodes
    close(conv(padded.x, padded, padded.edge_attr)[:rows], conv(batch.x, batch, batch.edge_attr))


def test_replicas():
    batch = pack(examples(DARTS))[:]
    stacked = PlanarBatch.stack([batch, batch])
    torch.manual_seed(0)
    convs = [PlanEConv(WIDTH, 8, WIDTH).double() for _ in range(2)]
    both = PlanEConv(WIDTH, 8, WIDTH, replicas=2).double()
    states = [conv.state_dict() for conv in convs]
    both.load_state_dict({name: torch.stack([state[name] for state in states]) for name in states[0]})
    out = both(stacked.x, stacked, stacked.edge_attr)
    for k, conv in enumerate(convs):
        close(out[k], conv(batch.x, batch, batch.edge_attr))


# ---- PyG's manners --------------------------------------------------------------------------------------------------------


def test_defaults_are_those_of_the_models():
    config, names = PlanEConfig(), signature(PlanEConv).parameters
    shared = [name for name in names if hasattr(config, name)]
    assert len(shared) == 11
    assert all(names[name].default == getattr(config, name) for name in shared)


def test_equal_widths_have_no_first_map():
    conv = PlanEConv(4, 4)
    assert conv.lin is None
    assert not [name for name, _ in conv.named_parameters() if name.startswith("lin")]


def test_residual_adds_the_mapped_input():
    data = pyg_batch(examples(Kind("continuous")))
    torch.manual_seed(0)
    conv, plain = PlanEConv(WIDTH, 8).double(), PlanEConv(WIDTH, 8, residual=False).double()
    plain.load_state_dict(conv.state_dict())
    close(conv(data.x, data), conv.lin(data.x) + plain(data.x, data))


def test_in_a_sequential_of_pyg():
    data = pyg_batch(examples(EDGES))
    layers = [(PlanEConv(WIDTH, 8), "x, batch -> x"), torch.nn.ReLU(), (PlanEConv(8, 4), "x, batch -> x")]
    assert Sequential("x, batch", layers)(data.x, data).shape == (data.num_nodes, 4)


def test_repr():
    assert repr(PlanEConv(16, 32, edge_dim=8)) == "PlanEConv(16, 32, edge_dim=8)"
    assert repr(PlanEConv(16, 16)) == "PlanEConv(16, 16)"


def test_reset_parameters():
    options = {"edge_dim": 3, "dropout": 0.5}
    torch.manual_seed(0)
    fresh = PlanEConv(4, 8, **options)
    torch.manual_seed(1)
    conv = PlanEConv(4, 8, **options)
    before = copy.deepcopy(conv.state_dict())
    data = pyg_batch([Example.of(planar_zoo()[20])])
    conv(torch.randn(data.num_nodes, 4), data, torch.randn(data.num_edges, 3))
    torch.manual_seed(0)
    conv.reset_parameters()
    for name, value in conv.state_dict().items():
        assert torch.equal(value, fresh.state_dict()[name]), name
    assert any(not torch.equal(value, before[name]) for name, value in conv.state_dict().items())


def test_layers_share_one_conversion(monkeypatch):
    """Also where the features of the batch are replaced on the way."""
    made = []
    convert = pyg._convert_bare
    monkeypatch.setattr(pyg, "_convert_bare", lambda data: made.append(data) or convert(data))
    data = pyg_batch(examples(EDGES))
    data.x = PlanEConv(WIDTH, 4)(data.x, data)
    data.x = PlanEConv(4, 4, WIDTH)(data.x, data, data.edge_attr)
    assert len(made) == 1
    data.edge_index = data.edge_index.clone()
    PlanEConv(4, 4)(data.x, data)
    assert len(made) == 2


def test_features_of_the_batch_are_not_read():
    data = pyg_batch(examples(Kind("continuous")))
    out = PlanEConv(WIDTH, 4).eval()
    expected = out(data.x.float(), data)
    x, data.x = data.x.float(), torch.full((data.num_nodes, 2, 2), float("nan"))
    assert torch.equal(out(x, data), expected)


# ---- what is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("widths", [(-1, 4), (4, 0), (4, -1), ([4], 4), (4.0, 4), (4, 4, -1), (4, 4, 0), (True, 4)], ids=str)
def test_widths(widths):
    with pytest.raises(ValueError, match=r"must be an integer, at least 1: widths are not inferred"):
        PlanEConv(*widths)


def test_there_is_no_pair_of_widths():
    with pytest.raises(ValueError, match=r"in_channels must be an integer: graphs are undirected.*; found \(4, 4\)"):
        PlanEConv((4, 4), 4)


def test_widths_of_numpy():
    conv = PlanEConv(np.int64(4), np.int32(6), np.int64(2))
    assert repr(conv) == "PlanEConv(4, 6, edge_dim=2)"
    assert {type(width) for width in (conv.in_channels, conv.out_channels, conv.edge_dim)} == {int}


def test_settings():
    for wrong in ({"pos_dim": 3}, {"norm": "layer"}, {"dropout": 1.0}, {"graph_scale": 0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            PlanEConv(4, 4, **wrong)
    with pytest.raises(TypeError, match="positional"):
        PlanEConv(4, 4, None, 2)


GRAPHS = pg.GraphBatch.from_graphs([pg.families.wheel(5), pg.families.path(4)])
N, M = GRAPHS.num_nodes, GRAPHS.num_edges


def data_of_graphs() -> Batch:
    return Batch.from_data_list([Planar()(as_data(g)) for g in GRAPHS])


def as_data(g: pg.Graph) -> Data:
    return Data(edge_index=to_undirected(torch.tensor(g.edges.T)), num_nodes=g.num_nodes)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (torch.zeros(N, 5), rf"x must have shape \({N}, 4\), a row per node; found \({N}, 5\)"),
        (torch.zeros(N - 1, 4), rf"x must have shape \({N}, 4\)"),
        (torch.zeros(1, N, 4), rf"found \(1, {N}, 4\)"),
        (torch.zeros(N), rf"found \({N},\)"),
        (torch.zeros(N, 4, dtype=torch.int64), r"x must hold floats; found torch.int64. Embed categories first"),
        (torch.zeros(N, 4, dtype=torch.bool), r"x must hold floats; found torch.bool"),
        (torch.zeros(N, 4, dtype=torch.complex64), r"x must hold floats"),
        (torch.zeros(N, 4, device="meta"), r"x is on meta, PlanEConv\(4, 4\) on cpu; move one"),
        (None, r"PlanEConv\(4, 4\) needs x, a tensor of shape .*; found NoneType"),
        (np.zeros((N, 4)), "found ndarray"),
    ],
    ids=str,
)
def test_bad_rows(x, message):
    for batch in (data_of_graphs(), PackedDataset.from_graphs(GRAPHS)[:]):
        with pytest.raises(InvalidGraphError, match=message):
            PlanEConv(4, 4)(x, batch)


@pytest.mark.parametrize(
    ("edge_attr", "message"),
    [
        (torch.zeros(M, 3), rf"edge_attr must have shape \({2 * M}, 3\), a row per column of edge_index; found \({M}, 3\)"),
        (torch.zeros(2 * M, 4), rf"found \({2 * M}, 4\)"),
        (torch.zeros(2 * M, 3, dtype=torch.int64), "edge_attr must hold floats; found torch.int64"),
        (torch.zeros(2 * M, 3, device="meta"), "edge_attr is on meta"),
        (None, rf"PlanEConv\(4, 4, edge_dim=3\) needs edge_attr, a tensor of shape \({2 * M}, 3\)"),
    ],
    ids=str,
)
def test_bad_edges(edge_attr, message):
    with pytest.raises(InvalidGraphError, match=message):
        PlanEConv(4, 4, 3)(torch.zeros(N, 4), data_of_graphs(), edge_attr)


def test_edges_of_a_packed_batch():
    conv, x = PlanEConv(4, 4, 3), torch.zeros(N, 4)
    batch = PackedDataset.from_arrays(GRAPHS, edge_attr=np.zeros((M, 1), np.int64))[:]
    with pytest.raises(InvalidGraphError, match=rf"shape \({M}, 3\), a row per row of the batch's edge_attr; found \({2 * M}, 3\)"):
        conv(x, batch, torch.zeros(2 * M, 3))
    with pytest.raises(
        InvalidGraphError, match="packed without edge features and has no rows for them; pack the graphs with edge_attr"
    ):
        conv(x, PackedDataset.from_graphs(GRAPHS)[:], torch.zeros(2 * M, 3))


def test_edges_that_nobody_reads():
    with pytest.raises(InvalidGraphError, match=r"PlanEConv\(4, 4\) reads no edges; make it with edge_dim=3"):
        PlanEConv(4, 4)(torch.zeros(N, 4), data_of_graphs(), torch.zeros(2 * M, 3))


def test_not_a_batch():
    conv, x, data = PlanEConv(4, 4), torch.zeros(N, 4), data_of_graphs()
    with pytest.raises(InvalidGraphError, match=r"expected the batch itself, as in conv\(x, batch\); found a tensor of shape"):
        conv(x, data.edge_index)
    with pytest.raises(InvalidGraphError, match=r"found Data\. Apply planegraph\.transforms\.Planar first"):
        conv(x, Data(edge_index=data.edge_index, num_nodes=N))
    with pytest.raises(InvalidGraphError, match="found NoneType"):
        conv(x, None)
    with pytest.raises(InvalidGraphError, match="the batch is on meta, the model on cpu"):
        conv(x, PackedDataset.from_graphs(GRAPHS)[:].to("meta"))
    with pytest.raises(InvalidGraphError, match="no replicas; the batch has 2"):
        conv(x, PlanarBatch.stack([PackedDataset.from_graphs(GRAPHS)[:]] * 2))
    with pytest.raises(InvalidGraphError, match="no graphs"):
        conv(x, PackedDataset.from_graphs(GRAPHS)[[]])


def test_skipped_graphs():
    data = as_data(pg.families.complete(5))
    with pytest.raises(NotPlanarError):
        Planar()(data)
    skipped = Planar(on_nonplanar="skip")(data)
    with pytest.raises(InvalidGraphError, match="was skipped by Planar"):
        PlanEConv(4, 4)(torch.zeros(5, 4), skipped)
