"""Reading graphs from files, standard input or the command line, in chunks, with a place for each error.

Formats:
  graph6    one graph a line (the default; files *.g6)
  smiles    one molecule a line, anything after the first blank is ignored (files *.smi, *.smiles)
  edges     one graph a line: edges u-v separated by blanks or commas, a single name is an isolated node (files *.edges)
  edgelist  one edge a line: two names, more columns are ignored; a single name is an isolated node, # starts a comment, a blank
            line ends the graph (files *.edgelist); comments alone are no graph
Names of nodes are any text; if all consist of digits 0-9, nodes are numbered in their order, else in order of appearance. A line
may end in CRLF, and a UTF-8 byte order mark may open a file. A line has at most 256 MiB.
"""

from __future__ import annotations

import argparse
import codecs
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ..errors import FormatError, MissingDependencyError, NotPlanarError, PlanegraphError
from ..graphs.batch import GraphBatch
from ..graphs.formats.graph6 import read_lines
from ..graphs.graph import Graph
from .messages import complain

FORMATS = ("graph6", "smiles", "edges", "edgelist")
_SUFFIXES = {".g6": "graph6", ".smi": "smiles", ".smiles": "smiles", ".edges": "edges", ".edgelist": "edgelist"}
_CHUNK_LINES, _CHUNK_BYTES = 4096, 1 << 22
LONGEST_LINE = 1 << 28
"""Bytes of a line: graph6 of 56,000 nodes, or ten million edges of a graph in the format edges."""


class UsageError(Exception):
    """Ends the command with exit code 2.

    Args:
        alike: whether each of several processes finds it by itself; see :func:`planegraph.cli.messages.complain`.
    """

    def __init__(self, message: str, alike: bool = False) -> None:
        super().__init__(message)
        self.alike = alike


class StreamError(Exception):
    """Standard input or output does not work; ends the command with exit code 3."""


@dataclass(frozen=True)
class Record:
    """One graph as it stands in the input: where it begins and its text (for edgelist: all its lines)."""

    source: str
    line: int
    text: bytes

    def shown(self) -> str:
        return self.text.decode("utf-8", "replace")


class Problems:
    """Reports bad graphs on stderr as ``source:line: what``, counts them, and stops at the first if strict."""

    def __init__(self, strict: bool) -> None:
        self.strict = strict
        self.count = 0

    def report(self, record: Record, error: PlanegraphError) -> None:
        message = "the graph is not planar" if isinstance(error, NotPlanarError) else str(error)
        self.count += 1
        if self.strict:
            raise UsageError(f"{record.source}:{record.line}: {message} (stopped because of --strict)")
        sys.stdout.flush()
        complain(f"{record.source}:{record.line}: {message}")


