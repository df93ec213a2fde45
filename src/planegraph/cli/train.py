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
from .messages import complain, printable
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
    parser.add_argument(
        "task",
        metavar="TASK",
        nargs="?",
        help="a benchmark (see planegraph datasets), or a CSV, TSV, Parquet or SDF file; not needed with --resume",
    )
    parser.add_argument(
        "--config", metavar="FILE", help="YAML file with settings, or the name of one that planegraph brings, as in docs/results.md"
    )
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
    group.add_argument(
        "--no-baselines", action="store_true", help="train no random forest and no gradient boosting to compare with"
    )


def run(args: argparse.Namespace) -> int:
    from ..train.errors import DivergedError, Stopped

    if args.task is None and not (args.resume and args.out):
        raise UsageError("name a benchmark or a file with molecules; --resume --out DIR alone resumes the run in DIR")
    on_file = args.task is not None and _is_file(args.task)
    try:
        check_device(args.device)
        return _run_molecules(args) if on_file else _run_benchmark(args)
    except Stopped as stop:
        complain(f"{stop}: the same command continues" if on_file else str(stop), stop.alike)
        return 128 + (stop.signal or 2)
    except DivergedError as error:
        complain(f"diverged: {error}", error.alike)
        return 3
    except PlanegraphError as error:
        raise UsageError(str(error), error.alike) from None


def _run_benchmark(args: argparse.Namespace) -> int:
    from ..train import train
    from ..train.run import runs_of
    from ..train.tasks import task_of

    out = args.out or os.path.join("runs", args.task)
    settings = _kept_settings(args, out) if _resumes_as_it_was(args, out) else _settings(args)
    options: dict[str, Any] = {"resume": args.resume, "show": not args.quiet, "device": args.device}
    options["tensorboard"] = args.tensorboard
    result = train(task_of(settings, args.data), settings, out, **options)
    if first_process():
        for folder, of_target in runs_of(out, result):
            sys.stdout.write(summary(of_target, str(folder)) + _report(str(folder)))
    return 0


def _is_file(task: str) -> bool:
    """Whether it names a file: benchmarks have names without dots and slashes."""
    return "." in task or os.sep in task


def _run_molecules(args: argparse.Namespace) -> int:
    from ..datasets.molecule_task import MoleculeOptions, read_molecule_task
    from ..train.molecules import SKIPPED, molecule_settings, train_molecules

    if args.config:
        raise UsageError("--config is for benchmarks; a file with molecules takes --set")
    out = args.out or os.path.join("runs", os.path.basename(args.task).split(".")[0])
    kind = "binary" if args.kind == "classification" else args.kind
    targets = None if args.targets is None else tuple(name.strip() for name in args.targets.split(","))
    options = MoleculeOptions(args.smiles, targets, kind, args.metric, args.split, args.folds, not args.no_stereo, args.descriptors)
    try:
        found = read_molecule_task(args.task, options)
    except (FileNotFoundError, IsADirectoryError) as error:
        raise UsageError(str(error)) from None
    for note in found.notes:
        complain(note)
    settings = molecule_settings(found, options.to_dict(), args.ensemble, args.overrides)
    shown = {"show": not args.quiet, "tensorboard": args.tensorboard}
    result = train_molecules(found, settings, out, device=args.device, baselines=not args.no_baselines, **shown)
    if first_process():
        sys.stdout.write(printable(molecule_summary(result, out) + _report(out)))
    if found.skipped:
        complain(f"{len(found.skipped):,} rows were skipped: {os.path.join(out, SKIPPED)} says which, and why")
    return 0


def molecule_summary(result: dict[str, Any], out: str) -> str:
    """The figures of the ensemble on validation and test, a line for each target and metric; and those of the baselines."""
    from ..datasets.metrics import metrics_of

    baselines = result.get("baselines", {})
    ensemble, titles = result["ensemble"], metrics_of(result["kind"])
    lines = [f"{result['task']}: {len(result['lanes'])} models, {result['seconds']:.0f} s on {result['device']}"]
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

    settings = _read(args.config) if args.config else _published(args) or RunSettings(args.task)
    if settings.task != args.task:
        raise UsageError(f"{args.config} is for the task {settings.task}, not {args.task}", alike=True)
    seeds = [] if args.seeds is None else [f"train.seeds={args.seeds}"]
    settings = settings.with_overrides([*args.overrides, *seeds])
    if settings.task != args.task:
        raise UsageError(f"--set makes the task {settings.task}, but {args.task} was asked for", alike=True)
    return settings


def _published(args: argparse.Namespace) -> RunSettings | None:
    """Those of the benchmark's published row, if nothing else is said: a benchmark by its name alone is that row."""
    if args.overrides or args.seeds is not None or args.resume:
        return None
    from ..experiments.configs import config_names, load_config

    names = [name for name in (f"{args.task}-edges-baseplane", f"{args.task}-baseplane") if name in config_names()]
    if not names:
        return None
    complain(f"settings of {names[0]}, the published row; --set or --config choose others", alike=True)
    return load_config(names[0])


def _resumes_as_it_was(args: argparse.Namespace, out: str) -> bool:
    """Whether the settings are those of the run in the folder: no task is named, or nothing is said but the task."""
    silent = not args.config and not args.overrides and args.seeds is None
    return args.task is None or (args.resume and silent and os.path.exists(os.path.join(out, "settings.yaml")))


def _kept_settings(args: argparse.Namespace, out: str) -> RunSettings:
    """Those of the run in the folder, with what is said now in their place."""
    path = os.path.join(out, "settings.yaml")
    if not os.path.exists(path):
        raise UsageError(f"{out} holds no run", alike=True)
    settings = _read(path)
    if _is_file(settings.task):
        raise UsageError(f"{out} is a run on {settings.task}: the command that began it resumes it", alike=True)
    if args.task not in (None, settings.task):
        raise UsageError(f"{out} is a run on {settings.task}, not {args.task}", alike=True)
    seeds = [] if args.seeds is None else [f"train.seeds={args.seeds}"]
    return settings.with_overrides([*args.overrides, *seeds])


def _read(config: str) -> RunSettings:
    from ..train import load_settings

    if not os.path.exists(config) and os.sep not in config and not config.endswith(".yaml"):
        from ..experiments.configs import load_config

        return load_config(config)
    try:
        return load_settings(config)
    except OSError as error:
        raise UsageError(f"cannot read --config {config}: {error.strerror or error}", alike=True) from None
