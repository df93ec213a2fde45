"""The datasets of the benchmark data: published counts, targets as in the files, splits, tasks. Skipped where the data are absent."""

from __future__ import annotations

import time

import numpy as np
import pytest

import planegraph as pg
from planegraph import datasets
from planegraph.data.sizes import Continuous
from planegraph.datasets.exp import read_graphsat
from planegraph.datasets.qm9 import TARGETS, node_features
from planegraph.datasets.raw import load_arrays
from planegraph.errors import FormatError


@pytest.mark.parametrize("name", sorted(datasets.DATASETS.keys() - {"zincfull"}))  # whose molecules take RDKit minutes
def test_a_dataset_and_its_task(name, dataset):
    found = dataset(name)
    task = found.task()
    ds = task.dataset
    counts = {part: len(ids) for part, ids in (task.splits or {}).items()} | found.summary
    assert found.published.items() <= counts.items()
    assert counts["planar"] == len(ds)
    ds.subset(np.arange(0, len(ds), max(len(ds) // 50, 1))).check()
    check_targets(task)
    check_features(task.node_features, ds.x)
    check_features(task.edge_features, ds.edge_attr)
    start = time.perf_counter()
    found.load()
    assert time.perf_counter() - start < 1


def check_targets(task) -> None:
    y, graphs = task.dataset.y, len(task.dataset)
    if task.kind == "multiclass":
        assert (y.dtype, y.shape) == (np.int64, (graphs,))
        assert 0 <= y.min() <= y.max() < task.outputs
    else:
        assert (y.dtype, y.shape) == (np.float32, (graphs, task.outputs))
        assert np.isfinite(y).all()
    if task.kind == "binary":
        assert set(np.unique(y)) == {0, 1}
    for split in [task.splits] if task.splits is not None else task.folds or []:
        assert set(split) == {"train", "val", "test"}
        assert task.name.startswith("tiger") or len(np.unique(np.concatenate(list(split.values())))) == graphs


def check_features(sizes, values) -> None:
    if sizes is None:
        assert values is None
    elif isinstance(sizes, Continuous):
        assert (values.dtype, values.shape[1]) == (np.float32, sizes.width)
    else:
        assert values.dtype == np.int32
        assert (values.min(axis=0) >= 0).all()
        assert (values.max(axis=0) < sizes.sizes).all()


def test_zinc_as_published(dataset, data_root):
    ds = dataset("zinc12k").load()
    d = load_arrays(data_root / "zinc" / "zinc12k_graphs.npz", ("x", "y", "split", "node_ptr"))
    np.testing.assert_array_equal(ds.y[:, 0], d["y"])
    np.testing.assert_array_equal(ds.x[:, 0], d["x"])
    np.testing.assert_array_equal(ds.tables.node_ptr, d["node_ptr"])
    train = ds.y[ds.attrs["split"] == 0].astype(np.float64)
    assert (round(train.mean(), 4), round(train.std(), 3)) == (0.0153, 2.011)
    directed = 2 * ds.tables.size("edge") / len(ds)
    assert (round(ds.tables.size("node") / len(ds), 2), round(directed, 2)) == (23.16, 49.83)


def test_zinc_without_edge_features(dataset):
    task = dataset("zinc12k").task(edge_features=False)
    assert task.edge_features is None
    assert task.dataset.edge_attr is None
    assert task.dataset.edge_labels == ()


def test_the_target_of_qm9_cc(dataset):
    task = dataset("qm9_cc").task()
    ds = task.dataset
    np.testing.assert_allclose(ds.y[:, 0], (ds.attrs["coefficient"] - 0.06) / 0.1, rtol=1e-6)
    test = ds.y[task.splits["test"]]
    assert round(float(np.abs(test - np.median(test)).mean()), 4) == 0.1627
    assert [len(task.splits[part]) for part in ("train", "val", "test")] == [44_226, 3_951, 3_921]


def test_qm9_targets_one_by_one(dataset, data_root):
    qm9 = dataset("qm9")
    task = qm9.task("gap")
    val = load_arrays(data_root / "qm9" / "qm9_val.npz", ("y", "z", "num_h", "flags", "mulliken_1e6"))
    column = list(TARGETS).index("gap")
    assert len(task.dataset) == 130_473
    np.testing.assert_array_equal(task.dataset.y[task.splits["val"], 0], val["y"][:, column])
    assert (task.outputs, task.scale, task.name) == (1, TARGETS["gap"], "qm9-gap")
    x = node_features(val)
    assert x.shape == (len(val["z"]), 15)
    assert (x[:, :5].sum(axis=1) == 1).all()
    np.testing.assert_array_equal(x[:, 5], val["z"])
    with pytest.raises(FormatError, match="targets mu, alpha"):
        qm9.task("gaps")
    assert qm9.task("each").targets == tuple(TARGETS)
    some = qm9.task(["gap", "mu"])
    assert (some.targets, some.outputs, some.scale, some.name) == (("gap", "mu"), 1, (TARGETS["gap"], TARGETS["mu"]), "qm9")
    assert np.array_equal(some.of_target("gap").dataset.y, task.dataset.y)
    assert some.of_target("gap").name == task.name
    for wrong in (["gap", "gaps"], ["gap", "gap"], []):
        with pytest.raises(FormatError, match="qm9"):
            qm9.task(wrong)


def test_folds_of_molhiv(dataset):
    """All in the training part, frameworks whole, steps alike, and OGB's other parts untouched."""
    from planegraph.datasets.frameworks import framework_codes

    task = dataset("molhiv").task(folds=10)
    ds, train = task.dataset, np.flatnonzero(task.dataset.attrs["split"] == 0)
    tested = [fold["test"] for fold in task.folds]
    np.testing.assert_array_equal(np.sort(np.concatenate(tested)), train)
    assert {-(-len(fold["train"]) // 256) for fold in task.folds} == {103}
    batch = pg.GraphBatch(ds.tables.node_ptr, ds.tables.edge_ptr, ds.tables.edges, ds.x[:, 0], ds.edge_attr[:, 0])
    codes = framework_codes(batch[train[:4000]])
    fold_of = np.full(len(ds), -1)
    for k, ids in enumerate(tested):
        fold_of[ids] = k
    assert len(set(zip(codes, fold_of[train[:4000]], strict=True))) == len(set(codes))


def test_molhiv_positives(dataset):
    task = dataset("molhiv").task()
    assert [int(task.dataset.y[task.splits[part]].sum()) for part in ("train", "val", "test")] == [1232, 81, 130]


def test_exp_pairs_differ(dataset):
    raw = dataset("exp").read({"plane/EXP.npz": dataset("exp").root / "plane" / "EXP.npz"})
    assert (raw.y.reshape(-1, 2).sum(axis=1) == 1).all()
    codes = pg.canonical_codes(pg.GraphBatch(raw.batch.node_ptr, raw.batch.edge_ptr, raw.batch.edges, node_labels=raw.x))
    assert all(a != b for a, b in zip(codes[::2], codes[1::2], strict=True))


def test_cexp_keeps_planar_pairs(dataset, data_root):
    ds = dataset("cexp").load()
    batch, _, y = read_graphsat(data_root / "exp" / "CEXP_GRAPHSAT.txt.gz")
    planar = pg.planar_mask(batch)
    assert (len(batch), int(planar.sum())) == (1200, 1067)
    kept = np.flatnonzero(planar.reshape(-1, 2).all(axis=1))
    np.testing.assert_array_equal(ds.attrs["pair"], np.repeat(kept, 2))
    np.testing.assert_array_equal(ds.y[:, 0], y.reshape(-1, 2)[kept].ravel())


def test_brec_pairs_differ(dataset):
    brec = dataset("brec")
    raw = brec.read({f.path: brec.root / f.path for f in brec.files})
    codes = pg.canonical_codes(raw.batch)
    assert len(codes) == 62
    assert all(a != b for a, b in zip(codes[::2], codes[1::2], strict=True))
