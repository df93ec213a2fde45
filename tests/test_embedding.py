"""Embeddings, faces and duals against networkx and plain walks; positions against all pairs of edges."""

from __future__ import annotations

import itertools
import pickle
import random
from collections import Counter

import exhaustive
import graphs
import maps
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plane_checks import (
    check_dual,
    check_embedding,
    check_outside,
    check_planar_code,
    check_positions,
    check_rotations,
    cyclic,
)
from strategies import planar_graphs, seeds

import planegraph as pg
from planegraph.planarity.planar_code import from_planar_code

SMALL = [g for n in range(1, 8) for g in exhaustive.connected_planar_graphs(n)]


def test_all_connected_planar_graphs_of_up_to_seven_nodes():
    rng = random.Random(1)
    assert len(SMALL) == 1 + 1 + 2 + 6 + 20 + 99 + 646
    for plain in SMALL:
        g = plain.shuffled(rng)[0].build()
        e = pg.embedding(g)
        check_embedding(g, e)
        check_dual(e)


@pytest.mark.parametrize("name", graphs.families())
def test_families(name):
    g = graphs.families()[name].shuffled(random.Random(name))[0].build()
    e = pg.embedding(g)
    check_embedding(g, e)
    check_dual(e)


@given(planar_graphs(30), seeds)
def test_random_graphs(plain, seed):
    g = plain.shuffled(random.Random(seed))[0].build()
    e = pg.embedding(g)
    check_embedding(g, e)
    check_dual(e)
    check_embedding(g, e.mirror())
    assert e.mirror().mirror().next.tolist() == e.next.tolist()
    for v in range(g.num_nodes):
        assert e.mirror().rotation(v).tolist() == [*e.rotation(v)[:1], *e.rotation(v)[:0:-1]]
    again = pickle.loads(pickle.dumps(e))
    assert (again.next.tolist(), again.outer_faces.tolist()) == (e.next.tolist(), e.outer_faces.tolist())


@given(planar_graphs(12), seeds)
def test_networkx_and_back(plain, seed):
    rng = random.Random(seed)
    nodes = rng.sample("abcdefghijklmnop", plain.n)
    graph = nx.Graph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from((nodes[u], nodes[v]) for u, v in plain.edges)
    e = pg.embedding(graph)
    theirs = e.to_networkx()
    theirs.check_structure()
    assert list(theirs) == nodes
    assert {frozenset(x) for x in theirs.edges} == {frozenset(x) for x in graph.edges}
    for v in nodes:
        around = list(theirs.neighbors_cw_order(v))
        assert e.rotation(v).tolist() == [*around[:1], *around[:0:-1]]
    _, found = nx.check_planarity(graph)
    mine = pg.Embedding.from_networkx(found)
    check_embedding(pg.as_graph(found), mine)
    for v in nodes:
        assert cyclic(mine.rotation(v)[::-1].tolist()) == cyclic(list(found.neighbors_cw_order(v)))


@given(st.integers(1, 7), st.floats(0.2, 1), seeds)
def test_rotations_are_accepted_exactly_if_networkx_accepts_them(n, density, seed):
    check_rotations(nx.gnp_random_graph(n, density, seed), random.Random(seed))


def test_not_planar():
    g = nx.relabel_nodes(nx.complete_graph(5), "abcde".__getitem__)
    with pytest.raises(pg.NotPlanarError, match=r"10 of its edges") as error:
        pg.embedding(g)
    assert {frozenset(x) for x in error.value.witness.tolist()} == {frozenset(x) for x in g.edges}


def test_a_cube_and_its_dual():
    cube = pg.embedding(pg.families.prism(4))
    assert cube.num_faces == 6
    assert np.diff(cube.face_ptr).tolist() == [4] * 6
    octahedron = cube.dual().to_graph()
    assert pg.is_isomorphic(octahedron, pg.as_graph(nx.octahedral_graph()))
    assert pg.is_isomorphic(pg.embedding(pg.families.geodesic_sphere(2)).dual().to_graph(), pg.families.fullerene(2))


