"""Reads graphs from text files, in chunks, with a place for each error.

Formats:
  graph6    one graph a line, in graph6 or sparse6 (files *.g6, *.s6)
  smiles    one molecule a line, anything after the first blank is ignored (files *.smi, *.smiles)
  edges     one graph a line: edges u-v separated by blanks or commas, a single name is an isolated node (files *.edges)
  edgelist  one edge a line: two names, more columns are ignored; a single name is an isolated node, # starts a comment, a blank
            line ends the graph (files *.edgelist); comments alone are not a graph
  planar_code  binary, as plantri writes it; the embedding is not kept (files *.planar_code, *.pc); answers
            name its graphs as sparse6
Names of nodes are any text; if all consist of digits 0-9, nodes are numbered in their order, else in order of appearance. A line
may end in CRLF, and a UTF-8 byte order mark may open a file. A line has at most 256 MiB.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ...errors import FormatError, MissingDependencyError, PlanegraphError
from ..batch import GraphBatch
from ..graph import Graph
from .graph_lines import HEADERS, read_line, read_lines
from .planar_code import as_sparse6, graph_of, read_codes

FORMATS = ("graph6", "smiles", "edges", "edgelist", "planar_code")
_SUFFIXES = {
    ".g6": "graph6",
    ".s6": "graph6",
    ".pc": "planar_code",
    ".planar_code": "planar_code",
    ".smi": "smiles",
    ".smiles": "smiles",
    ".edges": "edges",
    ".edgelist": "edgelist",
}
_CHUNK_LINES, _CHUNK_BYTES = 4096, 1 << 22
LONGEST_LINE = 1 << 28
"""Bytes of a line: graph6 of 56,000 nodes, or ten million edges of a graph in the format edges."""


@dataclass(frozen=True)
class Entry:
    """One graph of a file: where it begins and its text (for edgelist: all its lines)."""

    source: str
    line: int
    text: bytes

    def shown(self) -> str:
        """The text as people read it."""
        return self.text.decode("utf-8", "replace")


class CodeEntry(Entry):
    """One graph of a file of planar_code; its line is its number in the file."""

    def shown(self) -> str:
        """As sparse6, because a code is not text."""
        return as_sparse6(self.text)


def format_of(name: str) -> str:
    """The format that a file's suffix says; graph6 if it says none.

    >>> format_of("molecules.SMI"), format_of("graphs.txt")
    ('smiles', 'graph6')
    """
    return _SUFFIXES.get(Path(name).suffix.lower(), "graph6")


def is_file_name(text: str) -> bool:
    """Whether a text ends like the name of a file with graphs; no graph in graph6 and no SMILES does.

    >>> is_file_name("graphs.g6"), is_file_name("C/C=C/C"), is_file_name("Bw")
    (True, False, False)
    """
    return Path(text).suffix.lower() in _SUFFIXES


def read_entries(stream: BinaryIO, source: str, format: str) -> Iterator[list[Entry]]:
    """The entries of a file in chunks. FormatError, after the entries before it, for a line that is too long or a file that is cut off."""
    entries, size, problem = [], 0, None
    found = _codes(stream, source) if format == "planar_code" else _entries(stream, source, format)
    while True:
        try:
            entry = next(found, None)
        except FormatError as error:
            entry, problem = None, error
        if entry is None:
            break
        entries.append(entry)
        size += len(entry.text)
        if len(entries) >= _CHUNK_LINES or size >= _CHUNK_BYTES:
            yield entries
            entries, size = [], 0
    if entries:
        yield entries
    if problem is not None:
        raise problem


def _entries(stream: BinaryIO, source: str, format: str) -> Iterator[Entry]:
    return (_paragraphs if format == "edgelist" else _lines)(_bounded(stream, source), source)


def _codes(stream: BinaryIO, source: str) -> Iterator[Entry]:
    number = 0
    try:
        for number, code in enumerate(read_codes(stream), 1):
            yield CodeEntry(source, number, code)
    except FormatError as error:
        raise FormatError(f"{source}, graph {number + 1}: {error}") from None


def _bounded(stream: BinaryIO, source: str) -> Iterator[bytes]:
    """The lines without a byte order mark. A line that is too long is an error: a device, say, has no end."""
    number, line = 1, stream.readline(LONGEST_LINE + 1).removeprefix(codecs.BOM_UTF8)
    while line:
        if len(line) > LONGEST_LINE:
            raise FormatError(f"{source}:{number}: the line has more than {LONGEST_LINE:,} bytes. Is it a file with graphs?")
        yield line
        number, line = number + 1, stream.readline(LONGEST_LINE + 1)


def _lines(stream: Iterable[bytes], source: str) -> Iterator[Entry]:
    for number, line in enumerate(stream, 1):
        text = line.strip()
        if text and text not in HEADERS:
            yield Entry(source, number, text)


def _paragraphs(stream: Iterable[bytes], source: str) -> Iterator[Entry]:
    lines: list[bytes] = []
    start = 0
    for number, raw in enumerate(chain(stream, [b""]), 1):  # the end of the input ends a paragraph
        text = raw.strip()
        if text:
            start = start if lines else number
            lines.append(text)
            continue
        if not all(line.startswith(b"#") for line in lines):
            yield Entry(source, start, b"\n".join(lines))
        lines = []


def read_chunk(format: str, entries: list[Entry], stereo: bool) -> tuple[GraphBatch, np.ndarray, dict[int, PlanegraphError]]:
    """The good graphs of a chunk as one batch, their positions among the entries, and the errors of the others by position."""
    if format == "graph6":
        return read_lines([entry.text for entry in entries])
    graphs, where, errors = [], [], {}
    for i, entry in enumerate(entries):
        try:
            graphs.append(parse(format, entry.text, stereo))
            where.append(i)
        except MissingDependencyError:  # no fault of the graph
            raise
        except PlanegraphError as error:
            errors[i] = error
    return GraphBatch.from_graphs(graphs), np.array(where, np.int64), errors


def parse(format: str, text: bytes, stereo: bool) -> Graph:
    """One graph, with the names of its nodes if it has any; a molecule with or without stereochemistry."""
    if format == "graph6":
        return read_line(text)
    if format == "planar_code":
        return graph_of(text)
    try:
        words = text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{format}: byte {error.start} is not UTF-8") from None
    if format == "smiles":
        return Graph.from_smiles(words.split(None, 1)[0] if words.strip() else "", stereo)
    if format == "edges":
        return _named([tuple(item.split("-")) for item in words.replace(",", " ").split()])
    lines = (line.split("#", 1)[0].split() for line in words.split("\n"))
    return _named([tuple(line[:2]) for line in lines if line])


def _named(items: list[tuple[str, ...]]) -> Graph:
    for item in items:
        if len(item) > 2 or not all(item):
            raise FormatError(f"{'-'.join(item)!r} is not an edge u-v and not a node")
    names = list(dict.fromkeys(name for item in items for name in item))
    if all(name.isascii() and name.isdecimal() for name in names):
        names.sort(key=_by_value)
    number = {name: i for i, name in enumerate(names)}
    pairs = [(number[item[0]], number[item[1]]) for item in items if len(item) == 2]
    try:
        return Graph(len(names), np.array(pairs, np.int64).reshape(-1, 2), names=names)
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
