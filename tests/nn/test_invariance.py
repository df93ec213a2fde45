"""Embeddings do not depend on the numbering: 2,000 graphs that try to break it, five relabelled copies of each.

A copy has its nodes, edges and the directions of its edges in another order, and another place in the batch. Differences are relative
to the largest entry of a graph's embedding. In training mode batch norms read the whole batch, so all graphs are relabelled together.
"""

from __future__ import annotations

from functools import cache

import graphs
import numpy as np
import pytest
import torch
from oracles import nauty_certificate

from planegraph.data import PackedDataset

from .examples import NO_FEATURES, Example, Kind, nasty
from .models import DTYPES, make_model, pack, small_config

COPIES = 5
TOLERANCE = {torch.float32: 1e-4, torch.float64: 1e-9}
KINDS = (
    NO_FEATURES,
    Kind("categorical", "categorical"),
    Kind("categorical", "categorical", darts=True),
    Kind("continuous", "continuous", darts=True),
)
GRAPHS = 2000
PER_KIND = GRAPHS // len(KINDS)


@cache
def relabelled(kind: Kind):
    """The graphs of one kind as (examples, batch, [(order, batch of the copies in that order), ...])."""
    first = PER_KIND * KINDS.index(kind)
    named = nasty(GRAPHS)[:120] if first else ()  # the named families with every kind of features
    plain = [*named, *nasty(GRAPHS)[first : first + PER_KIND]]
    examples = [Example.of(g, kind, seed=i) for i, g in enumerate(plain)]
    rng = np.random.default_rng(KINDS.index(kind))
    copies = []
    for _ in range(COPIES):
        order = rng.permutation(len(examples))
        copies.append((order, pack([examples[i].shuffled(rng) for i in order], on_nonplanar="set")[:]))
    return examples, pack(examples, on_nonplanar="set")[:], copies


def assert_same(examples, expected: torch.Tensor, found: torch.Tensor, order: np.ndarray) -> None:
    back = torch.from_numpy(np.argsort(order))
    difference = (found[back] - expected).abs().amax(1) / expected.abs().amax(1).clamp(min=torch.finfo(expected.dtype).tiny)
    assert torch.isfinite(expected).all()
    worst = int(difference.argmax())
    limit = TOLERANCE[expected.dtype]
    assert difference[worst] <= limit, (
        f"{int((difference > limit).sum())} graphs, worst by {difference[worst]:.2g}: {examples[worst]}"
    )


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("norm", "training"), [("none", False), ("batch", False), ("batch", True)])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_invariant(kind, norm, training, dtype):
    examples, batch, copies = relabelled(kind)
    model = make_model(small_config(kind, hidden=16, layers=3, pos_dim=8, norm=norm), dtype=dtype).train(training)
    with torch.no_grad():
        expected = model.embed(batch)
        for order, copy in copies:
            assert_same(examples, expected, model.embed(copy), order)


def test_node_embeddings_as_multisets():
    """Walks are canonical up to automorphisms, so nodes that one exchanges may exchange their rows, but no more than that."""
    examples, batch, copies = relabelled(NO_FEATURES)
    model = make_model(small_config(hidden=16, layers=3, pos_dim=8))
    along = torch.randn(16, dtype=torch.float64, generator=torch.Generator().manual_seed(0))

    def sorted_rows(b) -> list[torch.Tensor]:
        with torch.no_grad():
            values = model.node_embeddings(b) @ along
        return [part.sort().values for part in values.split(b.node_ptr.diff().tolist())]

    expected = sorted_rows(batch)
    for order, copy in copies:
        for i, found in zip(order, sorted_rows(copy), strict=True):
            scale = max(float(expected[i].abs().max()), 1e-300) if len(found) else 1.0
            assert torch.allclose(found, expected[i], rtol=0, atol=1e-8 * scale), str(examples[i])


def test_there_are_enough_graphs():
    assert len(set(map(nauty_certificate, nasty(GRAPHS)))) == GRAPHS
    assert sum(len(relabelled(kind)[0]) for kind in KINDS) >= GRAPHS


def test_this_test_can_fail():
    """Features that the model reads but the walks ignored: the numbering shows."""
    kind = Kind("categorical")
    example = Example.of(graphs.prism(5), kind, seed=1)
    rng = np.random.default_rng(1)
    data = [example.to_pyg(), *(example.shuffled(rng).to_pyg(rng) for _ in range(COPIES))]
    model = make_model(small_config(kind))
    found = {}
    for labels in ((), ("x",)):
        batch = PackedDataset.from_pyg(data, node_attrs=labels)[:]
        batch.fingerprint = None  # by which the model would refuse it
        with torch.no_grad():
            z = model.embed(batch)
        found[labels] = float((z - z[0]).abs().max() / z[0].abs().max())
    assert found[("x",)] < 1e-9 < 1e-4 < found[()]
