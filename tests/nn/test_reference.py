"""The slow reference, checked by itself: against formulas written out by hand, under relabelling, and one graph at a time."""

from __future__ import annotations

import graphs
import numpy as np
import pytest
import torch

from .examples import KINDS, NO_FEATURES, Example, nasty, planar_zoo
from .models import make_model, small_config
from .reference import Reference

torch.set_num_threads(1)


def linear(p, name, x):
    return p[f"{name}.linears.0.weight"] @ x + p[f"{name}.linears.0.bias"]


def test_one_node_by_hand():
    model = make_model(small_config(layers=1, mlp_depth=1))
    p = dict(model.named_parameters())
    h, u = p["node_encoder.constant"], "layers.0.update"
    terms = [linear(p, f"{u}.g{i}", h) for i in (1, 2, 3, 4)]
    h = linear(p, f"{u}.f", torch.cat([*terms, torch.zeros_like(h)]))
    found = Reference(model)([Example.of(graphs.path(1))])
    torch.testing.assert_close(found[0], linear(p, "readout", h))


def test_path_of_three_nodes_by_hand():
    """Two blocks of one edge at one cut node, which is the root of the block-cut tree."""
    model = make_model(small_config(layers=1, mlp_depth=1))
    p = dict(model.named_parameters())
    h, name = p["node_encoder.constant"], "layers.0"
    f = torch.tensor([1.0, 1 / 64], dtype=torch.float64)

    def position(x):
        return torch.cat([(x * f).sin(), (x * f).cos()])

    entries = [torch.cat([h, position(k), position(k)]) for k in (0, 1)]  # u -> v, v -> u: kappa and position 1, 2
    hat = linear(p, f"{name}.tri_enc.outer", sum(linear(p, f"{name}.tri_enc.inner", e) for e in entries))
    tilde = linear(p, f"{name}.bi_enc.outer", hat)
    bar = linear(p, f"{name}.cut_enc.outer", h + 2 * linear(p, f"{name}.cut_enc.inner", tilde))
    total = torch.zeros_like(h)
    for degree, cut in ((1, torch.zeros_like(h)), (2, bar), (1, torch.zeros_like(h))):
        terms = [h + degree * h, 3 * h, h + degree * hat, h + degree * tilde]
        terms = [linear(p, f"{name}.update.g{i}", x) for i, x in enumerate(terms, start=1)]
        total = total + linear(p, f"{name}.update.f", torch.cat([*terms, cut]))
    found = Reference(model).embed([Example.of(graphs.path(3))])
    torch.testing.assert_close(found[0], total)


def relative(a, b):
    return float(((a - b).abs().amax(1) / b.abs().amax(1).clamp(min=1)).max())


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_invariant(kind):
    rng = np.random.default_rng(0)
    ref = Reference(make_model(small_config(kind)))
    examples = [Example.of(g, kind, i) for i, g in enumerate(planar_zoo()[:60:2])]
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
