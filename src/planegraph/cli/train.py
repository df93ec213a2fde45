"""``planegraph train TASK``: trains a model by typed settings, all seeds, folds and targets together, and prints the test figures.

The task is a benchmark by name, or a file with molecules and targets.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any

from ..errors import PlanegraphError
from ..processes import first_process
from .device import add_device, check_device
from .formats import UsageError
from .messages import complain
from .overrides import add_overrides

if TYPE_CHECKING:
    from ..train import RunSettings


def add_parser(commands: argparse._SubParsersAction, epilog: str) -> None:
    parser = commands.add_parser(
        "train",
        help="train a model on a task",
        description="Train a model on a benchmark, or on a file with molecules and targets. Settings come from a YAML file and --set; the "
        "run is kept in a folder and can be resumed. Several processes: torchrun --nproc-per-node K -m planegraph train ...",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("task", metavar="TASK", help="a benchmark (see planegraph datasets), or a CSV, TSV, Parquet or SDF file")
    parser.add_argument("--config", metavar="FILE", help="YAML file with settings; without it, the defaults")
    add_overrides(parser, "settings, as in --set model.hidden=128 train.lr=0.001")
    parser.add_argument("--seeds", metavar="N", type=int, help="train N seeds together (the same as --set train.seeds=N)")
    parser.add_argument("--resume", action="store_true", help="go on with the run in the folder")
    parser.add_argument("--out", metavar="DIR", help="folder of the run (default: runs/TASK)")
    parser.add_argument("--data", metavar="DIR", help="folder of the datasets (default: as planegraph datasets says)")
    add_device(parser)
    parser.add_argument("--tensorboard", action="store_true", help="also write TensorBoard's event files into DIR/tensorboard")
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")
    _add_molecules(parser)
    parser.set_defaults(run=run)


def _add_molecules(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("files with molecules", "All of it is found where it can be, and said.")
    group.add_argument("--smiles", metavar="COLUMN", help="the column with the SMILES")
    group.add_argument("--targets", metavar="A,B", help="the columns to learn; some values may be missing")
    group.add_argument("--task", dest="kind", choices=("regression", "classification", "multiclass"), help="what the targets are")
    group.add_argument("--metric", help="what chooses the epoch (default: rmse, rocauc or accuracy)")
    group.add_argument("--split", default="random", help="random, scaffold, or column:NAME with train, val, test (default: random)")
    group.add_argument("--folds", metavar="K", type=int, help="K splits, each molecule tested once")
    group.add_argument("--ensemble", metavar="K", type=int, default=1, help="train K models that predict together")
    group.add_argument("--no-stereo", action="store_true", help="mirror images are equal")
    group.add_argument(
        "--descriptors",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="read RDKit's descriptors beside the graph (default: up to 5,000 molecules)",
    )


def run(args: argparse.Namespace) -> int:
    from ..train import train
    from ..train.errors import DivergedError, Stopped
    from ..train.run import runs_of
    from ..train.tasks import task_of

    if _is_file(args.task):
        return _run_molecules(args)
    try:
        check_device(args.device)
        settings = _settings(args)
        out = args.out or os.path.join("runs", args.task)
        options: dict[str, Any] = {"resume": args.resume, "show": not args.quiet, "device": args.device}
        options["tensorboard"] = args.tensorboard
        result = train(task_of(settings, args.data), settings, out, **options)
    except Stopped as stop:
        complain(str(stop), stop.alike)
        return 128 + (stop.signal or 2)
    except DivergedError as error:
        complain(f"diverged: {error}", error.alike)
        return 3
    except PlanegraphError as error:
        raise UsageError(str(error), error.alike) from None
    if first_process():
        for folder, of_target in runs_of(out, result):
            sys.stdout.write(summary(of_target, str(folder)) + _report(str(folder)))
    return 0


def _is_file(task: str) -> bool:
    """Whether it names a file: benchmarks have names without dots and slashes."""
    return "." in task or os.sep in task


def _run_molecules(args: argparse.Namespace) -> int:
    from ..datasets.molecule_task import MoleculeOptions, read_molecule_task
    from ..train.errors import DivergedError, Stopped
    from ..train.molecules import SKIPPED, molecule_settings, train_molecules

    if args.config:
        raise UsageError("--config is for benchmarks; a file with molecules takes --set")
    out = args.out or os.path.join("runs", os.path.basename(args.task).split(".")[0])
    kind = "binary" if args.kind == "classification" else args.kind
    targets = None if args.targets is None else tuple(name.strip() for name in args.targets.split(","))
    try:
        check_device(args.device)
        options = MoleculeOptions(
            args.smiles, targets, kind, args.metric, args.split, args.folds, not args.no_stereo, args.descriptors
        )
        found = read_molecule_task(args.task, options)
        for note in found.notes:
            complain(note)
        settings = molecule_settings(found, options.to_dict(), args.ensemble, args.overrides)
        result = train_molecules(found, settings, out, show=not args.quiet, device=args.device, tensorboard=args.tensorboard)
    except FileNotFoundError:
        raise UsageError(f"{args.task}: there is no such file") from None
    except Stopped as stop:
        complain(f"{stop}: the same command continues", stop.alike)
        return 128 + (stop.signal or 2)
    except DivergedError as error:
        complain(f"diverged: {error}", error.alike)
        return 3
    except PlanegraphError as error:
        raise UsageError(str(error), error.alike) from None
    sys.stdout.write(molecule_summary(result, out) + _report(out))
    if found.skipped:
        complain(f"{len(found.skipped):,} rows were skipped: {os.path.join(out, SKIPPED)} says which, and why")
    return 0


def molecule_summary(result: dict[str, Any], out: str) -> str:
    """The figures of the ensemble on validation and test, a line for each target and metric."""
    from ..datasets.metrics import metrics_of

    ensemble, titles = result["ensemble"], metrics_of(result["kind"])
    lines = [f"{result['task']}: {len(result['lanes'])} models, {result['seconds']:.0f} s on {result['device']}"]
    for target, figures in ensemble["test"].items():
        for name, value in figures.items():
            val = ensemble["val"][target][name]
            texts = ["undefined" if v is None else f"{v:.4g}" for v in (value, val)]
            lines.append(f"{target}, {titles[name].title}: test {texts[0]}, validation {texts[1]}")
        interval = ensemble.get("intervals", {}).get(target, {})
        if interval.get("half_width") is not None:
            share, covered = ensemble["intervals"]["coverage"], interval["test_coverage"]
            lines.append(f"{target}, {share:.0%} intervals: ± {interval['half_width']:.4g}, which cover {covered:.0%} of test")
    return "\n".join([*lines, f"kept in {out}; planegraph predict {out} FILE -o OUT.csv"]) + "\n"


def summary(result: dict[str, Any], out: str) -> str:
    """The figures in a line each."""
    count = len(result["lanes"])
    of = f", mean and standard deviation of {count} runs" if count > 1 else ""
    together = f", {result['together']} targets together" if "together" in result else ""
    lines = [f"{result['task']}, {result['model_class']}{of}; {result['seconds']:.0f} s on {result['device']}{together}"]
    for part, name in (("test", "test at the best epoch"), ("val", "validation")):
        spread = f" ± {result[part]['std']:.4f}" if count > 1 else ""
        lines.append(f"{result['metric']}, {name}: {result[part]['mean']:.4f}{spread}")
    return "\n".join([*lines, f"kept in {out}"]) + "\n"


def _report(out: str) -> str:
    """Writes the report; a run is not lost because that fails."""
    from ..report import write_report

    try:
        return f"report: {write_report(out)}\n"
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        complain(f"the run is complete, but its report could not be written ({what}); planegraph report {out}")
        return ""


def _settings(args: argparse.Namespace) -> RunSettings:
    from ..train import RunSettings

    settings = _read(args.config) if args.config else RunSettings(args.task)
    if settings.task != args.task:
        raise UsageError(f"{args.config} is for the task {settings.task}, not {args.task}", alike=True)
    seeds = [] if args.seeds is None else [f"train.seeds={args.seeds}"]
    settings = settings.with_overrides([*args.overrides, *seeds])
    if settings.task != args.task:
        raise UsageError(f"--set makes the task {settings.task}, but {args.task} was asked for", alike=True)
    return settings


def _read(config: str) -> RunSettings:
    from ..train import load_settings

    try:
        return load_settings(config)
    except OSError as error:
        raise UsageError(f"cannot read --config {config}: {error.strerror or error}", alike=True) from None
