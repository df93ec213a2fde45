"""One process at a time writes into the folder of a run: the operating system's lock on the file ``run.lock`` in it.

The system releases the lock when its process ends, however it ends, so nobody has to find out whether a lock is stale: who gets the lock
takes the folder over. The text in the file says who holds it, for the message to the others. The file stays when the run is over: removing
it would let two processes lock two files of one name.

Where a file system has no locks, a warning says so and the run goes on (docs/training.md).
"""

from __future__ import annotations

import datetime
import errno
import json
import os
import platform
import sys
import time
import warnings
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any, Self

from ..errors import PlanegraphWarning
from .provenance import command_line

LOCK = "run.lock"
_PLACE = 2**30  # the byte that is locked on Windows, where locked bytes cannot be read: far behind the text
_HELD = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
_READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)
_WAIT = 0.2  # seconds: between locking and saying who holds the lock a holder needs less


class FolderLock:
    """Holds a folder, and those of targets below it, from :meth:`take` to the end of the ``with`` block, the outermost of several.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, FolderLock(folder) as mine, FolderLock(folder) as other:
    ...     mine.take(folder), f"in use by process {os.getpid()} on " in other.take(folder)
    (None, True)
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder, self.process, self.blocks = Path(folder), os.getpid(), 0
        self.files: list[int] = []

    def __enter__(self) -> Self:
        self.blocks += 1
        return self

    def __exit__(self, *_: object) -> None:
        self.blocks -= 1
        while self.files and not self.blocks:
            file = self.files.pop()
            if os.getpid() == self.process:  # a child of a fork holds the lock with its parent, whose text it is
                with suppress(OSError):
                    os.ftruncate(file, 0)
            os.close(file)  # which releases it

    def take(self, *folders: str | PathLike[str]) -> str | None:
        """Takes folders, which are made if they are not there; or says who holds one of them."""
        for folder in map(Path, folders):
            folder.mkdir(parents=True, exist_ok=True)
            file = _open(folder / LOCK)
            if file is None:
                continue
            try:
                _lock(file)
            except OSError as error:
                if error.errno in _HELD:
                    holder = _holder(file)
                    os.close(file)
                    return f"{folder} is in use by {holder}. Wait until that ends, or choose another folder"
                warnings.warn(
                    f"{folder} cannot be locked ({error.strerror}): see to it that no other process trains in it",
                    PlanegraphWarning,
                    stacklevel=4,
                )
            self.files.append(file)
            with suppress(OSError):  # a full disk; the lock holds without a text
                os.ftruncate(file, 0)
                os.write(file, (json.dumps(_this_process()) + "\n").encode())
        return None


def _open(path: Path) -> int | None:
    """The file, for writing if it may be written; None in a folder where it cannot be made: who cannot write there destroys nothing."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        if error.errno not in _READ_ONLY:
            raise
    with suppress(OSError):
        return os.open(path, os.O_RDONLY)
    return None


def _this_process() -> dict[str, Any]:
    since = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return {"pid": os.getpid(), "host": platform.node(), "since": since, "command": command_line()}


def _holder(file: int) -> str:
    """Who holds the lock, in words."""
    until = time.monotonic() + _WAIT
    while True:
        try:
            os.lseek(file, 0, os.SEEK_SET)
            found = json.loads(os.read(file, 2**16))
            return f"process {found['pid']} on {found['host']} since {found['since']} ({found['command']})"
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            if time.monotonic() > until:
                return "another process"
            time.sleep(0.01)


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        os.lseek(file, _PLACE, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        os.lseek(file, 0, os.SEEK_SET)
else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
