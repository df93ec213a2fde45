"""Tables of molecules, read row by row: CSV, TSV, Parquet, SDF and SMILES files.

======================  =======================================================================================================
``.csv``, ``.tsv``      a header, then a row per molecule; cells as in RFC 4180. A ``.csv`` whose header has tabs or semicolons and
                        no comma is separated by those
``.smi``, ``.smiles``   a SMILES and an optional name on each line, in columns ``smiles`` and ``name``; a header that starts with
                        the word ``smiles`` is skipped
``.sdf``, ``.sd``       read by RDKit. Column ``smiles`` is the canonical isomeric SMILES; then one column for each property of the
                        first 1,000 records, except a property called ``smiles``. Properties first seen later are ignored
``.parquet``, ``.pq``   read by pyarrow. Numbers become the text that reads back as the same number; booleans become 1 and 0
======================  =======================================================================================================

All but Parquet may be gzipped (``.gz``). Text is UTF-8, with or without a byte order mark, and lines end as on any system. Blank lines
are skipped and not counted. Cells keep every character, blanks included; only column names are stripped.

Memory is bounded by the chunk, which ends early after 16 Mi characters, and by as many for a row of text, or 256 Ki lines: a quote that is
never closed is an error, not the rest of the file in one cell, and a small gzipped file that is large inside is safe. CSV costs
some microseconds a row. The ``csv`` module would limit cells to 131,072 characters unless a setting of the whole process is changed, so
cells are split here.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import FormatError, MissingDependencyError
from ...graphs.formats.molecules import MOST_CHARACTERS, rdkit

SMILES = "smiles"
"""The column of the molecules in SDF and SMILES files."""

SMILES_NAMES = (SMILES, "canonical_smiles", "structure", "mol")
"""Names that columns of SMILES usually have, the most likely first; upper and lower case are the same."""

MISSING = frozenset(("", "nan", "na", "n/a", "null", "none", "-"))
"""Texts that stand for a missing target, in lower case."""

_LONGEST = 2**24  # characters of a row; beyond it a quote was left open, or the file is not text
_LINES = 2**18  # of a row, for the same reason
_SDF_LOOK = 1000  # records that decide on the columns of an SDF file
_LOOK_ROWS, _LOOK_VALUES, _LOOK_CHARACTERS = 10_000, 200, 200_000  # for a column of SMILES: in the table, and of each column
_LARGEST = 1e18  # of a target: its square, and sums of many, must fit into single precision
_LABEL = 3  # a column whose texts are all this short holds labels: C and CNS are molecules, too


@dataclass(frozen=True)
class Rows:
    """Some rows of a table.

    Args:
        numbers: of the rows; the first row of data is 1.
        values: the texts of each column, ``''`` where missing.
        problems: why RDKit cannot read a molecule of an SDF file, by position in ``values``.
    """

    numbers: range
    values: dict[str, list[str]]
    problems: dict[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.numbers)


class MoleculeTable(ABC):
    """A file with one molecule per row; made by :func:`open_table`, and read anew by each call of :meth:`chunks`."""

    smiles_column: str | None = None
    """The column of SMILES where the format decides it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.columns = tuple(self._read_columns())
        twice = [f"{name!r} ({count} times)" for name, count in Counter(self.columns).items() if count > 1]
        if twice:
            raise FormatError(f"{path}: column names must be distinct; found {', '.join(twice)}. Rename these columns")

    def __repr__(self) -> str:
        return f"MoleculeTable({str(self.path)!r}, {len(self.columns)} columns)"

    def chunks(self, size: int = 4096) -> Iterator[Rows]:
        """The rows in order, at most ``size`` at a time; :class:`FormatError` where the file is damaged."""
        if size < 1:
            raise ValueError(f"a chunk has at least one row; found size={size}")
        return self._chunks(size)

    def _chunks(self, size: int) -> Iterator[Rows]:
        records, first = self._records(), 1
        while part := _some(records, size):
            columns = zip(*(cells for cells, _ in part), strict=True)
            values = {name: list(cells) for name, cells in zip(self.columns, columns, strict=True)}
            problems = {i: problem for i, (_, problem) in enumerate(part) if problem}
            yield Rows(range(first, first + len(part)), values, problems)
            first += len(part)

    @abstractmethod
    def _read_columns(self) -> Iterable[str]:
        """The names of the columns."""

    def _records(self) -> Iterator[tuple[Sequence[str], str]]:
        """The cells of each row, and why its molecule cannot be read, if it cannot."""
        raise NotImplementedError


