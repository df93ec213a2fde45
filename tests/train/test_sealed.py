"""What resuming, predicting and reports read from the folder of a run is what was written: one altered digit is refused."""

from __future__ import annotations

import json
import os
import re
import shutil
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import save

from planegraph.data import PackedDataset
from planegraph.errors import FormatError, PlanegraphError
from planegraph.io.checksums import check_text, json_text, read_json, sealed_text
from planegraph.nn import BasePlanE
from planegraph.runs.checkpoint import CHECKPOINT, load_checkpoint, save_checkpoint
from planegraph.runs.finished import read_finished
from planegraph.runs.folder import _tests as read_tests
from planegraph.runs.folder import read_run
from planegraph.runs.log import read_log
from planegraph.runs.settings import load_run_settings
from planegraph.train import train

from .tasks import regression, small

FACTS = {"epoch": 14, "best": [{"epoch": 3, "metric": 0.25}], "name": 'a "planegraph-seal":"00000000" in a text'}


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    train(regression(), small(epochs=2), folder, device="cpu")
    return folder


@pytest.fixture
def copy(run, tmp_path) -> Path:
    return Path(shutil.copytree(run, tmp_path / "copy"))


def altered(data: bytes, stride: int = 1):
    """The file with one digit replaced by the next, for every ``stride``-th digit."""
    for found in list(re.finditer(rb"\d", data))[::stride]:
        at = found.start()
        yield data[:at] + b"%d" % ((int(data[at : at + 1]) + 1) % 10) + data[at + 1 :]


def test_every_altered_bit_of_a_checkpoint_is_refused(tmp_path):
    path = tmp_path / CHECKPOINT
    save_checkpoint(path, {"a": torch.arange(6.0), "b": torch.tensor([7])}, FACTS)
    tensors, facts = load_checkpoint(path)
    assert facts == FACTS
    assert tensors["a"].tolist() == list(range(6))
    data = path.read_bytes()
    for at in range(len(data)):
        for bit in range(8):
            path.write_bytes(data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :])
            with pytest.raises(FormatError, match=CHECKPOINT):
                load_checkpoint(path)


def test_every_altered_digit_of_a_checkpoint_is_refused(tmp_path):
    path = tmp_path / CHECKPOINT
    save_checkpoint(path, {"a": torch.arange(6.0)}, FACTS)
    for spoilt in altered(path.read_bytes()):
        path.write_bytes(spoilt)
        with pytest.raises(FormatError, match=CHECKPOINT):
            load_checkpoint(path)


def test_a_checkpoint_of_an_earlier_version_is_refused(tmp_path):
    path = tmp_path / CHECKPOINT
    path.write_bytes(save({"a": torch.arange(6.0)}, {"planegraph-checkpoint": json.dumps({"version": 2} | FACTS)}))
    with pytest.raises(FormatError, match="has checkpoint version 2; this planegraph reads 3"):
        load_checkpoint(path)


def test_every_altered_bit_of_the_test_predictions_is_refused(copy):
    """A seal whose name is another one was taken for a file without a seal."""
    path = copy / "models/seed0/test.safetensors"
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    for at in [*range(start), *range(start, len(data), 7)]:
        path.write_bytes(data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :])
        with pytest.raises(FormatError, match=r"test\.safetensors holds no predictions"):
            read_tests(copy)


def test_nothing_is_trained_on_damaged_tables(tmp_path):
    """Benchmarks are opened without their checksums."""
    task, path = regression(), tmp_path / "data.safetensors"
    task.dataset.save(path)
    data = bytearray(path.read_bytes())
    start = 8 + int.from_bytes(data[:8], "little")
    at = start + json.loads(data[8:start])["y"]["data_offsets"][0]
    data[at] ^= 1
    path.write_bytes(data)
    damaged = replace(task, dataset=PackedDataset.open(path, verify=False))
    with pytest.raises(FormatError, match=r"data\.safetensors': the checksum of array y is"):
        train(damaged, small(epochs=1), tmp_path / "run", device="cpu")
    assert not (tmp_path / "run" / CHECKPOINT).exists()


