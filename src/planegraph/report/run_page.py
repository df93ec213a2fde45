"""The page of one run, ``report.html``, and its figures as files."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..io.text import counted
from ..runs.errors import damage_named
from ..runs.folder import Run, read_run
from ..runs.settings import flat
from ..runs.trials import trial_title
from . import molecules
from .curves import learning_curves
from .formatting import duration, figure, metric_name, number, spread
from .page import Table, write_files, write_page
from .plot import COLOURS, Figure
from .predictions import MOST_CLASSES, class_table, counts, run_figures

NAME = "report.html"


def write_report(run_folder: str | PathLike[str], path: str | PathLike[str] | None = None) -> Path:
    """Writes the page of a run, finished or not, and returns its path; by default ``report.html`` in the run's folder."""
    with damage_named(f"a file of the run {run_folder}"):
        return write_page(Path(run_folder, NAME) if path is None else Path(path), "run.html", **_values(read_run(run_folder)))


def _values(run: Run) -> dict[str, Any]:
    """The values of the template."""
    found = molecules.read(run)
    classes, open_classes = _classes(run, found)
    result = run.result or {}
    return {
        "title": f"{run.task} · {run.model}",
        "unfinished": _progress(run) if run.result is None else None,
        "results": None if run.result is None else _results(run),
        "notes": result.get("notes"),
        "molecules": None if found is None else molecules.part(found),
        "curves": learning_curves([run], [run.model]),
        "predictions": _figures(run, found, COLOURS[0]),
        "classes": classes,
        "open_classes": open_classes,
        "trials": trial_table(run),
        "targets": _target_table(run),
        "place": time_and_machine(run),
        "settings": flat(run.settings),
    }


def write_svgs(run_folder: str | PathLike[str], folder: str | PathLike[str]) -> list[Path]:
    """Writes each figure of a run as an SVG file, and returns their paths."""
    with damage_named(f"a file of the run {run_folder}"):
        run = read_run(run_folder)
        found = [*learning_curves([run], [run.model]), *prediction_figures(run)]
    texts = {Path(folder) / f"{f.name}.svg": f.svg(standalone=True) + "\n" for f in found}
    write_files(texts)
    return list(texts)


def prediction_figures(run: Run, colour: str = COLOURS[0]) -> list[Figure]:
    """Figures of the ensemble if the run is on a table of molecules, otherwise of its trials."""
    return _figures(run, molecules.read(run), colour)


def _figures(run: Run, found: molecules.MoleculeRun | None, colour: str) -> list[Figure]:
    return run_figures(run, colour) if found is None or found.tests is None else molecules.plots(found, colour)


def _classes(run: Run, found: molecules.MoleculeRun | None) -> tuple[Table | None, bool]:
    """Recall and precision by class, and whether the table is open because no confusion matrix shows them."""
    if found is not None:
        return molecules.class_table(found), True
    if run.kind == "regression" or not run.tests:
        return None, False
    matrix = counts(run.tests.values(), run.kind == "multiclass")
    return class_table(matrix, noun=f"{run.level}s"), len(matrix) > MOST_CLASSES


def _results(run: Run) -> list[tuple[str, str]]:
    result, name, count = run.result, metric_name(run.metric), len(run.result["trials"])
    of = f"mean ± standard deviation of {count} trials" if count > 1 else "one trial"
    return [
        (spread(run.metric, **result["test"], count=count), f"test {name} at the best validation epoch, {of}"),
        (spread(run.metric, **result["val"], count=count), f"validation {name} at that epoch"),
        (duration(run.seconds), f"of training on {result.get('device', 'an unknown device')}{_together(run)}"),
    ]


def _together(run: Run) -> str:
    return f", {run.together} targets together" if run.together > 1 else ""


def trial_table(run: Run) -> Table | None:
    """Each trial's figures; for an unfinished run those of its log."""
    if run.result is None:
        rows = [(c.name, _whole(c.epoch[-1]), _last(c.loss), _last(c.val), _whole(c.best_epoch)) for c in run.curves]
        return Table(("trial", "epochs done", "training loss", "validation", "best epoch"), rows) if rows else None
    metric, trials = run.metric, run.result["trials"]
    rows = [
        (
            trial_title(trial["seed"], trial.get("fold")),
            _whole(trial["best_epoch"]),
            figure(metric, trial["val"]),
            figure(metric, trial["test"]),
            *(number(trial[key]) if key in trial else "-" for key in ("val_loss", "test_loss")),
        )
        for trial in trials
    ]
    last = None
    if len(trials) > 1:
        val, test = (spread(metric, **run.result[part], count=len(trials)) for part in ("val", "test"))
        last = ("mean ± std", "", val, test, "", "")
    return Table(("trial", "best epoch", "validation", "test", "validation loss", "test loss"), rows, last=last)


def _target_table(run: Run) -> Table | None:
    """The test figure of each target, over all trials."""
    values = np.array([t["test_by_target"] for t in (run.result or {}).get("trials", []) if "test_by_target" in t])
    if not len(values):
        return None
    stds = values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros(values.shape[1])
    pairs = zip(values.mean(axis=0).tolist(), stds.tolist(), strict=True)
    return Table(("target", "test"), [(f"target {k}", spread(run.metric, *pair, len(values))) for k, pair in enumerate(pairs)])


def time_and_machine(run: Run) -> dict[str, Any]:
    """Training time and machines."""
    training: dict[str, object] = {"training": duration(run.seconds) + _together(run)}
    if run.result is not None:
        training |= {"device": run.result.get("device"), "PyTorch": run.result.get("torch")}
    steps = run.together * sum(len(c.epoch) for c in run.curves)
    if steps and run.seconds:
        training["for each trial and epoch"] = duration(run.seconds / steps)
    return {"training": training, "sessions": [flat(session) for session in run.sessions]}


def _progress(run: Run) -> str:
    if not run.curves:
        return "Its log is empty."
    done = counted(sum(len(c.epoch) for c in run.curves), "epoch")
    trials = counted(len(run.curves), "trial")
    return f"So far {done} of {trials}, of {run.epochs:,} planned for each; {duration(run.seconds)} of training."


def _whole(value: float | None) -> str:
    return "-" if value is None else f"{int(value):,}"


def _last(values: np.ndarray) -> str:
    measured = values[np.isfinite(values)]
    return number(float(measured[-1])) if len(measured) else "-"
