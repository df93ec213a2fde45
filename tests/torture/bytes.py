"""Damaged bytes in every kind of file that planegraph reads back: flipped, cut off, put in, repeated, zeroed, swapped.

What has a checksum must be refused by an error that names the file, or the damage must be without effect: what is read is what was
written. What is read without its checksums, or has been given new ones after the damage, is used: batches, training, predictions end in
an error of the package or in numbers, within bounds of time and memory. A run resumes to the figures of one that was never damaged, or
not at all.
"""

from __future__ import annotations

import contextlib
import io
import json
import pickle
import random
import shutil
import tempfile
import warnings
import zlib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import torch
from datasets.examples import Rings, write_lengths
from packed_check import check_dataset
from train.tasks import regression, small, stopped_at
from train.test_resume import outcome

import planegraph as pg
from planegraph.canonical.code import decode, encode
from planegraph.data import PackedDataset, PackedLoader
from planegraph.data import format as packed_format
from planegraph.errors import FormatError, PlanegraphError
from planegraph.io.checksums import SEAL, UNSEALED, sealed_file
from planegraph.nn import BasePlanE
from planegraph.predict import Predictor
from planegraph.report import write_report
from planegraph.runs.checkpoint import CHECKPOINT
from planegraph.runs.errors import Stopped
from planegraph.runs.folder import Predictions, read_run
from planegraph.runs.log import FIELDS, read_log
from planegraph.runs.settings import load_run_settings
from planegraph.train import train

from .bounds import bounded
from .damage import damaged, flip, hostile, number, replace, swap, zero
from .sound import SMILES, kept_folder, said, train_command, write_table


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
    root = kept_folder()
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


# ---- packed datasets --------------------------------------------------------------------------------------------------------------


def _packed(rng: random.Random, folder: Path, root: Path) -> str | None:
    """With checksums it is refused or equal; without, or with new ones, it is used."""
    kind, how = rng.choice(list(_KINDS)), rng.choice(("verified", "unverified", "unverified", "resealed"))
    sound, path = root / f"{kind}.safetensors", folder / "data.safetensors"
    path.write_bytes((_resealed_packed if how == "resealed" else damaged)(sound.read_bytes(), rng))
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
            rng.choice((flip, replace, number, zero, swap))(spoilt, rng.randrange(len(spoilt)), rng)
        array[:] = np.frombuffer(spoilt, np.uint8)[: len(array)]
        for name, values in arrays.items():
            manifest["arrays"][name]["crc32"] = packed_format.checksum(values)
    else:
        manifest = hostile(manifest, rng)
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
    check_dataset(ds)


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
    sound, path = root / kind / "model.safetensors", folder / "model.safetensors"
    path.write_bytes(_resealed_model(sound, rng) if resealed else damaged(sound.read_bytes(), rng))
    try:
        model = BasePlanE.from_pretrained(folder)
    except FormatError as error:
        return _unnamed(error, path)
    if resealed:
        with contextlib.suppress(PlanegraphError), torch.no_grad():
            model(PackedDataset.open(root / f"{kind}.safetensors")[:5])
        return None
    wanted = BasePlanE.from_pretrained(root / kind)
    same = model.config == wanted.config and all(torch.equal(v, model.state_dict()[k]) for k, v in wanted.state_dict().items())
    return None if same else "damage passed the seal"


def _resealed_model(path: Path, rng: random.Random) -> bytes:
    from safetensors.torch import load, save

    data, told = packed_format.read_tensors(path)
    state, told = load(data), json.loads(told["planegraph"])
    if rng.random() < 0.5:
        told = hostile(told, rng)
    else:
        name = rng.choice(list(state))
        spoilt = rng.choice((float("nan"), float("inf"), 3e38, -1e30, 0.0)) * torch.ones_like(state[name], dtype=torch.float32)
        state[name] = rng.choice((spoilt.to(state[name].dtype), state[name][:1].clone(), state[name][None].clone()))
    out = io.BytesIO()
    sealed_file(save(state, {"planegraph": json.dumps(told), SEAL: UNSEALED}))(out)
    return out.getvalue()


# ---- runs -------------------------------------------------------------------------------------------------------------------------


def _resumed(rng: random.Random, folder: Path, root: Path) -> str | None:
    """A run with a damaged file is refused, or comes to the figures of one that was never stopped; lines missing in its log are told."""
    run = folder / "run"
    damage = _copied_with_damage(root / rng.choice(("stopped", "finished")), run, rng)
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            settings = load_run_settings(run).with_overrides(["train.epochs=3"])
            train(regression(), settings, run, resume=True, device="cpu", report=False)
    except PlanegraphError as error:
        return damage.unnamed(str(error), or_checkpoint=True)
    (tensors, facts, _, trials), (others, other_facts, _, other_trials) = outcome(run), outcome(root / "whole")
    wrong = [what for what, a, b in (("facts", facts, other_facts), ("trials", trials, other_trials)) if a != b]
    if "facts" in wrong and damage.took_checksum:  # of settings, which are read as they are then
        wrong.remove("facts")
    wrong += [key for key, value in others.items() if not torch.equal(value, tensors[key])]
    missing = _missing_lines(run, root / "whole", but="seconds")
    if missing is None or (missing and not any(f"log.jsonl lacks {missing} lines" in str(warning.message) for warning in told)):
        wrong.append("log")
    return f"{damage.name} was damaged, and {', '.join(wrong)} differ from the whole run" if wrong else None


