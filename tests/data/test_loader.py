"""The loader: order, sharding, prefetching, early stops, errors, static shapes that grow."""

from __future__ import annotations

import copy
import gc
import pickle
import random
import threading
import time
from itertools import pairwise

import maps
import numpy as np
import pytest

torch = pytest.importorskip("torch")

import planegraph as pg  # noqa: E402
from planegraph.data import Layout, PackedDataset, PackedLoader  # noqa: E402
from planegraph.data.needs import Needs  # noqa: E402


def dataset(count: int, largest: int = 15) -> PackedDataset:
    made = [maps.planar(random.Random(k).randrange(largest), 0.6, random.Random(k)) for k in range(count)]
    return PackedDataset.from_graphs([g.build() for g in made], y=np.arange(count, dtype=np.float32), threads=1)


DS = dataset(103)


def ids_of(loader: PackedLoader) -> list[list[int]]:
    return [batch.graph_ids.tolist() for batch in loader]


def loader_threads() -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t.name == "planegraph-loader"]


@pytest.fixture(autouse=True)
def _no_thread_is_left_behind():
    yield
    if loader_threads():
        gc.collect()
    assert loader_threads() == []


# ---- order ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prefetch", [0, 1, 2, 7])
@pytest.mark.parametrize("pad", [None, True])
def test_every_graph_once_in_order(prefetch, pad):
    loader = PackedLoader(DS, batch_size=10, prefetch=prefetch, pad=pad)
    batches = list(loader)
    assert len(batches) == len(loader) == 11
    assert [i for b in batches for i in b.graph_ids.tolist()] == list(range(103))
    assert [b.num_graphs for b in batches] == [10] * 10 + [3]
    for batch in batches:
        real = slice(0, batch.num_graphs)
        assert batch.y[real].tolist() == batch.graph_ids.tolist()
        plain = DS[batch.graph_ids]
        assert torch.equal(batch.counts, plain.counts)
        if pad is None:
            assert torch.equal(batch.index, plain.index)


def test_order_depends_on_seed_and_epoch_alone():
    a = PackedLoader(DS, batch_size=10, shuffle=True, seed=3)
    first, second = ids_of(a), ids_of(a)
    assert first != second
    for epoch in (first, second):
        assert sorted(i for part in epoch for i in part) == list(range(103))
    b = PackedLoader(DS, batch_size=10, shuffle=True, seed=3, prefetch=0, pad=True)
    assert [ids_of(b), ids_of(b)] == [first, second]
    b.set_epoch(1)
    assert ids_of(b) == second
    assert b.epoch == 2
    assert ids_of(PackedLoader(DS, batch_size=10, shuffle=True, seed=4)) != first
    assert ids_of(PackedLoader(DS, batch_size=10, seed=3)) == ids_of(PackedLoader(DS, batch_size=10, seed=5))


def test_two_iterations_at_once():
    loader = PackedLoader(DS, batch_size=10, shuffle=True)
    pairs = [(a.graph_ids.tolist(), b.graph_ids.tolist()) for a, b in zip(loader, loader, strict=True)]
    again = PackedLoader(DS, batch_size=10, shuffle=True)
    assert pairs == list(zip(ids_of(again), ids_of(again), strict=True))


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("num_replicas", [1, 2, 3, 8, 103])
@pytest.mark.parametrize("shuffle", [False, True])
def test_shares(num_replicas, drop_last, shuffle):
    size = 10 if num_replicas < 10 else 1
    ranks = [
        PackedLoader(DS, size, shuffle, seed=1, drop_last=drop_last, num_replicas=num_replicas, rank=r, prefetch=0)
        for r in range(num_replicas)
    ]
    for _ in range(2):
        shares = [ids_of(loader) for loader in ranks]
        assert {len(s) for s in shares} == {len(loader) for loader in ranks} == {len(ranks[0])}
        assert len({tuple(len(part) for part in s) for s in shares}) == 1
        taken = [i for s in shares for part in s for i in part]
        twice = len(taken) - len(set(taken))
        if drop_last:
            assert twice == 0
            assert 103 - len(taken) < num_replicas * size
            assert all(len(part) == size for s in shares for part in s)
        else:
            assert set(taken) == set(range(103))
            assert twice == -103 % num_replicas


