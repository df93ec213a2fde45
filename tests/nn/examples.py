"""Graphs with features for the tests of the learning library, and relabelled copies of them.

An ``Example`` is the common currency: the slow reference reads it, and it becomes a ``planegraph.Graph`` (features are its labels)
or a PyG ``Data``. Features take few values and are mostly zero, so that symmetries are broken here and there only: where a choice
between equally good walks could show.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, islice

import graphs
import maps
import numpy as np
import test_set_rules
from oracles import nauty_certificate
from plain import Plain, disjoint_union, graph6
from skeletons import glue_random_tree

NODE_SIZES, EDGE_SIZES = (3, 2), (2, 3)  # of the categorical columns
WIDTH = 2  # of continuous features
LEVELS = np.array([0.0, 0.0, 0.0, 0.5, -1.25])  # continuous values, most of them equal


@dataclass(frozen=True)
class Kind:
    """Which features an example has: ``none``, ``categorical`` or ``continuous``; ``darts``: one edge row per direction."""

    nodes: str = "none"
    edges: str = "none"
    darts: bool = False

    def __str__(self) -> str:
        return f"{self.nodes} nodes, {self.edges} {'darts' if self.darts else 'edges'}"


NO_FEATURES = Kind()
KINDS = (
    NO_FEATURES,
    Kind("categorical"),
    Kind("continuous"),
    Kind("none", "categorical"),
    Kind("categorical", "categorical"),
    Kind("continuous", "continuous"),
    Kind("categorical", "categorical", darts=True),
    Kind("continuous", "continuous", darts=True),
)


@dataclass(frozen=True, eq=False)
class Example:
    """Nodes 0..n-1, each undirected edge once; ``x`` (n, width), ``edge_attr`` (m, width) or ``dart_attr`` (m, 2, width) or none."""

    n: int
    edges: np.ndarray
    x: np.ndarray | None = None
    edge_attr: np.ndarray | None = None
    dart_attr: np.ndarray | None = None

    @classmethod
    def of(cls, g: Plain, kind: Kind = NO_FEATURES, seed: int = 0) -> Example:
        """The plain graph (its labels are left out) with random features of the given kind."""
        rng = np.random.default_rng(seed)
        m = len(g.edges)
        x = _draw(rng, (g.n,), kind.nodes, NODE_SIZES)
        attr = _draw(rng, (m, 2) if kind.darts else (m,), kind.edges, EDGE_SIZES)
        names = {"dart_attr" if kind.darts else "edge_attr": attr}
        return cls(g.n, np.array(g.edges, np.int64).reshape(m, 2), x, **names)

    def darts(self) -> np.ndarray | None:
        """Edge features per direction, shape (m, 2, width), whichever way they were given."""
        return np.stack([self.edge_attr] * 2, axis=1) if self.edge_attr is not None else self.dart_attr

    def build(self):
        """The same as a ``planegraph.Graph`` whose labels are the features."""
        import planegraph as pg

        return pg.Graph(self.n, self.edges, node_labels=self.x, edge_labels=self.edge_attr, dart_labels=self.dart_attr)

    def to_pyg(self, rng: np.random.Generator | None = None):
        """The same as a PyG ``Data`` with both directions of every edge; with ``rng`` in random order."""
        import torch
        from torch_geometric.data import Data

        index = np.concatenate([self.edges, self.edges[:, ::-1]])
        darts = self.darts()
        attr = None if darts is None else np.concatenate([darts[:, 0], darts[:, 1]])
        order = np.arange(len(index)) if rng is None else rng.permutation(len(index))
        data = Data(edge_index=torch.from_numpy(index[order].T.copy()), num_nodes=self.n)
        if self.x is not None:
            data.x = torch.from_numpy(self.x)
        if attr is not None:
            data.edge_attr = torch.from_numpy(attr[order])
        return data

    def shuffled(self, rng: np.random.Generator) -> Example:
        """An isomorphic copy: order of nodes, order of edges and direction of each edge drawn anew."""
        m = len(self.edges)
        new, order, flip = rng.permutation(self.n), rng.permutation(m), rng.random(m) < 0.5
        edges = new[self.edges[order]] if m else self.edges
        edges = np.where(flip[:, None], edges[:, ::-1], edges)
        old = np.argsort(new)
        darts = self.dart_attr
        if darts is not None:
            darts = np.where(flip[:, None, None], darts[order][:, ::-1], darts[order])
        return replace(
            self,
            edges=edges,
            x=None if self.x is None else self.x[old],
            edge_attr=None if self.edge_attr is None else self.edge_attr[order],
            dart_attr=darts,
        )

    def __str__(self) -> str:
        text = f"graph6 {graph6(Plain.of(self.n, self.edges))}"
        if self.edge_attr is not None or self.dart_attr is not None:
            text += f" edges={self.edges.tolist()}"
        for name in ("x", "edge_attr", "dart_attr"):
            value = getattr(self, name)
            text += "" if value is None else f" {name}={value.tolist()}"
        return text


def _draw(rng: np.random.Generator, rows: tuple[int, ...], kind: str, sizes: tuple[int, ...]) -> np.ndarray | None:
    if kind == "none":
        return None
    if kind == "continuous":
        return rng.choice(LEVELS, size=(*rows, WIDTH))
    columns = [rng.integers(0, size, rows) * (rng.random(rows) < 0.4) for size in sizes]
    return np.stack(columns, axis=-1).astype(np.int64)


def corner_cases() -> list[Plain]:
    """Graphs in which something is missing: nodes, edges, cut nodes, levels of a tree."""
    return [
        Plain.of(0, []),
        Plain.of(1, []),
        Plain.of(4, []),
        graphs.path(2),
        Plain.of(5, [(1, 3)]),
        graphs.cycle(3),
        graphs.complete(4),
        graphs.star(4),
        graphs.path(6),
        graphs.book(2),
        graphs.flower(3, graphs.cycle(3)),
        disjoint_union(graphs.path(1), graphs.complete(4), graphs.path(1), graphs.path(3)),
    ]


@cache
def planar_zoo(count: int = 300, most: int = 40, seed: int = 0) -> tuple[Plain, ...]:
    """All named families up to ``most`` nodes, then random planar graphs, glued SPQR trees and unions up to ``count``."""
    rng = random.Random(seed)
    named = graphs.families().values()
    return tuple(islice((g for g in chain(named, _random_planar(rng)) if g.n <= most), count))


@cache
def nasty(count: int = 2000, seed: int = 0) -> tuple[Plain, ...]:
    """What could break invariance: symmetric graphs, deep trees, and parts that are not planar and only tied as plain sets.

    No two of them are isomorphic.
    """
    named = (*graphs.families().values(), *graphs.nonplanar().values(), *test_set_rules.CASES.values())
    found: dict[tuple, Plain] = {}
    for g in chain(named, _random_nasty(random.Random(seed))):
        found.setdefault(nauty_certificate(_unlabelled(g)), _unlabelled(g))
        if len(found) == count:
            return tuple(found.values())
    raise AssertionError("the generators never end")


def _unlabelled(g: Plain) -> Plain:
    return Plain(g.n, g.edges)


def _random_planar(rng: random.Random) -> Iterator[Plain]:
    while True:
        yield maps.planar(rng.randint(1, 20), rng.choice((0.3, 0.5, 0.7, 0.9, 1.0)), rng)
        yield glue_random_tree(rng.randint(1, 7), rng).graph
        part = maps.planar(rng.randint(1, 7), rng.choice((0.4, 0.7, 1.0)), rng)
        yield disjoint_union(*[part] * rng.randint(1, 3), maps.planar(rng.randint(1, 6), 0.6, rng))
        yield graphs.symmetric_block_tree(rng.choice(maps.polyhedra(60)), rng.randint(1, 3), 1)


def _random_nasty(rng: random.Random) -> Iterator[Plain]:
    planar = _random_planar(rng)
    while True:
        yield next(planar)
        yield glue_random_tree(rng.randint(2, 9), rng).graph
        yield glue_random_tree(rng.randint(2, 7), rng, nonplanar=True).graph
        yield maps.host_of_lookalikes(rng)
        yield graphs.symmetric_block_tree(rng.choice((graphs.cycle(3), graphs.path(2), graphs.book(2))), 2, rng.randint(1, 3))
        yield graphs.two_centres(*rng.choices(maps.polyhedra(60), k=2))
        yield graphs.skew_theta("".join(rng.choice("+-") for _ in range(rng.randint(2, 5))))
        yield graphs.with_tails(graphs.cycle(6), {v: rng.randint(1, 2) for v in rng.sample(range(6), 4)})
