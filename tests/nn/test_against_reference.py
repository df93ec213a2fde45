"""The fast model against the slow reference, in float64: outputs to 1e-10, gradients of all parameters to 1e-8.

Differences are relative to scale: to the largest output (at least 1), and to the largest entry of a parameter's gradient (at least
a thousandth of the largest of all gradients: what is zero but for rounding has no scale).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import graphs
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from plain import Plain
from strategies import any_planar, seeds
from torch import Tensor

from planegraph.nn import Categorical
from planegraph.nn.mlp import MLP

from .examples import KINDS, NO_FEATURES, Example, Kind, corner_cases, nasty, planar_zoo
from .models import make_model, pack, small_config
from .reference import Reference

OUTPUT, GRADIENT = 1e-10, 1e-8
PLAIN, EDGES, DARTS = Kind("categorical"), Kind("categorical", "categorical"), Kind("continuous", "continuous", darts=True)
TERMS = ("neighbours", "readout", "triconnected", "biconnected", "cut")


def only(*terms: str) -> dict[str, bool]:
    return {term: term in terms for term in TERMS}


ABLATIONS = (
    [{term: False} for term in TERMS]
    + [only(term) for term in TERMS if term != "readout"]
    + [only("neighbours", "readout"), only("triconnected", "cut")]
)
OPTIONS = [
    {"norm": "none"},
    {"residual": False},
    {"norm": "none", "residual": False},
    {"residual": False, "layers": 5},
    {"pooling": "mean"},
    {"pooling": "mean", "graph_scale": 3, "norm": "none"},
    {"graph_scale": 0.5},
    {"graph_scale": 8, "norm": "none"},
    {"norm_momentum": 0.02},
    {"layers": 1},
    {"layers": 5},
    {"layers": 4, "hidden": 5, "pos_dim": 2},
    {"hidden": 37, "pos_dim": 10},
    {"hidden": 1, "outputs": 1},
]


def show(options: dict) -> str:
    return ",".join(f"{name}={value}" for name, value in options.items())


def examples_of(kind: Kind, count: int, start: int = 0) -> list[Example]:
    """A part of the zoo, spread over all families; different for different starts."""
    zoo = planar_zoo()
    step = len(zoo) // count
    return [Example.of(zoo[i], kind, seed=i) for i in range(start % step, len(zoo), step)]


def gradients(model: torch.nn.Module, outputs: Tensor) -> dict[str, Tensor]:
    """Of a fixed random combination of the outputs; zero where a parameter has no part in them."""
    weights = torch.randn(outputs.shape, generator=torch.Generator().manual_seed(1), dtype=outputs.dtype)
    names, parameters = zip(*model.named_parameters(), strict=True)
    found = torch.autograd.grad((weights * outputs).sum(), parameters, allow_unused=True)
    return {n: torch.zeros_like(p) if g is None else g for n, p, g in zip(names, parameters, found, strict=True)}


def assert_same(model: torch.nn.Module, examples: Sequence[Example], on_nonplanar: str = "raise") -> None:
    slow = Reference(model)(examples, on_nonplanar)  # first: in training mode the fast model moves its running statistics
    fast = model(pack(examples, on_nonplanar=on_nonplanar)[:])
    assert fast.shape == slow.shape
    assert torch.isfinite(slow).all()
    difference = (fast - slow).abs().amax(1) / slow.abs().max().clamp(min=1)
    worst = int(difference.argmax())
    assert difference[worst] <= OUTPUT, f"outputs differ by {difference[worst]:.2g} on {examples[worst]}"
    wanted = gradients(model, slow)
    largest = max(float(g.abs().max()) for g in wanted.values() if g.numel())
    for name, found in gradients(model, fast).items():
        scale = max(float(wanted[name].abs().max()), 1e-3 * largest)
        assert (found - wanted[name]).abs().max() <= GRADIENT * scale, f"gradient of {name}"


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_all_families(kind):
    """The whole zoo, each graph with one kind of features."""
    examples = examples_of(kind, len(planar_zoo()) // len(KINDS), start=KINDS.index(kind))
    assert_same(make_model(small_config(kind)), examples)


@pytest.mark.parametrize("kind", [PLAIN, EDGES, DARTS], ids=str)
def test_one_graph_at_a_time(kind):
    model = make_model(small_config(kind))
    for example in examples_of(kind, 20, start=3):
        assert_same(model, [example])


@pytest.mark.parametrize("kind", [PLAIN, EDGES, DARTS], ids=str)
def test_corner_cases(kind):
    model = make_model(small_config(kind))
    examples = [Example.of(g, kind, i) for i, g in enumerate(corner_cases())]
    assert_same(model, examples)
    for example in examples:
        assert_same(model, [example])


@pytest.mark.parametrize("kind", [PLAIN, EDGES, DARTS], ids=str)
def test_planar_subgraphs(kind):
    """The edges that a planar subgraph leaves out pass messages, and are in no walk."""
    plain = [*graphs.nonplanar().values(), *corner_cases()]
    examples = [Example.of(g, kind, i) for i, g in enumerate(plain)]
    packed = pack(examples, on_nonplanar="subgraph")
    packed.check()
    assert packed.nonplanar.tolist() == list(range(len(graphs.nonplanar())))
    assert_same(make_model(small_config(kind)), examples, "subgraph")


@pytest.mark.parametrize("options", ABLATIONS, ids=show)
@pytest.mark.parametrize("kind", [NO_FEATURES, DARTS], ids=str)
def test_ablations(options, kind):
    assert_same(make_model(small_config(kind, **options)), examples_of(kind, 10, start=5))


def test_the_readout_alone():
    """It reads no edges, so the model has no edge features."""
    assert_same(make_model(small_config(PLAIN, **only("readout"))), examples_of(PLAIN, 10, start=5))


@pytest.mark.parametrize("options", OPTIONS, ids=show)
def test_options(options):
    assert_same(make_model(small_config(EDGES, **options)), examples_of(EDGES, 10, start=7))


STATISTICS = [
    {},
    {"residual": False},
    {"hidden": 6, "pos_dim": 6},
    {"graph_scale": 8, "layers": 3},
    {"pooling": "mean"},
    {"cut": False},
]


@pytest.mark.parametrize("options", STATISTICS, ids=show)
@pytest.mark.parametrize("kind", [PLAIN, EDGES, DARTS], ids=str)
def test_batch_statistics(options, kind):
    """Training mode: batch norms use the rows of all graphs of the batch, and nothing else."""
    model = make_model(small_config(kind, **options)).train()
    assert_same(model, examples_of(kind, 10, start=9))


@pytest.mark.parametrize("kind", [PLAIN, EDGES], ids=str)
def test_large_messages(kind):
    """Weights of the recursions so large that the logarithm is far from the identity."""
    model = make_model(small_config(kind))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if ".bi_enc." in name or ".cut_enc." in name:
                weight *= 4
    assert_same(model, examples_of(kind, 20, start=11))


@pytest.mark.parametrize("kind", [PLAIN, EDGES], ids=str)
def test_a_bias_that_is_left_out_would_change_nothing(kind):
    """Batch norm takes it away with the mean. Without batch norm both maps of an MLP have one."""
    model = make_model(small_config(kind)).train()
    batch = pack(examples_of(kind, 20, start=3))[:]
    before, without = model(batch), 0
    for m in model.modules():
        if isinstance(m, MLP):
            assert (m.first[0].bias is None) == (len(m.norms) > 0)
            assert (m.last.bias is None) == (len(m.norms) == 2)
            for linear in (m.first[0], m.last):
                if linear.bias is None:
                    linear.bias, without = torch.nn.Parameter(torch.randn(linear.outputs, dtype=torch.float64)), without + 1
    torch.testing.assert_close(model(batch), before, rtol=1e-9, atol=1e-9)
    assert without == 2 * (11 + 2 * (kind == EDGES))  # per layer: TriEnc 4, g1, g3, g4 and g5 2 each, f 1
    for m in make_model(small_config(kind, norm="none")).modules():
        assert not isinstance(m, MLP) or (m.first[0].bias is not None and m.last.bias is not None)


@pytest.mark.parametrize("momentum", [0.1, 0.02])
@pytest.mark.parametrize("kind", [PLAIN, EDGES], ids=str)
def test_running_statistics(kind, momentum):
    """As torch's batch norm keeps them: a share of the new, with the unbiased variance."""
    model = make_model(small_config(kind, norm_momentum=momentum)).train()
    before = {name: value.clone() for name, value in model.named_buffers()}
    examples = examples_of(kind, 20, start=2)
    reference = Reference(model)
    with torch.no_grad():
        reference(examples)
        model(pack(examples)[:])
    assert before.keys() >= {f"{name}.running_{what}" for name in reference.seen for what in ("mean", "var")}
    for name, value in model.named_buffers():
        norm, _, what = name.rpartition(".running_")
        rows = reference.seen.get(norm)
        wanted = before[name]
        if rows is not None:
            wanted = (1 - momentum) * wanted + momentum * (rows.mean(0) if what == "mean" else rows.var(0))
        torch.testing.assert_close(value, wanted, rtol=1e-10, atol=1e-10, msg=lambda _, name=name: name)


