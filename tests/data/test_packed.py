"""Packing: what comes in is what is there, tables are those of the core, bad input is named."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

import torch
from packed_samples import as_pyg, samples, shapes, with_labels

import planegraph as pg
from planegraph.data import PackedDataset
from planegraph.data.checks import check_tables
from planegraph.data.fingerprint import parse_fingerprint
from planegraph.data.tables import NAMES, TABLES, PackedTables
from planegraph.decomposition.tables import COLUMNS

LABELLED = [with_labels(g, i) for i, g in enumerate(shapes())]


# ---- the tables -----------------------------------------------------------------------------------------------------------


def test_tables_are_those_of_the_core() -> None:
    batch = pg.GraphBatch.from_graphs(LABELLED)
    ds = PackedDataset.from_graphs(batch, threads=1)
    packed = pg.decompose_batch(batch, threads=1)
    for name in NAMES:
        if not name.endswith("_depth") and name != "edges":
            assert np.array_equal(ds.tables[name], getattr(packed, name)), name
    assert np.array_equal(ds.tables.edges, batch.edges)
    assert all(ds.tables[name].dtype == (np.int64 if name.endswith("_ptr") else np.int32) for name in NAMES)
    ds.check()


def depth_by_hand(parents: list, depth_of_parent, root: int) -> list:
    return [root if p < 0 else depth_of_parent(p) + 1 for p in parents]


@pytest.mark.parametrize("graph", [*shapes(), pg.families.path(60), pg.families.ladder(20)], ids=repr)
def test_depths(graph: pg.Graph) -> None:
    t = PackedDataset.from_graphs([graph]).tables
    block, cut = t.block_depth.tolist(), t.cut_depth.tolist()
    assert t.spqr_depth.tolist() == depth_by_hand(t.spqr_parent.tolist(), t.spqr_depth.tolist().__getitem__, 0)
    assert block == depth_by_hand(t.block_parent_cut.tolist(), cut.__getitem__, 0)
    assert cut == depth_by_hand(t.cut_parent_block.tolist(), block.__getitem__, 1)
    assert all(d % 2 == 0 for d in block)
    assert all(d % 2 == 1 for d in cut)


def test_every_table_is_described_once() -> None:
    columns = [name for table, names in TABLES.items() for name in (f"{table}_ptr", *names)]
    assert sorted(columns) == sorted(NAMES)
    assert all(COLUMNS[name].ids_of in (None, *TABLES) for name in NAMES)


def broken(tables: PackedTables, name: str, row: int, value: int) -> PackedTables:
    arrays = {n: tables[n].copy() for n in NAMES}
    arrays[name][row] = value
    return PackedTables(arrays)


@pytest.mark.parametrize("name", NAMES)
def test_check_finds_any_damage(name: str) -> None:
    ds = PackedDataset.from_graphs(LABELLED)
    rng = np.random.default_rng(len(name))
    size = len(ds.tables[name])
    for row in rng.integers(0, size, 5).tolist():
        for value in (-7, 10**6):
            if name == "node_ptr" and row == size - 1 and value > 0:
                continue  # more isolated nodes in the last graph
            with pytest.raises(pg.FormatError, match="damaged tables"):
                PackedDataset(broken(ds.tables, name, row, value)).check()


def test_damage_is_named() -> None:
    ds = PackedDataset.from_graphs([pg.families.path(3), pg.families.cycle(4)])
    with pytest.raises(pg.FormatError, match=r"graph 1: walk_node\[2\] is 9; the graph has 4 rows of table node"):
        PackedDataset(broken(ds.tables, "walk_node", int(ds.tables.walk_ptr[1]) + 2, 9)).check()


# ---- from arrays, graphs, smiles ------------------------------------------------------------------------------------------


def test_from_graphs_takes_labels_as_features() -> None:
    ds = PackedDataset.from_graphs(LABELLED, y=np.arange(len(LABELLED)))
    assert np.array_equal(ds.x, np.concatenate([g.node_labels for g in LABELLED if g.node_labels is not None]))
    assert np.array_equal(ds.edge_attr, np.concatenate([g.edge_labels for g in LABELLED if g.edge_labels is not None]))
    assert ds.x.dtype == ds.edge_attr.dtype == np.int32
    assert ds.dart_attr is None
    assert ds.y.tolist() == list(range(len(LABELLED)))
    assert parse_fingerprint(ds.fingerprint) == (1, ("x",), ("edge_attr",))


def test_from_graphs_with_dart_labels() -> None:
    graphs = [with_labels(g, i, by_dart=True) for i, g in enumerate(shapes())]
    ds = PackedDataset.from_graphs(graphs)
    assert ds.edge_attr is None
    assert ds.dart_attr.shape == (ds.tables.size("edge"), 2, 1)
    ds.check()


def test_equal_directions_are_kept_once() -> None:
    batch = pg.GraphBatch.from_graphs([pg.families.path(3)])
    ds = PackedDataset.from_arrays(batch, dart_attr=[[1, 1], [2, 2]])
    assert ds.dart_attr is None
    assert ds.edge_attr.tolist() == [[1], [2]]
    assert PackedDataset.from_arrays(batch, dart_attr=[[1, 1], [2, 3]]).edge_attr is None


def test_float_labels_become_float32_and_given_features_keep_their_type() -> None:
    g = pg.Graph(2, [(0, 1)], node_labels=[0.5, 1.5], edge_labels=[2.5])
    assert PackedDataset.from_graphs([g]).x.dtype == np.float32
    batch = pg.GraphBatch.from_graphs([pg.Graph(2, [(0, 1)])])
    for dtype, kept in ((np.float64, np.float64), (np.float16, np.float32), (np.uint8, np.int32), (bool, np.int32)):
        assert PackedDataset.from_arrays(batch, x=np.ones((2, 3), dtype)).x.dtype == kept
    assert PackedDataset.from_arrays(batch, x=[0.1, 0.2]).x.dtype == np.float32


def test_features_are_the_labels() -> None:
    """A path is symmetric; only features can tell its ends apart, whichever way they come."""
    batch = pg.GraphBatch.from_graphs([pg.families.path(2)])
    starts = []
    for x in ([0, 1], [1, 0], [[0.5], [-0.5]], [[-0.5], [0.5]]):
        starts.append(PackedDataset.from_arrays(batch, x=x).tables.walk_node.tolist())
    assert starts[0] == starts[1][::-1]
    assert starts[2] == starts[3][::-1]


def test_labels_beside_features_count_too() -> None:
    labelled = pg.GraphBatch.from_graphs([pg.Graph(2, [(0, 1)], node_labels=[1, 0], edge_labels=[5])])
    ds = PackedDataset.from_arrays(labelled, x=[[7], [7]], edge_attr=[[1.0]])
    assert ds.x.tolist() == [[7], [7]]
    assert parse_fingerprint(ds.fingerprint) == (1, ("x", "labels"), ("edge_attr", "labels"))
    other = pg.GraphBatch.from_graphs([pg.Graph(2, [(0, 1)], node_labels=[0, 1], edge_labels=[5])])
    turned = PackedDataset.from_arrays(other, x=[[7], [7]])
    assert turned.tables.walk_node.tolist() == ds.tables.walk_node.tolist()[::-1]


def test_no_features_at_all() -> None:
    ds = PackedDataset.from_graphs(shapes())
    assert (ds.x, ds.edge_attr, ds.dart_attr, ds.y) == (None, None, None, None)
    assert ds.fingerprint == "planegraph-packed/1;nodes=;edges="
    empty = PackedDataset.from_graphs([])
    assert len(empty) == 0
    empty.check()


def test_from_smiles() -> None:
    pytest.importorskip("rdkit")
    ds = PackedDataset.from_smiles(["CCO", "[NH4+]", "C1CC1", "N->[Fe]"], y=[1.0, 2.0, 3.0, 4.0])
    ds.check()
    assert (ds.x >= 0).all()
    assert ds.x[3].tolist() == [7, 6, 1, 5, 1, 1]  # nitrogen, +1, no isotope, 4 hydrogens, not aromatic, no stereocentre
    assert ds.dart_attr[-1].tolist() == [[5, 1], [6, 1]]  # a dative bond, and back from its acceptor
    pair = ["C[C@H](N)C", "C[C@H](N)O", "C[C@@H](N)O", "F/C=C/F"]
    ds, flat = (PackedDataset.from_smiles(pair, stereo=stereo) for stereo in (True, False))
    ds.check()
    assert sorted(set(ds.x[:, 5].tolist())) == [1, 2, 3]
    assert sorted(set(ds.edge_attr[:, 1].tolist())) == [1, 6]
    assert flat.x[:, 5].max() == flat.edge_attr[:, 1].max() == 1
    assert (flat.x[:, :5] == ds.x[:, :5]).all()
    rare = PackedDataset.from_smiles(["[Og+9]", "[CH3:7]C", "[2H]C", "[99Tc]", "*C"])
    assert rare.x.max(0).tolist() == [118, 5, 2, 4, 1, 1]
    assert rare.x[0].tolist()[:2] == [118, 0]  # a charge that is not listed
    assert [rare.x[4].tolist(), rare.x[5].tolist()[2], rare.x[6].tolist()[0]] == [[6, 5, 1, 4, 1, 1], 0, 0]
    with pytest.raises(pg.FormatError, match=r"molecule 1: RDKit refuses the SMILES 'C1CC'"):
        PackedDataset.from_smiles(["C", "C1CC"])
    with pytest.raises(pg.FormatError, match="list of SMILES"):
        PackedDataset.from_smiles("CC")


# ---- from PyG -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by_dart", [False, True])
@pytest.mark.parametrize("floats", [False, True])
def test_from_pyg_is_from_pyg_of_each(by_dart: bool, floats: bool) -> None:
    data = samples(by_dart, floats)
    ds = PackedDataset.from_pyg(data, threads=1)
    ds.check()
    assert (ds.dart_attr is not None) == by_dart
    for i, d in enumerate(data):
        alone = PackedDataset.from_graphs([pg.Graph.from_pyg(d)])
        part = ds.subset([i])
        for name in NAMES:
            if name not in ("edges", "walk_edge"):
                assert np.array_equal(part.tables[name], alone.tables[name]), (i, name)
        assert np.array_equal(np.empty((0, 2)) if part.x is None else part.x, d.x.numpy())
        check_edges(part, d)
    assert np.array_equal(ds.y, torch.cat([d.y for d in data]).numpy())


def check_edges(part: PackedDataset, d) -> None:
    rows = {(int(u), int(v)): d.edge_attr[c].tolist() for c, (u, v) in enumerate(d.edge_index.T.tolist())}
    for e, (u, v) in enumerate(part.tables.edges.tolist()):
        there, back = (part.edge_attr[e],) * 2 if part.dart_attr is None else part.dart_attr[e]
        assert (there.tolist(), back.tolist()) == (rows[u, v], rows[v, u])


def test_targets_of_pyg() -> None:
    graph = pg.families.path(2)
    shapes_of = {
        (2,): [torch.tensor(1.0)] * 2,
        (2, 1): [torch.ones(1, 1)] * 2,
        (2, 3): [torch.ones(3)] * 2,
        (2, 2, 2): [torch.ones(1, 2, 2)] * 2,
    }
    for shape, ys in shapes_of.items():
        assert PackedDataset.from_pyg([as_pyg(graph, y=y) for y in ys]).y.shape == shape
    nan = PackedDataset.from_pyg([as_pyg(graph, y=torch.tensor([float("nan")]))])
    assert np.isnan(nan.y).all()
    data = [as_pyg(graph, y=torch.ones(1), name_of=torch.tensor(k), target=torch.tensor([k * 0.5])) for k in range(3)]
    ds = PackedDataset.from_pyg(data, y="target", attrs=("name_of",))
    assert ds.y.tolist() == [0.0, 0.5, 1.0]
    assert ds.attrs["name_of"].tolist() == [0, 1, 2]
    assert PackedDataset.from_pyg(data, y=None).y is None


def test_labels_can_be_chosen() -> None:
    graph = pg.families.path(2)
    data = as_pyg(graph, mark=torch.tensor([1, 0]), pos=torch.tensor([[0.5, 1.0], [0.25, 1.0]]))
    ds = PackedDataset.from_pyg([data], node_attrs=("mark", "pos"), edge_attrs=())
    assert parse_fingerprint(ds.fingerprint) == (1, ("mark", "pos"), ())
    assert ds.x.shape == (2, 2)
    assert ds.tables.walk_node.tolist() == [1, 0]
    with pytest.raises(pg.InvalidGraphError, match="no graph has the attribute colour"):
        PackedDataset.from_pyg([data], node_attrs=("colour",))


def bad(**changes) -> list:
    """Two graphs, the second changed."""
    good = {"edge_index": torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), "num_nodes": 3, "x": torch.ones(3, 2), "y": torch.ones(1)}
    good["edge_attr"] = torch.ones(4, 1)
    return [SimpleNamespace(**good), SimpleNamespace(**{**good, **changes})]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x": torch.tensor([[1.0, 2.0], [1.0, float("nan")], [1.0, 1.0]])}, r"graph 1: x\[1, 1\] is nan"),
        ({"x": torch.ones(3, 3)}, "graph 1: x is float32 of width 3, while graph 0 has float32 of width 2"),
        ({"x": torch.ones(3, 2, dtype=torch.float64)}, "graph 1: x is float64 of width 2, while graph 0 has float32"),
        ({"x": torch.ones(3, 2, dtype=torch.long)}, "graph 1: x is int64 of width 2"),
        ({"x": torch.ones(4, 2)}, r"graph 1: x must have one row per node, 3; found shape \(4, 2\)"),
        ({"x": torch.ones(3, 2, 2)}, r"graph 1: x must have one row per node, 3; found shape \(3, 2, 2\)"),
        ({"x": None}, "graph 1: x is missing, while graph 0 has it"),
        ({"x": [["a", "b"]] * 3}, "graph 1: x is <U1"),
        ({"edge_attr": torch.tensor([[1.0], [1.0], [float("nan")], [1.0]])}, r"graph 1: edge_attr\[2, 0\] is nan"),
        ({"edge_attr": torch.ones(2, 1)}, "graph 1: edge_attr must have one row per column of edge_index, 4"),
        ({"edge_index": torch.tensor([[0, 1, 1, 2], [1, 0, 2, 2]])}, r"graph 1: edge_index\[:, 3\] = \(2, 2\) is a self-loop"),
        ({"edge_index": torch.tensor([[0, 1, 1, 2], [1, 0, 2, 0]])}, r"graph 1: edge_index\[:, 2\] = \(1, 2\) has no \(2, 1\)"),
        (
            {"edge_index": torch.tensor([[0, 1, 0, 1], [1, 0, 1, 0]])},
            r"graph 1: edge_index\[:, 0\] = \(0, 1\) is there twice, at 0 and 2",
        ),
        ({"edge_index": torch.tensor([[0, 1, 1, 3], [1, 0, 3, 1]])}, r"graph 1: edge_index\[:, 2\] = \(1, 3\) names a node"),
        ({"edge_index": torch.tensor([[0, 1, 1, -1], [1, 0, -1, 1]])}, r"graph 1: edge_index\[:, 2\] = \(1, -1\) names a node"),
        ({"edge_index": torch.ones(2, 4)}, "graph 1: edge_index must be integers"),
        ({"edge_index": torch.ones(4, 2, dtype=torch.long)}, r"graph 1: edge_index must be integers of shape \(2, E\)"),
        ({"edge_index": None}, "graph 1: edge_index is missing"),
        ({"num_nodes": None, "x": None}, "graph 1: num_nodes is missing"),
        ({"num_nodes": -1}, "graph 1: the number of nodes"),
        ({"y": torch.ones(2)}, r"graph 1: y is float32 of shape \(2,\)"),
        ({"y": None}, "graph 1: y is missing"),
    ],
)
def test_bad_pyg(changes: dict, message: str) -> None:
    with pytest.raises(pg.InvalidGraphError, match=message) as caught:
        PackedDataset.from_pyg(bad(**changes))
    assert caught.value.graph_index == 1


def test_one_graph_is_no_list() -> None:
    with pytest.raises(pg.InvalidGraphError, match="takes a list of Data; found one Data"):
        PackedDataset.from_pyg(as_pyg(pg.families.path(2)))
    with pytest.raises(pg.InvalidGraphError, match="takes a list of graphs"):
        PackedDataset.from_graphs(pg.families.path(2))


def test_bad_features() -> None:
    batch = pg.GraphBatch([0, 3, 5], [0, 2, 3], [(0, 1), (1, 2), (0, 1)])
    cases = {
        r"graph 1: x\[1, 0\] is nan": {"x": [0.0, 1.0, 2.0, 3.0, np.nan]},
        r"x must have shape \(5\) or \(5, width\); found shape \(4,\)": {"x": [1, 2, 3, 4]},
        r"graph 0: x\[2, 0\] is 4294967296; integers are categories": {"x": [0, 0, 2**32, 0, 0]},
        r"graph 1: dart_attr\[0, 1, 0\] is nan": {"dart_attr": [[0.0, 0.0], [0.0, 0.0], [0.0, np.nan]]},
        "not both": {"edge_attr": [1, 2, 3], "dart_attr": np.ones((3, 2))},
        "dtype complex128": {"x": np.ones(5, complex)},
        "rectangular": {"x": [[1], [1, 2], [1], [1], [1]]},
        r"y must have one row for each of the 2 graphs; found shape \(3,\)": {"y": [1, 2, 3]},
        "t must hold numbers": {"attrs": {"t": ["a", "b"]}},
    }
    for message, arguments in cases.items():
        with pytest.raises(pg.InvalidGraphError, match=message):
            PackedDataset.from_arrays(batch, **arguments)
    with pytest.raises(pg.InvalidGraphError, match=r"expected a planegraph\.GraphBatch; found list"):
        PackedDataset.from_arrays([pg.families.path(2)])
    with pytest.raises(pg.InvalidGraphError, match=r"graph 1: .*self-loop"):
        PackedDataset.from_arrays(pg.GraphBatch([0, 2, 4], [0, 1, 2], [(0, 1), (1, 1)]))
    with pytest.raises(ValueError, match="on_nonplanar must be"):
        PackedDataset.from_arrays(batch, on_nonplanar="ignore")


@pytest.mark.parametrize("dtype", [">f8", ">f4", ">f2", ">i8", ">i4", ">i2", ">u2"])
def test_byte_order(dtype: str, tmp_path) -> None:
    """Big-endian arrays, as from HDF5 or FITS, become this machine's."""
    batch = pg.GraphBatch.from_graphs([pg.families.path(3), pg.families.cycle(4)])
    shapes_of = {"x": (7, 2), "edge_attr": (6, 1), "dart_attr": (6, 2, 1), "y": (2, 3)}
    for edges in ("edge_attr", "dart_attr"):
        foreign = {n: np.arange(np.prod(shapes_of[n])).reshape(shapes_of[n]).astype(dtype) for n in ("x", edges, "y")}
        native = {n: a.astype(dtype.replace(">", "=")) for n, a in foreign.items()}
        ds = PackedDataset.from_arrays(batch, **foreign, attrs={"w": foreign["y"]})
        assert_equal(ds, PackedDataset.from_arrays(batch, **native, attrs={"w": native["y"]}))
        assert all(a.dtype.isnative for a in (ds.x, ds.y, ds.attrs["w"]))
        ds.save(tmp_path / "foreign")
        opened = PackedDataset.open(tmp_path / "foreign")
        assert_equal(opened, ds)
        assert opened[:].y.tolist() == ds[:].y.tolist() == ds[:].attrs["w"].tolist() == native["y"].tolist()
        assert ds[:].x.tolist() == native["x"].tolist()


