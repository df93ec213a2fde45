"""On a GPU: the same numbers as on the CPU, with or without padding and replicas, captured or not, and no waiting for the device."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch

import planegraph as pg
from planegraph.data import PackedDataset, PackedLoader, PlanarBatch
from planegraph.nn import GCN, GIN, GINE, BasePlanE, Categorical, Continuous, GraphModel, PlanEConfig

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")

DTYPES = (torch.float32, torch.float64)
KINDS = ("nothing", "categories", "numbers by direction")
OPTIONS = (
    {},
    {"hidden": 40},
    {"hidden": 64, "layers": 1},
    {"norm": "none"},
    {"residual": False, "pooling": "mean"},
    {"graph_scale": 8, "norm": "none", "residual": False},
    {"neighbours": False, "cut": False},
    {"triconnected": False, "readout": False},
)
PLANE = [(BasePlanE, kind) for kind in KINDS]
BASELINES = [(cls, kind) for cls, kinds in ((GCN, KINDS[:2]), (GIN, KINDS[1:]), (GINE, KINDS[1:])) for kind in kinds]
TOLERANCE = {torch.float32: 2e-4, torch.float64: 1e-10}


@pytest.fixture
def precision() -> Iterator[Callable[[str], None]]:
    """Sets PyTorch's precision of products for one test."""
    before = torch.get_float32_matmul_precision()
    yield torch.set_float32_matmul_precision
    torch.set_float32_matmul_precision(before)


def graphs() -> pg.GraphBatch:
    """Trees, cycles, bonds, rigid graphs, nested ones, and nodes alone; needs nothing but this package."""
    f = pg.families
    found = [
        f.path(5),
        f.star(9),
        f.cycle(7),
        f.k2n(5),
        f.wheel(6),
        f.ladder(6),
        f.nested_k4(5),
        f.cactus(30, seed=1),
        pg.Graph(3, []),
    ]
    found += [f.random_planar(30, 0.5, seed=s) for s in range(50)]
    return pg.GraphBatch.from_graphs([f.shuffled(g, k) for k, g in enumerate(found * 2)])


def dataset(kind: str) -> PackedDataset:
    batch, rng = graphs(), np.random.default_rng(0)
    n, m = batch.num_nodes, batch.num_edges
    if kind == "nothing":
        return PackedDataset.from_arrays(batch)
    if kind == "categories":
        return PackedDataset.from_arrays(batch, x=rng.integers(0, 3, (n, 2)), edge_attr=rng.integers(0, 4, (m, 1)))
    x, darts = rng.integers(0, 3, (n, 2)).astype(np.float32), rng.integers(0, 3, (m, 2, 3)).astype(np.float32)
    return PackedDataset.from_arrays(batch, x=x, dart_attr=darts)


def config(kind: str, **options) -> PlanEConfig:
    features = {
        "nothing": {},
        "categories": {"node_features": Categorical([3, 3]), "edge_features": Categorical([4])},
        "numbers by direction": {"node_features": Continuous(2), "edge_features": Continuous(3)},
    }[kind]
    return PlanEConfig(**{"hidden": 8, "layers": 2, "pos_dim": 4, "outputs": 3} | features | options)


def make_model(settings: PlanEConfig, seed: int, dtype: torch.dtype, cls: type[GraphModel] = BasePlanE) -> GraphModel:
    torch.manual_seed(seed)
    return cls(settings).to(dtype)


def batches_of(kind: str, size: int = 29) -> list[PlanarBatch]:
    loader = PackedLoader(dataset(kind), batch_size=size, pad=True)
    found = list(loader)
    while len({batch.layout for batch in found}) > 1:
        found = list(loader)
    return found


def step(model: torch.nn.Module, batch: PlanarBatch) -> torch.Tensor:
    model.zero_grad(set_to_none=True)
    out = model(batch)
    torch.where(batch.graph_mask.unsqueeze(-1), out, 0).square().sum().backward()
    return out


def results(model: torch.nn.Module, batch: PlanarBatch) -> dict[str, torch.Tensor]:
    out = step(model, batch)
    found = {name: p.grad for name, p in model.named_parameters() if p.grad is not None} | dict(model.named_buffers())
    found["output"] = torch.where(batch.graph_mask.unsqueeze(-1), out, 0).detach()
    return {name: value.cpu() for name, value in found.items()}


