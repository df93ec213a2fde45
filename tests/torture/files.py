"""Hostile files: sizes that lie, bombs, pickles, no text where text should be, pipes and folders in place of files, names with escapes.

Each is given to a command or function that reads such a file. It must end with an error of the package that names the file, or with its
work done, within bounds of time and memory. Nothing is unpickled or run, the terminal gets no control characters, a page has no markup
from names, and a command that fails leaves no output.
"""

from __future__ import annotations

import atexit
import contextlib
import csv
import gzip
import io
import json
import os
import pickle
import random
import shutil
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import torch
from train.tasks import regression

from planegraph.data import PackedDataset
from planegraph.errors import PlanegraphError
from planegraph.io.checksums import json_text, sealed_text
from planegraph.nn import BasePlanE
from planegraph.runs.checkpoint import load_checkpoint
from planegraph.runs.folder import read_run
from planegraph.train import load_settings
from planegraph.train.loop import CHECKPOINT

from .bounds import bounded
from .damage import NAMES, hostile
from .sound import QUICK, SMILES, said, train_command, write_table

_MEGA = 10**6


def trial(seed: int) -> str | None:
    rng = random.Random(seed)
    attack = rng.choice(_ATTACKS)
    sound = _sound()  # before there are bounds
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), bounded(memory=2**30), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Path("home").mkdir()
        found = attack(rng, Path(folder, "home"), sound)
        strange = [name for name in os.listdir(folder) if name != "home"]
    return (found and f"{attack.__name__}: {found}") or (f"{attack.__name__}: wrote {strange}" if strange else None)


@cache
def _sound() -> Path:
    """A run on a table, a model and a packed dataset, made once a process."""
    torch.set_num_threads(1)
    root = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, root, True)
    write_table(root / "table.csv")
    assert said(*train_command(root / "table.csv", root / "run"))[0] == 0
    ds = regression(10).dataset
    ds.save(root / "data.safetensors")
    BasePlanE.for_data(ds, hidden=4, layers=1).save_pretrained(root / "model")
    return root


# ---- what is expected -------------------------------------------------------------------------------------------------------------


def _command(
    *command: str, named: Path | None = None, output: Path | None = None, codes: tuple[int, ...] = (0, 1, 2)
) -> str | None:
    """What is wrong with how a command ends.

    Args:
        named: the file that an error must name, or its folder, if what its checksum vouches for makes no sense.
        output: what must not be there after an error.
        codes: exit codes that are fine.
    """
    code, out, err = said(*command)
    shown = [word if len(word) < 200 else f"{word[:200]}..." for word in command]
    if code not in codes or "internal error" in err or "Traceback" in err:
        return f"{shown}: exit code {code}\n{err[-2000:]}"
    for where, text in (("stdout", out), ("stderr", err)):
        raw = sorted({c for c in text if not c.isprintable() and c not in "\n\t"})
        if raw:
            return f"{shown}: {raw} on {where}"
    if len(err) > 100_000:
        return f"{shown}: {len(err):,} characters on stderr: {err[:300]}"
    if code > 1 and named is not None and named.name not in err and str(named.parent) not in err:
        return f"{shown}: {named.name} is not named\n{err[-2000:]}"
    if output is not None and code > 1 and output.exists():
        return f"{shown}: exit code {code}, but {output.name} was written"
    left = [str(path) for path in Path.cwd().rglob(".*") if path.is_file()]
    return f"{shown}: left behind {left}" if left else None


def _read(function: Callable[[], object], path: Path) -> str | None:
    """What is wrong with how a function ends that reads a file."""
    try:
        function()
    except PlanegraphError as error:
        if path.name not in str(error):
            return f"{path.name} is not named: {str(error)[:1000]}"
        return f"a message of {len(str(error)):,} characters: {str(error)[:300]}" if len(str(error)) > 20_000 else None
    except OSError as error:
        return None if path.name in str(error) else f"{path.name} is not named: {error!r}"
    return None


