"""Runs the configs of a table, resuming what was interrupted, and keeps a record of each as soon as it is finished.

One after another; on a GPU, configs that differ in their target only are trained together, as one stack.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import PlanegraphError
from ..io.checksums import read_json
from ..processes import first_process
from ..runs.settings import RunSettings, load_run_settings
from ..train import train
from ..train.environment import resolve_device
from ..train.run import runs_of
from ..train.tasks import task_of
from .configs import load_config
from .published import MEASURE_NAMES, TABLE_NAMES, config_names_of
from .records import Record, checked_record, has_record, write_measure, write_record
from .tables import with_spread


@dataclass(frozen=True)
class Plan:
    """Where and how things are run.

    Args:
        records, runs: folders of the records, and of the runs they are made from.
        data_root: folder of the datasets; None: as ``planegraph datasets`` says.
        overrides: settings that replace those of every config, as ``key.key=value``.
        again: also run what has a record; the folder of the earlier run is kept under another name.
        say: prints progress.
    """

    records: Path
    runs: Path
    data_root: str | None = None
    device: str | None = None
    overrides: Sequence[str] = ()
    again: bool = False
    show: bool = True
    say: Callable[[str], None] = print


def names_of(table: str, only: str | None = None) -> list[str]:
    """The configs and measures of a table, or of all; ``only``: this one of them."""
    tables = TABLE_NAMES if table == "all" else (table,)
    if tables[0] not in TABLE_NAMES:
        raise PlanegraphError(f"there is no table {table!r}; there are {', '.join(TABLE_NAMES)}, all")
    found = [name for t in tables for name in (config_names_of(t) or [t])]
    if only is not None:
        if only not in found:
            raise PlanegraphError(f"{table} has no {only!r}; it has {', '.join(found)}")
        found = [only]
    return found


def finished_record(plan: Plan, name: str) -> Record | None:
    """The record, if a finished one of today's model is there; a broken one is an error."""
    return checked_record(plan.records / name) if has_record(plan.records, name) else None


def check_overrides(names: Sequence[str], plan: Plan) -> None:
    """Raises PlanegraphError if the plan replaces what is not a setting of these."""
    if not plan.overrides:
        return
    trained = [name for name in names if name not in MEASURE_NAMES]
    if not trained:
        raise PlanegraphError(f"{', '.join(names)} is measured, and has no settings to replace; leave --set out")
    for name in trained:
        _settings(name, plan)


def reproduce(name: str, plan: Plan) -> Path | None:
    """Runs one config or measure and writes its record; None if there is one already."""
    found = None if plan.again else finished_record(plan, name)
    if found is not None:
        other = f" (with {', '.join(found.overrides)})" if found.overrides else ""
        plan.say(f"{name}: recorded in {found.folder}{other}; --again runs it anew")
        return None
    if name in MEASURE_NAMES:
        return _measure(name, plan)
    settings = _settings(name, plan)
    if _from_a_stack(name, settings, plan):
        return plan.records / name
    for folder, result in _train(name, settings, plan):
        _keep(folder, result, name, plan)
    return plan.records / name if first_process() else None


def reproduce_together(names: Sequence[str], plan: Plan) -> None:
    """Trains configs that differ in their target only, as one stack, and writes the record of each."""
    wanted = {name: _settings(name, plan) for name in names}
    wanted = {name: settings for name, settings in wanted.items() if not _from_a_stack(name, settings, plan)}
    if not wanted:
        return
    settings = list(wanted.values())
    targets = [s.options["target"] for s in settings]
    stack = replace(settings[0], options={**settings[0].options, "target": targets})
    made = _train("-".join([stack.task, *targets]), stack, plan)
    for name, (folder, result) in zip(wanted, made, strict=True):
        _keep(folder, result, name, plan)


def stacks_of(names: Sequence[str], plan: Plan) -> list[list[str]]:
    """The names as they are run: on a GPU those to be trained that differ in their target only are together, otherwise each is alone."""
    device = resolve_device(plan.device).type
    stacks: dict[str, list[str]] = {}
    for name in names:
        key = name
        wanted = plan.again or not has_record(plan.records, name)
        if wanted and name not in MEASURE_NAMES and device != "cpu":
            settings = _settings(name, plan)
            if isinstance(settings.options.get("target"), str):
                key = json.dumps(replace(settings, options={**settings.options, "target": None}).to_dict())
        stacks.setdefault(key, []).append(name)
    return list(stacks.values())


def _settings(name: str, plan: Plan) -> RunSettings:
    """Those of the config, with what the plan replaces; a record is that of one target, so there must be one."""
    settings = load_config(name).with_overrides(plan.overrides)
    target = settings.options.get("target")
    if target == "each" or isinstance(target, list | tuple):
        raise PlanegraphError(f"{name}: a record is that of one target; found options.target={target}")
    return settings


def _from_a_stack(name: str, settings: RunSettings, plan: Plan) -> bool:
    """Whether a stack that was trained earlier has this run, finished but not recorded: then it is recorded now."""
    target = settings.options.get("target")
    if target is None or plan.again:
        return False
    for path in sorted(plan.runs.glob(f"*/{target}/result.json")):
        if (path.parent / "settings.yaml").is_file() and load_run_settings(path.parent) == settings:
            _keep(path.parent, read_json(path), name, plan)
            return True
    return False


def _train(name: str, settings: RunSettings, plan: Plan) -> list[tuple[Path, dict[str, Any]]]:
    """Trains in the folder ``name`` of the runs; gives the folder and the result of each target, or of all."""
    folder = plan.runs / name
    there = not _put_aside(folder, plan) and folder.exists()
    task = task_of(settings, plan.data_root)
    plan.say(f"{name}: {settings.model_class} on {task.name}, {settings.train.epochs} epochs, in {folder}")
    result = train(task, settings, folder, resume=there, show=plan.show, device=plan.device)
    return runs_of(folder, result)


def _keep(folder: Path, result: Mapping[str, Any], name: str, plan: Plan) -> None:
    """Makes a record of a finished run; in the first process."""
    if not first_process():
        return
    record = write_record(folder, plan.records, name)
    figure = with_spread(result["test"]["mean"], result["test"]["std"], len(result["trials"]))
    plan.say(f"{name}: {result['metric']} {figure}, {result['seconds']:.0f} s; recorded in {record}")


def _measure(name: str, plan: Plan) -> Path | None:
    from . import expressiveness, tiger

    measures: dict[str, Callable[..., Any]] = {"tiger": tiger.measure, "expressiveness": expressiveness.measure}
    device = resolve_device(plan.device)
    plan.say(f"{name}: measuring on {device}")
    begun = time.monotonic()
    rows, notes = measures[name](plan.data_root, device, plan.say)
    if not first_process():
        return None
    record = write_measure(rows, plan.records, name, time.monotonic() - begun, device, notes=notes)
    plan.say(f"{name}: recorded in {record}")
    return record


def _put_aside(folder: Path, plan: Plan) -> bool:
    """Whether the folder is that of a finished run that is to run again: then the first process gives it another name.

    The others need not wait: whether they look before or after that, there is nothing to resume, and no new folder before all processes
    have met in :func:`train`. An interrupted run is resumed.
    """
    if not (plan.again and (folder / "result.json").exists()):
        return False
    if first_process():
        folder.rename(_aside(folder))
    return True


def _aside(folder: Path) -> Path:
    """A free name for the folder of an earlier run."""
    return next(path for k in range(1, 10**6) if not (path := folder.with_name(f"{folder.name}.{k}")).exists())
