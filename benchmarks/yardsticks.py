"""Other programs for parts of the job, timed in the same run: a plain DFS pass, networkx, rustworkx, PyPI planarity, nauty.

None of them computes what planegraph computes; each is the nearest thing its package has. Graphs are converted before the clock starts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from measure import cpu_seconds

import planegraph as pg
from planegraph import _core


def dfs(graphs: list[pg.Graph]) -> float:
    """CSR plus one depth-first pass in our own C++: what it costs to look at the graph at all."""
    shift = np.cumsum([0, *(g.num_nodes for g in graphs)])
    edges = np.concatenate([g.edges + s for g, s in zip(graphs, shift, strict=False)])
    times = [_core.dfs_yardstick(int(shift[-1]), np.ascontiguousarray(edges, dtype=np.int64)) for _ in range(5)]
    return sorted(times)[2]


def networkx(graphs: list[pg.Graph]) -> float:
    """Planar embedding and biconnected components."""
    import networkx as nx

    converted = [nx.Graph(g.edges.tolist()) for g in graphs]

    def run() -> None:
        for graph in converted:
            nx.check_planarity(graph)
            list(nx.biconnected_component_edges(graph))

    return cpu_seconds(run, repeats=3, budget=6)


def rustworkx(graphs: list[pg.Graph]) -> float:
    """Planarity and biconnected components."""
    import rustworkx as rx

    converted = []
    for g in graphs:
        graph = rx.PyGraph(multigraph=False)
        graph.add_nodes_from(range(g.num_nodes))
        graph.add_edges_from_no_data([tuple(e) for e in g.edges.tolist()])
        converted.append(graph)

    def run() -> None:
        for graph in converted:
            rx.is_planar(graph)
            rx.biconnected_components(graph)

    return cpu_seconds(run, repeats=3, budget=6)


def planarity(graphs: list[pg.Graph]) -> float:
    """Boyer-Myrvold planarity (the conversion to its own structure is part of its call)."""
    import planarity as package

    converted = [(g.edges + 1).tolist() for g in graphs]

    def run() -> None:
        for edges in converted:
            package.is_planar(edges)

    return cpu_seconds(run, repeats=3, budget=6)


def nauty(graphs: list[pg.Graph]) -> float:
    """Certificates of the graphs, node colours included, edge labels left out."""
    import pynauty

    converted = []
    for g in graphs:
        adjacency: dict[int, list[int]] = {}
        for u, v in g.edges.tolist():
            adjacency.setdefault(u, []).append(v)
        colours = []
        if g.node_labels is not None:
            _, classes = np.unique(g.node_labels, axis=0, return_inverse=True)
            colours = [set(np.flatnonzero(classes.ravel() == c).tolist()) for c in range(int(classes.max()) + 1)]
        converted.append(pynauty.Graph(g.num_nodes, adjacency_dict=adjacency, vertex_coloring=colours))

    def run() -> None:
        for graph in converted:
            pynauty.certificate(graph)

    return cpu_seconds(run, repeats=3, budget=6)


Yardstick = Callable[[list[pg.Graph]], float]

# The largest graph (nodes) each is asked to handle, so that the whole benchmark ends within minutes.
YARDSTICKS: dict[str, tuple[Yardstick, int]] = {
    "dfs": (dfs, 10**8),
    "networkx": (networkx, 30_000),
    "rustworkx": (rustworkx, 120_000),
    "planarity": (planarity, 120_000),
    "nauty": (nauty, 3_000),
}


def measure_all(graphs: list[pg.Graph], sample: int = 200) -> dict[str, float | None]:
    """Seconds per graph for each yardstick; None where the graphs are too large for it or its package is missing or fails."""
    largest = max(g.num_nodes for g in graphs)
    found: dict[str, float | None] = {}
    for name, (run, cap) in YARDSTICKS.items():
        some = graphs if name == "dfs" else graphs[:sample]
        try:
            found[name] = run(some) / len(some) if largest <= cap else None
        except Exception as error:  # a yardstick that fails must not end the benchmark
            print(f"  ({name} failed: {type(error).__name__}: {error})")
            found[name] = None
    return found
