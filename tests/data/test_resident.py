"""Collation where the data is: bit for bit the batches of the core, by torch operations and by the kernel, on the CPU."""

from __future__ import annotations

import os
import random

import graphs
import maps
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain import Plain
from strategies import planar_graphs

torch = pytest.importorskip("torch")

from collating import roomy, stand_in, tables_of  # noqa: E402

from planegraph.data import Capacity, DoesNotFitError, Layout, PackedDataset, PlanarBatch  # noqa: E402
from planegraph.data.batch import Collator  # noqa: E402
from planegraph.data.device import resident  # noqa: E402
from planegraph.data.device.resident import ResidentDataset, make_resident  # noqa: E402
from planegraph.data.layout import SECTION_NAMES, SECTIONS, UNIT_OF  # noqa: E402
from planegraph.data.needs import Needs  # noqa: E402
from planegraph.data.runs import SPACES  # noqa: E402

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1" and resident.triton_collate is not None


def on_device(ids: list[list[int]], width: int, kept: ResidentDataset) -> torch.Tensor:
    return torch.tensor([[*trial, *[-1] * (width - len(trial))] for trial in ids], dtype=torch.int64, device=kept.device)


def assert_same(found: PlanarBatch, expected: PlanarBatch) -> None:
    assert found.layout == expected.layout
    for name in SECTION_NAMES:
        assert torch.equal(getattr(found, name).cpu(), getattr(expected, name)), name
    mine, theirs = found._tensors(), expected._tensors()
    assert mine.keys() == theirs.keys()
    for name, values in theirs.items():
        assert mine[name].dtype == values.dtype, name
        assert torch.equal(mine[name].cpu(), values), name
    assert found.fingerprint == expected.fingerprint


def check(ds, kept: ResidentDataset, trials: list[list[int]], rng: random.Random) -> None:
    """Some trials as a stack, and the first one alone, padded to a capacity with random room."""
    collator = Collator(ds)
    capacity = roomy(ds.tables, trials[0], rng)
    for ids in trials:
        assert kept.sizes(ids) == collator(ids).layout
        capacity = capacity.maximum(roomy(ds.tables, ids, rng))
    expected = [collator(ids, capacity) for ids in trials]
    width = rng.randrange(max(map(len, trials)), capacity.graphs + 1)
    assert_same(kept.collate(on_device(trials, width, kept), capacity), PlanarBatch.stack(expected))
    assert_same(kept.collate(on_device(trials[:1], width, kept)[0], capacity), expected[0])


def nasty() -> list[Plain]:
    made = list(graphs.families().values())
    made += [maps.planar(random.Random(k).randrange(1, 30), 0.6, random.Random(k)) for k in range(60)]
    return [*made, Plain.of(0, []), Plain.of(1, []), Plain.of(5, []), Plain.of(6, [(0, 1), (3, 4), (4, 5)])]


def choose(count: int, rng: random.Random, trials: int = 3, most: int = 12) -> list[list[int]]:
    return [[rng.randrange(count) for _ in range(rng.randrange(most))] for _ in range(trials)]


# ---- the sections -----------------------------------------------------------------------------------------------------------


def test_the_spaces_are_those_of_the_core():
    assert set(SPACES) == set(UNIT_OF)
    assert {name for section in SECTIONS.values() for name in (section.space, section.target) if name} == set(SPACES)


@pytest.mark.parametrize("rows_per_edge", [0, 1, 2])
def test_many_random_batches(rows_per_edge):
    made, rng = nasty(), random.Random(rows_per_edge)
    ds = stand_in(tables_of(made), rows_per_edge)
    kept = ResidentDataset(ds, "cpu")
    for _ in range(150):
        check(ds, kept, choose(len(made), rng), rng)


@given(st.lists(planar_graphs(14), min_size=1, max_size=8), st.integers(0, 2), st.integers(0, 2**32))
def test_random_planar_graphs(made, rows_per_edge, seed):
    rng = random.Random(seed)
    ds = stand_in(tables_of(made), rows_per_edge)
    check(ds, ResidentDataset(ds, "cpu"), choose(len(made), rng), rng)


def test_nonplanar_sets():
    made = list(graphs.nonplanar().values()) + [maps.host_of_lookalikes(random.Random(seed)) for seed in range(5)]
    tables, rng = tables_of(made, "set"), random.Random(0)
    assert tables.spqr_set.any()
    ds = stand_in(tables, 2)
    kept = ResidentDataset(ds, "cpu")
    for _ in range(50):
        check(ds, kept, choose(len(made), rng), rng)


def test_no_trees_at_all():
    ds = stand_in(tables_of([Plain.of(0, []), Plain.of(3, []), Plain.of(1, [])]), 1)
    kept, rng = ResidentDataset(ds, "cpu"), random.Random(0)
    for _ in range(20):
        check(ds, kept, choose(3, rng), rng)
    with pytest.raises(ValueError, match="no graphs to keep"):
        ResidentDataset(stand_in(tables_of([])), "cpu")


