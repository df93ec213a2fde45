"""A table of molecules as a task: ``Task`` and everything that prediction must know of it later.

The columns and the kind of task are found where they are not said (files.py), and what was found is told in ``notes``. Rows that
cannot be learned from are listed in ``skipped`` with their numbers and reasons. Targets are standardised; some of them may be missing.
"""

from __future__ import annotations

import io
import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from os import PathLike, fspath
from pathlib import Path
from reprlib import repr as shown
from typing import Any, NamedTuple, Self, get_args

import numpy as np

from ...canonical.form import canonical_codes
from ...errors import FormatError, PlanegraphError, require
from ...graphs.batch import GraphBatch
from ...io.csv_text import CsvWriter
from ..checks import bad_weight
from ..sources import Kind, kind_of, make_task, trained_on
from ..splits import column_split, folds, random_split, scaffold_split, scaffolds, shared_molecules
from ..task import Split, Task
from .features import EDGE_FEATURES, NODE_FEATURES, Featurizer, seen_categories
from .files import MoleculeTable, find_smiles_column, open_table, read_targets, require_column

_LEAST_SPREAD, _LEAST_SHARE = 1e-18, 1e-5  # of a target's values; the latter of their mean, which has seven digits


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
        weights: the column with the weight of each row in the loss, at least 0; rows of weight 0 are left out.
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
    weights: str | None = None

    def __post_init__(self) -> None:
        if self.targets is not None:
            object.__setattr__(self, "targets", (self.targets,) if isinstance(self.targets, str) else tuple(self.targets))
        for name, count in Counter(self.targets).items():
            if count > 1:
                raise PlanegraphError(f"each target is named once; found {name!r} {count} times")
        for name, end in itertools.product(self.targets or (), ("_std", "_low", "_high")):
            if name + end in self.targets:
                raise PlanegraphError(f"columns {name!r} and {name + end!r} would be predicted into one column; rename the latter")
        if self.split not in ("random", "scaffold") and not self.split.startswith("column:"):
            raise PlanegraphError(f"split must be random, scaffold or column:NAME; found {self.split!r}")
        if self.folds is not None and self.split.startswith("column:"):
            raise PlanegraphError("a column with parts is one split: folds go with split random or scaffold")

    def like(self, schema: MoleculeSchema) -> Self:
        """With stereochemistry and descriptors as another run reads them; PlanegraphError if something else was asked for."""
        stereo, descriptors = schema.featurizer.stereo, schema.featurizer.scaling is not None
        if stereo and not self.stereo:
            raise PlanegraphError("the run to start from reads stereochemistry, so --no-stereo cannot be used")
        if self.descriptors not in (None, descriptors):
            there, wanted = ("descriptors", "--no-descriptors") if descriptors else ("no descriptors", "--descriptors")
            raise PlanegraphError(f"the run to start from reads {there}, so {wanted} cannot be used")
        return replace(self, stereo=stereo, descriptors=descriptors)

    def to_dict(self) -> dict[str, Any]:
        """As plain values, without those that are not said."""
        found = {name: value for name, value in asdict(self).items() if value is not None}
        return found | ({"targets": list(self.targets)} if self.targets else {})


