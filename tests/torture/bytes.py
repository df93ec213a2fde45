"""Damaged bytes in every kind of file that planegraph reads back: flipped, cut off, put in, repeated, zeroed, swapped.

What has a checksum must be refused by an error that names the file, or the damage must be without effect: what is read is what was
written. What is read without its checksums, or has been given new ones after the damage, is used: batches, training, predictions end in
an error of the package or in numbers, within bounds of time and memory. A run resumes to the figures of one that was never damaged, or
not at all.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import json
import pickle
import random
import shutil
import tempfile
import warnings
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from unittest import mock

import numpy as np
import torch
from datasets.examples import Rings, write_lengths
from train.tasks import regression, small, stopped_at
from train.test_resume import outcome

import planegraph as pg
from planegraph.code import decode, encode
from planegraph.data import PackedDataset, PackedLoader
from planegraph.data import format as packed_format
from planegraph.errors import FormatError, PlanegraphError
from planegraph.nn import BasePlanE
from planegraph.predict import Predictor
from planegraph.report import write_report
from planegraph.report.run_files import Run, read_run
from planegraph.sealed import SEAL, UNSEALED, sealed_file
from planegraph.train import train
from planegraph.train.errors import Stopped
from planegraph.train.log import FIELDS
from planegraph.train.loop import CHECKPOINT
from planegraph.train.settings import load_run_settings

from .bounds import bounded
from .sound import SMILES, said, train_command, write_table

_SPECIAL = (0, 1, 7, 0x7F, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**62, 2**63 - 1, 2**64 - 1)
_HOSTILE = (
    None,
    True,
    0,
    -1,
    1.5,
    1e308,
    float("nan"),
    10**6,
    2**31,
    2**63,
    10**40,
    "",
    "x" * 1000,
    "\x1b[31m",
    [],
    [[]],
    {},
    {"a": {}},
)


def trial(seed: int) -> str | None:
    rng = random.Random(seed)
    attack = rng.choice(_ATTACKS)
    sound = _sound()  # before there are bounds
    with tempfile.TemporaryDirectory() as folder, bounded(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = attack(rng, Path(folder), sound)
        except PlanegraphError as error:
            return f"{attack.__name__}: {error!r} where none may be"
    return found and f"{attack.__name__}: {found}"


# ---- sound files ------------------------------------------------------------------------------------------------------------------


@cache
def _sound() -> Path:
    """A folder with a sound file of each kind, made once a process."""
    torch.set_num_threads(1)
    root = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, root, True)
    for name, options in _KINDS.items():
        ds = regression(24, **options).dataset
        ds.with_attrs(weight=np.arange(len(ds), dtype=np.float64)).save(root / f"{name}.safetensors")
        torch.manual_seed(0)
        BasePlanE.for_data(ds, hidden=4, layers=2, pos_dim=2).save_pretrained(root / name)
    for stop in (False, True):
        _made_run(root / ("stopped" if stop else "finished"), stop)
    train(regression(), small(epochs=3), root / "whole", device="cpu", report=False)
    write_table(root / "table.csv")
    assert said(*train_command(root / "table.csv", root / "table"))[0] == 0
    write_lengths(root / "raw", 3, 5, 4, 8)
    Rings(root / "raw", root / "packed").load()
    return root


_KINDS = {"plain": {}, "edges": {"edges": True}, "wide": {"targets": 3}}


def _made_run(folder: Path, stop: bool) -> None:
    def run() -> None:
        train(regression(), small(epochs=2), folder, device="cpu", report=False)

    if stop:
        with contextlib.suppress(Stopped):
            stopped_at(4, run)
    else:
        run()


# ---- damage -----------------------------------------------------------------------------------------------------------------------


def _damaged(data: bytes, rng: random.Random, counts: tuple[int, ...] = (1, 1, 1, 2, 5)) -> bytes:
    """The bytes with one thing or a few wrong, more often in the parts of a file that are short."""
    found = bytearray(data)
    for _ in range(rng.choice(counts)):
        begin, end = rng.choice(_regions(data))
        begin, end = min(begin, len(found)), min(end, len(found))
        if begin < end:
            rng.choice(_DAMAGES)(found, rng.randrange(begin, end), rng)
    return bytes(found)


def _regions(data: bytes) -> list[tuple[int, int]]:
    """The whole; and the length prefix, the header and each array of a safetensors file, or else the ends and a line."""
    whole = [(0, len(data))]
    try:
        start = 8 + int.from_bytes(data[:8], "little")
        header = json.loads(data[8:start])
        arrays = [(start + a, start + b) for a, b in (v["data_offsets"] for k, v in header.items() if k != "__metadata__")]
        return [*whole, (0, 8), (8, start), (8, start), *arrays]
    except (ValueError, MemoryError):
        return [*whole, (0, 64), (max(len(data) - 64, 0), len(data))]


def _flip(data: bytearray, at: int, rng: random.Random) -> None:
    data[at] ^= 1 << rng.randrange(8)


def _replace(data: bytearray, at: int, rng: random.Random) -> None:
    data[at] = rng.choice((0, 255, rng.randrange(256), ord(rng.choice('0123456789,:"[]{}- \n'))))


def _number(data: bytearray, at: int, rng: random.Random) -> None:
    width = rng.choice((4, 8))
    value = (rng.choice(_SPECIAL) % 2 ** (8 * width)).to_bytes(width, "little")
    at -= at % 4
    data[at : at + width] = value[: len(data) - at]


def _digit(data: bytearray, at: int, rng: random.Random) -> None:
    where = next((k for k in range(at, len(data)) if chr(data[k]).isdigit()), at)
    data[where] = ord(rng.choice("0123456789"))


def _cut(data: bytearray, at: int, rng: random.Random) -> None:
    lines = data.rfind(b"\n", 0, at) + 1  # whole lines are cut where it hurts most
    del data[rng.choice((at, lines)) :]


def _leave_out(data: bytearray, at: int, rng: random.Random) -> None:
    del data[at : at + rng.choice((1, 2, 8, 64, 4096))]


def _put_in(data: bytearray, at: int, rng: random.Random) -> None:
    data[at:at] = rng.choice((b"\0", b"\n", b"0", b'"', rng.randbytes(rng.choice((1, 8, 100)))))


def _repeat(data: bytearray, at: int, rng: random.Random) -> None:
    line = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at) + 1
    begin, end = rng.choice(((at, at + rng.choice((1, 8, 512))), line if line[1] else (0, len(data))))
    data[begin:begin] = data[begin:end]


def _zero(data: bytearray, at: int, rng: random.Random) -> None:
    page = rng.choice((16, 512, 4096))
    begin, end = at // page * page, min(at // page * page + page, len(data))
    data[begin:end] = bytes(end - begin)


def _swap(data: bytearray, at: int, rng: random.Random) -> None:
    data[:] = data[at:] + data[:at]


_DAMAGES: tuple[Callable[[bytearray, int, random.Random], None], ...] = (
    _flip, _flip, _replace, _number, _digit, _cut, _leave_out, _put_in, _repeat, _zero, _swap
)  # fmt: skip


def _hostile(value: object, rng: random.Random) -> object:
    """The JSON value with one of its parts replaced."""
    if isinstance(value, dict | list) and value and rng.random() < 0.9:
        keys = list(value) if isinstance(value, dict) else range(len(value))
        key = rng.choice(keys)
        changed = value.copy()
        if rng.random() < 0.1:
            changed.pop(key)
        else:
            changed[key] = _hostile(value[key], rng)
        return changed
    return rng.choice(_HOSTILE)


# ---- packed datasets --------------------------------------------------------------------------------------------------------------


def _packed(rng: random.Random, folder: Path, root: Path) -> str | None:
    """With checksums it is refused or equal; without, or with new ones, it is used."""
    kind, how = rng.choice(list(_KINDS)), rng.choice(("verified", "unverified", "unverified", "resealed"))
    sound, path = root / f"{kind}.safetensors", folder / "data.safetensors"
    path.write_bytes((_resealed_packed if how == "resealed" else _damaged)(sound.read_bytes(), rng))
    with mock.patch.object(packed_format, "_SMALL", rng.choice((0, 2**20))):  # mapped, or read
        try:
            ds = PackedDataset.open(path, verify=how != "unverified")
        except FormatError as error:
            return _unnamed(error, path)
        equal = _contents(ds) == _contents(PackedDataset.open(sound))
        if how == "verified":
            return None if equal else "damage passed the checksums"
        use = rng.choice((_batches, _batches, _trained, _checked, _saved, _pickled))
        try:
            use(rng, folder, ds, BasePlanE.from_pretrained(root / kind))
        except PlanegraphError:
            return None
    if use is _saved and how == "unverified" and not equal:
        return "damage was saved with new checksums"
    return None


def _contents(ds: PackedDataset) -> tuple[object, ...]:
    arrays = {name: (a.dtype, a.shape, a.tobytes()) for name, a in packed_format.arrays_of(ds).items()}
    return arrays, ds.node_labels, ds.edge_labels, tuple(ds.attrs)


def _resealed_packed(data: bytes, rng: random.Random) -> bytes:
    """Damage in one array or in the manifest, and checksums that vouch for it."""
    manifest, arrays = packed_format._read(data)
    arrays = {name: array.copy() for name, array in arrays.items()}
    if rng.random() < 0.5:
        array = rng.choice([a for a in arrays.values() if a.size]).reshape(-1).view(np.uint8)
        spoilt = bytearray(array.tobytes())
        for _ in range(rng.choice((1, 2, 9))):
            rng.choice((_flip, _replace, _number, _zero, _swap))(spoilt, rng.randrange(len(spoilt)), rng)
        array[:] = np.frombuffer(spoilt, np.uint8)[: len(array)]
        for name, values in arrays.items():
            manifest["arrays"][name]["crc32"] = packed_format.checksum(values)
    else:
        manifest = _hostile(manifest, rng)
    header = packed_format._header(arrays, manifest)
    seal = zlib.crc32(header).to_bytes(4, "little")
    return b"".join([header, *(a.tobytes() for a in arrays.values()), seal])


def _batches(rng: random.Random, folder: Path, ds: PackedDataset, model: BasePlanE) -> None:
    if len(ds):
        with torch.no_grad():
            model(ds[[rng.randrange(len(ds)) for _ in range(rng.choice((1, 3, 30)))]])


def _trained(rng: random.Random, folder: Path, ds: PackedDataset, model: BasePlanE) -> None:
    model.train()
    optimizer = torch.optim.Adam(model.parameters())
    for batch in PackedLoader(ds, batch_size=8, shuffle=True, seed=rng.randrange(100)):
        model(batch).float().mean().backward()
        optimizer.step()


def _checked(rng: random.Random, folder: Path, ds: PackedDataset, model: BasePlanE) -> None:
    ds.check()


def _saved(rng: random.Random, folder: Path, ds: PackedDataset, model: BasePlanE) -> None:
    part = rng.random() < 0.5 and len(ds) > 0
    (ds.subset(range(len(ds))) if part else ds).save(folder / "again.safetensors")
    PackedDataset.open(folder / "again.safetensors")


def _pickled(rng: random.Random, folder: Path, ds: PackedDataset, model: BasePlanE) -> None:
    _batches(rng, folder, pickle.loads(pickle.dumps(ds)), model)


# ---- models -----------------------------------------------------------------------------------------------------------------------


def _model(rng: random.Random, folder: Path, root: Path) -> str | None:
    """Refused or equal; with a new seal, refused or used."""
    kind, resealed = rng.choice(list(_KINDS)), rng.random() < 0.5
    data, path = (root / kind / "model.safetensors").read_bytes(), folder / "model.safetensors"
    path.write_bytes(_resealed_model(data, rng) if resealed else _damaged(data, rng))
    try:
        model = BasePlanE.from_pretrained(folder)
    except FormatError as error:
        return _unnamed(error, path)
    if resealed:
        with contextlib.suppress(PlanegraphError), torch.no_grad():
            model(PackedDataset.open(root / f"{kind}.safetensors")[:5])
        return None
    sound = BasePlanE.from_pretrained(root / kind)
    same = model.config == sound.config and all(torch.equal(v, model.state_dict()[k]) for k, v in sound.state_dict().items())
    return None if same else "damage passed the seal"


def _resealed_model(data: bytes, rng: random.Random) -> bytes:
    from safetensors.torch import load, save

    state, told = load(data), json.loads(packed_format.metadata(data)["planegraph"])
    if rng.random() < 0.5:
        told = _hostile(told, rng)
    else:
        name = rng.choice(list(state))
        spoilt = rng.choice((float("nan"), float("inf"), 3e38, -1e30, 0.0)) * torch.ones_like(state[name], dtype=torch.float32)
        state[name] = rng.choice((spoilt.to(state[name].dtype), state[name][:1].clone(), state[name][None].clone()))
    out = io.BytesIO()
    sealed_file(save(state, {"planegraph": json.dumps(told), SEAL: UNSEALED}))(out)
    return out.getvalue()


# ---- runs -------------------------------------------------------------------------------------------------------------------------


def _resumed(rng: random.Random, folder: Path, root: Path) -> str | None:
    """A run with a damaged file is not resumed, or comes to the figures of one that was never stopped."""
    run = folder / "run"
    name = _copied_with_damage(root / rng.choice(("stopped", "finished")), run, rng)
    told = []
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            settings = load_run_settings(run).with_overrides(["train.epochs=3"])
            train(regression(), settings, run, resume=True, device="cpu", report=False)
    except PlanegraphError as error:
        return None if _names(error, name) else f"{name}: no file is named: {error}"
    (tensors, facts, log, lanes), (others, *wanted) = outcome(run), outcome(root / "whole")
    log = [{key: value for key, value in row.items() if key in FIELDS} for row in log]  # damage may rename a checksum
    wrong = [what for what, a, b in zip(("facts", "log", "lanes"), (facts, log, lanes), wanted, strict=True) if a != b]
    wrong += [key for key, value in others.items() if not torch.equal(value, tensors[key])]
    if any("log is not whole" in str(warning.message) for warning in told):
        wrong = [what for what in wrong if what != "log"]
    return f"{name} was damaged, and {', '.join(wrong)} differ from the whole run" if wrong else None


def _copied_with_damage(source: Path, run: Path, rng: random.Random) -> str:
    """A copy of a run's folder with one thing wrong in a file, whose name is given: two can make JSON or text that has no checksum."""
    shutil.copytree(source, run)
    files = sorted(path for path in run.rglob("*") if path.is_file())
    path = rng.choice(files)
    path.write_bytes(_damaged(path.read_bytes(), rng, (1,)))
    return path.name


