"""Messages on stderr, where several processes may have the same to say."""

from __future__ import annotations

import contextlib
import sys

from ..processes import first_process, process_count, process_rank


def complain(message: str, alike: bool = False) -> None:
    """Says what is wrong; a later one of several processes says which it is, or nothing where all find the same.

    Args:
        alike: whether each process finds it by itself, as what is wrong with the command line they all have; False if in doubt.
    """
    if alike and not first_process():
        return
    who = "" if first_process() else f"rank {process_rank()} of {process_count()}: "
    with contextlib.suppress(OSError):  # nobody is left to be told
        print(f"planegraph: {who}{message}", file=sys.stderr, flush=True)
