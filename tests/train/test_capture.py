"""What a captured step does around its CUDA graphs, on a CPU: a stand-in for a graph runs again what was captured."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from types import SimpleNamespace

import pytest
import torch

from planegraph.train import batches, stack, train
from planegraph.train.capture import CapturedStep

from .tasks import regression, small
from .test_resume import assert_same


class Replayed:
    """Like a CUDA graph, reads and writes the tensors of its capture."""

    def __init__(self) -> None:
        self.run, self.out = None, None

    def replay(self) -> None:
        out = self.run()
        if out is not None:
            self.out.copy_(out)


class OnHost(CapturedStep):
    """Warms up and captures as on a GPU, and counts what it captures."""

    captures, last = 0, None

    def _captured(self, run):
        OnHost.last = self
        graph, out = super()._captured(run)
        graph.run, graph.out = run, out
        OnHost.captures += 1
        return graph, out


@contextmanager
def capturing(graph, pool, capture_error_mode):
    """On a GPU, nothing runs in here."""
    kept = {name: value.clone() for name, value in OnHost.last.tensors().items()}
    yield
    for name, value in OnHost.last.tensors().items():
        value.copy_(kept[name])


@pytest.fixture
def no_gpu(monkeypatch):
    """The calls of torch.cuda that capture.py makes."""
    stream = SimpleNamespace(wait_stream=lambda other: None)
    event = SimpleNamespace(record=lambda: None, synchronize=lambda: None)
    made = {"graph_pool_handle": tuple, "CUDAGraph": Replayed, "Event": lambda: event, "Stream": lambda device: stream}
    made |= {"current_stream": lambda device: stream, "stream": lambda which: nullcontext()}
    made["graph"] = capturing
    for name, value in made.items():
        monkeypatch.setattr(torch.cuda, name, value)
    monkeypatch.setattr(stack, "TrainingStep", OnHost)
    monkeypatch.setattr(OnHost, "captures", 0)


@pytest.mark.parametrize("kinds", [(), ("cpu",)], ids=["host", "resident"])
def test_a_captured_run_takes_the_steps_of_an_eager_one(tmp_path, monkeypatch, request, kinds):
    """Warming up leaves no trace; new graphs are copied over those of the capture, on whichever side batches are made."""
    task, settings = regression(60, edges=True), small(seeds=2, clip=0.5, ema=0.9).with_overrides(["model.norm=batch"])
    monkeypatch.setattr(batches, "_RESIDENT", kinds)
    train(task, settings, tmp_path / "eager", device="cpu")
    request.getfixturevalue("no_gpu")
    train(task, settings, tmp_path / "captured", device="cpu")
    assert_same(tmp_path / "eager", tmp_path / "captured")
    assert OnHost.captures == 3  # the step, and predictions for validation and test
