"""Decomposition.check(): accepts what is right, and notices every single corruption of every column."""

from __future__ import annotations

import random

import graphs
import maps
import pytest
import reference
from hypothesis import given
from plain import Plain, disjoint_union, identify, replace_edge
from skeletons import tree_from_tables
from strategies import glued_graphs, planar_graphs

import planegraph as pg
from planegraph.decomposition.check import TABLES, DecompositionError, check_tables, is_three_connected

FAMILIES = graphs.families() | graphs.nonplanar()


def rich_graph() -> Plain:
    """A small graph with all node types, several blocks and components, two-centred and one-centred SPQR trees."""
    block = replace_edge(graphs.prism(3), 0, graphs.book(2), 0, keep=True)
    g = identify(identify(block, graphs.nested_k4(2), 0, 0), graphs.path(3), 1, 0)
    return disjoint_union(identify(g, graphs.skew_theta("+-"), 4, 2), graphs.path(2), graphs.path(1))


@pytest.mark.parametrize("name", FAMILIES)
def test_accepts_the_reference(name):
    g = FAMILIES[name]
    check_tables(g.n, g.edges, reference.tables(g))
    check_tables(g.n, g.edges, reference.tables(g, flip_roots=True))


@given(planar_graphs(16))
def test_accepts_the_reference_on_random_graphs(g):
    check_tables(g.n, g.edges, reference.tables(g))


@given(glued_graphs(8, nonplanar=True))
def test_the_reference_recovers_glued_trees(glued):
    """The reference is itself tested: it is the oracle of other tests."""
    arrays = reference.tables(glued.graph)
    check_tables(glued.graph.n, glued.graph.edges, arrays)
    assert tree_from_tables(glued.graph.edges, arrays) == (glued.nodes, glued.tree), glued.graph


@pytest.mark.parametrize("column", [name for columns in TABLES.values() for name in columns])
def test_every_corrupted_entry_is_noticed(column):
    g = rich_graph()
    arrays = pg.decompose(g.build()).arrays
    arrays = {name: list(map(int, values)) for name, values in arrays.items() if name in columns_of_tables()}
    check_tables(g.n, g.edges, arrays)
    values = sorted({-2, -1, 0, 1, 2, 10**6} | set(arrays[column]))
    assert arrays[column], "the graph must have an entry to corrupt"
    for row, right in enumerate(arrays[column]):
        for wrong in values:
            if wrong != right:
                corrupted = arrays | {column: [*arrays[column][:row], wrong, *arrays[column][row + 1 :]]}
                assert_noticed(g, corrupted, f"{column}[{row}] = {wrong} in place of {right}")


def assert_noticed(g: Plain, arrays, what: str) -> None:
    try:
        check_tables(g.n, g.edges, arrays)
    except DecompositionError:
        return
    pytest.fail(f"{what} went unnoticed in {g}")


def columns_of_tables() -> set[str]:
    return {name for columns in TABLES.values() for name in columns}


@pytest.mark.parametrize("table", TABLES)
def test_a_missing_or_repeated_row_is_noticed(table):
    g = rich_graph()
    arrays = reference.tables(g)
    rows = len(arrays[TABLES[table][0]])
    for row in range(rows):
        for times in (0, 2):
            changed = arrays | {
                name: [*arrays[name][:row], *arrays[name][row : row + 1] * times, *arrays[name][row + 1 :]]
                for name in TABLES[table]
            }
            assert_noticed(g, changed, f"row {row} of {table}, {times} times,")


def test_swapped_walk_entries_are_noticed():
    g = rich_graph()
    arrays = reference.tables(g)
    for i in range(len(arrays["walk_node"]) - 1):
        if arrays["spqr_type"][arrays["walk_spqr"][i]] == "SPQR".index("Q"):
            continue  # the two darts of a Q in the other order are another right walk
        changed = {}
        for name in ("walk_node", "walk_edge", "walk_other"):
            column = list(arrays[name])
            column[i], column[i + 1] = column[i + 1], column[i]
            changed[name] = column
        if arrays | changed != arrays:
            assert_noticed(g, arrays | changed, f"the swap of walk entries {i} and {i + 1}")


@pytest.mark.parametrize(
    ("fault", "g", "message"),
    [
        ("unsplit", graphs.two_centres(graphs.complete(4), graphs.complete(4)), "not 3-connected"),
        ("unsplit", graphs.nested_k4(6), "not 3-connected"),
        ("unmerged", graphs.cycle(6), "same type"),
        ("unmerged", graphs.book(5), "same type"),
        ("off centre", graphs.nested_k4(6), "not a centre"),
        ("off centre", graphs.polygon_triangulation(12, 1), "not a centre"),
        ("block tree off centre", graphs.path(6), "not a centre"),
        ("block tree off centre", graphs.path(3), "not a centre"),
        ("wrong direction", graphs.two_centres(graphs.complete(4), graphs.complete(4)), "starts at node"),
        ("wrong direction", graphs.book(2), "starts at node"),
        ("wrong start", graphs.two_centres(graphs.complete(4), graphs.prism(3)), "does not start"),
        ("joined blocks", graphs.flower(2, graphs.complete(4)), "SPQR node 0"),
    ],
)
def test_a_wrong_decomposition_is_noticed(fault, g, message):
    """Tables that are consistent in themselves but are not the decomposition."""
    check_tables(g.n, g.edges, reference.tables(g))
    with pytest.raises(DecompositionError, match=message):
        check_tables(g.n, g.edges, reference.tables(g, faults=[fault] if fault != "joined blocks" else [fault, "unsplit"]))


def test_the_wrong_graph_is_noticed():
    g = rich_graph()
    arrays = reference.tables(g)
    for e, (u, v) in enumerate(g.edges):
        other = next(w for w in range(g.n) if w not in (u, v))
        with pytest.raises(DecompositionError):
            check_tables(g.n, [*g.edges[:e], (u, other), *g.edges[e + 1 :]], arrays)
        with pytest.raises(DecompositionError):
            check_tables(g.n, [*g.edges, (0, g.n - 1)], arrays)


def test_three_connectivity_against_brute_force():
    rng = random.Random(5)
    found = {True: 0, False: 0}
    for _ in range(1500):
        g = maps.planar(rng.randint(4, 12), rng.choice((0.8, 0.9, 0.97)), rng)
        expected = maps.is_three_connected_brute_force(g)
        found[expected] += 1
        assert is_three_connected(g.edges) == expected, g
    assert min(found.values()) > 100, found


def test_three_connectivity_of_dense_graphs_against_brute_force():
    rng = random.Random(6)
    for _ in range(1500):
        n = rng.randint(4, 9)
        pairs = [(i, j) for i in range(n) for j in range(i)]
        g = Plain.of(n, rng.sample(pairs, rng.randint(n, len(pairs))))
        assert is_three_connected(g.edges) == maps.is_three_connected_brute_force(g), g


@pytest.mark.parametrize("name", ["wheel", "prism", "bipyramid", "antiprism"])
def test_three_connectivity_of_large_graphs(name):
    g = getattr(graphs, name)(4000)
    assert is_three_connected(g.edges)
    assert not is_three_connected(g.edges[1:-1]) or name in ("bipyramid", "antiprism")
