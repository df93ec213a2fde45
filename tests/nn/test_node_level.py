"""Models with an output for each node: exactly equivariant, equal within orbits, different between them. Orbits are nauty's."""

from __future__ import annotations

import math

import exhaustive
import numpy as np
import pytest
import torch
from oracles import nauty_automorphisms

import planegraph as pg
from planegraph import InvalidGraphError
from planegraph.data import PackedDataset, PlanarBatch
from planegraph.data.batch import collate
from planegraph.errors import FormatError
from planegraph.graphs.formats.graph6 import from_graph6
from planegraph.nn import GIN, BasePlanE, PlanEConfig

from .examples import NO_FEATURES, Example, Kind, nasty
from .models import make_model, pack, small_config

KINDS = (NO_FEATURES, Kind("categorical"), Kind("categorical", "categorical", darts=True))
GAP = 1e-8


def outputs(model, dataset: PackedDataset) -> list[np.ndarray]:
    """The outputs of the nodes of each graph."""
    with torch.no_grad():
        return np.split(model(dataset[:]).numpy(), dataset.tables.node_ptr[1:-1])


def untrained(**options) -> BasePlanE:
    torch.manual_seed(0)
    return BasePlanE(PlanEConfig(hidden=32, layers=4, outputs=8, level="node", norm="none", **options)).double().eval()


def planar(kind: Kind, count: int = 400) -> list[Example]:
    return [Example.of(g, kind, seed=i) for i, g in enumerate(nasty(count)) if pg.is_planar(pg.Graph(g.n, g.edges))]


def closest(z: np.ndarray, orbits: list[int]) -> float:
    """The smallest relative difference between the outputs of two orbits."""
    rows = z[np.unique(orbits, return_index=True)[1]]
    if len(rows) < 2:
        return math.inf
    apart = np.abs(rows[:, None] - rows).max(-1)
    return float(apart[~np.eye(len(rows), dtype=bool)].min() / np.abs(z).max())


@pytest.mark.parametrize("options", [{}, {"orbit_numbers": True}], ids=["layers", "numbers"])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_renumbered_copies_give_the_permuted_outputs(kind, options):
    examples = planar(kind)
    model = make_model(small_config(kind, level="node", layers=3, **options))
    expected = outputs(model, pack(examples).with_orbits())
    for seed in range(3):
        found = outputs(model, pack([e.shuffled(np.random.default_rng(seed)) for e in examples]).with_orbits())
        for e, wanted, z in zip(examples, expected, found, strict=True):
            went = np.random.default_rng(seed).permutation(e.n)  # what `shuffled` draws first
            assert np.abs(z[went] - wanted).max(initial=0) <= 1e-9 * max(np.abs(wanted).max(initial=0), 1), e


def test_nodes_of_one_orbit_have_equal_outputs():
    """Bit for bit, in single precision."""
    graphs = [g for n in range(1, 8) for g in exhaustive.connected_planar_graphs(n)]
    dataset = pack([Example.of(g) for g in graphs])
    model = make_model(small_config(level="node"), dtype=torch.float32)
    for g, z in zip(graphs, outputs(model, dataset.with_orbits()), strict=True):
        orbits = np.array(nauty_automorphisms(g)[2])
        assert (z == z[orbits]).all(), g  # nauty names an orbit by its first node


@pytest.mark.parametrize("text", ["EhmO", "GLXCIG"])
def test_embeddings_of_one_orbit_are_averaged(text):
    """Canonical walks choose between the two sides of these graphs, and the rows of their nodes differ by that."""
    dataset = PackedDataset.from_graphs([from_graph6(text)])
    model, orbits = make_model(small_config(layers=3)), dataset.with_orbits().orbits
    first = np.unique(orbits, return_index=True)[1][orbits]
    with torch.no_grad():
        raw, mean = (model.node_embeddings(ds[:]).numpy() for ds in (dataset, dataset.with_orbits()))
    assert np.abs(raw - raw[first]).max() > 1e-8
    assert (mean == mean[first]).all()
    assert np.allclose(mean[first], [raw[orbits == k].mean(0) for k in orbits], rtol=0, atol=1e-14)


def test_orbits_have_different_outputs():
    """All connected planar graphs of up to 7 nodes by their layers alone."""
    graphs = [g for n in range(1, 8) for g in exhaustive.connected_planar_graphs(n)]
    for g, z in zip(graphs, outputs(untrained(), pack([Example.of(g) for g in graphs]).with_orbits()), strict=True):
        assert closest(z, nauty_automorphisms(g)[2]) > GAP, g


def test_what_layers_leave_alike_orbit_numbers_distinguish():
    """In a regular rigid graph all nodes see the same, whether a symmetry exchanges them or not; but their orbits have numbers."""
    edges = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 5), (3, 5), (1, 6), (2, 6), (4, 6), (3, 7), (4, 7), (5, 7)]
    dataset = PackedDataset.from_graphs([pg.Graph(8, edges)]).with_orbits()
    assert len(np.unique(dataset.orbits)) > 1
    assert closest(outputs(untrained(), dataset)[0], dataset.orbits) < 1e-12
    assert closest(outputs(untrained(orbit_numbers=True), dataset)[0], dataset.orbits) > GAP


