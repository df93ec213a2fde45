"""Are the targets of a dataset those that its task says? Shape and values of y, its classes, and the names of targets with a model each.

A pass over y: O(graphs). A value that does not fit is looked for only where there is one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from ..errors import PlanegraphError

if TYPE_CHECKING:
    from .task import Task

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_JUDGED = ("val", "test")
_NEED_TWO_VALUES = ("prauc", "r2", "spearman")
_RESERVED = re.compile(r"models|tensorboard|wandb|group\d+")


def check_targets(task: Task) -> None:
    """PlanegraphError, which names the task, unless y is what the task learns: in shape everywhere, in value in its parts."""
    if task.targets is not None:
        _check_names(task)
    elif task.dataset.y is None:
        raise PlanegraphError(f"task {task.name}: there is nothing to learn, the dataset has no y")
    elif task.kind == "multiclass":
        _check_classes(task)
    else:
        _check_numbers(task)
    _check_values(task)
    if task.metric == "rocauc":
        _check_both_classes(task)
    if task.metric in _NEED_TWO_VALUES:
        _check_two_values(task)


def _check_numbers(task: Task) -> None:
    """A number for each graph and output."""
    y = task.dataset.y
    if y.shape[1:] != (task.outputs,) and (y.ndim, task.outputs) != (1, 1):
        raise PlanegraphError(
            f"task {task.name}: {task.kind} with outputs={task.outputs} needs y of shape ({len(y)}, {task.outputs}); found {y.shape}"
        )


def _check_classes(task: Task) -> None:
    """One of as many classes as there are outputs for each graph."""
    y = task.dataset.y
    if y.shape[1:] not in ((), (1,)) or y.dtype.kind not in "biu":
        raise PlanegraphError(
            f"task {task.name}: multiclass needs y of shape ({len(y)},), an integer for each graph; found {y.shape}, {y.dtype}"
        )
    outside = y[(y < 0) | (y >= task.outputs)]
    if len(outside):
        raise PlanegraphError(f"task {task.name}: {task.outputs} outputs mean classes 0 to {task.outputs - 1}; found {outside[0]}")


def _check_names(task: Task) -> None:
    """Names that can be folders, once each, a column of y for each, and one output."""
    names, y = task.targets, task.dataset.y
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
        raise PlanegraphError(f"task {task.name}: a target of its own is one number; found outputs={task.outputs}, {task.kind}")


def _check_values(task: Task) -> None:
    """Finite numbers, of a binary task 0 or 1; graphs in no part of the split may have any."""
    y = task.dataset.y
    fits, wanted = ((y == 0) | (y == 1), "0 or 1") if task.kind == "binary" else (np.isfinite(y), "finite")
    if task.missing:
        fits |= np.isnan(y)
    if fits.all():
        return
    bad = ~fits.reshape(len(y), -1).all(axis=1)
    for where, ids in [(part.title, part.ids) for part in task.parts()] or [("", np.arange(len(y)))]:
        found = ids[bad[ids]]
        if len(found):
            graph = int(found[0])
            value = y[graph][~fits[graph]][0] if y.ndim > 1 else y[graph]
            raise PlanegraphError(
                f"task {task.name}: y must be {wanted}; found {value} at graph {graph}{where and ', in '}{where}. Correct it, or leave the "
                "graph out of all parts"
            )


def _check_both_classes(task: Task) -> None:
    """Graphs of both classes in each part that is judged, for each column of y: ROC-AUC compares one class with the other."""
    y = task.dataset.y
    for title, part, ids in task.parts():
        if part not in _JUDGED or not len(ids):
            continue
        here = y[ids].reshape(len(ids), -1)
        if task.missing:
            _check_one_defined(task, title, here)
            continue
        positive = here.sum(axis=0)
        for column, count in enumerate(positive.astype(int).tolist()):
            if count in (0, len(ids)):
                names = task.targets or task.names
                of = f" of {names[column]}" if names else f" in column {column} of y" if len(positive) > 1 else ""
                raise PlanegraphError(
                    f"task {task.name}: ROC-AUC needs graphs of both classes in {title}; found {count} positive and "
                    f"{len(ids) - count} negative{of}. Choose another split, or another metric, such as accuracy"
                )


def _check_two_values(task: Task) -> None:
    """Two different values of one target at least in each part that is judged; without them these metrics are undefined."""
    y = task.dataset.y.reshape(len(task.dataset), -1)
    for title, part, ids in task.parts():
        if part in _JUDGED and len(ids) and not any(len(np.unique(values[~np.isnan(values)])) > 1 for values in y[ids].T):
            raise PlanegraphError(
                f"task {task.name}: the metric {task.metric} needs two different values in {title}, which has {len(ids)} graphs. Choose "
                "another split, or another metric"
            )


def _check_one_defined(task: Task, title: str, y: np.ndarray) -> None:
    """Where values may be missing, the figure is the mean over the targets of which both classes occur: there must be one."""
    if not ((y == 0).any(0) & (y == 1).any(0)).any():
        raise PlanegraphError(
            f"task {task.name}: ROC-AUC needs graphs of both classes in {title}, of one target at least; found none. Choose another "
            "split, or another metric, such as accuracy"
        )
