"""sparse6 and planar_code files: against networkx, and as the commands read them."""

from __future__ import annotations

import io

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import planegraph as pg
from planegraph.cli import main
from planegraph.graphs.formats.files import read_chunk, read_entries
from planegraph.graphs.formats.graph_lines import read_lines
from planegraph.graphs.formats.planar_code import read_codes, rotations_of
from planegraph.graphs.formats.sparse6 import sparse6_line


def theirs(n: int, edges) -> bytes:
    G = nx.Graph()
    G.add_nodes_from(range(n))
    G.add_edges_from(edges)
    return nx.to_sparse6_bytes(G, header=False).strip()


@given(st.integers(0, 70), st.data())
def test_lines_are_those_of_networkx(n, data):
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda e: e[0] < e[1]) if n > 1 else st.nothing()
    edges = data.draw(st.lists(pairs, unique=True, max_size=3 * n) if n > 1 else st.just([]))
    g = pg.Graph(n, edges)
    line = g.to_sparse6()
    assert len(line) == len(theirs(n, edges))  # which may fill up the last character in another way
    assert sorted(map(sorted, nx.from_sparse6_bytes(line.encode()).edges)) == sorted(map(list, edges))
    assert pg.Graph.from_sparse6(line) == g
    assert pg.Graph.from_sparse6(g.to_sparse6(header=True)) == g


@pytest.mark.parametrize("n", [1, 2, 3, 4, 8, 16, 17, 32, 64, 1000, 70_000])
def test_the_last_nodes(n):
    """Where the padding could be read as an edge: the last node has none, the one before it has."""
    for edges in ([], [(0, n - 1)], [(0, n - 2)], [(n - 3, n - 2)], [(0, 1), (0, n - 2), (1, n - 2)]):
        edges = sorted({(u, v) for u, v in edges if 0 <= u < v < n})
        g = pg.Graph(n, edges)
        assert sorted(nx.from_sparse6_bytes(g.to_sparse6().encode()).edges) == edges
        assert pg.Graph.from_sparse6(g.to_sparse6()) == g


@pytest.mark.parametrize("edges", [[(0, 0)], [(0, 1), (0, 1)], [(2, 2), (1, 2), (1, 2), (0, 3)]])
def test_multigraphs(edges):
    line = sparse6_line(4, np.array(edges))
    back = nx.from_sparse6_bytes(line.encode())
    assert sorted(map(tuple, map(sorted, back.edges()))) == sorted(edges)
    with pytest.raises(pg.FormatError, match=r"sparse6: edge.*(self-loop|parallel)"):
        pg.Graph.from_sparse6(line)


@given(st.binary(max_size=30))
def test_whatever_the_line(data):
    """Read as networkx reads it, or refused. (networkx reads past the last node what can only be padding.)"""
    try:
        g = pg.Graph.from_sparse6(b":" + bytes(63 + x % 64 for x in data))
    except pg.FormatError:
        return
    assert pg.Graph.from_sparse6(g.to_sparse6()) == g


def test_large_graphs():
    g = pg.families.shuffled(pg.families.grid(400, 400), 1)
    assert len(g.to_sparse6()) < 6 * g.num_edges
    assert pg.Graph.from_sparse6(g.to_sparse6()) == g


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("C~", "starts with ':'"),
        (":", "the size takes 1 characters; found 0"),
        (":~~????", "the size takes 8 characters"),
        (":C\x01", "character 1"),
        (":~~?~~~~~", "number of nodes"),
        (":Dn", None),
    ],
)
def test_bad_lines(line, message):
    if message is None:
        assert pg.Graph.from_sparse6(line).num_nodes == 5
        return
    with pytest.raises(pg.FormatError, match=message):
        pg.Graph.from_sparse6(line)


def test_files_mix_both_formats():
    graphs = [nx.gnp_random_graph(k % 30 + 1, 0.2, seed=k) for k in range(100)]
    write = (nx.to_graph6_bytes, nx.to_sparse6_bytes)
    lines = [write[k % 2](G, header=k % 5 == 0).strip() for k, G in enumerate(graphs)]
    batch, where, errors = read_lines([*lines, b":C\x01", b";C", b"C"])
    assert where.tolist() == list(range(100))
    assert sorted(errors) == [100, 101, 102]
    assert "incremental sparse6" in str(errors[101])
    for g, G in zip(batch, graphs, strict=True):
        assert g == pg.Graph.from_networkx(G)


# ---- planar_code


def file_of(graphs) -> bytes:
    codes = [pg.embedding(g).to_planar_code() for g in graphs]
    assert all(code.startswith(b">>planar_code<<") for code in codes)
    return b">>planar_code<<" + b"".join(code[len(b">>planar_code<<") :] for code in codes)


class Drops(io.BytesIO):
    """A stream that gives few bytes at a time, as pipes do."""

    def read(self, size: int = -1) -> bytes:
        return super().read(min(size, 7) if size >= 0 else 7)


GRAPHS = [
    pg.Graph(1, []),
    pg.families.path(5),
    *(pg.families.shuffled(pg.families.apollonian(n, seed=n)) for n in (3, 4, 9, 30, 200)),
] * 3


@pytest.mark.parametrize("stream", [io.BytesIO, Drops])
def test_files_of_plane_graphs(stream, tmp_path):
    data = file_of(GRAPHS)
    found = list(read_codes(stream(data)))
    assert [len(rotations_of(code)) for code in found] == [g.num_nodes for g in GRAPHS]
    assert list(read_codes(stream(data + data))) == found + found  # files that were joined
    path = tmp_path / "some.pc"
    path.write_bytes(data)
    assert [e.to_graph() for e in pg.read_planar_code(path)] == GRAPHS
    [entries] = read_entries(stream(data), "some.pc", "planar_code")
    batch, where, errors = read_chunk("planar_code", entries, True)
    assert (list(batch), where.tolist(), errors) == (GRAPHS, list(range(len(GRAPHS))), {})