@dataclass(frozen=True)
class MoleculeSchema:
    """What a trained model's predictions need: where SMILES stand, how molecules are read, what the outputs are.

    Attributes:
        seen: the categories of each column of features that training molecules have, those of the run that it started from included.
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
        found = cls(**given | {name: tuple(values[name]) for name in ("targets", "classes")})
        texts, columns = (found.smiles, *found.targets, *found.classes), [*found.seen["x"], *found.seen["edge_attr"]]
        require(found.kind in get_args(Kind), f"kind must be one of {', '.join(get_args(Kind))}; found {shown(found.kind)}")
        require(len(found.targets) > 0 and all(map(_is_text, texts)), "columns and classes must be texts")
        require(all(type(value) is int for column in columns for value in column), "the categories in seen must be integers")
        return found


def _is_text(value: Any) -> bool:
    """Whether it is text that a file can hold: JSON may have half of a character."""
    return isinstance(value, str) and not any("\ud800" <= c <= "\udfff" for c in value)


class Skipped(NamedTuple):
    """A row that is not learned from."""

    row: int
    smiles: str
    reason: str


@dataclass(frozen=True)
class MoleculeTask:
    """The task of the table at ``path``, what prediction must know, the rows that were skipped, and notes for people.

    ``rows`` and ``smiles`` are those of the task's graphs, in their order; ``descriptors`` are all of RDKit's, if the model reads them.
    """

    path: str
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
        writer = CsvWriter(out)
        writer.writerows([Skipped._fields, *self.skipped])
        return out.getvalue()


def read_molecule_task(
    path: str | PathLike[str], options: MoleculeOptions | None = None, like: MoleculeSchema | None = None, workers: int = 1
) -> MoleculeTask:
    """The task of a file with molecules and targets. Raises FormatError for a file, and PlanegraphError for options, that do not fit.

    Args:
        like: of the run whose models training starts from: molecules are read as there, with the same scaling of descriptors.
        workers: processes that compute descriptors, see :func:`planegraph.workers.ordered_map`.
    """
    options = options or MoleculeOptions()
    options = options if like is None else options.like(like)
    table = open_table(path)
    columns = _read(table, options)
    y, kept, skipped, smiles = columns.y, columns.kept, list(columns.skipped), columns.smiles
    featurizer = Featurizer(options.stereo) if like is None else like.featurizer
    found = featurizer([smiles[i] for i in kept])
    skipped += [Skipped(int(columns.rows[kept[i]]), smiles[kept[i]], reason) for i, reason in found.problems.items()]
    kept = kept[found.positions]
    if not len(kept):
        raise FormatError(f"{path}: no row has both a molecule that can be read and a target; {_first(skipped)}")
    for k in np.flatnonzero(np.isnan(y[kept]).all(0)):
        raise FormatError(f"{path}: no molecule that can be read has a value in column {columns.targets[k]!r}; {_first(skipped)}")
    texts = tuple(smiles[i] for i in kept)
    kind = options.kind or kind_of(y[kept], columns.targets, "--task")
    classes, targets = _targets(kind, y[kept], columns, path)
    splits = _splits(options, columns, kept, texts, path)
    untaught = _check_taught(y[kept], splits, columns.targets, classes, fspath(path))
    train = trained_on([splits] if isinstance(splits, Mapping) else splits, len(kept))
    featurizer, dataset, values = featurizer.with_descriptors(found.dataset, texts, train, options.descriptors, workers)
    seen = _both(seen_categories(dataset, train), like)
    if columns.weights is not None:
        dataset = dataset.with_attrs(sample_weight=columns.weights[kept])
    fields: dict[str, Any] = {
        "features": (NODE_FEATURES, EDGE_FEATURES),
        "metric": options.metric,
        "names": columns.targets,
        "seen": seen,
    }
    task = make_task(Path(fspath(path)).name, dataset, targets, kind, splits, **fields)
    schema = MoleculeSchema(columns.smiles_column, columns.targets, kind, featurizer, seen, classes)
    notes = [*_notes(task, columns, len(kept), len(skipped), kind, featurizer), *untaught, *_shared(task, found.batch)]
    read = columns.rows[kept], texts, sorted(skipped)
    return MoleculeTask(fspath(path), task, schema, *read, notes, values)


# ---- the columns --------------------------------------------------------------------------------------------------------------------


class _Columns(NamedTuple):
    smiles_column: str
    targets: tuple[str, ...]
    rows: np.ndarray
    smiles: list[str]
    y: np.ndarray
    parts: list[str] | None
    weights: np.ndarray | None
    kept: np.ndarray
    skipped: list[Skipped]


def _read(table: MoleculeTable, options: MoleculeOptions) -> _Columns:
    """All columns that are needed; rows without a target or of weight 0 are skipped here, those without a molecule later."""
    smiles_column = find_smiles_column(table, options.smiles)
    split = options.split.removeprefix("column:") if options.split.startswith("column:") else None
    for name in (*(options.targets or ()), split, options.weights):
        if name is not None:
            require_column(table, name)
    targets = options.targets or _find_targets(table, (smiles_column, split, options.weights))
    if options.weights in targets:
        raise PlanegraphError(f"column {options.weights} is a target, so it cannot hold the weights")
    wanted = [(name, "target") for name in targets] + ([] if options.weights is None else [(options.weights, "weight")])
    rows: list[int] = []
    smiles, values, parts = [], [], []
    for chunk in table.chunks():
        rows += chunk.numbers
        smiles += chunk.values[smiles_column]
        try:
            columns = [read_targets(chunk.values[name], name, chunk.numbers, what) for name, what in wanted]
            values.append(np.stack(columns, 1))
        except FormatError as error:
            raise FormatError(f"{table.path}: {error}") from None
        parts += chunk.values[split] if split else []
    numbers, y = np.array(rows, np.int64), np.concatenate([np.empty((0, len(wanted))), *values])
    if not len(y):
        raise FormatError(f"{table.path} has a header and no rows: there is nothing to learn from")
    y, weights = y[:, : len(targets)], None if options.weights is None else y[:, -1]
    reasons = np.where(np.isnan(y).all(1), "no target has a value", "")
    for k in np.flatnonzero(np.isnan(y).all(0)):
        raise FormatError(f"{table.path}: column {targets[k]} has no value in any of {len(y)} rows: there is nothing to learn")
    if weights is not None:
        _check_weights(table, options.weights, weights, numbers)
        reasons = np.where((reasons == "") & (weights == 0), "its weight is 0", reasons)
    kept = np.flatnonzero(reasons == "")
    skipped = [Skipped(int(numbers[i]), smiles[i], str(reasons[i])) for i in np.flatnonzero(reasons != "")]
    return _Columns(smiles_column, tuple(targets), numbers, smiles, y, parts if split else None, weights, kept, skipped)


def _check_weights(table: MoleculeTable, column: str, weights: np.ndarray, numbers: np.ndarray) -> None:
    bad = bad_weight(weights)
    if bad is not None:
        found = "no value" if np.isnan(weights[bad]) else f"{weights[bad]:g}"
        raise FormatError(
            f"{table.path}, column {column!r}, row {numbers[bad]}: a weight must be a number, at least 0; found {found}"
        )
    if not weights.any():
        raise FormatError(f"{table.path}: all weights in column {column} are 0: there is nothing to learn")


def _find_targets(table: MoleculeTable, taken: Sequence[str | None]) -> tuple[str, ...]:
    """The only other column that holds nothing but numbers; an error that lists all such columns if there are several, or none."""
    found = [name for name in table.columns if name not in taken]
    reasons = []
    for chunk in table.chunks():
        for name in list(found):
            try:
                read_targets(chunk.values[name], name, chunk.numbers)
            except FormatError as error:
                found.remove(name)
                reasons.append(str(error))
    if len(found) == 1:
        return (found[0],)
    if not found:
        why = "; ".join(reasons[:3]) or f"the only columns are {', '.join(map(repr, table.columns))}"
        raise FormatError(f"{table.path}: no column holds numbers only, so there is no target. {why}")
    raise FormatError(f"{table.path}: several columns hold numbers. Name the ones to learn: --targets {','.join(found)}")


# ---- the task -----------------------------------------------------------------------------------------------------------------------


def _both(seen: dict[str, list[list[int]]], like: MoleculeSchema | None) -> dict[str, list[list[int]]]:
    """With the categories that another run has seen."""
    if like is None:
        return seen
    return {
        name: [sorted({*a, *b}) for a, b in itertools.zip_longest(columns, like.seen[name], fillvalue=())]
        for name, columns in seen.items()
    }


def _targets(kind: Kind, y: np.ndarray, columns: _Columns, path: Any) -> tuple[tuple[str, ...], np.ndarray]:
    """The text of each class of a multiclass target, and y as the task has it but for its units."""
    if kind != "multiclass":
        bad = (kind == "binary") & ~np.isnan(y) & (y != 0) & (y != 1)
        if bad.any():
            row, column = np.argwhere(bad)[0]
            name = columns.targets[column]
            raise FormatError(f"{path}, column {name!r}: a binary target is 0 or 1; found {y[row, column]:g}")
        for k, name in enumerate(columns.targets):
            _require_spread(y[:, k], f"{path}, column {name!r}")
        return (), y
    if len(columns.targets) > 1:
        raise PlanegraphError(f"a multiclass task has one target; found {', '.join(columns.targets)}")
    found, numbers = np.unique(y[:, 0], return_inverse=True)
    if len(found) < 2:
        raise FormatError(f"{path}, column {columns.targets[0]!r}: all rows have the class {found[0]:g}; there is nothing to learn")
    return tuple(str(int(value)) if value.is_integer() else repr(value) for value in found.tolist()), numbers


def _splits(
    options: MoleculeOptions, columns: _Columns, kept: np.ndarray, smiles: Sequence[str], path: Any
) -> Split | Sequence[Split]:
    try:
        if columns.parts is not None:
            return column_split([columns.parts[i] for i in kept], options.seed, columns.rows[kept].tolist())
        if options.folds is not None:
            return folds(scaffolds(smiles) if options.split == "scaffold" else len(smiles), options.folds, options.seed)
        return scaffold_split(smiles, options.seed) if options.split == "scaffold" else random_split(len(smiles), options.seed)
    except PlanegraphError as error:
        where = "" if columns.parts is None else f", column {options.split.removeprefix('column:')!r}"
        raise FormatError(f"{path}{where}: {error}") from None


def _require_spread(values: np.ndarray, where: str) -> None:
    """Values that differ, and by enough for the single precision that models compute in."""
    values = values[~np.isnan(values)]
    if (values == values[0]).all():
        raise FormatError(f"{where}: all values are {values[0]:g}; there is nothing to learn")
    mean, spread = values.mean(), values.std()
    if spread < max(_LEAST_SPREAD, _LEAST_SHARE * abs(mean)):
        raise FormatError(
            f"{where}: the values differ too little for single precision, mean {mean:g} and deviation {spread:g}. Subtract a constant, "
            "or give the column in another unit"
        )


def _check_taught(
    y: np.ndarray, splits: Split | Sequence[Split], targets: tuple[str, ...], classes: tuple[str, ...], where: str
) -> list[str]:
    """Notes on targets with one value, or none, in a training part, and on classes that it lacks; FormatError if no target has two."""
    parts = [y[split["train"]] for split in ([splits] if isinstance(splits, Mapping) else splits)]
    names = [name for k, name in enumerate(targets) if any(len(np.unique(part[~np.isnan(part[:, k]), k])) < 2 for part in parts)]
    if len(names) == len(targets):
        raise FormatError(f"{where}: {' and '.join(names)} has no two different values in the training part. Choose another split")
    notes = [f"{name} has no two different values in the training part: its predictions mean nothing" for name in names]
    if not classes:
        return notes
    untaught = sorted({value for part in parts for value in np.setdiff1d(y, part).tolist()})
    return [*notes, *(f"class {value:g} has no molecule in the training part: it is never predicted" for value in untaught)]


# ---- what people are told -----------------------------------------------------------------------------------------------------------


def _notes(task: Task, columns: _Columns, kept: int, skipped: int, kind: Kind, featurizer: Featurizer) -> list[str]:
    of = ", ".join(columns.targets)
    sizes = [", ".join(f"{len(ids):,} {part}" for part, ids in split.items()) for _, split in task.by_fold()]
    found = [f"{kept:,} molecules of column {columns.smiles_column}; {kind} of {of}; {sizes[0]}"]
    if len(sizes) > 1:
        found[0] += f" in the first of {len(sizes)} folds"
    if skipped:
        found.append(f"{skipped:,} {'row was' if skipped == 1 else 'rows were'} skipped")
    if featurizer.scaling is not None:
        found.append(f"{len(featurizer.scaling.names)} descriptors of RDKit are read beside the graph (--no-descriptors)")
    return found


def _shared(task: Task, molecules: GraphBatch) -> list[str]:
    """Planar molecules of a later part that an earlier one has, too: figures on them are too good."""
    planar = np.setdiff1d(np.arange(len(molecules)), task.dataset.nonplanar)
    codes = [b"not planar %d" % k for k in range(len(molecules))]
    for k, code in zip(planar.tolist(), canonical_codes(molecules[planar]), strict=True):
        codes[k] = code
    _, split = task.by_fold()[0]
    found = shared_molecules(split, codes)
    return [f"{count} molecule{'s' * (count > 1)} of {later} also in {earlier}" for later, earlier, count in found]


def _first(skipped: Sequence[Skipped]) -> str:
    return f"row {min(skipped).row}: {min(skipped).reason}" if skipped else "there are no rows"
