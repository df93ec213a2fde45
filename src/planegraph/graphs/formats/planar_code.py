"""planar_code, the binary format of plantri, of CaGe and of other programs that list plane graphs: neighbours in clockwise order.

A graph is its number of nodes, then for each node its neighbours, counted from 1, and a 0. Numbers are bytes; with more than 255
nodes a byte 0 comes first, and all other numbers have two bytes. A file has one header and then graph after graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import BinaryIO

import numpy as np

from ...errors import FormatError, require
from .sparse6 import sparse6_line

HEADERS = {b">>planar_code<<": ">", b">>planar_code be<<": ">", b">>planar_code le<<": "<"}  # and the order of two bytes
_CHUNK = 1 << 22


def read_rotations(stream: BinaryIO) -> Iterator[list[np.ndarray]]:
    """The graphs of a file, with or without a header: for each the neighbours of its nodes, clockwise, counted from 0.

    >>> import io
    >>> [[near.tolist() for near in graph] for graph in read_rotations(io.BytesIO(bytes([2, 2, 0, 1, 0, 1, 0])))]
    [[[1], [0]], [[]]]
    """
    data = b""
    while len(data) < max(map(len, HEADERS)) and (more := stream.read(_CHUNK)):
        data += more
    header = next((h for h in HEADERS if data.startswith(h)), b"")
    order, at = HEADERS.get(header, ">"), len(header)
    while True:
        found = _first(data, at, order) if at < len(data) else None
        if found is None:
            more = stream.read(max(_CHUNK, len(data) - at))
            if more:
                data, at = data[at:] + more, 0
                continue
            if at == len(data):
                return
            _refuse_half(data, at, order)
        rotations, at = found
        yield rotations


def as_sparse6(rotations: list[np.ndarray]) -> str:
    """The graph of these rotations as a line of text, which says loops and parallel edges, too."""
    u, v = both_ends(rotations)
    return sparse6_line(len(rotations), np.stack([u, v], axis=1)[u <= v])


def both_ends(rotations: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Node and neighbour of each entry of the rotations; FormatError unless each edge is there in both directions."""
    n = len(rotations)
    u, v = np.repeat(np.arange(n), [len(near) for near in rotations]), np.concatenate([*rotations, np.empty(0, np.int64)])
    there, back = np.sort((u * n + v)[u < v]), np.sort((v * n + u)[u > v])
    require(np.array_equal(there, back), "planar_code has an edge in one direction only")
    return u, v


def _first(data: bytes, at: int, order: str) -> tuple[list[np.ndarray], int] | None:
    """The graph that begins at this byte, and where the next one begins; None if the data end before."""
    wide = data[at] == 0
    start, kind = at + wide, np.dtype(f"{order}u2" if wide else np.uint8)
    there = (len(data) - start) // kind.itemsize
    if not there:
        return None
    n = int(np.frombuffer(data, kind, 1, start)[0])
    require(n > 0, "planar_code has a graph without nodes")
    window = 8 * n  # simple planar graphs need less
    while True:
        numbers = np.frombuffer(data, kind, min(window, there - 1), start + kind.itemsize)
        ends = np.flatnonzero(numbers == 0)[:n]
        if len(ends) == n:
            break
        if window >= there - 1:
            return None
        window *= 2
    numbers = numbers[: ends[-1] + 1].astype(np.int64)
    require(numbers.max() <= n, f"planar_code of {n} nodes names node {int(numbers.max())}")
    rotations = [numbers[a:b] - 1 for a, b in pairwise([0, *(ends + 1).tolist()])]
    return [near[:-1] for near in rotations], start + kind.itemsize * (len(numbers) + 1)


def _refuse_half(data: bytes, at: int, order: str) -> None:
    """Raises for a graph that the end of the file cuts off."""
    wide = data[at] == 0
    rest = data[at + wide :]
    if wide and len(rest) % 2:
        raise FormatError(f"planar_code of two bytes per number has an odd number of them; found {len(rest) + 1} bytes")
    numbers = np.frombuffer(rest, f"{order}u2" if wide else np.uint8)
    require(len(numbers) > 0, "planar_code is empty")
    raise FormatError(f"planar_code ends after {int((numbers[1:] == 0).sum())} of {int(numbers[0])} nodes")
