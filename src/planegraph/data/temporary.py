"""Temporary files beside the files whose names they are to take; what a dead writer left is removed by the next one.

A writer holds the operating system's lock on its file until that has taken its name. The lock ends with the process, however that ends: who
gets the lock on such a file knows that its writer is dead. Where a file system has no locks, and on Windows, leftovers
``.<name>.<16 hexadecimal digits>.tmp`` stay, and can be deleted.
"""

from __future__ import annotations

import glob
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


@contextmanager
def temporary_file(path: Path) -> Iterator[IO[bytes]]:
    """A new file in the folder of ``path``; it is removed in the end, unless :func:`take_name` was called.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, temporary_file(Path(folder, "a")) as file:
    ...     _ = file.write(b"whole")
    ...     file.flush()
    ...     take_name(file, Path(folder, "a"))
    ...     Path(folder, "a").read_bytes()
    b'whole'
    """
    _remove_leftovers(path)
    file = _new(path)
    try:
        yield file
    finally:
        with suppress(OSError):
            os.unlink(file.name)
        with suppress(OSError):  # a full disk, once more
            file.close()


def take_name(file: IO[bytes], path: Path) -> None:
    """Gives a temporary file, of which all is written, its name."""
    if sys.platform == "win32":  # where an open file cannot be renamed
        file.close()
    os.replace(file.name, path)


def _new(path: Path) -> IO[bytes]:
    while True:
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
        try:
            file = open(temporary, "xb")  # noqa: SIM115 (closed by temporary_file)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from error
        _wait_for_lock(file)
        if os.path.exists(file.name):  # another writer did not take it for a leftover before it was locked
            return file
        file.close()


if sys.platform == "win32":

    def _remove_leftovers(path: Path) -> None:
        pass

    def _wait_for_lock(file: IO[bytes]) -> None:
        pass
else:
    import fcntl

    def _remove_leftovers(path: Path) -> None:
        for leftover in path.parent.glob(f".{glob.escape(path.name)}.{'[0-9a-f]' * 16}.tmp"):
            with suppress(OSError), open(leftover, "r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                leftover.unlink()

    def _wait_for_lock(file: IO[bytes]) -> None:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(file, fcntl.LOCK_EX)
