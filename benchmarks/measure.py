"""Measuring: CPU time, medians over repeats, peak memory, and the machine."""

from __future__ import annotations

import datetime
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path


def cpu_seconds(call: Callable[[], object], repeats: int = 5, budget: float = 12.0) -> float:
    """Median CPU time of this thread for one call; fewer repeats (at least one) if they would take longer than the budget."""
    return _median(call, time.thread_time, repeats, budget)


def wall_seconds(call: Callable[[], object], repeats: int = 5, budget: float = 12.0) -> float:
    """Median wall time of one call, measured like :func:`cpu_seconds`."""
    return _median(call, time.perf_counter, repeats, budget)


def _median(call: Callable[[], object], clock: Callable[[], float], repeats: int, budget: float) -> float:
    times: list[float] = []
    while len(times) < repeats and (not times or sum(times) + times[-1] < budget):
        start = clock()
        call()
        times.append(clock() - start)
    return statistics.median(times)


def by_turns(
    calls: Mapping[str, Callable[[], object]], repeats: int = 15, warm_up: int = 2, clock: Callable[[], float] = time.process_time
) -> dict[str, float]:
    """Median time of each call, by default CPU time of the process. Calls alternate, A B A B ..., so slow spells meet all."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for k in range(warm_up + repeats):
        for name, call in calls.items():
            start = clock()
            call()
            if k >= warm_up:
                times[name].append(clock() - start)
    return {name: statistics.median(found) for name, found in times.items()}


def peak_bytes() -> int:
    """The most memory this process has had so far. On Linux VmHWM: ru_maxrss of a child begins at what its parent had."""
    status = Path("/proc/self/status")
    for line in status.read_text().splitlines() if status.exists() else ():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def machine() -> dict[str, str]:
    """The machine, commit and date of a measurement."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        cpu = next((line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")), cpu)
    root = Path(__file__).resolve().parent.parent
    commit = subprocess.run(["git", "-C", root, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return {
        "cpu": cpu,
        "system": platform.platform(),
        "python": platform.python_version(),
        "commit": commit.stdout.strip() or "unknown",
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }
