"""Hostile text through the command line: sizes that lie, bytes that are not text, lines and names without end, escapes for the terminal.

Whatever is in a file, canon, decompose and iso end with one of their exit codes, within seconds, and what they say has no control
characters.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import tempfile
import time
from pathlib import Path
from unittest import mock

from planegraph.cli import main
from planegraph.graphs.formats import files

_SECONDS = 20.0
_LINE = 1 << 20  # the limit of a line, lowered: the real one takes a quarter of a gigabyte
_GOOD = {
    "graph6": (b"C~", b"Bw", b"D~{", b">>graph6<<C~", b"?", b"~?@?" + b"?" * 700, b":Bd", b">>sparse6<<:Bd", b":~?@?"),
    "smiles": (b"CCO ethanol", b"c1ccccc1", b"C[C@H](N)C(=O)O", b"[Na+].[Cl-]", b"C1CC1"),
    "edges": (b"0-1 1-2 2-0", b"a-b, b-c, d", b"1-2"),
    "edgelist": (b"0 1\n1 2\n2 0\n\n", b"# a comment\na b 3.5\nb c\n"),
    "planar_code": (
        b">>planar_code<<",
        b"\x03\x02\x03\x00\x03\x01\x00\x01\x02\x00",
        b"\x00\x00\x02\x00\x02\x00\x00\x00\x01\x00\x00",
    ),
}
_EVIL = (
    b"\x1b[31m", b"\x1b]0;title\x07", b"\x00", b"\x07", b"\x08" * 20, b"\r", b"\x9b31m", b"\xc2\x9b31m", b"\xff\xfe", b"\xed\xa0\x80",
    b"\xef\xbb\xbf", b"\xe2\x80\xae", b"~", b"~~", b"~~~~~~~~", b"~}~~", b"-", b"--", b"(", b"[", b"%99", b"#", b",", b"\n", b"\n\n", b" ",
    b"\t", b"9" * 5000, b"C" * 5000, b"(" * 3000, b"[" * 3000, b"C1" * 2000, b"a-" * 3000, b"<script>", b"../../", b"%s%n", b"\\x1b",
)  # fmt: skip


def trial(seed: int) -> str | None:
    rng = random.Random(seed)
    kind = rng.choice(files.FORMATS)
    with tempfile.TemporaryDirectory() as folder:
        paths = [_written(Path(folder), rng, kind) for _ in range(2)]
        return _run(_command(rng, kind, paths), rng)


def _text(rng: random.Random, kind: str) -> bytes:
    """Good lines with evil in them."""
    text = bytearray(b"\n".join(rng.choice(_GOOD[kind]) for _ in range(rng.randint(0, 6))))
    for _ in range(rng.randrange(6)):
        at = rng.randrange(len(text) + 1)
        if rng.random() < 0.2 and text:
            text[rng.randrange(len(text))] = rng.randrange(256)
        else:
            text[at : at + rng.choice((0, 0, 1, 4))] = rng.choice(_EVIL) * rng.choice((1, 1, 1, 2, 50))
    if rng.random() < 0.03:
        text += bytes([rng.choice(b"\x00 C9a~")]) * (_LINE + 10)
    return bytes(text)


def _written(folder: Path, rng: random.Random, kind: str) -> str:
    name = rng.choice(("graphs", "\x1b[31mred", "two\nlines", "-dash", "ä\u202e", os.fsdecode(b"\xff")))
    path = folder / f"{rng.randrange(10**6)}{name}"
    path.write_bytes(_text(rng, kind))
    return str(path)


def _command(rng: random.Random, kind: str, paths: list[str]) -> list[str]:
    name = rng.choice(("canon", "canon", "decompose", "iso", "filter", "count"))
    options = ["-f", kind] if rng.random() < 0.9 else []
    if name == "iso":
        return ["iso", *options, *rng.choice(((), ("--mapping",))), *paths]
    more = {
        "canon": ((), (), ("--strict",), ("--code",), ("--count",)),
        "decompose": ((), ("--json",), ("--on-nonplanar", "set")),
        "filter": ((), ("--planar",), ("--biconnected", "--strict"), ("--invert", "--triconnected")),
        "count": ((), ("--planar", "--connected"), ("--strict",)),
    }
    return [name, *options, *rng.choice(more[name]), *paths[: rng.randint(1, 2)], *rng.choice(((), (), ("\x1b[31m.g6",)))]


def _run(command: list[str], rng: random.Random) -> str | None:
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", errors="backslashreplace") for _ in range(2))
    begin = time.monotonic()
    with (
        mock.patch.object(files, "LONGEST_LINE", _LINE),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = main(command)
    seconds = time.monotonic() - begin
    out.flush()
    err.flush()
    said, answer = (stream.buffer.getvalue().decode("utf-8", "replace") for stream in (err, out))
    repeats = "--mapping" in command or command[0] == "filter"  # names and lines as they are, for the next program
    if code not in (0, 1, 2) or "internal error" in said:
        return f"{command}: exit code {code}\n{said[-2000:]}"
    for where, text in (("stderr", said), *(() if repeats else (("stdout", answer),))):
        raw = sorted({c for c in text if not c.isprintable() and c not in "\n\t"})
        if raw:
            return f"{command}: {raw} on {where}"
    if seconds > _SECONDS:
        return f"{command}: took {seconds:.0f} s"
    return None
