"""The report of one run: ``report.html``, and the figures as files."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import numpy as np

from ..io.atomic import replace_files
from ..runs.folder import Run, damage_named, read_run
from ..runs.settings import flat
from ..runs.trials import trial_title
from .confusion import MOST_CLASSES, by_class, confusion, counts
from .curves import learning_curves
from .markup import Markup, join, tag
from .molecules import figures_part, molecule_classes, molecule_figures, plots_note, read_molecules, worst_part
from .page import cards, facts, figures, section, table, write_page
from .plot import COLOURS, Figure
from .roc import roc
from .scatter import scatters
from .texts import duration, figure, metric_name, number, several, spread

NAME = "report.html"


def write_report(run: str | PathLike[str] | Run, path: str | PathLike[str] | None = None) -> Path:
    """Writes the page of a run, finished or not, and gives its path; by default ``report.html`` in the run's folder.

    Args:
        run: its folder, or what was read from it.
    """
    folder = run.folder if isinstance(run, Run) else Path(run)
    with damage_named(f"a file of the run {folder}"):
        return _write_report(run if isinstance(run, Run) else read_run(folder), folder / NAME if path is None else Path(path))


def _write_report(run: Run, path: Path) -> Path:
    """The page."""
    title = f"{run.task} · {run.model}"
    found = read_molecules(run)
    beside = class_table(run) if found is None else join(plots_note(found), molecule_classes(run, found))
    write_page(
        path,
        title,
        tag("h1", title),
        result_part(run),
        None if found is None else section("All metrics, against baselines", figures_part(found)),
        section("Learning curves", figures(learning_curves([run], [run.model]))),
        section("Predictions on the test part", figures(prediction_figures(run)), beside),
        None if found is None else section("Test molecules furthest off", worst_part(found)),
        section("Every trial", trial_table(run), target_table(run)),
        section("Time and machine", machine_part(run)),
        section("Settings", facts(flat(run.settings))),
        _about(run),
    )
    return path


def write_svgs(run_folder: str | PathLike[str], folder: str | PathLike[str]) -> list[Path]:
    """Writes each figure of a run as an SVG file, and gives their paths."""
    folder = Path(folder)
    with damage_named(f"a file of the run {run_folder}"):
        run = read_run(run_folder)
        found = [*learning_curves([run], [run.model]), *prediction_figures(run)]
    texts = {folder / f"{f.name}.svg": f.svg(alone=True) + "\n" for f in found}
    folder.mkdir(parents=True, exist_ok=True)
    replace_files(texts)
    return list(texts)


def prediction_figures(run: Run, colour: str = COLOURS[0]) -> list[Figure]:
    """What the run's kind of task is best seen by; of a table of molecules, for the ensemble."""
    found = read_molecules(run)
    if found is not None and found.tests is not None:
        return molecule_figures(run, found, colour)
    if run.kind == "regression":
        return scatters(run, colour)
    return [*(roc(run, colour) if run.metric == "rocauc" else []), *confusion(run, colour)]


def result_part(run: Run) -> Markup:
    """The figure; of an unfinished run, that there is none yet and how far it is."""
    if run.result is None:
        return tag("div", tag("strong", "This run is not finished: there is no result yet."), " ", _progress(run), class_="note")
    result, metric = run.result, run.metric
    count = len(result["trials"])
    of = f"mean ± standard deviation of {count} trials" if count > 1 else "one trial"
    name = metric_name(metric)
    return join(
        cards(
            [
                (spread(metric, **result["test"], count=count), f"test {name} at the best validation epoch, {of}"),
                (spread(metric, **result["val"], count=count), f"validation {name} at that epoch"),
                (duration(run.seconds), f"of training on {result.get('device', 'an unknown device')}{_together(run)}"),
            ]
        ),
        tag("p", result["notes"], class_="soft") if result.get("notes") else None,
    )


def _together(run: Run) -> str:
    """That the time is not this run's alone, if it is not."""
    return f", {run.together} targets together" if run.together > 1 else ""


def trial_table(run: Run) -> Markup | None:
    """Each trial's figures; of an unfinished run what its log says."""
    if run.result is None:
        rows = [(c.name, _whole(c.epoch[-1]), _last(c.loss), _last(c.val), _whole(c.best_epoch)) for c in run.curves]
        return table(("trial", "epochs done", "training loss", "validation", "best epoch"), rows) if rows else None
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
    return table(("trial", "best epoch", "validation", "test", "validation loss", "test loss"), rows, last=last)


def target_table(run: Run) -> Markup | None:
    """The test figure of each target, over all trials."""
    trials = [trial["test_by_target"] for trial in (run.result or {}).get("trials", []) if "test_by_target" in trial]
    if not trials:
        return None
    values = np.array(trials)
    stds = values.std(axis=0, ddof=1) if len(trials) > 1 else np.zeros(values.shape[1])
    pairs = zip(values.mean(axis=0).tolist(), stds.tolist(), strict=True)
    rows = [(f"target {k}", spread(run.metric, mean, std, len(trials))) for k, (mean, std) in enumerate(pairs)]
    return join(tag("p", "By target:"), table(("target", "test"), rows))


def class_table(run: Run) -> Markup | None:
    """Recall and precision by class, where these are told apart."""
    if run.kind == "regression" or not run.tests:
        return None
    made = table(("class", "graphs", "found", "recall", "precision"), by_class(counts(run)))
    matrix = run.kind == "multiclass" and len(counts(run)) > MOST_CLASSES
    return made if matrix else tag("details", tag("summary", "By class"), made)


def machine_part(run: Run) -> Markup:
    """How long it took, and where."""
    known: dict[str, object] = {"training": duration(run.seconds) + _together(run)}
    if run.result is not None:
        known |= {"device": run.result.get("device"), "PyTorch": run.result.get("torch")}
    steps = run.together * sum(len(c.epoch) for c in run.curves)
    if steps and run.seconds:
        known["for each trial and epoch"] = duration(run.seconds / steps)
    parts = [facts(known)]
    for k, session in enumerate(run.sessions, 1):
        parts.append(tag("p", f"Start {k} of {len(run.sessions)}" if len(run.sessions) > 1 else "Started by", class_="soft"))
        parts.append(facts(flat(session)))
    return join(*parts)


def _progress(run: Run) -> str:
    if not run.curves:
        return "Its log is empty."
    done = sum(len(c.epoch) for c in run.curves)
    return (
        f"So far {several(done, 'epoch')} of {several(len(run.curves), 'trial')}, of {run.epochs:,} planned for each; "
        f"{duration(run.seconds)} of training."
    )


def _about(run: Run) -> Markup:
    words = "Reported is the test figure of the epoch that was best on validation; the test part is looked at once, at the end. "
    words += "Long curves and large scatter plots are thinned: curves keep the lowest and highest value of each stretch of epochs."
    return tag("p", words, class_="soft", style="margin-top:2.5rem")


def _whole(value: float | None) -> str:
    return "-" if value is None else f"{int(value):,}"


def _last(values: np.ndarray) -> str:
    measured = values[np.isfinite(values)]
    return number(float(measured[-1])) if len(measured) else "-"