def test_byte_order_may_differ_between_graphs_of_pyg() -> None:
    def graph(order: str) -> SimpleNamespace:
        index = np.array([[0, 1], [1, 0]]).astype(f"{order}i4")
        rows = np.array([[1.5], [2.5]]).astype(f"{order}f8")
        return SimpleNamespace(edge_index=index, num_nodes=2, x=rows, edge_attr=rows, y=rows[:1])

    ds = PackedDataset.from_pyg([graph(">"), graph("<")])
    assert_equal(ds, PackedDataset.from_pyg([graph("=")] * 2))
    assert ds[:].y.tolist() == [[1.5], [1.5]]


# ---- graphs that are not planar ------------------------------------------------------------------------------------------


def mixed() -> list[pg.Graph]:
    plain = [pg.families.path(3), pg.families.complete(5), pg.families.cycle(4), pg.families.complete_bipartite(3, 3)]
    return [with_labels(g, i) for i, g in enumerate(plain)]


def test_nonplanar_graphs() -> None:
    graphs = mixed()
    with pytest.raises(pg.NotPlanarError, match="graph 1 is not planar") as caught:
        PackedDataset.from_graphs(graphs)
    assert caught.value.graph_index == 1
    as_set = PackedDataset.from_graphs(graphs, y=[0, 1, 2, 3], on_nonplanar="set")
    as_set.check()
    assert as_set.nonplanar.tolist() == [1, 3]
    assert as_set.counts == {"graphs": 4, "nonplanar": 2, "skipped": 0}
    assert repr(as_set).endswith("; labels x, edge_attr; 2 not planar)")
    skipped = PackedDataset.from_graphs(graphs, y=[0, 1, 2, 3], on_nonplanar="skip")
    skipped.check()
    assert skipped.skipped.tolist() == [1, 3]
    assert skipped.y.tolist() == [0, 2]
    assert skipped.counts == {"graphs": 2, "nonplanar": 0, "skipped": 2}
    assert repr(skipped).endswith("; 2 skipped)")
    kept = PackedDataset.from_graphs([graphs[0], graphs[2]], y=[0, 2])
    assert_equal(skipped, kept)
    same = PackedDataset.from_pyg([as_pyg(g, k) for k, g in enumerate(graphs)], on_nonplanar="skip")
    assert same.skipped.tolist() == [1, 3]


