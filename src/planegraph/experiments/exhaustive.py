"""All connected planar graphs on n nodes, up to isomorphism, made by planegraph itself.

Every connected graph has a node whose removal leaves it connected, and a part of a planar graph is planar; so all of them arise
from those on n - 1 nodes by adding a node with any non-empty neighbourhood, dropping what is not planar and keeping one graph per
canonical code. A code that splits a class makes the count too large, one that joins two makes it too small. On one core less than a second
for n = 8, some seconds for n = 9.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from ..canonical.form import canonical_codes
from ..decomposition.api import planar_mask
from ..graphs.batch import GraphBatch

COUNTS = (1, 1, 2, 6, 20, 99, 646, 5974, 71885, 1052805)
"""How many there are on 1, 2, ... nodes (OEIS A003094)."""

_PARENTS = 200  # whose children are made at a time


@cache
def connected_planar_graphs(n: int) -> GraphBatch:
    """One graph of each class.

    >>> [len(connected_planar_graphs(n)) for n in range(1, 7)]
    [1, 1, 2, 6, 20, 99]
    """
    if n == 1:
        return GraphBatch(np.array([0, 1]), np.array([0, 0]), np.empty((0, 2), np.int64))
    seen: set[bytes] = set()
    edges: list[np.ndarray] = []
    for batch in _children(connected_planar_graphs(n - 1), n):
        batch = batch[planar_mask(batch)]
        for i, code in enumerate(canonical_codes(batch, threads=1)):
            if code not in seen:
                seen.add(code)
                edges.append(batch.edges[batch.edge_ptr[i] : batch.edge_ptr[i + 1]])
    return GraphBatch(np.arange(len(edges) + 1) * n, np.cumsum([0, *map(len, edges)]), np.concatenate(edges))


def up_to(n: int) -> GraphBatch:
    """Those on 1, 2, ..., n nodes, one after another."""
    parts = [connected_planar_graphs(k) for k in range(1, n + 1)]
    nodes = np.concatenate([np.diff(part.node_ptr) for part in parts])
    edges = np.concatenate([np.diff(part.edge_ptr) for part in parts])
    return GraphBatch(np.cumsum([0, *nodes]), np.cumsum([0, *edges]), np.concatenate([part.edges for part in parts]))


def _children(parents: GraphBatch, n: int) -> Iterator[GraphBatch]:
    """Each parent with a new node n - 1 at every non-empty set of old nodes, if Euler's bound allows it."""
    bits = (np.arange(1, 2 ** (n - 1))[:, None] >> np.arange(n - 1)) & 1
    most = 3 * n - 6 if n > 2 else 1
    for start in range(0, len(parents), _PARENTS):
        owners, pairs, base = [], [], 0
        for p in range(start, min(start + _PARENTS, len(parents))):
            own = parents.edges[parents.edge_ptr[p] : parents.edge_ptr[p + 1]]
            allowed = bits[bits.sum(axis=1) + len(own) <= most]
            row, old = np.nonzero(allowed)
            owners += [base + np.repeat(np.arange(len(allowed)), len(own)), base + row]
            pairs += [np.tile(own, (len(allowed), 1)), np.stack([old, np.full_like(old, n - 1)], axis=1)]
            base += len(allowed)
        owner, edges = np.concatenate(owners), np.concatenate(pairs)
        order = np.argsort(owner, kind="stable")
        edge_ptr = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=base))])
        yield GraphBatch(np.arange(base + 1) * n, edge_ptr, edges[order])
