"""The slow reference, checked by itself: against formulas written out by hand, under relabelling, and one graph at a time."""

from __future__ import annotations

import graphs
import numpy as np
import pytest
import torch
from plain import Plain

from .examples import KINDS, NO_FEATURES, Example, Kind, nasty, planar_zoo
from .models import make_model, small_config
from .reference import Reference


def mlp(p, name, x, ends=True):
    """Without norms."""
    first = torch.cat([w for key, w in p.items() if key.startswith(f"{name}.first.") and key.endswith(".weight")], 1)
    x = (first @ x + p[f"{name}.first.0.bias"]).relu()
    x = p[f"{name}.last.weight"] @ x + p[f"{name}.last.bias"]
    return x.relu() if ends else x


BY_HAND = {"layers": 1, "norm": "none", "residual": False, "graph_scale": 5}


def test_one_node_by_hand():
    model = make_model(small_config(**BY_HAND))
    p = dict(model.named_parameters())
    h, u = p["node_encoder.constant"], "layers.0.update"
    terms = [mlp(p, f"{u}.g{i}", x) for i, x in ((1, h), (2, h / 5), (3, h), (4, h))]
    h = mlp(p, f"{u}.f", torch.cat([*terms, torch.zeros_like(h)]), ends=False)
    found = Reference(model)([Example.of(graphs.path(1))])
    torch.testing.assert_close(found[0], mlp(p, "readout", h / 5, ends=False))


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("pooling", ["sum", "mean"])
def test_path_of_three_nodes_by_hand(pooling, residual):
    """Two blocks of one edge at one cut node, which is the root of the block-cut tree."""
    model = make_model(small_config(**BY_HAND | {"pooling": pooling, "residual": residual}))
    p = dict(model.named_parameters())
    h, name = p["node_encoder.constant"], "layers.0"
    f = torch.tensor([1.0, 1 / 64], dtype=torch.float64)

    def position(x):
        return torch.cat([(x * f).sin(), (x * f).cos()])

    entries = [torch.cat([h, position(k), position(k)]) for k in (0, 1)]  # u -> v, v -> u: kappa and position 1, 2
    h_spqr = mlp(p, f"{name}.tri_enc.outer", sum(mlp(p, f"{name}.tri_enc.inner", e) for e in entries))
    h_block = mlp(p, f"{name}.bi_enc.outer", h_spqr)
    h_cut = mlp(p, f"{name}.cut_enc.outer", h + 2 * (1 + mlp(p, f"{name}.cut_enc.inner", h_block)).log())
    total = torch.zeros_like(h)
    for degree, cut in ((1, torch.zeros_like(h)), (2, h_cut), (1, torch.zeros_like(h))):
        terms = [h + degree * h, 3 * h / 5, h + degree * h_spqr, h + degree * h_block]
        terms = [mlp(p, f"{name}.update.g{i}", x) for i, x in enumerate(terms, start=1)]
        total = total + mlp(p, f"{name}.update.f", torch.cat([*terms, cut]), ends=False) + (h if residual else 0)
    found = Reference(model).embed([Example.of(graphs.path(3))])
    torch.testing.assert_close(found[0], total / (5 if pooling == "sum" else 3))


def test_virtual_edge_by_hand():
    """C4 with a chord: a bond, whose walk has two virtual edges in both directions, and two triangles, whose walks have one each."""
    kind = Kind("none", "continuous")
    example = Example.of(Plain.of(4, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]), kind, 3)
    model = make_model(small_config(kind, **BY_HAND))
    ref = Reference(model)
    sample = ref.sample(example, "raise")
    entries = iter(ref.walk_entries(sample))
    seen = 0
    for c in sample.decomposition.spqr_nodes:
        for edge in c.walk_edges:
            e, last = next(entries)[8:].split((8, 9))
            assert last[-1] == (edge is None)
            assert (edge is None) == (not e.any())
            seen += edge is None
    assert seen == 2 * 2 + 2 * 1


def relative(a, b):
    return float(((a - b).abs().amax(1) / b.abs().amax(1).clamp(min=1)).max())


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_invariant(kind):
    rng = np.random.default_rng(0)
    ref = Reference(make_model(small_config(kind)))
    examples = [Example.of(g, kind, i) for i, g in enumerate(planar_zoo()[:60:4])]
    with torch.no_grad():
        expected = ref.embed(examples)
        assert relative(ref.embed([e.shuffled(rng) for e in examples]), expected) < 1e-12
        assert relative(torch.cat([ref.embed([e]) for e in examples]), expected) < 1e-12


def test_invariant_where_parts_are_not_planar():
    rng = np.random.default_rng(0)
    ref = Reference(make_model(small_config()))
    examples = [Example.of(g, NO_FEATURES) for g in nasty()[75:115]]
    with torch.no_grad():
        expected = ref.embed(examples, "set")
        assert relative(ref.embed([e.shuffled(rng) for e in examples], "set"), expected) < 1e-12
