"""Batch norm with its ReLU: torch's own where every row counts, the same on the real rows where not, and the right gradients."""

from __future__ import annotations

import networkx as nx
import pytest
import torch
from torch.nn import functional as F

import planegraph as pg
from planegraph.data import PackedDataset
from planegraph.nn import GIN, BasePlanE, Continuous, PlanEConfig, PlanEConv, TriEnc, Update
from planegraph.nn.norm import BatchNorm
from planegraph.nn.ops import norm_relu as module


@pytest.fixture(params=["core", "torch"], autouse=True)
def method(request, monkeypatch) -> str:
    """In the core, as on the CPU, and in torch operations, as on other devices."""
    if request.param == "torch":
        monkeypatch.setattr(module, "_InCore", module._InTorch)
    return request.param


def made(width: int, replicas: int | None = None) -> BatchNorm:
    torch.manual_seed(0)
    norm = BatchNorm(width, replicas).double()
    for tensor in (norm.weight, norm.bias, norm.running_mean):
        torch.nn.init.normal_(tensor)
    return norm


def test_is_that_of_torch():
    """Values, gradients and running averages over several batches."""
    norm, x = made(5), torch.randn(40, 5, dtype=torch.float64, requires_grad=True)
    mean, var = norm.running_mean.clone(), norm.running_var.clone()
    for _ in range(3):
        expected = F.batch_norm(x, mean, var, norm.weight, norm.bias, training=True, momentum=0.1, eps=1e-5).relu()
        found = norm(x)
        direction = torch.randn_like(found)
        wanted = torch.autograd.grad((expected * direction).sum(), (x, norm.weight, norm.bias))
        given = torch.autograd.grad((found * direction).sum(), (x, norm.weight, norm.bias))
        for a, b in zip((found, norm.running_mean, norm.running_var, *given), (expected, mean, var, *wanted), strict=True):
            torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("replicas", [None, 3])
def test_rows_that_do_not_count(replicas):
    """As if they were not there, whatever is in them; their gradient is 0. A replica with one real row, and one with none."""
    norm, lead = made(4, replicas), () if replicas is None else (replicas,)
    x = torch.randn(*lead, 20, 4, dtype=torch.float64, requires_grad=True)
    mask = torch.rand(*lead, 20) < 0.6
    if replicas:
        mask[1], mask[2] = torch.arange(20) == 3, False
    out = norm(x, mask)
    direction = torch.randn_like(out)
    (gradient,) = torch.autograd.grad((out * direction).sum(), x)
    assert torch.isfinite(out).all()
    assert (gradient[~mask] == 0).all()
    for k in range(replicas or 1):
        alone, rows = made(4, replicas), x[k] if replicas else x
        real = rows[mask[k] if replicas else mask].detach().requires_grad_()
        if len(real) == 0:
            continue
        weight, bias = (t[k] if replicas else t for t in (alone.weight, alone.bias))
        centred = real - real.mean(0)
        value = (weight * centred / (centred.square().mean(0) + 1e-5).sqrt() + bias).relu()
        here = mask[k] if replicas else mask
        torch.testing.assert_close((out[k] if replicas else out)[here], value)
        (wanted,) = torch.autograd.grad((value * (direction[k] if replicas else direction)[here]).sum(), real)
        torch.testing.assert_close((gradient[k] if replicas else gradient)[here], wanted, rtol=1e-9, atol=1e-9)
    if replicas:  # one row has a mean and no variance; none has neither
        start = made(4, replicas)
        torch.testing.assert_close(norm.running_var[1:], start.running_var[1:])
        torch.testing.assert_close(norm.running_mean[2], start.running_mean[2])
        torch.testing.assert_close(norm.running_mean[1], 0.9 * start.running_mean[1] + 0.1 * x[1, 3])


@pytest.mark.parametrize("masked", [False, True])
def test_numerical_gradients(masked):
    norm, x = made(3, 2), torch.randn(2, 7, 3, dtype=torch.float64, requires_grad=True)
    mask = torch.tensor([[True] * 5 + [False] * 2, [True] * 7]) if masked else None
    weight, bias = (t.detach().clone().requires_grad_() for t in (norm.weight, norm.bias))

    def values(x, weight, bias):
        out = torch.func.functional_call(norm, {"weight": weight, "bias": bias}, (x, mask))
        return out if mask is None else out * mask.unsqueeze(-1)

    assert torch.autograd.gradcheck(values, (x, weight, bias))


@pytest.mark.parametrize("replicas", [None, 3])
def test_evaluation(replicas):
    """By running averages, which stay as they are; a mask changes nothing."""
    norm, lead = made(4, replicas).eval(), () if replicas is None else (replicas,)
    torch.nn.init.uniform_(norm.running_var, 0.5, 2)
    before = {name: value.clone() for name, value in norm.state_dict().items()}
    x = torch.randn(*lead, 9, 4, dtype=torch.float64)
    mean, var, weight, bias = (t.unsqueeze(-2) for t in (norm.running_mean, norm.running_var, norm.weight, norm.bias))
    expected = ((x - mean) / (var + 1e-5).sqrt() * weight + bias).relu()
    torch.testing.assert_close(norm(x), expected)
    torch.testing.assert_close(norm(x, torch.zeros(*lead, 9, dtype=torch.bool)), expected)
    assert all(torch.equal(value, before[name]) for name, value in norm.state_dict().items())


