"""Arbitrary arrays into the core: bad offsets, negative and huge ids, NaN labels, truncated batches.

They go into the functions on embeddings and drawings, too, and into readers of codes, graph6, planar_code and pickled embeddings.
Whatever goes in, one of two things must come out: an error of the package (or numpy's or Python's ValueError, TypeError, OverflowError for
arguments that are not arrays of the right kind), or what passes check(). A crash ends the process, which is the finding.

A new function of a graph: a line in ``_OF_GRAPHS``.
"""

from __future__ import annotations

import pickle
import random
import warnings
from collections.abc import Callable

import numpy as np

import planegraph as pg
from planegraph import _core
from planegraph.canonical.code import decode
from planegraph.planarity.planar_code import from_planar_code

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
            self.of_graph,
            self.of_graph,
            self.embedding,
            self.embedding,
            self.rotations,
            self.planar_code,
            self.pickled_embedding,
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

    # ---- embeddings and drawings ---------------------------------------------------------------------------------------------

    def of_graph(self) -> None:
        """A function of the toolkit, of a graph that may not be one or not be planar, with arguments that may make no sense."""
        g = self.small_graph()
        edges = g.edges.copy()
        for _ in range(self.rng.choice((0, 0, 1, 2))):
            if edges.size:
                edges.reshape(-1)[self.rng.randrange(edges.size)] = self.number(g.num_nodes)
        made = pg.Graph(self.number(40) if self.rng.random() < 0.1 else g.num_nodes, edges)
        if made.num_nodes > 1000:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # drawings that doubles are too coarse for
            found = self.rng.choice(_OF_GRAPHS)(made, self)
        if isinstance(found, pg.Embedding):
            self.use(found)

    def nodes(self, n: int) -> object:
        """Nodes, or what is none."""
        some = [self.number(max(n, 1)) for _ in range(self.rng.randrange(4))]
        return self.rng.choice((some, some, set(some), np.array(some, np.int64), self.number(8), 1.5, "ab", [[0]], [None], None))

    def points(self, n: int) -> np.ndarray:
        kinds = ((0.0, 1.0, 2.0, 3.0), (0.1, 0.2, 0.3, 1e-9), (1e300, -1e-300, 5e-324, 2.0**500, np.nan, np.inf, -0.0))
        kind = self.rng.choice(kinds)
        made = np.array([[self.rng.choice(kind) for _ in range(2)] for _ in range(max(n + self.rng.choice((0, 0, 0, 1, -1)), 0))])
        return made.reshape(-1, 2).astype(self.rng.choice((np.float64, np.float64, np.float32, np.int64, np.uint8, np.float16)))

    def embedding(self) -> None:
        """Cyclic orders as arrays: good ones of a graph or of a dual, then with a few numbers changed, or arbitrary ones."""
        rng = self.rng
        if rng.random() < 0.7:
            e = pg.embedding(pg.triangulate(self.planar_graph()))
            e = e.dual() if rng.random() < 0.5 else e
            n, edges, next_ = e.num_nodes, e.edges.copy(), e.next.astype(rng.choice((np.int32, np.int64, np.uint64)))
            for _ in range(rng.randrange(3)):
                array = rng.choice((edges.reshape(-1), next_, next_))
                if len(array):
                    array[rng.randrange(len(array))] = self.number(40) % (2**31 if array is next_ else 2**63)
        else:
            m = rng.randrange(12)
            n, edges, next_ = self.number(12), self.edges(m), self.integers(2 * m + rng.choice((0, 0, 0, 1)), 2 * m + 1)
        outer = self.integers(rng.randrange(3), 30)
        if not 0 <= n <= 1000:
            n = rng.choice((n, 12))
        self.use(pg.Embedding(n, edges, next_, outer=outer if rng.random() < 0.3 else ()))

    def planar_graph(self) -> pg.Graph:
        return pg.families.random_planar(self.rng.randint(0, 12), self.rng.random(), self.rng.randrange(10**6))

    def rotations(self) -> None:
        g = self.small_graph()
        near: list[list[object]] = [[] for _ in range(g.num_nodes)]
        for u, v in g.edges.tolist():
            near[u].append(v)
            near[v].append(u)
        for around in near:
            self.rng.shuffle(around)
        for _ in range(self.rng.randrange(3)):
            if near:
                around = self.rng.choice(near)
                around.insert(self.rng.randrange(len(around) + 1), self.rng.choice((self.number(12), self.number(12), None, "a")))
        if self.rng.random() < 0.1:
            near = near[:-1] if self.rng.random() < 0.5 else [*near, [self.number(12)]]
        e = pg.Embedding.from_rotations(g, near)
        for v, around in enumerate(near):
            assert sorted(e.rotation(v).tolist()) == sorted(around), (g.edges.tolist(), near)
        self.use(e)

    def planar_code(self) -> None:
        rng = self.rng
        if rng.random() < 0.7:
            code = bytearray(pg.embedding(pg.triangulate(self.planar_graph())).to_planar_code())
            for _ in range(rng.choice((0, 1, 1, 4))):
                code[rng.randrange(len(code))] = rng.choice((0, 1, 255, rng.randrange(16)))
            data = bytes(code[: rng.randrange(len(code) + 1)]) if rng.random() < 0.2 else bytes(code)
        else:
            head = rng.choice((b"", b">>planar_code<<", b">>planar_code be<<", b">>planar_code le<<", b">>planar_code"))
            data = head + bytes(rng.choice((0, 0, 1, 2, 3, 255, rng.randrange(256))) for _ in range(rng.randrange(20)))
        e = from_planar_code(data)
        again = from_planar_code(e.to_planar_code())
        assert again.to_graph() == e.to_graph(), data
        self.use(e)

    def pickled_embedding(self) -> None:
        """A pickle with a number of its arrays changed; the class checks what it is made of."""
        e = pg.embedding(self.planar_graph())
        made, arguments = e.__reduce__()
        arguments = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
        array = self.rng.choice((arguments[1].reshape(-1), arguments[2]))
        if len(array):
            array[self.rng.randrange(len(array))] = self.number(20) % 2**31
        data = pickle.dumps((made, arguments))
        function, given = pickle.loads(data)
        self.use(function(*given))

    def use(self, e: pg.Embedding) -> None:
        """What an accepted embedding must then be good for."""
        e.check()
        assert sorted(e.face_darts.tolist()) == list(range(2 * e.num_edges))
        dual = e.dual()
        dual.check()
        assert (e.face_of[e._outer_darts] == e.outer_faces).all()
        e.mirror().check()
        if e.num_faces:
            e.with_outer_face(self.rng.randrange(e.num_faces)).check()
        e.to_graph()  # refuses loops and parallels, which the rest does not take
        if e.num_nodes <= 1000:
            pg.triangulate(e).check()
            pg.embedding(e.to_graph(), pg.planar_layout(e)).check()