def test_bridges_are_loops_and_cuts_of_two_are_parallel():
    e = pg.embedding(pg.Graph(6, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]))
    dual = e.dual()
    assert [u == v for u, v in dual.edges.tolist()] == [False] * 3 + [True] + [False] * 3
    with pytest.raises(pg.InvalidGraphError, match="self-loop"):
        dual.to_graph()
    with pytest.raises(pg.InvalidGraphError, match="self-loop"):
        dual.to_networkx()
    with pytest.raises(pg.InvalidGraphError, match="self-loop"):
        pg.planar_layout(dual)
    assert dual.to_multigraph().number_of_edges(0, 0) + dual.to_multigraph().number_of_edges(1, 1) + 6 == 7


# ---- outer faces


def test_the_outer_face_is_the_longest_unless_chosen():
    g = pg.families.disjoint_union(pg.families.prism(5), pg.Graph(1, []), pg.families.cycle(3))
    e = pg.embedding(g)
    assert len(e.face(e.outer_face)) == 5
    assert [len(e.face(f)) for f in e.outer_faces] == [5, 3]
    square = next(f for f in range(e.num_faces) if len(e.face(f)) == 4)
    chosen = e.with_outer_face(square)
    assert chosen.outer_faces.tolist() == [square, e.outer_faces[1]]
    assert chosen.with_outer_face([0, 1, 2]).outer_faces.tolist() == e.with_outer_face([2, 0, 1]).outer_faces.tolist()
    assert pickle.loads(pickle.dumps(chosen)).outer_faces.tolist() == chosen.outer_faces.tolist()
    mirror = chosen.mirror()
    assert set(mirror.face(mirror.outer_faces[0]).tolist()) == set(chosen.face(square).tolist())
    with pytest.raises(pg.InvalidEmbeddingError, match=r"no face .* has all of the nodes \[0, 7\]"):
        e.with_outer_face([0, 7])
    with pytest.raises(IndexError, match="face 9 of an embedding with 9 faces"):
        e.with_outer_face(9)
    with pytest.raises(pg.InvalidGraphError, match="99 is not a node"):
        e.with_outer_face([99])


@given(planar_graphs(10), seeds)
def test_nodes_that_must_lie_outside(plain, seed):
    rng = random.Random(seed)
    check_outside(plain.shuffled(rng)[0].build(), rng)


def test_faces_have_no_numbers_before_there_is_an_embedding():
    with pytest.raises(ValueError, match="faces have numbers in an embedding"):
        pg.embedding(pg.families.cycle(3), outer_face=1)


def test_outerplanar_graphs():
    fan = pg.families.fan(6)
    assert sorted(pg.embedding(fan, outer_face=range(7)).rotation(6).tolist()) == list(range(6))
    for g in (pg.families.complete(4), pg.families.k2n(3)):
        with pytest.raises(pg.InvalidEmbeddingError, match="on one face"):
            pg.embedding(g, outer_face=range(g.num_nodes))
    with pytest.raises(pg.NotPlanarError):
        pg.embedding(pg.families.complete(5), outer_face=[0])


# ---- positions


def triangles_of(points: np.ndarray) -> tuple[pg.Graph, set[frozenset[int]]]:
    from scipy.spatial import Delaunay

    found = Delaunay(points).simplices
    sides = {tuple(sorted(pair)) for t in found.tolist() for pair in itertools.combinations(t, 2)}
    return pg.Graph(len(points), sorted(sides)), {frozenset(t) for t in found.tolist()}


@pytest.mark.parametrize("n", [3, 10, 100, 1000])
def test_delaunay(n):
    points = np.random.default_rng(n).random((n, 2))
    g, expected = triangles_of(points)
    g = pg.families.shuffled(g, seed=3)  # another numbering: find it again
    back = pg.isomorphism(g, triangles_of(points)[0])
    moved = points[back]
    e = pg.embedding(g, moved)
    inner = [e.face(f) for f in range(e.num_faces) if f != e.outer_face]
    assert {frozenset(back[t].tolist()) for t in inner} == expected
    for a, b, c in inner:
        assert np.linalg.det([moved[b] - moved[a], moved[c] - moved[a]]) > 0  # counter-clockwise
    if n <= 100:
        check_embedding(g, e)