def assert_equal(a: PackedDataset, b: PackedDataset) -> None:
    assert a.fingerprint == b.fingerprint
    for name in NAMES:
        assert np.array_equal(a.tables[name], b.tables[name]), name
    for name in ("x", "edge_attr", "dart_attr", "y"):
        one, other = getattr(a, name), getattr(b, name)
        assert (one is None) == (other is None), name
        assert one is None or (one.dtype == other.dtype and np.array_equal(one, other)), name
    assert a.attrs.keys() == b.attrs.keys()
    assert all(np.array_equal(a.attrs[k], b.attrs[k]) for k in a.attrs)


# ---- selecting ------------------------------------------------------------------------------------------------------------


def test_selection() -> None:
    ds = PackedDataset.from_graphs(LABELLED, y=np.arange(len(LABELLED)), attrs={"k": np.arange(len(LABELLED)) * 2})
    ids = [5, 3, 3, 0, -1]
    part = ds.subset(ids)
    part.check()
    assert_equal(part, PackedDataset.from_graphs([LABELLED[i] for i in ids], y=ds.y[ids], attrs={"k": ds.attrs["k"][ids]}))
    mask = np.arange(len(ds)) % 2 == 0
    for selection in (mask, torch.from_numpy(mask), slice(None, None, 2), np.flatnonzero(mask), list(np.flatnonzero(mask))):
        assert_equal(ds.subset(selection), ds.subset(range(0, len(ds), 2)))
        assert ds[selection].num_graphs == mask.sum()
    assert ds[4].num_graphs == ds[-1].num_graphs == ds[np.int64(3)].num_graphs == 1
    assert len(ds.subset([])) == 0
    for selection in ([len(ds)], -len(ds) - 1, [0.5], mask[:-1], [[0]], "a", None):
        with pytest.raises(IndexError):
            ds.subset(selection)


