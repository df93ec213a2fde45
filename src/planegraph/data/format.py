"""A packed dataset on disk: one safetensors file, written so that it is never half there, and mapped so that it need not be read.

::

    8 bytes   length of the header
    header    JSON: type, shape and place of each array; ``__metadata__["planegraph"]`` is the manifest, a JSON text:
              format, version, labels, counts, and for each array its type, shape and CRC-32. Padded with blanks to 64 bytes.
    arrays    wide types first, so that each is aligned; without gaps
    seal      the last array: CRC-32 of everything before the arrays

The seal vouches for the header, and the header for every array, so any flipped bit is found. Any safetensors reader reads the file.
A copy of the manifest lies beside it as ``<file>.json`` for people and tools; :func:`open_packed` never looks at that.

Writing goes to a temporary name in the same folder, then to the disk (fsync), then takes the file's name. A writer that dies leaves the
old file or the new one, and perhaps a file ``.<name>.*.tmp``, which the next writer removes (io/atomic.py).

Opening costs O(graphs), plus one pass over the bytes (some GB/s) for the checksums. With ``verify=False`` that pass is over positions and
depths alone, which must not exceed what the tables can hold, and :meth:`PackedFile.verify` can do the rest later; saving does.

A file of up to a mebibyte is read into memory, a larger one is mapped. Truncating a file that is mapped, or overwriting it in place,
ends the processes that read it (SIGBUS) or changes their data; writing as above, or any other renaming, leaves them the old file.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from reprlib import repr as shown  # in a message, of what a file claims
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ..errors import FormatError
from ..io.atomic import naming_file, replace_files
from ..io.reading import TENSORS, checked_size, open_file
from .checks import check_offsets, check_positions
from .features import Features
from .fingerprint import VERSION
from .tables import NAMES, PackedTables

if TYPE_CHECKING:
    from .packed import PackedDataset

FORMAT = "planegraph-packed"
SEAL = "seal"
_ALIGN = 64
_MAX_HEADER = 64 * 2**20  # ours have a few kB
_SMALL = 2**20  # files up to here are read, others mapped
_ADVICE = "Pack the data again, or copy the file again"
_ATTR = "attrs."  # attribute ``name`` of the graphs is stored as array ``attrs.name``

DTYPES = {
    "BOOL": np.dtype(np.bool_),
    "U8": np.dtype("<u1"),
    "I8": np.dtype("<i1"),
    "U16": np.dtype("<u2"),
    "I16": np.dtype("<i2"),
    "F16": np.dtype("<f2"),
    "U32": np.dtype("<u4"),
    "I32": np.dtype("<i4"),
    "F32": np.dtype("<f4"),
    "U64": np.dtype("<u8"),
    "I64": np.dtype("<i8"),
    "F64": np.dtype("<f8"),
}
"""The types of safetensors that numpy has."""

_CODES = {dtype: code for code, dtype in DTYPES.items()}


# ---- writing ----------------------------------------------------------------------------------------------------------------


def save(ds: PackedDataset, path: str | os.PathLike[str]) -> None:
    """Writes a dataset, replacing the file if there is one.

    >>> import tempfile, planegraph as pg
    >>> from planegraph.data import PackedDataset
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     PackedDataset.from_graphs([pg.families.cycle(5)]).save(f"{folder}/cycles.safetensors")
    ...     print(PackedDataset.open(f"{folder}/cycles.safetensors"))
    PackedDataset(1 graph, 5 nodes, 5 edges)
    """
    ds.verify()  # new checksums would vouch for whatever was read
    path = Path(path)
    arrays = arrays_of(ds)
    manifest = _manifest(ds, arrays)
    header = _header(arrays, manifest)
    seal = np.array([zlib.crc32(header)], DTYPES["U32"])

    def body(file: IO[bytes]) -> None:
        file.write(header)
        for array in (*arrays.values(), seal):
            file.write(_bytes(array))

    text = json.dumps(manifest, indent=1) + "\n"
    replace_files({path: body, manifest_path(path): text})


def manifest_path(path: str | os.PathLike[str]) -> Path:
    """Where the readable copy of the manifest lies: ``zinc.safetensors.json`` beside ``zinc.safetensors``."""
    return Path(f"{os.fspath(path)}.json")


def arrays_of(ds: PackedDataset) -> dict[str, np.ndarray]:
    """All arrays of the file but the seal, in the order of the file."""
    f = ds.features
    named = {name: ds.tables[name] for name in NAMES}
    named |= {"x": f.x, "edge_attr": f.edge_attr, "dart_attr": f.dart_attr, "y": f.y, "skipped": ds.skipped}
    named |= {_ATTR + name: values for name, values in f.attrs.items()} | {"node_orbit": f.orbits}
    arrays = {name: np.ascontiguousarray(values) for name, values in named.items() if values is not None}
    return dict(sorted(arrays.items(), key=lambda item: (-item[1].itemsize, item[0])))


def _manifest(ds: PackedDataset, arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    described = {
        name: {"dtype": _CODES[a.dtype.newbyteorder("<")], "shape": list(a.shape), "crc32": checksum(a)}
        for name, a in sorted(arrays.items())
    }
    tables = ("node", "edge", "walk", "spqr", "block", "cut")
    return {
        "format": FORMAT,
        "version": VERSION,
        "fingerprint": ds.fingerprint,
        "labels": {"nodes": list(ds.node_labels), "edges": list(ds.edge_labels)},
        "counts": {**ds.counts, **{table: ds.tables.size(table) for table in tables}},
        "attrs": list(ds.attrs),
        "content": blake2b(json.dumps(described).encode(), digest_size=16).hexdigest(),
        "arrays": described,
    }


def _header(arrays: Mapping[str, np.ndarray], manifest: Mapping[str, Any]) -> bytes:
    """Everything before the arrays."""
    header: dict[str, Any] = {"__metadata__": {"planegraph": json.dumps(manifest)}}
    at = 0
    for name, (code, shape, size) in {
        **{name: (_CODES[a.dtype.newbyteorder("<")], list(a.shape), a.nbytes) for name, a in arrays.items()},
        SEAL: ("U32", [1], 4),
    }.items():
        header[name] = {"dtype": code, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % _ALIGN)
    return len(text).to_bytes(8, "little") + text


def _bytes(array: np.ndarray) -> memoryview:
    return array.astype(array.dtype.newbyteorder("<"), copy=False).reshape(-1).view(np.uint8).data


def checksum(array: np.ndarray) -> int:
    """The CRC-32 of an array's bytes as they lie in a file.

    >>> f"{checksum(np.frombuffer(b'123456789', np.uint8)):08x}"
    'cbf43926'
    """
    return zlib.crc32(_bytes(array))


# ---- reading ----------------------------------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class PackedFile:
    """A file as it was opened: what its manifest says, its arrays, and whether their checksums were compared.

    Args:
        advice: how to mend the file, for messages.
        place: the absolute path of a file that is mapped, and what tells it from another file there; None if it was read into memory.
    """

    path: str
    manifest: Mapping[str, Any]
    arrays: Mapping[str, np.ndarray]
    advice: str = _ADVICE
    verified: bool = False
    place: tuple[str, Any] | None = None

    def verify(self) -> None:
        """Compares the checksums of all arrays, which reads the whole file; only the first time. FormatError names the file."""
        if not self.verified:
            with _naming(self.path, self.advice):
                _check_sums(self.manifest, self.arrays)
            self.verified = True

    def can_be_mapped_again(self) -> bool:
        """Whether the file is a mapped one and still at its place, so that a copy in another process need not carry its bytes."""
        try:
            return self.place is not None and _identity(os.stat(self.place[0])) == self.place[1]
        except OSError:
            return False

    def __reduce__(self) -> tuple[Any, ...]:
        return _open_again, (self.place, self.manifest["content"], self.advice, self.verified)


def _open_again(place: tuple[str, tuple[int, ...]], content: str, advice: str, verified: bool) -> PackedFile:
    """The same file; of another one in its place, which may be damaged, the checksums are compared."""
    path, identity = place
    with _naming(path, advice):
        try:
            file = _open_file(path, advice)
        except FileNotFoundError:
            raise FormatError("it is not there, but the pickled dataset reads it; save a dataset to keep it") from None
        _check(file.manifest["content"] == content, "it was replaced after the dataset was pickled")
        if file.place is None or file.place[1] != identity:
            _check_sums(file.manifest, file.arrays)
            verified = True
    file.verified = verified
    return file


def _identity(stat: os.stat_result) -> tuple[int, ...]:
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns


def open_packed(path: str | os.PathLike[str], verify: bool = True, advice: str = _ADVICE) -> PackedDataset:
    """Opens a file; a large one is mapped into memory. Whatever is not exactly what :func:`save` wrote is refused with
    :class:`planegraph.FormatError`.

    Args:
        verify: whether to compare the checksums of all arrays, which reads the whole file once. Without it only the header, sizes
            and offsets are checked, and that no position or depth is beyond the size of its table.
        advice: how to mend the file, the end of every message about it.
    """
    with _naming(path, advice):
        file = _open_file(path, advice)
        if verify:
            _check_sums(file.manifest, file.arrays)
            file.verified = True
        return _dataset(file)


def _open_file(path: str | os.PathLike[str], advice: str) -> PackedFile:
    with open_file(path) as file:
        stat = os.fstat(file.fileno())
        _check(stat.st_size >= 8, f"it has {stat.st_size} bytes and is not a safetensors file")
        mapped = stat.st_size > _SMALL
        buffer = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if mapped else file.read()
        place = (os.path.abspath(path), _identity(stat)) if mapped else None
        return PackedFile(os.fspath(path), *_read(buffer), advice, place=place)


def read_tensors(path: Path) -> tuple[bytes, dict[str, str]]:
    """A safetensors file that is read as a whole, such as a model, and its metadata; :func:`open_packed` is for datasets.

    FormatError, before more than the header is read, unless the file has the size that this says; other exceptions if it is not JSON.
    """
    with open_file(path) as file, naming_file(path):
        size = checked_size(file, TENSORS)
        length = int.from_bytes(file.read(8), "little")
        _check(2 <= length <= min(_MAX_HEADER, size - 8), f"{path} is damaged: it has {size:,} bytes, its header {length:,}")
        header = json.loads(file.read(length))
        told = header.pop("__metadata__", {})
        end = 8 + length + max((entry["data_offsets"][1] for entry in header.values()), default=0)
        _check(size == end, f"{path} is damaged: it has {size:,} bytes; its header tells of {end:,}")
        file.seek(0)
        return file.read(size), told


@contextmanager
def _naming(path: str | os.PathLike[str], advice: str) -> Iterator[None]:
    """What is wrong with a file becomes a message that names it and ends with the advice."""
    try:
        yield
        return
    except FormatError as error:
        problem = str(error)
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        problem = f"its header is not one of planegraph ({type(error).__name__}: {shown(str(error))}); it is damaged"
    raise FormatError(f"cannot open {os.fspath(path)!r}: {problem}{'. ' if advice else ''}{advice}")


def _read(buffer: mmap.mmap | bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The manifest, and views of all arrays. Where size and seal fit, the header is what was written, and no more of it is checked."""
    length = int.from_bytes(buffer[:8], "little")
    _check(
        2 <= length <= min(_MAX_HEADER, len(buffer) - 8),
        f"a header of {length} bytes cannot be in a file of {len(buffer)}; it is truncated, damaged or not a safetensors file",
    )
    start = 8 + length
    header = _object(buffer[8:start], "the header")
    manifest = _find_manifest(header.pop("__metadata__", None))
    size = max(entry["data_offsets"][1] for entry in header.values())
    there = len(buffer) - start
    _check(size == there, f"its arrays need {size} bytes, but {there} are there; it is truncated, or something was appended")
    found, seal = zlib.crc32(memoryview(buffer)[:start]), int.from_bytes(buffer[-4:], "little")
    _check(seal == found, f"the checksum of its header is {found:08x}, not {seal:08x}; it is damaged")
    arrays = {name: _view(buffer, start, entry) for name, entry in header.items() if name != SEAL}
    return manifest, arrays


