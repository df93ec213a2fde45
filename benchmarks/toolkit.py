"""The speed table of the toolkit: embeddings, drawings and symmetries, beside what other packages take for the same work.

    python benchmarks/toolkit.py                 all rows (about twenty minutes)
    python benchmarks/toolkit.py --quick         10^5 nodes at most, and networkx up to 10^4
    python benchmarks/toolkit.py --only faces    rows whose name contains the text
    python benchmarks/toolkit.py --json out.json also write the numbers

One core, CPU time of the calling thread, medians. Graphs are Delaunay triangulations of random points unless the row names another
family, their nodes and edges shuffled; they are converted to what each package reads before the clock starts. Symmetries are order and
orbits of nodes and edges, from edges; the canonical form of the same graph is measured by turns with them, and nauty finds no orbits of
edges. To add work: write a method that yields a Row for each size, and name it in ``rows``. Exits with 1 if a row misses what it must
reach.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import workloads
from measure import by_turns, cpu_seconds, machine
from table import Row, Table, arguments, report

import planegraph as pg
from planegraph.graphs import families

SIZES = {10**3: "10^3", 10**4: "10^4", 10**5: "10^5", 10**6: "10^6"}
SYMMETRIC = {name: workloads.FAMILIES[name] for name in ("prism", "grid", "star", "K2,n")} | {
    "fullerene": lambda n: families.fullerene(round((n / 20) ** 0.5)),
    "random tree": families.random_tree,
    "binary tree": lambda n: binary_tree(n.bit_length() - 1),
}
# seconds of Traces 2.8.6 without reading the graph, measured once on this kind of machine and not by this program
TRACES = {
    10**5: {"prism": 0.13, "fullerene": 0.21, "grid": 0.21, "binary tree": 0.05, "random tree": 0.02, "star": 0.01, "K2,n": 0.02},
    10**6: {"prism": 5.9, "fullerene": 20, "grid": 3.6, "binary tree": 1.9, "random tree": 0.55, "star": 0.10, "K2,n": 0.19},
}
MOST = {"canonical form": 1.5, "seconds": 4.0}  # at 10^6 nodes: times our canonical form, and seconds
REPEATS = 3  # of yardsticks, where they take no longer than six seconds


class Toolkit(Table):
    """Each method yields the rows of one kind of work."""

    yardsticks = ("networkx", "rustworkx", "planarity", "nauty", "canonical form")

    def __init__(self, root: Path, only: str, quick: bool) -> None:
        super().__init__(root, only)
        self.sizes = [n for n in SIZES if n < 10**6 or not quick]
        self.largest = {"networkx": 10**4 if quick else 10**5, "rustworkx": 10**6, "planarity": 10**6}

    def rows(self) -> Iterator[Row]:
        yield from self.embeddings()
        yield from self.faces()
        yield from self.drawings()
        yield from self.positions()
        yield from self.tutte()
        yield from self.symmetries()
        yield from self.generators()

    def embeddings(self) -> Iterator[Row]:
        for n, task in self.tasks("embedding"):
            g = graph(n)
            row = Row(task, cpu_seconds(lambda g=g: pg.embedding(g)), must={10**5: 0.15}.get(n))
            row.yardsticks = {
                "networkx": self.networkx(n, lambda nx, G: nx.check_planarity(G)),
                "rustworkx": self.rustworkx(n),
                "planarity": self.planarity(n, "embed_planar"),
            }
            row.best_elsewhere = "rustworkx only tests planarity"
            yield row

    def faces(self) -> Iterator[Row]:
        for n, task in self.tasks("faces and dual"):
            e = pg.embedding(graph(n))

            def run(e: pg.Embedding = e) -> pg.Embedding:
                fresh = pg.Embedding._trusted(e.num_nodes, e.edges, e.next)  # it has not found its faces yet
                return fresh.dual()

            row = Row(task, cpu_seconds(run), must={10**5: 0.03}.get(n))
            row.yardsticks = {"networkx": self.networkx(n, networkx_dual, lambda nx, G: nx.check_planarity(G)[1])}
            yield row

    def drawings(self) -> Iterator[Row]:
        for n, task in self.tasks("straight-line drawing, from edges"):
            g = graph(n)
            row = Row(task, cpu_seconds(lambda g=g: pg.planar_layout(g)), must={10**5: 0.25, 10**6: 3.0}.get(n))
            row.yardsticks = {
                "networkx": self.networkx(n, lambda nx, G: nx.combinatorial_embedding_to_pos(nx.check_planarity(G)[1])),
                "planarity": self.planarity(n, "embed_drawplanar"),
            }
            row.best_elsewhere = "planarity draws bars, not points"
            yield row

    def positions(self) -> Iterator[Row]:
        for n, task in self.tasks("embedding of a map, checked for crossings"):
            g = graph(n)
            points = pg.planar_layout(g)
            yield Row(task, cpu_seconds(lambda g=g, points=points: pg.embedding(g, points)))

    def tutte(self) -> Iterator[Row]:
        for n, task in self.tasks("drawing by Tutte, relaxed", 10**4):
            if self.has("scipy", task):
                g = graph(n)
                yield Row(task, cpu_seconds(lambda g=g: pg.planar_layout(g, "tutte")))

    def symmetries(self) -> Iterator[Row]:
        for name in SYMMETRIC:
            for n, task in self.tasks(f"order and orbits, {name}"):
                if n == 10**4:
                    continue
                g = symmetric(name, n)
                found = by_turns(
                    {"ours": lambda g=g: pg.automorphisms(g), "canonical form": lambda g=g: pg.canonical_form(g)},
                    repeats=5,
                    warm_up=1,
                    clock=time.thread_time,
                )
                row = Row(task, found["ours"])
                if n == 10**6:
                    row.must = min(MOST["seconds"], MOST["canonical form"] * found["canonical form"])
                row.yardsticks = {"canonical form": found["canonical form"], "nauty": self.nauty(g) if n == 10**3 else None}
                if n in TRACES:
                    row.best_elsewhere = f"{TRACES[n][name]} s (Traces, measured separately)"
                yield row

    def generators(self) -> Iterator[Row]:
        for name in SYMMETRIC:
            for n, task in self.tasks(f"generators, {name}"):
                if n == 10**6:
                    a = pg.automorphisms(symmetric(name, n))
                    seconds = cpu_seconds(lambda a=a: pg.Automorphisms(*a.__reduce__()[1]).generators, REPEATS)
                    found = a.generators
                    yield Row(task, seconds, best_elsewhere=f"{len(found)} permutations, {len(found.nodes)} moved nodes")

    # ---- what all of them need

    def nauty(self, g: pg.Graph) -> float | None:
        import pynauty

        around: dict[int, list[int]] = {v: [] for v in range(g.num_nodes)}
        for u, v in g.edges.tolist():
            around[u].append(v)
        ready = pynauty.Graph(g.num_nodes, adjacency_dict=around)
        return cpu_seconds(lambda: pynauty.autgrp(ready), 1)

    def tasks(self, name: str, largest: int = 10**6) -> Iterator[tuple[int, str]]:
        """The sizes at which the work is wanted, and the names of their rows."""
        for n in self.sizes:
            task = f"{name}, {SIZES[n]} nodes"
            if n <= largest and self.wanted(task):
                yield n, task

    def networkx(self, n: int, run: Callable, prepare: Callable = lambda nx, G: G) -> float | None:
        import networkx as nx

        if n > self.largest["networkx"]:
            return None
        ready = prepare(nx, nx.Graph(graph(n).edges.tolist()))
        return cpu_seconds(lambda: run(nx, ready), REPEATS, 6)

    def rustworkx(self, n: int) -> float | None:
        import rustworkx as rx

        if n > self.largest["rustworkx"]:
            return None
        ready = rx.PyGraph(multigraph=False)
        ready.add_nodes_from(range(n))
        ready.add_edges_from_no_data([tuple(e) for e in graph(n).edges.tolist()])
        return cpu_seconds(lambda: rx.is_planar(ready), REPEATS, 6)

    def planarity(self, n: int, method: str) -> float | None:
        import planarity

        if n > self.largest["planarity"]:
            return None
        pairs = (graph(n).edges + 1).tolist()
        ready = [planarity.PGraph(pairs) for _ in range(REPEATS if n < 10**6 else 1)]  # each can be embedded once
        return cpu_seconds(lambda: getattr(ready.pop(), method)(), len(ready), 6)


@cache
def graph(n: int) -> pg.Graph:
    return workloads.family("Delaunay", n)


def binary_tree(levels: int) -> pg.Graph:
    """A complete binary tree with 2^levels - 1 nodes."""
    child = np.arange(1, 2**levels - 1)
    return pg.Graph(2**levels - 1, np.stack([(child - 1) // 2, child], axis=1))


def symmetric(name: str, n: int) -> pg.Graph:
    return families.shuffled(SYMMETRIC[name](n), seed=1)


def networkx_dual(nx: Any, embedding: Any) -> tuple[list[list[int]], np.ndarray]:
    """All faces, and the two faces of each edge."""
    of: dict[tuple[int, int], int] = {}
    faces = []
    for u, v in embedding.edges:
        if (u, v) not in of:
            darts: set[tuple[int, int]] = set()
            faces.append(embedding.traverse_face(u, v, darts))
            of.update(dict.fromkeys(darts, len(faces) - 1))
    return faces, np.array([(of[u, v], of[v, u]) for u, v in embedding.edges if u < v])


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--quick", action="store_true", help="10^5 nodes at most, and networkx up to 10^4")
    args = parser.parse_args()
    return report(Toolkit(args.data_root, args.only, args.quick), machine(), args.json)


if __name__ == "__main__":
    sys.exit(main())
