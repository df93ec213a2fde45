"""Raw files that do not fit together: an error that names the file, never a dataset and never a traceback."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

import planegraph as pg
from planegraph.datasets import QM9, QM9CC, Exp, MolHIV, Zinc12k, files
from planegraph.datasets.raw import RawGraphs, load_arrays
from planegraph.datasets.zinc import read_csv
from planegraph.errors import FormatError, InvalidGraphError, PlanegraphError

COLUMNS = {  # an edge, and a path of three nodes; edges in both directions
    "node_ptr": np.array([0, 2, 5]),
    "edge_ptr": np.array([0, 2, 6]),
    "edge_index": np.array([[0, 1, 0, 1, 1, 2], [1, 0, 1, 0, 2, 1]]),
    "x": np.array([0, 1, 0, 1, 1]),
    "edge_attr": np.array([1, 1, 2, 2, 3, 3]),
    "y": np.array([1, 0]),
    "split": np.array([0, 2]),
}
BONDS = {
    "node_ptr": np.array([0, 2, 5]),
    "edge_ptr": np.array([0, 1, 3]),
    "z": np.array([6, 6, 6, 7, 8]),
    "num_h": np.array([3, 3, 3, 1, 1]),
    "flags": np.zeros(5, np.uint8),
    "mulliken_1e6": np.arange(5),
    "edge_src": np.array([0, 0, 1]),
    "edge_dst": np.array([1, 1, 2]),
    "edge_type": np.array([1, 1, 2]),
    "y": np.zeros((2, 13), np.float32),
    "uncertain_membership": np.array([False, True]),
}
EXP, ZINC, HIV = (Exp, "plane/EXP.npz"), (Zinc12k, "zinc/zinc12k_graphs.npz"), (MolHIV, "molhiv/molhiv_graphs.npz")
ALL = [EXP, ZINC, HIV]  # each in an .npz file of COLUMNS
BINARY = [EXP, HIV]


def write(path, arrays):
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **arrays)
    return path


def refused(cls, name, arrays, folder, why) -> None:
    """The dataset is not packed from this file, whose checksum, if one is known, is not compared: its reader must see what is wrong."""
    path = write(folder / name, arrays)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "check_sum", lambda file, path: None)
        with pytest.raises(FormatError, match=why) as caught:
            cls(folder, folder / "cache").load()
    assert str(path) in str(caught.value)
    assert not list((folder / "cache").glob("*"))


@pytest.mark.parametrize(("cls", "name"), ALL)
def test_the_arrays_are_read_as_they_are(cls, name, tmp_path):
    path = write(tmp_path / name, COLUMNS)
    raw = cls(tmp_path).read({name: path})
    assert raw.batch.edges.tolist() == [[0, 1], [0, 1], [1, 2]]
    assert (raw.y.tolist(), raw.y.dtype) == ([[1], [0]], np.float32)


@pytest.mark.parametrize(("cls", "name"), ALL)
@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"y": np.zeros((2, 2))}, r"y must be one number for each graph; found shape \(2, 2\)"),
        ({"y": np.array([1, 1, 0])}, r"y must have a row for each of 2 graphs; found shape \(3, 1\)"),
        ({"y": np.array([1])}, "y must have a row for each of 2 graphs"),
        ({"y": np.array(1)}, "y must be one number for each graph"),
        ({"y": np.array([1, np.nan])}, "graph 1: y must be .*; found nan"),
        ({"y": np.array(["1", "0"])}, "y must be one number .* dtype <U1"),
        ({"x": np.zeros(6, int)}, r"x must have a row for each of 5 nodes; found shape \(6,\)"),
        ({"x": np.zeros(4, int)}, "x must have a row for each of 5 nodes"),
        ({"edge_index": COLUMNS["edge_index"] + 0.5}, "edge_index must be integers; found dtype float64"),
        ({"edge_index": COLUMNS["edge_index"].T}, r"edge_index must have shape \(2, E\).*; found \(6, 2\)"),
        ({"edge_index": COLUMNS["edge_index"].ravel()}, r"edge_index must have shape \(2, E\).*; found \(12,\)"),
        ({"edge_index": COLUMNS["edge_index"][:, :4]}, "edge_ptr ends at 6, but there are 4 edges"),
        ({"edge_index": COLUMNS["edge_index"] + 1}, "names a node that does not exist"),
        ({"node_ptr": np.array([0.0, 2.0, 5.0])}, "node_ptr must be .* integers.*float64"),
        ({"edge_ptr": np.array([0.0, 2.0, 6.0])}, "edge_ptr must be .* integers.*float64"),
        ({"node_ptr": np.array([0, 5])}, "the same length.* found 2 and 3"),
        ({"node_ptr": np.array([], int)}, "node_ptr must be .* at least one entry"),
        ({"edge_ptr": np.array([[0, 2, 6]])}, "edge_ptr must be a one-dimensional"),
        ({"edge_ptr": np.array([0, 7, 6])}, "edge_ptr must never fall"),
        ({"node_ptr": np.array([0, 6, 5])}, "node_ptr must never fall"),
        ({"node_ptr": np.array([1, 2, 5])}, "node_ptr must start at 0"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(cls, name, changes, why, tmp_path):
    refused(cls, name, COLUMNS | changes, tmp_path, why)


@pytest.mark.parametrize(("cls", "name"), BINARY)
@pytest.mark.parametrize("value", [2, -1, 0.5])
def test_a_binary_target_is_0_or_1(cls, name, value, tmp_path):
    refused(cls, name, COLUMNS | {"y": np.array([0, value])}, tmp_path, f"graph 1: y must be 0 or 1; found {value}")


@pytest.mark.parametrize(("cls", "name"), [ZINC, HIV])
@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"edge_attr": np.ones(7, int)}, "edge_attr must have a row for each of 6 columns of edge_index"),
        ({"edge_attr": np.ones(3, int)}, "edge_attr must have a row for each of 6 columns of edge_index"),
        ({"edge_attr": np.arange(6)}, "two directions of an edge have different features"),
        ({"split": np.array([0, 0, 2])}, "split must have a row for each of 2 graphs"),
        ({"split": np.array([0, 1.5])}, "split must be integers"),
        ({"split": np.array([0, 256])}, "graph 1: split must be 0 to 2; found 256"),
        ({"split": np.array([[0], [1]])}, "split must be one number for each graph"),
    ],
)
def test_features_and_splits_that_do_not_fit_are_refused(cls, name, changes, why, tmp_path):
    refused(cls, name, COLUMNS | changes, tmp_path, why)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"y": np.zeros((2, 12))}, r"y must have 13 targets for each graph; found shape \(2, 12\)"),
        ({"y": np.zeros((3, 13))}, "y must have a row for each of 2 graphs"),
        ({"y": np.full((2, 13), np.inf)}, "graph 0: y must be a finite number; found inf"),
        ({"edge_src": BONDS["edge_src"] + 0.5}, "edge_src must be integers"),
        ({"edge_type": BONDS["edge_type"] + 0.5}, "edge_type must be integers"),
        ({"edge_type": np.ones(4, int)}, "edge_attr must have a row for each of 3 edges"),
        ({"edge_dst": np.ones(4, int)}, "same shape"),
        ({"flags": np.zeros(4, np.uint8)}, "must match"),
        ({"node_ptr": np.array([0, 6, 5])}, "node_ptr must never fall"),
        ({"uncertain_membership": np.array([True])}, "uncertain must have a row for each of 2 graphs"),
    ],
)
def test_arrays_of_qm9_that_do_not_fit_are_refused(changes, why, tmp_path):
    for part in ("val", "test"):
        write(tmp_path / "qm9" / f"qm9_{part}.npz", BONDS)
    refused(QM9, "qm9/qm9_train_rebuilt.npz", BONDS | changes, tmp_path, why)


def test_arrays_of_qm9_are_joined(tmp_path):
    paths = {f"qm9/{name}.npz": tmp_path / f"{name}.npz" for name in ("qm9_train_rebuilt", "qm9_val", "qm9_test")}
    for path in paths.values():
        write(path, BONDS)
    raw = QM9(tmp_path).read(paths)
    assert raw.attrs["uncertain"].tolist() == [False, True, False, False, False, False]
    assert raw.attrs["split"].tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "JSONDecodeError"),
        ("[3]", "TypeError"),
        ('[{"x": [[1], [1]], "y": [0.5]}]', "KeyError"),
        ('[{"x": [[1], [1]], "edge_index": [0, 1, 1], "y": [0.5]}]', "cannot reshape"),
        ('[{"x": [[1], [1]], "edge_index": [[0, 1], [1, 2]], "y": [0.5]}]', "names a node that does not exist"),
        ('[{"x": [[1], [1]], "edge_index": [[0, 1], [1, 0]], "y": [NaN]}]', "a finite number; found nan"),
    ],
)
def test_json_that_does_not_fit_is_refused(text, why, tmp_path):
    good = '[{"x": [[1], [1]], "edge_index": [[0, 1], [1, 0]], "y": [0.5]}]'
    paths = {file.path: tmp_path / f"{i}.json.gz" for i, file in enumerate(QM9CC.files)}
    for path, content in zip(paths.values(), (good, text, good), strict=True):
        path.write_bytes(gzip.compress(content.encode()))
    with pytest.raises(FormatError, match=rf"1\.json\.gz.*{why}"):
        QM9CC(tmp_path).read(paths)


def test_rows_of_raw_graphs_are_counted():
    batch = pg.GraphBatch.from_graphs([pg.families.cycle(3), pg.families.cycle(4)])
    for wrong in ({"x": np.zeros(8)}, {"edge_attr": np.zeros((6, 2))}, {"y": np.zeros(3)}, {"attrs": {"id": np.zeros(1)}}):
        with pytest.raises(InvalidGraphError, match="must have a row for each"):
            RawGraphs(batch, **wrong)


def test_a_single_array_is_no_archive(tmp_path):
    with open(tmp_path / "some.npz", "wb") as file:
        np.save(file, np.arange(3))
    with pytest.raises(FormatError, match=r"some\.npz must be an \.npz file with y; found a single array"):
        load_arrays(tmp_path / "some.npz", ("y",))


@pytest.mark.parametrize("row", ["train", "train,CCO", "train,,0.5", ",CCO,0.5"])
def test_a_row_with_missing_cells_is_refused(row, tmp_path):
    path = tmp_path / "some.csv.gz"
    path.write_bytes(gzip.compress(f"split,smiles,y\nval,CC,1\n{row}\n".encode()))
    with pytest.raises(FormatError, match=r"some\.csv\.gz .*row 2 below them lacks one"):
        read_csv(path)


def test_a_damaged_stream_is_refused(tmp_path):
    path = tmp_path / "some.csv.gz"
    whole = bytearray(gzip.compress(b"split,smiles,y\n" + b"train,CCO,0.5\n" * 9))
    whole[12] ^= 0xFF
    path.write_bytes(whole)
    with pytest.raises(FormatError, match=r"some\.csv\.gz"):
        read_csv(path)


@pytest.mark.parametrize(
    ("cls", "name", "changes", "why"),
    [
        (*EXP, {"x": np.array([0, 1, 0, 1, 9])}, "x, column 0, must be 0 to 1; found 9 at node 2 of graph 1"),
        (*EXP, {"x": np.array([0, 1, 0, 1, -1])}, "x, column 0, must be 0 to 1; found -1"),
        (*ZINC, {"x": np.array([0, 99, 0, 1, 1])}, "x, column 0, must be 0 to 27; found 99 at node 1 of graph 0"),
        (*ZINC, {"x": COLUMNS["x"] + 0.5}, "x must have 1 column of integers; found 1 column of float64"),
        (*ZINC, {"x": np.zeros((5, 2), int)}, "x must have 1 column of integers; found 2 columns of int32"),
        (
            *ZINC,
            {"edge_attr": np.array([1, 1, 2, 2, 77, 77])},
            "edge_attr, column 0, must be 0 to 3; found 77 at edge 1",
        ),
        (*HIV, {}, "x must have 9 columns of integers; found 1 column of int32"),
    ],
)
def test_features_that_the_task_does_not_know_are_refused(cls, name, changes, why, tmp_path, monkeypatch):
    monkeypatch.setattr(cls, "check", lambda self, raw: None)  # of published numbers
    write(tmp_path / name, COLUMNS | changes)
    with pytest.raises(PlanegraphError, match=f"task {cls.name}: {why}.*fetch these again"):
        cls(tmp_path, tmp_path / "cache").task()
