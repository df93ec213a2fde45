"""planar_code, the binary format of plantri, of CaGe and of other programs that list plane graphs: neighbours in clockwise order.

A graph is its number of nodes, then for each node its neighbours, counted from 1, and a 0. Numbers are bytes; with more than 255
nodes a byte 0 comes first, and all other numbers have two bytes. A file has one header and then graph after graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import BinaryIO, NoReturn

import numpy as np

from ...errors import FormatError, InvalidGraphError, require
from ..graph import Graph
from .sparse6 import sparse6_line

HEADERS = {b">>planar_code<<": ">", b">>planar_code be<<": ">", b">>planar_code le<<": "<"}  # and the order of two bytes
_LONGEST = max(map(len, HEADERS))
_CHUNK = 1 << 22


def read_codes(stream: BinaryIO) -> Iterator[bytes]:
    """The codes of the graphs of a file, with or without headers, cut apart; of two bytes, the higher one comes first in each.

    FormatError if the file ends within a graph. What a code says is checked by :func:`rotations_of`.

    >>> import io
    >>> list(read_codes(io.BytesIO(bytes([2, 2, 0, 1, 0, 1, 0]))))
    [b'\\x02\\x02\\x00\\x01\\x00', b'\\x01\\x00']
    """
    data, at, order = stream.read(_CHUNK), 0, ">"
    while True:
        header = next((h for h in HEADERS if data.startswith(h, at)), None)
        if header is not None:  # at the beginning, or where files were joined: no graph of 62 nodes begins like this
            order, at = HEADERS[header], at + len(header)
        size = _size(data, at, order) if len(data) - at >= _LONGEST else None
        if size is None:
            more = stream.read(max(_CHUNK, len(data) - at))
            if more:
                data, at = data[at:] + more, 0
                continue
            if at == len(data):
                return
            size = _size(data, at, order)
            if size is None:
                _refuse_half(data, at, order)
        yield _higher_first(data[at : at + size], order)
        at += size


def rotations_of(code: bytes) -> list[np.ndarray]:
    """For each node its neighbours, clockwise, counted from 0; FormatError if a node is named that is not there.

    >>> [near.tolist() for near in rotations_of(bytes([2, 2, 0, 1, 0]))]
    [[1], [0]]
    """
    wide = code[:1] == b"\0"
    numbers = np.frombuffer(code[wide:], ">u2" if wide else np.uint8).astype(np.int64)
    n, numbers = int(numbers[0]), numbers[1:]
    require(n > 0, "planar_code has a graph without nodes")
    require(numbers.max() <= n, f"planar_code of {n} nodes names node {int(numbers.max())}")
    ends = np.flatnonzero(numbers == 0)
    return [numbers[a + 1 : b] - 1 for a, b in pairwise([-1, *ends.tolist()])]


def graph_of(code: bytes) -> Graph:
    """The graph of a code without its embedding; FormatError if it has loops or parallel edges."""
    rotations = rotations_of(code)
    u, v = both_ends(rotations)
    try:
        return Graph(len(rotations), np.stack([u, v], axis=1)[u <= v])
    except InvalidGraphError as error:
        raise FormatError(f"planar_code: {error}") from None


def as_sparse6(code: bytes) -> str:
    """A code as a line of text, which says loops and parallel edges, too."""
    rotations = rotations_of(code)
    u, v = both_ends(rotations)
    return sparse6_line(len(rotations), np.stack([u, v], axis=1)[u <= v])


def both_ends(rotations: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Node and neighbour of each entry of the rotations; FormatError unless each edge is there in both directions."""
    n = len(rotations)
    u, v = np.repeat(np.arange(n), [len(near) for near in rotations]), np.concatenate([*rotations, np.empty(0, np.int64)])
    there, back = np.sort((u * n + v)[u < v]), np.sort((v * n + u)[u > v])
    require(np.array_equal(there, back), "planar_code has an edge in one direction only")
    return u, v


def _size(data: bytes, at: int, order: str) -> int | None:
    """The number of bytes of the graph that begins at this byte; None if the data end before it does."""
    if at >= len(data):
        return None
    wide = data[at] == 0
    start, kind = at + wide, np.dtype(f"{order}u2" if wide else np.uint8)
    there = (len(data) - start) // kind.itemsize
    if not there:
        return None
    n = int(np.frombuffer(data, kind, 1, start)[0])
    window = 8 * n + 1  # simple planar graphs need less
    while True:
        numbers = np.frombuffer(data, kind, min(window, there - 1), start + kind.itemsize)
        ends = np.flatnonzero(numbers == 0)[:n]
        if len(ends) == n:
            return int(wide + kind.itemsize * (ends[-1] + 2 if n else 1))
        if window >= there - 1:
            return None
        window *= 2


def _higher_first(code: bytes, order: str) -> bytes:
    wide = code[:1] == b"\0"
    return b"\0" + np.frombuffer(code[1:], "<u2").astype(">u2").tobytes() if wide and order == "<" else code


def _refuse_half(data: bytes, at: int, order: str) -> NoReturn:
    """Raises for a graph that the end of the file cuts off."""
    wide = data[at] == 0
    rest = data[at + wide :]
    if wide and len(rest) % 2:
        raise FormatError(f"planar_code of two bytes per number has an odd number of them; found {len(rest) + 1} bytes")
    numbers = np.frombuffer(rest, f"{order}u2" if wide else np.uint8)
    require(len(numbers) > 0, "planar_code is empty")
    raise FormatError(f"planar_code ends after {int((numbers[1:] == 0).sum())} of {int(numbers[0])} nodes")
