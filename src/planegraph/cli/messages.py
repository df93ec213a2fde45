"""What a command says, on stdout and stderr: text from files and from the command line never steers the terminal."""

from __future__ import annotations

import contextlib
import sys

from ..io.text import printable
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
        print(f"planegraph: {who}{printable(message)}", file=sys.stderr, flush=True)


def say(text: str) -> None:
    """Writes a message or a table to stdout."""
    sys.stdout.write(printable(text))


def repeat(text: str) -> None:
    """Writes an answer that repeats input, such as a line of a file: as it is for the next program, with escapes for a terminal."""
    sys.stdout.write(printable(text) if sys.stdout.isatty() else text)
