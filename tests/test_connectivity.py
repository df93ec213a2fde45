"""Connectivity as arrays and trees, of simple graphs and multigraphs, against networkx and brute force."""

from __future__ import annotations

import json
import pickle
import random
import re
import runpy
import weakref
from pathlib import Path

import exhaustive
import graphs
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain import Plain
from strategies import planar_graphs, seeds
from toolkit_checks import assert_connectivity, networkx_graph, pairs_by_brute_force

import planegraph as pg
from planegraph.decomposition.check import is_three_connected, plane_weak_parts
from planegraph.decomposition.rows import Rows


@pytest.mark.parametrize("n", range(7))
def test_all_small_planar_graphs(n):
    for g in exhaustive.connected_planar_graphs(n) if n else [Plain.of(0, [])]:
        assert_connectivity(g)


@given(planar_graphs(14))
def test_random_graphs(g):
    assert_connectivity(g)


@pytest.mark.parametrize("name", ["k5 as a set", "k33 as a set"])
def test_graphs_that_are_not_planar(name):
    """A ring in which a non-planar part hangs: its cycle is a set."""
    part = nx.complete_graph(5) if name.startswith("k5") else nx.complete_bipartite_graph(3, 3)
    ring = nx.disjoint_union(nx.disjoint_union(part, part), nx.path_graph(3))
    k = len(part)
    ring.add_edges_from([(0, 2 * k), (k - 1, k), (2 * k - 1, 2 * k + 2)])
    d = pg.decompose(ring, on_nonplanar="set")
    assert {frozenset(p) for p in d.separation_pairs} == pairs_by_brute_force(ring)
    assert d.node_connectivity == nx.node_connectivity(ring)


@given(planar_graphs(12))
def test_two_node_cuts_of_networkx(g):
    graph, d = networkx_graph(g), pg.decompose(g.build())
    if d.node_connectivity == 2 and nx.density(graph) != 1:
        cuts = {frozenset(cut) for cut in nx.all_node_cuts(graph)}
        assert cuts == {frozenset(pair) for pair in d.separation_pairs}, g


def test_long_cycles_are_kept_compact():
    d = pg.decompose(pg.families.cycle(10**6))
    assert len(d.separation_pairs) == 10**6 * (10**6 - 3) // 2
    assert d.separation_pairs.cycle_ptr.tolist() == [0, 10**6]
    u, v = next(iter(d.separation_pairs))
    assert 2 <= abs(u - v) <= 10**6 - 2
    assert not d.separation_pairs.cycle_nodes.flags.writeable


# ---- names, trees, tables --------------------------------------------------------------------------------------------------------


def street() -> pg.Decomposition:
    return pg.decompose(nx.Graph([("a", "b"), ("b", "c"), ("c", "d"), ("d", "b"), (("e", 1), "a"), ("c", "f"), ("f", "d")]))


def test_answers_have_the_callers_names():
    d = street()
    assert {frozenset(e) for e in d.ends(d.bridges).tolist()} == {frozenset(("a", "b")), frozenset((("e", 1), "a"))}
    assert set(d.named(d.cut_nodes.node)) == {"a", "b"}
    assert {frozenset(pair) for pair in d.separation_pairs} == {frozenset("cd")}
    assert set(d.block_cut_tree()) >= {("cut", "a"), ("cut", "b")}
    tree = d.spqr_tree(next(b.index for b in d.blocks if len(b.spqr_nodes) > 1))
    assert {frozenset(ends) for _, _, ends in tree.edges(data="poles")} == {frozenset("cd")}
    assert set(d.skeleton(min(tree))) <= set("bcdf")


@given(planar_graphs(16), seeds)
def test_trees(g, seed):
    rng = random.Random(seed)
    names = rng.sample(range(1000), g.n)
    d = pg.decompose(pg.Graph(g.n, g.edges, names=names))
    assert_trees(d, g)