@pytest.mark.parametrize("kind", [PLAIN, EDGES], ids=str)
def test_running_statistics_of_a_single_row(kind):
    """A graph of one node: a mean, but no variance; no walk at all: neither."""
    model = make_model(small_config(kind, layers=1)).train()
    before = {name: value.clone() for name, value in model.named_buffers()}
    assert_same(model, [Example.of(Plain.of(1, []), kind)])
    for name, value in model.named_buffers():
        nodes = ".g1." in name or ".g3." in name or ".g4." in name or ".f." in name
        assert torch.equal(value, before[name]) != (nodes and name.endswith("running_mean")), name


@pytest.mark.parametrize("kind", [NO_FEATURES, DARTS], ids=str)
def test_parts_that_are_not_planar(kind):
    examples = [Example.of(g, kind, i) for i, g in enumerate(nasty()[60:130:2])]
    assert_same(make_model(small_config(kind)), examples, "set")


@given(any_planar(), st.sampled_from(KINDS), st.sampled_from([{}, *ABLATIONS, *OPTIONS]), seeds)
@settings(max_examples=60)
def test_random_graphs_and_options(g, kind, options, seed):
    assert_same(make_model(small_config(kind, **options), seed), [Example.of(g, kind, seed)])


def test_node_embeddings():
    model, examples = make_model(small_config(EDGES)), examples_of(EDGES, 20)
    wanted = [h for graph in Reference(model).node_embeddings(examples)[-1] for h in graph]
    torch.testing.assert_close(model.node_embeddings(pack(examples)[:]), torch.stack(wanted), rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", [PLAIN, DARTS], ids=str)
def test_single_precision(kind):
    """The same numbers in float32, to its precision."""
    examples, batch = examples_of(kind, 40), pack(examples_of(kind, 40))[:]
    model = make_model(small_config(kind))
    with torch.no_grad():
        slow = Reference(model)(examples)
        fast = model.float()(batch)
    assert fast.dtype == torch.float32
    assert float((fast - slow).abs().max() / slow.abs().max()) < 1e-5


@pytest.mark.parametrize("sizes", [(3, 2), (3, 2000)], ids=str)
def test_many_categories(sizes):
    """Small and large embedding tables are read in different ways."""
    config = replace(small_config(EDGES), node_features=Categorical(sizes), edge_features=Categorical((1500, 3)))
    assert_same(make_model(config), examples_of(EDGES, 10))
