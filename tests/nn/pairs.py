"""Pairs of graphs that are hard to tell apart: EXP, CEXP and the planar pairs of BREC, from the folder of benchmark data."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from plain import Plain, from_graph6

Pair = tuple[Plain, Plain]

PLANAR_BREC = {  # both graphs planar; positions of the pairs in their files
    "basic": (26, 56, 57, 59),
    "regular": (22, 24, 37, 48),
    "cfi": (5, 18, 37),
    "extension": (9, 23, 26, 31, 33, 38, 46, 54, 60, 67, 74, 79, 81, 86, 87, 90, 91, 92, 93, 94),
}


def graphsat_pairs(root: Path, name: str) -> list[Pair]:
    """``EXP`` or ``CEXP`` as GNN-RNI published them: 600 pairs each, node labels 0 and 1."""
    path = _find(root / "exp" / f"{name}_GRAPHSAT.txt.gz")
    with gzip.open(path, "rt") as file:
        numbers = iter([int(word) for line in file for word in line.split()])
    return _in_pairs(list(_read_graphsat(numbers)))


def _read_graphsat(numbers: Iterator[int]) -> Iterator[Plain]:
    """The number of graphs; per graph its size and class; per node its label, its degree and its neighbours."""
    for _ in range(next(numbers)):
        n, _ = next(numbers), next(numbers)
        labels, darts = [], set()
        for v in range(n):
            labels.append(next(numbers))
            darts |= {(v, next(numbers)) for _ in range(next(numbers))}
        assert all((v, u) in darts for u, v in darts)
        yield Plain.of(n, sorted((u, v) for u, v in darts if u < v), node_labels=tuple(labels))


def exp_pairs_of_the_paper(root: Path) -> list[Pair]:
    """The EXP that the paper used; another file than GNN-RNI's."""
    d = np.load(_find(root / "plane" / "EXP.npz"), allow_pickle=False)
    index, x = d["edge_index"].astype(np.int64), d["x"][:, 0].astype(int)
    graphs = []
    for g in range(len(d["node_ptr"]) - 1):
        nodes, edges = (slice(*d[ptr][g : g + 2]) for ptr in ("node_ptr", "edge_ptr"))
        once = index[:, edges][:, index[0, edges] < index[1, edges]]
        graphs.append(Plain.of(nodes.stop - nodes.start, once.T, node_labels=tuple(x[nodes].tolist())))
    return _in_pairs(graphs)


def brec_pairs(root: Path, part: str) -> list[Pair]:
    """The planar pairs of one part of BREC."""
    with gzip.open(_find(root / "brec" / f"{part}.g6.gz"), "rt") as file:
        pairs = _in_pairs([from_graph6(line.strip()) for line in file])
    return [pairs[i] for i in PLANAR_BREC[part]]


def _in_pairs(graphs: list[Plain]) -> list[Pair]:
    return list(zip(graphs[::2], graphs[1::2], strict=True))


def _find(path: Path) -> Path:
    if not path.is_file():
        pytest.skip(
            f"the benchmark data has no {path.parent.name}/{path.name}; PLANEGRAPH_DATA names the folder that should hold it"
        )
    return path
