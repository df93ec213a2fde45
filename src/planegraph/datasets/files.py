"""Files of datasets: their folders, names, sources and checksums.

Raw files are under the data root: the ``root`` argument, else the folder that the environment variable ``PLANEGRAPH_DATA`` names, else
``data`` in planegraph's cache folder. Packed files are under the ``cache`` argument, else ``PLANEGRAPH_CACHE``, else ``packed`` in that
folder: the root may be read-only, or shared by several versions of the format. The cache folder is ``planegraph`` in ``XDG_CACHE_HOME``,
or in ``.cache`` of the user's home.

A :class:`RawFile` is looked for under the data root. If it is not there it is downloaded, where a public source in a known format
exists; a download goes to a temporary name and takes the file's name when it is complete and its checksum fits, so that a file
under its name is complete. Everything else is an error that says what to fetch and where to put it.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ..errors import FormatError, PlanegraphError
from ..io.atomic import take_name, temporary_file
from ..io.progress import Progress

ROOT_VARIABLE = "PLANEGRAPH_DATA"
CACHE_VARIABLE = "PLANEGRAPH_CACHE"
_CHUNK = 1 << 20
UNREADABLE = (ValueError, EOFError, gzip.BadGzipFile, zipfile.BadZipFile, zlib.error)
"""Errors that reading a damaged file raises."""


def data_root(root: str | os.PathLike[str] | None = None) -> Path:
    """The folder of raw files.

    >>> data_root("somewhere").name
    'somewhere'
    """
    return _chosen(root, ROOT_VARIABLE, "data")


def packed_folder(cache: str | os.PathLike[str] | None = None) -> Path:
    """The folder of packed datasets."""
    return _chosen(cache, CACHE_VARIABLE, "packed")


def _chosen(given: str | os.PathLike[str] | None, variable: str, name: str) -> Path:
    named = given if given is not None else os.environ.get(variable)
    if named:
        return Path(named).expanduser()
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "planegraph" / name


class MissingDataError(PlanegraphError, FileNotFoundError):
    """Raw files are not there and cannot be downloaded; the message says what to fetch and where to put it."""


@dataclass(frozen=True)
class RawFile:
    """A file that a dataset is made from.

    Args:
        path: below the data root.
        what: its contents and format, for someone who has to provide it.
        url: a public source in this format, or None.
        sha256: of its contents (unzipped, if the name ends in ``.gz``: compressors differ); None if unknown.
    """

    path: str
    what: str
    url: str | None = None
    sha256: str | None = None


def find(files: Sequence[RawFile], root: Path) -> list[RawFile]:
    """The files that are missing under ``root``."""
    return [file for file in files if not (root / file.path).is_file()]


def fetch(files: Sequence[RawFile], root: Path, dataset: str, download: bool = True) -> dict[str, Path]:
    """The paths of all files, after missing ones that have a source are downloaded; known checksums are compared."""
    missing = find(files, root)
    manual = [file for file in missing if file.url is None]
    if manual or (missing and not download):
        raise MissingDataError(missing_message(dataset, missing, root))
    for file in files:
        if file in missing:
            _download(file, root, dataset)
        else:
            check_sum(file, root / file.path)
    return {file.path: root / file.path for file in files}


def missing_message(dataset: str, missing: Sequence[RawFile], root: Path) -> str:
    """Instructions: what to fetch and where to put it."""
    lines = [f"{dataset} needs raw files that are not under {root} (--data, root=..., or the variable PLANEGRAPH_DATA):"]
    for file in missing:
        source = f" Source: {file.url}" if file.url else ""
        lines.append(f"  {root / file.path}\n      {file.what}{source}")
    return "\n".join(lines)


def _download(file: RawFile, root: Path, dataset: str) -> None:
    target = root / file.path
    target.parent.mkdir(parents=True, exist_ok=True)
    with temporary_file(target) as out:
        try:
            _receive(file.url, out, target.name)
        except MissingDataError as error:
            raise MissingDataError(f"{error}\n{missing_message(dataset, [file], root)}") from None
        check_sum(file, Path(out.name))
        take_name(out, target)


def _receive(url: str, out: IO[bytes], name: str) -> None:
    try:
        with urllib.request.urlopen(url, timeout=60) as source:
            size = source.headers.get("Content-Length")
            total = int(size) if size else None
            with Progress(f"downloading {name}", total, "bytes") as bar:
                while chunk := source.read(_CHUNK):
                    out.write(chunk)
                    bar.add(len(chunk))
            out.flush()
            os.fsync(out.fileno())
    except (urllib.error.URLError, TimeoutError) as error:
        raise MissingDataError(f"{name} could not be downloaded from {url}: {error}") from None
    if total is not None and bar.done != total:
        raise MissingDataError(f"{name}: the download from {url} broke off after {bar.done} of {total} bytes; try again")


def check_sum(file: RawFile, path: Path) -> None:
    """Raises :class:`FormatError` unless the contents have the known checksum."""
    if file.sha256 is None:
        return
    digest = hashlib.sha256()
    try:
        with gzip.open(path, "rb") if file.path.endswith(".gz") else open(path, "rb") as source:
            while chunk := source.read(_CHUNK):
                digest.update(chunk)
    except (OSError, *UNREADABLE) as error:
        raise FormatError(f"{file.path} is damaged: {error}") from None
    if digest.hexdigest() != file.sha256:
        raise FormatError(
            f"the contents of {file.path} have SHA-256 {digest.hexdigest()}, not {file.sha256}: it is damaged, or its source has changed"
        )


def source_digest(paths: Mapping[str, Path]) -> str:
    """One digest of all raw files; some milliseconds for the sizes met here."""
    total = hashlib.blake2b(digest_size=16)
    for name in sorted(paths):
        with open(paths[name], "rb") as file:
            total.update(f"{name}\0{hashlib.file_digest(file, 'blake2b').hexdigest()}\n".encode())
    return total.hexdigest()
