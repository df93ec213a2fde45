"""The file on disk: what was saved comes back, any damage is refused, and a writer that dies leaves a whole file."""

from __future__ import annotations

import copy
import errno
import json
import os
import pickle
import shutil
import subprocess
import sys
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest

pytest.importorskip("torch")

from packed_samples import shapes, with_labels

import planegraph as pg
from planegraph.data import PackedDataset, PackedLoader, format
from planegraph.data.format import manifest_path
from planegraph.data.tables import NAMES
from planegraph.io import atomic
from planegraph.io.atomic import replace_files


def dataset(by_dart: bool = False) -> PackedDataset:
    graphs = [with_labels(g, i, by_dart) for i, g in enumerate(shapes())] + [pg.families.complete(5)]
    graphs[-1] = with_labels(graphs[-1], 9, by_dart)
    attrs = {"mask": np.arange(len(graphs)) % 2 == 0, "half": np.arange(len(graphs)).astype(np.float16)}
    return PackedDataset.from_graphs(graphs, y=np.arange(len(graphs) * 2.0).reshape(-1, 2), attrs=attrs, on_nonplanar="skip")


def assert_equal(a: PackedDataset, b: PackedDataset) -> None:
    assert a.fingerprint == b.fingerprint
    pairs = {name: (a.tables[name], b.tables[name]) for name in NAMES}
    pairs |= {name: (getattr(a, name), getattr(b, name)) for name in ("x", "edge_attr", "dart_attr", "y", "skipped")}
    assert a.attrs.keys() == b.attrs.keys()
    pairs |= {name: (a.attrs[name], b.attrs[name]) for name in a.attrs}
    for name, (one, other) in pairs.items():
        assert (one is None) == (other is None), name
        if one is not None:
            assert one.dtype == other.dtype, name
            assert one.shape == other.shape, name
            assert np.array_equal(one, other), name


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "graphs.safetensors"
    dataset().save(path)
    return path


# ---- there and back -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by_dart", [False, True])
@pytest.mark.parametrize("verify", [True, False])
def test_round_trip(tmp_path: Path, by_dart: bool, verify: bool) -> None:
    ds = dataset(by_dart)
    ds.save(tmp_path / "graphs.pack")
    found = PackedDataset.open(str(tmp_path / "graphs.pack"), verify=verify)
    assert_equal(ds, found)
    assert repr(found) == repr(ds)
    found.check()
    assert found[[3, 8]].index.tolist() == ds[[3, 8]].index.tolist()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["graphs.pack", "graphs.pack.json"]


@pytest.mark.parametrize("graphs", [[], [pg.Graph(0, [])], [pg.Graph(3, [])], [pg.families.cycle(3)]], ids=len)
def test_small_datasets(tmp_path: Path, graphs: list[pg.Graph]) -> None:
    ds = PackedDataset.from_graphs(graphs)
    ds.save(tmp_path / "few.safetensors")
    assert_equal(ds, PackedDataset.open(tmp_path / "few.safetensors"))


def test_mapped_arrays_are_read_only_views(saved: Path) -> None:
    ds = PackedDataset.open(saved)
    for array in (ds.tables.walk_node, ds.x, ds.y):
        assert not array.flags.writeable
        assert not array.flags.owndata
        assert array.ctypes.data % array.itemsize == 0


def test_any_safetensors_reader_reads_it(saved: Path) -> None:
    numpy = pytest.importorskip("safetensors.numpy")
    ds, found = PackedDataset.open(saved), numpy.load_file(saved)
    assert all(np.array_equal(found[name], ds.tables[name]) for name in NAMES)
    assert np.array_equal(found["x"], ds.x)
    assert np.array_equal(found["attrs.mask"], ds.attrs["mask"])


def test_manifest(saved: Path) -> None:
    manifest = json.loads(manifest_path(saved).read_text())
    ds = PackedDataset.open(saved)
    assert manifest["format"] == "planegraph-packed"
    assert manifest["version"] == 1
    assert manifest["labels"] == {"nodes": ["x"], "edges": ["edge_attr"]}
    assert manifest["fingerprint"] == ds.fingerprint
    assert manifest["counts"]["graphs"] == len(ds)
    assert manifest["counts"]["skipped"] == 1
    assert manifest["arrays"]["x"]["shape"] == list(ds.x.shape)
    manifest_path(saved).write_text("nonsense")  # a convenience: the truth is in the file
    assert_equal(PackedDataset.open(saved), dataset())


