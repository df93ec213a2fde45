"""One thread for small batches on a CPU, unless somebody has chosen; the number is there again afterwards."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch

from planegraph.train import environment
from planegraph.train.environment import cpu_threads

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def four_cores(monkeypatch):
    before = torch.get_num_threads()
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(environment, "core_count", lambda: 4)
    yield
    torch.set_num_threads(before)


def within(device: torch.device = CPU, nodes: float = 1_500) -> int:
    with cpu_threads(device, nodes):
        return torch.get_num_threads()


@pytest.mark.parametrize("default", [4, 2])
def test_pytorchs_own_number_becomes_one(default):
    torch.set_num_threads(default)
    assert within() == 1
    assert torch.get_num_threads() == default


def test_large_batches_have_all_threads():
    torch.set_num_threads(4)
    assert within(nodes=25_000) == 4


def test_a_number_of_the_user_stays():
    torch.set_num_threads(3)
    assert within() == 3


@pytest.mark.parametrize("name", ["OMP_NUM_THREADS", "MKL_NUM_THREADS"])
def test_the_environment_is_respected(name, monkeypatch):
    monkeypatch.setenv(name, "4")
    torch.set_num_threads(4)
    assert within() == 4


def test_a_gpu_changes_nothing():
    torch.set_num_threads(4)
    assert within(torch.device("cuda")) == 4


def test_the_number_is_there_again_after_an_error():
    torch.set_num_threads(4)
    with pytest.raises(KeyError), cpu_threads(CPU, 1_500):
        raise KeyError
    assert torch.get_num_threads() == 4
