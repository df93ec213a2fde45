"""A sweep as a page and as a table: ``sweep.html`` compares the runs by validation, ``sweep.csv`` has the same for other tools.

Only the run that validation chooses has its test figure in either. Both can be written at any time; runs that are not finished are listed.
"""

from __future__ import annotations

import csv
import io
import os
from collections import Counter
from collections.abc import Collection, Sequence
from os import PathLike
from pathlib import Path
from urllib.parse import quote

from ..io.atomic import replace_files
from ..runs.folder import damage_named, read_run
from ..runs.sweeps import PLAN, SweepRun, read_sweep, short_names, value_text
from .compare import same_settings, shared_settings
from .curves import learning_curves
from .markup import Markup, join, tag
from .page import cards, figures, section, swatch, table, write_page
from .plot import run_colours
from .run_page import NAME as REPORT
from .setting_plots import setting_plots
from .texts import duration, metric_name, several, spread

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
    title = f"{task}: sweep over {', '.join(short_names(list(runs[0].values)).values())}"
    write_page(
        path,
        title,
        tag("h1", title),
        _result(runs),
        _missing(runs),
        section("Runs, the best on validation first", _run_table(runs, {run.folder for run in drawn}, path.parent)),
        section("Validation by setting", figures(setting_plots(runs))),
        section("Learning curves", figures(learning_curves(drawn, [run.folder.name for run in drawn]))),
        section("Settings", same_settings(shared_settings(begun)) if begun else None),
        _about(),
    )


def _result(runs: Sequence[SweepRun]) -> Markup | None:
    """The chosen run."""
    best = runs[0]
    if best.result is None:
        return None
    metric, count = best.result["metric"], len(best.result["trials"])
    name = metric_name(metric)
    time = duration(sum(run.result["seconds"] for run in runs if run.result))
    val, test = (spread(metric, **best.result[part], count=count) for part in ("val", "test"))
    return cards(
        [
            (val, f"validation {name} of the best run, {best.folder.name}"),
            (test, f"test {name} of this run"),
            (time, f"of training, {several(sum(run.result is not None for run in runs), 'run')}"),
        ]
    )


def _missing(runs: Sequence[SweepRun]) -> Markup | None:
    """How many runs have no figure."""
    states = Counter(run.state for run in runs)
    notes = [f"{states[state]} of {several(len(runs), 'run')} {words}" for state, words in _WITHOUT.items() if states[state]]
    return tag("div", *(tag("p", note) for note in notes), class_="note") if notes else None


def _run_table(runs: Sequence[SweepRun], drawn: Collection[Path], here: Path) -> Markup:
    """A row for each, with the colour of its curve if it is drawn, and a link to its report if there is one."""
    names, colours = short_names(list(runs[0].values)), iter(run_colours(len(drawn)))
    rows: list[list[object]] = []
    for k, run in enumerate(runs, start=1):
        place = swatch(next(colours), k) if run.folder in drawn else str(k)
        figure, seconds = run.state, ""
        if run.result is not None:
            figure = spread(run.result["metric"], **run.result["val"], count=len(run.result["trials"]))
            seconds = duration(run.result["seconds"])
        values = [value_text(run.values[key]) for key in names]
        rows.append([place, *values, figure, seconds, _link(run.folder / REPORT, here)])
    head = ("run", *names.values(), "validation", "time", "")
    if len(rows) <= _SHOWN:
        return table(head, rows)
    return join(
        table(head, rows[:_SHOWN]), tag("details", tag("summary", f"{len(rows) - _SHOWN} more"), table(head, rows[_SHOWN:]))
    )


def _link(report: Path, here: Path) -> Markup | None:
    if not report.is_file():
        return None
    return tag("a", "report", href=quote(Path(os.path.relpath(report, here)).as_posix()))


def _about() -> Markup:
    words = (
        "The best run is chosen by validation, and only its test figure is shown: settings chosen by the test part would look better "
        "than they are. Small differences on validation may be chance; several seeds (--seeds, --ensemble) show how large that is."
    )
    return tag("p", words, class_="soft", style="margin-top:2.5rem")