def _names(error: Exception, name: str) -> bool:
    """Whether the message names the damaged file, or that a run is none without it."""
    return name in str(error) or CHECKPOINT in str(error)


def _reported(rng: random.Random, folder: Path, root: Path) -> str | None:
    """What a report reads is refused or as it was written, and the page is made of it."""
    run, source = folder / "run", root / rng.choice(("finished", "table"))
    name = _copied_with_damage(source, run, rng)
    try:
        found = read_run(run)
        write_report(run)
    except PlanegraphError as error:
        return None if name in str(error) else f"{name}: it is not named: {error}"
    if name == "log.jsonl":  # of an unfinished run a part is read
        return None
    wrong = [key for key in ("result", "settings", "sessions", "tests") if _plain(found, key) != _plain(read_run(source), key)]
    return f"{name} was damaged, and the report has other {', '.join(wrong)}" if wrong else None


def _plain(run: Run, key: str) -> str:
    """A part of a run as text, without the name of its checksum, which damage may have changed."""
    value = getattr(run, key)
    if key in ("result", "settings"):
        value = value and {k: v for k, v in value.items() if not (isinstance(v, int) and k not in ("outputs", "together"))}
    return repr(value)


def _predicted(rng: random.Random, folder: Path, root: Path) -> str | None:
    """Predictions are refused or those of the sound run."""
    run = folder / "run"
    name = _copied_with_damage(root / "table", run, rng)
    try:
        found = Predictor.load(run, "cpu")
        mean, half_widths = found(SMILES[:5]).mean, found.half_widths
    except PlanegraphError as error:
        return None if name in str(error) else f"{name}: it is not named: {error}"
    sound = Predictor.load(root / "table", "cpu")
    same = np.array_equal(mean, sound(SMILES[:5]).mean) and half_widths == sound.half_widths
    return None if same else f"{name} was damaged, and predictions are others"