def test_batches_hold_the_features() -> None:
    ds = PackedDataset.from_graphs(LABELLED, y=np.arange(len(LABELLED)) + 0.5, attrs={"k": np.arange(len(LABELLED))})
    batch = ds[[8, 4]]
    assert batch.x.tolist() == np.concatenate([LABELLED[i].node_labels for i in (8, 4)]).tolist()
    assert batch.edge_attr.tolist() == np.concatenate([LABELLED[i].edge_labels for i in (8, 4)]).tolist()
    assert batch.y.tolist() == [8.5, 4.5]
    assert batch.attrs["k"].tolist() == [8, 4]
    assert batch.fingerprint == ds.fingerprint


def test_pickle_and_repr() -> None:
    ds = PackedDataset.from_graphs(LABELLED, y=np.ones((len(LABELLED), 2)))
    assert_equal(pickle.loads(pickle.dumps(ds)), ds)
    assert repr(ds).startswith(f"PackedDataset({len(LABELLED)} graphs, ")
    assert "x=int32 x 2, edge_attr=int32 x 1, y=float64 (16, 2); labels x, edge_attr)" in repr(ds)


def test_thread_count_does_not_matter() -> None:
    graphs = LABELLED * 20
    assert_equal(PackedDataset.from_graphs(graphs, threads=1), PackedDataset.from_graphs(graphs, threads=3))


