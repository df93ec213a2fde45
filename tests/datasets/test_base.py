"""Packing once, noticing change, surviving damage: what all datasets share."""

from __future__ import annotations

import json

import numpy as np
import pytest

from planegraph import datasets
from planegraph.data import PackedDataset
from planegraph.data.sizes import Categorical
from planegraph.datasets.files import MissingDataError, packed_folder
from planegraph.datasets.files import data_root as chosen_root
from planegraph.datasets.raw import check_counts, from_columns
from planegraph.datasets.summary import is_summary, summarise
from planegraph.errors import FormatError, InvalidGraphError, PlanegraphError
from planegraph.tasks import Task
from planegraph.tasks.splits import contiguous_folds

from .examples import Rings, spoil, write_lengths


@pytest.fixture
def rings(tmp_path):
    write_lengths(tmp_path / "root", 3, 4, 5)
    Rings.reads = 0
    return Rings(tmp_path / "root", tmp_path / "cache", threads=1)


def test_packs_once_and_then_loads(rings):
    assert rings.status == "raw files found"
    assert len(rings.load()) == len(rings.load()) == 3
    assert Rings.reads == 1
    assert rings.status == "ready"
    assert rings.summary["S"] == 3


def test_packs_again_when_raw_files_change(rings):
    rings.load()
    write_lengths(rings.root, 3, 4, 5, 6)
    assert rings.status == "raw files found"
    assert len(rings.load()) == 4
    assert Rings.reads == 2


def test_a_packed_file_alone_is_enough(rings):
    rings.load()
    alone = Rings(rings.root / "nowhere", rings.cache)
    assert alone.status == "ready"
    assert len(alone.load()) == 3
    assert Rings.reads == 1


def test_an_older_reader_does_not_count(rings, monkeypatch):
    rings.load()
    monkeypatch.setattr(Rings, "reader_version", 2)
    assert rings.status == "raw files found"
    assert Rings(rings.root / "nowhere", rings.cache).status == "raw files missing"


@pytest.mark.parametrize("damage", ["truncate", "foreign", "no note", "bad note"])
def test_a_damaged_packed_file_is_packed_again(rings, damage):
    rings.load()
    path, note = rings.packed_path(), rings.packed_path().with_suffix(".source.json")
    if damage == "truncate":
        path.write_bytes(path.read_bytes()[:-10])
    elif damage == "foreign":
        path.write_bytes(b"something else entirely")
    elif damage == "no note":
        note.unlink()
    else:
        note.write_text("[1, 2")
    assert len(rings.load()) == 3
    assert Rings.reads == 2
    assert len(rings.load(verify=True)) == 3
    assert Rings.reads == 2


def test_a_damaged_packed_file_without_raw_files_is_an_error(rings):
    rings.load()
    rings.packed_path().write_bytes(b"something else entirely")
    with pytest.raises(FormatError, match="cannot open"):
        Rings(rings.root / "nowhere", rings.cache).load()


def test_damage_in_an_array_is_found_by_its_checksum(rings):
    rings.load()
    assert rings.discard_damaged() == ""
    spoil(rings.packed_path())
    message = (
        r"cannot open '.*rings\.safetensors': the checksum of array walk_kappa .* planegraph datasets rings --pack packs it again"
    )
    with pytest.raises(FormatError, match=message):
        rings.load().verify()
    assert Rings.reads == 1
    assert rings.discard_damaged().endswith("it is damaged")
    assert rings.discard_damaged() == ""  # it does not count any more
    assert rings.status == "raw files found"
    rings.load().verify()
    assert Rings.reads == 2


def test_a_damaged_file_that_cannot_be_packed_again_is_not_ready(rings):
    rings.load()
    spoil(rings.packed_path())
    alone = Rings(rings.root / "nowhere", rings.cache)
    assert alone.status == "ready"
    assert "walk_kappa" in alone.discard_damaged()
    assert alone.status == "raw files missing"


@pytest.mark.parametrize("array", ["walk_pos", "spqr_depth"])
def test_positions_and_depths_are_bounded_without_checksums(rings, array):
    """Loading does not compare checksums, and these would ask for tens of gigabytes."""
    rings.load()
    spoil(rings.packed_path(), array, 2**31 - 1)
    with pytest.raises(FormatError, match=rf"rings\.safetensors': .*{array}\[0\] = 2147483647 must be 0 to"):
        Rings(rings.root / "nowhere", rings.cache).load()
    assert Rings.reads == 1
    rings.load().verify()  # packed again
    assert Rings.reads == 2


def test_features_that_are_damaged_are_blamed_on_the_file(rings):
    rings.task()
    spoil(rings.packed_path(), "edge_attr", 7)
    ds = rings.load()
    with pytest.raises(FormatError, match=r"rings\.safetensors': the checksum of array edge_attr"):
        Task("rings", ds, edge_features=Categorical((2,)))