def _table_resumed(rng: random.Random, folder: Path, root: Path) -> str | None:
    """By the command line, which reads settings and table as the folder says: an error, or the run as it was."""
    run = folder / "run"
    name = _copied_with_damage(root / "table", run, rng)
    code, _, err = said("train", "--resume", "--out", str(run), "-q", "--device", "cpu", "--no-baselines")
    if code not in (0, 2) or "internal error" in err:
        return f"{name}: exit code {code}\n{err[-2000:]}"
    if code == 2:
        return None if name in err or CHECKPOINT in err else f"{name}: it is not named: {err[-2000:]}"
    lanes = [json.loads((where / "result.json").read_text())["lanes"] for where in (run, root / "table")]
    return None if lanes[0] == lanes[1] else f"{name} was damaged, and figures are others"


# ---- codes and graph6 -------------------------------------------------------------------------------------------------------------


def _code(rng: random.Random, folder: Path, root: Path) -> str | None:
    g = pg.families.random_planar(rng.randint(3, 20), rng.random(), rng.randrange(1000))
    if rng.random() < 0.5:
        g = pg.Graph(g.num_nodes, g.edges, node_labels=[rng.randrange(300) for _ in range(g.num_nodes)])
    code = _damaged(pg.canonical_form(g).code, rng)
    try:
        found = decode(code)
    except FormatError:
        return None
    if encode(found) != code:
        return f"{code.hex()} is read as another code"
    with contextlib.suppress(PlanegraphError):
        pg.decompose(found, "set").check()
    return None


