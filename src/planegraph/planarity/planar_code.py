"""Embeddings as planar_code, the binary format of plantri and of CaGe and other programs that list plane graphs."""

from __future__ import annotations

import io
from collections.abc import Iterator
from os import PathLike

import numpy as np

from ..errors import FormatError, require
from ..graphs.formats.planar_code import both_ends, read_codes, rotations_of
from ..graphs.graph import Graph
from .embedding import Embedding


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
    codes = read_codes(io.BytesIO(code))
    first = next(codes, None)
    if first is None:
        raise FormatError("planar_code is empty")
    try:
        goes_on = next(codes, None) is not None
    except FormatError:
        goes_on = True
    require(not goes_on, "planar_code goes on after its last node: give one graph, or read the file by pg.read_planar_code")
    return _embedding(rotations_of(first))


def read_planar_code(path: str | PathLike[str]) -> Iterator[Embedding]:
    """The embeddings of a file, one after the other, such as plantri writes; FormatError names the graph that is wrong.

    >>> import tempfile, planegraph as pg
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(bytes([3, 2, 3, 0, 3, 1, 0, 1, 2, 0, 2, 2, 0, 1, 0]))
    ...     file.flush()
    ...     print(list(pg.read_planar_code(file.name)))
    [Embedding(3 nodes, 3 edges, 2 faces), Embedding(2 nodes, 1 edge, 1 face)]
    """
    count = 0
    with open(path, "rb") as stream:
        try:
            for code in read_codes(stream):
                yield _embedding(rotations_of(code))
                count += 1
        except FormatError as error:
            raise FormatError(f"{path}, graph {count + 1}: {error}") from None


def _embedding(clockwise: list[np.ndarray]) -> Embedding:
    u, v = both_ends(clockwise)
    require((u != v).all(), "planar_code has a loop; only simple graphs are read")
    edges, times = np.unique(np.stack([u, v])[:, u < v], axis=1, return_counts=True)
    require(times.max(initial=1) == 1, "planar_code has parallel edges; only simple graphs are read")
    return Embedding.from_rotations(Graph(len(clockwise), edges.T), [near[::-1].tolist() for near in clockwise])
