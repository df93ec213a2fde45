"""What must hold of a task: measures that go together, features and targets that are those it says, weights that can be used.

Each check raises PlanegraphError, which names the task. A pass over the values: O(size), 20 ms for a million nodes with nine columns. One
that does not fit is looked for only where there is one.
"""

from __future__ import annotations

import re
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..data.packed import PackedDataset
from ..data.sizes import Categorical, Continuous, Features, Mixed
from ..errors import PlanegraphError
from ..graphs.batch import locate
from .metrics import METRICS, mean_figure

if TYPE_CHECKING:
    from .task import Task

# ---- loss, metric, scale --------------------------------------------------------------------------------------------------------------


class Measures(NamedTuple):
    """What goes with a kind, by the fields of a task."""

    loss: tuple[str, ...]
    metric: tuple[str, ...]
    output: tuple[str, ...]


KINDS = {
    "regression": Measures(("l1", "mse", "rmse"), tuple(METRICS["regression"]), ("identity", "sigmoid")),
    "binary": Measures(("bce",), tuple(METRICS["binary"]), ("identity", "sigmoid")),
    "multiclass": Measures(("ce",), tuple(METRICS["multiclass"]), ("identity",)),
}
"""The kinds of tasks. Cross entropies read the model's output itself: there the output only says what is kept as the prediction."""


def check_measure(task: Task) -> None:
    """PlanegraphError, which names the task, unless loss, metric and output are those of its kind, and there are outputs."""
    if task.kind not in KINDS:
        raise PlanegraphError(f"task {task.name}: kind is one of {', '.join(KINDS)}; found {task.kind!r}")
    for field, known in KINDS[task.kind]._asdict().items():
        found = getattr(task, field)
        if found not in known:
            raise PlanegraphError(f"task {task.name}: with kind={task.kind!r}, {field} is {_either(known)}; found {found!r}")
    if type(task.outputs) is not int or task.outputs < 1:
        raise PlanegraphError(f"task {task.name}: outputs must be a positive integer; found {task.outputs!r}")


def check_scale(task: Task) -> None:
    """PlanegraphError unless the scale is a positive factor, or one for each output or target, of an error."""
    scale = task.scale
    if scale is None:
        return
    if task.metric != "mae":
        raise PlanegraphError(f"task {task.name}: only an mae has a scale; found scale={scale!r} with metric={task.metric!r}")
    what, count = ("outputs", task.outputs) if task.targets is None else ("targets", len(task.targets))
    if isinstance(scale, tuple) and len(scale) != count:
        raise PlanegraphError(f"task {task.name}: {count} {what} need as many scales, or one number for all; found {scale!r}")
    if not all(
        isinstance(factor, int | float) and 0 < factor < inf for factor in (scale if isinstance(scale, tuple) else (scale,))
    ):
        raise PlanegraphError(
            f"task {task.name}: the metric is divided by its scale, a positive int or float or a tuple of them; found {scale!r}"
        )


def _either(names: tuple[str, ...]) -> str:
    """
    >>> _either(("l1", "mse", "rmse"))
    'l1, mse or rmse'
    """
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


# ---- features ------------------------------------------------------------------------------------------------------------------------

_ADVICE = (
    "Correct the features, or the sizes that the task says; if they come from raw files, fetch these again, remove the packed file and "
    "pack anew (planegraph datasets NAME --pack)"
)


def check_features(task: str, dataset: PackedDataset, nodes: Features, edges: Features) -> None:
    """PlanegraphError, which names the task, unless ``x`` fits ``nodes`` and ``edge_attr`` or ``dart_attr`` fits ``edges``.

    None fits everything. Where there are no nodes, or no edges, no features are needed.

    >>> import planegraph as pg
    >>> ds = PackedDataset.from_graphs([pg.Graph(2, [(0, 1)], node_labels=[3, 5])])
    >>> check_features("pairs", ds, Categorical((6,)), None)
    """
    by_dart = dataset.edge_attr is None and dataset.dart_attr is not None
    edge_name, edge_values = ("dart_attr", dataset.dart_attr) if by_dart else ("edge_attr", dataset.edge_attr)
    for name, values, features, table in (("x", dataset.x, nodes, "node"), (edge_name, edge_values, edges, "edge")):
        if features is None:
            continue
        if not isinstance(features, Categorical | Continuous | Mixed):
            raise PlanegraphError(f"task {task}: features are Categorical, Continuous or Mixed (planegraph.nn); found {features!r}")
        if dataset.tables.size(table):
            problem = _kind_problem(values, features) or _value_problem(values, features, dataset.tables[f"{table}_ptr"], table)
            if problem:
                raise PlanegraphError(f"task {task}: {name}{problem}. {_ADVICE}")


