"""The page that compares runs of one task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from ..errors import PlanegraphError
from ..runs.errors import damage_named
from ..runs.folder import Run, read_run
from ..runs.settings import flat
from .curves import learning_curves
from .formatting import duration, metric_name, spread
from .page import Table, setting, swatch, write_page
from .plot import COLOURS, run_colours
from .run_page import prediction_figures, time_and_machine, trial_table


def side_by_side(run_folders: Sequence[str | PathLike[str]], path: str | PathLike[str]) -> Path:
    """Writes a page that compares runs of one task, finished or not, and returns its path."""
    with damage_named(f"a file of the runs {', '.join(map(str, run_folders))}"):
        return _side_by_side([read_run(folder) for folder in run_folders], Path(path))


def _side_by_side(runs: list[Run], path: Path) -> Path:
    if not runs:
        raise PlanegraphError("there is no run to compare; at least one folder of a run is needed")
    tasks = sorted({run.task for run in runs})
    if len(tasks) > 1:
        raise PlanegraphError(f"only runs of one task can be compared; found {', '.join(tasks)}")
    names, colours = run_names(runs), run_colours(len(runs))
    what = [f"{name}: test {metric_name(run.metric)} at the best validation epoch" for name, run in zip(names, runs, strict=True)]
    same, differing = settings_tables(runs, names)
    return write_page(
        path,
        "compare.html",
        title=f"{tasks[0]}: {' and '.join(sorted({run.model for run in runs}))}",
        results=list(zip([_figure(run, "test", "not finished") for run in runs], what, strict=True))
        if len(runs) <= len(COLOURS)
        else None,
        overview=_overview(runs, [swatch(colour, name) for colour, name in zip(colours, names, strict=True)]),
        by_setting=[],
        curves=learning_curves(runs, names),
        runs=[
            {
                "name": name,
                "predictions": prediction_figures(run, colour) if run.tests else None,
                "trials": trial_table(run) if run.curves else None,
                "place": time_and_machine(run),
            }
            for name, run, colour in zip(names, runs, colours, strict=True)
        ],
        differing=differing,
        same=same,
        about=None,
    )


def run_names(runs: Sequence[Run]) -> list[str]:
    """The model's name where it is unique, else followed by the folder's."""
    times = Counter(run.model for run in runs)
    return [run.model if times[run.model] == 1 else f"{run.model} ({run.folder.resolve().name})" for run in runs]


def _figure(run: Run, part: str, otherwise: str) -> str:
    return otherwise if run.result is None else spread(run.metric, **run.result[part], count=len(run.result["trials"]))


def _overview(runs: Sequence[Run], names: Sequence[object]) -> Table:
    rows = [
        (
            name,
            _figure(run, "test", "not finished"),
            _figure(run, "val", "-"),
            len(run.curves),
            f"{run.epochs:,}",
            duration(run.seconds),
        )
        for run, name in zip(runs, names, strict=True)
    ]
    return Table(("run", "test", "validation", "trials", "epochs", "time"), rows)


def settings_tables(runs: Sequence[Run], names: Sequence[str]) -> tuple[Table, Table | None]:
    """The settings that all runs share, and those that differ: a column for each run, or a row where there are many."""
    given = [{key: setting(value) for key, value in flat(run.settings).items()} for run in runs]
    same = {key: value for key, value in given[0].items() if all(of.get(key) == value for of in given)}
    shared = Table(("setting", "all"), list(same.items()), words=2)
    differ = list(dict.fromkeys(key for of in given for key in of if key not in same))
    if not differ:
        return shared, None
    head, *rows = ("setting", *names), *((key, *(of.get(key, "") for of in given)) for key in differ)
    if len(runs) > len(COLOURS):
        head, *rows = zip(("run", *names), *rows, strict=True)
    return shared, Table(head, rows, words=len(head))