def test_same_content_same_file(tmp_path: Path) -> None:
    for name in ("a", "b"):
        dataset().save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("there", [True, False], ids=["a file", "nothing yet"])
def test_saving_to_a_link_writes_what_it_names(tmp_path: Path, there: bool) -> None:
    """Also through two links, relative ones, into another folder, where the temporary file lies, too."""
    target = tmp_path / "far" / "data.safetensors"
    target.parent.mkdir()
    if there:
        target.write_text("before")
    (tmp_path / "near.safetensors").symlink_to("far/data.safetensors")
    (tmp_path / "link.safetensors").symlink_to("near.safetensors")
    dataset().save(tmp_path / "link.safetensors")
    assert (tmp_path / "link.safetensors").is_symlink()
    assert (tmp_path / "near.safetensors").is_symlink()
    assert not target.is_symlink()
    assert len(PackedDataset.open(target)) == len(dataset())
    assert [path.name for path in target.parent.iterdir()] == [target.name]


def test_saving_over_the_file_that_is_open(saved: Path) -> None:
    ds = PackedDataset.open(saved)
    part = ds.subset([8, 9])
    part.save(saved)
    ds.save(saved.with_name("copy"))
    assert_equal(PackedDataset.open(saved), part)
    assert_equal(PackedDataset.open(saved.with_name("copy")), dataset())


# ---- damage ---------------------------------------------------------------------------------------------------------------


def refused(path: Path, data: bytes, match: str | None = None, verify: bool = True) -> None:
    path.write_bytes(data)
    with pytest.raises(pg.FormatError, match=match) as caught:
        PackedDataset.open(path, verify)
    assert str(caught.value).startswith(f"cannot open {os.fspath(path)!r}: ")


def regions(data: bytes) -> dict[str, tuple[int, int]]:
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    del header["__metadata__"]
    found = {"length": (0, 8), "header": (8, 8 + length)}
    return found | {name: tuple(8 + length + o for o in entry["data_offsets"]) for name, entry in header.items()}


@pytest.mark.parametrize("verify", [True, False])
def test_truncation(saved: Path, verify: bool) -> None:
    data = saved.read_bytes()
    places = {edge + d for region in regions(data).values() for edge in region for d in (-1, 0, 1)}
    places |= set(np.random.default_rng(0).integers(0, len(data), 200).tolist())
    for place in sorted(p for p in places if 0 <= p < len(data)):
        refused(saved, data[:place], verify=verify)
    refused(saved, data + b"\0", "something was appended", verify=verify)
    saved.write_bytes(data)
    PackedDataset.open(saved)


def test_bit_flips(saved: Path) -> None:
    data = bytearray(saved.read_bytes())
    rng = np.random.default_rng(1)
    anywhere = rng.integers(0, len(data), 300).tolist()
    in_each = [int(rng.integers(a, b)) for a, b in regions(bytes(data)).values() if a < b]
    in_header = rng.integers(0, regions(bytes(data))["header"][1], 100).tolist()
    for place in (*anywhere, *in_each, *in_header, *range(16)):
        bit = 1 << int(rng.integers(8))
        data[place] ^= bit
        refused(saved, bytes(data))
        data[place] ^= bit
    saved.write_bytes(data)
    PackedDataset.open(saved)


def test_a_flip_in_an_array_is_named(saved: Path) -> None:
    data = bytearray(saved.read_bytes())
    data[regions(bytes(data))["walk_kappa"][0] + 4] ^= 4
    refused(saved, bytes(data), r"the checksum of array walk_kappa is [0-9a-f]{8}, not [0-9a-f]{8}; it is damaged")
    PackedDataset.open(saved, verify=False)


