"""Trains the configs of a table, resumes interrupted runs, and keeps a record of each row as soon as it is trained.

Configs are trained one after another; the rows of a config with several targets are trained together, as one stack.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import PlanegraphError
from ..processes import first_process
from ..report.formatting import duration, spread
from ..runs.settings import RunSettings
from ..train import train
from ..train.run import runs_of
from ..train.tasks import task_of
from .configs import file_of, load_config
from .published import MEASURE_NAMES, TABLE_NAMES, config_names_of
from .records import Record, checked_record, has_record, write_record


@dataclass(frozen=True)
class Plan:
    """Folders, device and options of a reproduction.

    Args:
        records, runs: folders of the records and of the runs.
        data_root: folder of the datasets; None: as ``planegraph datasets`` says.
        overrides: settings that replace those of every config, as ``key.key=value``.
        again: also train rows that have a record; the folder of the earlier run is kept under another name.
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
    """The rows of a table, or of all tables; ``only``: this one of them."""
    if table in MEASURE_NAMES:
        raise PlanegraphError(f"{table} is measured: python benchmarks/measured.py {table}, in a checkout, then planegraph tables")
    tables = TABLE_NAMES if table == "all" else (table,)
    if tables[0] not in TABLE_NAMES:
        raise PlanegraphError(f"there is no table {table!r}; there are {', '.join(TABLE_NAMES)}, all")
    found = [name for t in tables for name in config_names_of(t)]
    if only is not None:
        if only not in found:
            raise PlanegraphError(f"{table} has no {only!r}; it has {', '.join(found)}")
        found = [only]
    return found


def jobs_of(names: Sequence[str]) -> dict[str, list[str]]:
    """The rows of each run, by the name of its config. Rows of one file are a run; a single row is a run under its own name.

    >>> jobs_of(["p3r-gin", "qm9-ZPVE", "qm9-U0"]), jobs_of(["qm9-U0"])
    ({'p3r-gin': ['p3r-gin'], 'qm9-energies': ['qm9-ZPVE', 'qm9-U0']}, {'qm9-U0': ['qm9-U0']})
    """
    if len(names) == 1:
        return {names[0]: list(names)}
    jobs: dict[str, list[str]] = {}
    for name in names:
        jobs.setdefault(file_of(name), []).append(name)
    return jobs


def settings_of(config: str, plan: Plan) -> RunSettings:
    """The settings of a config with the plan's overrides."""
    settings = load_config(config)
    target = settings.options.get("target")
    settings = settings.with_overrides(plan.overrides)
    if settings.options.get("target") != target:
        raise PlanegraphError(f"{config}: --set options.target would make it another row; name that row with --only")
    return settings


def finished_record(plan: Plan, name: str) -> Record | None:
    """The record, if there is one of today's model; a broken one is an error."""
    return checked_record(plan.records / name) if has_record(plan.records, name) else None


def reproduce(config: str, rows: Sequence[str], plan: Plan) -> None:
    """Trains the rows of a config, unless all have records, and writes the records that are missing."""
    missing = list(rows)
    if not plan.again:
        found = {name: record for name in rows if (record := finished_record(plan, name)) is not None}
        for name, record in found.items():
            other = f" (with {', '.join(record.overrides)})" if record.overrides else ""
            plan.say(f"{name}: recorded in {record.folder}{other}; --again runs it again")
        missing = [name for name in rows if name not in found]
    if not missing:
        return
    settings, folder = settings_of(config, plan), plan.runs / config
    there = not _put_aside(folder, plan) and folder.exists()
    task = task_of(settings, plan.data_root)
    plan.say(f"{config}: {settings.model_class} on {task.name}, {settings.train.epochs} epochs, in {folder}")
    trained = train(task, settings, folder, resume=there, show=plan.show, device=plan.device)
    names = [f"{settings.task}-{target}" for target in task.targets] if task.targets else [config]
    for name, (run, result) in zip(names, runs_of(folder, trained), strict=True):
        if name in missing and first_process():
            record = write_record(run, plan.records, name)
            figure = spread(result["metric"], **result["test"], count=len(result["trials"]))
            plan.say(f"{name}: {result['metric']} {figure}, {duration(result['seconds'])}; recorded in {record}")


def _put_aside(folder: Path, plan: Plan) -> bool:
    """Renames the folder of a finished run that is to be trained again; returns whether it is one. An interrupted run is resumed.

    Only the first process renames, and the others need not wait: before and after it they find nothing to resume, and no process makes a
    new folder before all have met in :func:`train`.
    """
    if not (plan.again and (folder / "result.json").exists()):
        return False
    if first_process():
        folder.rename(_aside(folder))
    return True


def _aside(folder: Path) -> Path:
    """A free name for the folder of an earlier run."""
    return next(path for k in range(1, 10**6) if not (path := folder.with_name(f"{folder.name}.{k}")).exists())
