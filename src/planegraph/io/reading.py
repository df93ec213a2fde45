"""Files that are read as a whole: regular ones, up to a bound. Nothing waits for a pipe, and no size fills the memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

from ..errors import FormatError

TEXT, TENSORS = 2**28, 2**34
"""Bytes of the largest files that are read: of JSON, and of tensors. What a run writes is far from them."""


def open_file(path: str | os.PathLike[str]) -> BinaryIO:
    """A file, for reading. FormatError if a pipe or a device has its name."""
    path = Path(path)
    if path.exists() and not path.is_file() and not path.is_dir():
        raise FormatError(f"{path} is not a regular file; a file is expected there")
    return open(path, "rb")


def read_file(path: str | os.PathLike[str], most: int = TEXT) -> bytes:
    """The bytes of a file. FormatError if it has more than ``most``; an OSError, as of a folder, names it, too."""
    try:
        with open_file(path) as file:
            return file.read(checked_size(file, most))
    except OSError as error:
        if error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None


def checked_size(file: BinaryIO, most: int) -> int:
    """The size of an open file; FormatError, which names it, if that is more than ``most``."""
    size = os.fstat(file.fileno()).st_size
    if size > most:
        raise FormatError(f"{file.name} has {size:,} bytes; no more than {most:,} are read")
    return size