def test_zinc(data_root) -> None:
    d = np.load(data_root / "zinc" / "zinc12k_graphs.npz", allow_pickle=False)
    nodes, columns, k = d["node_ptr"], d["edge_ptr"], 500
    graphs = [
        SimpleNamespace(
            edge_index=d["edge_index"][:, columns[i] : columns[i + 1]],
            num_nodes=int(nodes[i + 1] - nodes[i]),
            x=d["x"][nodes[i] : nodes[i + 1]],
            edge_attr=d["edge_attr"][columns[i] : columns[i + 1]],
            y=d["y"][i : i + 1],
        )
        for i in range(k)
    ]
    ds = PackedDataset.from_pyg(graphs)
    ds.check()
    assert len(ds) == k
    assert ds.edge_attr is not None
    assert np.array_equal(ds.y, d["y"][:k])


def test_only_graphs_that_are_not_planar_have_edges_in_no_walk() -> None:
    tables = PackedTables.of(pg.GraphBatch.from_graphs([pg.families.path(3)]))
    more = {"edge_ptr": np.array([0, 3]), "edges": np.concatenate([tables.edges, np.array([[0, 2]], np.int32)])}
    with pytest.raises(pg.FormatError, match=r"edges\[2\] = \[0, 2\] is in no walk"):
        check_tables(PackedTables({**tables, **more}))
    k5 = PackedTables.of(pg.GraphBatch.from_graphs([pg.families.path(3), pg.families.complete(5)]), on_nonplanar="subgraph")
    check_tables(k5)
    assert k5.left_out().sum() == 1
    check_tables(k5.select(np.array([1, 0, 1])))
