"""planegraph as a backend of networkx beside networkx itself: thread CPU seconds with the conversion, medians by turns.

python benchmarks/networkx_backend.py [--nodes 20000] [--repeats 5]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator

import networkx as nx

import planegraph as pg

FUNCTIONS = ("is_planar", "check_planarity", "bridges", "articulation_points")


def seconds(function: str, graph: nx.Graph, backend: str) -> float:
    graph.__networkx_cache__.clear()
    begin = time.thread_time()
    found = getattr(nx, function)(graph, backend=backend)
    if isinstance(found, Iterator):
        list(found)
    return time.thread_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    nx.config.warnings_to_ignore.add("cache")
    graph = pg.families.shuffled(pg.families.random_planar(arguments.nodes, seed=1), 1).to_networkx()
    print(f"{graph.number_of_nodes()} nodes, {graph.number_of_edges()} edges")
    for function in FUNCTIONS:
        turns = [[seconds(function, graph, backend) for backend in ("networkx", "planegraph")] for _ in range(arguments.repeats)]
        theirs, ours = (statistics.median(column) for column in zip(*turns, strict=True))
        print(f"{function}: networkx {theirs:.3f} s, planegraph {ours:.3f} s, {theirs / ours:.1f} x")


if __name__ == "__main__":
    main()