def test_a_street_grid_by_dict_with_names():
    graph = nx.grid_2d_graph(4, 5)
    e = pg.embedding(graph, {v: v for v in graph})
    assert e.rotation((1, 1)).tolist() == [(0, 1), (1, 0), (2, 1), (1, 2)]  # the neighbour of its first edge first
    blocks = {tuple(sorted(e.face(f).tolist())) for f in range(e.num_faces) if f not in e.outer_faces}
    assert blocks == {((i, j), (i, j + 1), (i + 1, j), (i + 1, j + 1)) for i in range(3) for j in range(4)}


def test_nested_components_have_outer_faces_of_their_own():
    inner = pg.families.disjoint_union(pg.families.cycle(4), pg.families.cycle(3), pg.families.path(2))
    points = [(0, 0), (9, 0), (9, 9), (0, 9), (2, 2), (3, 2), (2, 3), (5, 5), (6, 5)]
    e = pg.embedding(inner, points)
    assert [cyclic(e.face(f).tolist()) for f in e.outer_faces] == [[0, 3, 2, 1], [4, 6, 5], [7, 8]]


@given(planar_graphs(9), st.integers(1, 9), seeds)
def test_positions_are_accepted_exactly_if_no_two_edges_meet(plain, size, seed):
    rng = random.Random(seed)
    check_positions(plain.shuffled(rng)[0].build(), size, rng)


@pytest.mark.parametrize(
    ("points", "message", "edges"),
    [
        ([(0, 0), (2, 2), (2, 0), (0, 2)], r"edges 0 = \('a', 'b'\) and 1 = \('c', 'd'\) cross", ["ab", "cd"]),
        ([(0, 0), (2, 0), (1, 0), (1, 2)], r"node 'c' lies on edge 0 = \('a', 'b'\)", ["ab"]),
        ([(0, 0), (2, 0), (0, 0), (1, 2)], r"nodes 'a' and 'c' are both at \(0.0, 0.0\)", []),
        ([(0, 0), (2, 0), (np.nan, 0), (1, 2)], r"node 'c' is at \(nan, 0.0\); coordinates must be finite", []),
        ([(0, 0), (2, 0), (np.inf, 0), (1, 2)], r"node 'c' is at", []),
        ([(0, 0), (2, 0), (0, 2**53 + 1), (1, 2)], r"node 'c' is at .*double precision", []),
        ([(0, 0), (2, 0), (0, 1e-300), (1, 2)], r"node 'c' is at .*between 2\^-400 and 2\^500", []),
        ([(0, 0), (2, 0), (0, 2)], r"must be 4 points.*found shape \(3, 2\)", []),
        ([(0, 0, 0)] * 4, r"found shape \(4, 3\)", []),
        ([("x", "y")] * 4, r"dtype <U1", []),
        ({"a": (0, 0), "b": (2, 0), "d": (1, 2)}, r"lack node 'c'", []),
    ],
)
def test_wrong_positions(points, message, edges):
    g = pg.Graph(4, [(0, 1), (2, 3)], names="abcd")
    with pytest.raises(pg.InvalidEmbeddingError, match=message) as error:
        pg.embedding(g, points)
    assert ["".join(pair) for pair in error.value.edges.tolist()] == edges


def test_edges_that_overlap():
    with pytest.raises(pg.InvalidEmbeddingError, match=r"edges 0 = \(0, 1\) and 1 = \(0, 2\) leave node 0 in the same direction"):
        pg.embedding(pg.Graph(3, [(0, 1), (0, 2)]), [(0, 0), (1, 1), (2, 2)])


def test_positions_and_an_outer_face():
    with pytest.raises(ValueError, match="not both"):
        pg.embedding(pg.families.path(2), [(0, 0), (1, 1)], [0])


def test_positions_that_need_exact_arithmetic():
    """A fan so thin that rounded determinants are wrong."""
    k = 40
    points = np.array([(0.0, 0.0), *((1.0 + 2.0**-52 * i, 1.0) for i in range(k))])
    g = pg.Graph(k + 1, [(0, i + 1) for i in random.Random(1).sample(range(k), k)])
    assert cyclic(pg.embedding(g, points).rotation(0).tolist()) == [1, *range(k, 1, -1)]


