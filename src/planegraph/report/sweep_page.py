"""A sweep as a page and as a table: ``sweep.html`` compares the runs by validation, ``sweep.csv`` has the same for other tools.

Only the run that validation chooses has its test figure in either. Both can be written at any time; unfinished runs are listed.
"""

from __future__ import annotations

import csv
import io
import os
from collections import Counter
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

from ..io.atomic import replace_files
from ..io.text import counted
from ..runs.folder import damage_named, read_run
from ..runs.sweeps import PLAN, SweepRun, read_sweep, short_names, value_text
from .compare import settings_tables
from .curves import learning_curves
from .formatting import duration, metric_name, spread
from .page import Table, swatch, write_page
from .plot import run_colours
from .run_page import NAME as REPORT
from .sweep_plots import setting_plots

PAGE = "sweep.html"
TABLE = "sweep.csv"
_SHOWN = 20  # rows of the table; further ones are folded away
_WITHOUT = {
    "diverged": "diverged: the loss was not finite.",
    "not finished": "not finished: the command that began the sweep continues it.",
}


def is_sweep(folder: str | PathLike[str]) -> bool:
    """Whether a folder holds a sweep.

    >>> is_sweep("no/such/folder")
    False
    """
    return (Path(folder) / PLAN).is_file()


def write_sweep(folder: str | PathLike[str], path: str | PathLike[str] | None = None) -> list[Path]:
    """Writes the page of a sweep, by default ``sweep.html`` in its folder, and ``sweep.csv`` beside the runs; gives both paths."""
    folder = Path(folder)
    page = folder / PAGE if path is None else Path(path)
    with damage_named(f"a file of the sweep {folder}"):
        runs = read_sweep(folder)
        _write_page(page, runs)
        replace_files({folder / TABLE: sweep_csv(runs)})
    return [page, folder / TABLE]


def sweep_csv(runs: Sequence[SweepRun]) -> str:
    """A row for each run, the best on validation first; ``test`` of that one only."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    keys = list(runs[0].values)
    writer.writerow(["run", *keys, "state", "metric", "validation", "validation_std", "trials", "seconds", "test"])
    for k, run in enumerate(runs):
        cells: list[object] = [""] * 6
        if run.result is not None:
            val, test = run.result["val"], run.result["test"]
            cells = [run.result["metric"], val["mean"], val["std"], len(run.result["trials"]), run.result["seconds"]]
            cells.append("" if k else test["mean"])
        writer.writerow([run.folder.name, *(value_text(run.values[key]) for key in keys), run.state, *cells])
    return out.getvalue()


def _write_page(path: Path, runs: Sequence[SweepRun]) -> None:
    begun = [read_run(run.folder) for run in runs if (run.folder / "settings.yaml").is_file()]
    drawn = [found for found in begun if found.curves]
    task = begun[0].task if begun else runs[0].folder.parent.name
    names, states = short_names(list(runs[0].values)), Counter(run.state for run in runs)
    head = ("run", *names.values(), "validation", "time", "")
    colours = dict(zip([run.folder for run in drawn], run_colours(len(drawn)), strict=True))
    rows = [_row(k, run, list(names), colours, path.parent) for k, run in enumerate(runs, start=1)]
    write_page(
        path,
        "sweep.html",
        title=f"{task}: sweep over {', '.join(names.values())}",
        results=_results(runs),
        missing=[f"{states[state]} of {counted(len(runs), 'run')} {words}" for state, words in _WITHOUT.items() if states[state]],
        runs=Table(head, rows[:_SHOWN]),
        further=Table(head, rows[_SHOWN:]) if len(rows) > _SHOWN else None,
        by_setting=setting_plots(runs),
        curves=learning_curves(drawn, [run.folder.name for run in drawn]),
        same=settings_tables(begun, [""] * len(begun))[0] if begun else None,
    )


def _results(runs: Sequence[SweepRun]) -> list[tuple[str, str]] | None:
    """The figures of the chosen run; None before a run is finished."""
    best = runs[0]
    if best.result is None:
        return None
    metric, count = best.result["metric"], len(best.result["trials"])
    name = metric_name(metric)
    times = [run.result["seconds"] for run in runs if run.result]
    val, test = (spread(metric, **best.result[part], count=count) for part in ("val", "test"))
    return [
        (val, f"validation {name} of the best run, {best.folder.name}"),
        (test, f"test {name} of this run"),
        (duration(sum(times)), f"of training, {counted(len(times), 'run')}"),
    ]


def _row(k: int, run: SweepRun, keys: Sequence[str], colours: dict[Path, str], here: Path) -> list[object]:
    """With the colour of its curve if it is drawn, and a link to its report if there is one."""
    figure, seconds, link = run.state, "", ""
    if run.result is not None:
        figure = spread(run.result["metric"], **run.result["val"], count=len(run.result["trials"]))
        seconds = duration(run.result["seconds"])
    if (run.folder / REPORT).is_file():
        link = Markup('<a href="{}">report</a>').format(quote(Path(os.path.relpath(run.folder / REPORT, here)).as_posix()))
    place = swatch(colours[run.folder], k) if run.folder in colours else k
    return [place, *(value_text(run.values[key]) for key in keys), figure, seconds, link]
