"""Downloads, from this machine to itself: complete and right, or not there at all."""

from __future__ import annotations

import gzip
import hashlib

import pytest

from planegraph.datasets.files import MissingDataError, RawFile, fetch
from planegraph.errors import FormatError

CONTENTS = b"some numbers\n" * 1000


def offered(folder, name: str = "data.txt", contents: bytes = CONTENTS, sha256: str | None = None) -> RawFile:
    source = folder / "source" / name
    source.parent.mkdir(exist_ok=True)
    source.write_bytes(contents)
    return RawFile(f"there/{name}", "numbers.", source.as_uri(), sha256)


def test_a_download_takes_its_name_when_it_is_whole(tmp_path):
    file = offered(tmp_path, sha256=hashlib.sha256(CONTENTS).hexdigest())
    paths = fetch([file], tmp_path / "root", "numbers")
    assert paths["there/data.txt"].read_bytes() == CONTENTS
    assert [p.name for p in (tmp_path / "root" / "there").iterdir()] == ["data.txt"]


def test_the_checksum_of_a_zipped_file_is_that_of_its_contents(tmp_path):
    file = offered(tmp_path, "data.gz", gzip.compress(CONTENTS, 1), hashlib.sha256(CONTENTS).hexdigest())
    fetch([file], tmp_path / "root", "numbers")


def test_a_wrong_checksum_leaves_nothing(tmp_path):
    file = offered(tmp_path, sha256="0" * 64)
    with pytest.raises(FormatError, match="SHA-256"):
        fetch([file], tmp_path / "root", "numbers")
    assert not list((tmp_path / "root" / "there").iterdir())


def test_a_file_that_is_there_is_checked_and_not_fetched(tmp_path):
    file = offered(tmp_path, sha256=hashlib.sha256(CONTENTS).hexdigest())
    target = tmp_path / "root" / "there" / "data.txt"
    target.parent.mkdir(parents=True)
    target.write_bytes(b"other")
    with pytest.raises(FormatError, match="SHA-256"):
        fetch([file], tmp_path / "root", "numbers")
    assert target.read_bytes() == b"other"


def test_no_download_if_told_so_or_in_vain(tmp_path):
    file = offered(tmp_path)
    manual = RawFile("there/other.txt", "made by hand.")
    with pytest.raises(MissingDataError, match=r"data\.txt"):
        fetch([file], tmp_path / "root", "numbers", download=False)
    with pytest.raises(MissingDataError, match="made by hand"):
        fetch([file, manual], tmp_path / "root", "numbers")
    assert not (tmp_path / "root").exists()


def test_a_source_that_is_gone(tmp_path):
    file = RawFile("there/data.txt", "numbers.", (tmp_path / "gone").as_uri())
    with pytest.raises(MissingDataError, match="could not be downloaded"):
        fetch([file], tmp_path / "root", "numbers")
