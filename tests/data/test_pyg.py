"""PlanarData in PyG's own machinery: ids of a batch, datasets on disk, loaders, devices; and the same batch as the packed way."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

import torch
from packed_samples import as_pyg, samples, shapes, with_labels
from torch_geometric.data import Batch, Data, HeteroData, InMemoryDataset
from torch_geometric.loader import DataLoader

import planegraph as pg
from planegraph.data import PackedDataset, PlanarData
from planegraph.data.batch import PlanarBatch
from planegraph.data.pyg import IDS, bare_batch, planar_batch
from planegraph.transforms import Planar, is_planar


def planar_samples(**options) -> list[PlanarData]:
    transform = Planar()
    return [transform(d) for d in samples(**options)]


# ---- one graph ------------------------------------------------------------------------------------------------------------


def test_attributes_are_the_tables() -> None:
    for d in planar_samples(by_dart=True):
        t = PackedDataset.from_pyg([d]).tables
        plain = [name for name, of in IDS.items() if name in t and name != "walk_edge"]
        assert len(plain) == 16
        for name in plain:
            assert d[name].tolist() == t[name].tolist(), name
        assert all(d[name].dtype == torch.int64 for name in IDS)
        for name, parent in (("spqr_up", t.spqr_parent), ("block_up", t.block_parent_cut), ("cut_up", t.cut_parent_block)):
            assert d[name].T.tolist() == [[c, p] for c, p in enumerate(parent.tolist()) if p >= 0]
        assert d.node_spqr.tolist() == [t.node_spqr_node.tolist(), t.node_spqr_spqr.tolist()]
        assert d.node_block.tolist() == [t.node_block_node.tolist(), t.node_block_block.tolist()]
        assert torch.equal(d.edge_index[:, d.dart_reverse], d.edge_index.flip(0))
        assert d.walk_edge[0].tolist() == np.flatnonzero(t.walk_edge >= 0).tolist()
        columns = d.edge_index[:, d.walk_edge[1]]
        assert torch.equal(columns[0], d.walk_node[d.walk_edge[0]])  # the dart leaves the node of its entry
        ends = t.edges[t.walk_edge[t.walk_edge >= 0]]
        assert np.array_equal(np.sort(columns.T.numpy(), axis=1), np.sort(ends, axis=1))


def test_the_walk_goes_along_its_columns() -> None:
    """In S and R the next entry is where the dart leads."""
    d = Planar()(as_pyg(pg.families.wheel(5)))
    target = d.edge_index[1][d.walk_edge[1]]
    assert torch.equal(target, d.walk_node[d.walk_edge[0]].roll(-1))


def test_everything_else_is_kept() -> None:
    data = as_pyg(pg.families.path(3), y=torch.ones(1), name="ethane", extra=torch.ones(5))
    before = copy.copy(data).to_dict()
    out = Planar()(data)
    assert isinstance(out, PlanarData)
    for key, value in before.items():
        assert torch.equal(out[key], value) if isinstance(value, torch.Tensor) else out[key] == value
    assert data.to_dict().keys() == before.keys()
    assert out.num_nodes == 3
    assert bool(out.planar)
    assert not bool(out.skipped)


def test_num_nodes_is_never_guessed_from_tables() -> None:
    data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = Planar()(data)
        assert out.num_nodes == 4
        assert Batch.from_data_list([out, out]).num_nodes == 8


# ---- PyG's batches --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by_dart", [False, True])
def test_increments(by_dart: bool) -> None:
    """Each id of a batch is the id in its graph plus the rows before."""
    data = planar_samples(by_dart=by_dart)
    batch = Batch.from_data_list(data)
    shift = dict.fromkeys(("node", "column", "walk", "spqr", "block", "cut"), 0)
    parts: dict[str, list] = {name: [] for name in IDS}
    for d in data:
        for name, of in IDS.items():
            shifts = torch.tensor([shift[table] for table in of])
            parts[name].append(d[name] + (shifts.view(-1, 1) if len(of) == 2 else shifts.sum()))
        for table in shift:
            shift[table] += d.count(table)
    for name, found in parts.items():
        assert torch.equal(batch[name], torch.cat(found, dim=-1)), name
    for i, d in enumerate(data):
        again = batch.get_example(i)
        assert isinstance(again, PlanarData)
        assert all(torch.equal(again[name], d[name]) for name in IDS)
        assert again.num_nodes == d.num_nodes
        assert again.fingerprint == d.fingerprint


def assert_same_batch(a: PlanarBatch, b: PlanarBatch) -> None:
    assert a.layout == b.layout
    assert torch.equal(a.index, b.index)
    assert a.num_graphs == b.num_graphs
    assert a.fingerprint == b.fingerprint
    for name in ("x", "edge_attr", "y"):
        one, other = getattr(a, name), getattr(b, name)
        assert (one is None) == (other is None), name
        assert one is None or (one.dtype == other.dtype and torch.equal(one, other)), name


@pytest.mark.parametrize("by_dart", [False, True])
@pytest.mark.parametrize("floats", [False, True])
def test_same_as_the_packed_batch(by_dart: bool, floats: bool) -> None:
    data = planar_samples(by_dart=by_dart, floats=floats)
    ds = PackedDataset.from_pyg(data)
    everything = list(range(len(data)))
    for ids in (everything, everything[::-1], [3, 8, 8, 0, 15]):
        assert_same_batch(planar_batch(Batch.from_data_list([data[i] for i in ids])), ds[ids])


def test_single_graphs_and_graphs_without_features() -> None:
    for i, g in enumerate(shapes()):
        data = Planar()(as_pyg(g, i, features=False))
        packed = PackedDataset.from_pyg([data])[[0]]
        assert_same_batch(planar_batch(data), packed)
        assert_same_batch(planar_batch(Batch.from_data_list([data])), packed)


def test_one_asymmetric_edge_in_the_batch() -> None:
    data = planar_samples()
    odd = data[6].clone()
    odd.edge_attr = odd.edge_attr.clone()
    odd.edge_attr[0] += 1
    data[6] = Planar()(odd)
    batch = planar_batch(Batch.from_data_list(data))
    assert batch.layout.rows_per_edge == 2
    assert_same_batch(batch, PackedDataset.from_pyg(data)[list(range(len(data)))])


def test_the_result_is_kept_until_something_changes() -> None:
    batch = Batch.from_data_list(planar_samples(floats=True))
    first = planar_batch(batch)
    assert planar_batch(batch) is first
    batch.x = batch.x * 2
    second = planar_batch(batch)
    assert second is not first
    assert torch.equal(second.x, first.x * 2)
    batch.edge_attr += 1
    third = planar_batch(batch)
    assert torch.equal(third.edge_attr, second.edge_attr + 1)
    assert "_planar_batch" not in batch.to_dict()
    assert planar_batch(pickle.loads(pickle.dumps(batch))) is not third
    moved = batch.clone()
    assert planar_batch(moved) is not third
    assert_same_batch(planar_batch(moved), third)


def test_what_gradients_go_through_is_made_for_each_pass() -> None:
    """The second backward() found its graph freed, and a pass without gradients left one that had none."""
    batch = Batch.from_data_list(planar_samples(floats=True))
    with torch.no_grad():
        planar_batch(batch)
    batch.edge_attr.requires_grad_()
    with torch.no_grad():
        planar_batch(batch)
    planar_batch(batch).edge_attr.square().sum().backward()
    first = batch.edge_attr.grad.clone()
    planar_batch(batch).edge_attr.square().sum().backward()
    assert first.abs().max() > 0
    assert torch.equal(batch.edge_attr.grad, 2 * first)
    assert bare_batch(batch) is bare_batch(batch)  # through which no gradient goes


def test_evaluation_before_training() -> None:
    """What is made in inference mode serves a pass with gradients, too."""
    batch = Batch.from_data_list(planar_samples(floats=True))
    with torch.inference_mode():
        first, bare = planar_batch(batch), bare_batch(batch)
    assert planar_batch(batch) is first
    assert bare_batch(batch) is bare
    weight = torch.ones(batch.edge_attr.shape[1], requires_grad=True)
    (first.edge_attr * weight).sum().backward()  # saves the features
    (batch.edge_attr * weight).index_select(0, bare.columns).sum().backward()  # saves the columns
    assert weight.grad.isfinite().all()


def test_types_of_features_are_those_of_a_packed_dataset() -> None:
    for dtype in (torch.float64, torch.float16, torch.bfloat16, torch.bool, torch.uint8, torch.int32):
        data = as_pyg(pg.families.path(3))
        data.x = data.x.to(dtype)
        out = Planar()(data)
        assert_same_batch(planar_batch(out), PackedDataset.from_pyg([out])[0])


def test_in_inference_mode() -> None:
    with torch.inference_mode():
        batch = Batch.from_data_list(planar_samples())
        assert bare_batch(batch) is bare_batch(batch)
        before = planar_batch(batch).x.clone()
        batch.x += 1  # which PyTorch does not count here
        assert not torch.equal(planar_batch(batch).x, before)
        assert_same_batch(planar_batch(batch), planar_batch(Batch.from_data_list(batch.to_data_list())))


def test_gradients_flow_to_the_features() -> None:
    batch = Batch.from_data_list(planar_samples(floats=True))
    batch.x.requires_grad_()
    batch.edge_attr.requires_grad_()
    result = planar_batch(batch)
    (result.x.sum() + result.edge_attr.sum()).backward()
    assert batch.x.grad.eq(1).all()
    assert batch.edge_attr.grad.sum() == result.edge_attr.numel()


PATHS = (pg.families.path(2), pg.families.path(3))


def with_targets(*ys, graphs=PATHS) -> list[PlanarData]:
    return [Planar()(as_pyg(g, y=y)) for g, y in zip(graphs, ys, strict=True)]


@pytest.mark.parametrize(
    "ys",
    [(torch.tensor(1.0), torch.tensor(2.0)), (torch.ones(1), torch.ones(1)), (torch.ones(1, 4), torch.ones(1, 4)), (0.5, 1.5)],
    ids=["scalars", "one", "rows", "floats"],
)
def test_targets_with_a_row_per_graph_are_kept(ys) -> None:
    batch = Batch.from_data_list(with_targets(*ys))
    assert planar_batch(batch).y is batch.y
    assert len(batch.y) == 2


@pytest.mark.parametrize(
    "ys",
    [
        (torch.ones(3), torch.ones(3)),
        (torch.ones(2), torch.ones(3)),
        (torch.ones(2, 1), torch.ones(3, 1)),
        ([1.0, 2.0], [3.0, 4.0]),
        ("yes", "no"),
        (torch.ones(1), torch.ones(0)),
        (torch.ones(2), torch.ones(0)),  # two rows for two graphs, but both are of one
    ],
    ids=["several", "of nodes", "of nodes, 2-d", "lists", "words", "too few", "of one graph"],
)
def test_other_targets_are_left_out(ys) -> None:
    """They are the user's to read from data.y; nothing is padded, cut or invented."""
    batch = Batch.from_data_list(with_targets(*ys))
    found = planar_batch(batch)
    assert found.y is None
    assert found.num_graphs == 2
    assert batch.y is not None


