"""The paper's theorem, seen on untrained models: ceil(log2 n) + 1 layers tell all planar graphs apart.

Weights are as first drawn, in float64. The gap of two graphs is |a - b| / max(|a|, |b|) of their embeddings, and must exceed 1e-8:
rounding makes gaps of 1e-15, so that nothing counts as distinguished that is not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import exhaustive
import numpy as np
import pytest
import torch
from closest import closest_pair
from plain import Plain

import planegraph as pg
from planegraph.nn import GIN, BasePlanE, Categorical, PlanEConfig

from .examples import Example
from .models import pack
from .pairs import PLANAR_BREC, Pair, brec_pairs, exp_pairs_of_the_paper, graphsat_pairs

GAP = 1e-8
SAME = 1e-12  # rounding
BATCH = 4096


def layers_for(n: int) -> int:
    return math.ceil(math.log2(n)) + 1


def untrained(n: int, colours: int = 0, cls: type = BasePlanE, hidden: int = 32) -> torch.nn.Module:
    """A model for graphs of up to n nodes, with its weights as they are first drawn."""
    torch.manual_seed(0)
    nodes = Categorical((colours,)) if colours else None
    return cls(PlanEConfig(node_features=nodes, hidden=hidden, layers=layers_for(n), pos_dim=16)).double().eval()


def embeddings(model: torch.nn.Module, graphs: Sequence[Plain]) -> np.ndarray:
    examples = [Example.of(g) for g in graphs]
    if graphs[0].node_labels is not None:
        examples = [replace(e, x=np.array(g.node_labels).reshape(-1, 1)) for e, g in zip(examples, graphs, strict=True)]
    dataset = pack(examples)
    with torch.no_grad():
        rows = [model.embed(dataset[begin : begin + BATCH]) for begin in range(0, len(graphs), BATCH)]
    return torch.cat(rows).numpy()


def gaps(model: torch.nn.Module, pairs: Sequence[Pair]) -> np.ndarray:
    a, b = (embeddings(model, graphs) for graphs in zip(*pairs, strict=True))
    norms = [np.linalg.norm(x, axis=1) for x in (a, b)]
    assert np.isfinite(norms).all()
    return np.linalg.norm(a - b, axis=1) / np.maximum(*norms)


def assert_all_different(model: torch.nn.Module, graphs: Sequence[Plain]) -> None:
    found = closest_pair(embeddings(model, graphs))
    assert found.gap > GAP, f"{graphs[found.i]} and {graphs[found.j]} are only {found.gap:.2g} apart"


def connected(most: int) -> list[Plain]:
    return [g for n in range(1, most + 1) for g in exhaustive.connected_planar_graphs(n)]


def test_all_connected_planar_graphs():
    graphs = connected(8)
    assert len(graphs) == sum(exhaustive.COUNTS[:8]) == 6749
    assert_all_different(untrained(8), graphs)


def test_all_two_coloured_connected_planar_graphs():
    """One of each class of colourings; nauty says which are the same."""
    classes: dict[tuple, Plain] = {}
    for n in range(1, 6):
        for g in exhaustive.coloured(n):
            classes.setdefault(exhaustive.nauty_certificate(g), g)
    assert_all_different(untrained(5, colours=2), list(classes.values()))


@pytest.mark.slow
def test_all_connected_planar_graphs_on_nine_nodes():
    graphs = exhaustive.connected_planar_graphs(9)
    assert len(graphs) == exhaustive.COUNTS[8] == 71885
    assert_all_different(untrained(9), graphs)


def largest(pairs: Sequence[Pair]) -> int:
    return max(g.n for pair in pairs for g in pair)


@pytest.fixture(scope="module", params=["GNN-RNI", "the paper"])
def exp_pairs(request, data_root) -> list[Pair]:
    pairs = graphsat_pairs(data_root, "EXP") if request.param == "GNN-RNI" else exp_pairs_of_the_paper(data_root)
    assert len(pairs) == 600
    return pairs


def test_exp(exp_pairs):
    assert gaps(untrained(largest(exp_pairs), colours=2), exp_pairs).min() > GAP


def test_gin_tells_no_exp_pair_apart(exp_pairs):
    assert gaps(untrained(largest(exp_pairs), colours=2, cls=GIN), exp_pairs).max() < SAME


def test_planar_cexp(data_root):
    pairs = [(g, h) for g, h in graphsat_pairs(data_root, "CEXP") if pg.is_planar(g.build()) and pg.is_planar(h.build())]
    assert len(pairs) == 467
    assert gaps(untrained(largest(pairs), colours=2), pairs).min() > GAP


@pytest.mark.parametrize("part", PLANAR_BREC)
def test_planar_brec(part, data_root):
    pairs = brec_pairs(data_root, part)
    assert gaps(untrained(largest(pairs)), pairs).min() > GAP


def test_there_are_31_planar_brec_pairs():
    assert sum(map(len, PLANAR_BREC.values())) == 31


def test_this_test_can_fail():
    """Without the terms of the decomposition what is left is 1-WL, which does not tell C6 from two triangles."""
    config = PlanEConfig(hidden=16, layers=4, pos_dim=8, triconnected=False, biconnected=False, cut=False)
    hexagon = Plain.of(6, [(i, (i + 1) % 6) for i in range(6)])
    triangles = Plain.of(6, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)])
    found = gaps(BasePlanE(config).double().eval(), [(hexagon, triangles)])
    assert found.max() < SAME
    assert gaps(untrained(6), [(hexagon, triangles)]).min() > GAP
