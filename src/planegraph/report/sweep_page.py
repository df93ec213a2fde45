"""A sweep as a page and as a table: ``sweep.html`` compares the runs by validation, ``sweep.csv`` has the same for other tools.

Only the run that validation chooses has its test figure in either. Both can be written at any time; unfinished runs are listed.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

from ..io.atomic import replace_files
from ..io.text import counted
from ..runs.errors import damage_named
from ..runs.folder import read_run
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
_ABOUT = (
    "The best run is chosen by validation, and only its test figure is shown: settings chosen by the test part would look better than they "
    "are. Small differences on validation may be chance; several seeds (--seeds, --ensemble) show how large that is. Runs that are not "
    "finished are continued by the command that began the sweep; a run has diverged if its loss was not finite."
)


def is_sweep(folder: str | PathLike[str]) -> bool:
    """Returns whether a folder holds a sweep.

    >>> is_sweep("no/such/folder")
    False
    """
    return (Path(folder) / PLAN).is_file()


def write_sweep(folder: str | PathLike[str], path: str | PathLike[str] | None = None) -> list[Path]:
    """Writes the page of a sweep, by default ``sweep.html`` in its folder, and ``sweep.csv`` beside the runs; returns both paths."""
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
    """A comparison in which runs are named by the settings that vary, without test figures and predictions."""
    begun = [read_run(run.folder) for run in runs if (run.folder / "settings.yaml").is_file()]
    drawn = [found for found in begun if found.curves]
    task = begun[0].task if begun else runs[0].folder.parent.name
    names = short_names(list(runs[0].values))
    colours = dict(zip([run.folder for run in drawn], run_colours(len(drawn)), strict=True))
    rows = [_row(k, run, list(names), colours, path.parent) for k, run in enumerate(runs, start=1)]
    write_page(
        path,
        "compare.html",
        title=f"{task}: sweep over {', '.join(names.values())}",
        results=_results(runs),
        overview=Table(("run", *names.values(), "validation", "time", ""), rows),
        by_setting=setting_plots(runs),
        curves=learning_curves(drawn, [run.folder.name for run in drawn]),
        runs=[],
        differing=None,
        same=settings_tables(begun, [""] * len(begun))[0] if begun else None,
        about=_ABOUT,
    )


def _results(runs: Sequence[SweepRun]) -> list[tuple[str, str]]:
    """The figures of the chosen run, if one is finished, and how far the sweep is."""
    best, times = runs[0], [run.result["seconds"] for run in runs if run.result]
    state = (f"{len(times)} of {counted(len(runs), 'run')}", f"finished, after {duration(sum(times))} of training")
    if best.result is None:
        return [state]
    metric, count = best.result["metric"], len(best.result["trials"])
    val, test = (spread(metric, **best.result[part], count=count) for part in ("val", "test"))
    name = metric_name(metric)
    return [(val, f"validation {name} of the best run, {best.folder.name}"), (test, f"test {name} of this run"), state]


def _row(k: int, run: SweepRun, keys: Sequence[str], colours: dict[Path, str], here: Path) -> list[object]:
    """The cells of a run, with the colour of its curve and a link to its report if there are any."""
    figure, seconds, link = run.state, "", ""
    if run.result is not None:
        figure = spread(run.result["metric"], **run.result["val"], count=len(run.result["trials"]))
        seconds = duration(run.result["seconds"])
    if (run.folder / REPORT).is_file():
        link = Markup('<a href="{}">report</a>').format(quote(Path(os.path.relpath(run.folder / REPORT, here)).as_posix()))
    place = swatch(colours[run.folder], k) if run.folder in colours else k
    return [place, *(value_text(run.values[key]) for key in keys), figure, seconds, link]