def _object(data: bytes | str, what: str) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{what} is not JSON ({error}); the file is damaged or not a safetensors file") from None
    _check(isinstance(value, dict), f"{what} must be a JSON object; found {type(value).__name__}")
    return value


def _find_manifest(metadata: Any) -> dict[str, Any]:
    text = metadata.get("planegraph") if isinstance(metadata, dict) else None
    _check(isinstance(text, str), "it may be a safetensors file, but holds no packed dataset of planegraph (no manifest)")
    manifest = _object(text, "the manifest")
    _check(manifest.get("format") == FORMAT, f"its format is {shown(manifest.get('format'))}, not {FORMAT!r}")
    version = manifest.get("version")
    _check(version == VERSION, f"it has format version {shown(version)}; this planegraph reads version {VERSION}")
    _check(isinstance(manifest.get("content"), str), "its manifest has no digest of its content")
    labels = manifest.get("labels")
    names = [labels.get(key) for key in ("nodes", "edges")] if isinstance(labels, dict) else [None]
    _check(all(isinstance(n, list) and all(isinstance(s, str) for s in n) for n in names), "its labels are not lists of names")
    return manifest


def _view(buffer: mmap.mmap | bytes, start: int, entry: Mapping[str, Any]) -> np.ndarray:
    dtype, shape, begin = DTYPES[entry["dtype"]], entry["shape"], entry["data_offsets"][0]
    count = math.prod(shape)
    return np.frombuffer(buffer, dtype, count, start + begin).reshape(shape) if count else np.empty(shape, dtype)