def test_damaged_files(tmp_path):
    path = tmp_path / "some.pc"
    path.write_bytes(file_of(GRAPHS)[:-1])
    with pytest.raises(pg.FormatError, match=rf"some.pc, graph {len(GRAPHS)}: planar_code ends after 199 of 200 nodes"):
        list(pg.read_planar_code(path))
    path.write_bytes(b"\x03\x02\x00\x03\x00\x01\x00")
    with pytest.raises(pg.FormatError, match="graph 1: planar_code has an edge in one direction only"):
        list(pg.read_planar_code(path))
    assert main(["canon", str(path)]) == 1


def test_good_graphs_before_damage_are_printed(tmp_path, capsys):
    path = tmp_path / "some.pc"
    good, wrong = bytes([2, 2, 0, 1, 0]), bytes([2, 3, 0, 1, 0])
    path.write_bytes(good * 5000 + wrong + good + b"\x02\x02")
    assert main(["filter", "--planar", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out.split() == [pg.families.path(2).to_sparse6()] * 5001
    assert "some.pc:5001: planar_code of 2 nodes names node 3" in err
    assert "some.pc, graph 5003: planar_code ends after 0 of 2 nodes" in err


def test_two_bytes_either_way(tmp_path):
    g = pg.families.shuffled(pg.families.apollonian(300, seed=1))
    code = pg.embedding(g).to_planar_code()
    numbers = np.frombuffer(code[len(b">>planar_code be<<\0") :], ">u2").astype("<u2").tobytes()
    path = tmp_path / "some.pc"
    path.write_bytes(code + b">>planar_code le<<\0" + numbers + b">>planar_code<<" + bytes([1, 0]))
    assert [e.to_graph() for e in pg.read_planar_code(path)] == [g, g, pg.Graph(1, [])]


def test_parallel_edges_are_named(tmp_path, capsys):
    path = tmp_path / "some.pc"
    path.write_bytes(bytes([2, 2, 2, 0, 1, 1, 0, 2, 2, 0, 1, 0]))
    assert main(["canon", str(path)]) == 1
    out, err = capsys.readouterr()
    assert "some.pc:1: planar_code: edges 0 = (0, 1) and 1 = (0, 1) are parallel" in err
    assert out.split() == [pg.canonical_form(pg.families.path(2)).digest]


# ---- filter and count


def expected(G: nx.Graph) -> dict[str, bool]:
    n = len(G)
    return {
        "planar": nx.check_planarity(G)[0],
        "connected": nx.is_connected(G),
        "biconnected": nx.is_biconnected(G),
        "triconnected": n > 3 and nx.node_connectivity(G) > 2,
    }


def test_filter_and_count(tmp_path, capsys):
    atlas = [G for G in nx.graph_atlas_g() if 1 <= len(G) <= 6]
    path = tmp_path / "atlas.g6"
    lines = [nx.to_graph6_bytes(G, header=False).decode().strip() for G in atlas]
    path.write_text("\n".join(lines) + "\n")
    has = [expected(G) for G in atlas]
    for names in (["planar"], ["connected"], ["biconnected"], ["triconnected"], ["planar", "triconnected"]):
        wanted = [line for line, h in zip(lines, has, strict=True) if all(h[name] for name in names)]
        options = [f"--{name}" for name in names]
        assert main(["filter", *options, str(path)]) == 0
        assert capsys.readouterr().out.split() == wanted
        assert main(["filter", "--invert", *options, str(path)]) == 0
        assert capsys.readouterr().out.split() == [line for line in lines if line not in set(wanted)]
        assert main(["count", *options, str(path)]) == 0
        assert int(capsys.readouterr().out) == len(wanted)
        assert main(["count", "--invert", *options, str(path)]) == 0
        assert int(capsys.readouterr().out) == len(lines) - len(wanted)
    assert main(["count", str(path)]) == 0
    counts = dict(reversed(line.split("\t")) for line in capsys.readouterr().out.splitlines())
    assert counts == {"graphs": str(len(atlas))} | {name: str(sum(h[name] for h in has)) for name in has[0]}


def test_exit_codes_of_filter(tmp_path, capsys):
    path = tmp_path / "some.g6"
    path.write_text("D~{\nBw\n")
    assert main(["filter", "-q", "--planar", str(path)]) == 0
    assert main(["filter", "-q", "--triconnected", "--planar", str(path)]) == 1
    assert capsys.readouterr().out == ""
    path.write_text("D~{\nxx\nBw\n")
    assert main(["filter", "--planar", str(path)]) == 1
    out, err = capsys.readouterr()
    assert out == "Bw\n"
    assert "some.g6:2: graph6" in err
    assert main(["count", "--strict", str(path)]) == 2


def test_paragraphs_stay_paragraphs(tmp_path, capsys):
    path = tmp_path / "some.edgelist"
    path.write_text("a b\nb c\n\n1 2\n2 3\n3 1\n")
    assert main(["filter", "--biconnected", str(path)]) == 0
    again = tmp_path / "again.edgelist"
    again.write_text(capsys.readouterr().out)
    assert main(["count", "--biconnected", str(again)]) == 0
    assert capsys.readouterr().out == "1\n"
