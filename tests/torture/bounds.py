"""Time and memory of a trial: what takes more than it may is a finding, not a machine that stands still."""

from __future__ import annotations

import faulthandler
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SECONDS = 120  # of a trial that takes one or two; the machine may be busy
MEMORY = 3 * 2**29  # bytes that a trial may map beyond what the process has before it


@contextmanager
def bounded(seconds: float = SECONDS, memory: int = MEMORY) -> Iterator[None]:
    """Within, more memory is a MemoryError; and what takes longer, be it in C++, ends the process with all its tracebacks."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    statm = Path("/proc/self/statm")
    if statm.exists():
        mapped = int(statm.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (mapped + memory, before[1]))
    stderr = os.dup(2)  # a trial may put another file in its place
    faulthandler.dump_traceback_later(seconds, exit=True, file=stderr)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        os.close(stderr)
        resource.setrlimit(resource.RLIMIT_AS, before)
