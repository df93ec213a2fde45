"""Disks that are full, broken or read-only, while planegraph packs, trains, saves, reports, predicts or writes to standard output.

A job (tests/jobs.py) meets a small file system with less room than it needs, or too few inodes; one that is mounted read-only; a limit on
the size of files; or an error at one of its steps, in the middle of a write, too. It must end with exit code 3 and a message that names
the path that it was writing, or complete, but for files that its warnings name; what was there before must still be there and sound, with
nothing half-written beside it. Once there is room, the same command must come to the files of a run that was not disturbed.

Root, and users who may make namespaces, get their own file systems (tmpfs in a private mount namespace), which end with the process that
made them. Elsewhere trials that need one are left out, and the table says so.
"""

from __future__ import annotations

import ctypes
import errno
import os
import random
import resource
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import IO

from jobs import AtStep, Ended, Undisturbed, run, undisturbed
from left_files import contents, differences, leftovers, size, unsound

from .children import SECONDS, Child

_JOBS = (
    "data", "other data", "other model", "pack", "train", "train", "longer", "longer", "one by one", "benchmark", "sweep",
    "report", "predict", "predict anew", "predict by workers", "predict parquet", "embed", "canon", "decompose",
)  # fmt: skip
_MOUNTED = ("full", "inodes", "read-only")
_WAYS = ("full", *_MOUNTED, "limit", "error", "error", "broken")
_ERRORS = (errno.ENOSPC, errno.EIO, errno.EDQUOT)
_PAGE, _ROOM = 4096, 64 * 2**20
_NEW_MOUNTS, _NEW_USERS = 0x20000, 0x10000000  # of unshare(2)
_READ_ONLY, _REMOUNT, _PRIVATE = 1, 32, 0x4000 | 0x40000  # of mount(2)


def without() -> str:
    failed = _no_mounts()
    return failed and f"disks that are {', '.join(_MOUNTED)} ({failed})"


@cache
def _no_mounts() -> str:
    """Why no file system can be mounted, or ""."""
    with tempfile.TemporaryDirectory() as root:
        return _forked(lambda: _mount_empty(Path(root)))


def trial(seed: int) -> str | None:
    rng = random.Random(seed)
    job, ways = rng.choice(_JOBS), [way for way in _WAYS if way not in _MOUNTED or not _no_mounts()]
    whole = undisturbed(job)
    if not whole.steps:  # it writes to standard output, which the shell opens
        ways = [way for way in ways if way in ("full", "limit")]
    way = rng.choice(ways)
    with tempfile.TemporaryDirectory() as root:
        found = _forked(lambda: _attack(job, way, whole, Path(root), rng))
        return found and f"{job}, {way}: {found}"


def _attack(job: str, way: str, whole: Undisturbed, root: Path, rng: random.Random) -> str | None:
    folder = root / "here"
    if way in _MOUNTED and (failed := _mount_empty(root)):
        return failed
    whole.fresh(folder)
    with tempfile.TemporaryFile() as file:
        ended = _disturbed(job, way, whole, folder, rng, Paths(file))
        found = _wrong_end(ended, whole, folder, Paths(file).read()) or unsound(folder, whole.before, whole.after)
    if not found and way != "broken" and (left := leftovers(folder)):
        found = f"it left {left}"
    if found:
        return f"{found}\n{ended}"
    again = run(job, folder)
    if again.code not in (0, 1):
        return f"when repeated it ended with {again.code}: {again.said}"
    found = differences(folder, whole.after) or leftovers(folder)
    return f"when repeated: {found}\n{ended}" if found else None


def _wrong_end(ended: Ended, whole: Undisturbed, folder: Path, paths: set[str]) -> str | None:
    """What is wrong with exit code and message.

    Args:
        paths: those of which one could not be written, so far as the steps of the job show it.
    """
    if "Traceback" in ended.said or "internal error" in ended.said or "Exception ignored" in ended.said:
        return "it does not say what happened"
    if ended.code in (0, 1):
        warned = [line for line in ended.said.splitlines() if "warning: " in line]
        wrong = [path for path in _different(folder, whole.after) if not any(f"'{path}'" in line for line in warned)]
        return f"exit code {ended.code}, but other contents in {', '.join(wrong)}" if wrong else None
    if ended.code != 3:
        return f"exit code {ended.code}"
    if whole.steps and not any(f"'{path}'" in ended.said for path in paths):
        return f"its message names none of {', '.join(sorted(paths))}"
    return None


def _different(folder: Path, expected: Path) -> list[str]:
    now, then = contents(folder), contents(expected)
    return [path for path in sorted(now.keys() | then.keys()) if now.get(path) != then.get(path)]