def test_an_altered_epoch_does_not_resume(copy):
    path = copy / CHECKPOINT
    path.write_bytes(path.read_bytes().replace(b'\\"epoch\\": 2', b'\\"epoch\\": 1', 1))
    with pytest.raises(FormatError, match=f"{CHECKPOINT} is damaged: its checksum is"):
        train(regression(), small(epochs=2), copy, resume=True, device="cpu")


@pytest.mark.parametrize("name", ["result.json", "settings.yaml", "machine.json", "log.jsonl"])
def test_every_altered_digit_of_a_run_is_refused_or_changes_nothing(copy, name):
    """A digit in the word crc32, or beyond the precision of a number, changes no value."""
    path = copy / name
    data, before = path.read_bytes(), vars(read_run(copy))
    refused = []
    for spoilt in altered(data, 3):
        path.write_bytes(spoilt)
        try:
            found = vars(read_run(copy))
        except PlanegraphError as error:
            refused.append(str(error))
        else:
            kept = {key: {k: v for k, v in found[key].items() if not k.startswith("crc")} for key in ("result", "settings")}
            assert kept == {key: before[key] for key in kept}
            assert repr((found["curves"], found["sessions"])) == repr((before["curves"], before["sessions"]))
    assert len(refused) > 5
    assert all(name in message for message in refused)


@pytest.mark.parametrize("name", ["result.json", "machine.json", "log.jsonl"])
def test_an_altered_file_does_not_resume(copy, name):
    path = copy / name
    data = path.read_text()
    key = {"result.json": "test_loss", "machine.json": "cores", "log.jsonl": "val_loss"}[name]
    path.write_text(re.sub(rf'("{key}": )\d', r"\g<1>77", data, count=1))
    assert path.read_text() != data
    with pytest.raises(FormatError, match=rf"{name}.* is damaged: its checksum is \d+, not \d+"):
        train(regression(), small(epochs=2), copy, resume=True, device="cpu")


def test_an_altered_setting_is_refused_unless_it_is_meant(copy):
    path = copy / "settings.yaml"
    data = path.read_text().replace("epochs: 2", "epochs: 9")
    path.write_text(data)
    with pytest.raises(
        PlanegraphError, match=r"settings\.yaml is damaged: its checksum is \w{8}, not \w{8}\. To change .* use --set"
    ):
        load_run_settings(copy)
    path.write_text("".join(data.splitlines(keepends=True)[1:]))
    assert load_run_settings(copy).train.epochs == 9


def test_files_of_earlier_versions_are_read(copy):
    """They have no checksums."""
    for name in ("result.json", "machine.json"):
        values = json.loads((copy / name).read_text())
        del values["crc32"]
        (copy / name).write_text(json.dumps(values))
    rows = [json.loads(line) for line in (copy / "log.jsonl").read_text().splitlines()]
    (copy / "log.jsonl").write_text("".join(json.dumps({k: v for k, v in r.items() if k != "crc32"}) + "\n" for r in rows))
    settings = (copy / "settings.yaml").read_text().splitlines(keepends=True)
    (copy / "settings.yaml").write_text("".join(settings[1:]))
    train(regression(), load_run_settings(copy), copy, resume=True, device="cpu")
    assert len(read_log(copy / "log.jsonl")) == 2
    train(regression(), small(epochs=4), copy, resume=True, device="cpu")
    lines = (copy / "log.jsonl").read_text().splitlines()
    assert ["crc32" in line for line in lines] == [False, False, True, True]  # what was not checked is not sealed


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "{", "[]", "3", b"\xff\xfe"])
def test_what_is_no_object_is_named(tmp_path, text):
    path = tmp_path / "result.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(
        FormatError, match=r"result\.json is damaged: it (is nested too deeply|must hold an object|is not JSON)"
    ) as error:
        read_json(path)
    assert len(str(error.value)) < 1000


@pytest.mark.parametrize("name", ["result.json", "machine.json"])
def test_deep_nesting_in_a_run_is_no_internal_error(copy, name):
    (copy / name).write_text("[" * 100_000)
    with pytest.raises(FormatError, match=f"{name} is damaged: it is nested too deeply"):
        read_run(copy)
    with pytest.raises(FormatError, match=f"{name} is damaged: it is nested too deeply"):
        train(regression(), small(epochs=2), copy, resume=True, device="cpu")
    (copy / "molecules.json").write_text("[" * 100_000)
    with pytest.raises(FormatError, match=r"molecules\.json is damaged: it is nested too deeply"):
        read_finished(copy)


