"""Every small planar graph: how many codes there are, and that nauty agrees class by class."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations, permutations

import exhaustive
import networkx as nx
import numpy as np
import pytest
from exhaustive import COUNTS, connected_planar_graphs
from oracles import nauty_certificate, networkx_planar
from plain import Plain

import planegraph as pg


@pytest.mark.parametrize("n", range(1, 10))
def test_number_of_connected_planar_graphs(n):
    assert len(connected_planar_graphs(n)) == COUNTS[n - 1]


def agree_with_nauty(graphs) -> int:
    """One code for each certificate and one certificate for each code; returns how many classes there are."""
    graphs = list(graphs)
    codes = pg.canonical_codes(pg.GraphBatch.from_graphs([g.build() for g in graphs]), threads=1)
    certificates = [nauty_certificate(g) for g in graphs]
    by_code, by_certificate = {}, {}
    for g, code, certificate in zip(graphs, codes, certificates, strict=True):
        assert by_code.setdefault(code, certificate) == certificate, f"nauty tells {g} from another of the same code"
        assert by_certificate.setdefault(certificate, code) == code, f"nauty sees {g} and another as one, codes differ"
    return len(by_code)


@pytest.mark.parametrize("n", range(1, 8))
def test_agrees_with_nauty(n):
    """Each graph and a few shuffled copies of it."""
    rng = random.Random(n)
    copies = [h for g in connected_planar_graphs(n) for h in (g, *(g.shuffled(rng)[0] for _ in range(3)))]
    assert agree_with_nauty(copies) == COUNTS[n - 1]


@pytest.mark.parametrize("n", range(1, 6))
def test_agrees_with_nauty_on_all_two_colourings(n):
    agree_with_nauty(exhaustive.coloured(n))


def test_agrees_with_nauty_on_labelled_darts():
    """All ways to label the darts of the connected planar graphs on up to 4 nodes (at most 5 edges) with two values."""
    for n in range(2, 5):
        graphs = []
        for g in connected_planar_graphs(n):
            m = len(g.edges)
            if m <= 5:
                bits = range(4**m)
                graphs += [
                    Plain(n, g.edges, dart_labels=tuple((b >> 2 * e & 1, b >> 2 * e + 1 & 1) for e in range(m))) for b in bits
                ]
        assert agree_with_nauty(graphs) > len(connected_planar_graphs(n))


NUMBERED_PLANAR = (1, 1, 2, 8, 64, 1023, 32071)  # OEIS A066537, planar graphs on nodes 0..n-1, from n = 0


def numbered_graphs(n: int) -> pg.GraphBatch:
    """All 2^(n choose 2) graphs on nodes 0..n-1; graph i has edge number e where bit e of i is set."""
    pairs = np.array(list(combinations(range(n), 2)), np.int64).reshape(-1, 2)
    present = (np.arange(2 ** len(pairs))[:, None] >> np.arange(len(pairs))) & 1
    edge_ptr = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    return pg.GraphBatch(n * np.arange(len(present) + 1), edge_ptr, pairs[np.nonzero(present)[1]])


def classes(n: int) -> Iterator[np.ndarray]:
    """The positions in ``numbered_graphs(n)`` of each isomorphism class, by applying all permutations of the nodes."""
    number = {pair: e for e, pair in enumerate(combinations(range(n), 2))}
    moved = np.array([[number[min(p[u], p[v]), max(p[u], p[v])] for u, v in number] for p in permutations(range(n))], np.int64)
    left = np.ones(2 ** len(number), bool)
    while left.any():
        bits = int(np.argmax(left)) >> np.arange(len(number)) & 1
        orbit = np.unique((bits << moved).sum(axis=1))
        left[orbit] = False
        yield orbit


@pytest.mark.parametrize("n", range(7))
def test_planarity_of_all_graphs_up_to_six_nodes(n):
    """All graphs on nodes 0..n-1, under every numbering; networkx is asked once per isomorphism class."""
    batch = numbered_graphs(n)
    found = pg.planar_mask(batch)
    seen = 0
    for orbit in classes(n):
        g = Plain.of(n, batch[int(orbit[0])].edges)
        assert set(found[orbit].tolist()) == {networkx_planar(g)}, g
        seen += len(orbit)
    assert (seen, found.sum()) == (len(batch), NUMBERED_PLANAR[n])


def test_the_atlas():
    """networkx's atlas (all 1253 graphs up to 7 nodes, connected or not), a source of graphs that we did not write."""
    atlas = nx.graph_atlas_g()
    graphs = [Plain.of(len(G), G.edges) for G in atlas]
    planar = [networkx_planar(g) for g in graphs]
    assert [pg.is_planar(g.build()) for g in graphs] == planar
    kept = [g for g, ok in zip(graphs, planar, strict=True) if ok]
    assert agree_with_nauty(kept) == len(kept)
    sizes = [len(G) for G, ok in zip(atlas, planar, strict=True) if ok and len(G) and nx.is_connected(G)]
    assert [sizes.count(n) for n in range(1, 8)] == list(COUNTS[:7])
