"""``planegraph train FILE`` on a table of molecules: its options, and what is printed of the run."""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..io.text import counted
from ..processes import first_process
from .messages import UsageError, complain, say
from .options import add_workers
from .report import where_report
from .sweep import Sweep, is_sweep, run_sweep

if TYPE_CHECKING:
    from ..tasks.molecules.task import MoleculeOptions, MoleculeTask
    from ..train import RunSettings
    from ..train.transfer import Start


def add_molecules(parser: argparse.ArgumentParser) -> None:
    """Adds the options of tables."""
    group = parser.add_argument_group(
        "files with molecules",
        "All of it is found where it can be, and said. --task, --metric, --split and --folds go with packed files, too.",
    )
    group.add_argument("--smiles", metavar="COLUMN", help="the column with the SMILES")
    group.add_argument("--targets", metavar="A,B", help="the columns to learn; some values may be missing")
    group.add_argument("--weights", metavar="COLUMN", help="the column with each row's weight in the loss, at least 0")
    group.add_argument("--task", dest="kind", choices=("regression", "classification", "multiclass"), help="what the targets are")
    group.add_argument("--metric", help="what chooses the epoch (default: rmse, rocauc or accuracy)")
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
    group.add_argument("--no-stereo", action="store_true", help="mirror images are equal")
    group.add_argument(
        "--descriptors",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="read RDKit's descriptors beside the graph (default: up to 3,000 molecules)",
    )
    add_workers(group)
    group.add_argument(
        "--no-baselines", action="store_true", help="train no random forest and no gradient boosting to compare with"
    )


def is_table(task: str) -> bool:
    """Whether it names a file with molecules: benchmarks have names without dots and slashes."""
    from ..train.tasks import is_function, is_packed

    return ("." in task or os.sep in task) and not is_packed(task) and not is_function(task)


def run_molecules(args: argparse.Namespace, loggers: Callable[[], list[Any]]) -> int:
    """Trains on the table that is named, or resumes the run in ``--out`` if none is."""
    from ..runs.settings import load_run_settings
    from ..train.molecules import SKIPPED, molecule_settings, train_molecules

    _check_arguments(args)
    loggers()  # one that is not installed is an error before the table is read
    out = args.out or os.path.join("runs", _stem(args.task))
    kept = load_run_settings(out) if args.task is None else None
    path, options, start = _asked(args, out) if kept is None else _kept(kept, out)
    found = _read(path, options, start, args.workers)
    ensemble = args.seeds if args.ensemble is None else args.ensemble
    settings_for = partial(molecule_settings, found, options.to_dict(), ensemble, start=start)
    if kept is not None:
        settings_for = kept.with_overrides

    def train_one(settings: RunSettings, folder: str | Path, baselines: bool = not args.no_baselines) -> dict[str, Any]:
        given: dict[str, Any] = {"show": not args.quiet, "device": args.device, "callbacks": loggers(), "start": start}
        return train_molecules(found, settings, folder, baselines=baselines, **given)

    if is_sweep(args):
        code = run_sweep(args, Sweep(out, settings_for, partial(train_one, baselines=False), train_one, molecule_summary))
    else:
        code, result = 0, train_one(settings_for(args.overrides), out)
        if first_process():
            say(molecule_summary(result, out) + where_report(out))
    if found.skipped:
        where = f"{SKIPPED} in the folder of each run" if is_sweep(args) else os.path.join(out, SKIPPED)
        complain(f"{counted(len(found.skipped), 'row')} skipped: {where} says which, and why")
    return code


def _check_arguments(args: argparse.Namespace) -> None:
    """UsageError for what does not go with tables, or not with a run that is resumed by its folder."""
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
        if getattr(args, name) is not (False if name == "no_stereo" else None):  # --no-descriptors is given, too
            option = {"start": "from"}.get(name, name).replace("_", "-")
            raise UsageError(f"--{option} cannot be used: {why}")


def _names(text: str) -> tuple[str, ...]:
    """Names of columns, separated by commas; one that has a comma is put in double quotes.

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
    """The table, how it is read, and what its models start from, as the command says."""
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
    """The same of a run that is resumed by its folder."""
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


def molecule_summary(result: dict[str, Any], out: str) -> str:
    """The figures of the ensemble on validation and test, a line for each target and metric; and those of the baselines."""
    from ..tasks.metrics import metrics_of

    baselines = result.get("baselines", {})
    ensemble, titles = result["ensemble"], metrics_of(result["kind"])
    lines = [f"{result['task']}: {counted(len(result['trials']), 'model')}, {result['seconds']:.0f} s on {result['device']}"]
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
    return "\n".join([*lines, f"kept in {out}; planegraph predict {out} FILE -o OUT.csv"]) + "\n"


def _of_baselines(baselines: dict[str, Any], target: str, metric: str) -> str:
    values = {name: by_target[target][metric] for name, by_target in baselines.items()}
    articles = {"random forest": "a random forest"}
    return ", ".join(f"of {articles.get(n, n)}: {'undefined' if v is None else f'{v:.4g}'}" for n, v in values.items())