def test_more_replicas_than_graphs():
    few = DS.subset([0, 1, 2])
    shares = [ids_of(PackedLoader(few, 2, num_replicas=8, rank=r, prefetch=0)) for r in range(8)]
    assert [len(s) for s in shares] == [1] * 8
    assert {i for s in shares for part in s for i in part} == {0, 1, 2}


# ---- the thread -------------------------------------------------------------------------------------------------------------------


def test_early_stop_ends_the_thread():
    loader = PackedLoader(DS, batch_size=2, prefetch=3)
    for k, _ in enumerate(loader):
        if k == 2:
            assert len(loader_threads()) == 1
            break
    gc.collect()
    assert loader_threads() == []
    unused = iter(loader)
    assert len(loader_threads()) == 1
    del unused
    gc.collect()
    assert loader_threads() == []


def test_the_end_ends_the_thread():
    epoch = iter(PackedLoader(DS, batch_size=50))
    assert len(list(epoch)) == 3
    assert loader_threads() == []
    assert list(epoch) == []


class Counting:
    """A collator that notes when it is called, and fails at one batch."""

    def __init__(self, inner, fail_at: int | None = None) -> None:
        self.inner, self.fail_at, self.calls = inner, fail_at, []

    def __call__(self, ids, capacity=None, pin=False):
        self.calls.append(threading.current_thread())
        if len(self.calls) - 1 == self.fail_at:
            raise KeyError("no such thing")
        return self.inner(ids, capacity, pin)


def wait_until(condition) -> None:
    for _ in range(500):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("waited in vain")


def test_prefetch_is_bounded_and_off_the_main_thread():
    loader = PackedLoader(DS, batch_size=5, prefetch=3)
    counting = loader._collator = Counting(loader._collator)
    epoch = iter(loader)
    wait_until(lambda: len(counting.calls) == 3)
    time.sleep(0.05)
    assert len(counting.calls) == 3
    next(epoch)
    wait_until(lambda: len(counting.calls) == 4)
    assert threading.current_thread() not in counting.calls
    del epoch


def test_without_prefetch_nothing_happens_ahead():
    loader = PackedLoader(DS, batch_size=5, prefetch=0)
    counting = loader._collator = Counting(loader._collator)
    epoch = iter(loader)
    assert counting.calls == []
    next(epoch)
    assert counting.calls == [threading.current_thread()]


@pytest.mark.parametrize("prefetch", [0, 1, 4])
def test_errors_reach_the_caller(prefetch):
    loader = PackedLoader(DS, batch_size=10, prefetch=prefetch)
    inner = loader._collator
    loader._collator = Counting(inner, fail_at=3)
    epoch = iter(loader)
    assert len([next(epoch) for _ in range(3)]) == 3
    with pytest.raises(KeyError, match="no such thing"):
        next(epoch)
    assert list(epoch) == []
    assert loader_threads() == []
    loader._collator = inner
    assert len(list(loader)) == 11  # and the loader still works


def test_damaged_tables_reach_the_caller():
    ds = dataset(40)
    ds.tables.walk_node.flags.writeable = True
    ds.tables.walk_node[ds.tables.walk_ptr[25] : ds.tables.walk_ptr[26]] = 99
    with pytest.raises(pg.FormatError, match="graph 25: walk_node"):
        list(PackedLoader(ds, batch_size=10))


# ---- static shapes ----------------------------------------------------------------------------------------------------------------


def test_static_shapes():
    loader = PackedLoader(DS, batch_size=16, shuffle=True, pad=True)
    assert loader.capacity == Needs(DS.tables, 0).likely(16)
    layouts = {batch.layout for _ in range(5) for batch in loader}
    assert layouts == {Layout(loader.capacity, loader._collator.rows_per_edge, True)}


