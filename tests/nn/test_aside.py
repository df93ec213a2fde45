"""Gradients of weights aside: who waits for whom, with streams that only write down what is asked of them. tests/train has it on a GPU."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
import torch

from planegraph.nn.ops import aside as module
from planegraph.nn.ops.aside import aside, gradients_aside


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
    monkeypatch.setattr(module, "_stream", lambda device: side)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device=None: chain)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: nullcontext())
    return waits


FORK, JOIN = ("side", "chain"), ("chain", "side")
CUDA = torch.device("cuda")


def test_on_a_cpu_it_is_computed_at_once():
    with gradients_aside(torch.device("cpu")):
        assert aside(lambda: 3, [torch.zeros(2)]) == 3
        assert module._now is None


def test_gradients_wait_for_what_they_read_and_the_end_for_them(waits):
    with gradients_aside(CUDA):
        assert aside(lambda: "first", [torch.zeros(2)]) == "first"
        assert aside(lambda: "second", [torch.zeros(2), torch.zeros(3)]) == "second"
        assert waits == [FORK, FORK]
    assert waits == [FORK, FORK, JOIN]
    assert module._now is None


def test_a_weight_that_is_used_twice(waits):
    """PyTorch adds its gradients up in the chain, which must wait for both."""
    weight = torch.zeros(2)
    with gradients_aside(CUDA):
        aside(lambda: 1, [weight])
        aside(lambda: 2, [torch.zeros(2), weight])
        assert waits == [FORK, FORK, JOIN]


def test_nothing_aside_is_not_waited_for(waits):
    """A stream that took no part in a capture must not be waited for in it."""
    with gradients_aside(CUDA):
        pass
    assert waits == []


def test_what_is_read_stays_in_memory(waits):
    read = torch.zeros(4)
    with gradients_aside(CUDA):
        aside(lambda: 1, [torch.zeros(2)], read)
        assert any(kept is read for kept in module._now.kept)


def test_it_ends_with_an_error_too(waits):
    with pytest.raises(RuntimeError, match="no"), gradients_aside(CUDA):
        raise RuntimeError("no")
    assert module._now is None