def test_columns_far_from_zero():
    """Variances of single-precision columns whose mean is a thousand times their deviation."""
    torch.manual_seed(0)
    x = torch.randn(5000, 6) + 1000 * torch.randn(1, 6)
    norm, wide = BatchNorm(6), BatchNorm(6).double()
    torch.testing.assert_close(norm(x).double(), wide(x.double()), rtol=0, atol=1e-3)
    torch.testing.assert_close(norm.running_var.double(), wide.running_var, rtol=1e-4, atol=0)


def test_first_values_and_momentum():
    norm = BatchNorm(3, momentum=0.5).double()
    assert [t.unique().tolist() for t in (norm.weight, norm.bias, norm.running_var, norm.running_mean)] == [[1], [0], [1], [0]]
    norm(torch.tensor([[1.0] * 3, [3.0] * 3], dtype=torch.float64))
    assert norm.running_mean.tolist() == [1.0] * 3
    config = PlanEConfig(hidden=8, norm_momentum=0.03, edge_features=Continuous(2))
    for holder in (TriEnc(config), Update(config), BasePlanE(config), GIN(config), PlanEConv(8, 8, norm_momentum=0.03)):
        assert {part.momentum for part in holder.modules() if isinstance(part, BatchNorm)} == {0.03}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("replicas", [None, 2])
