"""Embeddings as planar_code, the binary format of plantri and of CaGe and other programs that list plane graphs.

The number of nodes, then for each node its neighbours in clockwise order, counted from 1, and a 0. Numbers are bytes; with more
than 255 nodes a byte 0 comes first, and all other numbers have two bytes.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..errors import FormatError, require
from ..graphs.graph import Graph
from .embedding import Embedding

_HEADERS = {b">>planar_code<<": ">", b">>planar_code be<<": ">", b">>planar_code le<<": "<"}


def to_planar_code(embedding: Embedding) -> bytes:
    """The code of one embedding of a simple graph of 1 to 65,535 nodes, with a header. Of two bytes, the higher one comes first.

    >>> import planegraph as pg
    >>> pg.embedding(pg.families.path(3)).to_planar_code()
    b'>>planar_code<<\\x03\\x02\\x00\\x01\\x03\\x00\\x02\\x00'
    """
    embedding.to_graph()  # to refuse what readers would not understand: loops, parallel edges
    n = embedding.num_nodes
    require(1 <= n <= 65_535, f"planar_code holds 1 to 65,535 nodes; the embedding has {n}")
    numbers = [n]
    for around in embedding.clockwise():
        numbers += [u + 1 for u in around]
        numbers.append(0)
    if n < 256:
        return b">>planar_code<<" + bytes(numbers)
    return b">>planar_code be<<\0" + np.array(numbers, ">u2").tobytes()


def from_planar_code(code: bytes) -> Embedding:
    """The embedding of one simple graph, with or without a header; raises :class:`FormatError` for anything else.

    >>> from planegraph.planarity.planar_code import from_planar_code
    >>> from_planar_code(bytes([3, 2, 3, 0, 3, 1, 0, 1, 2, 0]))
    Embedding(3 nodes, 3 edges, 2 faces)
    """
    header = next((h for h in _HEADERS if code.startswith(h)), b"")
    numbers = _numbers(code[len(header) :], _HEADERS.get(header, ">"))
    require(len(numbers) > 0, "planar_code is empty")
    n = int(numbers[0])
    ends = np.flatnonzero(numbers[1:] == 0)
    require(len(ends) >= n, f"planar_code ends after {len(ends)} of {n} nodes")
    require(n > 0 and len(ends) == n and len(numbers) == ends[-1] + 2, "planar_code goes on after its last node: give one graph")
    require(numbers.max() <= n, f"planar_code of {n} nodes names node {int(numbers.max())}")
    clockwise = [numbers[a + 1 : b] - 1 for a, b in pairwise([0, *(ends + 1).tolist()])]
    u, v = np.repeat(np.arange(n), [len(near) for near in clockwise]), np.concatenate([*clockwise, np.empty(0, np.int64)])
    there, back = np.stack([u, v])[:, u < v], np.stack([v, u])[:, v < u]
    require((u != v).all(), "planar_code has a loop; only simple graphs are read")
    there, back = np.unique(there, axis=1, return_counts=True), np.unique(back, axis=1, return_counts=True)
    require(
        there[1].max(initial=1) == 1 and back[1].max(initial=1) == 1, "planar_code has parallel edges; only simple graphs are read"
    )
    require(np.array_equal(there[0], back[0]), "planar_code has an edge in one direction only")
    return Embedding.from_rotations(Graph(n, there[0].T), [near[::-1].tolist() for near in clockwise])


def _numbers(data: bytes, order: str) -> np.ndarray:
    if data[:1] != b"\0":
        return np.frombuffer(data, np.uint8).astype(np.int64)
    if len(data) % 2 == 0:
        raise FormatError(f"planar_code of two bytes per number has an odd number of them; found {len(data)} bytes")
    return np.frombuffer(data[1:], f"{order}u2").astype(np.int64)