def open_table(path: str | os.PathLike[str]) -> MoleculeTable:
    """The table in a file; the ending of its name gives the format.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "two.csv")
    ...     _ = path.write_text("smiles,logS\\nCCO,1.1\\nCCCC,-2.6\\n")
    ...     table = open_table(path)
    ...     table.columns, [(rows.numbers, rows.values["logS"]) for rows in table.chunks()]
    (('smiles', 'logS'), [(range(1, 3), ['1.1', '-2.6'])])
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file with a table of molecules")
    if not path.is_file():
        raise FormatError(f"{path} is not a regular file, and a table is read more than once; copy it to a file")
    format_of_file = _FORMATS.get(_ending(path))
    if format_of_file is None:
        raise FormatError(f"{path}: unknown format; the name must end in {', '.join(_FORMATS)}; all but Parquet also with .gz")
    return format_of_file(path)


def find_smiles_column(table: MoleculeTable, named: str | None = None) -> str:
    """The column of SMILES: the one ``named``, which is not looked into, or else the one that RDKit can read.

    A column is read if at least 80 % of its first 200 values are molecules. One with texts of at most three characters holds labels,
    unless it has one of the names :data:`SMILES_NAMES`. Of several columns, those names come first, then the longest texts.
    """
    if named is not None:
        return require_column(table, named)
    if table.smiles_column is not None:
        return table.smiles_column
    if next(table.chunks(1), None) is None:
        raise FormatError(f"{table.path} has a header and no rows")
    samples = _samples(table)
    readable: dict[str, int] = {}
    length = {name: sum(map(len, texts)) / max(1, len(texts)) for name, texts in samples.items()}
    for name in sorted(table.columns, key=lambda name: (_rank(name), -length[name])):
        readable[name] = _count_molecules(samples[name])
        usual = _rank(name) < len(SMILES_NAMES)
        labels = all(len(text) <= _LABEL for text in samples[name])
        if samples[name] and readable[name] >= 0.8 * len(samples[name]) and (usual or not labels):
            return name
    found = [f"{name!r} {readable[name]} of {len(samples[name])}" for name in sorted(readable, key=lambda n: -readable[n])]
    more = f" and {len(found) - 20} more columns" if len(found) > 20 else ""
    raise FormatError(
        f"{table.path}: no column holds SMILES. RDKit reads, of the first values of each column: {', '.join(found[:20])}{more}. "
        "Name the column, or correct its SMILES"
    )


def require_column(table: MoleculeTable, named: str) -> str:
    """The name itself, or a :class:`FormatError` with the columns that there are, the nearest first."""
    if named in table.columns:
        return named
    lower = {name.lower(): name for name in table.columns}
    near = get_close_matches(named.lower(), lower, n=1)
    hint = f" Did you mean {lower[near[0]]!r}?" if near else ""
    raise FormatError(f"{table.path} has no column {named!r}.{hint} Its columns: {', '.join(map(repr, table.columns))}")


def read_targets(
    values: Sequence[str], column: str | None = None, numbers: Sequence[int] | None = None, what: str = "target"
) -> np.ndarray:
    """Numbers as float64, NaN where the text is in :data:`MISSING`. Anything else is a :class:`FormatError`, as is what is not finite,
    or above 1e18.

    Args:
        values: the texts of a column.
        column: its name, for the message.
        numbers: of the rows, for the message; from 1 if not given.
        what: the values are, for the message.

    >>> read_targets(["1.5", "", "-2e-3", "NA"])
    array([ 1.5  ,    nan, -0.002,    nan])
    """
    result = np.empty(len(values), np.float64)
    for i, text in enumerate(values):
        try:
            result[i] = _number(text, what)
        except ValueError as error:
            where = "" if column is None else f"column {column!r}, "
            raise FormatError(f"{where}row {i + 1 if numbers is None else numbers[i]}: {error}") from None
    return result


# ---- lines of text ----------------------------------------------------------------------------------------------------------


class _Lines:
    """The lines of a text file, checked as they are read. ``row`` is set by the reader; 0 is the header."""

    def __init__(self, path: Path, row: int = 0) -> None:
        self.path, self.row, self.line = path, row, 0
        self._file = io.TextIOWrapper(_open_bytes(path), "utf-8-sig", errors="surrogateescape", newline="")

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, filled: bool = False) -> str:
        """The next line, or the next that is not blank if it must be ``filled``, with its end; ``''`` at the end of the file."""
        self.line += 1
        try:
            while (text := self._file.readline(_LONGEST + 1)) and filled and not text.strip("\r\n"):
                self.line += 1
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise self.error(f"the file is damaged or not gzip ({error}). Copy it again") from None
        except OSError as error:  # which has no name, since it is the disk that fails
            raise OSError(error.errno, error.strerror, str(self.path)) from None
        if len(text) > _LONGEST:
            raise self.error(f"the line has more than {_LONGEST:,} characters. Is it a table of molecules?")
        if "\0" in text:
            raise self.error("a NUL byte: this is not UTF-8 text. Save the table as UTF-8")
        if not text.isascii():
            self._check_utf8(text)
        return text

    def error(self, message: str, line: int | None = None) -> FormatError:
        where = f"row {self.row}" if self.row else "header"
        return FormatError(f"{self.path}, {where} (line {line or self.line}): {message}")

    def _check_utf8(self, text: str) -> None:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            byte = ord(text[error.start]) - 0xDC00  # as surrogateescape writes a byte that it cannot decode
            hint = "Save the table as UTF-8; a gzip file must be called .gz"
            raise self.error(f"not UTF-8: byte 0x{byte:02x} at character {error.start + 1}. {hint}") from None


# ---- CSV --------------------------------------------------------------------------------------------------------------------


class _DelimitedTable(MoleculeTable):
    """A header and rows of as many cells. The file must be the same in each pass."""

    def _read_columns(self) -> list[str]:
        with _Lines(self.path) as lines:
            header = self._header(lines)
        return [name.strip() for name in header]

    def _header(self, lines: _Lines) -> list[str]:
        line = lines.read(filled=True)
        if not line:
            raise FormatError(f"{self.path} is empty: expected a header with the names of the columns")
        others = [mark for mark in "\t;" if mark in line]
        self._delimiter = "\t" if _ending(self.path) == ".tsv" else others[0] if others and "," not in line else ","
        return _split(lines, line, self._delimiter)

    def _records(self) -> Iterator[tuple[list[str], str]]:
        wanted = len(self.columns)
        with _Lines(self.path) as lines:
            self._header(lines)
            lines.row += 1
            while line := lines.read(filled=True):
                start = lines.line
                cells = _split(lines, line, self._delimiter)
                if len(cells) != wanted:
                    raise lines.error(f"found {len(cells)} cells, expected {wanted} as in the header. {self._advice(cells)}", start)
                yield cells, ""
                lines.row += 1

    def _advice(self, cells: list[str]) -> str:
        if len(cells) > len(self.columns):
            return f"Put cells that contain {self._delimiter!r} in double quotes"
        return f"The first without a cell is column {self.columns[len(cells)]!r}; leave cells empty rather than out"


def _split(lines: _Lines, line: str, delimiter: str) -> list[str]:
    """The cells of the row that starts with this line; a quoted cell may run on over the next ones."""
    if '"' not in line:
        return line.rstrip("\r\n").split(delimiter)
    cells, at = [], 0
    while True:
        if line.startswith('"', at):
            cell, line, at = _quoted(lines, line, at + 1)
        else:
            end = line.find(delimiter, at)
            end = len(line.rstrip("\r\n")) if end < 0 else end
            cell, at = line[at:end], end
        cells.append(cell)
        if at >= len(line.rstrip("\r\n")):
            return cells
        if line[at] != delimiter:
            raise lines.error(f"{line[at]!r} follows the closing quote of cell {len(cells)}. Write quotes within a cell twice")
        at += 1


def _quoted(lines: _Lines, line: str, at: int) -> tuple[str, str, int]:
    """The text of a quoted cell that starts at this character; then the line where it ends, and the character after its quote."""
    parts: list[str] = []
    first, size = lines.line, 0
    while True:
        end = line.find('"', at)
        if end >= 0 and not line.startswith('"', end + 1):
            return "".join([*parts, line[at:end]]), line, end + 1
        parts.append(line[at:] if end < 0 else line[at : end + 1])
        size, at = size + len(parts[-1]), end + 2
        if end < 0:
            line, at = lines.read(), 0
        if not line or size > _LONGEST or lines.line - first > _LINES:
            within = f"within {_LONGEST:,} characters or {_LINES:,} lines" if line else "in the rest of the file"
            raise lines.error(
                f"a quote opens here and is not closed {within}. Close it, or write quotes within a cell twice", first
            )


# ---- SMILES files -----------------------------------------------------------------------------------------------------------


class _SmilesTable(MoleculeTable):
    smiles_column = SMILES

    def _read_columns(self) -> tuple[str, str]:
        with _Lines(self.path, row=1) as lines:
            while line := lines.read():
                if not line.isspace():
                    return SMILES, "name"
        raise FormatError(f"{self.path} is empty: expected a SMILES on each line")

    def _records(self) -> Iterator[tuple[tuple[str, str], str]]:
        first = True
        with _Lines(self.path, row=1) as lines:
            while line := lines.read():
                smiles, name = (*line.split(None, 1), "", "")[:2]
                header = first and smiles.lower() == SMILES
                first = first and not smiles
                if smiles and not header:
                    yield (smiles, name.strip()), ""
                    lines.row += 1


# ---- SDF --------------------------------------------------------------------------------------------------------------------


class _SdfTable(MoleculeTable):
    """Records are cut here and given to RDKit one by one, so that one that it cannot read has no effect on the others."""

    smiles_column = SMILES

    def _read_columns(self) -> list[str]:
        names: dict[str, None] = {}
        empty = True
        with _quiet():
            for text in islice(self._texts(), _SDF_LOOK):
                mol, empty = _supply(text, sanitize=False), False
                names.update(dict.fromkeys(mol.GetPropNames() if mol else ()))
        if empty:
            raise FormatError(f"{self.path} is empty: expected molecules, each closed by a line $$$$")
        return [SMILES, *(name for name in names if name != SMILES)]

    def _texts(self) -> Iterator[str]:
        """The text of each record. What follows the last ``$$$$`` is a record too, unless it is blank."""
        with _Lines(self.path, row=1) as lines:
            kept: list[str] = []
            size = 0
            while line := lines.read():
                if line.startswith("$$$$"):
                    yield "".join(kept)
                    kept, size = [], 0
                    lines.row += 1
                    continue
                kept.append(line.rstrip("\r\n") + "\n")
                size += len(line)
                if size > _LONGEST or len(kept) > _LINES:
                    raise lines.error(
                        f"the record has more than {_LONGEST:,} characters or {_LINES:,} lines. Close each record by a line $$$$"
                    )
            if any(not line.isspace() for line in kept):
                yield "".join(kept)

    def _records(self) -> Iterator[tuple[list[str], str]]:
        for text in self._texts():
            with _quiet():
                smiles, properties, problem = _read_record(text)
            yield [smiles, *(properties.get(name, "") for name in self.columns[1:])], problem


def _read_record(text: str) -> tuple[str, dict[str, str], str]:
    """SMILES, properties, and why there is no SMILES, if there is none."""
    mol = _supply(text)
    shown = mol or _supply(text, sanitize=False)
    properties = {name: shown.GetProp(name) for name in shown.GetPropNames()} if shown else {}
    if mol is not None and mol.GetNumAtoms():
        return rdkit().MolToSmiles(mol), properties, ""
    if shown is None:
        return "", properties, "RDKit cannot read its mol block"
    if not shown.GetNumAtoms():
        return "", properties, "the molecule has no atoms"
    problems = rdkit().DetectChemistryProblems(shown)
    return "", properties, f"RDKit refuses it: {problems[0].Message() if problems else 'it cannot be sanitised'}"


def _supply(text: str, sanitize: bool = True) -> Any:
    """The molecule of one record, or None."""
    return next(rdkit().ForwardSDMolSupplier(io.BytesIO(text.encode()), sanitize=sanitize), None)


# ---- Parquet ----------------------------------------------------------------------------------------------------------------


class _ParquetTable(MoleculeTable):
    def _read_columns(self) -> list[str]:
        if not self.path.stat().st_size:
            raise FormatError(f"{self.path} is empty: expected a Parquet file")
        with self._reading("header"), self._open() as file:
            names = file.schema_arrow.names
        if not names:
            raise FormatError(f"{self.path} has no columns; expected a column of SMILES at least")
        return [name.strip() for name in names]

    def _chunks(self, size: int) -> Iterator[Rows]:
        first = 1
        with self._reading("header"):
            opened = self._open()
        with opened as file:
            batches = file.iter_batches(batch_size=size)
            while True:
                with self._reading(f"row {first} or after"):
                    batch = next(batches, None)
                    if batch is None:
                        return
                    columns = [_texts_of(column.to_pylist()) for column in batch.columns]
                if batch.num_rows:
                    yield Rows(range(first, first + batch.num_rows), dict(zip(self.columns, columns, strict=True)))
                first += batch.num_rows

    def _open(self) -> Any:
        try:
            parquet = import_module("pyarrow.parquet")
        except ImportError:
            raise MissingDependencyError(f"reading {self.path} needs pyarrow: pip install pyarrow. Or save it as .csv") from None
        return parquet.ParquetFile(self.path)

    @contextmanager
    def _reading(self, where: str) -> Iterator[None]:
        try:
            yield
        except (FormatError, MissingDependencyError):
            raise
        except (OSError, ValueError, import_module("pyarrow").ArrowException) as error:
            raise FormatError(
                f"{self.path}, {where}: the file is damaged or no Parquet ({error}). Write or copy it again"
            ) from None


def _texts_of(values: list[Any]) -> list[str]:
    return ["" if value is None else value if isinstance(value, str) else _text_of(value) for value in values]


def _text_of(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float | np.floating):
        return repr(float(value))
    return value.decode() if isinstance(value, bytes) else str(value)


# ---- helpers ----------------------------------------------------------------------------------------------------------------

_FORMATS: dict[str, type[MoleculeTable]] = {
    ".csv": _DelimitedTable,
    ".tsv": _DelimitedTable,
    ".smi": _SmilesTable,
    ".smiles": _SmilesTable,
    ".sdf": _SdfTable,
    ".sd": _SdfTable,
    ".parquet": _ParquetTable,
    ".pq": _ParquetTable,
}


def _some(records: Iterator[tuple[Sequence[str], str]], size: int) -> list[tuple[Sequence[str], str]]:
    """The next records: so many, or fewer that have 16 Mi characters together; none at the end."""
    found, characters = [], 0
    for cells, problem in islice(records, size):
        found.append((cells, problem))
        characters += sum(map(len, cells))
        if characters > _LONGEST:
            break
    return found


def _open_bytes(path: Path) -> Any:
    return gzip.open(path) if _gzipped(path) else open(path, "rb")


def _gzipped(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


def _ending(path: Path) -> str:
    """The ending that gives the format, in lower case, without ``.gz``; Parquet is never gzipped."""
    inner = Path(path.stem).suffix.lower() if _gzipped(path) else path.suffix.lower()
    return "" if _gzipped(path) and _FORMATS.get(inner) is _ParquetTable else inner


def _quiet() -> Any:
    """A context in which RDKit prints nothing: the reason is part of our message."""
    rdkit()
    return import_module("rdkit.rdBase").BlockLogs()


def _samples(table: MoleculeTable) -> dict[str, list[str]]:
    """Some first values of each column, stripped and not empty."""
    samples: dict[str, list[str]] = {name: [] for name in table.columns}
    for rows in table.chunks(500):
        for name, sample in samples.items():
            sample += filter(None, map(str.strip, rows.values[name]))
        if rows.numbers.stop > _LOOK_ROWS or all(len(sample) >= _LOOK_VALUES for sample in samples.values()):
            break
    return {name: _first(sample) for name, sample in samples.items()}


def _first(texts: list[str]) -> list[str]:
    """At most 200, and beyond the first at most 200,000 characters, which RDKit may need seconds for."""
    ends = np.cumsum([len(text) for text in texts[:_LOOK_VALUES]])
    return texts[: max(1, int(np.searchsorted(ends, _LOOK_CHARACTERS, "right")))]


def _count_molecules(texts: list[str]) -> int:
    with _quiet():
        molecule = {text: _is_molecule(text) for text in set(texts)}
    return sum(molecule[text] for text in texts)


def _is_molecule(text: str) -> bool:
    """Whether RDKit reads it; what it would take for a SMILES and its title is none, except for the ``|...|`` of CXSMILES."""
    _, blank, rest = text.partition(" ")
    readable = len(text) <= MOST_CHARACTERS and (not blank or rest.startswith("|"))
    return readable and rdkit().MolFromSmiles(text) is not None


def _rank(name: str) -> int:
    return SMILES_NAMES.index(name.lower()) if name.lower() in SMILES_NAMES else len(SMILES_NAMES)


def _number(text: str, what: str) -> float:
    """NaN if missing; ValueError if it is not a finite number."""
    text = text.strip()
    if text.lower() in MISSING:
        return np.nan
    shown = repr(text if len(text) <= 40 else text[:37] + "...")
    try:
        value = float(text)
    except ValueError:
        value = None
    if value is None or "_" in text:
        hint = " Decimals need a point." if re.fullmatch(r"[+-]?\d+,\d+", text) else ""
        raise ValueError(f"a {what} must be a number, or empty where it is missing; found {shown}.{hint}")
    if not np.isfinite(value):
        raise ValueError(f"a {what} must be finite; found {shown}. Leave it empty if it is missing")
    if abs(value) > _LARGEST:
        raise ValueError(
            f"a {what} must be {_LARGEST:g} at most, in either direction; found {shown}. Give the column in another unit"
        )
    return value