class Paths:
    """Paths that a job writes to, noted in a file, as it is another process: with their final names, relative to its folder."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def note(self, what: str, path: str) -> None:
        """The path of a step."""
        if what == "fsync":  # of a descriptor
            path = os.path.relpath(os.readlink(f"/proc/self/fd/{path}"))
        folder, name = os.path.split(path)
        if name.endswith(".tmp"):
            name = name[1:].rsplit(".", 2)[0]
        os.write(self._file.fileno(), os.path.join(folder, name).encode() + b"\n")

    def read(self) -> set[str]:
        self._file.seek(0)
        return set(self._file.read().decode().splitlines())


# ---- disturbances ---------------------------------------------------------------------------------------------------------------


def _disturbed(job: str, way: str, whole: Undisturbed, folder: Path, rng: random.Random, paths: Paths) -> Ended:
    """How the job ends. Noted are the paths at which an error was made, or else all that it came to."""

    def noted(number: int, what: str, path: str) -> None:
        paths.note(what, path)

    def limited(number: int, what: str, path: str) -> None:
        paths.note(what, path)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    if way == "full":
        return _with_room(job, folder, rng.randrange(size(whole.after) // _PAGE + 2), noted)
    if way == "inodes":
        return _with_inodes(job, folder, rng.randrange(sum(1 for _ in whole.after.rglob("*")) + 1), noted)
    if way == "read-only":
        _mount(folder.parent, _REMOUNT | _READ_ONLY)
        try:
            return run(job, folder, noted)
        finally:
            _mount(folder.parent, _REMOUNT)
    if way == "limit":
        most = rng.randint(_PAGE, max(path.stat().st_size for path in whole.after.rglob("*") if path.is_file()) + _PAGE)
        return run(job, folder, limited)
    number, code = rng.randint(1, whole.steps), rng.choice(_ERRORS)
    return run(job, folder, _failing(number, code, way == "error", paths))


def _failing(first: int, code: int, once: bool, paths: Paths) -> AtStep:
    """An error at this step, and at those after it; removing a file never fails."""

    def at_step(number: int, what: str, path: str) -> None:
        if what != "unlink" and (number == first if once else number >= first):
            paths.note(what, path)
            raise OSError(code, os.strerror(code), *(() if what in ("write", "fsync") else (path,)))  # as the system names files

    return at_step


def _with_room(job: str, folder: Path, pages: int, at_step: AtStep) -> Ended:
    """On a file system with so many pages left."""
    filler = folder.parent / "filler"
    left = os.statvfs(folder).f_bavail - pages
    filler.write_bytes(bytes(max(left, 0) * _PAGE))
    try:
        return run(job, folder, at_step)
    finally:
        filler.unlink()


def _with_inodes(job: str, folder: Path, inodes: int, at_step: AtStep) -> Ended:
    """On a file system where so many more files and folders can be made."""
    used = os.statvfs(folder).f_files - os.statvfs(folder).f_ffree
    _mount(folder.parent, _REMOUNT, f"nr_inodes={used + inodes}")
    try:
        return run(job, folder, at_step)
    finally:
        _mount(folder.parent, _REMOUNT, "nr_inodes=100000")


# ---- file systems ---------------------------------------------------------------------------------------------------------------


def _forked(work: Callable[[], str | None]) -> str:
    """What the work finds, in a separate process: it can have a namespace, as it has one thread."""
    child = Child(lambda: print(work() or "", end=""))
    code = child.wait(3 * SECONDS)
    return child.said or (f"the process of the attack ended with {code}" if code else "")


def _mount_empty(place: Path) -> str:
    """Mounts an empty file system, which only this process and its children see. What failed, or ""."""
    user, group = os.getuid(), os.getgid()
    if _libc().unshare(_NEW_MOUNTS):
        if _libc().unshare(_NEW_MOUNTS | _NEW_USERS):
            return f"unshare: {_error()}"
        for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
            Path("/proc/self", name).write_text(text)
    if _libc().mount(None, b"/", None, _PRIVATE, None) or _libc().mount(b"tmpfs", bytes(place), b"tmpfs", 0, b"size=%d" % _ROOM):
        return f"mount: {_error()}"
    return ""


def _error() -> str:
    return os.strerror(ctypes.get_errno())


def _mount(place: Path, flags: int, options: str = "") -> None:
    if _libc().mount(None, bytes(place), None, flags, options.encode()):
        raise OSError(ctypes.get_errno(), f"cannot mount {place}: {_error()}")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
