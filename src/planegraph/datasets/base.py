"""The base of all datasets: finds or downloads raw files, checks them, packs them once, and loads the packed file from then on.

A packed dataset is ``<name>.safetensors`` in the cache folder, with a note ``<name>.source.json`` beside it: the digest of the raw files
it came from, the version of the reader that read them, and its summary. Loading compares the note with the raw files if these are there
(some milliseconds), and packs again when they differ; without raw files the packed file is used as it is, so that it can be copied alone
to another machine. Packing writes to temporary names and renames, the note last: a process that dies in between leaves nothing that
looks like a dataset. Loading does not read the arrays, so it does not see damage in them: a training run compares their checksums first.
"""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from ..data.packed import PackedDataset
from ..data.sizes import Categorical, Features, Mixed
from ..errors import FormatError, require
from ..io.atomic import replace_files
from ..io.checksums import read_json
from ..io.progress import Progress
from ..tasks.task import Task
from .files import RawFile, data_root, fetch, find, missing_message, packed_folder, source_digest
from .raw import RawGraphs, check_counts
from .summary import is_summary, summarise

Status = Literal[
    "ready", "ready without edge features", "can be generated", "raw files found", "can be downloaded", "raw files missing"
]


class Dataset(ABC):
    """A dataset under a data root.

    Args:
        root: the folder with raw files; default: ``PLANEGRAPH_DATA``, else a folder in the user's cache.
        cache: the folder for packed files; default: ``PLANEGRAPH_CACHE``, else a folder in the user's cache.
        download: whether missing files may be downloaded, where a source is known.
        threads: of the core when packing; all by default.

    A subclass says what it is made of (``files``, ``published``) and how to read it (:meth:`read`), and poses its :meth:`task`.
    """

    name: ClassVar[str]
    """As in ``planegraph.datasets.get(name)``."""
    title: ClassVar[str]
    """One line for people."""
    files: ClassVar[tuple[RawFile, ...]] = ()
    """The raw files; none for a dataset that is generated."""
    published: ClassVar[Mapping[str, int]] = {}
    """Published numbers of graphs, nodes, edges, and graphs in each part of the split."""
    has_edge_features: ClassVar[bool] = False
    reader_version: ClassVar[int] = 1
    """Counts changes of :meth:`read` that change its result: files packed by an older one are packed again."""

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        cache: str | os.PathLike[str] | None = None,
        *,
        download: bool = True,
        threads: int | None = None,
    ) -> None:
        self.root, self.cache = data_root(root), packed_folder(cache)
        self.download, self.threads = download, threads

    @abstractmethod
    def read(self, paths: Mapping[str, Path]) -> RawGraphs:
        """The graphs in the raw files; ``paths`` maps their names below the root to where they are."""

    @abstractmethod
    def task(self) -> Task:
        """The learning task of this dataset."""

    def load(self, edge_features: bool | None = None, verify: bool = False) -> PackedDataset:
        """The packed dataset, memory-mapped; packs it first if need be.

        Args:
            edge_features: whether edges have features; default: if there are any. Without them, walks do not depend on them either.
            verify: whether to compare the checksums of all arrays, which reads the whole file.
        """
        edge_features = self._edges(edge_features)
        path, advice = self.packed_path(edge_features), f"planegraph datasets {self.name} --pack packs it again"
        if self._note(path) is not None:
            try:
                return PackedDataset.open(path, verify=verify, advice=advice)
            except FormatError:  # damaged, or of another version of the format
                if find(self.files, self.root):
                    raise
        self.pack(edge_features)
        return PackedDataset.open(path, verify=verify, advice=advice)

    def with_returns(
        self, ds: PackedDataset, sizes: tuple[int, ...], return_steps: int, return_walks: bool
    ) -> tuple[PackedDataset, Features]:
        """The graphs with the options ``return_steps`` and ``return_walks`` of a task applied, and the sizes of their node features.

        Args:
            sizes: numbers of categories.
            return_steps: length of the random walks whose return probabilities are node features beside the categories; 0: none.
            return_walks: whether canonical walks read these, too (see :meth:`PackedDataset.with_returns`).
        """
        require_count("return_steps", return_steps)
        require_bool("return_walks", return_walks)
        require(not return_walks or return_steps > 0, f"{self.name}: return_walks needs return_steps above 0; found {return_steps}")
        if not return_steps:
            return ds, Categorical(sizes)
        return ds.with_returns(return_steps, walks=return_walks), Mixed(sizes, return_steps)

    def discard_damaged(self, edge_features: bool | None = None) -> str:
        """Reads the whole packed file, if there is one. A damaged one no longer counts as packed; returns the damage, or an empty text."""
        path = self.packed_path(edge_features)
        if self._note(path) is None:
            return ""
        try:
            PackedDataset.open(path, advice="")
        except FormatError as error:
            _note_path(path).unlink(missing_ok=True)
            return str(error)
        return ""

    def pack(self, edge_features: bool | None = None) -> None:
        """Packs the raw files, even if they were packed before."""
        edge_features = self._edges(edge_features)
        path = self.packed_path(edge_features)
        paths = fetch(self.files, self.root, self.name, self.download)
        raw = self.read(paths)
        self.check(raw)
        with Progress(f"packing {path.stem}", len(raw)) as bar:
            ds = PackedDataset.from_arrays(
                raw.batch,
                raw.x,
                raw.edge_attr if edge_features else None,
                raw.y,
                attrs=raw.attrs,
                threads=self.threads,
                on_nonplanar="set",
            )
            bar.add(len(raw))
        path.parent.mkdir(parents=True, exist_ok=True)
        _note_path(path).unlink(missing_ok=True)  # it is about the file that will be replaced
        ds.save(path)
        note = {"source": self._source(paths), "summary": {**summarise(ds), **self.extra_summary(raw)}}
        replace_files({_note_path(path): json.dumps(note, indent=1) + "\n"})

    def check(self, raw: RawGraphs) -> None:
        """Compares the raw graphs with what was published; raises :class:`FormatError`."""
        check_counts(self.name, raw, self.published)

    def extra_summary(self, raw: RawGraphs) -> dict[str, int]:
        """More numbers for the summary."""
        return {}

    def packed_path(self, edge_features: bool | None = None) -> Path:
        """The path of the packed file, packed or not."""
        return self.cache / f"{self.variant(edge_features)}.safetensors"

    def variant(self, edge_features: bool | None = None) -> str:
        """The name, with a suffix if edge features were left out."""
        plain = self.has_edge_features and not self._edges(edge_features)
        return f"{self.name}{'-no-edge-features' if plain else ''}"

    @property
    def status(self) -> Status:
        """The state of the dataset as it is loaded by default: ready, to be packed or downloaded first, or without a source.

        "ready without edge features": only the packed file without them exists.
        """
        if self._note(self.packed_path()) is not None:
            return "ready"
        if self.summary is not None:
            return "ready without edge features"
        missing = find(self.files, self.root)
        if not missing:
            return "raw files found" if self.files else "can be generated"
        return "can be downloaded" if all(file.url for file in missing) else "raw files missing"

    @property
    def summary(self) -> dict[str, int] | None:
        """Sizes, planarity and component statistics (see summary.py), if packed."""
        for edges in (True, False) if self.has_edge_features else (False,):
            note = self._note(self.packed_path(edges))
            if note is not None:
                return note["summary"]
        return None

    @property
    def how_to_get(self) -> str:
        """Instructions for the missing files: what to fetch and where to put it; empty if none is missing."""
        missing = find(self.files, self.root)
        return missing_message(self.name, missing, self.root) if missing else ""

    def _edges(self, wanted: bool | None) -> bool:
        if wanted is None:
            return self.has_edge_features
        require_bool("edge_features", wanted)
        require(self.has_edge_features or not wanted, f"{self.name} has no edge features")
        return wanted

    def _source(self, paths: Mapping[str, Path]) -> dict[str, Any]:
        return {"reader": self.reader_version, "digest": source_digest(paths)}

    def _note(self, path: Path) -> dict[str, Any] | None:
        """The note of a packed file that is up to date; None if there is none, or it came from other raw files."""
        try:
            note = read_json(_note_path(path))
        except (OSError, FormatError):
            return None
        if not path.is_file() or not is_summary(note.get("summary")):
            return None
        if find(self.files, self.root):  # nothing to compare with
            return note if self._reader(note) else None
        return note if note.get("source") == self._source({f.path: self.root / f.path for f in self.files}) else None

    def _reader(self, note: Mapping[str, Any]) -> bool:
        source = note.get("source")
        return isinstance(source, Mapping) and source.get("reader") == self.reader_version

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.status})"


def _note_path(path: Path) -> Path:
    return path.with_suffix(".source.json")


def require_bool(name: str, value: object) -> None:
    """Raises :class:`FormatError` unless an option is True or False: in settings any word is a string, and so counts as true."""
    require(isinstance(value, bool), f"{name} must be true or false; found {value!r}")


def require_count(name: str, value: object) -> None:
    """Raises :class:`FormatError` unless an option is a whole number, at least 0."""
    require(isinstance(value, int) and not isinstance(value, bool) and value >= 0, f"{name} must be 0, 1, 2, ...; found {value!r}")