def add_input_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments common to the commands that read many graphs."""
    parser.add_argument("files", nargs="*", metavar="FILE", help="files to read, - for standard input (the default)")
    add_format_argument(parser)
    parser.add_argument("--strict", action="store_true", help="stop at the first bad graph with exit code 2")


def add_format_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-f",
        "--format",
        choices=FORMATS,
        help="graph6 and smiles: a graph a line; edges: a graph a line as u-v pairs; edgelist: an edge a line, a blank line "
        "between graphs (default: by the file's suffix .g6 .smi .edges .edgelist, else graph6)",
    )
    parser.add_argument(
        "--no-stereo",
        dest="stereo",
        action="store_false",
        help="smiles: leave stereochemistry out, so that mirror images are equal",
    )


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """The type of an argument that must be a whole number in this range."""

    def parse_number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"must be a whole number from {least} to {most}; found {text[:40]!r}")
        return value

    return parse_number


def chunks(files: list[str], format: str | None) -> Iterator[tuple[str, list[Record]]]:
    """The input in chunks of records with their format; no chunk spans two files."""
    for name in files or ["-"]:
        kind = format or _SUFFIXES.get(Path(name).suffix.lower(), "graph6")
        if name == "-":
            yield from _chunks_of_stdin(kind)
            continue
        try:
            with open(name, "rb") as stream:
                yield from _chunks_of(stream, name, kind)
        except OSError as error:
            raise UsageError(f"cannot read {name}: {error.strerror or error}") from None


def _chunks_of_stdin(kind: str) -> Iterator[tuple[str, list[Record]]]:
    if sys.stdin is None:
        raise StreamError("standard input is closed; name a file, or redirect one to it")
    try:
        yield from _chunks_of(sys.stdin.buffer, "<stdin>", kind)
    except OSError as error:
        raise StreamError(f"cannot read standard input: {error.strerror or error}") from None


def _chunks_of(stream: BinaryIO, source: str, kind: str) -> Iterator[tuple[str, list[Record]]]:
    records, size = [], 0
    for record in (_paragraphs if kind == "edgelist" else _lines)(_bounded(stream, source), source):
        records.append(record)
        size += len(record.text)
        if len(records) >= _CHUNK_LINES or size >= _CHUNK_BYTES:
            yield kind, records
            records, size = [], 0
    if records:
        yield kind, records


def _bounded(stream: BinaryIO, source: str) -> Iterator[bytes]:
    """The lines without a byte order mark. One that is too long ends the command: what has no lines, such as a device, has no end."""
    number, line = 1, stream.readline(LONGEST_LINE + 1).removeprefix(codecs.BOM_UTF8)
    while line:
        if len(line) > LONGEST_LINE:
            raise UsageError(f"{source}:{number}: the line has more than {LONGEST_LINE:,} bytes. Is it a file with graphs?")
        yield line
        number, line = number + 1, stream.readline(LONGEST_LINE + 1)


def _lines(stream: Iterable[bytes], source: str) -> Iterator[Record]:
    for number, line in enumerate(stream, 1):
        text = line.strip()
        if text and text != b">>graph6<<":
            yield Record(source, number, text)


def _paragraphs(stream: Iterable[bytes], source: str) -> Iterator[Record]:
    lines: list[bytes] = []
    start = 0
    for number, raw in enumerate(chain(stream, [b""]), 1):  # the end of the input ends a paragraph
        text = raw.strip()
        if text:
            start = start if lines else number
            lines.append(text)
            continue
        if not all(line.startswith(b"#") for line in lines):
            yield Record(source, start, b"\n".join(lines))
        lines = []


def read_chunk(kind: str, records: list[Record], stereo: bool) -> tuple[GraphBatch, np.ndarray, dict[int, PlanegraphError]]:
    """The good graphs of a chunk as one batch, their positions among the records, and the errors of the others by position."""
    if kind == "graph6":
        return read_lines([r.text for r in records])
    graphs, where, errors = [], [], {}
    for i, record in enumerate(records):
        try:
            graphs.append(parse(kind, record.text, stereo)[0])
            where.append(i)
        except MissingDependencyError:  # no fault of the graph
            raise
        except PlanegraphError as error:
            errors[i] = error
    return GraphBatch.from_graphs(graphs), np.array(where, np.int64), errors


def parse(kind: str, text: bytes, stereo: bool) -> tuple[Graph, list[str] | None]:
    """One graph, and the names of its nodes if it has any; a molecule with or without stereochemistry."""
    if kind == "graph6":
        return Graph.from_graph6(text), None
    try:
        words = text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{kind}: byte {error.start} is not UTF-8") from None
    if kind == "smiles":
        return Graph.from_smiles(words.split(None, 1)[0] if words.strip() else "", stereo), None
    if kind == "edges":
        return _named([tuple(item.split("-")) for item in words.replace(",", " ").split()])
    lines = (line.split("#", 1)[0].split() for line in words.split("\n"))
    return _named([tuple(line[:2]) for line in lines if line])


def _named(items: list[tuple[str, ...]]) -> tuple[Graph, list[str]]:
    for item in items:
        if len(item) > 2 or not all(item):
            raise FormatError(f"{'-'.join(item)!r} is not an edge u-v and not a node")
    names = list(dict.fromkeys(name for item in items for name in item))
    if all(name.isascii() and name.isdecimal() for name in names):
        names.sort(key=_by_value)
    number = {name: i for i, name in enumerate(names)}
    pairs = [(number[item[0]], number[item[1]]) for item in items if len(item) == 2]
    try:
        return Graph(len(names), np.array(pairs, np.int64).reshape(-1, 2)), names
    except PlanegraphError:
        raise FormatError(_not_simple(items)) from None


def _by_value(digits: str) -> tuple[int, str]:
    """Orders numbers by value; unlike int(), without a limit on their length."""
    digits = digits.lstrip("0")
    return len(digits), digits


def _not_simple(items: list[tuple[str, ...]]) -> str:
    """What is wrong, in the names of the input."""
    seen: set[frozenset[str]] = set()
    for item in items:
        if len(item) == 2 and item[0] == item[1]:
            return f"{item[0]}-{item[1]} is a self-loop"
        if len(item) == 2 and frozenset(item) in seen:
            return f"{item[0]}-{item[1]} is there twice"
        seen.add(frozenset(item))
    return "the graph is not simple"
