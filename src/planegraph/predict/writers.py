"""Tables and arrays, written a chunk at a time in bounded memory. A file appears when it is complete."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from ..errors import FormatError, MissingDependencyError
from ..io.atomic import replace_files
from ..io.csv_text import CsvWriter

_ROW_GROUP, _CHARACTERS = 2**16, 2**26
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
Chunks = Iterable[Sequence[Sequence[str]]]


def write_rows(path: Path, columns: Sequence[str], numbers: Sequence[str], chunks: Chunks) -> None:
    """Writes rows of texts as the ending of the path says: ``.csv``, ``.tsv``, also with ``.gz``, or ``.parquet``, ``.pq``.

    Args:
        numbers: the columns that Parquet has as numbers, null where the text is empty; all others are texts.
    """
    zipped = path.suffix.lower() == ".gz"
    ending = (path.with_suffix("") if zipped else path).suffix.lower()
    if ending in (".parquet", ".pq") and not zipped:
        write = partial(_write_parquet, _arrow(path), columns, frozenset(numbers), chunks)
    elif ending in _DELIMITERS:
        write = partial(_write_gzip if zipped else _write_text, columns, _DELIMITERS[ending], chunks)
    else:
        raise FormatError(f"{path}: the name of a table ends in .csv, .tsv, .csv.gz, .tsv.gz or .parquet")
    replace_files({path: write})


def write_npy(path: Path, width: int, chunks: Iterable[np.ndarray]) -> None:
    """Writes float32 arrays (rows, width) as one array of a .npy file. Its header, which counts the rows, is written last."""
    if path.suffix.lower() != ".npy":
        raise FormatError(f"{path}: the name of an array ends in .npy")

    def write(file: IO[bytes]) -> None:
        rows = 0
        _write_npy_header(file, (rows, width))
        start = file.tell()
        for chunk in chunks:
            file.write(np.ascontiguousarray(chunk, np.float32).data)
            rows += len(chunk)
        file.seek(0)
        _write_npy_header(file, (rows, width))
        if file.tell() != start:  # numpy leaves room for any number of rows
            raise FormatError(f"{path}: the header of {rows} rows does not fit; this is a bug")

    replace_files({path: write})


def _write_npy_header(file: IO[bytes], shape: tuple[int, int]) -> None:
    npy.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})


def _write_text(columns: Sequence[str], delimiter: str, chunks: Chunks, file: IO[bytes] | gzip.GzipFile) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = CsvWriter(text, delimiter)
    writer.writerow(columns)
    for rows in chunks:
        writer.writerows(rows)
    text.detach()  # flushes; the file stays open


def _write_gzip(columns: Sequence[str], delimiter: str, chunks: Chunks, file: IO[bytes]) -> None:
    """Without name and time in the header: equal tables are equal files."""
    with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
        _write_text(columns, delimiter, chunks, packed)


def _write_parquet(arrow: Any, columns: Sequence[str], numbers: frozenset[str], chunks: Chunks, file: IO[bytes]) -> None:
    types = [arrow.float64() if name in numbers else arrow.string() for name in columns]
    schema = arrow.schema(list(zip(columns, types, strict=True)))
    with arrow.parquet.ParquetWriter(file, schema) as writer:
        for rows in _joined(chunks, _ROW_GROUP):
            by_column = zip(*rows, strict=True)
            values = [
                [float(text) if text else None for text in texts] if name in numbers else texts
                for name, texts in zip(columns, by_column, strict=True)
            ]
            writer.write_table(arrow.table(values, schema=schema))


def _joined(chunks: Chunks, size: int) -> Iterator[list[Sequence[str]]]:
    """Joins rows to chunks of at least this size, or of 64 Mi characters, except for the last."""
    kept: list[Sequence[str]] = []
    characters = 0
    for rows in chunks:
        kept += rows
        characters += sum(len(cell) for row in rows for cell in row)
        if len(kept) >= size or characters >= _CHARACTERS:
            yield kept
            kept, characters = [], 0
    if kept:
        yield kept


def _arrow(path: Path) -> Any:
    try:
        import_module("pyarrow.parquet")
        return import_module("pyarrow")
    except ImportError:
        raise MissingDependencyError(f"writing {path} needs pyarrow: pip install pyarrow. Or name a .csv file") from None
