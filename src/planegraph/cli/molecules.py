"""``planegraph train FILE`` on a table of molecules: its options, and what is printed of the run."""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..io.text import counted
from .messages import UsageError, complain
from .options import add_workers, loggers
from .sweep import is_sweep

if TYPE_CHECKING:
    from ..tasks.molecules.task import MoleculeOptions, MoleculeTask
    from ..train import RunSettings
    from ..train.transfer import Start


def add_molecules(parser: argparse.ArgumentParser) -> None:
    """Adds the options of tables."""
    group = parser.add_argument_group(
        "files with molecules",
        "Omitted options are inferred and printed. --task, --metric, --split and --folds also apply to packed files.",
    )
    group.add_argument("--smiles", metavar="COLUMN", help="the column with the SMILES")
    group.add_argument("--targets", metavar="A,B", help="the columns to learn; some values may be missing")
    group.add_argument("--weights", metavar="COLUMN", help="the column with each row's weight in the loss, at least 0")
    group.add_argument(
        "--task", dest="kind", choices=("regression", "classification", "multiclass"), help="the type of the targets"
    )
    group.add_argument("--metric", help="the metric that selects the epoch (default: rmse, rocauc or accuracy)")
    group.add_argument("--split", default="random", help="random, scaffold, or column:NAME with train, val, test (default: random)")
    group.add_argument("--folds", metavar="K", type=int, help="K splits, each molecule tested once")
    group.add_argument(
        "--ensemble",
        metavar="K",
        type=int,
        help="train K models that predict together (default: 5 on small tables, 1 on large ones)",
    )
    group.add_argument(
        "--from", dest="start", metavar="RUN", help="start from the models of this finished run, which may have other targets"
    )
    group.add_argument("--no-stereo", action="store_true", help="treat mirror images as equal")
    group.add_argument(
        "--descriptors",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="read RDKit's descriptors beside the graph (default: up to 3,000 molecules)",
    )
    add_workers(group)
    group.add_argument(
        "--no-baselines", action="store_true", help="do not train a random forest and gradient boosting for comparison"
    )


def is_table(task: str) -> bool:
    """Returns whether a task names a file with molecules: names of benchmarks have no dots and slashes."""
    from ..train.tasks import is_function, is_packed

    return ("." in task or os.sep in task) and not is_packed(task) and not is_function(task)


class MoleculeJob:
    """Trains on the table that is named, or resumes the run in ``--out`` if none is."""

    def __init__(self, args: argparse.Namespace) -> None:
        from ..runs.settings import load_run_settings
        from ..train.molecules import SKIPPED

        _check_arguments(args)
        self.args, self.out = args, args.out or os.path.join("runs", _stem(args.task))
        kept = load_run_settings(self.out) if args.task is None else None
        path, options, self.start = _asked(args, self.out) if kept is None else _kept(kept, self.out)
        self.found = _read(path, options, self.start, args.workers)
        self.kept, self.options = kept, options.to_dict()
        where = f"{SKIPPED} in the folder of each run" if is_sweep(args) else os.path.join(self.out, SKIPPED)
        skipped = counted(len(self.found.skipped), "row")
        self.remarks: Sequence[str] = [f"{skipped} skipped: {where} says which, and why"] if self.found.skipped else []

    def settings_for(self, overrides: Sequence[str]) -> RunSettings:
        from ..train.molecules import molecule_settings

        if self.kept is not None:
            return self.kept.with_overrides(overrides)
        ensemble = self.args.seeds if self.args.ensemble is None else self.args.ensemble
        return molecule_settings(self.found, self.options, ensemble, overrides, self.start)

    def train(self, settings: RunSettings, folder: str | Path, chosen: bool = True) -> dict[str, Any]:
        from ..train.molecules import train_molecules

        return train_molecules(
            self.found,
            settings,
            folder,
            show=not self.args.quiet,
            device=self.args.device,
            callbacks=loggers(self.args),
            baselines=chosen and not self.args.no_baselines,
            start=self.start,
        )

    def summary(self, result: dict[str, Any], folder: str) -> str:
        """The figures of the ensemble on validation and test, a line for each target and metric, and the figures of the baselines."""
        from ..report.formatting import duration
        from ..tasks.metrics import metrics_of

        baselines = result.get("baselines", {})
        ensemble, titles = result["ensemble"], metrics_of(result["kind"])
        lines = [
            f"{result['task']}: {counted(len(result['trials']), 'model')}, {duration(result['seconds'])} on {result['device']}"
        ]
        for target, figures in ensemble["test"].items():
            for name, value in figures.items():
                val = ensemble["val"][target][name]
                texts = ["undefined" if v is None else f"{v:.4g}" for v in (value, val)]
                lines.append(f"{target}, {titles[name].title}: test {texts[0]}, validation {texts[1]}")
            interval = ensemble.get("intervals", {}).get(target, {})
            if interval.get("half_width") is not None:
                share, covered = interval["coverage"], interval["test_coverage"]
                of_test = "" if covered is None else f", which cover {covered:.0%} of test"
                lines.append(f"{target}, {share:.0%} intervals: ± {interval['half_width']:.4g}{of_test}")
            if baselines and "skipped" not in baselines:
                lines.append(f"{target}, {titles[result['metric']].title} {_of_baselines(baselines, target, result['metric'])}")
        if "skipped" in baselines:
            lines.append(f"no baselines: {baselines['skipped']}")
        return "\n".join([*lines, f"kept in {folder}; planegraph predict {folder} FILE -o OUT.csv"]) + "\n"


