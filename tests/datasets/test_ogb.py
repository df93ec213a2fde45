"""OGB's archive of MolHIV, in small."""

from __future__ import annotations

import gzip
import tracemalloc
import zipfile

import numpy as np
import pytest

from planegraph.datasets import MolHIV
from planegraph.datasets.molhiv import read_ogb
from planegraph.errors import FormatError

TABLES = {  # an edge, and a path of three nodes
    "raw/num-node-list": "2\n3\n",
    "raw/num-edge-list": "1\n2\n",
    "raw/edge": "0,1\n0,1\n1,2\n",
    "raw/node-feat": "\n".join(f"{i},0,1,5,0,0,2,0,0" for i in range(5)),
    "raw/edge-feat": "0,0,0\n1,0,1\n2,0,0\n",
    "raw/graph-label": "1\n0\n",
    "split/scaffold/train": "1\n",
    "split/scaffold/valid": "0\n",
}


def write(path, tables) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in tables.items():
            archive.writestr(f"hiv/{name}.csv.gz", gzip.compress(text.encode()))


def test_reads_the_tables(tmp_path):
    write(tmp_path / "hiv.zip", TABLES | {"split/scaffold/test": "1\n"})
    raw = read_ogb(tmp_path / "hiv.zip")
    assert raw.batch.edges.tolist() == [[0, 1], [0, 1], [1, 2]]
    assert raw.batch.node_ptr.tolist() == [0, 2, 5]
    assert (raw.x.shape, raw.edge_attr.shape) == ((5, 9), (3, 3))
    assert raw.y.tolist() == [[1], [0]]
    assert raw.attrs["split"].tolist() == [1, 2]


def test_other_archives_are_refused(tmp_path):
    write(tmp_path / "hiv.zip", TABLES)
    with pytest.raises(FormatError, match="not OGB's"):
        read_ogb(tmp_path / "hiv.zip")
    (tmp_path / "hiv.zip").write_bytes(b"no archive")
    with pytest.raises(FormatError, match="not OGB's"):
        read_ogb(tmp_path / "hiv.zip")


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("split/scaffold/test", "2\n", "test of the split names molecule 2; there are 2"),
        ("split/scaffold/train", "-1\n", "train of the split names molecule -1"),
        ("raw/num-edge-list", "1\n1\n1\n", "num-edge-list must have a row for each of 2 molecules"),
        ("raw/graph-label", "1\n0\n1\n", "graph-label must have a row for each of 2 molecules"),
        ("raw/graph-label", "1,0\n0,1\n", "y must be one number for each graph"),
        ("raw/graph-label", "1\n2\n", "graph 1: y must be 0 or 1; found 2"),
        ("raw/node-feat", "0,0,1,5,0,0,2,0,0\n", r"x must have a row for each of 5 nodes; found shape \(1, 9\)"),
        ("raw/edge-feat", "0,0,0\n" * 4, "edge_attr must have a row for each of 3 edges"),
        ("raw/edge", "0,1\n0,1\n", "edge_ptr ends at 3, but there are 2 edges"),
    ],
)
def test_tables_that_do_not_fit_are_refused(name, text, why, tmp_path):
    path = tmp_path / "hiv.zip"
    write(path, TABLES | {"split/scaffold/test": "1\n", name: text})
    with pytest.raises(FormatError, match=why) as caught:
        read_ogb(path)
    assert str(path) in str(caught.value)


def test_an_archive_with_other_counts_is_not_packed(tmp_path):
    (tmp_path / "molhiv").mkdir()
    write(tmp_path / "molhiv" / "hiv.zip", TABLES | {"split/scaffold/test": "1\n"})
    with pytest.raises(FormatError, match="2 graphs, not 41,127"):
        MolHIV(tmp_path, tmp_path / "cache").load()


def test_the_arrays_come_first(data_root, tmp_path):
    assert MolHIV(tmp_path).files[0].url is not None
    if not (data_root / "molhiv" / "molhiv_graphs.npz").is_file():
        pytest.skip("no molhiv_graphs.npz")
    assert MolHIV(data_root).files[0].path.endswith(".npz")
    assert np.array_equal(MolHIV(data_root).files, MolHIV(data_root).files)


def test_no_more_is_unpacked_than_is_published(tmp_path):
    """A table of a gigabyte in a few kilobytes: gzip of gzip, as a bomb is made."""
    path = tmp_path / "hiv.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in (TABLES | {"split/scaffold/test": "1\n"}).items():
            bomb = name == "raw/graph-label"
            archive.writestr(f"hiv/{name}.csv.gz", gzip.compress(b"0\n" * 500_000) * 1000 if bomb else gzip.compress(text.encode()))
    tracemalloc.start()
    with pytest.raises(
        FormatError, match=r"graph-label\.csv\.gz unpacks to more than 329,016 bytes, but 41,127 numbers are published"
    ):
        read_ogb(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**24


def test_the_source_is_encrypted(tmp_path):
    assert MolHIV(tmp_path).files[0].url.startswith("https://")
