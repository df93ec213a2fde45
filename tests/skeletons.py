"""Random SPQR trees built bottom-up: random S, P and R skeletons glued along virtual edges, remembering the expected tree.

No two S and no two P become neighbours, and a P gets at most one real edge, so the glued graph is simple and its SPQR tree is exactly
the one that was built (it is unique).
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field

import graphs
import maps
from plain import Plain

Key = tuple[str, frozenset[int], frozenset[frozenset[int]]]


@dataclass
class _Node:
    kind: str
    nodes: set[int] = field(default_factory=set)
    real: set[frozenset[int]] = field(default_factory=set)
    virtual: int = 0

    @property
    def key(self) -> Key:
        return self.kind, frozenset(self.nodes), frozenset(self.real)


@dataclass(frozen=True)
class GluedGraph:
    """A graph and its SPQR tree: nodes by type, node set and real edges (pairs of nodes), and the tree's edges between them."""

    graph: Plain
    nodes: frozenset[Key]
    tree: frozenset[frozenset[Key]]


def glue_random_tree(size: int, rng: random.Random, *, nonplanar: bool = False) -> GluedGraph:
    """A tree of about ``size`` skeletons (a few more, so that no P ends without its three edges)."""
    builder = _Builder(rng, nonplanar)
    builder.grow(size)
    names = list(range(builder.n))
    rng.shuffle(names)
    rename = {v: names[v] for v in range(builder.n)}
    edges = [(rename[u], rename[v]) for u, v in builder.edges]
    rng.shuffle(edges)
    for node in builder.tree:
        node.nodes = {rename[v] for v in node.nodes}
        node.real = {frozenset(rename[v] for v in e) for e in node.real}
    keys = [node.key for node in builder.tree]
    assert len(set(keys)) == len(keys)
    return GluedGraph(
        Plain.of(builder.n, edges),
        frozenset(keys),
        frozenset(frozenset((keys[a], keys[b])) for a, b in builder.links),
    )


class _Builder:
    def __init__(self, rng: random.Random, nonplanar: bool) -> None:
        self.rng = rng
        self.nonplanar = nonplanar
        self.n = 0
        self.edges: list[tuple[int, int]] = []
        self.tree: list[_Node] = []
        self.links: list[tuple[int, int]] = []
        self.open: list[tuple[int, int, int]] = []  # skeleton edges that may yet be real or virtual: tree node and poles

    def grow(self, size: int) -> None:
        self._add(self.rng.choice("SPRR"), None)
        while self.open:
            i = self.rng.randrange(len(self.open))
            owner, u, v = self.open.pop(i)
            node = self.tree[owner]
            must = node.kind == "P" and bool(node.real)
            if must or (len(self.tree) < size and self.rng.random() < 0.6):
                ending = len(self.tree) >= size
                kinds = [k for k in ("SR" if ending else "SPRR") if k != node.kind or k == "R"]
                self._add(self.rng.choice(kinds), (owner, u, v))
            else:
                node.real.add(frozenset((u, v)))
                self.edges.append((u, v))

    def _add(self, kind: str, hook: tuple[int, int, int] | None) -> None:
        """A new skeleton; its edge 0 becomes virtual and is glued on the hook."""
        n, pairs = self._skeleton(kind)
        self.rng.shuffle(pairs)
        pairs = [pair if self.rng.random() < 0.5 else pair[::-1] for pair in pairs]
        index = len(self.tree)
        node = _Node(kind)
        self.tree.append(node)
        new: dict[int, int] = {}
        if hook is not None:
            owner, u, v = hook
            self.links.append((owner, index))
            new = dict(zip(pairs.pop(0), (u, v), strict=True))
        for w in range(n):
            if w not in new:
                new[w] = self.n
                self.n += 1
        node.nodes = set(new.values())
        self.open += [(index, new[a], new[b]) for a, b in pairs]

    def _skeleton(self, kind: str) -> tuple[int, list[tuple[int, int]]]:
        rng = self.rng
        if kind == "P":
            return 2, [(0, 1)] * rng.choice((3, 3, 3, 4, 5))
        if kind == "S":
            k = rng.choice((3, 3, 4, 5, 7))
            return k, list(graphs.cycle(k).edges)
        if self.nonplanar and rng.random() < 0.4:
            g = rng.choice((graphs.complete(5), graphs.complete_bipartite(3, 3), graphs.complete(6)))
        else:
            g = rng.choice(
                (
                    graphs.complete(4),
                    graphs.wheel(rng.randint(4, 6)),
                    graphs.prism(rng.randint(3, 5)),
                    graphs.bipyramid(rng.randint(3, 5)),
                    rng.choice(maps.polyhedra(60)),
                )
            )
        return g.n, list(g.edges)


def tree_from_decomposition(d) -> tuple[frozenset[Key], frozenset[frozenset[Key]]]:
    """The unrooted SPQR trees of a ``Decomposition`` in the same form."""
    return tree_from_tables(d.graph.edges, d.arrays)


def tree_from_tables(edges, arrays) -> tuple[frozenset[Key], frozenset[frozenset[Key]]]:
    nodes: list[set[int]] = [set() for _ in arrays["spqr_type"]]
    real: list[set[frozenset[int]]] = [set() for _ in arrays["spqr_type"]]
    for v, e, c in _rows(arrays, "walk_node", "walk_edge", "walk_spqr"):
        nodes[c].add(v)
        if e >= 0:
            real[c].add(frozenset(int(x) for x in edges[e]))
    keys = [("SPQR"[t], frozenset(nodes[c]), frozenset(real[c])) for c, t in enumerate(arrays["spqr_type"])]
    parents = list(map(int, arrays["spqr_parent"]))
    # A plain set may have a neutral root between two centres, a bond of two: it is not part of the unrooted tree.
    neutral = {c for c, key in enumerate(keys) if key[0] == "P" and parents.count(c) == 2 and parents[c] < 0 and not key[2]}
    links = {frozenset((keys[c], keys[p])) for c, p in enumerate(parents) if p >= 0 and p not in neutral}
    links |= {frozenset(keys[c] for c, p in enumerate(parents) if p == root) for root in neutral}
    return frozenset(key for c, key in enumerate(keys) if c not in neutral), frozenset(links)


def _rows(arrays, *names: str) -> Iterable[tuple[int, ...]]:
    return zip(*(arrays[name].tolist() if hasattr(arrays[name], "tolist") else arrays[name] for name in names), strict=True)