def test_chunks_agree(monkeypatch):
    """However many graphs are prepared at a time, the tables are the same."""
    ds = stand_in(tables_of(nasty()), 2)
    whole = ResidentDataset(ds, "cpu")
    monkeypatch.setattr("planegraph.data.device.localize._CHUNK", 7)
    parts = ResidentDataset(ds, "cpu")
    assert all(map(torch.equal, whole.data, parts.data))


def test_zinc(data_root):
    import workloads

    ds = PackedDataset.from_graphs(workloads.zinc(data_root, 500), threads=1)
    kept, collator, capacity = ResidentDataset(ds, "cpu"), Collator(ds), Needs(ds.tables, 0).likely(64)
    rng = np.random.default_rng(0)
    for _ in range(100):
        trials = [rng.choice(500, size, replace=False).tolist() for size in rng.integers(1, 65, 2)]
        found = kept.collate(on_device(trials, 64, kept), capacity)
        assert_same(found, PlanarBatch.stack([collator(ids, capacity) for ids in trials]))


@pytest.mark.skipif(not INTERPRETED, reason="needs Triton, with TRITON_INTERPRET=1: nn/test_kernels.py runs it")
@pytest.mark.parametrize("rows_per_edge", [0, 1, 2])
def test_the_kernel_interpreted(rows_per_edge):
    made, rng = nasty()[::4], random.Random(10 + rows_per_edge)
    ds = stand_in(tables_of(made), rows_per_edge)
    kept = ResidentDataset(ds, "cpu")
    kept.fill = resident.triton_collate.fill
    check(ds, kept, choose(len(made), rng, most=6), rng)


# ---- what fits --------------------------------------------------------------------------------------------------------------


def narrower(capacity: Capacity, rng: random.Random) -> Capacity:
    """Something, or nothing, a little smaller."""
    values = [
        tuple(max(0, w - rng.choice([0, 0, 0, 1, 2])) for w in v)
        if isinstance(v, tuple)
        else max(0, v - rng.choice([0] * 6 + [1, 3]))
        for v in capacity.as_tuple()
    ]
    return Capacity(*values)


def refusal(call, *args) -> tuple[str, Layout] | None:
    """What a misfit is told, or None."""
    try:
        call(*args)
    except DoesNotFitError as error:
        return str(error), error.layout
    return None


def test_fits_as_the_core_says():
    made, rng = nasty(), random.Random(5)
    ds = stand_in(tables_of(made), 1)
    kept, collator = ResidentDataset(ds, "cpu"), Collator(ds)
    outcomes = [0, 0]
    for _ in range(1500):
        ids = choose(len(made), rng)[0]
        capacity = narrower(roomy(ds.tables, rng.choice([ids, ids[1:]]), rng), rng)
        found, expected = refusal(kept.check, ids, capacity), refusal(collator, ids, capacity)
        assert found == expected
        assert kept.fits(ids, capacity) == (found is None)
        outcomes[found is None] += 1
    assert min(outcomes) > 200, outcomes


def test_what_does_not_fit_hurts_nothing():
    """Without the check the batch is nonsense of the right shape."""
    made = nasty()
    ds = stand_in(tables_of(made), 2)
    kept = ResidentDataset(ds, "cpu")
    capacity = Capacity(6, 9, 9, 9, 9, 9, 3, spqr=(2,), blocks=(2, 3), cuts=(1,))
    for _ in range(20):
        batch = kept.collate(torch.randint(0, len(made), (2, 6)), capacity)
        assert batch.index.shape == (2, Layout(capacity, 2, True).length)


def test_bad_ids():
    ds = stand_in(tables_of([graphs.path(3)] * 4))
    kept, capacity = ResidentDataset(ds, "cpu"), Needs(ds.tables, 0).likely(2)
    for ids in ([4], [-1], [0, 2**40]):
        with pytest.raises(IndexError, match="of a dataset of 4"):
            kept.check(ids, capacity)
    for ids in (torch.zeros(3, dtype=torch.int64), torch.zeros(2, dtype=torch.int32), torch.zeros(1, 1, 1, dtype=torch.int64)):
        with pytest.raises(ValueError, match="ids must be int64"):
            kept.collate(ids, capacity)


def test_too_large_stays_on_the_host(monkeypatch):
    ds = stand_in(tables_of(nasty()), 1)
    assert make_resident(ds, torch.device("cpu")) is not None
    monkeypatch.setattr("planegraph.data.device.prepare._MOST_COLUMNS", 20)
    assert make_resident(ds, torch.device("cpu")) is None
    monkeypatch.undo()
    kept = make_resident(ds, torch.device("cpu"))
    enough = 5 * (sum(t.numel() * t.element_size() for t in kept.data) + 4 * 10**5)
    for free, found in ((0, False), (enough, True), (enough // 100, False)):
        monkeypatch.setattr(resident, "_free_memory", lambda device, free=free: free)
        assert (make_resident(ds, torch.device("cpu")) is not None) == found
