"""What is done to sound bytes and JSON values to damage them; and names that nobody would choose."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

_SPECIAL = (0, 1, 7, 0x7F, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**62, 2**63 - 1, 2**64 - 1)
NAMES = (
    "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "two\nlines", "a\rb", "tab\there", "<script>alert(1)</script>", "</title><script>x",
    '"><img src=x onerror=alert(1)>', "' onload='x", "&lt;b&gt;", "<!--", "]]>", "javascript:alert(1)", "../../x", "a/b", "..",
    ".", "-o",
    "--out", "\u202egnp", "\u0085next", "\u2028", "ü" * 300, "x" * 10_000, "{0.__class__}", "%s%n", "=1+1", " ", "\ufeff",
    "NULL", "y=1",
    "a,b", 'q"q', "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"), "train.lr", "smiles2", "\x9b31m", "\x7f",
)  # fmt: skip


# ---- bytes -------------------------------------------------------------------------------------------------------------------------


def damaged(data: bytes, rng: random.Random, counts: tuple[int, ...] = (1, 1, 1, 2, 5)) -> bytes:
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


def flip(data: bytearray, at: int, rng: random.Random) -> None:
    data[at] ^= 1 << rng.randrange(8)


def replace(data: bytearray, at: int, rng: random.Random) -> None:
    data[at] = rng.choice((0, 255, rng.randrange(256), ord(rng.choice('0123456789,:"[]{}- \n'))))


def number(data: bytearray, at: int, rng: random.Random) -> None:
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


def zero(data: bytearray, at: int, rng: random.Random) -> None:
    page = rng.choice((16, 512, 4096))
    begin, end = at // page * page, min(at // page * page + page, len(data))
    data[begin:end] = bytes(end - begin)


def swap(data: bytearray, at: int, rng: random.Random) -> None:
    data[:] = data[at:] + data[:at]


_DAMAGES: tuple[Callable[[bytearray, int, random.Random], None], ...] = (
    flip, flip, replace, number, _digit, _cut, _leave_out, _put_in, _repeat, zero, swap
)  # fmt: skip


# ---- JSON values -------------------------------------------------------------------------------------------------------------------


_HOSTILE = (
    None, True, False, 0, -1, 3, 1.5, 1e308, float("nan"), float("inf"), 10**6, 2**31, 2**63, 10**40, 10**400, "", "x",
    "x" * 10_000, "\x1b[31m",
    "<script>alert(1)</script>", "\ud800", "../../x", "0" * 5000, [], [[]], [None], ["a"], {}, {"a": {}}, {"": None}, [0] * 10_000,
)  # fmt: skip


def hostile(value: object, rng: random.Random) -> object:
    """The JSON value with one of its parts left out, renamed or replaced."""
    if not isinstance(value, dict | list) or not value or rng.random() < 0.1:
        return rng.choice(_HOSTILE)
    key = rng.choice(list(value) if isinstance(value, dict) else range(len(value)))
    changed = value.copy()
    how = rng.random()
    if how < 0.1:
        changed.pop(key)
    elif how < 0.15 and isinstance(changed, dict):
        changed[rng.choice(NAMES)] = changed.pop(key)
    else:
        changed[key] = hostile(value[key], rng)
    return changed
