"""Bad input never crashes, hangs or passes: an error that says what, where and what was found. Edge cases are ordinary input."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

import numpy as np
import pytest

import planegraph as pg
from planegraph import _core

EDGES = [(0, 1), (1, 2)]
NAN = float("nan")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, [(0, 1), (1, 1)]), r"edge 1 .*self-loop"),
        ((3, [(0, 1), (1, 2), (1, 0)]), r"edges 0 .* and 2 .*parallel"),
        ((3, [(0, 1), (1, 2), (0, 1)]), r"parallel"),
        ((3, [(0, 1), (1, 3)]), r"edge 1 = \(1, 3\)"),
        ((3, [(-1, 1)]), r"edge 0 = \(-1, 1\)"),
        ((0, [(0, 1)]), r"no nodes"),
        ((3, [(0, 2**40)]), r"edge 0"),
        ((3, [(0, 1, 2)]), r"shape \(1, 3\)"),
        ((3, [0, 1, 2]), r"shape"),
        ((3, np.zeros((2, 3), int)), r"shape \(2, 3\)"),
        ((3, np.zeros((2, 2, 2), int)), r"shape"),
        ((3, [(0.0, 1.0)]), r"dtype float64"),
        ((3, [("a", "b")]), r"dtype"),
        ((3, [(0, None)]), r"dtype"),
        ((3, [(0, 1), (2,)]), r"edges"),
        ((3, np.array([(0, 2**63)], dtype=np.uint64)), r"edge 0"),
        ((-1, []), r"number of nodes must be between 0 and 2\^28, found -1"),
        ((2**28 + 1, []), r"number of nodes must be between 0 and 2\^28, found 268435457"),
        ((3, np.ma.array(EDGES, mask=[(0, 0), (0, 1)])), r"edges must not be a masked array"),
        ((3.0, []), r"num_nodes"),
        (("3", []), r"num_nodes"),
        ((True, []), r"num_nodes"),
        ((None, []), r"num_nodes"),
    ],
)
def test_bad_graphs(arguments, message):
    with pytest.raises(pg.InvalidGraphError, match=message):
        pg.Graph(*arguments)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"node_labels": [1, 2]}, r"node_labels .*found shape \(2,\)"),
        ({"node_labels": [[[1]]] * 3}, r"node_labels"),
        ({"node_labels": [1.0, NAN, 2.0]}, r"node_labels\[1, 0\] is NaN"),
        ({"node_labels": ["C", "N", 8]}, r"dtype object"),
        ({"node_labels": [1, 2, 2**64]}, r"node_labels"),
        ({"node_labels": np.array([1, 2, 2**63], dtype=np.uint64)}, r"node_labels\[2, 0\]"),
        ({"node_labels": np.zeros(3, complex)}, r"dtype complex"),
        ({"node_labels": np.zeros(3, np.longdouble)}, r"dtype"),
        ({"node_labels": [[1], [1, 2], [3]]}, r"node_labels"),
        ({"node_labels": [None, 1, 2]}, r"dtype object"),
        ({"node_labels": np.ma.array([1, 2, 3], mask=[0, 1, 0])}, r"node_labels must not be a masked array"),
        ({"edge_labels": np.ma.array([1.0, 2.0])}, r"edge_labels must not be a masked array"),
        ({"edge_labels": [1]}, r"edge_labels .*found shape \(1,\)"),
        ({"edge_labels": [1.0, NAN]}, r"edge_labels\[1, 0\] is NaN"),
        ({"edge_labels": [[1, 2, 3]] * 3}, r"edge_labels"),
        ({"dart_labels": [1, 2]}, r"dart_labels"),
        ({"dart_labels": [(1, 2, 3), (1, 2, 3)]}, r"dart_labels"),
        ({"dart_labels": [(1.0, 2.0), (NAN, 1.0)]}, r"dart_labels\[1, 0, 0\] is NaN"),
        ({"edge_labels": [1, 2], "dart_labels": [(1, 2), (1, 2)]}, r"not both"),
    ],
)
def test_bad_labels(labels, message):
    with pytest.raises(pg.InvalidGraphError, match=message):
        pg.Graph(3, EDGES, **labels)
    with pytest.raises(pg.InvalidGraphError, match=message):
        pg.GraphBatch([0, 3], [0, 2], EDGES, **labels)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 3], [0, 1], EDGES), r"edge_ptr ends at 1"),
        (([0, 3], [0, 3], EDGES), r"edge_ptr ends at 3"),
        (([1, 3], [0, 2], EDGES), r"node_ptr must start at 0"),
        (([0, 3], [1, 2], EDGES), r"edge_ptr must start at 0"),
        (([0, 3, 2], [0, 1, 2], EDGES), r"node_ptr must never fall"),
        (([0, 3, 4], [0, 3, 2], EDGES), r"edge_ptr must never fall"),
        (([0, 3, 4], [0, 2], EDGES), r"same length"),
        (([], [], EDGES), r"node_ptr"),
        (([[0, 3]], [0, 2], EDGES), r"node_ptr"),
        (([0.0, 3.0], [0, 2], EDGES), r"node_ptr"),
        (([0, 3], [0, 2], [(0, 1, 2)] * 2), r"shape"),
        (([0, 3], [0, 2], [(0.5, 1.0)] * 2), r"dtype"),
        (([0, 2**63], [0, 2], EDGES), r"node_ptr"),
    ],
)
def test_bad_batches(arguments, message):
    with pytest.raises(pg.InvalidGraphError, match=message):
        pg.GraphBatch(
            *[np.array(x, dtype=np.uint64) if 2**63 in np.ravel(np.array(x, dtype=object)).tolist() else x for x in arguments]
        )


TOO_MANY = r"the number of nodes must be between 0 and 2\^28, found 268435457"
NO_EDGES = np.empty((0, 2), np.int64)


@pytest.mark.parametrize(
    "call",
    [
        lambda n: pg.Graph(n, []),
        lambda n: pg.GraphBatch([0, n], [0, 0], NO_EDGES),
        lambda n: pg.GraphBatch([0, 3, 3 + n], [0, 0, 0], NO_EDGES),
        lambda n: pg.Graph.from_pyg(SimpleNamespace(edge_index=NO_EDGES.T, num_nodes=n)),
        lambda n: _core.is_planar(n, NO_EDGES),
        lambda n: _core.kuratowski(n, NO_EDGES),
        lambda n: _core.planar_mask(np.array([0, n]), np.array([0, 0]), NO_EDGES),
        lambda n: _core.run(np.array([0, n]), np.array([0, 0]), NO_EDGES),
    ],
)
def test_one_size_limit(call):
    """Python, the bindings and the core agree on how large a graph may be, and say it in the same words."""
    with pytest.raises(pg.InvalidGraphError, match=TOO_MANY):
        call(2**28 + 1)


def test_a_batch_names_the_graph_that_is_too_large():
    with pytest.raises(pg.InvalidGraphError, match="graph 1: " + TOO_MANY) as caught:
        pg.GraphBatch([0, 3, 2**28 + 4], [0, 0, 0], NO_EDGES)
    assert caught.value.graph_index == 1
    with pytest.raises(pg.InvalidGraphError, match=r"graph 0: the number of edges must be between 0 and 2\^28"):
        pg.GraphBatch([0, 3], [0, 2**28 + 1], NO_EDGES)
    assert pg.GraphBatch([0, 2**28, 2**29], [0, 0, 0], NO_EDGES).num_nodes == 2**29


def test_huge_claims_are_refused_without_memory():
    """Offsets that promise more nodes than can be: refused before anything is allocated."""
    for n in (2**31, 2**40, 2**62):
        with pytest.raises(pg.InvalidGraphError):
            pg.decompose_batch(pg.GraphBatch([0, n], [0, 0], np.empty((0, 2), np.int64)))


@pytest.mark.parametrize(
    "call", [pg.decompose, pg.canonical_form, pg.is_planar, pg.kuratowski_witness, pg.decompose_batch, pg.canonical_codes]
)
@pytest.mark.parametrize("value", [None, 3, "C~", [(0, 1)], np.zeros((2, 2))])
def test_not_a_graph(call, value):
    with pytest.raises(pg.InvalidGraphError, match="expected"):
        call(value)


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", True, 10**9])
def test_bad_threads(threads):
    with pytest.raises(ValueError, match="threads"):
        pg.decompose_batch(pg.GraphBatch.from_graphs([pg.Graph(1, [])]), threads=threads)


def test_mixed_labels_in_one_batch():
    labelled, plain = pg.Graph(2, [(0, 1)], node_labels=[1, 2]), pg.Graph(2, [(0, 1)])
    with pytest.raises(pg.InvalidGraphError, match="graph 1"):
        pg.GraphBatch.from_graphs([labelled, plain])
    with pytest.raises(pg.InvalidGraphError, match="graph 1"):
        pg.GraphBatch.from_graphs([labelled, pg.Graph(2, [(0, 1)], node_labels=[1.0, 2.0])])
    with pytest.raises(pg.InvalidGraphError, match="graph 1"):
        pg.GraphBatch.from_graphs([labelled, "C~"])


# ---- labels on nothing are no labels -------------------------------------------------------------------------------------

EMPTY = [np.zeros((0, 2)), np.zeros(0, np.int64), np.zeros((0, 300), np.float32), []]


@pytest.mark.parametrize("empty", EMPTY)
def test_labels_of_no_edges_are_none(empty):
    g, plain = pg.Graph(3, [], edge_labels=empty), pg.Graph(3, [])
    assert g.edge_labels is None
    assert g == plain
    assert pg.is_isomorphic(g, plain)
    assert pg.canonical_form(g).code == pg.canonical_form(plain).code
    assert pg.Graph(0, [], node_labels=empty) == pg.Graph(0, [])
    assert pg.GraphBatch([0, 3], [0, 0], [], edge_labels=empty).edge_labels is None


def test_labels_of_no_edges_are_still_checked():
    with pytest.raises(pg.InvalidGraphError, match="found shape"):
        pg.Graph(3, [], edge_labels=[1])
    with pytest.raises(pg.InvalidGraphError, match="dtype"):
        pg.Graph(3, [], edge_labels=np.zeros(0, complex))


@pytest.mark.parametrize("empty", EMPTY)
@pytest.mark.parametrize(
    "labels",
    [
        {"node_labels": [1, 2, 3], "edge_labels": [1, 2]},
        {"node_labels": np.ones((3, 2)), "edge_labels": np.ones((2, 300))},
        {"dart_labels": [(0.5, 1.0), (2.0, 2.0)]},
        {},
    ],
)
def test_graphs_without_rows_join_any_batch(empty, labels):
    """Whatever the other graphs carry, and wherever the empty one stands; its code is that which it has alone."""
    full = pg.Graph(3, EDGES, **labels)
    nodes = None if full.node_labels is None else full.node_labels[:2]
    bare, nothing = pg.Graph(2, [], nodes, edge_labels=empty), pg.Graph(0, [], node_labels=empty)
    graphs = [nothing, bare, full, bare, nothing]
    batch = pg.GraphBatch.from_graphs(graphs)
    assert list(batch) == graphs
    assert pg.canonical_codes(batch, threads=1) == [pg.canonical_form(g).code for g in graphs]
    assert pg.decompose_batch(batch, threads=1, codes=True).codes() == pg.canonical_codes(batch)
    assert list(batch[[0, 1]]) == graphs[:2]
    assert list(pg.GraphBatch.from_graphs(batch)) == graphs


@pytest.mark.parametrize("smiles", ["", " ", "C1CC", "C(C", "not a molecule", "c1cccc1", "C(C)(C)(C)(C)C", "[Xx]", "C\x00C"])
def test_bad_smiles(smiles):
    pytest.importorskip("rdkit")
    with pytest.raises(pg.FormatError):
        pg.Graph.from_smiles(smiles)


@pytest.mark.parametrize(
    "text", ["", "C", "D", "C~~", "~", "~~", "~??", "Bw\x00", "B\x7f", "é", "Bx", ":An", "&C~", "~~~~~~~~", "~?@c", "\n", " "]
)
def test_bad_graph6(text):
    with pytest.raises(pg.FormatError):
        pg.Graph.from_graph6(text)


@pytest.mark.parametrize("value", [None, 10**12, 3.5, ["C~"], object()])
def test_not_graph6(value):
    with pytest.raises(pg.FormatError, match=f"string or bytes; found {type(value).__name__}"):
        pg.Graph.from_graph6(value)


def test_a_surrogate_is_not_a_graph():
    with pytest.raises(pg.FormatError, match="character 0"):
        pg.Graph.from_graph6("\udcff")


@pytest.mark.parametrize("value", [None, 3, "C~", [(0, 1)]])
def test_not_a_networkx_graph(value):
    with pytest.raises(pg.InvalidGraphError, match=f"expected a networkx graph; found {type(value).__name__}"):
        pg.Graph.from_networkx(value)


def test_packed_takes_one_integer():
    packed = pg.decompose_batch(pg.GraphBatch.from_graphs([pg.Graph(3, EDGES), pg.Graph(1, [])]))
    assert packed[np.int64(-2)].graph == packed[0].graph
    for index in (slice(0, 2), [0], 1.0, None):
        with pytest.raises(TypeError, match=f"one integer; found {type(index).__name__}"):
            packed[index]
    for index in (2, -3):
        with pytest.raises(IndexError, match=f"graph {index} of a batch of 2"):
            packed[index]


def test_bad_codes():
    """Every truncation of a code and many changes of one byte: refused, or a graph; never anything else."""
    g = pg.Graph(4, [(0, 1), (1, 2), (2, 0), (2, 3)], node_labels=[1, -2, 300, 4], dart_labels=[(1, 2), (3, 3), (4, 5), (6, 6)])
    code = pg.canonical_form(g).code
    from planegraph.canonical.code import decode

    assert decode(code) == g.relabel(pg.canonical_form(g).labelling)
    for end in range(len(code)):
        with pytest.raises(pg.FormatError):
            decode(code[:end])
    with pytest.raises(pg.FormatError):
        decode(code + b"\0")
    for i in range(len(code)):
        for value in (0, 1, 127, 128, 255):
            with contextlib.suppress(pg.FormatError):
                assert isinstance(decode(code[:i] + bytes([value]) + code[i + 1 :]), pg.Graph)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ([1, 0, 0, 0, 1, 0], "labels of width 1 on 0 nodes"),
        ([1, 0, 2, 0, 0, 94, 0, 0], "labels of width 0 on 2 nodes, 94 on 0 edges"),
        ([1, 1, 2, 1, 0, 0, 1, 0, 0], "flags 0x01 speak of labels, whose widths are 0 and 0"),
        ([1, 2, 2, 1, 0, 0, 1, 0, 0], "flags 0x02 speak of labels"),
        ([1, 4, 2, 1, 0, 0, 1, 0, 0], "flags 0x04 speak of labels"),
        ([1, 4, 2, 1, 0, 1, 1, 0, 0, 6, 6], "directions differ, but none do"),
    ],
)
def test_codes_that_say_a_graph_in_another_way(code, why):
    """Equal graphs have equal codes: what the canonical code leaves out must not be there."""
    from planegraph.canonical.code import decode

    with pytest.raises(pg.FormatError, match=why):
        decode(bytes(code))


def test_errors_are_one_family():
    for error in (pg.InvalidGraphError, pg.NotPlanarError, pg.FormatError, pg.MissingDependencyError):
        assert issubclass(error, pg.PlanegraphError)


@pytest.mark.parametrize("g", [pg.Graph(0, []), pg.Graph(1, []), pg.Graph(7, []), pg.Graph(2, [(0, 1)]), pg.Graph(5, [(3, 1)])])
def test_edge_cases_are_ordinary(g):
    d = pg.decompose(g)
    d.check()
    assert d.counts == {"blocks": g.num_edges, "S": 0, "P": 0, "Q": g.num_edges, "R": 0}
    assert len(set(d.components.tolist())) == g.num_nodes - g.num_edges
    form = pg.canonical_form(g)
    assert form.graph() == g.relabel(form.labelling)
    assert pg.is_planar(g)
    assert pg.is_isomorphic(g, g)
    assert pg.kuratowski_witness(g) is None


def test_graphs_cannot_be_changed():
    g = pg.Graph(3, EDGES, node_labels=[1, 2, 3])
    with pytest.raises(AttributeError):
        g.num_nodes = 5
    with pytest.raises(ValueError, match="read-only"):
        g.edges[0, 0] = 2
    with pytest.raises(ValueError, match="read-only"):
        g.node_labels[0] = 2


def test_results_cannot_be_changed():
    g = pg.Graph(3, EDGES)
    packed = pg.decompose_batch(pg.GraphBatch.from_graphs([g]))
    for d in (pg.decompose(g), packed[0]):
        for array in d.arrays.values():
            assert not array.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        pg.canonical_form(g).labelling[0] = 1


def test_the_input_is_not_changed_and_not_kept():
    edges, labels = np.array(EDGES), np.array([1, 2, 3])
    g = pg.Graph(3, edges, node_labels=labels)
    edges[0] = 2
    labels[:] = 9
    assert g.edges.tolist() == [[0, 1], [1, 2]]
    assert g.node_labels.ravel().tolist() == [1, 2, 3]


def test_strided_and_foreign_arrays():
    """Views, other byte orders and small dtypes are read for what they say."""
    wide = np.array([[0, 9, 9, 1], [1, 9, 9, 2]])[:, ::3]
    expected = pg.canonical_form(pg.Graph(3, wide.tolist()))
    for edges in (wide, np.asfortranarray(wide), wide.astype(">i2"), wide.astype(np.uint8), [list(row) for row in wide]):
        assert pg.canonical_form(pg.Graph(3, edges)) == expected


@pytest.mark.parametrize("width", [2**31, 2**32 + 1])
@pytest.mark.parametrize("of", ["node", "edge"])
def test_labels_of_more_columns_than_the_core_counts(tmp_path, of, width):
    """Cast to 32 bits they would be another number: here -2^31, or 1, and all other columns are lost."""
    with open(tmp_path / "sparse", "wb") as file:
        file.truncate(8 * width)
    wide = np.memmap(tmp_path / "sparse", np.int64, "r", shape=(1, width))
    labels = (wide, None) if of == "node" else (None, wide)
    nodes, edges = (1, 0) if of == "node" else (2, 1)
    batch = pg.GraphBatch._trusted(np.array([0, nodes]), np.array([0, edges]), np.array([(0, 1)])[:edges], *labels, None)
    with pytest.raises(pg.InvalidGraphError, match=rf"{of} labels have at most 2\^31 - 1 columns; found {width}\. Number the"):
        pg.canonical_codes(batch)
