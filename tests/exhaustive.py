"""All connected planar graphs on n nodes, up to isomorphism, made by planegraph itself.

Every connected graph has a node whose removal leaves it connected, and a part of a planar graph is planar; so all of them arise
from those on n - 1 nodes by adding a node with any non-empty neighbourhood, dropping what is not planar and keeping one graph per
canonical code. A code that splits a class makes the count too large, one that joins two makes it too small.

As a command: ``python tests/exhaustive.py 9`` prints the counts up to n = 9 and exits with 1 if one is wrong.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))

from dataclasses import replace

from oracles import nauty_certificate
from plain import Plain

import planegraph as pg

COUNTS = (1, 1, 2, 6, 20, 99, 646, 5974, 71885, 1052805)  # OEIS A003094


@cache
def connected_planar_graphs(n: int) -> tuple[Plain, ...]:
    """One graph of each class."""
    if n == 1:
        return (Plain.of(1, []),)
    found: dict[bytes, Plain] = {}
    for batch in candidates(connected_planar_graphs(n - 1), n):
        batch = batch[pg.planar_mask(batch)]
        for i, code in enumerate(pg.canonical_codes(batch, threads=1)):
            if code not in found:
                rows = slice(batch.edge_ptr[i], batch.edge_ptr[i + 1])
                found[code] = Plain.of(n, batch.edges[rows].tolist())
    return tuple(found.values())


def candidates(parents: Iterable[Plain], n: int, chunk: int = 200) -> Iterator[pg.GraphBatch]:
    """Each parent with a new node n - 1 at every non-empty set of old nodes, if Euler's bound allows it."""
    bits = (np.arange(1, 2 ** (n - 1))[:, None] >> np.arange(n - 1)) & 1
    most = 3 * n - 6 if n > 2 else 1
    parents = list(parents)
    for start in range(0, len(parents), chunk):
        owners, pairs, base = [], [], 0
        for g in parents[start : start + chunk]:
            allowed = bits[bits.sum(axis=1) + len(g.edges) <= most]
            row, old = np.nonzero(allowed)
            owners += [base + np.repeat(np.arange(len(allowed)), len(g.edges)), base + row]
            pairs += [np.tile(np.array(g.edges, np.int64).reshape(-1, 2), (len(allowed), 1))]
            pairs += [np.stack([old, np.full_like(old, n - 1)], axis=1)]
            base += len(allowed)
        owner, edges = np.concatenate(owners), np.concatenate(pairs)
        order = np.argsort(owner, kind="stable")
        edge_ptr = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=base))])
        yield pg.GraphBatch(np.arange(base + 1) * n, edge_ptr, edges[order])


def coloured(n: int, colours: int = 2) -> Iterator[Plain]:
    """All colourings (not up to isomorphism) of all connected planar graphs on n nodes."""
    for g in connected_planar_graphs(n):
        for labels in itertools.product(range(colours), repeat=n):
            yield replace(g, node_labels=labels)


__all__ = ["COUNTS", "candidates", "coloured", "connected_planar_graphs", "nauty_certificate"]


def main(largest: int) -> int:
    wrong = 0
    for n in range(1, largest + 1):
        start = time.perf_counter()
        found = len(connected_planar_graphs(n))
        expected = COUNTS[n - 1] if n <= len(COUNTS) else None
        wrong += expected is not None and found != expected
        print(f"n = {n}: {found} codes, expected {expected}, {time.perf_counter() - start:.1f} s", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 9))