@pytest.mark.parametrize(
    ("name", "read"),
    [
        *((name, read_run) for name in ("result.json", "machine.json", "log.jsonl")),
        ("settings.yaml", load_run_settings),
        (CHECKPOINT, lambda folder: load_checkpoint(folder / CHECKPOINT)),
    ],
)
def test_a_pipe_in_place_of_a_file_is_not_waited_for(copy, name, read):
    """Nor a device without an end, which would fill the memory."""
    for make in (os.mkfifo, lambda path: os.symlink("/dev/zero", path)):
        (copy / name).unlink()
        make(copy / name)
        with pytest.raises(FormatError, match=f"{name} is not a regular file"):
            read(copy)


def load_model(folder: Path) -> BasePlanE:
    return BasePlanE.from_pretrained(folder / "models/seed0")


@pytest.mark.parametrize(
    ("name", "size", "read"),
    [
        ("settings.yaml", 2**36, load_run_settings),
        *((name, 2**36, read_run) for name in ("result.json", "machine.json", "log.jsonl")),
        *((CHECKPOINT, size, lambda folder: load_checkpoint(folder / CHECKPOINT)) for size in (2**33, 2**36)),
        *(
            (f"models/seed0/{name}", 2**33, read)
            for name, read in (("test.safetensors", read_run), ("model.safetensors", load_model))
        ),
    ],
)
@pytest.mark.parametrize("whole", [True, False])
def test_a_file_with_a_hole_does_not_fill_the_memory(copy, name, size, read, whole):
    """Its size costs nothing on a disk."""
    with open(copy / name, "r+b" if whole else "wb") as file:
        file.truncate(size)
    tracemalloc.start()
    with pytest.raises(PlanegraphError, match=f"{Path(name).name}( has|.*damaged|.*no more than)"):
        read(copy)
    assert tracemalloc.get_traced_memory()[1] < 2**26
    tracemalloc.stop()


def test_what_a_library_repeats_is_cut(copy):
    """A header of a million characters is not a message of as many."""
    text = b'{"crc32": "' + b"x" * 10**6 + b'"}'
    for path, read in ((copy / CHECKPOINT, load_checkpoint), (copy / "models/seed0/test.safetensors", lambda _: read_run(copy))):
        path.write_bytes(len(text).to_bytes(8, "little") + text)
        with pytest.raises(FormatError, match=path.name) as error:
            read(path)
        assert len(str(error.value)) < 2000


def test_json_comes_back(tmp_path):
    values = {"a": [1, 2.5, None], "b": {"x": float("inf")}, "text": "ü\n"}
    path = tmp_path / "values.json"
    path.write_text(json_text(values | {"c": {10: "ten", 2: "two"}}))
    assert read_json(path, required=True) == values | {"c": {"10": "ten", "2": "two"}}
    path.write_text(json.dumps(values))
    assert read_json(path) == values
    with pytest.raises(FormatError, match="its checksum is"):
        read_json(path, required=True)


def test_a_text_with_and_without_its_checksum():
    check_text(b"a: 1\n")
    check_text(sealed_text("a: 1\n"))
    sealed = sealed_text("a: 1\nb: 2\n")
    for spoilt in (sealed.replace(b"1", b"2", 1), sealed[:-5], sealed[:-1], sealed + b"\n"):
        with pytest.raises(FormatError, match=r"its checksum is \w{8}, not \w{8}"):
            check_text(spoilt)


def test_settings_that_are_cut_off_are_refused(copy):
    """Also at the end of a line, where the rest is YAML."""
    path = copy / "settings.yaml"
    lines = path.read_text().splitlines(keepends=True)
    for count in range(2, len(lines)):
        path.write_text("".join(lines[:count]))
        with pytest.raises(PlanegraphError, match=r"settings\.yaml is damaged: its checksum is"):
            load_run_settings(copy)
