"""``on_nonplanar="set"``: for each rule that keeps the result invariant, a graph in which the rule is needed.

The Petersen graph and the Moebius ladder on ten nodes are cubic, rigid, not planar, and have equal multisets of darts: to the
core they look alike, to a model they do not once it has seen their nodes. Wherever two such lookalikes stand in for the edges
that a tie compares, choosing between them would let the numbering of the input show through.
"""

from __future__ import annotations

import random
from dataclasses import replace

import networkx as nx
import pytest
from graphs import from_nx
from plain import Plain
from symbolic import SymbolicPlanE

import planegraph as pg

SHUFFLES = 12


class Skeleton:
    """A graph under construction: edges, and lookalikes in the place of edges."""

    def __init__(self) -> None:
        self.edges: list[tuple[int, int]] = []
        self.n = 0

    def nodes(self, count: int) -> range:
        self.n += count
        return range(self.n - count, self.n)

    def edge(self, u: int, v: int) -> None:
        self.edges.append((u, v))

    def petersen(self, u: int, v: int) -> None:
        self._replace(nx.petersen_graph(), u, v)

    def moebius(self, u: int, v: int) -> None:
        self._replace(nx.circulant_graph(10, [1, 5]), u, v)

    def lopsided(self, u: int, v: int) -> None:
        """K3,3 and one more edge at u, but not at v: its two directions look alike to the core."""
        graph = nx.complete_bipartite_graph(3, 3)
        graph.add_edge(0, 1)
        self._replace(graph, u, v, (0, 3))

    def ladder(self, u: int, v: int, rungs: int) -> None:
        """A strip of squares on the edge uv: a deep branch of the SPQR tree, so that its centre lies there."""
        self.edge(u, v)
        for _ in range(rungs):
            a, b = self.nodes(2)
            self.edge(u, a)
            self.edge(v, b)
            self.edge(a, b)
            u, v = a, b

    def _replace(self, graph: nx.Graph, u: int, v: int, edge: tuple[int, int] = (0, 1)) -> None:
        """The given edge of the graph is taken out, its ends become u and v."""
        a, b = edge
        name = {a: u, b: v}
        for x in graph:
            if x not in name:
                name[x] = self.nodes(1)[0]
        self.edges += [(name[x], name[y]) for x, y in graph.edges if {x, y} != {a, b}]

    def build(self) -> Plain:
        return Plain.of(self.n, self.edges)


def root_bond() -> Plain:
    """Two lookalikes and an edge in parallel."""
    s = Skeleton()
    u, v = s.nodes(2)
    s.edge(u, v)
    s.petersen(u, v)
    s.moebius(u, v)
    return s.build()


def root_bond_with_unlike_poles() -> Plain:
    """The same with a leaf at one pole: now only the lookalikes are tied, not the directions."""
    g = root_bond()
    return Plain.of(g.n + 1, [*g.edges, (0, g.n)])


def hanging_bond() -> Plain:
    """The same in a cycle whose other end holds the centre of the tree."""
    s = Skeleton()
    u, v, w, x = s.nodes(4)
    s.edge(u, v)
    s.petersen(u, v)
    s.moebius(u, v)
    s.edge(v, w)
    s.ladder(w, x, 6)
    s.edge(x, u)
    s.edge(w, *s.nodes(1))  # a leaf, so that nothing above is tied
    return s.build()


def root_cycle() -> Plain:
    """A square of edges and lookalikes in turn."""
    s = Skeleton()
    a, b, c, d = s.nodes(4)
    s.petersen(a, b)
    s.edge(b, c)
    s.moebius(c, d)
    s.edge(d, a)
    return s.build()


def root_rigid() -> Plain:
    """K4 with lookalikes at two opposite edges."""
    s = Skeleton()
    a, b, c, d = s.nodes(4)
    s.petersen(a, b)
    s.moebius(c, d)
    for u, v in ((a, c), (a, d), (b, c), (b, d)):
        s.edge(u, v)
    return s.build()


def hanging_rigid() -> Plain:
    """K4 hanging at ab; its mirror image swaps c and d, and with them the lookalikes at ac and ad."""
    s = Skeleton()
    a, b, c, d, w, x = s.nodes(6)
    s.petersen(a, c)
    s.moebius(a, d)
    for u, v in ((b, c), (b, d), (c, d), (b, w), (x, a)):
        s.edge(u, v)
    s.ladder(w, x, 8)
    return s.build()


def two_centres() -> Plain:
    """Two lookalikes on one edge-less pair of poles: neither may be the root."""
    s = Skeleton()
    u, v = s.nodes(2)
    s.petersen(u, v)
    s.moebius(u, v)
    return s.build()


def lopsided_cycle(length: int, label: int) -> Plain:
    """A set and a cycle on two poles; which of them is the root depends on length and label. Either way the cycle has no direction
    that is not inherited: it is a child of a set, or one of two centres whose codes are the same both ways."""
    s = Skeleton()
    u, v, *inner = s.nodes(1 + length)
    s.lopsided(u, v)
    for a, b in zip([u, *inner], [*inner, v], strict=True):
        s.edge(a, b)
    labels = [label if x in inner else 0 for x in range(s.n)]
    return replace(s.build(), node_labels=tuple(labels))


FOUND_BY_FUZZING = ["QheA@GUA_A???T?A?@_?I??W?OW"]  # two centres with equal, incomplete codes
RULES = (root_bond, root_bond_with_unlike_poles, hanging_bond, root_cycle, root_rigid, hanging_rigid, two_centres)
CASES = (
    {rule.__name__: rule() for rule in RULES}
    | {f"lopsided cycle {k}, {label}": lopsided_cycle(k, label) for k in range(2, 5) for label in range(6)}
    | {text: from_nx(nx.from_graph6_bytes(text.encode())) for text in FOUND_BY_FUZZING}
)


@pytest.mark.parametrize("name", CASES)
def test_numbering_does_not_show(name):
    g, rng = CASES[name], random.Random(name)
    model = SymbolicPlanE(edge_features=False, layers=5)
    seen = set()
    for version in [g, *(g.shuffled(rng)[0] for _ in range(SHUFFLES))]:
        d = pg.decompose(version.build(), on_nonplanar="set")
        d.check()
        seen.add(model.encode(version, d.arrays))
    assert len(seen) == 1, name


def test_either_centre_of_a_lopsided_cycle_can_be_the_root():
    roots = set()
    for name, g in CASES.items():
        if name.startswith("lopsided"):
            nodes = pg.decompose(g.build(), on_nonplanar="set").spqr_nodes
            roots |= {c.type for c in nodes if c.parent is None}
    assert roots == {"R", "S"}


def test_lookalikes_look_alike_only_to_the_core():
    """The premise: exchanging one lookalike for the other changes what the model sees, not the multiset of darts."""
    model = SymbolicPlanE(edge_features=False, layers=5)
    one, other = Skeleton(), Skeleton()
    for s, add in ((one, one.petersen), (other, other.moebius)):
        u, v, w = s.nodes(3)
        s.edge(u, w)  # a detour, so that the poles differ from the other nodes
        s.edge(w, v)
        s.edge(u, v)
        add(u, v)
    plain = [s.build() for s in (one, other)]
    assert len({len(g.edges) for g in plain}) == 1
    assert len({model.encode(g, pg.decompose(g.build(), on_nonplanar="set").arrays) for g in plain}) == 2
