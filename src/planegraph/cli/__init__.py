"""The command line; one file per command or kind of commands.

Each declares its commands by ``options.add_command``. A command is a function that takes its arguments and returns its exit code. Exit
codes 0, 1 and 2 are answers; anything that prevents an answer ends the command with a larger code and a line on stderr, never with a
traceback. Nothing heavy is imported before a command needs it: ``planegraph --help`` works without PyTorch.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import sys
import time
import traceback
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn, TextIO

from ..errors import PlanegraphError, PlanegraphWarning
from ..io.text import printable
from ..processes import first_process
from ..runs.errors import DivergedError, Stopped
from . import canon, datasets, decompose, draw, filter, iso, predict, report, reproduce, train
from .messages import StreamError, UsageError, complain, missing_package, remark
from .options import EXIT_CODES

_PATIENCE = 5.0  # seconds


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    _prepare_streams()
    code, message = _answer(argv)
    if code and _is_one_of_several(argv):
        time.sleep(_PATIENCE)  # torchrun ends the others as soon as one has failed: the first speaks for all that fail alike
    if message:
        complain(message)
    _flush_or_drop(sys.stderr)
    return code


def _answer(argv: Sequence[str] | None) -> tuple[int, str]:
    """Runs the command; its exit code, and what went wrong."""
    try:
        with warnings.catch_warnings():
            _say_warnings()
            code = _run(argv)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code, ""
    except (Exception, KeyboardInterrupt) as error:
        _flush_or_drop(sys.stdout)
        return _explain(error)


def _run(argv: Sequence[str] | None) -> int:
    try:
        args = _parsed(argv)
        if sys.stdout is None and not getattr(args, "quiet", False):
            raise StreamError("standard output is closed; redirect it to a file or to /dev/null")
        return args.run(args)
    except SystemExit as stop:  # argparse, after --help, --version or wrong usage
        return int(stop.code or 0)


def _say_warnings() -> None:
    """Prints planegraph's warnings as messages, without path and source line; warnings of other packages are unchanged."""
    usual = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *rest: Any, **more: Any) -> None:
        if issubclass(category, PlanegraphWarning):
            remark(f"warning: {message}")
        else:
            usual(message, category, *rest, **more)

    warnings.showwarning = show


def _is_one_of_several(argv: Sequence[str] | None) -> bool:
    """Returns whether this process runs a command with others and is not the first."""
    words = sys.argv[1:] if argv is None else argv
    return not first_process() and list(words[:1]) in (["train"], ["reproduce"])


def _parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    """The arguments; of several processes only the first prints argparse's messages."""
    if not _is_one_of_several(argv):
        return _parser().parse_args(argv)
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        return _parser().parse_args(argv)


def _prepare_streams() -> None:
    """A character that the output cannot encode is written as an escape; a closed stderr drops its messages."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    if sys.stderr is None:  # print(file=None) would write messages among the answers on stdout
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 (open until the process ends)


def _explain(error: BaseException) -> tuple[int, str]:
    """The exit code and the message of an exception."""
    if isinstance(error, KeyboardInterrupt):
        return 130, "interrupted"
    if isinstance(error, BrokenPipeError):
        return 141, ""
    if isinstance(error, ImportError) and (missing := missing_package(error)):
        return 2, missing
    if isinstance(error, Stopped):
        return 128 + (error.signal or 2), str(error)
    if isinstance(error, DivergedError):
        return 3, f"diverged: {error}"
    if isinstance(error, UsageError | PlanegraphError):
        return 2, str(error)
    if isinstance(error, StreamError | PlanegraphWarning):  # the latter under python -W error
        return 3, str(error)
    if isinstance(error, OSError):
        return 3, f"input or output failed: {error}"
    if isinstance(error, MemoryError):
        return 3, "out of memory"
    if _is_torchs_memory_error(error):
        wanted = re.search(r"tried to allocate ([\d.]+ \w+)", str(error), re.IGNORECASE)
        what = f" (tried to allocate {wanted[1]})" if wanted else ""
        return 3, f"out of memory{what}: a smaller train.batch_size, fewer --seeds or a smaller model.hidden need less"
    if sys.flags.dev_mode:
        traceback.print_exception(error)
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return 3, f"internal error, {what} (a bug: please report it; python -X dev -m planegraph ... shows where)"


def _is_torchs_memory_error(error: BaseException) -> bool:
    """Compares name and message, as importing PyTorch takes a second: on a CPU it raises a plain RuntimeError, on a GPU a subclass."""
    words = r"can't allocate memory|not enough memory|out of memory|ALLOC_FAILED|size calculation overflowed"
    named = type(error).__name__ == "OutOfMemoryError"
    return named or (isinstance(error, RuntimeError) and re.search(words, str(error)) is not None)


def _flush_or_drop(stream: TextIO | None) -> None:
    """Writes what is buffered, or drops it if that fails: else Python would try at exit, complain, and exit with 120."""
    if stream is None:
        return
    try:
        stream.flush()
    except OSError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class _Parser(argparse.ArgumentParser):
    """Repeats wrong arguments with escapes for control characters; parsers of commands are of this class, too."""

    def error(self, message: str) -> NoReturn:
        super().error(printable(message))


def _parser() -> argparse.ArgumentParser:
    from .. import __version__

    parser = _Parser(
        prog="planegraph",
        description="Decompose and canonise planar graphs.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"planegraph {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in (canon, decompose, iso, draw, datasets, train, report):
        command.add_parser(commands)
    for several in (filter, reproduce, predict):
        several.add_parsers(commands)
    return parser
