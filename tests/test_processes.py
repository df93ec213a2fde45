"""Threads in the core while the process forks or ends; see torture/processes.py, which goes on for longer."""

from __future__ import annotations

import os

import pytest
from torture.processes import attack

pytestmark = pytest.mark.skipif(os.name == "nt", reason="forks")


@pytest.mark.parametrize("call", ["decompose", "codes", "planar", "empty"])
def test_daemon_threads_do_not_abort_the_end(call):
    assert [attack("daemon", call, seed) for seed in range(2)] == [None] * 2


def test_daemon_threads_that_collate_do_not_abort_the_end():
    pytest.importorskip("torch")
    assert attack("daemon", "collate", 0) is None


@pytest.mark.parametrize("call", ["codes", "empty"])
def test_a_fork_while_threads_are_in_the_core(call):
    assert [attack("fork", call, seed) for seed in range(2)] == [None] * 2
