"""Messages on stderr, where several processes may have the same to say."""

from __future__ import annotations

import contextlib
import sys

from ..processes import first_process, process_count, process_rank


def printable(text: str) -> str:
    r"""The text with escapes such as ``\x1b`` for control characters: names in a file must not steer the terminal.

    >>> print(printable("\033[31mred"))
    \x1b[31mred
    """
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def counted(count: int, name: str) -> str:
    """A number and the name of what is counted.

    >>> counted(1, "row"), counted(2_000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{count:,} {name}{'' if count == 1 else 's'}"


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