def _missing_lines(run: Path, whole: Path, but: str = "") -> int | None:
    """How many lines a log lacks that has those of another, ``but`` for a field; None if it has others."""
    found, wanted = ([{k: row[k] for k in FIELDS if k != but} for row in read_log(path / "log.jsonl")] for path in (run, whole))
    return len(wanted) - len(found) if found == [row for row in wanted if row in found] else None


class _Damage(NamedTuple):
    """The name of the damaged file, and whether the mark of its checksum went with more: the rest is then read as without one."""

    name: str
    took_checksum: bool

    def unnamed(self, message: str, or_checkpoint: bool = False) -> str | None:
        """A finding if a message names another file; settings can be others than those of the checkpoint, which is then named."""
        known = self.name in message or (or_checkpoint and self.name == "settings.yaml" and CHECKPOINT in message)
        return None if known else f"{self.name}: it is not named: {message[-2000:]}"


_MARKS = {"settings.yaml": b"# crc32: ", ".json": b'"crc32": '}


def _copied_with_damage(source: Path, run: Path, rng: random.Random) -> _Damage:
    """A copy of a folder with one thing wrong in a file: two can make JSON or text that has no checksum."""
    shutil.copytree(source, run)
    path = rng.choice(sorted(path for path in run.rglob("*") if path.is_file()))
    before = path.read_bytes()
    after = damaged(before, rng, (1,))
    path.write_bytes(after)
    mark = _MARKS.get(path.name) or _MARKS.get(path.suffix)
    return _Damage(path.name, mark is not None and mark not in after and len(after) < len(before))


def _reported(rng: random.Random, folder: Path, root: Path) -> str | None:
    """What a report reads is refused or as it was written, but for whole lines of the log, and the page is made of it."""
    run, source = folder / "run", root / rng.choice(("finished", "table"))
    damage = _copied_with_damage(source, run, rng)
    try:
        found = read_run(run)
        write_report(run)
    except PlanegraphError as error:
        return damage.unnamed(str(error))
    sound = read_run(source)
    wrong = ["tests"] if _arrays(found.tests) != _arrays(sound.tests) else []
    wrong += ["sessions"] if found.sessions != sound.sessions else []
    if not damage.took_checksum:
        wrong += [key for key in ("result", "settings") if not _same(getattr(found, key), getattr(sound, key))]
    if (missing := _missing_lines(run, source)) is None or (missing and damage.name != "log.jsonl"):
        wrong.append("log")
    return f"{damage.name} was damaged, and the report has other {', '.join(wrong)}" if wrong else None


def _same(found: Any, sound: Any) -> bool:
    """Whether all values are there; one more may be the checksum, by another name."""
    return {key: found.get(key) for key in sound} == dict(sound) and len(found) <= len(sound) + 1


def _arrays(tests: dict[str, Predictions]) -> dict[str, list[object]]:
    return {name: [(a.dtype, a.shape, a.tobytes()) for a in (p.id, p.predicted, p.true)] for name, p in tests.items()}


def _predicted(rng: random.Random, folder: Path, root: Path) -> str | None:
    """Predictions are refused or those of the sound run."""
    run = folder / "run"
    damage = _copied_with_damage(root / "table", run, rng)
    try:
        found = Predictor.load(run, "cpu")
        mean, half_widths = found(SMILES[:5]).mean, found.half_widths
    except PlanegraphError as error:
        return damage.unnamed(str(error))
    sound = Predictor.load(root / "table", "cpu")
    same = np.array_equal(mean, sound(SMILES[:5]).mean) and half_widths == sound.half_widths
    return None if same else f"{damage.name} was damaged, and predictions are others"


def _table_resumed(rng: random.Random, folder: Path, root: Path) -> str | None:
    """By the command line, which reads settings and table as the folder says: an error, or the run as it was."""
    run = folder / "run"
    damage = _copied_with_damage(root / "table", run, rng)
    code, _, err = said("train", "--resume", "--out", str(run), "-q", "--device", "cpu", "--no-baselines")
    if code not in (0, 2) or "internal error" in err:
        return f"{damage.name}: exit code {code}\n{err[-2000:]}"
    if code == 2:
        return damage.unnamed(err, or_checkpoint=True)
    trials = [json.loads((where / "result.json").read_text())["trials"] for where in (run, root / "table")]
    return None if trials[0] == trials[1] else f"{damage.name} was damaged, and figures are others"


# ---- codes and graph6 -------------------------------------------------------------------------------------------------------------


def _code(rng: random.Random, folder: Path, root: Path) -> str | None:
    g = pg.families.random_planar(rng.randint(3, 20), rng.random(), rng.randrange(1000))
    if rng.random() < 0.5:
        g = pg.Graph(g.num_nodes, g.edges, node_labels=[rng.randrange(300) for _ in range(g.num_nodes)])
    code = damaged(pg.canonical_form(g).code, rng)
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
    path.write_bytes(damaged(b"\n".join(line.encode() if isinstance(line, str) else line for line in lines) + b"\n", rng))
    code, _, err = said(*rng.choice((("canon", "--code"), ("decompose", "--json", "--on-nonplanar", "set"))), str(path))
    return f"exit code {code}\n{err[-2000:]}" if code not in (0, 1, 2) or "internal error" in err else None


# ---- prepared datasets ------------------------------------------------------------------------------------------------------------


def _prepared(rng: random.Random, folder: Path, root: Path) -> str | None:
    """A packed dataset, its note or its raw file: what is loaded is that of the raw file, or an error says what is damaged."""
    shutil.copytree(root / "raw", folder / "raw")
    name = _copied_with_damage(root / "packed", folder / "packed", rng).name
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