def _check_arguments(args: argparse.Namespace) -> None:
    """UsageError for options that do not apply to tables, or to a run that is resumed by its folder."""
    if args.config:
        raise UsageError("--config is for benchmarks; a file with molecules takes --set")
    for override in args.overrides:
        if override.split("=")[0].split(".")[0].strip() in ("task", "options"):
            raise UsageError(f"--set {override}: a table is described by options such as --split and --targets")
    if args.task is None:
        refuse_molecule_options(args, f"{args.out} is resumed as it was begun")


def refuse_molecule_options(args: argparse.Namespace, why: str) -> None:
    """UsageError if an option of tables is given where it would be ignored."""
    for name in ("smiles", "targets", "weights", "ensemble", "start", "no_stereo", "descriptors"):
        if getattr(args, name) is not (False if name == "no_stereo" else None):  # False is --no-descriptors
            option = {"start": "from"}.get(name, name).replace("_", "-")
            raise UsageError(f"--{option} cannot be used: {why}")


def _names(text: str) -> tuple[str, ...]:
    """Names of columns, separated by commas; a name with a comma is in double quotes.

    >>> _names('a, b'), _names('"log P, exp",b')
    (('a', 'b'), ('log P, exp', 'b'))
    """
    try:
        return tuple(name.strip() for name in next(csv.reader([text], skipinitialspace=True), []) or [""])
    except csv.Error as error:
        raise UsageError(f"--targets {text}: {error}; put names with commas or ends of lines in double quotes") from None


def _stem(path: str) -> str:
    """The name of a file without its ending.

    >>> _stem("data/mols.train.csv"), _stem("mols.csv.gz")
    ('mols.train', 'mols')
    """
    name = os.path.basename(path)
    return os.path.splitext(name.removesuffix(".gz"))[0]


def _asked(args: argparse.Namespace, out: str) -> tuple[str, MoleculeOptions, Start | None]:
    """The table, its options and the models to start from, by the command line."""
    from ..tasks.molecules.task import MoleculeOptions
    from ..train.transfer import Start

    kind: Any = "binary" if args.kind == "classification" else args.kind
    targets = None if args.targets is None else _names(args.targets)
    stereo = not args.no_stereo
    options = MoleculeOptions(
        args.smiles, targets, kind, args.metric, args.split, args.folds, stereo, args.descriptors, weights=args.weights
    )
    start = None if args.start is None else Start.load(args.start, out)
    return args.task, options if start is None else options.like(start.schema), start


def _kept(settings: RunSettings, out: str) -> tuple[str, MoleculeOptions, Start | None]:
    """The table, its options and the models to start from, of the run to resume."""
    from ..tasks.molecules.task import MoleculeOptions
    from ..train.transfer import Start

    options = dict(settings.options)
    of_start = options.pop("from", None)
    start = None if of_start is None else Start.load(of_start["run"], out)
    return settings.task, MoleculeOptions(**options), start


def _read(path: str, options: MoleculeOptions, start: Start | None, workers: int) -> MoleculeTask:
    from ..tasks.molecules.task import read_molecule_task

    try:
        found = read_molecule_task(path, options, None if start is None else start.schema, workers)
    except (FileNotFoundError, IsADirectoryError) as error:
        raise UsageError(str(error)) from None
    for note in [*found.notes, *([] if start is None else [start.note(found.schema)])]:
        complain(note)
    return found


def _of_baselines(baselines: dict[str, Any], target: str, metric: str) -> str:
    values = {name: by_target[target][metric] for name, by_target in baselines.items()}
    articles = {"random forest": "a random forest"}
    return ", ".join(f"of {articles.get(n, n)}: {'undefined' if v is None else f'{v:.4g}'}" for n, v in values.items())
