"""All connected cubic planar graphs on n nodes, up to isomorphism.

Nodes are completed in order: the first node with fewer than three neighbours gets a later one, and a node that no edge has reached yet
is taken only if it is the first such, as they are all alike. Every connected cubic graph has a breadth-first numbering that is built
this way, so none is missed; planar ones are distinguished by their canonical codes. Some 10,000 candidates for n = 10.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..canonical.form import canonical_codes
from ..decomposition.api import planar_mask
from ..errors import InvalidGraphError
from ..graphs.batch import GraphBatch
from ..graphs.graph import Graph

COUNTS = {4: 1, 6: 1, 8: 3, 10: 9, 12: 32}
"""How many there are (OEIS A005964)."""


def connected_cubic_planar_graphs(n: int) -> list[Graph]:
    """One graph of each class, in the order of their canonical codes.

    >>> len(connected_cubic_planar_graphs(8))
    3
    """
    if n < 4 or n % 2:
        raise InvalidGraphError(f"cubic graphs have an even number of nodes, at least 4; found {n}")
    edges = np.array(list(_candidates(n)), np.int64)
    count, size = edges.shape[:2]
    batch = GraphBatch(np.arange(count + 1) * n, np.arange(count + 1) * size, edges.reshape(-1, 2))
    batch = batch[planar_mask(batch)]
    first: dict[bytes, int] = {}
    for i, code in enumerate(canonical_codes(batch)):
        first.setdefault(code, i)
    return [batch[first[code]] for code in sorted(first)]


def _candidates(n: int) -> Iterator[list[tuple[int, int]]]:
    """Edges of connected cubic graphs, every class at least once, most of them often."""
    stack: list[list[tuple[int, int]]] = [[]]
    while stack:
        edges = stack.pop()
        if len(edges) == 3 * n // 2:
            yield edges
            continue
        degree = np.bincount(np.array(edges, np.int64).ravel(), minlength=n)
        u = int(np.argmax(degree < 3))
        if edges and degree[u] == 0:  # all nodes reached so far are complete: the rest is not connected to them
            continue
        last = max((w for v, w in edges if v == u), default=u)  # neighbours of u in ascending order
        fresh = int(np.argmax(degree == 0)) if (degree == 0).any() else n
        fresh = max(fresh, 1)
        stack += [[*edges, (u, v)] for v in range(last + 1, n) if degree[v] < 3 and (degree[v] or v == fresh)]