@pytest.mark.parametrize("y", [torch.ones(3), torch.tensor(1.0), [1.0], "yes", 0.5], ids=str)
def test_other_targets_of_a_single_graph_are_left_out(y) -> None:
    (data,) = with_targets(y, graphs=PATHS[:1])
    assert planar_batch(data).y is None
    data.y = torch.ones(1, 3)
    assert planar_batch(data).y is data.y


def test_targets_that_were_replaced_after_batching() -> None:
    batch = Batch.from_data_list(with_targets(torch.ones(2), torch.ones(3)))
    batch.y = torch.ones(2, 7)
    assert planar_batch(batch).y is batch.y
    batch.y = torch.ones(1, 7)
    assert planar_batch(batch).y is None


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_nan_after_planar_is_refused(dtype: torch.dtype) -> None:
    data = planar_samples(floats=True)
    for d in data:
        d.x, d.edge_attr = d.x.to(dtype), d.edge_attr.to(dtype)
    batch = Batch.from_data_list(data)
    assert planar_batch(batch).x.isfinite().all()
    g, nodes, columns = 8, int(batch.ptr[8]), sum(d.num_edges for d in data[:8])
    batch.x[nodes + 2, 1] = float("nan")
    with pytest.raises(pg.InvalidGraphError, match=r"^graph 8 of the batch: x\[2, 1\] is nan; replace it") as caught:
        planar_batch(batch)
    assert caught.value.graph_index == g
    batch.x[nodes + 2, 1] = float("inf")  # a number that a model may well meet
    planar_batch(batch)
    batch.edge_attr[columns + 3, 0] = float("nan")
    with pytest.raises(pg.InvalidGraphError, match=r"^graph 8 of the batch: edge_attr\[3, 0\] is nan") as caught:
        planar_batch(batch)
    assert caught.value.graph_index == g
    single = data[8].clone()
    single.x[1, 0] = float("nan")
    with pytest.raises(pg.InvalidGraphError, match=r"graph 0 of the batch: x\[1, 0\] is nan"):
        planar_batch(single)