class _Markup(HTMLParser):
    """The elements and attributes of a page that a browser would run."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "img", "iframe", "object", "embed", "link", "base", "form"):
            self.found.append(tag)
        self.found += [f"{tag} {name}" for name, value in attrs if name.startswith("on") or "javascript:" in (value or "")]


def _page(path: Path) -> str | None:
    """What a page has that a browser would run."""
    parser = _Markup()
    parser.feed(path.read_text(encoding="utf-8"))
    return f"{path.name} has {parser.found}" if parser.found else None


# ---- tables -----------------------------------------------------------------------------------------------------------------------


def _table(rng: random.Random, home: Path, root: Path) -> str | None:
    """A table that is none, or too much, through a command that reads tables."""
    path = rng.choice((_bad_text, _bad_text, _bad_text, _bad_text, _bomb, _bad_parquet, _bad_parquet, _bad_place))(rng, home)
    run, out = str(root / "run"), home / rng.choice(("out.csv", "out.tsv.gz", "out.parquet"))
    command, output = rng.choice(
        (
            (["predict", run, str(path), "-o", str(out), "-q", "--device", "cpu"], out),
            (["embed", run, str(path), "-o", str(home / "out.npy"), "-q", "--device", "cpu"], home / "out.npy"),
            (["evaluate", run, str(path), "-q", "--device", "cpu"], None),
            (["train", str(path), "--out", str(home / "new"), *QUICK], home / "new" / "result.json"),
        )
    )
    return _command(*command, named=path, output=output, codes=(0, 1, 2, 3))


def _bad_text(rng: random.Random, home: Path) -> Path:
    """A good table with something in it that is not."""
    name = rng.choice(("t.csv", "t.tsv", "t.smi", "t.csv.gz", "t.sdf", "t.smiles.gz", "t.sd.gz"))
    mark = b"\t" if ".tsv" in name else b","
    rows = [b"smiles" + mark + b"length", *(s.encode() + mark + b"%d" % len(s) for s in SMILES)]
    if ".sm" in name:
        rows = [s.encode() for s in SMILES]
    if ".sd" in name:
        from rdkit import Chem

        rows = [Chem.MolToMolBlock(Chem.MolFromSmiles(s)).encode() + b">  <length>\n%d\n\n$$$$" % len(s) for s in SMILES[:20]]
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(len(rows))
        row = bytearray(rows[at])
        where = rng.randrange(len(row) + 1)
        evil = rng.choice(_EVIL)
        if rng.random() < 0.3:
            rows.insert(at, evil)
        else:
            row[where : where + rng.choice((0, 0, 1, 5))] = evil
            rows[at] = bytes(row)
    data = rng.choice((b"\n", b"\n", b"\r\n", b"\r")).join(rows) + rng.choice((b"", b"\n"))
    if rng.random() < 0.15:
        data = data.decode("latin1").encode(rng.choice(("utf-16", "utf-32", "utf-8-sig", "utf-16-le")))
    if name.endswith(".gz") and rng.random() < 0.9:
        data = gzip.compress(data)
        if rng.random() < 0.4:
            spoilt = bytearray(data)
            spoilt[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            data = rng.choice((data[: rng.randrange(len(data))], bytes(spoilt), data + b"rest", gzip.compress(data), data * 2))
    path = home / name
    path.write_bytes(data)
    return path


_EVIL = (
    b"\0", b"\0" * 1000, b"\xff\xfe", b"\xed\xa0\x80", b"\xe2\x80\xae", b"\x1b[31m", b"\x1b]0;x\x07", b"\xc2\x9b31m", b'"',
    b'""', b'"\n"', b",",
    b",,,,", b"\t", b";", b"\n", b"\r", b"9" * 400, b"1e400", b"nan", b"-inf", b"C" * _MEGA, b"9" * _MEGA, b"(" * 20_000,
    b"[" * 20_000,
    b"," * 200_000, b'"' * _MEGA, b'"' + b"C\n" * 5_000, b"<script>alert(1)</script>", b"$$$$\n" * 1000, b">  <x>\n" * 1000,
    b"M  END\n",
    b"999999  0  0  0  0  0  0  0  0  0999 V2000\n", b"M  V30 COUNTS 99999999 99999999 0 0 0\n", b"=cmd|' /C calc'!A0",
    b"%99C%99", b"C1" * 5000,
    b"[Og+999]", b"[9999999999C]", b"[C:99999999999]", b"*", b"CC>>CC", b"C |$a;b$|", b"\xf0\x9f\x98\x80",
)  # fmt: skip


def _bomb(rng: random.Random, home: Path) -> Path:
    """A small gzipped file that is large: one endless line, cell or record, or many long rows."""
    kind, name = rng.choice(
        (("line", "t.csv.gz"), ("cell", "t.csv.gz"), ("rows", "t.csv.gz"), ("zeros", "t.csv.gz"), ("header", "t.tsv.gz"))
        if rng.random() < 0.6
        else (("line", "t.smi.gz"), ("rows", "t.smi.gz"), ("record", "t.sdf.gz"))
    )
    path, piece = home / name, b"C" * _MEGA
    with gzip.open(path, "wb", compresslevel=1) as file:
        if ".csv" in name and kind in ("line", "cell", "rows"):
            file.write(b"smiles,length\nCCO,3\n")
        if kind == "cell":
            file.write(b'"')
        for k in range(40):
            if kind == "rows":
                file.write(piece * 15 + (b",%d\n" % k if ".csv" in name else b"\n"))
            else:
                file.write({"zeros": bytes(_MEGA), "cell": b"C\n" * 500_000, "record": b"C\n" * 500_000}.get(kind, piece))
    return path


def _bad_parquet(rng: random.Random, home: Path) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path, n = home / "t.parquet", len(SMILES)
    columns = {"smiles": pa.array(SMILES), "length": pa.array([float(len(s)) for s in SMILES])}
    kind = rng.choice(("columns", "bytes", "nested", "long", "damage", "damage", "name"))
    if kind == "columns":
        columns |= {f"c{k}": pa.nulls(n) for k in range(2000)}
    elif kind == "bytes":
        columns["smiles"] = pa.array([rng.choice((b"\xff\xfe", b"CC\0C", s.encode())) for s in SMILES])
    elif kind == "nested":
        columns["length"] = pa.array([{"a": [1, 2]}] * n)
    elif kind == "long":
        columns["smiles"] = pa.repeat(pa.scalar("C" * _MEGA), n)
    elif kind == "name":
        columns[rng.choice(NAMES)] = columns.pop("length")
    pq.write_table(pa.table(columns), path)
    if kind == "damage":
        data = bytearray(path.read_bytes())
        for _ in range(rng.choice((1, 3, 20))):
            data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(
            rng.choice((bytes(data), bytes(data[: rng.randrange(len(data))]), b"PAR1" + bytes(40) + b"\xff\xff\xff\x7fPAR1"))
        )
    return path


def _bad_place(rng: random.Random, home: Path) -> Path:
    """A name with nothing to read behind it."""
    path = home / ("t" + rng.choice((".csv", ".smi", ".sdf", ".csv.gz", ".parquet", "", ".exe")))
    _no_file(path, rng.choice((*_NO_FILES, "unreadable")))
    return path


_NO_FILES = ("pipe", "folder", "loop", "dangling", "endless")


def _no_file(path: Path, kind: str) -> None:
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to(path.name)
    elif kind == "dangling":
        path.symlink_to("nowhere")
    elif kind == "endless":
        path.symlink_to("/dev/zero")
    else:
        path.symlink_to("/proc/self/mem")


# ---- names ------------------------------------------------------------------------------------------------------------------------


def _names(rng: random.Random, home: Path, root: Path) -> str | None:
    """Columns, targets, molecules and a file with hostile names, from training to the page."""
    target, other, smiles, cell = (rng.choice(NAMES) for _ in range(4))
    smiles = smiles if rng.random() < 0.3 else "smiles"
    names = [smiles, target, other] if rng.random() < 0.5 else [smiles, target]
    table = home / f"t{rng.choice(('', '', rng.choice(NAMES)[:100].replace('/', '_')))}.csv"
    kinds = rng.random() < 0.3
    with open(table, "w", newline="", encoding="utf-8", errors="surrogateescape") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for k, text in enumerate(SMILES):
            writer.writerow([cell if k == 3 else text, k % 2 if kinds else len(text), cell][: len(names)])
    run = home / "run"
    targets = ",".join('"{}"'.format(name.replace('"', '""')) for name in names[1 : rng.choice((2, 2, 3))])
    found = _command("train", str(table), "--targets", targets, "--out", str(run), *QUICK)
    if found or not (run / "result.json").exists():
        return found
    page = home / "page.html"
    return (
        _page(run / "report.html")
        or _command("report", str(run), "--out", str(page), "--svg", str(home / "svg"))
        or _page(page)
        or next(filter(None, map(_page, sorted((home / "svg").glob("*.svg")))), None)
        or _command("predict", str(run), str(table), "-o", str(home / "out.csv"), "-q", "--device", "cpu")
        or _command("evaluate", str(run), str(table), "-q", "--device", "cpu")
        or _command("explain", str(run), "CCO")
        or _command("train", "--resume", "--out", str(run), "-q", "--no-baselines")
    )


# ---- JSON, YAML -------------------------------------------------------------------------------------------------------------------


def _json(rng: random.Random, home: Path, root: Path) -> str | None:
    """A JSON file of a run that is a bomb, or has one value that is another; its checksum is right or left out."""
    run = Path(shutil.copytree(root / "run", home / "run"))
    path = run / rng.choice(("result.json", "molecules.json", "machine.json", "log.jsonl"))
    bomb = rng.random() < 0.3
    if bomb:
        _no_file_or_bomb(path, rng)
    elif path.name == "log.jsonl":
        lines = path.read_text().splitlines()
        at = rng.randrange(len(lines))
        lines[at] = json.dumps(hostile(json.loads(lines[at]), rng))
        path.write_text("\n".join(lines) + "\n")
    else:
        values = json.loads(path.read_text())
        del values["crc32"]
        values = hostile(values, rng)
        with_seal = isinstance(values, dict) and rng.random() < 0.7
        path.write_text(json_text(values) if with_seal else json.dumps(values))
    return _use_run(rng, run, home, root, path if bomb else None)


def _no_file_or_bomb(path: Path, rng: random.Random) -> None:
    if rng.random() < 0.4:
        path.unlink(missing_ok=True)
        _no_file(path, rng.choice(_NO_FILES))
    else:
        path.write_bytes(rng.choice(_BOMBS))


def _use_run(rng: random.Random, run: Path, home: Path, root: Path, path: Path | None) -> str | None:
    """The run through the commands that read it; an error must name the path, if one is given."""
    table, out = str(root / "table.csv"), home / "out.csv"
    found = rng.choice(
        (
            lambda: _command("report", str(run), named=path, codes=(0, 2, 3)),
            lambda: _command("report", str(run), str(root / "run"), "--out", str(home / "two.html"), codes=(0, 2, 3)),
            lambda: _command("predict", str(run), table, "-o", str(out), "-q", named=path, output=out, codes=(0, 1, 2, 3)),
            lambda: _command("evaluate", str(run), table, "-q", named=path, codes=(0, 2, 3)),
            lambda: _command("train", "--resume", "--out", str(run), "-q", "--no-baselines", named=path, codes=(0, 2, 3)),
            lambda: _command("train", table, "--from", str(run), "--out", str(home / "new"), *QUICK, named=path, codes=(0, 2, 3)),
        )
    )()
    pages = (page for page in (run / "report.html", home / "two.html") if page.exists())
    return found or next(filter(None, map(_page, pages)), None)


def _levels(levels: int, key: str) -> bytes:
    """YAML whose aliases stand for 9^levels values."""
    lists = [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]" for k in range(1, levels)]
    return ("\n".join(["x0: &a0 [lol]", *lists, f"{key}: *a{levels - 1}"]) + "\n").encode()


_BOMBS = (
    b"", b"{", b"null", b"[]", b"{}", b"3", b'"x"', b"[" * 100_000, b'{"a":' * 100_000, b'{"a": 1' + b"0" * 100_000 + b"}",
    b'{"a": 1e999999}',
    b'{"a": NaN, "a": Infinity}', b"\0" * 1000, b"\xff\xfe{\0}\0", b"\xef\xbb\xbf{}", b'{"\\ud800": 1}', b" " * 10**7,
    b'{"crc32": "' + b"x" * 10**6 + b'"}',
    b'{"trials": ' + b"[" * 500 + b"]" * 500 + b"}", b"\x80\x04\x95", pickle.dumps({"a": 1}), b"\x1b[31m", b"- " * 50_000,
    b"? " * 5000,
    *(_levels(9, key) for key in ("task", "options", "model", "train")), b"task: !!python/object/apply:os.system ['touch pwned']\n",
    b"!!python/object/new:os.system [touch pwned]\n", b"task: !!binary aGk=\n", b"task: x\ntrain: {lr: 1" + b"0" * 400 + b"}\n",
    b"task: x\nmodel: {hidden: 10000000000000000000000}\n", b"task: x\ntrain: {epochs: .nan}\n", b"task: 2026-13-45\n",
    b"%YAML 9.9\n---\nx\n",
    b"a: &a [*a]\n", b"task: &t {<<: *t}\n", b"--- a\n--- b\n", b"task: x\noptions: {? [a, b] : 1}\n",
    b"task: x\nmodel: {hidden: 1_000_000}\n",
    b"task: x\ntrain: {lr: 0x10, seeds: 0o17, seed: 1:30:00}\n", b"task: \xff\n", "task: \x85x\n".encode(),
    b"task: x\n" * 20_000, b"a" * 10**6,
    b"task: 'x\n" + b"\n" * 10**5, b"!" * 1000, b"task: !!set {a, b}\n", b"task: !!omap [a: 1]\n", b"{" * 900 + b"}" * 900,
    b"&a " * 1000,
)  # fmt: skip


def _yaml(rng: random.Random, home: Path, root: Path) -> str | None:
    """Settings that are a bomb or have a tag, of a run or given by --config."""
    if rng.random() < 0.4:
        path = home / "settings.yaml"
        _no_file_or_bomb(path, rng) if rng.random() < 0.7 else path.write_bytes(rng.choice(_BOMBS))
        return _read(lambda: load_settings(path), path)
    run = Path(shutil.copytree(root / "run", home / "run"))
    path = run / "settings.yaml"
    bomb = rng.random() < 0.5
    if bomb:
        _no_file_or_bomb(path, rng)
    else:
        import yaml

        values = hostile(yaml.safe_load(path.read_text()), rng)
        with contextlib.suppress(yaml.YAMLError):  # a lone surrogate
            path.write_bytes(sealed_text(yaml.safe_dump(values)))
    return _use_run(rng, run, home, root, path if bomb else None)


# ---- safetensors ------------------------------------------------------------------------------------------------------------------


class _Pwned:
    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, ("pwned",)


def _binary(rng: random.Random, home: Path, root: Path) -> str | None:
    """A checkpoint, model, dataset or file of predictions that is a pickle, or whose header lies."""
    run = Path(shutil.copytree(root / "run", home / "run"))
    shutil.copytree(root / "model", home / "model")
    shutil.copy(root / "data.safetensors", home)
    path, read = rng.choice(
        (
            (home / "data.safetensors", lambda: PackedDataset.open(path, verify=rng.random() < 0.5)),
            (home / "model" / "model.safetensors", lambda: BasePlanE.from_pretrained(home / "model")),
            (run / CHECKPOINT, lambda: load_checkpoint(path)),
            (run / "models" / "seed0" / "test.safetensors", lambda: read_run(run)),
        )
    )
    data = path.read_bytes()
    path.unlink()
    how = rng.random()
    if how < 0.15:
        _no_file(path, rng.choice((*_NO_FILES, "unreadable")))
    elif how < 0.35:
        out = io.BytesIO()
        rng.choice((lambda: torch.save({"a": _Pwned()}, out), lambda: out.write(pickle.dumps(_Pwned())), lambda: _savez(out)))()
        path.write_bytes(out.getvalue())
    else:
        path.write_bytes(_lying(data, rng))
    return _read(read, path)


def _savez(out: io.BytesIO) -> None:
    np.savez(out, a=np.array([_Pwned()], dtype=object))


def _lying(data: bytes, rng: random.Random) -> bytes:
    """A safetensors file whose header says what is not so."""
    length = int.from_bytes(data[:8], "little")
    header, arrays = json.loads(data[8 : 8 + length]), data[8 + length :]
    kind = rng.choice(("length", "entry", "entry", "entry", "text", "bomb"))
    if kind == "length":
        return rng.choice((0, 1, length - 1, length + 1, 2**31, 2**40, 2**63, 2**64 - 1)).to_bytes(8, "little") + data[8:]
    if kind == "bomb":
        text = rng.choice(_BOMBS)
        return len(text).to_bytes(8, "little") + text + arrays
    name = rng.choice(list(header))
    if kind == "text":
        text = json.dumps(header).encode()
        key = json.dumps(name).encode() + b": "
        evil = rng.choice((b"[" * 100_000, b"1" * 10_000, b"NaN", b'{"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}'))
        text = text.replace(key, key + evil + b", " + key, 1)
        return len(text).to_bytes(8, "little") + text + arrays
    header[name] = hostile(header[name], rng)
    if rng.random() < 0.3:
        header[rng.choice(NAMES)] = {
            "dtype": "F32",
            "shape": [rng.choice((0, 2**40))] * 2,
            "data_offsets": [0, rng.choice((0, 2**63))],
        }
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + arrays


_ATTACKS = (_table, _table, _table, _table, _names, _json, _json, _yaml, _binary, _binary, _binary)
