"""How the benchmarks measure: thread CPU time, medians over repeats, and what machine it was."""

from __future__ import annotations

import datetime
import platform
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path


def cpu_seconds(call: Callable[[], object], repeats: int = 5, budget: float = 12.0) -> float:
    """Median CPU time of this thread for one call; fewer repeats (at least one) if they would take longer than the budget."""
    return _median(call, time.thread_time, repeats, budget)


def wall_seconds(call: Callable[[], object], repeats: int = 5, budget: float = 12.0) -> float:
    """The same in wall time."""
    return _median(call, time.perf_counter, repeats, budget)


def _median(call: Callable[[], object], clock: Callable[[], float], repeats: int, budget: float) -> float:
    times: list[float] = []
    while len(times) < repeats and (not times or sum(times) + times[-1] < budget):
        start = clock()
        call()
        times.append(clock() - start)
    return statistics.median(times)


def machine() -> dict[str, str]:
    """Enough to know what a number means."""
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
