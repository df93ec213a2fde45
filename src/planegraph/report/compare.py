"""Several runs of one task on one page, the first ones each in a colour."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

from ..errors import PlanegraphError
from ..runs.folder import Run, damage_named, read_run
from ..runs.settings import flat
from .curves import learning_curves
from .markup import Markup, join, tag
from .page import cards, figures, section, swatch, table, text, write_page
from .plot import COLOURS, run_colours
from .run_page import machine_part, prediction_figures, trial_table
from .texts import duration, metric_name, spread


def side_by_side(run_folders: Sequence[str | PathLike[str]], path: str | PathLike[str]) -> Path:
    """Writes a page that compares runs of one task, finished or not, and gives its path."""
    with damage_named(f"a file of the runs {', '.join(map(str, run_folders))}"):
        return _side_by_side([read_run(folder) for folder in run_folders], Path(path))


def _side_by_side(runs: list[Run], path: Path) -> Path:
    """The page."""
    if not runs:
        raise PlanegraphError("there is no run to compare; at least one folder of a run is needed")
    tasks = sorted({run.task for run in runs})
    if len(tasks) > 1:
        raise PlanegraphError(f"only runs of one task can be compared; found {', '.join(tasks)}")
    names, title = run_names(runs), f"{tasks[0]}: {' and '.join(sorted({run.model for run in runs}))}"
    colours, few = run_colours(len(runs)), len(runs) <= len(COLOURS)
    predictions = [
        join(tag("h3", name), figures(prediction_figures(run, colour)))
        for name, run, colour in zip(names, runs, colours, strict=True)
        if run.tests
    ]
    trials = [join(tag("h3", name), trial_table(run)) for name, run in zip(names, runs, strict=True) if run.curves]
    machines = [join(tag("h3", name), machine_part(run)) for name, run in zip(names, runs, strict=True)]
    write_page(
        Path(path),
        title,
        tag("h1", title),
        cards((_figure(run), f"{name}: {_what(run)}") for name, run in zip(names, runs, strict=True)) if few else None,
        _result_table(runs, [swatch(colour, name) for colour, name in zip(colours, names, strict=True)]),
        section("Learning curves", figures(learning_curves(runs, names))),
        section("Predictions on the test part", _beside(predictions)),
        section("Every trial", _beside(trials)),
        section("Time and machine", _beside(machines)),
        section("Settings", _settings_table(runs, names)),
    )
    return Path(path)


def run_names(runs: Sequence[Run]) -> list[str]:
    """The model's name where it tells the runs apart, else with the name of the folder."""
    times = Counter(run.model for run in runs)
    return [run.model if times[run.model] == 1 else f"{run.model} ({run.folder.resolve().name})" for run in runs]


def _figure(run: Run) -> str:
    return "not finished" if run.result is None else spread(run.metric, **run.result["test"], count=len(run.result["trials"]))


def _what(run: Run) -> str:
    return f"test {metric_name(run.metric)} at the best validation epoch"


def _result_table(runs: Sequence[Run], names: Sequence[Markup]) -> Markup:
    rows = []
    for run, name in zip(runs, names, strict=True):
        val = "-" if run.result is None else spread(run.metric, **run.result["val"], count=len(run.result["trials"]))
        rows.append((name, _figure(run), val, str(len(run.curves)), f"{run.epochs:,}", duration(run.seconds)))
    return table(("run", "test", "validation", "trials", "epochs", "time"), rows)


def _beside(parts: Sequence[Markup]) -> Markup | None:
    return tag("div", *(tag("div", part) for part in parts), class_="figures") if parts else None


def _settings_table(runs: Sequence[Run], names: Sequence[str]) -> Markup:
    """Settings that differ come first: a column for each run, or a row where there are many runs."""
    given, same = [_texts(run) for run in runs], shared_settings(runs)
    differ = list(dict.fromkeys(key for settings in given for key in settings if key not in same))
    rows = [(key, *(settings.get(key, "") for settings in given)) for key in differ]
    head = ("setting", *names)
    if len(runs) > len(COLOURS):
        head, *rows = zip(("run", *names), *rows, strict=True)
    return join(table(head, rows, words=len(head)) if differ else None, same_settings(same))


def shared_settings(runs: Sequence[Run]) -> dict[str, str]:
    """The settings that are the same in all runs."""
    first, *others = [_texts(run) for run in runs]
    return {key: value for key, value in first.items() if all(settings.get(key) == value for settings in others)}


def same_settings(same: Mapping[str, str]) -> Markup:
    """These, folded away."""
    alike = table(("setting", "all"), list(same.items()), words=2)
    return tag("details", tag("summary", "Settings that are the same"), alike)


def _texts(run: Run) -> dict[str, str]:
    return {key: text(value) for key, value in flat(run.settings).items()}
