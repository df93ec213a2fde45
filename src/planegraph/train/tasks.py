"""From settings to what they train on: the only place where a run asks for its data.

``settings.task`` names it in one of four ways, and a resumed run finds it again by the same name:

==========================  ===========================================================================================
``zinc12k``                 a benchmark of :mod:`planegraph.datasets`
``data.safetensors``        a packed file with targets; the options are those of :meth:`Task.from_packed`
``module:function``         a Python function that returns a :class:`Task`; the options are its arguments
any other name              the same, registered by an installed package in the entry point group ``planegraph.tasks``
==========================  ===========================================================================================
"""

from __future__ import annotations

import inspect
import re
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from ..data.packed import PackedDataset
from ..errors import PlanegraphError
from ..runs.errors import SettingsError
from ..runs.settings import RunSettings, batch_size_for
from ..runs.trials import graphs_and_nodes
from ..tasks.task import Task

GROUP = "planegraph.tasks"
_FUNCTION = re.compile(r"[\w.]+:\w+")


def task_of(settings: RunSettings, data_root: str | None = None) -> Task:
    """The task that the settings name, with their options; SettingsError if there is no such task or option."""
    from .. import datasets

    name, options = settings.task, settings.options
    if is_function(name):
        return _called(name, _function(name), options)
    if is_packed(name):
        if not Path(name).is_file():
            raise SettingsError(f"{name}: there is no such file; PackedDataset.save writes one")
        make = partial(Task.from_packed, name)
    else:
        try:
            make = datasets.get(name, data_root).task
        except datasets.UnknownDatasetError as error:
            return _called(name, _registered(name, str(error)), options)
    try:
        return make(**options)
    except TypeError as error:
        raise SettingsError(f"options of the task {name}: {error}") from None


def is_packed(name: str) -> bool:
    """Whether a task is named by a packed file."""
    return name.endswith(".safetensors")


def is_function(name: str) -> bool:
    """Whether a task is named as ``module:function``."""
    return _FUNCTION.fullmatch(name) is not None


def short_name(name: str) -> str:
    """What the folder of a run is called by default: the name of a task, the stem of a file, or the name of a function.

    >>> short_name("zinc12k"), short_name("data/rings.safetensors"), short_name("mine.tasks:rings")
    ('zinc12k', 'rings', 'rings')
    """
    return name.rpartition(":")[2] if is_function(name) else Path(name).name.split(".")[0]


def settings_for(
    task: Task, overrides: Sequence[str] = (), *, name: str | None = None, options: Mapping[str, Any] | None = None
) -> RunSettings:
    """Settings that suit the size of a task, with ``key.key=value`` in their place where given.

    Args:
        name, options: how :func:`task_of` finds the task again; by default its name, and none.

    >>> import planegraph as pg
    >>> task = Task.from_graphs([pg.families.cycle(n) for n in range(3, 23)], range(3, 23))
    >>> settings = settings_for(task, ["train.lr=0.001"])
    >>> settings.train.epochs, settings.train.lr, settings.model
    (100, 0.001, {'graph_scale': 12.0})
    """
    splits = [graphs_and_nodes(task, split)[0] for _, split in task.by_fold()]
    graphs = max((len(split["train"]) for split in splits if "train" in split), default=0)
    settings = RunSettings(name or task.name, options or {}, {"graph_scale": graph_scale(task.dataset)})
    size = [f"train.epochs={epochs_for(graphs)}"]
    if task.level == "node" and graphs <= batch_size_for(graphs):  # a step sees everything: few steps, and norms need no average
        size += ["train.lr=0.01", "model.norm_momentum=1"]
    return settings.with_overrides([*size, *overrides])


def epochs_for(graphs: int) -> int:
    """Epochs for so many training graphs: 100 up to 3,000, then fewer, as each has more steps; 20 at least.

    >>> [epochs_for(n) for n in (500, 3_000, 12_000, 10**6)]
    [100, 100, 50, 20]
    """
    return max(20, min(100, round(100 * (3_000 / max(graphs, 1)) ** 0.5)))


def graph_scale(dataset: PackedDataset) -> float:
    """``model.graph_scale`` for a dataset: the mean number of nodes, to two digits."""
    return float(f"{max(dataset.tables.size('node') / len(dataset), 1):.2g}")


# ---- functions ------------------------------------------------------------------------------------------------------------------


def _function(name: str) -> Callable[..., Any]:
    """What ``module:function`` names."""
    where, _, wanted = name.partition(":")
    with _failure_named(name, f"importing {where}"):
        try:
            module = import_module(where)
        except ModuleNotFoundError as error:
            if error.name and (where == error.name or where.startswith(f"{error.name}.")):
                raise SettingsError(f"task {name}: there is no module {error.name}, here or in Python's path") from None
            raise
    found = getattr(module, wanted, None)
    if not callable(found):
        there = [key for key, value in vars(module).items() if inspect.isfunction(value) and not key.startswith("_")]
        what = f"has no function {wanted}" if found is None else f"has {wanted}, which is {type(found).__name__} and no function"
        raise SettingsError(f"task {name}: module {where} {what}; its functions are {', '.join(there) or 'none'}")
    return found


def _registered(name: str, unknown: str) -> Callable[..., Any]:
    """What a package has registered; SettingsError, which begins with ``unknown``, if there is none."""
    found = entry_points(group=GROUP)
    if name not in found.names:
        others = f"; installed packages add {', '.join(sorted(found.names))}" if found.names else ""
        raise SettingsError(f"{unknown}{others}. Your own data is named as mols.csv, data.safetensors or module:function") from None
    with _failure_named(name, f"loading {found[name].value}, which a package registers for it,"):
        return found[name].load()


def _called(name: str, function: Callable[..., Any], options: Mapping[str, Any]) -> Task:
    """The task that the function returns."""
    try:
        inspect.signature(function).bind(**options)
    except TypeError as error:
        raise SettingsError(f"options of the task {name}: {error}") from None
    with _failure_named(name, "the function"):
        task = function(**options)
    if not isinstance(task, Task):
        raise SettingsError(f"task {name}: the function must return a planegraph.tasks.Task; found {type(task).__name__}")
    return task


@contextmanager
def _failure_named(name: str, what: str) -> Iterator[None]:
    """Makes another error a SettingsError that says what was raised, and the last line of the user's own code on the way there."""
    try:
        yield
    except PlanegraphError:
        raise
    except Exception as error:
        ours = str(Path(__file__).parents[1])
        frames = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
        own = [place for place in frames if not place[0].startswith((ours, "<")) and "/lib/python" not in place[0]]
        where = f"; {Path(own[-1][0]).name}, line {own[-1][1]}" if own else ""
        raise SettingsError(f"task {name}: {what} failed ({type(error).__name__}: {error}{where})") from error
