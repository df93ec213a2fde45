"""Training where the device keeps the dataset: the same batches, and so the same curve bit for bit, as from the host."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from planegraph.runs.checkpoint import CHECKPOINT, load_checkpoint
from planegraph.runs.trials import trials_of
from planegraph.train import batches, train
from planegraph.train.batches import Batches, GraphIds, join
from planegraph.train.environment import World

from .tasks import regression, small
from .test_resume import assert_same

OPTIONS = {"epochs": 4, "seeds": 2, "clip": 0.5, "ema": 0.9, "schedule": {"kind": "plateau", "patience": 1}}
CPU = torch.device("cpu")


@pytest.fixture
def resident(monkeypatch):
    monkeypatch.setattr(batches, "_RESIDENT", ("cpu", "cuda"))


def host_and_resident(monkeypatch, *args) -> list[Batches]:
    made = []
    for kinds in ((), ("cpu", "cuda")):
        with monkeypatch.context() as patch:
            patch.setattr(batches, "_RESIDENT", kinds)
            made.append(Batches(*args))
    return made


def assert_equal_steps(a: Batches, b: Batches, epoch: int, first: int, device: torch.device) -> int:
    count = 0
    for one, other in zip(a.training(epoch, first), b.training(epoch, first), strict=True):
        assert isinstance(other, GraphIds)
        assert not isinstance(one, GraphIds)
        one, other = join(one, device), join(other, device)
        assert one.layout == other.layout
        mine, theirs = one._tensors(), other._tensors()
        assert mine.keys() == theirs.keys()
        for name, values in mine.items():
            assert values.dtype == theirs[name].dtype, name
            assert torch.equal(values, theirs[name]), name
        assert a.capacity == b.capacity
        count += 1
    return count


@pytest.mark.parametrize("seeds", [1, 3])
@pytest.mark.parametrize("world", [World(), World(rank=1, size=3), World(rank=2, size=3)], ids=["alone", "1 of 3", "2 of 3"])
def test_the_same_batches(monkeypatch, seeds, world):
    """Also where the capacity grows, and where a process has no graph left in the last step."""
    task = regression(60, edges=True)
    task.splits["train"] = task.splits["train"][:31]
    trials = trials_of(task, small(seeds=seeds).train)
    host, kept = host_and_resident(monkeypatch, task.dataset, trials, 5, True, CPU, world)
    assert kept.resident is not None
    assert assert_equal_steps(host, kept, 0, 0, CPU) == host.steps
    tight = next(iter(host.training(1)))[0].layout.sizes
    tight = type(tight)(*(tuple(w // 2 for w in v) if isinstance(v, tuple) else v // 2 for v in tight.as_tuple()))
    for one in (host, kept):
        one.capacity = tight
    assert_equal_steps(host, kept, 1, 0, CPU)
    assert host.capacity != tight
    assert_equal_steps(host, kept, 2, 1, CPU)
    for one in (host, kept):
        one.close()


def test_a_graph_that_stands_in_does_not_count(resident):
    task = regression()
    task.splits["train"] = task.splits["train"][:10]
    trials = trials_of(task, small(seeds=2).train)
    made = Batches(task.dataset, trials, 3, True, CPU, World(rank=2, size=3))
    *_, last = made.training(0)
    assert join(last, CPU).attrs["weight"].sum() == 0
    assert join(last, CPU).counts[:, 0].tolist() == [1, 1]


@pytest.mark.parametrize("edges", [False, True])
def test_the_same_curve(tmp_path, monkeypatch, edges):
    task, settings = regression(edges=edges), small(**OPTIONS)
    train(task, settings, tmp_path / "host", device="cpu")
    monkeypatch.setattr(batches, "_RESIDENT", ("cpu",))
    train(task, settings, tmp_path / "resident", device="cpu")
    assert_same(tmp_path / "host", tmp_path / "resident")


def test_resumed_from_the_other(tmp_path, monkeypatch):
    """A run may begin with the dataset on the host and be resumed on the device."""
    task, settings = regression(), small(**OPTIONS)
    train(task, settings, tmp_path / "whole", device="cpu")
    train(task, settings.with_overrides(["train.epochs=2"]), tmp_path / "parts", device="cpu")
    monkeypatch.setattr(batches, "_RESIDENT", ("cpu",))
    train(task, settings, tmp_path / "parts", resume=True, device="cpu")
    assert_same(tmp_path / "whole", tmp_path / "parts")
    assert load_checkpoint(tmp_path / "parts" / CHECKPOINT)[1]["capacity"] is not None


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("seeds", [1, 2])
def test_captured_from_the_device_is_captured_from_the_host(tmp_path, monkeypatch, seeds):
    from .test_train_cuda import curve

    task, settings = regression(edges=True), small(**OPTIONS | {"seeds": seeds, "precision": "float64"})
    train(task, settings, tmp_path / "resident", device="cuda")
    monkeypatch.setattr(batches, "_RESIDENT", ())
    train(task, settings, tmp_path / "host", device="cuda")
    np.testing.assert_allclose(curve(tmp_path / "resident"), curve(tmp_path / "host"), rtol=1e-9)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_the_same_batches_on_a_gpu(monkeypatch):
    task = regression(60, edges=True)
    trials = trials_of(task, small(seeds=3).train)
    device = torch.device("cuda")
    host, kept = host_and_resident(monkeypatch, task.dataset, trials, 5, True, device, World())
    assert assert_equal_steps(host, kept, 0, 0, device) == host.steps
    for one in (host, kept):
        one.close()
