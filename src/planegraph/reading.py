"""Reads a small file as a whole, if it is one: nothing waits for a pipe, or for the end of a device."""

from __future__ import annotations

import os
from pathlib import Path

from .errors import FormatError


def read_file(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file. FormatError if a pipe or a device has its name; an OSError, as of a folder, names it, too."""
    path = Path(path)
    if path.exists() and not path.is_file() and not path.is_dir():
        raise FormatError(f"{path} is not a regular file; a file is expected there")
    try:
        return path.read_bytes()
    except OSError as error:
        if error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None