# ---- objects


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, [(0, 1), (1, 2)], [0, 1, 2]), r"next must hold 4 darts; found shape \(3,\)"),
        ((3, [(0, 1), (1, 2)], [0, 1, 2, 4]), r"darts 0..3; found 0 and 4"),
        ((3, [(0, 1), (1, 2)], [0.0, 2, 1, 3]), "dtype float64"),
        ((3, [(0, 1), (1, 2)], [0, 1, 2, 3]), "darts around node 1 form more than one cycle"),
        ((3, [(0, 1), (1, 2)], [1, 0, 2, 3]), "dart 1 follows dart 0 around node 0, but leaves another node"),
        ((3, [(0, 1), (1, 2)], [0, 1, 1, 3]), "dart 1 follows two darts around node 1"),
        ((3, [(0, 1), (1, 3)], [0, 2, 1, 3]), "edges must join nodes of 0..2; found 0 and 3"),
        ((1, [(0, 0), (0, 0)], [2, 3, 1, 0]), "nodes - edges [+] faces is 0, not 2, in the component of node 0"),
        ((3, [(0, 1), (1, 2)], [0, 2, 1, 3], None, [7]), "outer must hold darts 0..3; found 7 and 7"),
        ((3, [(0, 1), (1, 2)], [0, 2, 1, 3], "ab"), "names must hold a name for each of the 3 nodes"),
    ],
)
def test_wrong_embeddings(arguments, message):
    with pytest.raises(ValueError, match=message):
        pg.Embedding(*arguments)


def test_errors_say_names():
    with pytest.raises(pg.InvalidEmbeddingError, match="around node 'y' form more than one cycle"):
        pg.Embedding(3, [(0, 1), (1, 2)], [0, 1, 2, 3], "xyz")


@pytest.mark.parametrize(
    ("rotations", "message"),
    [
        ([[1], [0], [1]], "the order around node 1 lacks its neighbour 2"),
        ([[2], [0, 2], [1]], "node 0 names 2, which is not a neighbour"),
        ([[1, 1], [0, 2], [1]], "node 0 names its neighbour 1 twice"),
        ([[1], [0, 2, 0, 2], [1]], "node 1 names its neighbour 0 twice"),
        ([[1], [0, 2]], "3 nodes need as many orders; found 2"),
        ([[1], [0, 2], [1], []], "3 nodes need as many orders; found 4"),
    ],
)
def test_wrong_rotations(rotations, message):
    with pytest.raises(pg.InvalidEmbeddingError, match=message):
        pg.Embedding.from_rotations(pg.families.path(3), rotations)


@pytest.mark.parametrize("shape", ["mapping", "list"])
def test_rotations_by_name(shape):
    G = nx.relabel_nodes(nx.convert_node_labels_to_integers(nx.dodecahedral_graph()), lambda v: f"n{v * 7 % 20}")
    e = pg.embedding(G)
    rotations = {v: e.rotation(v).tolist() for v in G}
    again = pg.Embedding.from_rotations(G, rotations if shape == "mapping" else rotations.values())
    assert np.array_equal(again.next, e.next)
    assert again.names.tolist() == list(G)


@pytest.mark.parametrize(
    ("rotations", "message"),
    [
        ({"a": "b", "b": "a", "c": "b"}, "the order around node 'b' lacks its neighbour 'c'"),
        ({"a": "c", "b": "ac", "c": "b"}, "node 'a' names 'c', which is not a neighbour"),
        ({"a": "bb", "b": "ac", "c": "b"}, "node 'a' names its neighbour 'b' twice"),
        ({"a": "b", "b": "ac"}, "the orders lack node 'c'"),
        ({"a": "b", "b": "ac", "c": "b", "d": ""}, "an order around 'd', which is not a node"),
    ],
)
def test_wrong_rotations_by_name(rotations, message):
    with pytest.raises(pg.InvalidEmbeddingError, match=message):
        pg.Embedding.from_rotations(nx.path_graph(["a", "b", "c"]), rotations)