@pytest.mark.parametrize("prefetch", [0, 3])
def test_capacity_grows(prefetch):
    small = DS.subset(np.argsort(np.diff(DS.tables.node_ptr), kind="stable"))  # the largest graphs come last
    tight = Needs(small.subset(range(20)).tables, 0).likely(5)
    loader = PackedLoader(small, batch_size=10, pad=tight, prefetch=prefetch)
    before, seen = loader.capacity, []
    for batch in loader:
        assert batch.layout.sizes == loader.capacity  # what was handed out, not what was collated ahead
        assert torch.equal(batch.counts, small[batch.graph_ids].counts)
        seen.append(loader.capacity)
    assert seen[0].graphs == 10
    assert before not in seen
    for a, b in pairwise(seen):
        assert all(getattr(a, name) <= getattr(b, name) for name in ("graphs", "nodes", "edges", "walks", "max_position"))
    assert len(set(seen)) < len(seen)  # it does not grow every time
    assert {batch.layout.sizes for batch in loader} == {loader.capacity} == {seen[-1]}


@pytest.mark.parametrize("prefetch", [0, 3])
def test_capacity_never_shrinks_with_two_iterations_at_once(prefetch):
    by_size = DS.subset(np.argsort(np.diff(DS.tables.node_ptr), kind="stable"))
    tight = Needs(by_size.subset(range(20)).tables, 0).likely(5)
    loader = PackedLoader(by_size, batch_size=10, pad=tight, prefetch=prefetch)
    ahead, behind = iter(loader), iter(loader)
    grown = [loader.capacity for _ in ahead][-1]
    assert grown != tight
    small = next(behind)
    assert small.layout.sizes != grown  # it keeps to its own
    assert loader.capacity == grown
    assert small.layout.sizes.maximum(grown) == grown
    for _ in behind:
        assert loader.capacity == grown
    assert {batch.layout.sizes for batch in loader} == {grown}


# ---- copies -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda loader: pickle.loads(pickle.dumps(loader))])
def test_copies(how):
    loader = PackedLoader(DS, batch_size=10, shuffle=True, seed=5, pad=True, device="cpu")
    loader.set_epoch(3)
    iter(loader)  # a thread that runs does no harm
    twin = how(loader)
    assert twin.epoch == loader.epoch == 4
    assert twin.capacity == loader.capacity
    for a, b in zip(loader, twin, strict=True):
        assert a.layout == b.layout
        assert torch.equal(a.index, b.index)
        assert torch.equal(a.y, b.y)
        assert a.graph_ids.tolist() == b.graph_ids.tolist()
    assert twin._collator.ds is twin.ds


def test_a_pickled_loader_holds_the_data_once():
    alone, with_loader = (len(pickle.dumps(value)) for value in (DS, PackedLoader(DS)))
    assert with_loader < alone + 2000


def test_devices():
    batch = next(iter(PackedLoader(DS, 4, device="meta")))
    assert batch.index.device.type == batch.y.device.type == "meta"
    assert next(iter(PackedLoader(DS, 4, device="cpu"))).index.device.type == "cpu"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("pad", [None, True])
def test_cuda(pad):
    host = list(PackedLoader(DS, 16, pad=pad))
    for a, b in zip(host, PackedLoader(DS, 16, pad=pad, device="cuda"), strict=True):
        assert b.index.is_cuda
        assert torch.equal(a.index, b.index.cpu())
        assert torch.equal(a.y, b.y.cpu())
    assert host[0].pin_memory().index.is_pinned()


# ---- bad input ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 0}, "batch_size must be an integer, at least 1; found 0"),
        ({"batch_size": 2.5}, "batch_size"),
        ({"batch_size": True}, "batch_size"),
        ({"prefetch": -1}, "prefetch"),
        ({"num_replicas": 0}, "num_replicas"),
        ({"num_replicas": 2, "rank": 2}, "rank must be below num_replicas, 2; found 2"),
        ({"rank": -1}, "rank"),
        ({"seed": -1}, "seed"),
        ({"batch_size": 104, "drop_last": True}, "drop_last would leave no batch"),
        ({"batch_size": 60, "num_replicas": 2, "drop_last": True}, "drop_last would leave no batch"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        PackedLoader(DS, **options)


def test_bad_dataset_pad_and_epoch():
    with pytest.raises(ValueError, match="no graphs"):
        PackedLoader(PackedDataset.from_graphs([]))
    with pytest.raises(TypeError, match="pad must be"):
        PackedLoader(DS, pad=3)
    with pytest.raises(ValueError, match="epoch"):
        PackedLoader(DS).set_epoch(-1)
    assert repr(PackedLoader(DS, 50, num_replicas=2)) == "PackedLoader(103 graphs, 2 batches of 50, rank 0 of 2)"
