"""Messages of a command on stdout and stderr, and the errors that end one.

Text from files and from the command line never steers the terminal.
"""

from __future__ import annotations

import contextlib
import sys

from ..errors import MissingDependencyError
from ..io.text import printable
from ..processes import first_process, process_count, process_rank

_PACKAGES = {  # name and extra, as in pyproject.toml
    "torch": ("PyTorch", "learn"),
    "torch_geometric": ("PyTorch Geometric", "learn"),
    "safetensors": ("safetensors", "learn"),
    "yaml": ("PyYAML", "learn"),
    "rich": ("rich", "learn"),
    "jinja2": ("jinja2", "learn"),
    "rdkit": ("RDKit", "chem"),
    "sklearn": ("scikit-learn", "sklearn"),
}


class UsageError(Exception):
    """Ends the command with exit code 2."""


class StreamError(Exception):
    """Standard input or output does not work; ends the command with exit code 3."""


def complain(message: str) -> None:
    """Prints a problem on stderr. Of several processes, all but the first add their rank."""
    who = "" if first_process() else f"rank {process_rank()} of {process_count()}: "
    with contextlib.suppress(OSError):  # nobody is reading
        print(f"planegraph: {who}{printable(message)}", file=sys.stderr, flush=True)


def remark(message: str) -> None:
    """The same for what each of several processes finds; the first speaks for all."""
    if first_process():
        complain(message)


def say(text: str) -> None:
    """Writes a message or a table to stdout."""
    sys.stdout.write(printable(text))


def repeat(text: str) -> None:
    """Writes an answer that repeats input, such as a line of a file: unchanged for the next program, with escapes for a terminal."""
    sys.stdout.write(printable(text) if sys.stdout.isatty() else text)


def missing_package(error: ImportError) -> str | None:
    """Names the missing package and the extra that brings it; None if the error is about something else.

    >>> missing_package(ModuleNotFoundError("No module named 'torch.nn'", name="torch.nn"))
    "this command needs PyTorch; install it with: pip install 'planegraph[learn]'"
    """
    if isinstance(error, MissingDependencyError):  # its message is complete
        return str(error)
    package = (error.name or "").partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or package not in _PACKAGES:
        return None
    name, extra = _PACKAGES[package]
    return f"this command needs {name}; install it with: pip install 'planegraph[{extra}]'"