def _kind_problem(values: np.ndarray | None, features: Categorical | Continuous | Mixed) -> str:
    """What is wrong with the type or the number of columns; empty if nothing is."""
    categorical = isinstance(features, Categorical)
    wanted = f" must have {_columns(features.columns)} of {'integers' if categorical else 'floats'}"
    if values is None:
        return f"{wanted}; the dataset has none"
    if (values.dtype.kind in "iu") != categorical or values.shape[-1] != features.columns:
        return f"{wanted}; found {_columns(values.shape[-1])} of {values.dtype}"
    return ""


def _value_problem(values: np.ndarray, features: Categorical | Continuous | Mixed, ptr: np.ndarray, row: str) -> str:
    """The first value that is not a number, or none of its column's categories, and where it is; empty if there is none."""
    if not isinstance(features, Categorical) and not (
        np.isfinite(values.min()) and np.isfinite(values.max())
    ):  # NaN if one value is
        column = int(np.argwhere(~np.isfinite(values))[0, -1])
        return _found(values[..., column], ~np.isfinite(values[..., column]), column, "finite", ptr, row)
    return "" if isinstance(features, Continuous) else _category_problem(values, features.sizes, ptr, row)


def _category_problem(values: np.ndarray, sizes: tuple[int, ...], ptr: np.ndarray, row: str) -> str:
    for column, size in enumerate(sizes):
        found = values[..., column]
        bad = (found < 0) | (found >= size)
        if found.dtype.kind == "f":
            bad |= found != np.floor(found)
        if bad.any():
            return _found(found, bad, column, f"0 to {size - 1}", ptr, row)
    return ""


def _found(values: np.ndarray, bad: np.ndarray, column: int, wanted: str, ptr: np.ndarray, row: str) -> str:
    where = tuple(np.argwhere(bad)[0])
    graph, place = locate(ptr, int(where[0]))
    return f", column {column}, must be {wanted}; found {values[where]} at {row} {place} of graph {graph}"


def _columns(width: int) -> str:
    return f"{width} column{'' if width == 1 else 's'}"


# ---- targets -------------------------------------------------------------------------------------------------------------------------

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_JUDGED = ("val", "test")
_RESERVED = re.compile(r"models|tensorboard|wandb|group\d+")


def check_targets(task: Task) -> None:
    """PlanegraphError, which names the task, unless y is what the task learns: in shape everywhere, in value in its parts."""
    if task.node_y is not None and (task.node_y.ndim not in (1, 2) or len(task.node_y) != task.size):
        raise PlanegraphError(
            f"task {task.name}: node_y must have a row for each of {task.size} nodes; found shape {task.node_y.shape}"
        )
    if task.targets is not None:
        _check_names(task)
    elif task.y is None:
        raise PlanegraphError(f"task {task.name}: there is nothing to learn, the dataset has no y")
    elif task.kind == "multiclass":
        _check_classes(task)
    else:
        _check_numbers(task)
    _check_values(task)
    if task.kind != "multiclass":
        _check_defined(task)


def _check_numbers(task: Task) -> None:
    """A number for each output."""
    y = task.y
    if y.shape[1:] != (task.outputs,) and (y.ndim, task.outputs) != (1, 1):
        raise PlanegraphError(
            f"task {task.name}: {task.kind} with outputs={task.outputs} needs y of shape ({len(y)}, {task.outputs}); found {y.shape}"
        )


def _check_classes(task: Task) -> None:
    """One of as many classes as there are outputs."""
    y = task.y
    if y.shape[1:] not in ((), (1,)) or y.dtype.kind not in "biu":
        raise PlanegraphError(
            f"task {task.name}: multiclass needs y of shape ({len(y)},), an integer for each {task.level}; found {y.shape}, {y.dtype}"
        )
    outside = y[(y < 0) | (y >= task.outputs)]
    if len(outside):
        raise PlanegraphError(f"task {task.name}: {task.outputs} outputs mean classes 0 to {task.outputs - 1}; found {outside[0]}")