def assert_close(
    found: dict[str, torch.Tensor],
    expected: dict[str, torch.Tensor],
    tolerance: float,
    exact: dict[str, torch.Tensor] | None = None,
) -> None:
    """Within the tolerance, relative to the largest entry. In float32 a value next to 0 may be on the other side of a ReLU, which changes a
    whole row of a weight's gradient: there the distance as a whole counts, and single entries may be off by 100 times as much.

    Where ``exact`` is given, in float64, tensors may be off by more if rounding alone does as much: by three times what it does to the
    tensor of ``expected`` that suffers most. A gradient that is exactly 0, as that of a map of equal rows below a norm, is all rounding."""
    assert found.keys() == expected.keys()
    numbers = {name: value for name, value in expected.items() if value.is_floating_point()}
    least = max(float(value.norm()) for value in numbers.values()) / 1000
    most = 10 * tolerance
    if exact is not None:
        rounded = [float((value - exact[name]).norm() / value.norm().clamp(min=least)) for name, value in numbers.items()]
        most = max(most, 3 * max(rounded))
    for name, value in expected.items():
        off = (found[name].cpu() - value).abs() / tolerance
        if value.dtype == torch.float64:
            assert off.max() <= value.abs().max().clamp(min=1), name
        elif value.is_floating_point():
            assert off.max() <= 100 * value.abs().max().clamp(min=1), name
            assert off.norm() * tolerance <= most * value.norm().clamp(min=least), name
        else:
            assert torch.equal(found[name].cpu(), value), name


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize(("cls", "kind"), PLANE + BASELINES, ids=str)
def test_same_as_on_the_cpu(cls, kind, options, dtype):
    batch = batches_of(kind)[0]
    model = make_model(config(kind, **options), 1, dtype, cls).train()
    expected = results(model, batch)
    exact = results(make_model(config(kind, **options), 1, torch.float64, cls).train(), batch)
    other = make_model(config(kind, **options), 1, dtype, cls).train().cuda()
    assert_close(results(other, batch.to("cuda")), expected, TOLERANCE[dtype], exact)


@pytest.mark.parametrize(("cls", "kind"), PLANE + BASELINES, ids=str)
def test_replicas(cls, kind):
    batches = batches_of(kind)[:3]
    models = [make_model(config(kind), seed, torch.float32, cls) for seed in range(3)]
    together = cls.stack(models).cuda()
    found = results(together, PlanarBatch.stack(batches).to("cuda"))
    for k, (model, batch) in enumerate(zip(models, batches, strict=True)):
        mine = {name: value if name.endswith("starts") else value[k] for name, value in found.items()}
        assert_close(mine, results(model, batch), TOLERANCE[torch.float32])


CAPTURED = [(*case, {}, "highest") for case in PLANE + BASELINES] + [
    (BasePlanE, "categories", options, setting)
    for options in (*OPTIONS, {"hidden": 64, "dropout": 0.3})
    for setting in ("high", "medium")
]


@pytest.mark.parametrize(("cls", "kind", "options", "setting"), CAPTURED, ids=str)
@pytest.mark.parametrize("stacked", [False, True])
def test_a_captured_step_reads_new_batches_and_nothing_waits(cls, kind, options, setting, stacked, precision):
    """The same bits as on one stream, whatever runs beside what."""
    precision(setting)
    batches, settings = [b.to("cuda") for b in batches_of(kind)], config(kind, **options)
    model = make_model(settings, 1, torch.float32, cls).cuda()
    if stacked:
        batches = [PlanarBatch.stack([batch] * 3) for batch in batches]
        model = cls.stack([make_model(settings, seed, torch.float32, cls) for seed in range(3)]).cuda()
    static = batches[0].to("cuda")
    static = static._map(torch.clone)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step(model, static)
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.set_sync_debug_mode("error")
    try:
        step(model, static)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    graph = torch.cuda.CUDAGraph()
    model.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        out = step(model, static)
    for batch in batches[1:]:
        static.copy_(batch)
        other = copy.deepcopy(model)
        graph.replay()
        torch.cuda.synchronize()
        found = {name: p.grad.clone() for name, p in model.named_parameters()}, out.clone()
        expected = step(other, batch)
        real = batch.graph_mask
        assert torch.equal(found[1][real], expected[real])
        assert all(torch.equal(found[0][name], p.grad) for name, p in other.named_parameters())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("replicas", [None, 3])
