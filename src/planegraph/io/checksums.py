"""Checksums inside files: whatever a planegraph reads back from its own folder was not altered since it was written.

========================  =======================================================================================================
a JSON object             its field ``crc32``, of the other values as ``json.dumps(values, sort_keys=True)`` writes them
a line of ``log.jsonl``   the same
a text, settings.yaml     its first line, the comment ``# crc32: <8 digits>``, of all bytes after it
a safetensors file        ``planegraph-seal`` in its metadata, 8 digits, of the whole file with zeros in their place
========================  =======================================================================================================

So the files stay what they are for other tools. A text has it in front, where a file that is cut off keeps it. A CRC-32 finds every
altered digit, every burst of up to 32 bits, and nearly all other damage; it is not a signature. JSON and text without a
checksum, such as those written by hand, are read as they are.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from ..errors import FormatError
from .reading import read_file
from .text import shortened

SEAL = "planegraph-seal"
UNSEALED = "0" * 8
"""What a safetensors file has as its ``SEAL`` when :func:`sealed_file` is given it."""
_FIELD = "crc32"
_LINE = b"# crc32: "
_MARK = f'"{SEAL}":"'.encode()


# ---- JSON ---------------------------------------------------------------------------------------------------------------------


def sealed(values: Mapping[str, Any], default: Callable[[Any], Any] | None = None) -> dict[str, Any]:
    """The values as JSON has them, with their checksum.

    >>> sealed({"epoch": 3, "sizes": (1, 2)})
    {'epoch': 3, 'sizes': [1, 2], 'crc32': 1656724204}
    """
    plain = json.loads(json.dumps(values, default=default))
    return plain | {_FIELD: _checksum(plain)}


def unsealed(found: Mapping[str, Any], required: bool = False) -> dict[str, Any]:
    """The values without their checksum; FormatError if it is not theirs, or if it is required and missing."""
    values = dict(found)
    wanted = values.pop(_FIELD, None)
    if (required or _FIELD in found) and wanted != (now := _checksum(values)):
        raise FormatError(f"its checksum is {now}, not {shortened(wanted, 40)}")
    return values


def _checksum(values: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(values, sort_keys=True).encode())


def json_text(values: Mapping[str, Any], default: Callable[[Any], Any] | None = None) -> str:
    """A JSON file that :func:`read_json` reads."""
    return json.dumps(sealed(values, default), indent=1) + "\n"


def read_json(path: Path, advice: str = "", required: bool = False) -> dict[str, Any]:
    """The object in a JSON file, without its checksum. FormatError, which names the file, if it holds anything else.

    Args:
        advice: the end of the message.
        required: whether it must have a checksum.
    """
    data = read_file(path)
    try:
        found = json.loads(data.decode("utf-8"))
        if not isinstance(found, dict):
            raise FormatError(f"it must hold an object; found {type(found).__name__}")
        return unsealed(found, required)
    except FormatError as error:
        what = str(error)
    except RecursionError:
        what = "it is nested too deeply"
    except ValueError as error:
        what = f"it is not JSON ({error})"
    raise FormatError(f"{path} is damaged: {what}{'. ' if advice else ''}{advice}")


# ---- text ---------------------------------------------------------------------------------------------------------------------


def sealed_text(text: str) -> bytes:
    """A text with its checksum as a comment in the first line.

    >>> sealed_text("task: p3r\\n")
    b'# crc32: 28b054ef\\ntask: p3r\\n'
    """
    data = text.encode()
    return _LINE + f"{zlib.crc32(data):08x}\n".encode() + data


def check_text(data: bytes) -> None:
    """FormatError if a text has a checksum that is not its own."""
    if not data.startswith(_LINE):
        return
    wanted, _, text = data.removeprefix(_LINE).partition(b"\n")
    found = f"{zlib.crc32(text):08x}"
    if wanted.strip() != found.encode():
        raise FormatError(f"its checksum is {found}, not {wanted.decode(errors='replace').strip()[:8]}")


# ---- safetensors --------------------------------------------------------------------------------------------------------------


def sealed_file(data: bytes) -> Callable[[IO[bytes]], None]:
    """Writes a safetensors file, whose ``SEAL`` in the metadata is ``UNSEALED``, with its checksum there."""
    at = _place(data)
    if at is None or data[at : at + 8] != UNSEALED.encode():
        raise ValueError(f"{SEAL} is not in the metadata")
    digits = f"{zlib.crc32(data):08x}".encode()

    def write(file: IO[bytes]) -> None:
        for part in (memoryview(data)[:at], digits, memoryview(data)[at + 8 :]):
            file.write(part)

    return write


def check_file(data: bytes) -> None:
    """FormatError unless a safetensors file is what :func:`sealed_file` wrote, bit for bit."""
    at = _place(data)
    if at is None:
        raise FormatError("it has no checksum")
    view, wanted = memoryview(data), data[at : at + 8].decode(errors="replace")
    found = f"{zlib.crc32(view[at + 8 :], zlib.crc32(UNSEALED.encode(), zlib.crc32(view[:at]))):08x}"
    if found != wanted:
        raise FormatError(f"its checksum is {found}, not {wanted}")


def _place(data: bytes) -> int | None:
    """Where the digits of the seal are. A quote inside of a JSON text is escaped, so nothing else in the header looks like its name."""
    at = data.find(_MARK, 8, 8 + int.from_bytes(data[:8], "little"))
    return None if at < 0 else at + len(_MARK)
