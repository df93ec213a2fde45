"""GNN-FiLM's own files of QM9, in small."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from planegraph.datasets import QM9
from planegraph.datasets.qm9 import read_film
from planegraph.errors import FormatError


def molecule(n: int) -> dict:
    """A path of n atoms whose bonds are of type 2."""
    return {
        "graph": [[v, 2, v + 1] for v in range(n - 1)],
        "node_features": [[float(v)] * 15 for v in range(n)],
        "targets": [[float(n + k)] for k in range(13)],
    }


def write(path, *molecules) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, molecules)).encode()))


def test_reads_molecules(tmp_path):
    write(tmp_path / "some.jsonl.gz", molecule(3), molecule(1), molecule(2))
    raw = read_film(tmp_path / "some.jsonl.gz")
    assert raw.batch.node_ptr.tolist() == [0, 3, 4, 6]
    assert raw.batch.edges.tolist() == [[0, 1], [1, 2], [0, 1]]
    assert raw.edge_attr.tolist() == [2, 2, 2]
    assert (raw.x.shape, raw.y.shape, raw.y.dtype) == ((6, 15), (3, 13), np.float32)
    assert raw.y[:, 1].tolist() == [4, 2, 3]


def test_bad_lines_are_named(tmp_path):
    write(tmp_path / "some.jsonl.gz", molecule(3), {"graph": []})
    with pytest.raises(FormatError, match="line 2"):
        read_film(tmp_path / "some.jsonl.gz")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"graph": [[0, 2, 1.5]]}, "line 2: .*graph must be integers"),
        ({"graph": [0, 2, 1]}, "edge_ptr ends at 5, but there are 3 edges"),
        ({"targets": [[float("nan")]] * 13}, "graph 1: y must be a finite number; found nan"),
        ({"node_features": [[0.0] * 5] * 3}, "x must have a row for each of 7 nodes"),
    ],
)
def test_molecules_that_do_not_fit_are_refused(changes, why, tmp_path):
    path = tmp_path / "some.jsonl.gz"
    write(path, molecule(3), molecule(2) | changes, molecule(1))
    with pytest.raises(FormatError, match=why) as caught:
        read_film(path)
    assert str(path) in str(caught.value)


def test_the_original_files_are_used_if_all_are_there(tmp_path, monkeypatch):
    qm9 = QM9(tmp_path, tmp_path / "cache", threads=1)
    assert qm9.files[0].path == "qm9/train.jsonl.gz"  # what to fetch
    write(tmp_path / "qm9" / "train.jsonl.gz", molecule(3), molecule(4))
    (tmp_path / "qm9" / "qm9_val.npz").touch()
    assert qm9.files[0].path.endswith(".npz")
    write(tmp_path / "qm9" / "valid.jsonl.gz", molecule(2))
    write(tmp_path / "qm9" / "test.jsonl.gz", molecule(5))
    assert qm9.files[0].path == "qm9/train.jsonl.gz"
    with pytest.raises(FormatError, match="1 val, not 10,000"):
        qm9.load()
    monkeypatch.setattr(QM9, "check", lambda *_: None)
    task = qm9.task("alpha")
    assert {part: ids.tolist() for part, ids in task.splits.items()} == {"train": [0, 1], "val": [2], "test": [3]}
    assert task.dataset.y[:, 0].tolist() == [4, 5, 3, 6]
    assert task.notes == ""