def test_functions_of_graphs_take_embeddings():
    G = nx.relabel_nodes(nx.wheel_graph(5), "abcde".__getitem__)
    e, g = pg.embedding(G), pg.as_graph(G)
    assert pg.as_graph(e) == g
    assert pg.as_graph(e).names.tolist() == list(G)
    assert pg.is_planar(e)
    assert pg.automorphisms(e).order == 8
    assert pg.decompose(e).counts == pg.decompose(g).counts
    assert pg.st_numbering(e, "a", "b") == pg.st_numbering(g, "a", "b")
    assert pg.draw(e).summary == pg.draw(g).summary
    cycle = pg.embedding(pg.families.cycle(3)).dual()
    assert pg.decompose(cycle).counts["P"] == 1
    with pytest.raises(pg.InvalidGraphError, match=r"edges 0 = \(0, 1\) and 1 = \(0, 1\) are parallel"):
        pg.automorphisms(cycle)


def test_loops_and_parallel_edges():
    """Two nodes, a loop at each, three edges between them."""
    e = pg.Embedding(2, [(0, 1), (0, 1), (0, 1), (0, 0), (1, 1)], [2, 5, 4, 8, 6, 3, 7, 0, 9, 1])
    assert (e.num_faces, e.rotation(0).tolist()) == (5, [1, 1, 1, 0, 0])
    check_dual(e)


def test_nothing_can_be_changed():
    e = pg.embedding(pg.families.wheel(4))
    with pytest.raises(AttributeError, match="cannot be changed"):
        e.next = None
    for array in (e.next, e.edges, e.face_ptr, e.face_darts, e.face_of):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_graphs_without_edges():
    for n in (0, 1, 4):
        e = pg.embedding(pg.Graph(n, []))
        assert (e.num_faces, e.outer_faces.tolist(), e.dual().num_nodes, repr(e)[-8:]) == (0, [], 0, "0 faces)")
        e.check()
        with pytest.raises(ValueError, match="has no faces"):
            _ = e.outer_face
        assert pg.embedding(pg.Graph(n, []), positions=[(k, k) for k in range(n)]).num_nodes == n


def test_unknown_nodes():
    e = pg.embedding(pg.Graph(2, [(0, 1)], names="ab"))
    assert e.rotation("a").tolist() == ["b"]
    for node in (0, "c", None, ["a"]):
        with pytest.raises(pg.InvalidGraphError, match="is not a node of the graph"):
            e.rotation(node)
        with pytest.raises(pg.InvalidGraphError, match="is not a node of the graph"):
            e.dart("a", node)


def test_darts():
    e = pg.embedding(pg.Graph(3, [(2, 0), (1, 2)], names="abc"))
    assert [e.dart(u, v) for u, v in ("ca", "ac", "bc", "cb")] == [0, 1, 2, 3]
    with pytest.raises(pg.InvalidGraphError, match="no edge from 'a' to 'b'"):
        e.dart("a", "b")


# ---- planar_code


@given(planar_graphs(20), seeds)
def test_planar_code_and_back(plain, seed):
    check_planar_code(plain.shuffled(random.Random(seed))[0].build())


def test_planar_code_of_plantri():
    """The tetrahedron as plantri writes it."""
    k4 = from_planar_code(b">>planar_code<<\x04\x02\x03\x04\x00\x01\x04\x03\x00\x01\x02\x04\x00\x01\x03\x02\x00")
    assert k4.to_graph() == pg.families.complete(4)
    assert list(k4.to_networkx().neighbors_cw_order(0)) == [1, 2, 3]


@pytest.mark.parametrize("n", [255, 256, 1000])
def test_planar_code_with_numbers_of_two_bytes(n):
    e = pg.embedding(pg.families.shuffled(pg.families.apollonian(n, seed=n)))
    code = e.to_planar_code()
    assert code.startswith(b">>planar_code be<<\0" if n > 255 else b">>planar_code<<\xff")
    assert from_planar_code(code).to_graph() == e.to_graph()
    if n > 255:
        numbers = np.frombuffer(code[len(b">>planar_code be<<\0") :], ">u2").astype("<u2").tobytes()
        assert from_planar_code(b">>planar_code le<<\0" + numbers).to_graph() == e.to_graph()


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (b"", "empty"),
        (b">>planar_code<<", "empty"),
        (b"\0\0", "odd number"),
        (b"\x03\x02\x00\x01", "ends after 1 of 3 nodes"),
        (b"\x02\x02\x00\x01\x00\x00", "goes on after its last node"),
        (b"\x02\x02\x00\x01\x00\x02\x02\x00\x01\x00", "goes on after its last node"),
        (b"\x02\x03\x00\x01\x00", "names node 3"),
        (b"\x01\x01\x01\x00", "has a loop"),
        (b"\x02\x02\x02\x00\x01\x01\x00", "parallel edges"),
        (b"\x03\x02\x00\x03\x00\x01\x00", "in one direction only"),
    ],
)
def test_wrong_planar_code(code, message):
    with pytest.raises(pg.FormatError, match=message):
        from_planar_code(code)


