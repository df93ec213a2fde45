"""Files that appear whole or not at all: written under a temporary name, put on the disk, then renamed.

A writer holds the operating system's lock on its file until that has taken its name. The lock ends with the process, however that ends: who
gets the lock on such a file knows that its writer is dead. Where a file system has no locks, and on Windows, leftovers
``.<name>.<16 hexadecimal digits>.tmp`` stay, and can be deleted.
"""

from __future__ import annotations

import glob
import os
import secrets
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any


def replace_files(contents: Mapping[Path, str | bytes | Callable[[IO[bytes]], Any]]) -> None:
    """Writes each file under a temporary name beside it, and renames them when all are safely on the disk, in the order given.

    A link stays a link: the file that it names is replaced.

    Args:
        contents: of each file: text, bytes, or a function that writes them. An OSError names the file that could not be written.
    """
    contents = {Path(os.path.realpath(path)) if path.is_symlink() else path: content for path, content in contents.items()}
    written: dict[Path, IO[bytes]] = {}
    with ExitStack() as temporary:
        for path, content in contents.items():
            written[path] = temporary.enter_context(temporary_file(path))
            _write(written[path], content, path)
        for path, file in written.items():
            take_name(file, path)
    for folder in {path.parent for path in contents}:
        _sync_folder(folder)


def _write(file: IO[bytes], content: str | bytes | Callable[[IO[bytes]], Any], path: Path) -> None:
    with naming_file(path, file.name):
        if callable(content):
            content(file)
        else:
            file.write(content.encode() if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def naming_file(path: Path, alias: str | None = None) -> Iterator[None]:
    """An OSError within that names no file, as that of a write to a full disk, or ``alias``, names this one."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename not in (None, alias):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def _sync_folder(folder: Path) -> None:
    """Puts the renaming itself on the disk, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# ---- temporary files ------------------------------------------------------------------------------------------------------


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