# ---- loaders, datasets, devices -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [0, 2])
def test_loader(workers: int) -> None:
    data = planar_samples()
    ds = PackedDataset.from_pyg(data)
    found = [planar_batch(b) for b in DataLoader(data, batch_size=5, num_workers=workers)]
    assert len(found) == 4
    for k, batch in enumerate(found):
        assert_same_batch(batch, ds[k * 5 : k * 5 + 5])


class Shapes(InMemoryDataset):
    """As users write them."""

    given = staticmethod(samples)

    def __init__(self, root, **options) -> None:
        super().__init__(root, **options)
        self.load(self.processed_paths[0])

    raw_file_names = ()
    processed_file_names = ("data.pt",)

    def process(self) -> None:
        found = self.given()
        if self.pre_filter is not None:
            found = [d for d in found if self.pre_filter(d)]
        if self.pre_transform is not None:
            found = [self.pre_transform(d) for d in found]
        self.save(found, self.processed_paths[0])


class Mixed(Shapes):
    @staticmethod
    def given() -> list:
        graphs = [pg.families.path(3), pg.families.complete(5), pg.families.cycle(4), pg.families.complete_bipartite(3, 3)]
        return [as_pyg(with_labels(g, i), i) for i, g in enumerate(graphs)]


def test_in_memory_dataset(tmp_path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # PyG warns when it has to unpickle a class that it does not know
        dataset = Shapes(tmp_path, pre_transform=Planar())
        again = Shapes(tmp_path, pre_transform=Planar())  # now from the disk; warns if the transform seems to be another
    expected = planar_samples()
    for found in (dataset, again):
        assert len(found) == len(expected)
        assert all(isinstance(d, PlanarData) for d in found)
        for d, e in zip(found, expected, strict=True):
            assert all(torch.equal(d[name], e[name]) for name in IDS)
            assert d.fingerprint == e.fingerprint
            assert d.num_nodes == e.num_nodes
    ds = PackedDataset.from_pyg(expected)
    part = again[torch.tensor([8, 9, 2])]
    assert_same_batch(planar_batch(next(iter(DataLoader(part, batch_size=3)))), ds[[8, 9, 2]])
    assert_same_batch(PackedDataset.from_pyg(again)[4:8], ds[4:8])
    with pytest.warns(UserWarning, match="pre_transform"):
        Shapes(tmp_path, pre_transform=Planar(on_nonplanar="set"))


def test_on_the_fly(tmp_path) -> None:
    dataset = Shapes(tmp_path, transform=Planar())
    batch = next(iter(DataLoader(dataset, batch_size=len(dataset))))
    assert_same_batch(planar_batch(batch), PackedDataset.from_pyg(planar_samples())[:])


def test_to_device() -> None:
    batch = Batch.from_data_list(planar_samples()).to("cpu")
    assert planar_batch(batch).device == torch.device("cpu")
    if torch.cuda.is_available():
        on_gpu = planar_batch(batch.clone().to("cuda"))
        assert on_gpu.device.type == on_gpu.x.device.type == on_gpu.edge_attr.device.type == "cuda"
        assert_same_batch(on_gpu.to("cpu"), planar_batch(batch))


# ---- graphs that are not planar, settings, bad input ----------------------------------------------------------------------


def test_skip(tmp_path) -> None:
    transform = Planar(on_nonplanar="skip")
    dataset = Mixed(tmp_path / "skip", pre_transform=transform)
    assert transform.counts == {"planar": 2, "set": 0, "subgraph": 0, "skipped": 2}
    assert dataset.skipped.tolist() == [False, True, False, True]
    assert dataset.planar.tolist() == [True, False, True, False]
    assert_same_batch(
        planar_batch(Batch.from_data_list(list(dataset[~dataset.skipped]))),
        PackedDataset.from_pyg(Mixed.given(), on_nonplanar="skip")[:],
    )
    with pytest.raises(
        pg.InvalidGraphError, match=r"graph 1 of the batch is not planar and was skipped.*dataset\[~dataset.skipped\]"
    ):
        planar_batch(Batch.from_data_list(list(dataset)))
    filtered = Mixed(tmp_path / "filter", pre_filter=is_planar, pre_transform=Planar())
    assert len(filtered) == 2


def test_planar_subgraphs(tmp_path) -> None:
    """Edges that are left out are columns of edge_index in no walk; through PyG's files and batches they stay so."""
    transform = Planar(on_nonplanar="subgraph")
    dataset = Mixed(tmp_path, pre_transform=transform)
    assert transform.counts == {"planar": 2, "set": 0, "subgraph": 2, "skipped": 0}
    assert dataset.planar.tolist() == [True, False, True, False]
    packed = PackedDataset.from_pyg(Mixed.given(), on_nonplanar="subgraph")
    packed.check()
    assert packed.counts == {"graphs": 4, "nonplanar": 2, "skipped": 0}
    assert not packed.tables.spqr_set.any()
    assert_same_batch(planar_batch(Batch.from_data_list(list(dataset))), packed[:])
    for g, data in enumerate(dataset):
        graph = pg.Graph(data.num_nodes, packed.tables.edges[slice(*packed.tables.edge_ptr[g : g + 2])])
        left_out = packed.tables.left_out()[slice(*packed.tables.edge_ptr[g : g + 2])]
        assert np.flatnonzero(left_out).tolist() == pg.planar_subgraph(graph).left_out.tolist()
        walked = set(data.walk_edge[1].tolist())
        assert len({frozenset(data.edge_index[:, k].tolist()) for k in walked}) == graph.num_edges - left_out.sum()


def test_set_and_raise(tmp_path) -> None:
    transform = Planar(on_nonplanar="set")
    dataset = Mixed(tmp_path, pre_transform=transform)
    assert transform.counts == {"planar": 2, "set": 2, "subgraph": 0, "skipped": 0}
    assert dataset.planar.tolist() == [True, False, True, False]
    packed = PackedDataset.from_pyg(Mixed.given(), on_nonplanar="set")
    assert_same_batch(planar_batch(Batch.from_data_list(list(dataset))), packed[:])
    with pytest.raises(pg.NotPlanarError, match="graph 1 given to Planar is not planar: 10 of its edges") as caught:
        Mixed(tmp_path / "raise", pre_transform=Planar())
    assert len(caught.value.witness) == 10


def test_settings() -> None:
    assert repr(Planar()) == "Planar(node_attrs=('x',), edge_attrs=('edge_attr',), on_nonplanar='raise')"
    assert repr(Planar("x", ())) == "Planar(node_attrs=('x',), edge_attrs=(), on_nonplanar='raise')"
    copied = pickle.loads(pickle.dumps(Planar(on_nonplanar="skip")))
    assert repr(copied) == repr(Planar(on_nonplanar="skip"))
    with pytest.raises(ValueError, match="on_nonplanar must be"):
        Planar(on_nonplanar="drop")
    with pytest.raises(ValueError, match="given by their names"):
        Planar(node_attrs=(1,))


def test_labels_can_be_chosen() -> None:
    data = as_pyg(pg.families.path(2), mark=torch.tensor([1, 0]))
    data.x = torch.ones(2, 3, 3)  # not read, so its shape does not matter to the transform
    out = Planar(node_attrs=("mark",), edge_attrs=())(data)
    assert out.fingerprint == "planegraph-packed/1;nodes=mark;edges="
    assert out.walk_node.tolist() == [1, 0]
    with pytest.raises(pg.InvalidGraphError, match="no graph has the attribute colour"):
        Planar(node_attrs=("colour",))(data)


def test_bad_graphs_are_numbered() -> None:
    transform = Planar()
    transform(as_pyg(pg.families.path(2)))
    data = as_pyg(pg.families.path(3), floats=True)
    data.x[2, 1] = float("nan")
    with pytest.raises(pg.InvalidGraphError, match=r"graph 1 given to Planar: x\[2, 1\] is nan") as caught:
        transform(data)
    assert caught.value.graph_index == 1
    with pytest.raises(pg.InvalidGraphError, match=r"given to Planar: .* has no "):
        transform(Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2))
    for wrong in (HeteroData(), None, pg.families.path(2)):
        with pytest.raises(pg.InvalidGraphError, match="expected a torch_geometric"):
            transform(wrong)