def test_an_interrupted_packing_leaves_no_dataset(rings, monkeypatch):
    def fail(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(PackedDataset, "save", fail)
    with pytest.raises(KeyboardInterrupt):
        rings.load()
    assert rings.status == "raw files found"
    assert not list(rings.cache.glob("*"))


def test_walks_without_edge_features_do_not_depend_on_them(rings):
    with_edges, without = rings.load(True), rings.load(False)
    assert with_edges.edge_attr is not None
    assert without.edge_attr is None
    assert (with_edges.edge_labels, without.edge_labels) == (("edge_attr",), ())
    assert rings.packed_path(True) != rings.packed_path(False)


def test_ready_is_what_is_loaded_by_default(rings):
    rings.load(False)
    assert rings.status == "ready without edge features"
    assert rings.summary["graphs"] == 3
    rings.load()
    assert rings.status == "ready"
    rings.packed_path(False).unlink()
    assert rings.status == "ready"


def test_missing_files_are_named_with_their_place(tmp_path):
    rings = Rings(tmp_path / "root", tmp_path / "cache")
    assert rings.status == "raw files missing"
    with pytest.raises(MissingDataError) as caught:
        rings.load()
    assert str(tmp_path / "root" / "rings" / "lengths.txt") in str(caught.value)
    assert "lengths of cycles, one a line" in str(caught.value)


@pytest.mark.parametrize("name", list(datasets.DATASETS))
def test_every_dataset_says_what_it_needs(name, tmp_path):
    found = datasets.get(name, tmp_path / "root", cache=tmp_path / "cache", download=False)
    assert found.name == name
    assert found.summary is None
    assert type(found).__name__ in datasets.__all__
    if not found.files:
        assert found.status == "can be generated"
        return
    for file in found.files:
        assert file.path in found.how_to_get
    with pytest.raises(MissingDataError):
        found.load()
    assert not (tmp_path / "root").exists()


def test_an_unknown_name():
    with pytest.raises(KeyError, match="zinc12k") as caught:
        datasets.get("zinc")
    assert isinstance(caught.value, PlanegraphError)
    assert str(caught.value).startswith("there is no dataset 'zinc'; there are exp, ")


@pytest.mark.parametrize("name", ["zinc12k", "zincfull", "molhiv", "qm9"])
@pytest.mark.parametrize("value", ["none", "false", 0, None])
def test_edge_features_are_there_or_not(name, value, tmp_path):
    found = datasets.get(name, tmp_path / "root", cache=tmp_path / "cache", download=False)
    with pytest.raises(FormatError, match=f"edge_features must be true or false; found {value!r}"):
        found.task(edge_features=value)


def test_edge_features_that_are_not_there(tmp_path):
    with pytest.raises(FormatError, match="p3r has no edge features"):
        datasets.get("p3r", tmp_path, cache=tmp_path).load(edge_features=True)


def test_places(monkeypatch, tmp_path):
    monkeypatch.setenv("PLANEGRAPH_DATA", str(tmp_path / "a"))
    monkeypatch.setenv("PLANEGRAPH_CACHE", str(tmp_path / "b"))
    assert (chosen_root(), packed_folder()) == (tmp_path / "a", tmp_path / "b")
    assert chosen_root(tmp_path) == tmp_path
    monkeypatch.delenv("PLANEGRAPH_DATA")
    monkeypatch.delenv("PLANEGRAPH_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert (chosen_root(), packed_folder()) == (tmp_path / "planegraph" / "data", tmp_path / "planegraph" / "packed")


def test_wrong_counts_are_refused(rings):
    raw = rings.read({f.path: rings.root / f.path for f in rings.files})
    check_counts("rings", raw, {"graphs": 3, "nodes": 12})
    with pytest.raises(FormatError, match="3 graphs, not 5"):
        check_counts("rings", raw, {"graphs": 5})


def test_directions_of_an_edge_must_agree():
    index = np.array([[0, 1], [1, 0]])
    with pytest.raises(InvalidGraphError, match="different features"):
        from_columns(np.array([0, 2]), np.array([0, 2]), index, np.array([1, 2]))


@pytest.mark.parametrize("count", [450, 934, 1200])
def test_folds_partition_the_graphs(count):
    folds = contiguous_folds(count)
    assert len(folds) == 10
    np.testing.assert_array_equal(np.concatenate([f["test"] for f in folds]), np.arange(count))
    for fold in folds:
        np.testing.assert_array_equal(np.sort(np.concatenate(list(fold.values()))), np.arange(count))
        assert (np.diff(fold["test"]) == 1).all()
    rest = np.setdiff1d(np.arange(count), folds[3]["test"])
    at = np.searchsorted(rest, folds[3]["val"])
    assert (np.diff(at) == 1).all()  # contiguous in the remainder


def test_what_a_summary_is(rings):
    whole = summarise(rings.load())
    assert is_summary(whole)
    assert is_summary({**whole, "published_graphs": 3})
    for name in whole:
        assert not is_summary({n: v for n, v in whole.items() if n != name})
        for wrong in (None, 1.0, True, "1"):
            assert not is_summary({**whole, name: wrong})
    assert not is_summary(None)


def test_a_note_without_a_whole_summary_does_not_count(rings):
    rings.load()
    note = rings.packed_path().with_suffix(".source.json")
    note.write_text(json.dumps(json.loads(note.read_text()) | {"summary": {"graphs": 3}}))
    assert (rings.status, rings.summary) == ("raw files found", None)
    rings.load()
    assert rings.summary["blocks"] == 3


def test_the_note_is_plain_json(rings):
    rings.load()
    note = json.loads(rings.packed_path().with_suffix(".source.json").read_text())
    assert set(note) == {"source", "summary"}
