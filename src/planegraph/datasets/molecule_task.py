"""A table of molecules as a task: ``Task`` and everything that prediction must know of it later.

The columns and the kind of task are found where they are not said (molecule_files.py), and what was found is told in ``notes``. Rows that
cannot be learned from are listed in ``skipped`` with their numbers and reasons. Targets are standardised; some of them may be missing.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from ..batch import GraphBatch
from ..canon import canonical_codes
from ..data.packed import PackedDataset
from ..decompose import planar_mask
from ..errors import FormatError, PlanegraphError
from .metrics import metrics_of
from .molecule_features import EDGE_FEATURES, NODE_FEATURES, Featurizer, descriptors, seen_categories
from .molecule_files import MoleculeTable, find_smiles_column, guess_kind, open_table, read_targets
from .molecule_splits import column_split, folds, random_split, scaffold_split, scaffolds, shared_molecules
from .task import Split, Task

Kind = Literal["regression", "binary", "multiclass"]
LOSSES = {"regression": "mse", "binary": "bce", "multiclass": "ce"}
METRICS = {"regression": "rmse", "binary": "rocauc", "multiclass": "accuracy"}
SMALL = 5_000
"""Up to so many molecules RDKit's descriptors are read, too, unless said otherwise: there they help, and cost little."""


@dataclass(frozen=True)
class MoleculeOptions:
    """What is said about a table of molecules; None where it is to be found.

    Args:
        smiles: the column with the SMILES. targets: the columns to learn.
        kind: regression, binary or multiclass; ``metric``: chooses the epoch, and is reported first.
        split: "random", "scaffold", or "column:NAME" for a column with train, val and test.
        folds: so many splits, each molecule tested once.
        stereo: whether mirror images differ. descriptors: whether RDKit's descriptors are read beside the graph.
        seed: of the split.
    """

    smiles: str | None = None
    targets: tuple[str, ...] | None = None
    kind: Kind | None = None
    metric: str | None = None
    split: str = "random"
    folds: int | None = None
    stereo: bool = True
    descriptors: bool | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.targets is not None:
            object.__setattr__(self, "targets", (self.targets,) if isinstance(self.targets, str) else tuple(self.targets))
        if self.split not in ("random", "scaffold") and not self.split.startswith("column:"):
            raise PlanegraphError(f"split must be random, scaffold or column:NAME; found {self.split!r}")
        if self.folds is not None and self.split.startswith("column:"):
            raise PlanegraphError("a column with parts is one split: folds go with split random or scaffold")

    def to_dict(self) -> dict[str, Any]:
        """As plain values, without those that are not said."""
        found = {name: value for name, value in asdict(self).items() if value is not None}
        return found | ({"targets": list(self.targets)} if self.targets else {})