def test_a_batch_is_no_graph() -> None:
    transform = Planar()
    for given in (samples(), planar_samples()):
        with pytest.raises(pg.InvalidGraphError, match=r"found \w*DataBatch, a batch\. Apply Planar to each Data before batching"):
            transform(Batch.from_data_list(given))
    assert transform.counts == {"planar": 0, "set": 0, "subgraph": 0, "skipped": 0}
    with pytest.raises(pg.InvalidGraphError, match="Apply is_planar to each Data"):
        is_planar(Batch.from_data_list(samples()))


def test_what_is_no_batch() -> None:
    with pytest.raises(pg.InvalidGraphError, match=r"Apply planegraph\.transforms\.Planar first"):
        planar_batch(as_pyg(pg.families.path(2)))
    with pytest.raises(pg.InvalidGraphError, match="found DataBatch"):
        planar_batch(Batch.from_data_list([as_pyg(pg.families.path(2))]))
    with pytest.raises(pg.FormatError, match="missing from PlanarData"):
        planar_batch(PlanarData(edge_index=torch.empty(2, 0, dtype=torch.long), num_nodes=0))
    changed = planar_samples()[8]
    changed.edge_index = changed.edge_index[:, :-2]
    with pytest.raises(pg.FormatError, match="edge_index was changed after Planar"):
        planar_batch(changed)
    one, other = planar_samples()[4], Planar(node_attrs=())(samples()[5])
    with pytest.raises(pg.FormatError, match="graph 1 of the batch was made with other labels"):
        planar_batch(Batch.from_data_list([one, other]))


