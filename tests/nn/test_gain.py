"""How far maps stretch, and recursions over deep trees that are kept from growing."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import planegraph as pg
from planegraph.data import PackedDataset
from planegraph.nn import BasePlanE, PlanEConfig
from planegraph.nn.gain import damping, gain

torch.set_num_threads(1)


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 3), st.floats(-12, 12), st.integers(0, 2**32))
def test_the_norm_or_a_little_more(rows, columns, replicas, size, seed):
    lead = (replicas,) if replicas else ()
    weight = torch.randn(*lead, rows, columns, generator=torch.Generator().manual_seed(seed)) * 10**size
    found, norm = gain(weight), torch.linalg.matrix_norm(weight, 2)[..., None, None]
    assert found.shape == (*lead, 1, 1)
    assert (found >= norm * (1 - 1e-5)).all()
    assert (found <= norm * min(rows, columns) ** (1 / 16) * (1 + 1e-5)).all()


def test_gradients_and_a_map_to_nothing():
    weight = torch.randn(2, 5, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(gain, weight)
    nothing = torch.zeros(4, 4, requires_grad=True)
    damping(nothing).sum().backward()
    assert damping(nothing).item() == 1
    assert (nothing.grad == 0).all()


def test_what_does_not_stretch_is_left_as_it_is():
    models = []
    for bounded in (False, True):
        torch.manual_seed(0)
        models.append(BasePlanE(PlanEConfig(hidden=16, bounded_trees=bounded)))
        with torch.no_grad():
            for name, tensor in models[-1].named_parameters():
                if ".bi_enc." in name or ".cut_enc." in name:
                    tensor *= 0.5
    batch = PackedDataset.from_graphs([pg.families.path(9), pg.families.wheel(5), pg.families.ladder(6)])[:]
    assert torch.equal(models[0](batch), models[1](batch))


def largest(graphs: list[pg.Graph], encoder: str, bounded: bool, depth: int) -> list[float]:
    """The largest entry of what CutEnc or BiEnc gives for each graph, by weights six times as large as a model starts with."""
    torch.manual_seed(0)
    model = BasePlanE(PlanEConfig(hidden=16, layers=1, bounded_trees=bounded, mlp_depth=depth)).double()
    part = getattr(model.layers[0], encoder)
    with torch.no_grad():
        for tensor in part.parameters():
            tensor *= 6
    seen = []
    part.register_forward_hook(lambda module, given, out: seen.append(out.value().abs().max().item()))
    for graph in graphs:
        model(PackedDataset.from_graphs([graph])[:])
    return seen


@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize(("encoder", "family"), [("cut_enc", pg.families.path), ("bi_enc", pg.families.ladder)])
def test_deep_trees(encoder, family, depth):
    """Four times as deep is at most four times as large; without the bound it is a power."""
    graphs = [family(n) for n in (50, 200)]
    small, large = largest(graphs, encoder, True, depth)
    assert 0 < large <= 4 * small
    small, large = largest(graphs, encoder, False, depth)
    assert not large <= 1e6 * small  # or no longer a number


def test_training_on_a_deep_tree_stays_finite():
    """A step as large as this one makes recursions stretch that have no bound."""
    batch = PackedDataset.from_graphs([pg.families.path(n) for n in (400, 5, 300)])[:]

    def losses(bounded: bool) -> list[float]:
        torch.manual_seed(0)
        model = BasePlanE(PlanEConfig(hidden=16, layers=2, norm="batch", bounded_trees=bounded))
        optimiser, found = torch.optim.Adam(model.parameters(), lr=0.1), []
        for _ in range(30):
            loss = (model(batch).flatten() - torch.tensor([1.0, 0.0, -1.0])).square().mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            found.append(loss.item())
        return found

    assert all(torch.isfinite(torch.tensor(losses(True))))
    assert not all(torch.isfinite(torch.tensor(losses(False))))