_OF_GRAPHS: tuple[Callable[[pg.Graph, Fuzzer], object], ...] = (
    lambda g, fuzzer: pg.embedding(g),
    lambda g, fuzzer: pg.embedding(g, outer_face=fuzzer.nodes(g.num_nodes)),
    lambda g, fuzzer: pg.embedding(g, fuzzer.points(g.num_nodes)),
    lambda g, fuzzer: pg.embedding(g).with_outer_face(fuzzer.nodes(g.num_nodes)),
    lambda g, fuzzer: pg.planar_layout(g, fuzzer.rng.choice(("grid", "tutte", "x")), outer_face=fuzzer.nodes(g.num_nodes)),
    lambda g, fuzzer: pg.triangulate(g),
    lambda g, fuzzer: pg.canonical_order(g),
    lambda g, fuzzer: pg.canonical_order(pg.triangulate(g)),
    lambda g, fuzzer: list(pg.automorphisms(g).generators),
    lambda g, fuzzer: pg.planar_subgraph(g).left_out,
    lambda g, fuzzer: pg.planarize(g, fuzzer.points(g.num_nodes)).embedding,
    lambda g, fuzzer: pg.decompose(pg.MultiGraph(g.num_nodes, fuzzer.edges(fuzzer.rng.randrange(9)) % max(g.num_nodes, 1))).check(),
    lambda g, fuzzer: pg.Graph.from_sparse6(g.to_sparse6() + fuzzer.rng.choice(("", "~", "?", "@"))),
    lambda g, fuzzer: pg.st_numbering(g, fuzzer.number(max(g.num_nodes, 1)), fuzzer.number(max(g.num_nodes, 1))),
)
"""Functions of the toolkit, of a graph of up to 1,000 nodes, with arguments that the fuzzer draws."""


def trial(seed: int) -> None:
    Fuzzer(seed).round()
