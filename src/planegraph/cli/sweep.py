"""Trains the job of ``planegraph train``: a run; or, for ``--set KEY=A,B``, a sweep, which is a run for each combination, then a table by
validation, sweep.html and sweep.csv.

Test figures are printed for the chosen run only: settings that are chosen by the test part would make its figures too good.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..io.text import columns
from ..processes import first_process
from .messages import complain, remark, say
from .report import where_report

if TYPE_CHECKING:
    from ..runs.sweeps import SweepRun
    from ..train import RunSettings

_SHOWN = 20  # lines of the table


class Job(Protocol):
    """A task or a table for ``planegraph train``, and how it is trained with any settings.

    Args:
        out: the folder of the run or of the sweep.
        remarks: printed on stderr in the end.
    """

    out: str
    remarks: Sequence[str]

    def settings_for(self, overrides: Sequence[str]) -> RunSettings:
        """The settings with these overrides."""

    def train(self, settings: RunSettings, folder: str | Path, chosen: bool = True) -> dict[str, Any]:
        """Trains or resumes a run in a folder; ``chosen``: with everything that only the chosen run of a sweep needs, such as baselines."""

    def summary(self, result: dict[str, Any], folder: str) -> str:
        """The lines that are printed about a run."""


def is_sweep(args: argparse.Namespace) -> bool:
    """Returns whether a setting has several values."""
    from ..runs.sweeps import varies

    return varies(args.overrides)


def run_job(args: argparse.Namespace, job: Job) -> int:
    """Trains the run or the sweep and prints the results; returns the exit code."""
    from ..runs.errors import damage_named
    from ..train.run import runs_of

    code = 0
    if is_sweep(args):
        code = _run_sweep(args, job)
    else:
        result = job.train(job.settings_for(args.overrides), job.out)
        if first_process():
            for folder, of_target in runs_of(job.out, result):
                with damage_named(Path(folder) / "result.json"):
                    said = job.summary(of_target, str(folder))
                say(said + where_report(str(folder)))
    for note in job.remarks:
        complain(note)
    return code


def _run_sweep(args: argparse.Namespace, job: Job) -> int:
    from ..runs.errors import Stopped
    from ..runs.sweeps import combinations
    from ..train import sweep

    progress = (lambda text: None) if args.quiet else remark
    try:
        runs = sweep(partial(job.train, chosen=False), job.settings_for, args.overrides, job.out, progress)
        best, result = runs[0], None
        if best.result is not None:
            overrides = next(c.overrides for c in combinations(args.overrides) if c.name == best.folder.name)
            result = job.train(job.settings_for(overrides), best.folder)
    except Stopped as stop:
        raise Stopped(f"{str(stop).partition(';')[0]}; the same command continues the sweep", stop.signal) from None
    if first_process():
        say(table(runs))
        if result is not None:
            say(f"best on validation: {best.folder.name}\n{job.summary(result, str(best.folder))}{where_report(str(best.folder))}")
        say(_page(job.out))
    return 3 if any(run.diverged for run in runs) else 0


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