def _graph6(rng: random.Random, folder: Path, root: Path) -> str | None:
    lines = [pg.families.random_planar(rng.choice((3, 9, 70)), 0.5, seed).to_graph6() for seed in range(5)]
    path = folder / "graphs.g6"
    path.write_bytes(_damaged(b"\n".join(line.encode() if isinstance(line, str) else line for line in lines) + b"\n", rng))
    code, _, err = said(*rng.choice((("canon", "--code"), ("decompose", "--json", "--on-nonplanar", "set"))), str(path))
    return f"exit code {code}\n{err[-2000:]}" if code not in (0, 1, 2) or "internal error" in err else None


# ---- prepared datasets ------------------------------------------------------------------------------------------------------------


def _prepared(rng: random.Random, folder: Path, root: Path) -> str | None:
    """A packed dataset, its note or its raw file: what is loaded is that of the raw file, or an error says what is damaged."""
    shutil.copytree(root / "raw", folder / "raw")
    name = _copied_with_damage(root / "packed", folder / "packed", rng)
    raw = rng.random() < 0.2
    if raw:
        path = folder / "raw" / "rings" / "lengths.txt"
        path.write_bytes(rng.choice((b"3\n4\n", b"5\n3\n4\n9\n")))
    elif rng.random() < 0.3:
        shutil.rmtree(folder / "raw")
    rings = Rings(folder / "raw", folder / "packed")
    try:
        _ = rings.status, rings.summary
        ds = rings.load(verify=rng.random() < 0.5 or raw)
        ds.verify()
    except PlanegraphError as error:
        return None if name in str(error) or "lengths.txt" in str(error) else f"{name} is not named: {error}"
    wanted = [int(line) for line in path.read_text().split()] if raw else [3, 5, 4, 8]
    found = np.diff(ds.tables.node_ptr).tolist()
    return None if found == wanted == ds.y[:, 0].tolist() else f"{name} was damaged: {found} instead of {wanted}"


# ---- helpers ----------------------------------------------------------------------------------------------------------------------


def _unnamed(error: Exception, path: Path) -> str | None:
    """A finding if a message does not name the file, or takes a screen."""
    if str(path) not in str(error):
        return f"the file is not named: {error}"
    return f"a message of {len(str(error)):,} characters: {str(error)[:500]}" if len(str(error)) > 4000 else None


_ATTACKS = (
    _packed, _packed, _packed, _packed, _model, _model, _code, _graph6, _resumed, _resumed, _reported, _predicted, _table_resumed, _prepared
)  # fmt: skip