def test_planar_code_has_no_place_for_it():
    with pytest.raises(pg.FormatError, match="1 to 65,535 nodes; the embedding has 0"):
        pg.embedding(pg.Graph(0, [])).to_planar_code()
    with pytest.raises(pg.FormatError, match="has 65536"):
        pg.embedding(pg.families.path(65_536)).to_planar_code()
    with pytest.raises(pg.InvalidGraphError, match="parallel"):
        pg.embedding(pg.families.cycle(3)).dual().to_planar_code()


# ---- large


def test_large_graphs_without_recursion():
    n = 100_000
    for g in (pg.families.path(n), pg.families.star(n), maps_of(n), pg.families.shuffled(pg.families.grid(300, 300), 1)):
        e = pg.embedding(g)
        e.check()
        assert g.num_nodes - g.num_edges + e.num_faces == 2
        e.dual().check()
        assert Counter(np.bincount(e.face_of).tolist()) == Counter(np.diff(e.face_ptr).tolist())


def maps_of(n: int) -> pg.Graph:
    return pg.families.shuffled(pg.families.apollonian(n, seed=4), 5)


def test_polyhedra_have_one_embedding():
    """Up to mirror images; so that of a drawing is the one that is found."""
    for g in maps.polyhedra(20):
        e = pg.embedding(g.build())
        drawn = pg.embedding(g.build(), pg.planar_layout(g.build()))
        assert drawn.next.tolist() in (e.next.tolist(), e.mirror().next.tolist())


def test_planar_embeddings_of_networkx_are_graphs():
    _, theirs = nx.check_planarity(nx.cycle_graph(4))
    assert pg.as_graph(theirs) == pg.families.cycle(4)


def test_what_cannot_be_changed():
    """Nor can arrays be written to that it hands out and keeps."""
    e = pg.embedding(pg.families.wheel(5)).with_outer_face(0)
    multigraph = pg.MultiGraph(2, [(0, 1), (0, 1)])
    for array in (e.edges, e.next, e.source, e.face_ptr, e.face_darts, e.face_of, e.face_nodes, e.face(0)):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert not any(array.flags.writeable for array in vars(e).values() if isinstance(array, np.ndarray))
    for owner, name in ((e, "next"), (e, "face_nodes"), (multigraph, "edges"), (pg.GraphBatch.from_graphs([]), "edges")):
        with pytest.raises(AttributeError, match="cannot be changed"):
            delattr(owner, name)
    p = pg.planarize(pg.Graph(4, [(0, 1), (2, 3)]), [(0, 0), (2, 2), (2, 0), (0, 2)])
    s = pg.planar_subgraph(pg.families.complete(5))
    for array in (p.positions, p.source, p.along, p.part_ptr, p.parts, s.kept, s.left_out):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert p.source.dtype == p.parts.dtype == s.kept.dtype == s.left_out.dtype == pg.decompose(s.graph).bridges.dtype == np.int64
    assert s == s != pg.planar_subgraph(pg.families.complete(5))
    assert p == p != pg.planarize(p.graph, p.positions)


def test_large_integers_that_doubles_hold():
    """As coordinates; others would be rounded, and are refused."""
    g = pg.Graph(2, [(0, 1)])
    for dtype in (np.int64, np.uint64):
        assert pg.embedding(g, np.array([(0, 0), (2**60, 2**62)], dtype)).num_edges == 1
        for wrong in (2**60 + 1, int(np.iinfo(dtype).max)):
            with pytest.raises(pg.InvalidEmbeddingError, match="exact in double precision"):
                pg.embedding(g, np.array([(0, 0), (0, wrong)], dtype))
    assert pg.planarize(g, np.array([(-(2**63), 0), (0, 0)])).graph == g
