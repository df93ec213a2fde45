"""What only large graphs do: numbering by many fronts from 2^17 nodes on, large rigid components coded by their walks' beginnings."""

from __future__ import annotations

import numpy as np
import pytest

import planegraph as pg
from planegraph.graphs import families as f

N = 2**17 + 1000


def assert_canonical(g: pg.Graph) -> bytes:
    """Two numberings give one code, and the labelling takes the graph onto the one that the code describes."""
    first, second = f.shuffled(g, 1), f.shuffled(g, 2)
    packed = pg.decompose_batch(pg.GraphBatch.from_graphs([first, second]), threads=1, codes=True)
    a, b = packed.codes()
    assert a == b
    form = pg.canonical_form(first)
    assert form.code == a
    assert (np.sort(form.labelling) == np.arange(g.num_nodes)).all()
    assert rows(form.labelling[first.edges]) == rows(form.graph().edges)
    return a


def rows(edges: np.ndarray) -> set[bytes]:
    ordered = np.sort(edges, axis=1).astype(np.int64)
    return {ordered[np.lexsort(ordered.T[::-1])].tobytes()}


LARGE = {
    "one component": lambda: f.random_planar(N, 0.6, seed=3),
    "a tree": lambda: f.random_tree(N, seed=4),
    "two wheels": lambda: f.disjoint_union(f.wheel(N // 2), f.wheel(N // 2 + 7)),
    "a large one, many small ones, and nodes alone": lambda: f.disjoint_union(
        f.k2n(N // 2), *[f.cycle(3 + k % 40) for k in range(3000)], pg.Graph(500, []), f.path(40_000)
    ),
    "nothing but nodes": lambda: pg.Graph(N, []),
}


@pytest.mark.parametrize("name", LARGE)
def test_numbering_by_fronts(name):
    assert_canonical(LARGE[name]())


def test_components_of_a_large_graph():
    parts = [f.star(70_000), f.cycle(50_000), *[f.path(5)] * 4000]
    g = f.shuffled(f.disjoint_union(*parts), 5)
    component = pg.decompose_batch(pg.GraphBatch.from_graphs([g])).node_component
    sizes = np.sort(np.bincount(component))
    assert sizes[-2:].tolist() == [50_000, 70_001]
    assert (sizes[:-2] == 5).all()
    assert (component[g.edges[:, 0]] == component[g.edges[:, 1]]).all()


def ring(parts: list[tuple[pg.Graph, bool]]) -> pg.Graph:
    """A cycle of twice as many edges; every other one is replaced by a rigid graph without its last edge, turned round if said so."""
    k = 2 * len(parts)
    edges = [np.array([(i, i + 1) for i in range(1, k - 1, 2)] + [(k - 1, 0)])]
    n = k
    for i, (part, turned) in enumerate(parts):
        (u, v), rest = part.edges[-1], part.edges[:-1]
        number = np.arange(n, n + part.num_nodes)
        ends = (2 * i + 1, 2 * i) if turned else (2 * i, 2 * i + 1)
        number[u], number[v] = ends
        edges.append(number[rest])
        n += part.num_nodes
    used = np.concatenate(edges)
    kept, compact = np.unique(used, return_inverse=True)
    return pg.Graph(len(kept), compact.reshape(used.shape))


@pytest.mark.parametrize("sizes", [(800, 801, 802), (800, 800, 800), (800, 801, 801)], ids=["unlike", "alike", "one unlike"])
def test_a_large_hanging_rigid_node_is_told_from_its_reverse(sizes):
    parts = [f.apollonian(n, seed=10 + n) for n in sizes]
    assert all(2 * p.num_edges > 4096 for p in parts)
    plain = ring([(p, False) for p in parts])
    assert pg.decompose(plain).counts["R"] >= 3
    codes = {assert_canonical(plain)}
    for turn in range(3):
        codes.add(assert_canonical(ring([(p, i == turn) for i, p in enumerate(parts)])))
    assert len(codes) == (4 if len(set(sizes)) > 1 else 2)


def test_a_symmetric_large_rigid_node_equals_its_reverse():
    drum = f.antiprism(1100)
    a = ring([(drum, False), (f.prism(1500), False)])
    b = ring([(drum, True), (f.prism(1500), False)])
    assert assert_canonical(a) == assert_canonical(b)


def test_large_working_memory_does_not_leak_into_later_results():
    small = [f.shuffled(f.random_planar(200, 0.6, seed=s), s) for s in range(5)]
    before = [pg.canonical_form(g).code for g in small]
    for _ in range(2):
        pg.canonical_form(f.grid(400, 400))
        assert [pg.canonical_form(g).code for g in small] == before


@pytest.mark.parametrize("name", ["path", "star", "k2n", "cactus"])
def test_the_text_of_a_large_decomposition_is_short(name):
    d = pg.decompose(getattr(f, name)(100_000))
    text = str(d)
    assert len(text.splitlines()) <= 202
    assert "more lines" in text
