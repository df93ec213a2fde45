"""Two processes are one with the doubled batch."""

from __future__ import annotations

import socket
import subprocess
import sys

import numpy as np
import pytest
import torch
from forked import Forked

from planegraph.errors import PlanegraphError
from planegraph.processes import first_process, process_count, process_rank
from planegraph.runs.log import read_log
from planegraph.train import train
from planegraph.train.environment import joined, resolve_device

from .ddp_worker import GRAPHS, settings
from .tasks import regression


def start_two(*arguments: str) -> None:
    """Two processes in the environment that torchrun gives them."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    both = [Forked("train.ddp_worker", *arguments, env=shared | {"RANK": str(k), "LOCAL_RANK": str(k)}) for k in range(2)]
    for process in both:
        errors = process.communicate(120)[1]
        assert process.returncode == 0, errors


def test_a_folder_in_the_way_is_named_once(tmp_path):
    """Under torchrun: all processes end, the first by the usual exit code, and it says why."""
    (tmp_path / "result.json").write_text("{}")
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "planegraph"]
    command = [sys.executable, *launch, "train", "p3r", "--device", "cpu", "--out", str(tmp_path)]
    run = subprocess.run(command, timeout=120, capture_output=True, text=True)
    assert run.returncode != 0
    assert run.stderr.count("already holds a run") == 1
    assert "exitcode  : 2 " in run.stderr


def test_statistics_of_norms_are_those_of_all(tmp_path):
    """Both processes have the same weights, statistics and averages of both after an epoch, whose graphs were different ones."""
    start_two(str(tmp_path), "statistics")
    a, b = (np.load(tmp_path / f"{rank}.npz") for rank in (0, 1))
    for name in ("running", "average", "running_average"):
        assert len(a[name]) > 0
        np.testing.assert_allclose(a[name], b[name], rtol=1e-12, err_msg=name)
    assert np.abs(a["running"] - a["running_average"]).max() > 1e-3
    threads = "".join((tmp_path / f"{rank}.threads").read_text() for rank in (0, 1))
    assert "gloo" not in threads  # threads of the process group that live when the process ends may take it down


def test_each_process_drops_values_of_its_own(tmp_path):
    """The masks of two processes agree as often as chance has it; after resuming from the one checkpoint each has its own again."""
    start_two(str(tmp_path), "dropout")
    start_two(str(tmp_path), "resumed")
    first, second = (np.load(tmp_path / f"trained{rank}.npz") for rank in (0, 1))
    masks = [name for name in first if name.startswith("mask")]
    assert len(masks) == 2
    np.testing.assert_array_equal(first["weights"], second["weights"])
    chance = 0.3**2 + 0.7**2
    for name in masks:
        alike = (first[name] == second[name]).mean()
        assert abs(alike - chance) < 5 * np.sqrt(chance * (1 - chance) / first[name].size)
    for rank, trained in enumerate((first, second)):
        resumed = np.load(tmp_path / f"resumed{rank}.npz")
        for name in trained:
            np.testing.assert_array_equal(resumed[name], trained[name], err_msg=f"{name} of process {rank}")


@pytest.mark.parametrize("environment", [{}, {"RANK": "1"}, {"WORLD_SIZE": "2"}, {"RANK": "0", "WORLD_SIZE": "1"}])
def test_a_process_that_is_alone_is_the_first(monkeypatch, environment):
    """What writes files and what speaks is the same process, whatever is left in the environment."""
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with joined(torch.device("cpu")) as world:
        assert (world.size, world.rank) == (process_count(), process_rank()) == (1, 0)
        assert world.first is first_process() is True


def test_one_of_several_processes(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "3")
    for rank in range(3):
        monkeypatch.setenv("RANK", str(rank))
        assert (process_count(), process_rank(), first_process()) == (3, rank, rank == 0)


def test_cuda_is_the_gpu_of_the_process(monkeypatch):
    """A plain ``cuda`` under torchrun names one GPU for each process; a GPU with its number is that one."""
    current = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", current.append)
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    assert resolve_device("cuda") == torch.device("cuda")
    assert resolve_device(None) == torch.device("cuda:0")
    monkeypatch.setenv("LOCAL_RANK", "1")
    for name in ("cuda", torch.device("cuda"), None):
        assert resolve_device(name) == torch.device("cuda:1") == current.pop()
    assert [resolve_device(name) for name in ("cuda:0", "cpu")] == [torch.device("cuda:0"), torch.device("cpu")]
    monkeypatch.setenv("LOCAL_RANK", "2")
    with pytest.raises(PlanegraphError, match=r"process 2 of this machine, counted from 0, has no GPU: there are 2"):
        resolve_device("cuda")


def test_two_processes_are_one_with_the_doubled_batch(tmp_path):
    start_two(str(tmp_path / "two"))
    train(regression(GRAPHS, loss="rmse"), settings(10), tmp_path / "one", device="cpu")
    two, one = (read_log(tmp_path / name / "log.jsonl") for name in ("two", "one"))
    assert len(two) == len(one) == 8
    for a, b in zip(two, one, strict=True):
        assert (a["epoch"], a["seed"], a["best_epoch"]) == (b["epoch"], b["seed"], b["best_epoch"])
        for name in ("loss", "rate", "val", "val_loss", "best"):
            np.testing.assert_allclose(a[name], b[name], rtol=1e-9, err_msg=name)
