"""A labelled graph in plain Python, the common currency of the tests: generators make it, oracles and planegraph read it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Plain:
    """Nodes 0..n-1, each undirected edge once; labels are integers.

    ``dart_labels[e] = (label of u -> v, label of v -> u)`` for edge ``e = (u, v)``; ``edge_labels[e]`` stands for both.
    """

    n: int
    edges: tuple[tuple[int, int], ...]
    node_labels: tuple[int, ...] | None = None
    edge_labels: tuple[int, ...] | None = None
    dart_labels: tuple[tuple[int, int], ...] | None = None

    @classmethod
    def of(cls, n: int, edges: Iterable[Sequence[int]], **labels) -> Plain:
        return cls(n, tuple((int(u), int(v)) for u, v in edges), **labels)

    def darts(self) -> list[tuple[int, int]]:
        """Per edge the labels of its two darts, whichever way they were given."""
        if self.dart_labels is not None:
            return list(self.dart_labels)
        if self.edge_labels is not None:
            return [(a, a) for a in self.edge_labels]
        return [(0, 0)] * len(self.edges)

    def build(self):
        """The same as a ``planegraph.Graph``."""
        import planegraph as pg

        labels = {}
        if self.node_labels is not None:
            labels["node_labels"] = np.array(self.node_labels, dtype=np.int64).reshape(self.n)
        if self.edge_labels is not None:
            labels["edge_labels"] = np.array(self.edge_labels, dtype=np.int64).reshape(len(self.edges))
        if self.dart_labels is not None:
            labels["dart_labels"] = np.array(self.dart_labels, dtype=np.int64).reshape(len(self.edges), 2)
        return pg.Graph(self.n, np.array(self.edges, dtype=np.int64).reshape(-1, 2), **labels)

    def shuffled(self, rng: random.Random) -> tuple[Plain, list[int]]:
        """An isomorphic copy (nodes, order and direction of edges permuted) and the new id of each node."""
        new = list(range(self.n))
        rng.shuffle(new)
        order = list(range(len(self.edges)))
        rng.shuffle(order)
        flips = [rng.random() < 0.5 for _ in order]
        edges, darts = [], []
        old_darts = self.darts()
        for e, flip in zip(order, flips, strict=True):
            u, v = (new[x] for x in self.edges[e])
            edges.append((v, u) if flip else (u, v))
            darts.append(old_darts[e][::-1] if flip else old_darts[e])
        labels = {}
        if self.node_labels is not None:
            old = [0] * self.n
            for v, w in enumerate(new):
                old[w] = v
            labels["node_labels"] = tuple(self.node_labels[v] for v in old)
        if self.edge_labels is not None:
            labels["edge_labels"] = tuple(self.edge_labels[e] for e in order)
        if self.dart_labels is not None:
            labels["dart_labels"] = tuple(darts)
        return Plain(self.n, tuple(edges), **labels), new

    def with_labels(self, rng: random.Random, *, nodes: int = 0, edges: int = 0, darts: int = 0) -> Plain:
        """Random labels from so many values; most are 0, so that symmetries are broken here and there only."""

        def draw(k: int) -> int:
            return rng.randrange(k) if rng.random() < 0.5 else 0

        labelled = replace(self, node_labels=None, edge_labels=None, dart_labels=None)
        if nodes:
            labelled = replace(labelled, node_labels=tuple(draw(nodes) for _ in range(self.n)))
        if edges:
            labelled = replace(labelled, edge_labels=tuple(draw(edges) for _ in self.edges))
        if darts:
            labelled = replace(labelled, dart_labels=tuple((draw(darts), draw(darts)) for _ in self.edges))
        return labelled

    def __str__(self) -> str:
        text = f"graph6 {graph6(self)}" if self.n < 400 else f"graph with {self.n} nodes"
        for name in ("node_labels", "edge_labels", "dart_labels"):
            value = getattr(self, name)
            if value is not None and any(np.ravel(value)):
                text += f" {name}={list(value)}"
        if self.edge_labels is not None or self.dart_labels is not None:
            text += f" edges={list(self.edges)}"
        return text


def graph6(g: Plain) -> str:
    """graph6 of the unlabelled graph, written independently of planegraph's own."""
    assert g.n < 258048
    head = [g.n] if g.n < 63 else [63, g.n >> 12, (g.n >> 6) & 63, g.n & 63]
    present = {(min(e), max(e)) for e in g.edges}
    bits = [(i, j) in present for j in range(g.n) for i in range(j)]
    bits += [False] * (-len(bits) % 6)
    body = [sum(bit << (5 - k) for k, bit in enumerate(bits[i : i + 6])) for i in range(0, len(bits), 6)]
    return "".join(chr(63 + x) for x in head + body)


def from_graph6(text: str) -> Plain:
    data = [ord(ch) - 63 for ch in text]
    n, data = (data[0], data[1:]) if data[0] < 63 else ((data[1] << 12) + (data[2] << 6) + data[3], data[4:])
    bits = [x >> (5 - k) & 1 for x in data for k in range(6)]
    pairs = [(i, j) for j in range(n) for i in range(j)]
    return Plain.of(n, [pair for pair, bit in zip(pairs, bits, strict=False) if bit])


def disjoint_union(*graphs: Plain) -> Plain:
    """All of them side by side; labels are kept if every graph has them."""
    edges: list[tuple[int, int]] = []
    n = 0
    for g in graphs:
        edges += [(u + n, v + n) for u, v in g.edges]
        n += g.n
    labels = {}
    for name in ("node_labels", "edge_labels", "dart_labels"):
        if all(getattr(g, name) is not None for g in graphs):
            labels[name] = tuple(x for g in graphs for x in getattr(g, name))
    return Plain(n, tuple(edges), **labels)


def identify(g: Plain, h: Plain, u: int, v: int) -> Plain:
    """Glue node ``v`` of ``h`` on node ``u`` of ``g``: they become one cut node."""
    new = {v: u}
    for w in range(h.n):
        if w != v:
            new[w] = g.n + len(new) - 1
    return Plain.of(g.n + h.n - 1, [*g.edges, *((new[a], new[b]) for a, b in h.edges)])


def replace_edge(g: Plain, e: int, h: Plain, f: int, *, flip: bool = False, keep: bool = False) -> Plain:
    """2-sum: glue edge ``f`` of ``h`` on edge ``e`` of ``g``; both vanish unless ``keep``, which leaves one real edge."""
    a, b = g.edges[e]
    c, d = h.edges[f][::-1] if flip else h.edges[f]
    new = {c: a, d: b}
    for w in range(h.n):
        if w not in new:
            new[w] = g.n + len(new) - 2
    edges = [x for i, x in enumerate(g.edges) if keep or i != e]
    edges += [(new[x], new[y]) for i, (x, y) in enumerate(h.edges) if i != f]
    return Plain.of(g.n + h.n - 2, edges)


def relabelled(g: Plain, seed: int) -> Plain:
    return g.shuffled(random.Random(seed))[0]


Family = dict[str, Callable[[], Plain]]