@pytest.mark.parametrize("name", [name for name, of in IDS.items() if of and name != "dart_reverse"])
@pytest.mark.parametrize("value", [-1, 1000, 2**40])
def test_damaged_ids(name: str, value: int) -> None:
    broken = Planar()(as_pyg(pg.families.disjoint_union(pg.families.nested_k4(2), pg.families.path(5))))
    broken[name] = broken[name].clone()
    broken[name][..., 0] = value
    with pytest.raises(pg.FormatError, match=rf"{name} must hold ids"):
        planar_batch(broken)
    broken[name] = broken[name].float()
    with pytest.raises(pg.FormatError, match=rf"{name} must hold integers"):
        planar_batch(broken)


@pytest.mark.parametrize("missing", ["torch", "torch_geometric"])
def test_without(missing: str) -> None:
    """The package works without torch, and planegraph.data without PyG; what needs them says so."""
    code = f"""
import sys
sys.modules[{missing!r}] = None
import planegraph as pg
pg.decompose(pg.families.cycle(4))
def refused(action):
    try:
        action()
    except pg.MissingDependencyError as error:
        return "pip install" in str(error)
def transforms():
    import planegraph.transforms
def data():
    import planegraph.data
def planar_data():
    from planegraph.data import PlanarData
assert refused(transforms) and refused(planar_data)
if {missing!r} == "torch":
    assert refused(data)
else:
    from planegraph.data import PackedDataset
    assert len(PackedDataset.from_graphs([pg.families.cycle(4)])) == 1
    PackedDataset.from_graphs([pg.families.cycle(4)])[0]
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_batch_in_a_list_of_graphs() -> None:
    data = samples()[:4]
    for given in ([Batch.from_data_list(data)], [data[0], Batch.from_data_list(data)], list(DataLoader(data, batch_size=2))):
        with pytest.raises(pg.InvalidGraphError, match=r"is a PyG batch.*to_data_list"):
            PackedDataset.from_pyg(given)


def test_integers_beyond_32_bits_are_refused() -> None:
    data = Planar(node_attrs=())(Data(x=torch.tensor([[2**40], [1]]), edge_index=torch.tensor([[0, 1], [1, 0]])))
    with pytest.raises(pg.InvalidGraphError, match="x holds integers beyond 32 bits"):
        planar_batch(data)
