"""Reads a small file as a whole, if it is one: nothing waits for a pipe, or for the end of a device."""

from __future__ import annotations

import os
from pathlib import Path

from .errors import FormatError


def read_file(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file. FormatError if a pipe, a device or a folder has its name; an OSError names it, too."""
    path = Path(path)
    if path.exists() and not path.is_file():
        raise FormatError(f"{path} is {'a folder' if path.is_dir() else 'not a regular file'}; a file is expected there")
    try:
        return path.read_bytes()
    except OSError as error:
        if error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None
