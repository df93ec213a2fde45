"""Gradients of weights aside: who waits for whom, with streams that only write down what is asked of them.

tests/train/test_train_cuda.py has it on a GPU."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
import torch

import planegraph as pg
from planegraph.data import PackedDataset, PlanarBatch
from planegraph.nn import GCN, GIN, GINE, BasePlanE, Categorical, PlanEConfig
from planegraph.nn.ops import aside as module
from planegraph.nn.ops.aside import gradients_aside


class Stream:
    """Writes down the waits: (who, for whom)."""

    def __init__(self, name: str, waits: list[tuple[str, str]]) -> None:
        self.name, self.waits, self.device = name, waits, torch.device("cuda")

    def wait_stream(self, other: Stream) -> None:
        self.waits.append((self.name, other.name))


@pytest.fixture
def waits(monkeypatch) -> list[tuple[str, str]]:
    """A captured step, as far as this module sees it."""
    waits: list[tuple[str, str]] = []
    chain, side = Stream("chain", waits), Stream("side", waits)
    monkeypatch.setattr(module, "_stream", lambda device, purpose: side)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device=None: chain)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: nullcontext())
    return waits


FORK, JOIN = ("side", "chain"), ("chain", "side")
CUDA = torch.device("cuda")


def test_on_a_cpu_it_is_computed_at_once():
    with gradients_aside(torch.device("cpu")):
        assert module.now() is None


def test_launches_wait_for_what_they_read_and_the_end_for_them(waits):
    with gradients_aside(CUDA):
        module.now().wait_and_keep(torch.zeros(1))
        module.now().launch(lambda: waits.append("first"))
        module.now().wait_and_keep(torch.zeros(1))
        module.now().waiting["a kind"] = lambda: waits.append("second")
        assert waits == [FORK, "first", FORK]
    assert waits == [FORK, "first", FORK, "second", JOIN]
    assert module.now() is None


def test_nothing_aside_is_not_waited_for(waits):
    """A stream that took no part in a capture must not be waited for in it."""
    with gradients_aside(CUDA):
        pass
    assert waits == []


def test_what_is_read_stays_in_memory(waits):
    read = torch.zeros(4)
    with gradients_aside(CUDA):
        module.now().wait_and_keep(read)
        assert any(kept is read for kept in module.now().kept)


def test_after_an_error_nothing_is_launched_and_nothing_waits_any_more(waits):
    def fail() -> None:
        module.now().wait_and_keep()
        module.now().waiting["a kind"] = lambda: waits.append("launched")
        module.now().launch(lambda: 1 / 0)

    with pytest.raises(ZeroDivisionError), gradients_aside(CUDA):
        fail()
    assert waits == [FORK, JOIN]
    assert module.now() is None


VIEWS = {
    "AccumulateGrad",
    "TBackward0",
    "TransposeBackward0",
    "UnsqueezeBackward0",
    "SqueezeBackward1",
    "ViewBackward0",
    "CatBackward0",
}


@pytest.mark.parametrize("replicas", [None, 2])
@pytest.mark.parametrize("cls", [BasePlanE, GCN, GIN, GINE])
def test_parameters_are_used_once_and_through_views_alone(cls, replicas):
    """Otherwise PyTorch would read a gradient in the chain, which does not wait for it."""
    graphs = pg.GraphBatch.from_graphs([pg.families.random_planar(12, 0.5, seed=1)])
    x, edge_attr = np.zeros((graphs.num_nodes, 2), np.int32), np.zeros((graphs.num_edges, 1), np.int32)
    dataset = PackedDataset.from_arrays(graphs, x=x, edge_attr=edge_attr)
    config = PlanEConfig(
        Categorical([3, 2]), Categorical([4]) if cls in (BasePlanE, GINE) else None, hidden=8, layers=2, features="ignore"
    )
    batch = dataset[:]
    out = cls(config, replicas=replicas)(batch if replicas is None else PlanarBatch.stack([batch] * replicas))
    readers, todo, seen = {}, [out.grad_fn], set()
    while todo:
        node = todo.pop()
        for below, _ in node.next_functions:
            if below is None:
                continue
            readers.setdefault(below, []).append(node)
            if below not in seen:
                seen.add(below)
                todo.append(below)
    leaves = [node for node in readers if node.name().endswith("AccumulateGrad")]
    assert len(leaves) >= 10
    for leaf in leaves:
        node = leaf
        while node.name().rpartition("::")[2] in VIEWS:
            assert len(readers[node]) == 1, [reader.name() for reader in readers[node]]
            (node,) = readers[node]


def test_what_is_written_stays_in_memory(waits):
    """Where nobody keeps the gradient, as that of a frozen weight, its memory must not be used again before it is written."""

    def launch() -> None:
        pass

    with gradients_aside(CUDA):
        module.now().launch(launch)
        assert launch in module.now().kept
