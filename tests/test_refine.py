"""The O(n log n) choice of the start dart: its classes of darts are exactly those of equal Weinberg codes over all starts."""

from __future__ import annotations

import random

import graphs
import maps
import networkx as nx
import numpy as np
import pytest
from plain import Plain
from weinberg import state_codes

import planegraph as pg
from planegraph import _core

SYMMETRIC = [
    *graphs.platonic().values(),
    *(graphs.prism(k) for k in range(3, 8)),
    *(graphs.antiprism(k) for k in range(3, 8)),
    *(graphs.wheel(k) for k in range(3, 9)),
    *(graphs.bipyramid(k) for k in range(3, 8)),
    graphs.stacked_prism(4, 3),
    graphs.stacked_prism(3, 4),
    graphs.truncated(graphs.complete(4)),
]


def classes_of(g: Plain):
    """The core's rotation and its class for each state."""
    following, classes = _core.dart_classes(g.n, *colours_of(g))
    return following.tolist(), classes.tolist()


def colours_of(g: Plain) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges, node colours and dart colours as the core wants them."""
    edges = np.array(g.edges, dtype=np.int32)
    nodes = np.array(g.node_labels or (0,) * g.n, dtype=np.int32)
    return edges, nodes, np.array(g.darts(), dtype=np.int32).ravel()


def assert_is_embedding(g: Plain, following: list[int]) -> None:
    """``following`` turns once round every node, and Euler's formula says: on the sphere."""
    ends = [v for e in g.edges for v in e]
    assert sorted(following) == list(range(len(ends)))
    assert all(ends[following[d]] == ends[d] for d in range(len(ends)))
    assert _cycles(following) == g.n
    assert g.n - len(g.edges) + _cycles([following[d ^ 1] for d in range(len(ends))]) == 2, f"not planar: {g}"


def _cycles(permutation: list[int]) -> int:
    seen, count = set(), 0
    for d in range(len(permutation)):
        count += d not in seen
        while d not in seen:
            seen.add(d)
            d = permutation[d]
    return count


def same_partition(a: list, b: list) -> bool:
    """Whether two lists are equal in exactly the same places."""
    return len(set(a)) == len(set(b)) == len(set(zip(a, b, strict=True)))


def assert_classes(g: Plain) -> int:
    following, classes = classes_of(g)
    assert_is_embedding(g, following)
    codes = state_codes(g.edges, following, g.node_labels or (0,) * g.n, [x for pair in g.darts() for x in pair])
    assert same_partition(classes, codes), f"{len(set(classes))} classes, {len(set(codes))} codes: {g}"
    return len(set(codes))


