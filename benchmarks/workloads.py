"""The graphs of the speed tables: molecules, TIGER maps, and families of any size with their nodes randomly renumbered."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import planegraph as pg
from planegraph.graphs import families


def zinc_arrays(root: Path, count: int = 12_000) -> dict[str, np.ndarray]:
    """The arguments of a GraphBatch of the first molecules of ZINC-12k, atom and bond types as labels."""
    d = np.load(root / "zinc" / "zinc12k_graphs.npz", allow_pickle=False)
    index = d["edge_index"].astype(np.int64)
    once = index[0] < index[1]
    kept = np.concatenate([[0], np.cumsum(once)])
    node_ptr = d["node_ptr"][: count + 1].astype(np.int64)
    edge_ptr = kept[d["edge_ptr"][: count + 1]]
    m = edge_ptr[-1]
    return {
        "node_ptr": node_ptr,
        "edge_ptr": edge_ptr,
        "edges": index.T[once][:m],
        "node_labels": d["x"][: node_ptr[-1]].astype(np.int64),
        "edge_labels": d["edge_attr"][once][:m].astype(np.int64),
    }


def zinc(root: Path, count: int = 12_000) -> pg.GraphBatch:
    """The first molecules of ZINC-12k as a batch."""
    return pg.GraphBatch(**zinc_arrays(root, count))


def zinc_targets(root: Path) -> np.ndarray:
    """The penalised logP of all 12,000 molecules."""
    return np.load(root / "zinc" / "zinc12k_graphs.npz", allow_pickle=False)["y"].reshape(-1).astype(np.float32)


def zinc_smiles(root: Path) -> list[str]:
    """All 12,000 molecules as text."""
    with gzip.open(root / "zinc" / "zinc12k.csv.gz", "rt", newline="") as file:
        return [row["smiles"] for row in csv.DictReader(file)]


def qm9_cc(root: Path, part: str = "val") -> tuple[pg.GraphBatch, np.ndarray]:
    """QM9_CC: molecules without features, and their clustering coefficients scaled to 0..1."""
    with gzip.open(root / "plane" / f"CC_{part}.json.gz", "rt") as file:
        found: list[dict[str, Any]] = json.load(file)
    pairs = [np.array(g["edge_index"], np.int64).reshape(2, -1) for g in found]
    once = [index.T[index[0] < index[1]] for index in pairs]
    batch = pg.GraphBatch(np.cumsum([0, *(len(g["x"]) for g in found)]), np.cumsum([0, *map(len, once)]), np.concatenate(once))
    return batch, ((np.array([g["y"][0] for g in found]) - 0.06) / 0.1).astype(np.float32)


def tiger(root: Path, size: str) -> pg.Graph:
    """A road-and-parcel map of Alaska."""
    d = np.load(root / "plane" / f"Large_Tiger_Alaska_{size}.npz", allow_pickle=False)
    index = d["edge_index"].astype(np.int64)
    return pg.Graph(int(d["node_ptr"][-1]), index.T[index[0] < index[1]])


def delaunay(n: int, seed: int = 0) -> pg.Graph:
    """The Delaunay triangulation of random points in a square."""
    from scipy.spatial import Delaunay

    triangles = Delaunay(np.random.default_rng(seed).random((n, 2))).simplices
    sides = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]).astype(np.int64)
    sides.sort(axis=1)
    keys = np.unique(sides[:, 0] * n + sides[:, 1])
    return pg.Graph(n, np.stack([keys // n, keys % n], axis=1))


def random_planar(n: int, seed: int = 0) -> pg.Graph:
    """60 % of the edges of a Delaunay triangulation."""
    g = delaunay(n, seed)
    keep = np.random.default_rng(seed + 1).random(g.num_edges) < 0.6
    return pg.Graph(n, g.edges[keep])


def streets(n: int, seed: int = 0) -> pg.Graph:
    """A grid of streets of which 15 % are missing, nodes and edges in random order: many bridges, and one large block."""
    g = families.grid(round(n**0.5), n // round(n**0.5))
    keep = np.random.default_rng(seed).random(g.num_edges) < 0.85
    return families.shuffled(pg.Graph(g.num_nodes, g.edges[keep]), seed)


FAMILIES: dict[str, Callable[[int], pg.Graph]] = {
    "Delaunay": delaunay,
    "random planar": random_planar,
    "prism": lambda n: families.prism(n // 2),
    "wheel": lambda n: families.wheel(n - 1),
    "geodesic sphere": lambda n: families.geodesic_sphere(round(((n - 2) / 10) ** 0.5)),
    "grid": lambda n: families.grid(round(n**0.5), n // round(n**0.5)),
    "ladder": lambda n: families.ladder(n // 2),
    "K2,n": lambda n: families.k2n(n - 2),
    "cycle": families.cycle,
    "path": families.path,
    "star": lambda n: families.star(n - 1),
    "caterpillar": lambda n: families.caterpillar(n // 3, 2),
}


def family(name: str, n: int) -> pg.Graph:
    """One family at about n nodes, renumbered at random."""
    return families.shuffled(FAMILIES[name](n), seed=1)


def overpasses(n: int, kind: str, bridges: int) -> tuple[pg.Graph, np.ndarray]:
    """A street grid, its nodes moved a little, with bridges that lead up to 7 streets further ("near") or anywhere ("far"); its points."""
    side, rng = round(n**0.5), np.random.default_rng(1)
    v = np.arange(side * side).reshape(side, side)
    streets = [np.stack([a.ravel(), b.ravel()], 1) for a, b in ((v[1:], v[:-1]), (v[:, 1:], v[:, :-1]))]
    (x, y), (dx, dy) = rng.integers(0, side - 8, (2, bridges)), rng.integers(1, 8, (2, bridges))
    more = np.stack([v[x, y], v[x + dx, y + dy]], 1) if kind == "near" else rng.integers(0, side * side, (bridges, 2))
    edges = np.unique(np.sort(np.concatenate([*streets, more]), axis=1), axis=0)
    new = rng.permutation(side * side)
    points = np.empty((side * side, 2))
    points[new] = np.stack([v.ravel() // side, v.ravel() % side], 1) + rng.uniform(-0.2, 0.2, (side * side, 2))
    return pg.Graph(side * side, rng.permutation(new[edges])), points


def copies_of_a_molecule(batch: pg.GraphBatch, copies: int = 400) -> pg.Graph:
    """One graph: so many disjoint copies of one molecule, labels included, renumbered at random."""
    sizes = np.diff(batch.node_ptr)
    g = batch[int(np.argmin(np.abs(sizes - 23)))]
    n, m = g.num_nodes, g.num_edges
    shift = np.repeat(np.arange(copies) * n, m)[:, None]
    edges = np.tile(g.edges, (copies, 1)) + shift
    union = pg.Graph(n * copies, edges, np.tile(g.node_labels, (copies, 1)), np.tile(g.edge_labels, (copies, 1)))
    return families.shuffled(union, seed=1)
