"""Temporary files: what dead writers left is removed, what living ones write is not."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from planegraph.io.atomic import replace_files, temporary_file

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="has no locks that end with their process and let a file be renamed"
)


def die(file) -> None:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)


def killed_while_writing(first: Path, second: Path) -> None:
    writer = os.fork()
    if writer == 0:
        try:
            replace_files({first: "a whole file", second: die})
        finally:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(writer, 0)[1]) == -signal.SIGKILL


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def test_what_killed_writers_left_is_removed_by_the_next(tmp_path):
    """A run that was killed again and again while it saved left a temporary file each time."""
    a, b = tmp_path / "a[1]", tmp_path / "b"
    b.write_text("old")
    for _ in range(3):
        killed_while_writing(a, b)
        assert b.read_text() == "old"
        assert len(names(tmp_path)) == 3  # the old file, and one beside each
    replace_files({a: "new"})
    assert len(names(tmp_path)) == 3  # that of b is left to a writer of b
    replace_files({b: "new"})
    assert names(tmp_path) == ["a[1]", "b"]


def test_what_a_living_writer_writes_is_left_alone(tmp_path):
    path = tmp_path / "a"

    def while_another_writes(file):
        file.write(b"first")
        replace_files({path: "second"})
        assert path.read_text() == "second"

    replace_files({path: while_another_writes})
    assert path.read_text() == "first"
    assert names(tmp_path) == ["a"]


def test_only_leftovers_of_the_same_name_are_removed(tmp_path):
    others = [".a.tmp", ".a.0123456789abcdef.tmp.gz", ".a.b.0123456789abcdef.tmp", ".a.0123456789abcdeX.tmp", ".a.txt"]
    for name in [*others, ".a.0123456789abcdef.tmp"]:
        (tmp_path / name).write_text("x")
    replace_files({tmp_path / "a": "new"})
    assert names(tmp_path) == sorted([*others, "a"])


def test_a_file_that_cannot_be_made_is_named_as_it_will_be(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"No such file or directory: '.*/no/a'"), temporary_file(tmp_path / "no" / "a"):
        pass


def test_a_file_system_without_locks(tmp_path, monkeypatch):
    import fcntl

    def refuse(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", refuse)
    leftover = tmp_path / ".a.0123456789abcdef.tmp"
    leftover.write_text("x")
    replace_files({tmp_path / "a": "new"})
    assert names(tmp_path) == [leftover.name, "a"]
