"""Predictions for whole files: a table in, the same table with more columns out, a chunk of rows at a time.

Worker processes read the molecules, this process runs the models and writes. Chunks are the same whatever the number of workers, and so is
every byte that is written: rounding may depend on which molecules are in a batch together.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from os import PathLike, fspath
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..errors import FormatError
from ..tasks.metrics import figures_by_name
from ..tasks.molecules.features import Featurized
from ..tasks.molecules.files import MoleculeTable, Rows, find_smiles_column, open_table, read_targets, require_column
from ..workers import ordered_map
from .predictor import Predictions, Predictor
from .writers import write_npy, write_rows

_ROWS, _ROWS_WITH_DESCRIPTORS = 512, 128  # of a chunk: at most a second of work, which Ctrl-C waits for
PROBLEM, UNSEEN = "problem", "unseen"
Progress = Callable[[int], None]


class Counts(NamedTuple):
    """The numbers of rows that were read, and of those that could not be predicted."""

    rows: int
    problems: int


def predict_file(
    predictor: Predictor,
    source: str | PathLike[str],
    target: str | PathLike[str],
    smiles: str | None = None,
    progress: Progress | None = None,
    workers: int = 1,
) -> Counts:
    """Writes the columns of ``source``, in their order, and the predictions beside them.

    Args:
        target: a CSV, TSV or Parquet file.
        smiles: the column with the SMILES; by default that of the training table, or the one that looks like it.
        progress: called with the number of rows of each chunk that is done.
        workers: processes that read molecules, see :func:`planegraph.workers.ordered_map`; the file is the same for any number.
    """
    read = _Reading(predictor, source, smiles, progress, workers)
    table, new = read.table, _beside(new_columns(predictor), read.table.columns)
    taken = [name for name in new if name in table.columns]
    if taken:
        raise FormatError(
            f"{table.path} already has the column {', '.join(taken)}, which predictions are written to; rename it there"
        )
    check_output(target, source)

    def rows(chunk: Rows, found: Featurized, problems: dict[int, str]) -> list[list[str]]:
        cells = prediction_cells(predictor, predictor.predictions(found), problems)
        kept = zip(*(chunk.values[name] for name in table.columns), strict=True)
        return [[*old, *more] for old, more in zip(kept, cells, strict=True)]

    with closing(read.chunks()) as chunks:
        write_rows(Path(fspath(target)), [*table.columns, *new], new[:-2], itertools.starmap(rows, chunks))
    return read.counts


def embed_file(
    predictor: Predictor,
    source: str | PathLike[str],
    target: str | PathLike[str],
    smiles: str | None = None,
    progress: Progress | None = None,
    workers: int = 1,
) -> tuple[Counts, int]:
    """Writes the embeddings as a .npy file, a row for each of ``source``, NaN where it cannot be read; returns the counts and the width.

    The arguments are those of :func:`predict_file`.
    """
    read = _Reading(predictor, source, smiles, progress, workers)
    check_output(target, source)
    width = predictor.embedding_width
    with closing(read.chunks()) as chunks:
        write_npy(Path(fspath(target)), width, (predictor.embeddings(found) for _, found, _ in chunks))
    return read.counts, width


class _Reading:
    """A table and its molecules, a chunk of rows at a time, counted."""

    def __init__(
        self, predictor: Predictor, source: str | PathLike[str], smiles: str | None, progress: Progress | None, workers: int
    ) -> None:
        self.table, self.counts = open_table(source), Counts(0, 0)
        self._column = smiles_column(self.table, predictor, smiles)
        self._featurizer, self._progress, self._workers = predictor.schema.featurizer, progress, workers

    def chunks(self) -> Generator[tuple[Rows, Featurized, dict[int, str]], None, None]:
        """Rows, their molecules, and why some of them cannot be predicted, by position in the chunk. Close it if you stop early."""
        featurizer = self._featurizer
        size = _ROWS if featurizer.scaling is None else _ROWS_WITH_DESCRIPTORS
        pairs = ((chunk, chunk.values[self._column]) for chunk in self.table.chunks(size))
        with closing(ordered_map(featurizer.reader, pairs, self._workers)) as read:
            for chunk, molecules in read:
                problems = {**molecules.problems, **chunk.problems}
                yield chunk, featurizer.pack(molecules), problems
                self.counts = Counts(self.counts.rows + len(chunk), self.counts.problems + len(problems))
                if self._progress is not None:
                    self._progress(len(chunk))


def check_output(target: str | PathLike[str], source: str | PathLike[str]) -> None:
    """FormatError unless a new file can be written here; called before hours of work."""
    path = Path(fspath(target))
    device = path.absolute().is_relative_to("/dev") or path.absolute().is_relative_to("/proc")  # /dev/stdout may lead to a file
    if device or (path.exists() and not path.is_file()):
        raise FormatError(f"{path} is {'a folder' if path.is_dir() else 'not a regular file'}; name a file to write")
    if not path.parent.is_dir():
        raise FormatError(f"{path} cannot be written: there is no folder {path.parent}")
    if path.exists() and path.samefile(source):
        raise FormatError(f"{path} is the table that is read; write to another file")


def smiles_column(table: MoleculeTable, predictor: Predictor, named: str | None) -> str:
    """The named column, that of the training table if there is one, or the one that looks like it."""
    trained_on = predictor.schema.smiles
    return find_smiles_column(table, named or (trained_on if trained_on in table.columns else None))


def new_columns(predictor: Predictor) -> list[str]:
    """The names of the columns that predictions are written to."""
    names = []
    for k, target in enumerate(predictor.schema.targets):
        names.append(f"predicted_{target}")
        if predictor.schema.kind != "multiclass" and len(predictor.models) > 1:
            names.append(f"predicted_{target}_std")
        if predictor.schema.kind == "regression" and predictor.half_widths[k] is not None:
            names += [f"predicted_{target}_low", f"predicted_{target}_high"]
    names += [f"probability_{name}" for name in predictor.schema.classes]
    return [*names, UNSEEN, PROBLEM]


def _beside(new: Sequence[str], columns: Sequence[str]) -> list[str]:
    """The new columns, with the last two numbered where a table has them from another model: unseen_2, problem_2.

    >>> _beside(["predicted_b", "unseen", "problem"], ["smiles", "predicted_a", "unseen", "problem"])
    ['predicted_b', 'unseen_2', 'problem_2']
    """
    number = next(k for k in itertools.count(1) if not {_numbered(name, k) for name in new[-2:]} & set(columns))
    return [*new[:-2], *(_numbered(name, number) for name in new[-2:])]


def _numbered(name: str, k: int) -> str:
    return name if k == 1 else f"{name}_{k}"


def prediction_cells(predictor: Predictor, found: Predictions, problems: dict[int, str]) -> Generator[list[str], None, None]:
    """The cells of each row; empty where there is no prediction, with the reason in the last."""
    width = len(new_columns(predictor))
    for row, (mean, spread) in enumerate(zip(found.mean.tolist(), found.spread.tolist(), strict=True)):
        if row in problems:
            yield [""] * (width - 1) + [problems[row]]
        else:
            yield [*_numbers(predictor, mean, spread), found.unseen.get(row, ""), ""]


def _numbers(predictor: Predictor, mean: Sequence[float], spread: Sequence[float]) -> Generator[str, None, None]:
    schema = predictor.schema
    if schema.kind == "multiclass":
        yield schema.classes[int(np.argmax(mean))]
        yield from (f"{value:.6g}" for value in mean)
        return
    for value, deviation, half in zip(mean, spread, predictor.half_widths, strict=True):
        yield f"{value:.7g}"
        if len(predictor.models) > 1:
            yield f"{deviation:.4g}"
        if schema.kind == "regression" and half is not None:
            yield from (f"{value - half:.7g}", f"{value + half:.7g}")


class Evaluation(NamedTuple):
    """All metrics of each target, and the rows that were read and could not be."""

    figures: dict[str, dict[str, float]]
    counts: Counts


def evaluate_file(
    predictor: Predictor,
    source: str | PathLike[str],
    smiles: str | None = None,
    progress: Progress | None = None,
    workers: int = 1,
) -> Evaluation:
    """Compares predictions with the targets that the file has. The arguments are those of :func:`predict_file`.

    All targets and predictions are in memory until the end: 8 bytes for each.
    """
    read, schema = _Reading(predictor, source, smiles, progress, workers), predictor.schema
    there = [k for k, name in enumerate(schema.targets) if name in read.table.columns]
    if not there:
        require_column(read.table, schema.targets[0])
    names = [schema.targets[k] for k in there]
    outputs = slice(None) if schema.classes else there
    true, predicted = [], []
    with closing(read.chunks()) as chunks:
        for chunk, found, problems in chunks:
            good = [row for row in range(len(chunk)) if row not in problems]
            true.append(_truth(predictor, read.table, names, chunk)[good])
            predicted.append(predictor.predictions(found).mean[good][:, outputs])
    rows, problems = read.counts
    if rows == problems:
        raise FormatError(f"{read.table.path}: none of {rows} rows can be predicted")
    y, p = np.concatenate(true), np.concatenate(predicted)
    return Evaluation(figures_by_name(schema.kind, names, y, p), read.counts)


def _truth(predictor: Predictor, table: MoleculeTable, names: Sequence[str], chunk: Rows) -> np.ndarray:
    """(rows, names); the number of its class for a multiclass target, -1 where it is missing."""
    try:
        y = np.stack([read_targets(chunk.values[name], name, chunk.numbers) for name in names], 1)
    except FormatError as error:
        raise FormatError(f"{table.path}: {error}") from None
    if predictor.schema.kind != "multiclass":
        return y
    number = {float(name): k for k, name in enumerate(predictor.schema.classes)}
    unknown = [row for row, value in enumerate(y[:, 0].tolist()) if not np.isnan(value) and value not in number]
    if unknown:
        found = f"row {chunk.numbers[unknown[0]]}: {y[unknown[0], 0]:g}"
        raise FormatError(f"{table.path}, {found} is not a class of the training table: {', '.join(predictor.schema.classes)}")
    return np.array([[number.get(value, -1)] for value in y[:, 0].tolist()], np.float64).reshape(-1, 1)
