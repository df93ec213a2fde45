"""What the core of planegraph does, on built-in graphs, in a few seconds: `python examples/decompose.py`."""

from __future__ import annotations

import sys
import time

import numpy as np

import planegraph as pg
from planegraph.graphs import families


def caffeine_like() -> pg.Graph:
    """Two fused rings with side chains, labelled by atomic number: the skeleton of caffeine."""
    atoms = [6, 7, 6, 7, 6, 6, 6, 8, 7, 6, 6, 8, 7, 6]  # C N C N C C C O N C C O N C
    bonds = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (6, 8), (8, 9), (8, 10), (10, 11), (10, 12), (12, 13)]
    rings = [(5, 1), (12, 4)]
    return pg.Graph(len(atoms), bonds + rings, node_labels=atoms)


def title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def show_decomposition() -> None:
    title("1. A molecule, decomposed: blocks, cut nodes, SPQR trees")
    d = pg.decompose(caffeine_like())
    d.check()
    print(d)


def show_canonical_form() -> None:
    title("2. Canonical form: one code for all numberings")
    g = caffeine_like()
    copies = [families.shuffled(g, seed) for seed in range(1000)]
    start = time.perf_counter()
    codes = set(pg.canonical_codes(pg.GraphBatch.from_graphs(copies)))
    print(f"{len(copies)} shuffled copies, {len(codes)} code, {1e6 * (time.perf_counter() - start) / len(copies):.0f} us each")
    other = pg.Graph(g.num_nodes, g.edges, node_labels=np.where(np.arange(g.num_nodes) == 7, 16, g.node_labels[:, 0]))
    print(f"digest                   {pg.canonical_form(g).digest}")
    print(f"one oxygen made sulphur  {pg.canonical_form(other).digest}")
    mapping = pg.isomorphism(g, copies[0])
    print(f"a mapping onto the first copy: {' '.join(f'{v}->{w}' for v, w in enumerate(mapping))}")


def show_witness() -> None:
    title("3. Not planar? Here is why")
    g = families.grid(4, 4)
    g = pg.Graph(16, [*g.edges.tolist(), (0, 15), (3, 12)])
    try:
        pg.decompose(g)
    except pg.NotPlanarError as error:
        print(f"a grid with both long diagonals: {error}")
        print(" ".join(f"{u}-{v}" for u, v in error.witness))


def show_speed() -> None:
    title("4. Large graphs: decomposition, walks and canonical code")
    cases = {
        "random triangulation": lambda: families.apollonian(100_000),
        "geodesic sphere": lambda: families.geodesic_sphere(100),
        "sparse random planar graph": lambda: families.random_planar(100_000),
        "prism": lambda: families.prism(50_000),
        "path": lambda: families.path(100_000),
    }
    for i, (name, make) in enumerate(cases.items(), 1):
        progress(f"[{i}/{len(cases)}] {name}: making it")
        batch = pg.GraphBatch.from_graphs([make()])
        progress(f"[{i}/{len(cases)}] {name}: {batch.num_nodes:,} nodes")
        start = time.perf_counter()
        packed = pg.decompose_batch(batch, codes=True)
        seconds = time.perf_counter() - start
        counts = ", ".join(f"{k} {v:,}" for k, v in packed[0].counts.items() if v)
        progress("")
        print(f"{name:27} {batch.num_nodes:9,} nodes  {seconds:6.2f} s   {counts}")


def progress(text: str) -> None:
    """One line that overwrites itself, only where somebody watches."""
    if sys.stdout.isatty():
        print(f"\r\033[K{text}", end="", flush=True)


def main() -> None:
    print(f"planegraph {pg.__version__}")
    show_decomposition()
    show_canonical_form()
    show_witness()
    show_speed()


if __name__ == "__main__":
    main()