@pytest.mark.slow
def test_orbit_numbers_distinguish_all():
    """All 5,974 connected planar graphs on 8 nodes; the layers alone leave orbits alike in 14 of them."""
    graphs = exhaustive.connected_planar_graphs(8)
    dataset = pack([Example.of(g) for g in graphs]).with_orbits()
    for options, alike in (({}, 14), ({"orbit_numbers": True}, 0)):
        found = outputs(untrained(**options), dataset)
        assert sum(closest(z, nauty_automorphisms(g)[2]) <= GAP for g, z in zip(graphs, found, strict=True)) == alike


def test_labels_are_respected():
    star = pg.Graph(4, [(0, 1), (0, 2), (0, 3)], node_labels=[0, 1, 1, 2])
    dataset = PackedDataset.from_graphs([star]).with_orbits()
    centre, one, other, marked = dataset.orbits.tolist()
    assert one == other != marked != centre
    z = outputs(BasePlanE.for_data(dataset, hidden=8, level="node").eval(), dataset)[0]
    assert z[1] == z[2] != z[3]


def test_orbits_of_graphs_in_a_batch_stay_apart():
    """Each graph has the outputs that it has alone, in any order, repeated, padded, and as replicas."""
    dataset = pack(planar(NO_FEATURES, 60)).with_orbits()
    model = make_model(small_config(level="node"))
    ids = np.random.default_rng(0).permutation(np.repeat(np.arange(len(dataset)), 2))
    alone = outputs(model, dataset)
    wanted = np.concatenate([alone[i] for i in ids])
    capacity = dataset[ids].layout.sizes.padded()
    padded = collate(dataset, ids, capacity)
    with torch.no_grad():
        assert np.allclose(model(dataset[ids]).numpy(), wanted, rtol=0, atol=1e-12)
        assert np.allclose(model(padded).numpy()[: len(wanted)], wanted, rtol=0, atol=1e-12)
        stacked = BasePlanE.stack([model, model])(PlanarBatch.stack([padded, padded]))
        assert np.allclose(stacked[1].numpy()[: len(wanted)], wanted, rtol=0, atol=1e-12)


def test_gradients_pass_through_orbits():
    dataset = pack(planar(NO_FEATURES, 20)).with_orbits()
    model = make_model(small_config(level="node", hidden=2, layers=1))
    h = torch.randn(dataset.tables.size("node"), 2, dtype=torch.float64, requires_grad=True)
    s = model._layers(dataset[:])[1]
    assert torch.autograd.gradcheck(lambda x: s.node_orbit @ model._orbit_means(x, s), h)


def test_graphs_that_are_not_planar_have_single_orbits():
    k5 = pg.Graph(5, [(u, v) for u in range(5) for v in range(u)])
    dataset = PackedDataset.from_graphs([pg.families.path(3), k5, pg.families.cycle(3)], on_nonplanar="set").with_orbits()
    assert dataset.orbits.tolist()[3:] == [0, 1, 2, 3, 4, 0, 0, 0]


def test_orbits_are_kept(tmp_path):
    dataset = pack(planar(Kind("categorical", "categorical"), 60)).with_orbits()
    dataset.save(tmp_path / "graphs.safetensors")
    opened = PackedDataset.open(tmp_path / "graphs.safetensors")
    assert np.array_equal(opened.orbits, dataset.orbits)
    assert opened.with_orbits() is opened
    some = dataset.subset([5, 3])
    assert np.array_equal(some.orbits, some._with(orbits=None).with_orbits().orbits)


def test_refused():
    dataset = PackedDataset.from_graphs([pg.families.path(3)])
    model = BasePlanE(PlanEConfig(hidden=8, level="node"))
    with pytest.raises(InvalidGraphError, match=r"reads the orbits of the nodes, int32 of shape \(3,\).*has none.*with_orbits"):
        model(dataset[:])
    assert GIN(PlanEConfig(hidden=8, level="node"))(dataset[:]).shape == (3, 1)
    with pytest.raises(FormatError, match="orbits of graph 0 must be 0 to 2; found 3 at node 1"):
        dataset._with(orbits=np.array([0, 3, 0], np.int32))
    with pytest.raises(ValueError, match="descriptors are read beside"):
        PlanEConfig(level="node", descriptors=3)
    with pytest.raises(ValueError, match=r"level must be one of graph, node; found 'edge'"):
        PlanEConfig(level="edge")
    with pytest.raises(ValueError, match="orbit_numbers are read by models of level"):
        PlanEConfig(orbit_numbers=True)
    batch = dataset.with_orbits()[:]
    batch.attrs["node_orbit"] = torch.tensor([10**6, 0, -7], dtype=torch.int32)  # somebody's own: nothing is read out of bounds
    assert torch.isfinite(model.eval()(batch)).all()