@pytest.mark.parametrize("masked", [False, True])
def test_an_mlp_is_that_of_the_cpu(masked, replicas, dtype):
    """Values, gradients and running averages; columns far from 0, rows that do not count, a replica with two rows and one with none."""
    from planegraph.nn.mlp import MLP

    torch.manual_seed(0)
    lead = () if replicas is None else (replicas,)
    x = torch.randn(*lead, 5000, 40, dtype=dtype) + 30 * torch.randn(*lead, 1, 40, dtype=dtype)
    mask = torch.rand(*lead, 5000) < 0.8 if masked else None
    if masked and replicas:
        mask[1] = False
        mask[2] = torch.arange(5000) % 2500 == 7
    here = MLP(40, 40, "batch", replicas).to(dtype)
    for tensor in here.norms.parameters():
        torch.nn.init.normal_(tensor)
    there = copy.deepcopy(here).cuda()
    direction = torch.randn_like(x)
    if masked:
        direction[~mask] = 0
    found = []
    for module, device in ((here, "cpu"), (there, "cuda")):
        for _ in range(2):
            rows = x.detach().to(device).requires_grad_()
            out = module(rows, mask=None if mask is None else mask.to(device))
            module.zero_grad()
            (out * direction.to(device)).sum().backward()
        real = out if mask is None else out * mask.to(device).unsqueeze(-1)
        values = [real, rows.grad, *(p.grad for p in module.parameters()), *module.buffers()]
        found.append({str(k): value.detach() for k, value in enumerate(values)})
    assert_close(found[1], found[0], 1e-3 if dtype == torch.float32 else 1e-10)  # two rows may differ by little


@pytest.mark.parametrize(("cls", "kind"), PLANE + BASELINES, ids=str)
def test_the_same_bits_twice(cls, kind):
    batch = batches_of(kind)[0].to("cuda")
    first, second = (results(make_model(config(kind), 1, torch.float32, cls).cuda(), batch) for _ in range(2))
    assert all(torch.equal(value, second[name]) for name, value in first.items())


@pytest.mark.parametrize(("setting", "least"), [("high", 0.999), ("medium", 0.97)])
@pytest.mark.parametrize("hidden", [40, 128])
@pytest.mark.parametrize(("cls", "kind"), PLANE, ids=str)
def test_products_in_fewer_bits(cls, kind, hidden, setting, least, precision):
    """tf32 and bf16: the direction of the whole gradient, and the same bits twice.

    Not the direction where graphs have no features: there a column of g1 varies with the degree alone, and if its weights nearly cancel,
    the norm makes much of little. Rounding the weights to 11 bits turns the gradient to a cosine of 0.95, even in float64."""
    batch = batches_of(kind)[0]
    expected = results(make_model(config(kind, hidden=hidden), 1, torch.float64, cls), batch)
    precision(setting)
    found, again = (
        results(make_model(config(kind, hidden=hidden), 1, torch.float32, cls).cuda(), batch.to("cuda")) for _ in range(2)
    )
    assert all(torch.equal(value, again[name]) for name, value in found.items())
    assert {value.dtype for value in found.values() if value.is_floating_point()} == {torch.float32}
    parameters = [name for name, _ in make_model(config(kind), 1, torch.float32, cls).named_parameters()]
    if kind == "nothing":
        return
    a, b = (torch.cat([values[name].double().flatten() for name in parameters]) for values in (found, expected))
    assert a @ b >= least * a.norm() * b.norm(), float(a @ b / (a.norm() * b.norm()))
    assert (found["output"] - expected["output"]).norm() <= (1 - least) ** 0.5 * expected["output"].norm()


def test_deep_trees():
    """Levels narrower and wider than one program of a kernel, in turns, and hundreds of them."""
    f = pg.families
    graphs = [
        f.path(300),
        f.ladder(200),
        *[f.star(5)] * 100,
        *[f.path(9)] * 80,
        *[f.random_planar(40, 0.3, seed=s) for s in range(40)],
    ]
    batch = next(iter(PackedLoader(PackedDataset.from_graphs(graphs), batch_size=len(graphs), pad=True)))
    settings = config("nothing", hidden=16)
    expected = results(make_model(settings, 1, torch.float64), batch)
    found = results(make_model(settings, 1, torch.float32).cuda(), batch.to("cuda"))
    assert_close({name: value.double() for name, value in found.items()}, expected, 1e-3)


def test_nan_is_kept():
    """A model that has diverged must not look well."""
    model, batch = make_model(config("nothing"), 1, torch.float32).cuda(), batches_of("nothing")[0].to("cuda")
    with torch.no_grad():
        model.layers[0].tri_enc.inner.last.weight.fill_(float("nan"))
    assert model(batch)[batch.graph_mask].isnan().all()


@pytest.mark.parametrize("share", [0, 3])
@pytest.mark.parametrize("replicas", [None, 3])
def test_dropout_is_that_of_the_cpu(replicas, share):
    from planegraph.nn.dropout import Dropout, set_share

    here, lead = Dropout(0.3, replicas), () if replicas is None else (replicas,)
    there = Dropout(0.3, replicas)
    there.load_state_dict(here.state_dict())
    there.cuda()
    for drop in (here, there):
        set_share(drop, share)
    x = torch.randn(*lead, 333, 40)
    for _ in range(3):
        assert torch.equal(there(x.cuda()).cpu(), here(x))
