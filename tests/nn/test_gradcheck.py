"""``torch.autograd.gradcheck``: gradients of the whole model against finite differences, for all parameters and the features."""

from __future__ import annotations

import graphs
import pytest
import torch
from plain import disjoint_union
from torch.func import functional_call

from .examples import Example, Kind
from .models import make_model, pack, small_config

GRAPHS = (
    disjoint_union(graphs.path(1), graphs.path(3)),
    graphs.pendant(graphs.book(2), 0),
    graphs.nested_k4(2),
)
CASES = (
    (Kind("categorical"), {"norm": "none", "residual": False}),
    (Kind("continuous", "continuous"), {"norm": "none", "pooling": "mean"}),
    (Kind("continuous", "categorical", darts=True), {}),
    (Kind("none", "categorical"), {"residual": False, "graph_scale": 3}),
)


SMALL, LARGER = {"hidden": 2, "layers": 1}, {"hidden": 6, "layers": 2}


@pytest.mark.parametrize(
    ("kind", "options", "size", "training", "fast"),
    [
        *((*case, SMALL, False, False) for case in CASES),
        *((*case, SMALL, True, False) for case in CASES[:2]),
        *((*case, LARGER, True, True) for case in CASES[2:]),
    ],
    ids=str,
)
def test_parameters(kind, options, size, training, fast):
    """Each entry of the Jacobian of a small model, and random combinations of them (``fast_mode``) of a larger one in training."""
    model = make_model(small_config(kind, pos_dim=2, outputs=1, **size, **options)).train(training)
    batch = pack([Example.of(g, kind, i) for i, g in enumerate(GRAPHS)])[:]
    names, values = zip(*model.named_parameters(), strict=True)
    buffers = {name: value.clone() for name, value in model.named_buffers()}

    def outputs(*parameters):
        state = dict(zip(names, parameters, strict=True)) | {name: value.clone() for name, value in buffers.items()}
        return functional_call(model, state, (batch,))

    inputs = tuple(value.detach().clone().requires_grad_() for value in values)
    assert torch.autograd.gradcheck(outputs, inputs, eps=1e-6, atol=1e-5, rtol=1e-4, fast_mode=fast)
