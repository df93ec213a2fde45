"""Work in other processes: in order, with errors passed on, and nobody left behind whatever happens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from planegraph import workers
from planegraph.errors import FormatError, WorkerError
from planegraph.workers import ordered_map

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Workers start after the first chunk."""
    monkeypatch.setattr(workers, "_PATIENCE", 0.0)


def slow_first(k: int) -> tuple[int, int]:
    """Later chunks are done earlier; also says in which process."""
    time.sleep(0.2 if k in (1, 2) else 0)
    return k * k, os.getpid()


def fail(k: int) -> int:
    if k == 5:
        raise FormatError(f"chunk {k} is odd")
    return k


def die(k: int) -> int:
    if k == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return k


def children(pid: int | None = None) -> set[int]:
    """The processes whose parent this is and that have not ended, but for those of Python: for resources, and for forks of other tests."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                state, parent = entry.joinpath("stat").read_text().rpartition(")")[2].split()[:2]
                command = entry.joinpath("cmdline").read_bytes()
            except OSError:
                continue
            if (
                int(parent) == (pid or os.getpid())
                and not any(name in command for name in (b"resource_tracker", b"forkserver"))
                and state != "Z"
            ):
                found.add(int(entry.name))
    return found


def wait_until_gone(pids: set[int], seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while any(alive(pid) for pid in pids) and time.monotonic() < end:
        time.sleep(0.05)
    return not any(alive(pid) for pid in pids)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_results_are_in_order_and_from_other_processes():
    found = list(ordered_map(slow_first, ((-k, k) for k in range(12)), 2))
    assert [(kept, square) for kept, (square, _) in found] == [(-k, k * k) for k in range(12)]
    assert found[0][1][1] == os.getpid()  # the first chunk is done here
    assert os.getpid() not in {pid for _, (_, pid) in found[1:]}
    assert not children()


def test_one_worker_and_little_work_start_no_process(monkeypatch):
    assert {pid for _, (_, pid) in ordered_map(slow_first, ((k, k) for k in range(4)), 1)} == {os.getpid()}
    monkeypatch.setattr(workers, "_PATIENCE", 60.0)
    assert {pid for _, (_, pid) in ordered_map(slow_first, ((k, k) for k in range(4)), 2)} == {os.getpid()}


def test_only_so_many_chunks_are_read_ahead():
    taken = []
    with closing(ordered_map(abs, ((k, k) for k in range(100) if taken.append(k) is None), 2)) as results:
        for k, _ in zip(range(8), results, strict=False):
            assert len(taken) <= k + 1 + 2 * 2 + 1
    assert not children()


def test_an_error_of_a_worker_is_raised_here():
    with pytest.raises(FormatError, match="chunk 5 is odd"):
        list(ordered_map(fail, ((k, k) for k in range(40)), 2))
    assert not children()


def test_a_killed_worker_is_named():
    with pytest.raises(WorkerError, match="one of 2 worker processes was killed"):
        list(ordered_map(die, ((k, k) for k in range(40)), 2))
    assert not children()


def test_there_must_be_a_worker():
    with pytest.raises(ValueError, match="one worker at least; found 0"):
        list(ordered_map(abs, [], 0))


PROGRAM = """
import time
from planegraph import workers

if __name__ == "__main__":
    workers._PATIENCE = 0.0
    for k, _ in workers.ordered_map(time.sleep, ((k, 0.05) for k in range(10_000)), 2):
        print(k, flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_their_parent(tmp_path, number):
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, str(tmp_path / "program.py")]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes, start_new_session=True) as process:
        while process.stdout.readline() != "8\n":
            assert process.poll() is None, process.stderr.read()
        there = children(process.pid)
        assert there
        if number == signal.SIGINT:
            os.killpg(process.pid, number)  # a terminal's Ctrl-C reaches the workers, too
        else:
            process.send_signal(number)
        process.wait(20)
        assert wait_until_gone(there)
        if number == signal.SIGINT:  # the parent's traceback alone
            assert process.stderr.read().count("Traceback") == 1
