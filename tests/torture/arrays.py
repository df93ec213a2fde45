"""Arbitrary arrays into the core: bad offsets, negative and huge ids, NaN labels, truncated batches.

Whatever goes in, one of two things must come out: an error of the package (or numpy's or Python's ValueError, TypeError, OverflowError for
arguments that are not arrays of the right kind), or tables that pass check(). A crash ends the process, which is the finding.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

import planegraph as pg
from planegraph import _core
from planegraph.canonical.code import decode

ALLOWED = (pg.PlanegraphError, ValueError, TypeError, OverflowError, IndexError)
# Sizes between a million and the limit are honest claims that only take memory, so none is drawn.
SPECIAL = (0, 1, 2, -1, -2, 3, 7, 127, 2**31 - 1, 2**31, -(2**31), 2**32, 2**40, 2**62, 2**63 - 1, -(2**63))


class Fuzzer:
    """One round: random arguments for one entry point."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.entries: list[Callable[[], object]] = [
            self.raw_run,
            self.raw_planar,
            self.raw_mask,
            self.batch,
            self.graph,
            self.nearly_good,
            self.nearly_good,
            self.code,
            self.graph6,
        ]

    def round(self) -> str:
        entry = self.rng.choice(self.entries)
        try:
            entry()
        except ALLOWED as error:
            return f"{entry.__name__}: {type(error).__name__}"
        return f"{entry.__name__}: fine"

    def number(self, high: int = 12) -> int:
        return self.rng.choice(SPECIAL) if self.rng.random() < 0.08 else self.rng.randrange(high)

    def integers(self, size: int, high: int = 12) -> np.ndarray:
        return np.array([self.number(high) for _ in range(size)], dtype=np.int64)

    def offsets(self, graphs: int, total: int | None = None) -> np.ndarray:
        steps = self.integers(graphs, 8)
        ptr = np.concatenate([[0], np.cumsum(np.where(np.abs(steps) < 100, np.abs(steps), 3))]).astype(np.int64)
        if total is not None and self.rng.random() < 0.8:
            ptr = np.sort(np.minimum(ptr, total))
            ptr[-1] = total
        if self.rng.random() < 0.2 and len(ptr):
            ptr[self.rng.randrange(len(ptr))] = self.number()
        return ptr

    def keys(self, rows: int, *middle: int) -> np.ndarray | None:
        if self.rng.random() < 0.5:
            return None
        rows += self.rng.choice((0, 0, 0, 0, 1, -1))
        shape = (max(rows, 0), *middle, self.rng.randrange(3))
        return np.array([self.number(3) for _ in range(int(np.prod(shape)))], dtype=np.int64).reshape(shape)

    def edges(self, count: int) -> np.ndarray:
        return self.integers(2 * count, self.rng.choice((4, 12, 40))).reshape(count, 2)

    def raw_run(self) -> None:
        graphs, m = self.rng.randrange(5), self.rng.randrange(30)
        node_ptr, edge_ptr = self.offsets(graphs), self.offsets(graphs, m)
        out = _core.run(
            node_ptr,
            edge_ptr if self.rng.random() < 0.9 else edge_ptr[:-1],
            self.edges(m),
            self.keys(int(node_ptr[-1]) if 0 <= node_ptr[-1] < 1000 else 3),
            self.rng.random() < 0.5,
            self.keys(m, self.rng.choice((1, 2))),
            self.rng.random() < 0.5,
            nonplanar_as_set=self.rng.random() < 0.5,
            walks=self.rng.random() < 0.7,
            codes=self.rng.random() < 0.5,
            threads=self.rng.choice((1, 1, 2, 3)),
        )
        assert isinstance(out, dict)

    def raw_planar(self) -> None:
        edges, n = self.edges(self.rng.randrange(30)), self.number(12)
        _core.is_planar(n, edges)
        _core.kuratowski(n, edges)

    def raw_mask(self) -> None:
        graphs, m = self.rng.randrange(5), self.rng.randrange(30)
        _core.planar_mask(self.offsets(graphs), self.offsets(graphs, m), self.edges(m))

    def floats(self, *shape: int) -> np.ndarray:
        values = [self.rng.choice((0.0, -0.0, 1.0, 1.5, np.inf, -np.inf, 5e-324)) for _ in range(int(np.prod(shape)))]
        if values and self.rng.random() < 0.1:
            values[self.rng.randrange(len(values))] = np.nan
        return np.array(values).reshape(shape)

    def batch(self) -> None:
        graphs, m = self.rng.randrange(5), self.rng.randrange(30)
        node_ptr = self.offsets(graphs)
        n = int(node_ptr[-1]) if 0 <= node_ptr[-1] < 1000 else 3
        labels = {"node_labels": self.floats(n) if self.rng.random() < 0.5 else self.keys(n)}
        labels[self.rng.choice(("edge_labels", "dart_labels"))] = self.floats(m, self.rng.choice((1, 2)))
        made = pg.GraphBatch(node_ptr, self.offsets(graphs, m), self.edges(m), **labels)
        self.check(pg.decompose_batch(made, threads=self.rng.choice((1, 2)), on_nonplanar=self.rng.choice(("raise", "set"))))

    def graph(self) -> None:
        m = self.rng.randrange(20)
        g = pg.Graph(self.number(40), self.edges(m), node_labels=self.keys(8))
        pg.decompose(g).check()

    def nearly_good(self) -> None:
        """Planar graphs with a few numbers changed: these pass the first checks, and often all of them."""
        rng = self.rng
        parts = [self.small_graph() for _ in range(rng.randrange(1, 6))]
        made = pg.GraphBatch.from_graphs(parts)
        node_ptr, edge_ptr, edges = made.node_ptr.copy(), made.edge_ptr.copy(), made.edges.copy()
        for _ in range(rng.randrange(3)):
            array = rng.choice((node_ptr, edge_ptr, edges.reshape(-1), edges.reshape(-1)))
            if len(array):
                array[rng.randrange(len(array))] = self.number(30)
        if rng.random() < 0.1:
            edges = edges[: rng.randrange(len(edges) + 1)]
        out = _core.run(node_ptr, edge_ptr, edges, nonplanar_as_set=rng.random() < 0.5, codes=False, threads=rng.choice((1, 2)))
        packed = pg.PackedDecomposition(pg.GraphBatch(node_ptr, edge_ptr, edges), **out)
        self.check(packed)

    def small_graph(self) -> pg.Graph:
        f, k, seed = pg.families, self.rng.randint(3, 12), self.rng.randrange(10**6)
        choices = (
            lambda: f.random_planar(k, self.rng.random(), seed),
            lambda: f.wheel(k),
            lambda: f.prism(k),
            lambda: f.k2n(k),
            lambda: f.cactus(k, seed),
            lambda: f.nested_k4(k),
            lambda: f.complete(self.rng.randint(0, 6)),
            lambda: f.complete_bipartite(3, self.rng.randint(0, 5)),
            lambda: f.disjoint_union(f.path(k), f.grid(3, k), f.star(k)),
        )
        return f.shuffled(self.rng.choice(choices)(), seed)

    @staticmethod
    def check(packed: pg.PackedDecomposition) -> None:
        for d in packed:
            d.check()

    def code(self) -> None:
        code = bytearray(pg.canonical_form(self.small_graph()).code)
        for _ in range(self.rng.randrange(4)):
            code[self.rng.randrange(len(code))] = self.rng.randrange(256)
        decode(bytes(code[: self.rng.randrange(len(code) + 1)]) if self.rng.random() < 0.3 else bytes(code))

    def graph6(self) -> None:
        rng = self.rng
        text = bytes(rng.choice((63, 126, rng.randrange(256), 63 + rng.randrange(12))) for _ in range(rng.randrange(12)))
        if text[:2] != b"~~":
            pg.Graph.from_graph6(text)


def trial(seed: int) -> None:
    Fuzzer(seed).round()