def _check_sums(manifest: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    for name, array in arrays.items():
        wanted, found = manifest["arrays"][name]["crc32"], checksum(array)
        _check(wanted == found, f"the checksum of array {name} is {found:08x}, not {wanted:08x}; it is damaged")


def _dataset(file: PackedFile) -> PackedDataset:
    from .packed import PackedDataset

    manifest, arrays = file.manifest, file.arrays
    tables = PackedTables(arrays)
    check_offsets(tables)
    if not file.verified:
        _check_bounds(tables, manifest)
    labels, features = manifest["labels"], features_of(arrays, manifest["attrs"])
    names = {"node_labels": labels["nodes"], "edge_labels": labels["edges"]}
    return PackedDataset(tables, features, **names, skipped=arrays["skipped"], file=file)


def features_of(arrays: Mapping[str, np.ndarray], attrs: Iterable[str]) -> Features:
    """The features among the arrays of a file; ``attrs`` names those that have a row per graph, in order."""
    named = {name: arrays[_ATTR + name] for name in attrs}
    edges = arrays.get("edge_attr") if arrays.get("dart_attr") is None else arrays["dart_attr"]
    return Features(arrays.get("x"), edges, arrays.get("y"), named, arrays.get("node_orbit"))


def _check_bounds(tables: PackedTables, manifest: Mapping[str, Any]) -> None:
    """What no checksum vouches for must not ask for more memory than the file is large."""
    check_positions(tables)
    nodes, wanted = tables.size("node"), manifest["counts"]["node"]
    _check(nodes == wanted, f"its tables have {nodes} nodes; the manifest says {wanted}")


def _check(condition: bool, message: str) -> None:
    if not condition:
        raise FormatError(message)