def _check_names(task: Task) -> None:
    """Names that can be folders, once each, a column of y for each, and one output."""
    names, y = task.targets, task.y
    for name in names:
        if not isinstance(name, str) or not _NAME.fullmatch(name) or _RESERVED.fullmatch(name):
            raise PlanegraphError(
                f"task {task.name}: a target is named by letters, digits, _ and -, and not like a folder of a run; found {name!r}"
            )
    if not names or len(set(names)) < len(names):
        raise PlanegraphError(f"task {task.name}: targets have a name each; found {', '.join(names) or 'none'}")
    columns = y.shape[1] if y is not None and y.ndim == 2 else None
    if columns != len(names):
        found = "no y" if y is None else f"y of shape {y.shape}"
        raise PlanegraphError(f"task {task.name}: {len(names)} targets need y with a column for each; found {found}")
    if task.outputs != 1 or task.kind == "multiclass":
        raise PlanegraphError(
            f"task {task.name}: a target with its own model is one number; found outputs={task.outputs}, {task.kind}"
        )


def _check_values(task: Task) -> None:
    """Finite numbers, of a binary task 0 or 1; what is in no part of the split may have any."""
    y = task.y
    fits, wanted = ((y == 0) | (y == 1), "0 or 1") if task.kind == "binary" else (np.isfinite(y), "finite")
    if task.missing:
        fits |= np.isnan(y)
    if fits.all():
        return
    bad = ~fits.reshape(len(y), -1).all(axis=1)
    everywhere: list[Any] = [("", "", np.arange(len(y)))]
    for where, _, ids in task.parts() or everywhere:
        found = ids[bad[ids]]
        if len(found):
            first = int(found[0])
            value = y[first][~fits[first]][0] if y.ndim > 1 else y[first]
            raise PlanegraphError(
                f"task {task.name}: y must be {wanted}; found {value} at {task.level} {first}{where and ', in '}{where}. Correct it, or "
                f"leave the {task.level} out of all parts"
            )


def _check_defined(task: Task) -> None:
    """Each part that is judged must have values for which the metric is defined, even if all are predicted rightly.

    The figure is the mean over the targets that define it, so one target is enough, unless each has its own model.
    """
    y = task.y.reshape(task.size, -1).astype(np.float64)
    for title, part, ids in task.parts():
        if part not in _JUDGED or not len(ids):
            continue
        defined = [not np.isnan(mean_figure(task.kind, task.metric, values, values)) for values in y[ids].T]
        if not (any(defined) if task.targets is None else all(defined)):
            column = defined.index(False)
            names, (center, spread) = task.targets or task.names, (0.0, 1.0) if task.units is None else task.units[column]
            found = np.unique(y[ids, column]) * spread + center
            of = f" of {names[column]}" if names else f" in column {column} of y" if len(defined) > 1 else ""
            values = ", ".join(f"{value:g}" for value in found[:3]) + (", ..." if len(found) > 3 else "")
            raise PlanegraphError(
                f"task {task.name}: the metric {task.metric} is undefined in {title}, whose {len(ids)} values{of} are {values}. Choose "
                "another split, or another metric"
            )


# ---- weights -------------------------------------------------------------------------------------------------------------------------


def bad_weight(weights: np.ndarray) -> int | None:
    """The position of the first that is negative or not finite, if there is one.

    >>> bad_weight(np.array([1.0, 0.0, -2.0]))
    2
    """
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    return int(bad[0]) if len(bad) else None


def check_weights(task: Task) -> None:
    """PlanegraphError, which names the task, unless the weights are finite, at least 0, and some training graph of each split has one."""
    weights = task.dataset.attrs.get("sample_weight")
    if weights is None:
        return
    if task.level == "node":
        raise PlanegraphError(f"task {task.name}: sample_weight weighs graphs, but this task has targets of nodes; leave it out")
    if weights.ndim != 1:
        raise PlanegraphError(f"task {task.name}: sample_weight must be one number for each graph; found shape {weights.shape}")
    for title, part, ids in task.parts():
        if part != "train" or not len(ids):
            continue
        bad = bad_weight(weights[ids])
        if bad is not None:
            raise PlanegraphError(
                f"task {task.name}: sample_weight must be finite and at least 0; found {weights[ids[bad]]} at graph {ids[bad]}, in {title}"
            )
        if not weights[ids].any():
            raise PlanegraphError(f"task {task.name}: all weights are 0 in {title}; there is nothing to learn")
