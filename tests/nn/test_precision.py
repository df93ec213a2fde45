"""Models and layers under autocast, in Lightning, in 16-bit floats and under torch.compile, alone and between other layers."""

from __future__ import annotations

import warnings

import pytest
import torch
from torch import nn
from torch_geometric.data import Batch
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GINConv, global_add_pool

from planegraph.data import PlanarData
from planegraph.nn import GCN, GIN, GINE, BasePlanE, PlanEConv
from planegraph.transforms import Planar

from .examples import WIDTH, Example, Kind, planar_zoo

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"))]
SMALL = {torch.bfloat16: 0.1, torch.float16: 0.01}  # how far outputs may be from those in float32


def data_list(count: int = 24) -> list[PlanarData]:
    found = []
    for i, g in enumerate(planar_zoo()[:count]):
        data = Example.of(g, Kind("continuous", "continuous"), i).to_pyg()
        data.x, data.edge_attr, data.y = data.x.float(), data.edge_attr.float(), torch.tensor([float(g.n)])
        found.append(Planar()(data))
    return found


def whole_batch(device: str = "cpu") -> Batch:
    return Batch.from_data_list(data_list()).to(device)


class Mixed(nn.Module):
    """GINConv, PlanEConv, Linear: what surrounds a PlanEConv computes in the precision of autocast."""

    def __init__(self) -> None:
        super().__init__()
        self.gin = GINConv(nn.Sequential(nn.Linear(WIDTH, 16), nn.ReLU(), nn.Linear(16, 16)))
        self.embed = nn.Linear(WIDTH, 4)
        self.conv = PlanEConv(16, 8, edge_dim=4)
        self.out = nn.Linear(8, 1)

    def forward(self, data: Batch) -> torch.Tensor:
        self.seen = self.gin(data.x, data.edge_index)
        h = self.conv(self.seen, data, self.embed(data.edge_attr))
        assert h.dtype == torch.float32
        return self.out(global_add_pool(h.relu(), data.batch))


def check_gradients(model: nn.Module) -> None:
    for name, p in model.named_parameters():
        assert p.grad is not None, name
        assert p.grad.dtype == p.dtype
        assert p.grad.isfinite().all(), name
    assert all(p.grad.abs().max() > 0 for p in model.parameters() if p.dim() == 2)


# ---- autocast -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("cls", [BasePlanE, GCN, GIN, GINE])
def test_models_are_left_alone(cls, device):
    torch.manual_seed(0)
    model, batch = cls.for_data(data_list(), hidden=8).to(device), whole_batch(device)
    expected = model(batch)
    with torch.autocast(device, dtype=torch.bfloat16):
        found = model(batch)
        assert model.embed(batch).dtype == model.node_embeddings(batch).dtype == torch.float32
    assert found.dtype == torch.float32
    assert torch.equal(found, expected)
    found.mean().backward()
    check_gradients(model)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_a_layer_between_layers_in_16_bits(dtype, device):
    torch.manual_seed(0)
    model, batch = Mixed().to(device), whole_batch(device)
    expected = model(batch)
    with torch.autocast(device, dtype=dtype):
        found = model(batch)
    assert model.seen.dtype == dtype
    assert found.dtype == dtype
    torch.testing.assert_close(found.float(), expected, rtol=SMALL[dtype], atol=SMALL[dtype])
    found.float().mean().backward()
    check_gradients(model)


@pytest.mark.parametrize("device", DEVICES)
def test_backward_inside_autocast(device):
    torch.manual_seed(0)
    model, batch = Mixed().to(device), whole_batch(device)
    with torch.autocast(device, dtype=torch.bfloat16):
        model(batch).float().mean().backward()
    check_gradients(model)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_inputs_of_other_types(dtype):
    """They are cast to the type of the parameters, and their gradients back."""
    torch.manual_seed(0)
    conv, batch = PlanEConv(WIDTH, 8, edge_dim=WIDTH), whole_batch()
    x, edge_attr = (t.to(dtype).requires_grad_() for t in (batch.x, batch.edge_attr))
    out = conv(x, batch, edge_attr)
    assert out.dtype == torch.float32
    assert torch.equal(out, conv(x.float(), batch, edge_attr.float()))
    out.sum().backward()
    assert x.grad.dtype == edge_attr.grad.dtype == dtype
    assert conv.double()(x, batch, edge_attr).dtype == torch.float64


# ---- all parameters in 16 bits --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_models_in_16_bits(dtype, training, device):
    """Slower, and as exact as such numbers are: every sum is rounded."""
    torch.manual_seed(0)
    model, batch = BasePlanE.for_data(data_list(), hidden=8, outputs=3).to(device), whole_batch(device)
    for _ in range(20):
        model(batch)
    expected = model.train(training)(batch)
    found = model.to(dtype)(batch)
    assert found.dtype == dtype
    scale = expected.abs().max()
    assert (found.float() - expected).abs().max() < SMALL[dtype] * scale
    found.float().mean().backward()
    check_gradients(model)


@pytest.mark.parametrize("device", DEVICES)
def test_layers_in_16_bits(device):
    conv, batch = PlanEConv(WIDTH, 8, edge_dim=WIDTH).to(device, torch.bfloat16), whole_batch(device)
    assert conv(batch.x, batch, batch.edge_attr).dtype == torch.bfloat16


# ---- torch.compile --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compile_leaves_models_alone(backend):
    torch.manual_seed(0)
    model, batch = BasePlanE.for_data(data_list(), hidden=8).eval(), whole_batch()
    assert torch.equal(torch.compile(model, backend=backend)(batch), model(batch))


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compile_around_a_layer(backend):
    """What surrounds the layer is compiled, the layer is not; values and gradients are the same."""
    torch.manual_seed(0)
    model, batch = Mixed(), whole_batch()
    compiled = torch.compile(model, backend=backend)
    expected = model(batch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of PyTorch's compiler, about what it cannot compile
        found = compiled(batch)
    torch.testing.assert_close(found, expected)
    gradients = []
    for output in (expected, found):
        model.zero_grad()
        output.sum().backward()
        check_gradients(model)
        gradients.append([p.grad for p in model.parameters()])
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


# ---- Lightning ------------------------------------------------------------------------------------------------------------


def alone() -> BasePlanE:
    return BasePlanE.for_data(data_list(), hidden=8)


@pytest.mark.parametrize(
    ("make", "precision", "dtype"),
    [(alone, "bf16-mixed", torch.float32), (alone, "bf16-true", torch.bfloat16), (Mixed, "bf16-mixed", torch.bfloat16)],
)
def test_lightning(make, precision, dtype, tmp_path):
    lightning = pytest.importorskip("pytorch_lightning")

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.model, self.types = make(), set()

        def training_step(self, batch: Batch) -> torch.Tensor:
            output = self.model(batch)
            self.types.add(output.dtype)
            return (output.squeeze(-1) - batch.y).abs().mean()

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.Adam(self.parameters(), lr=1e-3)

    module = Module()
    before = [p.detach().clone() for p in module.parameters()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few batches, few workers
        trainer = lightning.Trainer(
            accelerator="cpu", precision=precision, max_steps=3, logger=False, enable_checkpointing=False,
            enable_progress_bar=False, enable_model_summary=False, default_root_dir=tmp_path,
        )  # fmt: skip
        trainer.fit(module, DataLoader(data_list(), batch_size=8))
    assert trainer.global_step == 3
    assert module.types == {dtype}
    for p, old in zip(module.parameters(), before, strict=True):
        assert p.isfinite().all()
        assert p.dim() == 1 or not torch.equal(p, old)
