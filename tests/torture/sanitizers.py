"""The core's fuzzers with the trial's seed under AddressSanitizer, UndefinedBehaviorSanitizer and ThreadSanitizer, and its threaded test.

It runs what ``make sanitized`` built in build/, as ``make torture`` does first. Without that it is skipped: building takes minutes, which
the default tests do not have.
"""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

_BUILD = Path(__file__).parents[2] / "build"
_FUZZERS = ("asan/fuzz_core", "asan/fuzz_learning", "asan/fuzz_drawing", "tsan/fuzz_core", "tsan/fuzz_learning")
_THREADS = "tsan/test_batch"  # takes minutes
_FUZZ_SECONDS = 10
_SECONDS = 1200


def missing() -> str:
    absent = [name for name in (*_FUZZERS, _THREADS) if not (_BUILD / name).exists()]
    return f"build/{absent[0]} is not there; `make sanitized` builds it (a C++ compiler and some minutes)" if absent else ""


def trial(seed: int) -> str | None:
    threads = random.Random(seed).random() < 0.05 and seed >= 1000  # the tests count from seed 0
    name = _THREADS if threads else _FUZZERS[seed % len(_FUZZERS)]
    command = [str(_BUILD / name), *([] if threads else [str(_FUZZ_SECONDS), str(seed)])]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, errors="replace")
    except subprocess.TimeoutExpired:
        return f"{name}: still running after {_SECONDS} s"
    if ended.returncode:
        return f"{name}: exit code {ended.returncode}\n{ended.stdout[-1000:]}{ended.stderr[-3000:]}"
    return None