def assert_trees(d: pg.Decomposition, g: object) -> None:
    tree = d.block_cut_tree()
    assert nx.is_forest(tree) if len(tree) else not d.graph.num_edges
    blocks = [data for _, data in tree.nodes(data=True) if data["kind"] == "block"]
    assert sorted(e for data in blocks for e in data["edge_ids"]) == list(range(d.graph.num_edges)), g
    for (_, cut), data in tree.nodes(data=True):
        if data["kind"] == "cut":
            assert {frozenset(tree.nodes[b]["nodes"]) for b in tree[("cut", cut)]} == {
                frozenset(b["nodes"]) for b in blocks if cut in b["nodes"]
            }, g
    whole = d.spqr_tree()
    assert not len(whole) or nx.is_forest(whole)
    for a, b, poles in whole.edges(data="poles"):
        assert whole.nodes[a]["virtual_edges"][b] == whole.nodes[b]["virtual_edges"][a] == poles, g
    for block in range(len(d.blocks)):
        part = d.spqr_tree(block)
        assert nx.is_tree(part)
        assert {c: data["nodes"] for c, data in part.nodes(data=True)} == {c: whole.nodes[c]["nodes"] for c in part}
        # glued along their virtual edges, the skeletons are the block
        assert sorted(e for _, ids in part.nodes(data="edge_ids") for e in ids) == np.flatnonzero(d.edge_block == block).tolist(), g
    for c, data in whole.nodes(data=True):
        skeleton = d.skeleton(c)
        assert set(skeleton) == set(data["nodes"])
        assert {frozenset(e[:2]) for e in skeleton.edges} == {
            frozenset(e) for e in (*data["edges"], *data["virtual_edges"].values())
        }, g
        assert skeleton.number_of_edges() == len(data["edges"]) + len(data["virtual_edges"])


def test_dot():
    d = street()
    text = d.to_dot()
    assert len(re.findall(r"^  s\d+ \[label=", text, re.M)) == len(d.spqr_nodes)
    assert len(re.findall(r"^  s\d+ -- s\d+ ", text, re.M)) == len(d.spqr_nodes) - len(d.blocks)
    assert '"c d"' in text or '"d c"' in text
    cuts = d.to_dot("block-cut")
    assert len(re.findall("--", cuts)) == sum(len(c.blocks) for c in d.cut_nodes)
    block = next(b for b in d.blocks if len(b.spqr_nodes) == 3)
    assert len(d.to_dot(block=block.index).splitlines()) == 7
    quoted = pg.decompose(nx.Graph([('say "hi"', "a\nb")])).to_dot()
    assert json.loads(re.search(r"label=(\".*\"), shape", quoted)[1]).startswith("Q 0: ")
    with pytest.raises(ValueError, match="'spqr' or 'block-cut'; found 'bc'"):
        d.to_dot("bc")
    with pytest.raises(ValueError, match="leave block out"):
        d.to_dot("block-cut", 0)


