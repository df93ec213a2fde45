"""The graphs that a command reads: files, standard input, and what is wrong with them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from ..errors import FormatError, NotPlanarError, PlanegraphError
from ..graphs.formats.files import Entry, format_of, is_file_name, read_entries
from .messages import StreamError, UsageError, complain


class Problems:
    """Reports bad graphs on stderr as ``source:line: what``, counts them, and stops at the first if strict."""

    def __init__(self, strict: bool) -> None:
        self.strict = strict
        self.count = 0

    def report(self, entry: Entry, error: PlanegraphError) -> None:
        message = "the graph is not planar" if isinstance(error, NotPlanarError) else str(error)
        self.count += 1
        if self.strict:
            raise UsageError(f"{entry.source}:{entry.line}: {message} (stopped because of --strict)")
        sys.stdout.flush()
        complain(f"{entry.source}:{entry.line}: {message}")


def chunks(files: list[str], format: str | None) -> Iterator[tuple[str, list[Entry]]]:
    """The input in chunks of entries with their format; no chunk spans two files."""
    for name in files or ["-"]:
        chosen = format or format_of(name)
        try:
            if name == "-":
                yield from _chunks_of_stdin(chosen)
                continue
            with open(name, "rb") as stream:
                for entries in read_entries(stream, name, chosen):
                    yield chosen, entries
        except FormatError as error:
            raise UsageError(str(error)) from None
        except OSError as error:
            raise UsageError(f"cannot read {name}: {error.strerror or error}") from None


def _chunks_of_stdin(format: str) -> Iterator[tuple[str, list[Entry]]]:
    if sys.stdin is None:
        raise StreamError("standard input is closed; name a file, or redirect one to it")
    try:
        for entries in read_entries(sys.stdin.buffer, "<stdin>", format):
            yield format, entries
    except OSError as error:
        raise StreamError(f"cannot read standard input: {error.strerror or error}") from None


def one_entry(argument: str, format: str | None) -> tuple[str, bytes]:
    """The format and text of a graph that an argument gives: a file with one graph, - for standard input, or the graph as text."""
    if is_text(argument):
        if is_file_name(argument) and format in (None, format_of(argument)):
            raise UsageError(f"cannot read {argument}: {_no_file(argument)}")
        return format or "graph6", os.fsencode(argument)
    entries = [(chosen, entry.text) for chosen, chunk in chunks([argument], format) for entry in chunk]
    if len(entries) != 1:
        raise UsageError(f"{argument} must hold one graph; found {len(entries)}")
    return entries[0]


def is_text(argument: str) -> bool:
    """Whether it is not standard input, and no file has this name."""
    return argument != "-" and (not os.path.exists(argument) or Path(argument).is_dir())


def bad_graph(argument: str, error: PlanegraphError) -> UsageError:
    """What is wrong with the one graph that an argument gives. A text that may have been meant as a file's name is said to be none."""
    if is_text(argument) and (is_file_name(argument) or Path(argument).is_dir() or any(c in argument for c in _SEPARATORS)):
        return UsageError(f"cannot read {argument}: {_no_file(argument)}, and as a graph it is wrong: {error}")
    return UsageError(f"{argument}: {error}")


_SEPARATORS = {"/", os.sep}


def _no_file(argument: str) -> str:
    return "it is a folder" if Path(argument).is_dir() else "there is no such file"
