"""``planegraph train TASK --set KEY=A,B ...``: a run for each combination, then a table by validation, sweep.html and sweep.csv.

Test figures are printed for the chosen run only: settings that are chosen by the test part would make its figures too good.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..io.text import columns
from ..processes import first_process
from .messages import UsageError, complain, say
from .report import where_report

if TYPE_CHECKING:
    from ..runs.sweeps import SweepRun
    from ..tasks.task import Task
    from ..train import Callback, RunSettings

_SHOWN = 20  # lines of the table

TrainOne = Callable[["RunSettings", Path], dict[str, Any]]


@dataclass(frozen=True)
class Sweep:
    """What is trained, whatever the settings.

    Args:
        settings_for: the settings with such overrides.
        train_one: trains a run in a folder, or resumes it.
        finish: does what only the chosen run needs, and gives its result.
        summary: the lines that are printed of that result and its folder.
    """

    out: str
    settings_for: Callable[[Sequence[str]], RunSettings]
    train_one: TrainOne
    finish: TrainOne
    summary: Callable[[dict[str, Any], str], str]


def is_sweep(args: argparse.Namespace) -> bool:
    """Whether a setting has several values."""
    from ..runs.sweeps import varies

    return varies(args.overrides)


class Tasks:
    """The task of some settings, made once for all settings with the same options."""

    def __init__(self, data_root: str | None) -> None:
        self.data_root = data_root
        self.made: dict[Any, Task] = {}

    def __call__(self, settings: RunSettings) -> Task:
        from ..train.tasks import task_of

        options = json.dumps(settings.options, sort_keys=True, default=str)
        if options not in self.made:
            self.made[options] = task_of(settings, self.data_root)
        return self.made[options]


def task_sweep(
    args: argparse.Namespace,
    out: str,
    settings: Callable[[argparse.Namespace], RunSettings],
    tasks: Tasks,
    loggers: Callable[[], list[Callback]],
    summary: Callable[[dict[str, Any], str], str],
) -> Sweep:
    """On a benchmark, a packed file or a function."""
    from ..train import train

    def settings_for(overrides: Sequence[str]) -> RunSettings:
        return settings(argparse.Namespace(**{**vars(args), "overrides": list(overrides)}))

    def train_one(chosen: RunSettings, folder: Path) -> dict[str, Any]:
        task = tasks(chosen)
        if task.targets is not None:
            names = ", ".join(task.targets)
            raise UsageError(
                f"a sweep compares one figure of each run, but {names} have a model each; choose one, by --set options.target=NAME"
            )
        return train(task, chosen, folder, resume=True, show=not args.quiet, device=args.device, callbacks=loggers())

    return Sweep(out, settings_for, train_one, train_one, summary)


def run_sweep(args: argparse.Namespace, of: Sweep) -> int:
    """Trains what is left of the sweep, and prints what came out. Gives the exit code."""
    from ..runs.errors import Stopped
    from ..train import sweep

    progress = (lambda text: None) if args.quiet else partial(complain, alike=True)
    try:
        runs = sweep(of.train_one, of.settings_for, args.overrides, of.out, progress)
        best = runs[0] if runs[0].result is not None else None
        result = None if best is None else of.finish(_settings_of(of, args.overrides, best), best.folder)
    except Stopped as stop:
        raise Stopped(f"{str(stop).partition(';')[0]}; the same command continues the sweep", stop.signal) from None
    if first_process():
        say(table(runs))
        if best is not None and result is not None:
            say(f"best on validation: {best.folder.name}\n{of.summary(result, str(best.folder))}")
            say(where_report(str(best.folder)))
        say(_page(of.out))
    return 3 if any(run.diverged for run in runs) else 0


def _settings_of(of: Sweep, overrides: Sequence[str], run: SweepRun) -> RunSettings:
    from ..runs.sweeps import combinations

    return next(of.settings_for(c.overrides) for c in combinations(overrides) if c.name == run.folder.name)


def table(runs: Sequence[SweepRun]) -> str:
    """The runs by validation, a line each: settings, validation, seconds."""
    from ..report.formatting import duration, spread
    from ..runs.sweeps import short_names, value_text

    keys = list(runs[0].values)
    metric = next((run.result["metric"] for run in runs if run.result), "")
    rows = [[*short_names(keys).values(), f"validation {metric}".strip(), "time"]]
    for run in runs[:_SHOWN]:
        figure, seconds = run.state, ""
        if run.result is not None:
            figure = spread(run.result["metric"], **run.result["val"], count=len(run.result["trials"]))
            seconds = duration(run.result["seconds"])
        rows.append([*(value_text(run.values[key]) for key in keys), figure, seconds])
    more = f"... and {len(runs) - _SHOWN} more, in sweep.csv\n" if len(runs) > _SHOWN else ""
    return columns(rows) + more


def _page(out: str) -> str:
    from ..report import write_sweep

    try:
        return "sweep: " + ", ".join(map(str, write_sweep(out))) + "\n"
    except Exception as error:
        complain(
            f"the sweep is complete, but its page could not be written ({type(error).__name__}: {error}); planegraph report {out}"
        )
        return ""
