"""Threads in the core while the process forks or ends; see torture/processes.py, which goes on for longer."""

from __future__ import annotations

import os
import subprocess
import sys

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


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory")
def test_a_thread_that_runs_out_of_memory_ends_in_a_memory_error():
    program = """
import resource, sys
from pathlib import Path
import planegraph as pg
batch = pg.GraphBatch.from_graphs([pg.families.path(3)] * 300_000)
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[1]), resource.RLIM_INFINITY))
for _ in range(12):
    try:
        pg.decompose_batch(batch, 3)
    except MemoryError:
        print("MemoryError")
"""
    for limit in (40, 60):
        ended = subprocess.run([sys.executable, "-c", program, str(limit << 20)], capture_output=True, text=True, timeout=60)
        assert (ended.returncode, ended.stdout.split()) == (0, ["MemoryError"] * 12), ended.stderr
