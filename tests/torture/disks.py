"""Disks that are full, broken or read-only, while planegraph packs, trains, saves, reports, predicts or writes to standard output.

A job (tests/jobs.py) meets a small file system with less room than it needs, or too few inodes; one that is mounted read-only; a limit on
the size of files; or an error at one of its steps, in the middle of a write, too. It must end with exit code 3 and a message that names
what could not be written; what was there before must still be there and sound, with nothing half-written beside it. Once there is room, the
same command must come to the files of a run that was not disturbed.

Root, and users who may make namespaces, get file systems of their own (tmpfs in a private mount namespace), which end with the process that
made them. Elsewhere a trial that needs one meets the limit on the size of files instead.
"""

from __future__ import annotations

import ctypes
import errno
import os
import random
import resource
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

from jobs import Ended, Undisturbed, run, undisturbed
from left_files import differences, leftovers, size, unsound

_JOBS = (
    "data", "other data", "other model", "pack", "train", "train", "longer", "longer", "one by one", "benchmark", "sweep",
    "report", "predict", "predict anew", "predict by workers", "predict parquet", "embed", "canon", "decompose",
)  # fmt: skip
_WAYS = ("full", "full", "inodes", "read-only", "limit", "error", "error", "broken")
_ERRORS = (errno.ENOSPC, errno.EIO, errno.EDQUOT)
_PAGE, _ROOM = 4096, 64 * 2**20
_NEW_MOUNTS, _NEW_USERS = 0x20000, 0x10000000  # of unshare(2)
_READ_ONLY, _REMOUNT, _PRIVATE = 1, 32, 0x4000 | 0x40000  # of mount(2)


def trial(seed: int) -> str | None:
    rng = random.Random(seed)
    job, way = rng.choice(_JOBS), rng.choice(_WAYS)
    whole = undisturbed(job)
    if not whole.steps:  # it writes to standard output, which the shell opens
        way = rng.choice(("full", "limit"))
    with tempfile.TemporaryDirectory() as root:
        found = _forked(lambda: _attack(job, way, whole, Path(root), rng))
        return found and f"{job}, {way}: {found}"


def _attack(job: str, way: str, whole: Undisturbed, root: Path, rng: random.Random) -> str | None:
    folder = root / "here"
    if way in ("full", "inodes", "read-only") and not _has_mounted(root):
        way = "limit"
    whole.fresh(folder)
    ended = _disturbed(job, way, whole, folder, rng)
    found = _wrong_end(ended, whole, folder) or unsound(folder, whole.before, whole.after)
    if not found and way != "broken" and (left := leftovers(folder)):
        found = f"it left {left}"
    if found:
        return f"{found}\n{ended}"
    again = run(job, folder)
    if again.code not in (0, 1):
        return f"when repeated it ended with {again.code}: {again.said}"
    found = differences(folder, whole.after) or leftovers(folder)
    return f"when repeated: {found}\n{ended}" if found else None


def _wrong_end(ended: Ended, whole: Undisturbed, folder: Path) -> str | None:
    """What is wrong with exit code and message."""
    if "Traceback" in ended.said or "internal error" in ended.said or "Exception ignored" in ended.said:
        return "it does not say what happened"
    if ended.code in (0, 1):
        missing = differences(folder, whole.after)
        return f"exit code {ended.code}, but {missing}" if missing and "warning: " not in ended.said else None
    if ended.code != 3:
        return f"exit code {ended.code}"
    names = {path.name for place in (whole.before, whole.after) for path in place.rglob("*")}
    if whole.steps and not any(name in ended.said for name in names):
        return "its message names no file"
    return None


# ---- disturbances ---------------------------------------------------------------------------------------------------------------


def _disturbed(job: str, way: str, whole: Undisturbed, folder: Path, rng: random.Random) -> Ended:
    needed = size(whole.after)
    if way == "full":
        return _with_room(job, folder, rng.randrange(needed // _PAGE + 2))
    if way == "inodes":
        return _with_inodes(job, folder, rng.randrange(sum(1 for _ in whole.after.rglob("*")) + 1))
    if way == "read-only":
        _mount(folder.parent, _REMOUNT | _READ_ONLY)
        try:
            return run(job, folder)
        finally:
            _mount(folder.parent, _REMOUNT)
    if way == "limit":
        most = rng.randint(_PAGE, max(path.stat().st_size for path in whole.after.rglob("*") if path.is_file()) + _PAGE)
        return run(job, folder, lambda number, what, path: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
    number, code = rng.randint(1, whole.steps), rng.choice(_ERRORS)
    return run(job, folder, _failing(number, code, once=way == "error"))


def _failing(first: int, code: int, once: bool) -> Callable[[int, str, str], None]:
    """An error at this step, and at those after it; removing a file never fails."""

    def at_step(number: int, what: str, path: str) -> None:
        if what != "unlink" and (number == first if once else number >= first):
            raise OSError(code, os.strerror(code), *(() if what in ("write", "fsync") else (path,)))  # as the system names files

    return at_step


def _with_room(job: str, folder: Path, pages: int) -> Ended:
    """On a file system with so many pages left."""
    filler = folder.parent / "filler"
    left = os.statvfs(folder).f_bavail - pages
    filler.write_bytes(bytes(max(left, 0) * _PAGE))
    try:
        return run(job, folder)
    finally:
        filler.unlink()


def _with_inodes(job: str, folder: Path, inodes: int) -> Ended:
    """On a file system where so many more files and folders can be made."""
    used = os.statvfs(folder).f_files - os.statvfs(folder).f_ffree
    _mount(folder.parent, _REMOUNT, f"nr_inodes={used + inodes}")
    try:
        return run(job, folder)
    finally:
        _mount(folder.parent, _REMOUNT, "nr_inodes=100000")


# ---- file systems ---------------------------------------------------------------------------------------------------------------


def _forked(work: Callable[[], str | None]) -> str | None:
    """What the work finds, in a process of its own: it can have a namespace, as it has one thread."""
    with tempfile.TemporaryFile() as answer:
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                answer.write((work() or "").encode())
                answer.flush()
                code = 0
            except BaseException:
                answer.write(traceback.format_exc().encode())
                answer.flush()
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        answer.seek(0)
        return answer.read().decode() or (f"the process of the attack ended with {code}" if code else None)


def _has_mounted(place: Path) -> bool:
    """Mounts an empty file system, which only this process and its children see."""
    user, group = os.getuid(), os.getgid()
    if _libc().unshare(_NEW_MOUNTS):
        if _libc().unshare(_NEW_MOUNTS | _NEW_USERS):
            return False
        for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
            Path("/proc/self", name).write_text(text)
    if _libc().mount(None, b"/", None, _PRIVATE, None):
        return False
    return _libc().mount(b"tmpfs", bytes(place), b"tmpfs", 0, f"size={_ROOM}".encode()) == 0


def _mount(place: Path, flags: int, options: str = "") -> None:
    if _libc().mount(None, bytes(place), None, flags, options.encode()):
        raise OSError(ctypes.get_errno(), f"cannot mount {place}: {os.strerror(ctypes.get_errno())}")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