def labelled_maps(count: int, seed: int):
    """Random polyhedra and symmetric ones, with labels from none to many: the few and the periodic keep symmetries."""
    rng = random.Random(seed)
    pool = maps.polyhedra(max(60, count // 20), 14, seed)
    for _ in range(count):
        g = rng.choice(pool) if rng.random() < 0.6 else rng.choice(SYMMETRIC)
        kind = rng.randrange(6)
        if kind == 1:
            g = g.with_labels(rng, nodes=2)
        elif kind == 2:
            g = g.with_labels(rng, darts=2)
        elif kind == 3:
            g = mark(g, rng, nodes=1)
        elif kind == 4:
            g = mark(g, rng, darts=rng.randint(1, 2))
        elif kind == 5:
            g = by_orbit(g, rng)
        yield g.shuffled(rng)[0]


def mark(g: Plain, rng: random.Random, nodes: int = 0, darts: int = 0) -> Plain:
    """A few labels that differ from the rest."""
    marked_nodes = set(rng.sample(range(g.n), nodes))
    marked = set(rng.sample(range(2 * len(g.edges)), darts))
    labels = tuple((int(2 * e in marked), int(2 * e + 1 in marked)) for e in range(len(g.edges)))
    return Plain(g.n, g.edges, node_labels=tuple(int(v in marked_nodes) for v in range(g.n)), dart_labels=labels)


def by_orbit(g: Plain, rng: random.Random) -> Plain:
    """Darts labelled by the orbits of a random rotation or reflection: chiral colourings with symmetry left."""
    _, embedding = nx.check_planarity(nx.Graph(list(g.edges)))
    index = {}
    for e, (u, v) in enumerate(g.edges):
        index[u, v], index[v, u] = 2 * e, 2 * e + 1
    following = [0] * (2 * len(g.edges))
    for (u, v), d in index.items():
        following[d] = index[u, embedding[u][v]["cw"]]
    nodes, darts = (0,) * g.n, (0,) * len(following)
    codes = state_codes(g.edges, following, nodes, darts)
    mates = [s for s in range(len(codes)) if codes[s] == codes[0]]
    image = _automorphism(g, following, rng.choice(mates))
    orbit = list(range(len(following)))
    for d in range(len(following)):
        x = d
        while True:
            orbit[x] = min(orbit[x], orbit[d])
            x = image[x]
            if x == d:
                break
    names = {o: rng.randrange(3) for o in set(orbit)}
    return Plain(g.n, g.edges, dart_labels=tuple((names[orbit[2 * e]], names[orbit[2 * e + 1]]) for e in range(len(g.edges))))


def _automorphism(g: Plain, following: list[int], state: int) -> list[int]:
    """The image of each dart under the automorphism that takes dart 0 to the given state."""
    previous = [0] * len(following)
    for d, after in enumerate(following):
        previous[after] = d
    turn = previous if state % 2 else following
    image, todo = {0: state // 2}, [0]
    while todo:
        d = todo.pop()
        for a, b in ((following[d], turn[image[d]]), (d ^ 1, image[d] ^ 1)):
            if a not in image:
                image[a] = b
                todo.append(a)
            assert image[a] == b
    return [image[d] for d in range(len(following))]


def test_classes_are_weinberg_classes():
    symmetric = 0
    for g in labelled_maps(2000, seed=1):
        symmetric += assert_classes(g) < 4 * len(g.edges)
    assert symmetric > 400, "too few of these maps have any symmetry"


@pytest.mark.parametrize("g", SYMMETRIC, ids=str)
def test_symmetric_maps(g):
    assert_classes(g)
    assert_classes(graphs.dual(g))
    assert_classes(mark(g, random.Random(1), darts=1))


def test_face_sizes_matter():
    """Regular maps on other surfaces look like these locally; degrees alone would join their darts."""
    for g in (graphs.truncated(graphs.platonic()["cubical"]), graphs.truncated(graphs.platonic()["icosahedral"])):
        assert_classes(g)


def start_code(g: Plain) -> tuple[int, ...]:
    """The Weinberg code, in Python, of the start that the core chooses."""
    following, _ = classes_of(g)
    codes = state_codes(g.edges, following, g.node_labels or (0,) * g.n, [x for pair in g.darts() for x in pair])
    return codes[chosen_start(g, following)]


def chosen_start(g: Plain, following: list[int]) -> int:
    return _core.chosen_start(g.n, *colours_of(g), np.array(following, dtype=np.int32))


def test_the_chosen_start_is_canonical():
    """Whatever the numbering, the walk starts in the same class: its code is the same."""
    rng = random.Random(5)
    for g in labelled_maps(300, seed=4):
        assert start_code(g) == start_code(g.shuffled(rng)[0]), g


def test_the_cores_weinberg_codes():
    """The C++ codes that the slow test relies on partition states as the Python ones do."""
    for g in labelled_maps(200, seed=2):
        following, _ = classes_of(g)
        expected = state_codes(g.edges, following, g.node_labels or (0,) * g.n, [x for pair in g.darts() for x in pair])
        assert same_partition(fast_codes(g, following), expected), g


def fast_codes(g: Plain, following: list[int]) -> list[bytes]:
    after = np.array(following, dtype=np.int32)
    colours = colours_of(g)
    states = [(d, mirror) for d in range(len(after)) for mirror in (False, True)]
    return [_core.weinberg_code(g.n, *colours, after, d, mirror).tobytes() for d, mirror in states]


@pytest.mark.slow
def test_a_hundred_thousand_maps():
    """Classes against codes on every map, and the chosen start against that of a shuffled copy; every hundredth also in Python."""
    rng = random.Random(6)
    for i, g in enumerate(labelled_maps(100_000, seed=3)):
        following, classes = classes_of(g)
        codes = fast_codes(g, following)
        assert same_partition(classes, codes), g
        h, _ = g.shuffled(rng)
        turned, _ = classes_of(h)
        start = chosen_start(h, turned)
        code = _core.weinberg_code(h.n, *colours_of(h), np.array(turned, dtype=np.int32), start // 2, bool(start % 2)).tobytes()
        assert code == codes[chosen_start(g, following)], g
        if i % 100 == 0:
            assert_classes(g)


def large_regular_maps() -> dict[str, Plain]:
    """Maps of hundreds of nodes where all nodes or faces look alike, so that no dart is rare and the refinement has to work."""
    ico = graphs.platonic()["icosahedral"]
    c60 = graphs.truncated(ico)
    fullerene = graphs.leapfrog(graphs.leapfrog(c60))
    return {
        "prism 300": graphs.prism(300),
        "antiprism 200": graphs.antiprism(200),
        "bipyramid 250": graphs.bipyramid(250),
        "wheel 400": graphs.wheel(400),
        "stacked prism 20x25": graphs.stacked_prism(20, 25),
        "stacked prism 3x200": graphs.stacked_prism(3, 200),
        "fullerene with 540 nodes": fullerene,
        "triangulation with 272 nodes": graphs.dual(fullerene),
        "medial tube": graphs.dual(graphs.stacked_prism(12, 30)),
    }


@pytest.mark.parametrize("name", large_regular_maps())
def test_large_regular_maps(name):
    """The choice is canonical also where brute force over all starts would be too slow for the core to take it.

    Labels leave much symmetry, some, or none: none at all, one odd dart, a few colours in a pattern or at random.
    """
    g, rng = large_regular_maps()[name], random.Random(name)
    versions = [g, mark(g, rng, darts=1), mark(g, rng, nodes=1), mark(g, rng, nodes=2, darts=2)]
    versions += [g.with_labels(rng, nodes=2), g.with_labels(rng, darts=2), g.with_labels(rng, nodes=4, darts=3)]
    versions += [Plain(g.n, g.edges, node_labels=tuple(v % k for v in range(g.n))) for k in (2, 4, 5)]
    for version in versions:
        copies = [version.build(), *(version.shuffled(rng)[0].build() for _ in range(4))]
        assert len(set(pg.canonical_codes(pg.GraphBatch.from_graphs(copies)))) == 1, f"not canonical: {name}, {version}"
