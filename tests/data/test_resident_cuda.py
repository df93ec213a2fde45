"""Collation on a GPU: bit for bit the batches of the core, by the kernel and by torch operations; captured, it waits for nothing.

Needs nothing but this package, PyTorch and a GPU.
"""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import planegraph as pg  # noqa: E402
from planegraph.data import Capacity, DoesNotFitError, PackedDataset, PlanarBatch  # noqa: E402
from planegraph.data.batch import Collator  # noqa: E402
from planegraph.data.device import resident  # noqa: E402
from planegraph.data.device.resident import ResidentDataset  # noqa: E402
from planegraph.data.layout import SECTION_NAMES  # noqa: E402
from planegraph.data.needs import Needs  # noqa: E402

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
WIDTH, TRIALS = 12, 3


def dataset(rows_per_edge: int) -> PackedDataset:
    """Trees, cycles, bonds, rigid and nested graphs, nodes alone and no node at all; features 0, 1 or 2 rows per edge."""
    f, rng = pg.families, np.random.default_rng(rows_per_edge)
    made = [f.path(5), f.star(9), f.cycle(7), f.k2n(5), f.wheel(6), f.ladder(6), f.nested_k4(5), f.cactus(30, seed=1)]
    made += [pg.Graph(3, []), pg.Graph(1, []), pg.Graph(0, [])]
    made += [f.shuffled(f.random_planar(int(rng.integers(3, 40)), 0.5, seed=k), k) for k in range(80)]
    batch = pg.GraphBatch.from_graphs(made)
    features = {"x": rng.integers(0, 9, (batch.num_nodes, 2)), "y": rng.random((len(made), 1)).astype(np.float32)}
    if rows_per_edge == 1:
        features["edge_attr"] = rng.integers(0, 9, (batch.num_edges, 3))
    if rows_per_edge == 2:
        features["dart_attr"] = rng.random((batch.num_edges, 2, 3)).astype(np.float32)
    return PackedDataset.from_arrays(batch, **features)


def choose(ds: PackedDataset, rng: np.random.Generator) -> list[np.ndarray]:
    return [rng.integers(0, len(ds), rng.integers(1, WIDTH + 1)) for _ in range(TRIALS)]


def capacity_for(ds: PackedDataset, steps: list[list[np.ndarray]]) -> Capacity:
    capacity, collator = Needs(ds.tables, 0).likely(WIDTH), Collator(ds)
    for ids in (ids for trials in steps for ids in trials):
        try:
            collator(ids, capacity)
        except DoesNotFitError as error:
            capacity = capacity.grow(error.layout)
    return capacity


def on_device(trials: list[np.ndarray]) -> torch.Tensor:
    return torch.tensor([[*ids, *[-1] * (WIDTH - len(ids))] for ids in trials], device="cuda")


def assert_same(found: PlanarBatch, ds: PackedDataset, trials: list[np.ndarray], capacity: Capacity) -> None:
    collator = Collator(ds)
    expected = PlanarBatch.stack([collator(ids, capacity) for ids in trials])
    assert found.layout == expected.layout
    for name in SECTION_NAMES:
        assert torch.equal(getattr(found, name).cpu(), getattr(expected, name)), name
    mine = found._tensors()
    for name, values in expected._tensors().items():
        assert torch.equal(mine[name].cpu(), values), name


@pytest.mark.parametrize("rows_per_edge", [0, 1, 2])
@pytest.mark.parametrize("kernel", [True, False], ids=["kernel", "torch"])
def test_same_as_the_core(rows_per_edge, kernel):
    ds, rng = dataset(rows_per_edge), np.random.default_rng(7)
    kept = ResidentDataset(ds, "cuda")
    if not kernel:
        kept.fill = resident.fill
    elif resident.triton_collate is None:
        pytest.skip("no Triton")
    steps = [choose(ds, rng) for _ in range(40)]
    capacity = capacity_for(ds, steps)
    for trials in steps:
        assert_same(kept.collate(on_device(trials), capacity), ds, trials, capacity)


def test_captured():
    """Captured once, replayed with other ids, and nothing is waited for."""
    ds, rng = dataset(2), np.random.default_rng(8)
    kept, steps = ResidentDataset(ds, "cuda"), [choose(ds, rng) for _ in range(20)]
    capacity, ids = capacity_for(ds, steps), on_device(steps[0])
    kept.collate(ids, capacity)
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    try:
        kept.collate(ids, capacity)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        batch = kept.collate(ids, capacity)
    for trials in steps:
        ids.copy_(on_device(trials))
        graph.replay()
        assert_same(batch, ds, trials, capacity)