def test_damage_is_found_later_if_not_on_opening(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sums, check = [], format._check_sums
    monkeypatch.setattr(format, "_check_sums", lambda *what: (sums.append(what), check(*what)))
    sound = PackedDataset.open(saved, verify=False)
    for ds in (sound, sound.with_y(sound.y + 1), sound.subset([1])):
        ds.verify()
    assert len(sums) == 1  # they share the file
    PackedDataset.open(saved).verify()
    assert len(sums) == 2
    dataset().verify()  # made in memory: nothing to compare
    data = bytearray(saved.read_bytes())
    start, stop = regions(bytes(data))["walk_kappa"]
    data[start:stop] = np.ones((stop - start) // 4, "<i4").tobytes()
    saved.write_bytes(data)
    damaged = PackedDataset.open(saved, verify=False, advice="Make it anew")
    for ds in (damaged, damaged.with_y(damaged.y + 1), damaged.subset([1])):
        with pytest.raises(
            pg.FormatError, match=r"graphs\.safetensors': the checksum of array walk_kappa .* damaged\. Make it anew$"
        ):
            ds.verify()


def test_damaged_ids_in_a_batch_name_the_file(saved: Path) -> None:
    data = bytearray(saved.read_bytes())
    start, stop = regions(bytes(data))["walk_node"]
    data[start:stop] = b"\x7f" * (stop - start)
    saved.write_bytes(data)
    with pytest.raises(pg.FormatError, match=r"cannot open '.*graphs\.safetensors': the checksum of array walk_node"):
        PackedDataset.open(saved, verify=False)[:]


def damaged(path: Path, name: str, value: int, row: int = 0) -> PackedDataset:
    """The file with one entry of an array changed, opened without comparing checksums."""
    overwritten(path, name, value, row)
    return PackedDataset.open(path, verify=False)


def overwritten(path: Path, name: str, value: int, row: int = 0) -> None:
    data = bytearray(path.read_bytes())
    width = 8 if name.endswith("_ptr") else 4
    start, stop = regions(bytes(data))[name]
    at = start + row * width if row >= 0 else stop + row * width
    data[at : at + width] = value.to_bytes(width, "little", signed=True)
    path.write_bytes(data)


@pytest.mark.parametrize(
    "derived",
    [
        lambda ds: ds,
        lambda ds: ds.subset([8]),
        lambda ds: ds.with_y(ds.y),
        lambda ds: ds.with_returns(2),
        lambda ds: ds.with_returns(2, walks=True),
        copy.copy,
        copy.deepcopy,
        lambda ds: pickle.loads(pickle.dumps(ds)),
    ],
)
@pytest.mark.parametrize("mapped", [False, True])
def test_saving_does_not_seal_damage(saved: Path, derived: Any, mapped: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was opened without a look at the checksums is looked at before it gets new ones."""
    if mapped:
        monkeypatch.setattr(format, "_SMALL", 0)
    ds = damaged(saved, "walk_pos", 1, 3)
    new = saved.with_name("new.safetensors")
    with pytest.raises(pg.FormatError, match=r"graphs\.safetensors': the checksum of array walk_pos .*; it is damaged"):
        derived(ds).save(new)
    assert not new.exists()


@pytest.mark.parametrize("value", [2**31 - 1, 2**30, 10**6, -1, -(2**31)])
@pytest.mark.parametrize("name", ["walk_kappa", "walk_pos", "spqr_theta", "spqr_depth", "block_depth", "cut_depth"])
def test_positions_and_depths_beyond_the_tables(saved: Path, name: str, value: int) -> None:
    """A batch has a table row for each position and a slice for each depth: these would take tens of gigabytes, or a minute."""
    with pytest.raises(pg.FormatError, match=rf"graph \d+: {name}\[\d+\] = {value} must be 0 to \d+, as there are"):
        damaged(saved, name, value, 5)


def test_more_nodes_than_were_saved(tmp_path: Path) -> None:
    """Without features nothing else says how many there are."""
    path = tmp_path / "bare.safetensors"
    PackedDataset.from_graphs(shapes()).save(path)
    with pytest.raises(pg.FormatError, match=r"its tables have 1099511627776 nodes; the manifest says \d+"):
        damaged(path, "node_ptr", 2**40, -1)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name in ("pipe", "zero"):
        with pytest.raises(pg.FormatError, match=f"{name} is not a regular file"):
            PackedDataset.open(tmp_path / name)


def test_a_long_claim_makes_a_short_message(saved: Path) -> None:
    data = saved.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    header["y"]["dtype"] = "I" * 10_000
    text = json.dumps(header).encode()
    head = len(text).to_bytes(8, "little") + text
    saved.write_bytes(head + data[8 + length : -4] + zlib.crc32(head).to_bytes(4, "little"))
    with pytest.raises(pg.FormatError, match="its header is not one of planegraph") as error:
        PackedDataset.open(saved)
    assert len(str(error.value)) < 500


def test_a_small_file_is_read_and_not_mapped(saved: Path, tmp_path: Path) -> None:
    """A mapped file that someone truncates ends the process with SIGBUS."""
    for verify in (True, False):
        path = tmp_path / f"{verify}"
        shutil.copy(saved, path)
        ds = PackedDataset.open(path, verify=verify)
        os.truncate(path, 100)
        ds.check()
        assert_equal(ds, dataset())


# ---- copies in other processes ----------------------------------------------------------------------------------------------


@pytest.fixture
def mapped(saved: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file as if it were large."""
    monkeypatch.setattr(format, "_SMALL", 0)
    return saved


def test_a_pickled_dataset_names_its_file(mapped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Worker processes map it too, instead of getting all its bytes through a pipe."""
    monkeypatch.chdir(mapped.parent)
    ds = PackedDataset.open(mapped.name)
    monkeypatch.chdir("/")
    for one in (ds, ds.with_y(ds.y + 1), ds.with_attrs(weight=np.ones(len(ds)))):
        again = pickle.loads(pickle.dumps(one))
        assert_equal(again, one)
        assert again[[3, 8]].index.tolist() == one[[3, 8]].index.tolist()
        assert list(again.attrs) == list(one.attrs)
        assert not again.x.flags.owndata
        again.verify()
    assert len(pickle.dumps(ds)) < 4000
    assert len(pickle.dumps(PackedLoader(ds))) < 6000
    assert_equal(pickle.loads(pickle.dumps(ds.subset([3]))), ds.subset([3]))


@pytest.mark.parametrize("how", ["deleted", "replaced"])
def test_a_file_that_is_gone_is_carried_along(mapped: Path, how: str) -> None:
    ds = PackedDataset.open(mapped)
    mapped.unlink() if how == "deleted" else ds.subset([1]).save(mapped)
    again = pickle.loads(pickle.dumps(ds))
    assert_equal(again, ds)
    assert again.file is None


def test_a_file_that_is_replaced_before_it_is_opened_again(mapped: Path) -> None:
    ds = PackedDataset.open(mapped)
    data = pickle.dumps(ds)
    ds.subset([1]).save(mapped)
    with pytest.raises(pg.FormatError, match=r"graphs\.safetensors': it was replaced after the dataset was pickled"):
        pickle.loads(data)
    mapped.unlink()
    with pytest.raises(pg.FormatError, match=r"graphs\.safetensors': it is not there, but the pickled dataset reads it"):
        pickle.loads(data)


def test_a_damaged_copy_in_the_place_of_a_pickled_file(mapped: Path) -> None:
    """Its header is the same; it was trusted as the file that had been verified, and saving sealed the damage."""
    data = pickle.dumps(PackedDataset.open(mapped))
    whole = mapped.read_bytes()
    copy = mapped.with_name("copy")
    copy.write_bytes(whole)
    copy.replace(mapped)
    assert_equal(pickle.loads(data), PackedDataset.open(mapped))
    copy.write_bytes(whole[:-20] + bytes([whole[-20] ^ 1]) + whole[-19:])
    copy.replace(mapped)
    with pytest.raises(pg.FormatError, match=r"graphs\.safetensors"):
        pickle.loads(data)


def test_a_copy_leaves_the_file_behind(saved: Path) -> None:
    part = PackedDataset.open(saved).subset([3])
    assert len(pickle.dumps(part)) < len(saved.read_bytes()) / 2
    assert_equal(pickle.loads(pickle.dumps(part)), part)


def test_overwritten_and_zeroed_stretches(saved: Path) -> None:
    data = saved.read_bytes()
    rng = np.random.default_rng(2)
    for _ in range(50):
        at, length = int(rng.integers(len(data) - 600)), int(rng.integers(64, 600))
        for patch in (bytes(length), rng.bytes(length)):
            changed = data[:at] + patch + data[at + length :]
            if changed != data:
                refused(saved, changed)


def rewritten(data: bytes, change, reseal: bool = True) -> bytes:
    """The file with another header, sealed again, as a careful forger would."""
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    manifest = json.loads(header["__metadata__"]["planegraph"])
    change(header, manifest)
    if "__metadata__" in header:
        header["__metadata__"]["planegraph"] = json.dumps(manifest)
    text = json.dumps(header).encode()
    head = len(text).to_bytes(8, "little") + text
    body = data[8 + length : -4]
    return head + body + (zlib.crc32(head).to_bytes(4, "little") if reseal else data[-4:])


def forge(place: str, **changes):
    return lambda header, manifest: (header if place == "header" else manifest).update(changes)


def in_array(name: str, **changes):
    return lambda header, manifest: header[name].update(changes)


def drop(name: str):
    def change(header: dict, manifest: dict) -> None:
        del manifest["arrays"][name]

    return change


OURS = "its header is not one of planegraph"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (forge("manifest", version=2), r"it has format version 2; this planegraph reads version 1\. Pack the data again"),
        (forge("manifest", version="1"), "format version '1'"),
        (forge("manifest", format="other"), "its format is 'other'"),
        (forge("manifest", labels={"nodes": "x"}), "not lists of names"),
        (forge("manifest", labels={"nodes": [1], "edges": []}), "not lists of names"),
        (forge("manifest", content=None), "no digest of its content"),
        (forge("manifest", labels=None), "not lists of names"),
        (forge("manifest", arrays=[]), OURS),
        (drop("walk_node"), OURS),
        (lambda header, manifest: header.pop("__metadata__"), "no packed dataset of planegraph"),
        (lambda header, manifest: header.pop("walk_node"), "lack walk_node"),
        (lambda header, manifest: header.pop("seal"), "truncated, or something was appended"),
        (forge("manifest", attrs=["other"]), OURS),
        (forge("header", x=3), OURS),
        (in_array("x", dtype="I33"), OURS),
        (in_array("x", dtype=["I32"]), OURS),
        (in_array("x", shape=[1, -1]), "the checksum of array x is"),
        (in_array("x", shape=[2**70]), OURS),
        (in_array("x", shape=[2**61, 2**61]), OURS),
        (in_array("x", shape=[1.5]), OURS),
        (in_array("x", shape=None), OURS),
        (in_array("x", data_offsets=[8]), OURS),
        (in_array("walk_node", dtype="F32"), "walk_node must be int32; found float32"),
    ],
)
def test_forged_headers(saved: Path, change, message: str) -> None:
    refused(saved, rewritten(saved.read_bytes(), change), message)


def test_a_changed_header_breaks_the_seal(saved: Path) -> None:
    refused(saved, rewritten(saved.read_bytes(), forge("manifest", content="0"), reseal=False), "the checksum of its header")


def test_offsets_are_checked_even_if_checksums_fit(saved: Path, tmp_path: Path) -> None:
    ds = dataset()
    ds.tables.node_block_ptr[-1] += 1
    ds.save(tmp_path / "odd")
    for verify in (True, False):
        with pytest.raises(pg.FormatError, match=r"node_block_node must have shape"):
            PackedDataset.open(tmp_path / "odd", verify)


def test_foreign_files(tmp_path: Path) -> None:
    path = tmp_path / "foreign"
    rng = np.random.default_rng(3)
    texts = [
        b"",
        b"1234567",
        bytes(8),
        bytes(1000),
        b"\x89PNG\r\n" + rng.bytes(500),
        b"PK\x03\x04" + rng.bytes(500),
        b"split,smiles\n" * 9,
    ]
    texts += [(2).to_bytes(8, "little") + b"{}", (2).to_bytes(8, "little") + b"[]", (4).to_bytes(8, "little") + b"null"]
    texts += [
        (50000).to_bytes(8, "little") + b"[" * 50000,
        (2**63).to_bytes(8, "little") + b"{}",
        (3).to_bytes(8, "little") + b"{\xff}",
    ]
    texts += [rng.bytes(int(n)) for n in rng.integers(8, 3000, 50)]
    for data in texts:
        refused(path, data)
    numpy = pytest.importorskip("safetensors.numpy")
    numpy.save_file({"weight": np.ones((2, 2))}, path)
    refused(path, path.read_bytes(), "may be a safetensors file, but holds no packed dataset of planegraph")


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        PackedDataset.open(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError):
        PackedDataset.open(tmp_path)


# ---- writers that fail or die --------------------------------------------------------------------------------------------


class FullDisk:
    """A file that can be written to until the room is used up."""

    def __init__(self, file: IO[bytes], room: list[int]) -> None:
        self.file, self.room = file, room

    def write(self, data: Any) -> int:
        self.room[0] -= memoryview(data).nbytes
        if self.room[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self.file.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    def __enter__(self) -> FullDisk:
        return self

    def __exit__(self, *error: object) -> None:
        self.file.close()


@pytest.mark.parametrize("where", ["header", "middle", "seal", "manifest"])
def test_a_full_disk_leaves_the_old_file(saved: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    before = {p.name: p.read_bytes() for p in saved.parent.iterdir()}
    size = saved.stat().st_size
    room = [{"header": 100, "middle": size // 2, "seal": size - 1, "manifest": size + 100}[where]]
    monkeypatch.setattr(atomic, "open", lambda path, mode: FullDisk(open(path, mode), room), raising=False)  # noqa: SIM115
    with pytest.raises(OSError, match="No space left"):
        dataset().save(saved)
    assert {p.name: p.read_bytes() for p in saved.parent.iterdir()} == before


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_other_failures_leave_the_old_file(saved: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    before = {p.name: p.read_bytes() for p in saved.parent.iterdir()}

    def fail(*_: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(format.os, step, fail)
    with pytest.raises(OSError, match="error"):
        dataset(by_dart=True).save(saved)
    assert {p.name: p.read_bytes() for p in saved.parent.iterdir()} == before


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_permission(saved: Path) -> None:
    saved.parent.chmod(0o500)
    try:
        with pytest.raises(PermissionError):
            dataset().save(saved)
    finally:
        saved.parent.chmod(0o700)
    assert_equal(PackedDataset.open(saved), dataset())


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        dataset().save(tmp_path / "no" / "file")


KILLING = """
import os, random, signal, sys, time
from planegraph.data import PackedDataset

target, *sources = sys.argv[1:]
versions = [PackedDataset.open(path) for path in sources]
whole = [open(path, "rb").read() for path in sources]
random.seed(4)
seen = set()
start = time.perf_counter()
versions[0].save(target)
usual = time.perf_counter() - start
for k in range(30):
    writer = os.fork()
    if writer == 0:
        while True:
            k += 1
            versions[k % 2].save(target)
    time.sleep(random.uniform(0, 3 * usual))
    os.kill(writer, signal.SIGKILL)
    os.waitpid(writer, 0)
    seen.add(whole.index(open(target, "rb").read()))
    PackedDataset.open(target)
print(sorted(seen))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
def test_a_killed_writer_leaves_a_whole_file(tmp_path: Path) -> None:
    """A process that saves two datasets in turn is killed at random moments; one of the two must be there each time."""
    paths = [tmp_path / name for name in ("target", "one", "two")]
    for seed, path in enumerate(paths[1:]):
        PackedDataset.from_graphs([pg.families.random_planar(200, seed=seed)] * 40).save(path)
    shutil.copy(paths[1], paths[0])
    command = [sys.executable, "-c", KILLING, *map(os.fspath, paths)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[0, 1]"
    leftovers = {p.name for p in tmp_path.iterdir()} - {f"{p.name}{end}" for p in paths for end in ("", ".json")}
    assert all(name.startswith(".target.") and name.endswith(".tmp") for name in leftovers)


def test_files_are_replaced_together_or_not_at_all(tmp_path, monkeypatch):
    a, b, c = (tmp_path / name for name in "abc")
    replace_files({a: "tëxt", b: b"\x00\xff", c: lambda file: file.write(b"written")})
    assert [path.read_bytes() for path in (a, b, c)] == ["tëxt".encode(), b"\x00\xff", b"written"]

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*b'") as found:
        replace_files({b: "new", a: "new"})
    assert found.value.errno == errno.ENOSPC
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "c"]
    assert a.read_text() == "tëxt"
