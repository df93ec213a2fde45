"""All connected planar graphs on n nodes, up to isomorphism, as the tests' own graphs.

They are made by planegraph itself (benchmarks/connected_planar.py), which is a test of its codes: a code that splits a class makes
the count too large, one that joins two makes it too small.

As a command: ``python tests/exhaustive.py 9`` prints the counts up to n = 9 and exits with 1 if one is wrong.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

if __name__ == "__main__":
    sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[1] / "benchmarks")]

import connected_planar
from connected_planar import COUNTS
from oracles import nauty_certificate
from plain import Plain, disjoint_union


@cache
def connected_planar_graphs(n: int) -> tuple[Plain, ...]:
    """One graph of each class."""
    batch = connected_planar.connected_planar_graphs(n)
    rows = [slice(*batch.edge_ptr[i : i + 2]) for i in range(len(batch))]
    return tuple(Plain.of(n, batch.edges[row].tolist()) for row in rows)


ALL_COUNTS = (1, 2, 4, 11, 33, 142, 822, 6966, 79853)  # OEIS A005470, planar graphs on n nodes, from n = 1


def planar_graphs(n: int) -> Iterator[Plain]:
    """One graph of each class, connected or not: every multiset of connected ones with n nodes in all."""
    for sizes in _partitions(n, n):
        of_each_size = [
            itertools.combinations_with_replacement(connected_planar_graphs(size), sizes.count(size)) for size in sorted(set(sizes))
        ]
        for parts in itertools.product(*of_each_size):
            yield disjoint_union(*itertools.chain.from_iterable(parts))


def _partitions(n: int, largest: int) -> Iterator[tuple[int, ...]]:
    if n == 0:
        yield ()
    for k in range(min(n, largest), 0, -1):
        yield from ((k, *rest) for rest in _partitions(n - k, k))


def coloured(n: int, colours: int = 2) -> Iterator[Plain]:
    """All colourings (not up to isomorphism) of all connected planar graphs on n nodes."""
    for g in connected_planar_graphs(n):
        for labels in itertools.product(range(colours), repeat=n):
            yield replace(g, node_labels=labels)


__all__ = ["ALL_COUNTS", "COUNTS", "coloured", "connected_planar_graphs", "nauty_certificate", "planar_graphs"]


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