def test_parquet(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    d = pg.decompose(nx.Graph([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]))
    d.to_parquet(tmp_path / "new" / "tables")
    edges = parquet.read_table(tmp_path / "new" / "tables" / "edge.parquet").to_pydict()
    assert list(zip(edges["u"], edges["v"], strict=True)) == [tuple(e) for e in d.ends(slice(None)).tolist()]
    assert np.flatnonzero(edges["is_bridge"]).tolist() == d.bridges.tolist()
    assert {path.stem for path in (tmp_path / "new" / "tables").iterdir()} == {
        *("node", "edge", "block", "cut", "spqr", "node_block", "node_spqr", "walk")
    }
    with pytest.raises(pg.InvalidGraphError, match="of one type"):
        street().to_parquet(tmp_path)


def test_pandas():
    pytest.importorskip("pandas", reason="pandas is not installed")
    frames = street().to_pandas()
    edge = frames["edge"]
    assert {frozenset(e) for e in edge.loc[edge.is_bridge, ["u", "v"]].to_numpy().tolist()} == {
        frozenset(("a", "b")),
        frozenset((("e", 1), "a")),
    }
    assert set(frames["cut"].name) == {"a", "b"}
    assert set(frames["spqr"].type) == set("SPQ")
    assert len(frames["walk"]) == len(street().arrays["walk_node"])


@pytest.mark.parametrize("overpasses", [0, 5])
def test_the_example_of_a_road_map(tmp_path, monkeypatch, capsys, overpasses):
    example = runpy.run_path(str(Path(__file__).parents[1] / "examples/road_map.py"))
    map = example["make_map"](2500, overpasses)
    bridges = {frozenset(e) for e in nx.bridges(nx.Graph(map["streets"].tolist()))}
    monkeypatch.setattr(
        "sys.argv", ["", "--crossings", "2500", "--overpasses", str(overpasses), "--out", str(tmp_path / "out.npz")]
    )
    assert example["main"]() == 0
    assert f"{len(bridges)} bridges; load " in capsys.readouterr().out
    with np.load(tmp_path / "out.npz") as table:
        assert {frozenset(e) for e in np.stack([table["u"], table["v"]], axis=1).tolist()} == bridges
        for end in "uv":
            assert np.array_equal(np.stack([table[f"{end}_x"], table[f"{end}_y"]], axis=1), map["xy"][table[end]])
        assert all(column.shape == (len(bridges),) for column in table.values())  # as data frames want them
        assert np.array_equal(map["streets"][table["street"]], np.stack([table["u"], table["v"]], axis=1))


# ---- sequences -------------------------------------------------------------------------------------------------------------------


def test_rows_are_built_one_by_one():
    asked = []

    def build(a: int, b: int) -> list[int]:
        asked.append((a, b))
        return list(range(a, b))

    rows = Rows(10**9, build)
    assert (len(rows), rows[5], rows[-1], rows[2:4], rows[10:2:-4]) == (10**9, 5, 10**9 - 1, (2, 3), (10, 6))
    assert next(iter(rows)) == 0
    assert max(b - a for a, b in asked) < 10**5
    for index in (10**9, -(10**9) - 1):
        with pytest.raises(IndexError, match=f"index {index} of a sequence of"):
            rows[index]
    assert Rows(3, build) == [0, 1, 2] == Rows(3, build)
    assert Rows(3, build) != (0, 1)
    assert list(Rows(10**4, build)) == list(range(10**4))
    assert repr(Rows(4, build)) == "<4: 0, 1, 2, ...>"


@given(planar_graphs(16))
def test_objects_do_not_depend_on_how_they_are_reached(g):
    d = pg.decompose(g.build())
    for rows in (d.spqr_nodes, d.blocks, d.cut_nodes):
        assert list(rows) == [rows[i] for i in range(len(rows))] == list(rows[:]), g
    assert pickle.loads(pickle.dumps(d)).spqr_nodes == d.spqr_nodes


def test_a_giant_decomposition_answers_at_once():
    """Objects of 10^5 SPQR nodes would take more memory than this."""
    import tracemalloc

    d = pg.decompose(pg.families.k2n(10**5))
    tracemalloc.start()
    assert len(d.spqr_nodes) == 10**5 + 1
    assert d.spqr_nodes[-1].type == "S"
    assert str(d).startswith("100,002 nodes")
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()


# ---- multigraphs -----------------------------------------------------------------------------------------------------------------


@st.composite
def multigraphs(draw) -> pg.MultiGraph:
    """Planar graphs with copies of some edges, in both directions, and loops."""
    g = draw(planar_graphs(9))
    rng = random.Random(draw(seeds))
    more = [rng.choice([e, e[::-1]]) for e in g.edges for _ in range(rng.choice([0, 0, 0, 1, 2]))]
    loops = [(v, v) for v in range(g.n) for _ in range(rng.choice([0, 0, 0, 1, 2]))]
    edges = [*g.edges, *more, *loops]
    rng.shuffle(edges)
    return pg.MultiGraph(g.n, edges)


def subdivided(g: pg.MultiGraph) -> nx.Graph:
    """Two nodes on each edge: a simple graph with the same bridges and blocks."""
    graph = nx.Graph()
    graph.add_nodes_from(range(g.num_nodes))
    for e, (u, v) in enumerate(g.edges.tolist()):
        nx.add_path(graph, [u, ("u", e), ("v", e), v])
    return graph


@given(multigraphs())
def test_multigraphs(g):
    d, graph = pg.decompose(g), subdivided(g)
    bridges = {u[1] for edge in nx.bridges(graph) for u in edge if isinstance(u, tuple)}
    assert set(d.bridges.tolist()) == bridges, g.edges.tolist()
    blocks = set()
    for block in nx.biconnected_component_edges(graph):
        inner = frozenset(u[1] for edge in block for u in edge if isinstance(u, tuple))
        if len(inner) > 1 or next(iter(inner)) not in bridges:
            blocks.add(inner)
    blocks |= {frozenset([e]) for e in bridges}
    assert {frozenset(b.edges) for b in d.blocks} == blocks, g.edges.tolist()
    holders = [sum(v in {x for e in block for x in g.edges[e]} for block in blocks) for v in range(g.num_nodes)]
    assert {v for v, k in enumerate(holders) if k > 1} == set(d.cut_nodes.node.tolist()), g.edges.tolist()
    d.check()
    assert_trees(d, g.edges.tolist())
    simple = pg.decompose(g.simple())
    assert {frozenset(p) for p in d.separation_pairs} == {frozenset(p) for p in simple.separation_pairs}, g.edges.tolist()
    assert (d.node_connectivity, d.is_biconnected) == (simple.node_connectivity, simple.is_biconnected), g.edges.tolist()


@given(multigraphs(), seeds)
def test_tables_of_multigraphs_are_canonical(g, seed):
    rng = np.random.default_rng(seed)
    new, order = rng.permutation(g.num_nodes), rng.permutation(g.num_edges)
    h = pg.MultiGraph(g.num_nodes, new[g.edges][order])
    a, b = (translated(pg.decompose(x)) for x in (g, h))
    assert all(np.array_equal(a[name], b[name]) for name in a), g.edges.tolist()


def translated(d: pg.Decomposition) -> dict[str, np.ndarray]:
    """Tables with nodes by their canonical indices, and edges by those of their ends."""
    index = d.labelling
    tables = {name: x for name, x in d.arrays.items() if name not in ("labelling", "node_component", "walk_edge")}
    for name in ("walk_node", "cut_node", "node_spqr_node", "node_block_node"):
        tables[name] = index[tables[name]]
    ends = np.sort(index[d.graph.edges], axis=1)
    edge = d.arrays["walk_edge"]
    tables["walk_ends"] = np.where(edge[:, None] >= 0, ends[edge] if len(ends) else -1, -1)
    tables["component"] = d.components[np.argsort(index)]
    return tables


@pytest.mark.parametrize("copies", [2, 3])
def test_where_parallel_edges_lie(copies):
    """In the bond of their ends if there is one, else in a new one; two alone are a bond of two."""
    book, cycle, single = graphs.book(3), graphs.cycle(5), graphs.path(2)
    counts = {}
    for name, g in {"book": book, "cycle": cycle, "single": single, "rigid": graphs.complete(4)}.items():
        edges = [*g.edges, *[g.edges[-1]] * (copies - 1)]
        d = pg.decompose(pg.MultiGraph(g.n, edges))
        d.check()
        bond = next(c for c in d.spqr_nodes if c.type == "P")
        assert len(bond.real_edges) == copies
        counts[name] = "".join(f"{kind}{d.counts[kind]}" for kind in "SPQR")
    assert counts == {"book": "S3P1Q0R0", "cycle": "S1P1Q0R0", "single": "S0P1Q0R0", "rigid": "S0P1Q0R1"}


def test_multigraphs_of_networkx():
    d = pg.decompose(nx.MultiGraph([("a", "b"), ("a", "b"), ("b", "c"), ("c", "c")]))
    assert d.graph.num_edges == 4
    assert d.ends(d.bridges).tolist() == [["b", "c"]]
    assert "loop" in str(d)
    assert isinstance(pg.decompose(nx.MultiGraph([(0, 1)])).graph, pg.Graph)
    assert pickle.loads(pickle.dumps(d)).graph.names.tolist() == ["a", "b", "c"]


def test_where_multigraphs_are_refused():
    g = pg.MultiGraph(2, [(0, 1), (1, 0)], names="ab")
    for function in (pg.as_graph, pg.planar_subgraph, pg.canonical_form, pg.embedding, pg.planar_layout):
        with pytest.raises(pg.InvalidGraphError, match=r"which this function does not take; give graph\.simple\(\)"):
            function(g)
    assert g.simple() == pg.Graph(2, [(0, 1)])
    with pytest.raises(pg.InvalidGraphError, match=r"edge 1 = \(1, 2\) names a node that does not exist; there are 2 nodes"):
        pg.MultiGraph(2, [(0, 0), (1, 2)])
    with pytest.raises(AttributeError, match="make a new one with another edges"):
        g.edges = []


def test_a_multigraph_that_is_not_planar():
    g = pg.MultiGraph(5, [*pg.families.complete(5).edges.tolist(), (0, 1), (2, 2)], names="abcde")
    with pytest.raises(pg.NotPlanarError) as error:
        pg.decompose(g)
    assert set(error.value.witness.ravel()) <= set("abcde")
    d = pg.decompose(g, on_nonplanar="set")
    d.check()
    assert d.counts == {"blocks": 2, "S": 0, "P": 1, "Q": 1, "R": 1}
    with pytest.raises(ValueError, match="on_nonplanar must be"):
        pg.decompose(g, on_nonplanar="no")


# ---- the check -------------------------------------------------------------------------------------------------------------------


@given(st.lists(planar_graphs(9), min_size=1, max_size=4))
def test_three_connectivity_from_faces(found):
    """Against disjoint paths, on connected graphs side by side."""
    parts = [g for g in found if g.n > 3 and g.edges and nx.is_connected(networkx_graph(g))]
    weak, at, edges, part = [], 0, [], []
    for k, g in enumerate(parts):
        edges += [(u + at, v + at) for u, v in g.edges]
        part += [k] * len(g.edges)
        at += g.n
        if not is_three_connected(g.edges):
            weak.append(k)
    assert plane_weak_parts(np.array(edges).reshape(-1, 2), np.array(part), len(parts)) == weak, found


def test_check_shows_progress(capsys):
    d = pg.decompose(pg.families.grid(30, 30))
    d.check(progress=True)
    assert "checking" in capsys.readouterr().err
    d.check()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("number", [-1, 2, 10**30])
def test_numbers_that_no_block_has(number):
    d = pg.decompose(pg.families.path(3))
    calls = [lambda: d.spqr_tree(number), lambda: d.to_dot(block=number), lambda: pg.draw(d, block=number)]
    for call in calls:
        with pytest.raises(pg.InvalidGraphError, match=f"there is no block {number}; the graph has 2 blocks, numbered from 0"):
            call()
    with pytest.raises(pg.InvalidGraphError, match=f"there is no SPQR node {number}; the graph has 2 SPQR nodes"):
        d.skeleton(number)


@given(multigraphs())
def test_loops_and_parallel_edges_change_nothing(g):
    h = nx.Graph(g.edges.tolist())
    h.add_nodes_from(range(g.num_nodes))
    assert pg.is_planar(g) == nx.check_planarity(h)[0]
    witness = pg.kuratowski_witness(g)
    assert (witness is None) == pg.is_planar(g)
    back = g.to_networkx()
    keys = {k: {u, v} for u, v, k in back.edges(keys=True)}
    assert [keys[e] for e in range(g.num_edges)] == [set(ends) for ends in g.edges.tolist()]
    assert pg.MultiGraph.of(back) == g
    assert hash(pg.MultiGraph.of(back)) == hash(g)
    assert g != pg.MultiGraph(g.num_nodes + 1, g.edges)
    simple = g.simple()
    assert (g == simple) == (simple == g) == (g.num_edges == simple.num_edges)
    if g == simple:
        assert hash(g) == hash(simple)


def test_multigraphs_of_others_by_name():
    G = nx.MultiGraph([*nx.relabel_nodes(nx.complete_graph(5), "abcde".__getitem__).edges, ("a", "b"), ("c", "c")])
    witness = pg.kuratowski_witness(G)
    assert witness.kind == "K5"
    assert set(witness.branch_nodes) == set("abcde")
    weakref.ref(pg.MultiGraph.of(G))
    pair = nx.MultiGraph([("a", "b"), ("a", "b")])
    names = r"edges 0 = \('a', 'b'\) and 1 = \('a', 'b'\) are parallel; .* MultiGraph.of\(graph\)"
    for call in (pg.embedding, pg.planar_subgraph, pg.as_graph, pg.Graph.from_networkx, pg.canonical_form):
        with pytest.raises(pg.InvalidGraphError, match=names):
            call(pair)
    with pytest.raises(pg.InvalidGraphError, match=r"edge 0 = \('a', 'a'\) is a self-loop; .* MultiGraph.of\(graph\)"):
        pg.embedding(nx.Graph([("a", "a")]))
    assert pg.embedding(pg.MultiGraph.of(pair).simple()).rotation("a").tolist() == ["b"]
    assert pg.st_numbering(pair, "a", "b") == {"a": 0, "b": 1}
    assert pg.MultiGraph.of(nx.path_graph(3)) == pg.families.path(3)
    assert pg.MultiGraph.of(pg.families.path(3)) != pg.Graph(3, [(0, 1), (1, 2)], node_labels=[1, 2, 3])


def test_parquet_of_names_beyond_64_bits(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    pg.decompose(pg.Graph(3, [(0, 1), (1, 2)], names=[1, 2, 2**70])).to_parquet(tmp_path)
    assert parquet.read_table(tmp_path / "node.parquet")["name"].to_pylist() == ["1", "2", str(2**70)]
    assert parquet.read_table(tmp_path / "cut.parquet")["name"].to_pylist() == ["2"]
    assert parquet.read_table(tmp_path / "edge.parquet").select(["u", "v"]).to_pylist()[1] == {"u": "2", "v": str(2**70)}
    with pytest.raises(pg.InvalidGraphError, match="must be of one type"):
        pg.decompose(pg.Graph(2, [(0, 1)], names=[2**70, "a"])).to_parquet(tmp_path)