@dataclass(frozen=True)
class MoleculeSchema:
    """What a trained model's predictions need: where SMILES stand, how molecules are read, what the outputs are.

    Attributes:
        seen: the categories of each column of features that occur in the table.
        classes: of a multiclass target the text of each class; otherwise empty.
    """

    smiles: str
    targets: tuple[str, ...]
    kind: Kind
    featurizer: Featurizer
    seen: Mapping[str, Sequence[Sequence[int]]]
    classes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return asdict(self) | {"featurizer": self.featurizer.to_dict()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """From what :meth:`to_dict` gives."""
        given = dict(values) | {"featurizer": Featurizer.from_dict(values["featurizer"])}
        return cls(**given | {name: tuple(values[name]) for name in ("targets", "classes")})


class Skipped(NamedTuple):
    """A row that is not learned from."""

    row: int
    smiles: str
    reason: str


@dataclass(frozen=True)
class MoleculeTask:
    """The task of a table, what prediction must know, the rows that were skipped, and what was found, in sentences for people.

    ``rows`` and ``smiles`` are those of the task's graphs, in their order; ``descriptors`` are all of RDKit's, if the model reads them.
    """

    task: Task
    schema: MoleculeSchema
    rows: np.ndarray
    smiles: tuple[str, ...]
    skipped: list[Skipped] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    descriptors: np.ndarray | None = None

    def skipped_csv(self) -> str:
        """The skipped rows as a CSV file."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerows([Skipped._fields, *self.skipped])
        return out.getvalue()


def read_molecule_task(path: str | PathLike[str], options: MoleculeOptions | None = None, workers: int = 1) -> MoleculeTask:
    """The task of a file with molecules and targets. Raises FormatError for a file, and PlanegraphError for options, that do not fit.

    Args:
        workers: processes that compute descriptors, see :func:`planegraph.workers.ordered_map`.
    """
    options = options or MoleculeOptions()
    table = open_table(path)
    columns = _read(table, options)
    y, kept, skipped, smiles = columns.y, columns.kept, list(columns.skipped), columns.smiles
    found = Featurizer(options.stereo)([smiles[i] for i in kept])
    skipped += [Skipped(int(columns.rows[kept[i]]), smiles[kept[i]], reason) for i, reason in found.problems.items()]
    kept = kept[found.positions]
    if not len(kept):
        raise FormatError(f"{path}: no row has both a molecule that can be read and a target; {_first(skipped)}")
    kind = options.kind or _kind_of(y[kept], columns.targets)
    dataset, featurizer, values = _with_descriptors(found.dataset, smiles, kept, options, workers)
    classes, targets = _targets(kind, y[kept], columns, path)
    splits = _splits(options, [smiles[i] for i in kept], None if columns.parts is None else [columns.parts[i] for i in kept])
    trained_on = np.unique(np.concatenate([split["train"] for split in ([splits] if isinstance(splits, Mapping) else splits)]))
    seen = seen_categories(dataset, trained_on)
    task = _task(Path(fspath(path)).name, dataset, targets, kind, splits, options, columns.targets, classes, seen)
    schema = MoleculeSchema(columns.smiles_column, columns.targets, kind, featurizer, seen, classes)
    notes = [*_notes(task, columns, len(kept), len(skipped), kind, featurizer), *_shared(task, found.batch)]
    return MoleculeTask(task, schema, columns.rows[kept], tuple(smiles[i] for i in kept), sorted(skipped), notes, values)


# ---- the columns --------------------------------------------------------------------------------------------------------------------


class _Columns(NamedTuple):
    smiles_column: str
    targets: tuple[str, ...]
    rows: np.ndarray
    smiles: list[str]
    y: np.ndarray
    parts: list[str] | None
    kept: np.ndarray
    skipped: list[Skipped]


def _read(table: MoleculeTable, options: MoleculeOptions) -> _Columns:
    """All columns that are needed; rows without a target are skipped here, those without a molecule later."""
    smiles_column = find_smiles_column(table, options.smiles)
    split = options.split.removeprefix("column:") if options.split.startswith("column:") else None
    for name in filter(None, (*(options.targets or ()), split)):
        _require_column(table, name)
    targets = options.targets or _find_targets(table, smiles_column, split)
    rows, smiles, values, parts = [], [], [], []
    for chunk in table.chunks():
        rows += chunk.numbers
        smiles += chunk.values[smiles_column]
        try:
            values.append(np.stack([read_targets(chunk.values[name], name, chunk.numbers) for name in targets], 1))
        except FormatError as error:
            raise FormatError(f"{table.path}: {error}") from None
        parts += chunk.values[split] if split else []
    y = np.concatenate([np.empty((0, len(targets))), *values])
    if not len(y):
        raise FormatError(f"{table.path} has a header and no rows: there is nothing to learn from")
    measured = ~np.isnan(y).all(1)
    for k in np.flatnonzero(np.isnan(y).all(0)):
        raise FormatError(f"{table.path}: column {targets[k]} has no value in any of {len(y)} rows: there is nothing to learn")
    kept = np.flatnonzero(measured)
    numbers = np.array(rows, np.int64)
    skipped = [Skipped(int(numbers[i]), smiles[i], "no target has a value") for i in np.flatnonzero(~measured)]
    return _Columns(smiles_column, tuple(targets), numbers, smiles, y, parts if split else None, kept, skipped)


def _require_column(table: MoleculeTable, name: str) -> None:
    if name not in table.columns:
        raise FormatError(f"{table.path} has no column {name!r}; its columns are {', '.join(table.columns)}")


def _find_targets(table: MoleculeTable, smiles_column: str, split: str | None) -> tuple[str, ...]:
    """The only column that holds nothing but numbers; an error that lists all such columns if there are several, or none."""
    numeric = {name for name in table.columns if name not in (smiles_column, split)}
    for chunk in table.chunks():
        for name in list(numeric):
            try:
                read_targets(chunk.values[name])
            except FormatError:
                numeric.discard(name)
    found = [name for name in table.columns if name in numeric]
    if len(found) == 1:
        return (found[0],)
    which = (
        f"several columns hold numbers: {', '.join(found)}"
        if found
        else f"no column holds numbers only: {', '.join(table.columns)}"
    )
    raise FormatError(f"{table.path}: {which}. Name the ones to learn: --targets {','.join(found) or 'NAME'}")


def _kind_of(y: np.ndarray, targets: Sequence[str]) -> Kind:
    kinds = {name: guess_kind(y[:, k]) for k, name in enumerate(targets)}
    if len(set(kinds.values())) == 1:
        return next(iter(kinds.values()))
    if set(kinds.values()) == {"binary", "regression"}:
        return "regression"
    said = ", ".join(f"{name}: {kind}" for name, kind in kinds.items())
    raise PlanegraphError(
        f"the targets look like tasks of different kinds ({said}); train them one by one, or say the kind: --task"
    )


# ---- the task -----------------------------------------------------------------------------------------------------------------------


def _with_descriptors(
    dataset: PackedDataset, smiles: Sequence[str], kept: np.ndarray, options: MoleculeOptions, workers: int
) -> tuple[PackedDataset, Featurizer, np.ndarray | None]:
    """The dataset with scaled descriptors if they are wanted, how they are scaled, and the descriptors themselves."""
    wanted = len(kept) <= SMALL if options.descriptors is None else options.descriptors
    featurizer = Featurizer(options.stereo)
    if not wanted:
        return dataset, featurizer, None
    names, values = descriptors([smiles[i] for i in kept], workers)
    featurizer = featurizer.with_scaling(names, values)
    return dataset.with_attrs(descriptors=featurizer.scaling(names, values)), featurizer, values


def _targets(kind: Kind, y: np.ndarray, columns: _Columns, path: Any) -> tuple[tuple[str, ...], np.ndarray]:
    """The text of each class of a multiclass target, and y as the task has it but for its units."""
    if kind == "regression":
        return (), y
    if kind == "binary":
        bad = ~np.isnan(y) & (y != 0) & (y != 1)
        if bad.any():
            row, column = np.argwhere(bad)[0]
            name = columns.targets[column]
            raise FormatError(f"{path}, column {name}: a binary target is 0 or 1; found {y[row, column]:g}")
        for k, name in enumerate(columns.targets):
            _require_two_values(y[:, k], name)
        return (), y
    if len(columns.targets) > 1:
        raise PlanegraphError(f"a multiclass task has one target; found {', '.join(columns.targets)}")
    found, numbers = np.unique(y[:, 0], return_inverse=True)
    if len(found) < 2:
        raise FormatError(f"{path}, column {columns.targets[0]}: all rows have the class {found[0]:g}; there is nothing to learn")
    return tuple(f"{value:g}" for value in found), numbers


def _splits(options: MoleculeOptions, smiles: Sequence[str], parts: list[str] | None) -> Split | list[Split]:
    if parts is not None:
        return column_split(parts, options.seed)
    if options.folds is not None:
        return folds(scaffolds(smiles) if options.split == "scaffold" else len(smiles), options.folds, options.seed)
    return scaffold_split(smiles, options.seed) if options.split == "scaffold" else random_split(len(smiles), options.seed)


def _task(
    name: str,
    dataset: PackedDataset,
    y: np.ndarray,
    kind: Kind,
    splits: Split | list[Split],
    options: MoleculeOptions,
    targets: tuple[str, ...],
    classes: tuple[str, ...],
    seen: Mapping[str, Sequence[Sequence[int]]],
) -> Task:
    units, missing = None, kind != "multiclass" and bool(np.isnan(y).any())
    if kind == "regression":
        units = tuple(_unit(y[:, k], target) for k, target in enumerate(targets))
        y = (y - np.array(units)[:, 0]) / np.array(units)[:, 1]
    metric = options.metric or METRICS[kind]
    if metric not in metrics_of(kind):
        raise PlanegraphError(f"the metric of a {kind} task is one of {', '.join(metrics_of(kind))}; found {metric!r}")
    return Task(
        name,
        dataset.with_y(y.astype(np.int32 if kind == "multiclass" else np.float32)),
        splits if isinstance(splits, Mapping) else None,
        None if isinstance(splits, Mapping) else splits,
        node_features=NODE_FEATURES,
        edge_features=EDGE_FEATURES,
        kind=kind,
        loss=LOSSES[kind],
        metric=metric,
        outputs=len(classes) or len(targets),
        names=targets,
        units=units,
        missing=missing,
        seen=seen,
    )


def _unit(values: np.ndarray, target: str) -> tuple[float, float]:
    """Mean and deviation of what was measured."""
    _require_two_values(values, target)
    values = values[~np.isnan(values)]
    return float(values.mean()), float(values.std())


def _require_two_values(values: np.ndarray, target: str) -> None:
    found = np.unique(values[~np.isnan(values)])
    if len(found) == 1:
        raise FormatError(f"column {target}: all values are {found[0]:g}; there is nothing to learn")


# ---- what people are told -----------------------------------------------------------------------------------------------------------


def _notes(task: Task, columns: _Columns, kept: int, skipped: int, kind: Kind, featurizer: Featurizer) -> list[str]:
    of = ", ".join(columns.targets)
    sizes = [", ".join(f"{len(ids):,} {part}" for part, ids in split.items()) for _, split in task.by_fold()]
    found = [f"{kept:,} molecules of column {columns.smiles_column}; {kind} of {of}; {sizes[0]}"]
    if len(sizes) > 1:
        found[0] += f" in the first of {len(sizes)} folds"
    if skipped:
        found.append(f"{skipped:,} rows were skipped")
    if featurizer.scaling is not None:
        found.append(f"{len(featurizer.scaling.names)} descriptors of RDKit are read beside the graph (--no-descriptors)")
    return found


def _shared(task: Task, molecules: GraphBatch) -> list[str]:
    """Planar molecules of a later part that an earlier one has, too: figures on them are too good."""
    planar = np.flatnonzero(planar_mask(molecules))
    codes = [b"not planar %d" % k for k in range(len(molecules))]
    for k, code in zip(planar.tolist(), canonical_codes(molecules[planar]), strict=True):
        codes[k] = code
    _, split = task.by_fold()[0]
    found = shared_molecules(split, codes)
    return [f"{count} molecule{'s' * (count > 1)} of {later} also in {earlier}" for later, earlier, count in found]


def _first(skipped: Sequence[Skipped]) -> str:
    return f"row {skipped[0].row}: {skipped[0].reason}" if skipped else "there are no rows"