def test_rows_and_columns_apart(replicas, dtype):
    """Inputs and gradients that are views."""
    norm, lead = made(3, replicas).to(dtype), () if replicas is None else (replicas,)
    x = torch.randn(*lead, 11, 3, dtype=dtype)
    direction = torch.randn(*lead, 11, 3, dtype=dtype)
    found = []
    for apart in (False, True):
        one, way = (t.mT.contiguous().mT if apart else t for t in (x, direction))
        one = one.detach().requires_grad_()
        out = norm(one)
        found.append([out, *torch.autograd.grad(out, (one, norm.weight, norm.bias), way)])
    for a, b in zip(*found, strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("rows", [0, 1])
def test_no_rows_or_one(rows):
    norm, start = made(4), made(4)
    x = torch.randn(rows, 4, dtype=torch.float64, requires_grad=True)
    out = norm(x)
    torch.testing.assert_close(out, norm.bias.relu().expand(rows, 4))
    gradient, *_ = torch.autograd.grad(out.sum(), (x, norm.weight, norm.bias))
    assert not gradient.any()
    torch.testing.assert_close(norm.running_var, start.running_var)


def test_single_rows_from_the_start():
    """Evaluation gives what training gave; rows that differ later count as usual."""
    norm = BatchNorm(4).double()
    for _ in range(3):
        x = torch.randn(1, 4, dtype=torch.float64)
        assert torch.equal(norm(x), norm.bias.relu().expand(1, 4))
        assert torch.equal(norm.eval()(x + 1), norm.bias.relu().expand(1, 4))
        norm.train()
    x = torch.randn(50, 4, dtype=torch.float64)
    norm(x)
    torch.testing.assert_close(norm.running_var, 0.1 * x.var(0))
    before = norm.running_var.clone()
    norm(x[:1])
    assert torch.equal(norm.running_var, before)


def test_a_mesh_of_one_component():
    """One row of TriEnc: evaluation on the training batch is as good as training."""
    torch.manual_seed(0)
    batch = PackedDataset.from_graphs([pg.families.apollonian(60, seed=1)], x=torch.randn(60, 4).numpy())[:]
    model = BasePlanE(PlanEConfig(Continuous(4), hidden=16, layers=2, graph_scale=60))
    target = batch.x[:, 0] + batch.x[:, 1].abs()
    head = torch.nn.Linear(16, 1)
    optimizer = torch.optim.Adam([*model.parameters(), *head.parameters()], lr=2e-3)

    def loss() -> torch.Tensor:
        return (head(model.node_embeddings(batch)).squeeze(-1) - target).abs().mean()

    for step in range(150):
        optimizer.param_groups[0]["lr"] = 2e-3 * (1 - step / 150)
        optimizer.zero_grad()
        trained = loss()
        trained.backward()
        optimizer.step()
    model.eval()
    assert loss() < 2 * trained + 0.1, (loss(), trained)  # 0.4 and more if evaluation reads what training does not


def test_nan_is_kept():
    """A model that has diverged must not look well."""
    x = torch.randn(6, 3)
    x[2, 1] = torch.nan
    out = BatchNorm(3)(x)
    assert out[:, 1].isnan().all()
    assert torch.isfinite(out[:, [0, 2]]).all()


@pytest.mark.parametrize("method", ["core"], indirect=True)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_equal_columns_stay_equal(dtype):
    """Bit for bit, however many there are: all versions of a loop must round alike, as addresses decide which one computes a row."""
    for width in range(2, 41):
        norm = BatchNorm(width).to(dtype)
        torch.nn.init.constant_(norm.weight, 0.7)
        torch.nn.init.constant_(norm.bias, 0.3)
        torch.manual_seed(width)
        x, direction = (column.repeat(1, width) for column in torch.randn(2, 200, 1, dtype=dtype))
        out = norm(x.requires_grad_())
        gradients = torch.autograd.grad(out, (x, norm.weight, norm.bias), direction)
        for t in (out, norm.running_mean, norm.running_var, *gradients):
            assert torch.equal(t, t[..., :1].expand_as(t)), width


@pytest.mark.parametrize("x_dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("running_dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("apart", [False, True])
def test_averages_of_other_types_and_layouts(x_dtype, running_dtype, apart):
    """They move as those of float64 do, to the precision of the coarser type."""
    torch.manual_seed(0)
    norm, wide, x = BatchNorm(4, 3).to(x_dtype), BatchNorm(4, 3).double(), torch.randn(3, 20, 4, dtype=x_dtype)
    for name in ("running_mean", "running_var"):
        average = getattr(norm, name).to(running_dtype)
        setattr(norm, name, average.mT.contiguous().mT if apart else average)
    norm(x)
    wide(x.double())
    coarse = 0.05 if torch.bfloat16 in (x_dtype, running_dtype) else 1e-6
    for name in ("running_mean", "running_var"):
        torch.testing.assert_close(getattr(norm, name).double(), getattr(wide, name), rtol=coarse, atol=coarse)


def test_sums_and_squares_beyond_half_precision():
    """float16 ends at 65,504: sums over these rows were infinite, gradients were NaN, and evaluation gave relu(bias)."""
    torch.manual_seed(0)
    norm, wide = BatchNorm(3).half(), BatchNorm(3).double()
    x = (300 + 3 * torch.randn(70_000, 3)).half().requires_grad_()
    y = x.detach().double().requires_grad_()
    for training in (True, False):
        out, expected = norm.train(training)(x), wide.train(training)(y)
        assert out.dtype == torch.float16
        torch.testing.assert_close(out.double(), expected, rtol=0.01, atol=0.01)
        for a, b in zip(
            torch.autograd.grad(out.float().mean(), (x, norm.weight, norm.bias)),
            torch.autograd.grad(expected.mean(), (y, wide.weight, wide.bias)),
            strict=True,
        ):
            assert a.dtype == torch.float16
            torch.testing.assert_close(a.double(), b, rtol=0.02, atol=1e-3)
    assert norm.running_mean.dtype == torch.float16


def test_columns_whose_rows_are_all_alike():
    """relu(bias) and no gradient, in evaluation as in training, however the values move; one such batch among others changes little."""
    norm = BatchNorm(3).double()
    torch.nn.init.normal_(norm.bias)
    for k in range(3):
        x = torch.randn(20, 3, dtype=torch.float64)
        x[:, 0] = 7.0 * k + 1e-9 * torch.rand(20)
        x.requires_grad_()
        out = norm(x)
        (gradient,) = torch.autograd.grad((out * torch.randn_like(out)).sum(), x)
        assert (out[:, 0] == norm.bias[0].relu()).all()
        assert (gradient[:, 0] == 0).all()
        assert norm.running_mean[0] == pytest.approx(7.0 * k, abs=1e-8)
        assert 0.5 < norm.running_var[1] < 1.5
    assert (norm.eval()(x + 1)[:, 0] == norm.bias[0].relu()).all()
    before = norm.running_var[1:].clone()
    norm.train()(torch.ones(20, 3, dtype=torch.float64))
    torch.testing.assert_close(norm.running_var[1:], 0.9 * before)
    norm(torch.randn(20, 3, dtype=torch.float64))
    assert 0.05 < norm.running_var[0] < 0.2


def test_graphs_without_features_are_evaluated_as_they_were_trained():
    """All SPQR nodes of trees look alike in the first layer, so six norms in a row have nothing to norm. Were they to enlarge what running
    means lag behind, errors would be 100 and more."""
    trees = [nx.random_labeled_tree(12, seed=s) for s in range(32)]
    graphs = [pg.Graph(12, list(tree.edges())) for tree in trees]
    batch, y = PackedDataset.from_graphs(graphs)[list(range(32))], torch.tensor([[float(nx.diameter(t))] for t in trees]) - 6
    torch.manual_seed(0)
    model = BasePlanE.for_data(graphs, hidden=16, layers=2)
    adam = torch.optim.Adam(model.parameters())
    for k in range(60):
        adam.param_groups[0]["lr"] = 1e-2 * (1 - k / 60)
        adam.zero_grad()
        loss = (model(batch) - y).abs().mean()
        loss.backward()
        adam.step()
    with torch.no_grad():
        again = (model.eval()(batch) - y).abs().mean()
    assert loss < 0.2
    assert again < 0.5
