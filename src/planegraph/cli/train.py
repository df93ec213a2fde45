"""``planegraph train TASK``: trains a model by typed settings, all seeds, folds and targets together, and prints the test figures.

The task is a benchmark by name, a file with molecules and targets, a packed file, or a Python function that returns a ``Task``.
"""

from __future__ import annotations

import argparse
import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import PlanegraphError
from ..processes import first_process
from .device import add_device, check_device
from .formats import UsageError
from .messages import complain, printable
from .overrides import add_overrides
from .report import where_report
from .sweep import Sweep, Tasks, is_sweep, run_sweep, task_sweep
from .workers import add_workers

if TYPE_CHECKING:
    from ..train import RunSettings


LOGGERS = ("csv", "tensorboard", "wandb", "mlflow")  # those of train/loggers.py, which needs PyTorch


def add_parser(commands: argparse._SubParsersAction, epilog: str) -> None:
    parser = commands.add_parser(
        "train",
        help="train a model on a task",
        description="Train a model on a benchmark, on a file with molecules and targets, or on your own graphs. Settings come from a YAML "
        "file and --set; the run is kept in a folder and can be resumed. Several processes: torchrun --nproc-per-node K -m planegraph "
        "train ...",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "task",
        metavar="TASK",
        nargs="?",
        help="a benchmark (see planegraph datasets); a CSV, TSV, Parquet or SDF file with molecules; a packed file, data.safetensors; "
        "or module:function, a Python function that returns a Task. Not needed with --resume",
    )
    parser.add_argument(
        "--config", metavar="FILE", help="YAML file with settings, or the name of one that planegraph brings, as in docs/results.md"
    )
    add_overrides(
        parser, "settings, as in --set model.hidden=128 train.lr=0.001; several values, as in train.lr=1e-3,2e-3, make a sweep"
    )
    parser.add_argument("--seeds", metavar="N", type=int, help="train N seeds together (the same as --set train.seeds=N)")
    parser.add_argument("--resume", action="store_true", help="go on with the run in the folder")
    parser.add_argument("--out", metavar="DIR", help="folder of the run (default: runs/TASK)")
    parser.add_argument("--data", metavar="DIR", help="folder of the datasets (default: as planegraph datasets says)")
    add_device(parser)
    parser.add_argument("--log", action="append", default=[], choices=LOGGERS, help="also log to this; may be given several times")
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")
    _add_molecules(parser)
    parser.set_defaults(run=run)


def _add_molecules(parser: argparse.ArgumentParser) -> None:
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
        help="read RDKit's descriptors beside the graph (default: up to 5,000 molecules)",
    )
    add_workers(group)
    group.add_argument(
        "--no-baselines", action="store_true", help="train no random forest and no gradient boosting to compare with"
    )


def run(args: argparse.Namespace) -> int:
    from ..train.errors import DivergedError, Stopped

    if args.task is None and not (args.resume and args.out):
        raise UsageError("name a benchmark, a file or module:function; --resume --out DIR alone resumes the run in DIR")
    on_file = args.task is not None and _is_file(args.task)
    try:
        check_device(args.device)
        return _run_molecules(args) if on_file else _run_task(args)
    except Stopped as stop:
        complain(f"{stop}: the same command continues" if on_file else str(stop), stop.alike)
        return 128 + (stop.signal or 2)
    except DivergedError as error:
        complain(f"diverged: {error}", error.alike)
        return 3
    except PlanegraphError as error:
        raise UsageError(str(error), error.alike) from None


def _run_task(args: argparse.Namespace) -> int:
    """A benchmark, a packed file or a function."""
    from ..train import train
    from ..train.run import runs_of
    from ..train.tasks import short_name

    _loggers(args)  # one that is not installed is an error before the data is read
    _make_importable(os.getcwd())
    tasks = Tasks(args.data)
    out = args.out or os.path.join("runs", short_name(args.task))
    if is_sweep(args):
        return run_sweep(args, task_sweep(args, out, partial(_settings, tasks=tasks), tasks, partial(_loggers, args), summary))
    settings = _kept_settings(args, out) if _resumes_as_it_was(args, out) else _settings(args, tasks)
    options: dict[str, Any] = {"resume": args.resume, "show": not args.quiet, "device": args.device, "callbacks": _loggers(args)}
    result = train(tasks(settings), settings, out, **options)
    if first_process():
        for folder, of_target in runs_of(out, result):
            sys.stdout.write(summary(of_target, str(folder)) + where_report(str(folder)))
    return 0


def _make_importable(folder: str) -> None:
    """As ``python -m`` does it: modules of the current folder can be imported."""
    if not {"", folder} & set(sys.path):
        sys.path.insert(0, folder)


def _is_benchmark(task: str) -> bool:
    from ..datasets import DATASETS

    return task in DATASETS


def _loggers(args: argparse.Namespace) -> list[Any]:
    from ..train.loggers import LOGGERS as classes

    return [classes[name]() for name in dict.fromkeys(args.log)]


def _is_file(task: str) -> bool:
    """Whether it names a file with molecules: benchmarks have names without dots and slashes."""
    from ..train.tasks import is_function, is_packed

    return ("." in task or os.sep in task) and not is_packed(task) and not is_function(task)


def _run_molecules(args: argparse.Namespace) -> int:
    from ..datasets.molecule_task import MoleculeOptions, read_molecule_task
    from ..train.molecules import SKIPPED, molecule_settings, train_molecules
    from ..train.transfer import Start

    if args.config:
        raise UsageError("--config is for benchmarks; a file with molecules takes --set")
    out = args.out or os.path.join("runs", os.path.basename(args.task).split(".")[0])
    kind = "binary" if args.kind == "classification" else args.kind
    targets = None if args.targets is None else tuple(name.strip() for name in args.targets.split(","))
    stereo = not args.no_stereo
    options = MoleculeOptions(
        args.smiles, targets, kind, args.metric, args.split, args.folds, stereo, args.descriptors, weights=args.weights
    )
    start = None if args.start is None else Start.load(args.start, out)
    options = options if start is None else options.like(start.schema)
    try:
        found = read_molecule_task(args.task, options, None if start is None else start.schema, args.workers)
    except (FileNotFoundError, IsADirectoryError) as error:
        raise UsageError(str(error)) from None
    for note in [*found.notes, *([] if start is None else [start.note(found.schema)])]:
        complain(note)
    settings_for = partial(molecule_settings, found, options.to_dict(), args.ensemble, start=start)

    def train_one(settings: RunSettings, folder: str | Path, baselines: bool = not args.no_baselines) -> dict[str, Any]:
        options: dict[str, Any] = {"show": not args.quiet, "device": args.device, "callbacks": _loggers(args), "start": start}
        return train_molecules(found, settings, folder, baselines=baselines, **options)

    if is_sweep(args):
        code = run_sweep(args, Sweep(out, settings_for, partial(train_one, baselines=False), train_one, molecule_summary))
    else:
        code, result = 0, train_one(settings_for(args.overrides), out)
        if first_process():
            sys.stdout.write(printable(molecule_summary(result, out) + where_report(out)))
    if found.skipped:
        where = f"{SKIPPED} in the folder of each run" if is_sweep(args) else os.path.join(out, SKIPPED)
        complain(f"{len(found.skipped):,} rows were skipped: {where} says which, and why")
    return code


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


def _settings(args: argparse.Namespace, tasks: Tasks) -> RunSettings:
    """Those that the command says; what it leaves open suits the size of the task, unless that is a benchmark."""
    from ..train import RunSettings, settings_for

    settings = _read(args.config) if args.config else _published(args) or RunSettings(args.task)
    if settings.task != args.task:
        raise UsageError(f"{args.config} is for the task {settings.task}, not {args.task}", alike=True)
    settings = settings.with_overrides(_overrides(args))
    if settings.task != args.task:
        raise UsageError(f"--set makes the task {settings.task}, but {args.task} was asked for", alike=True)
    if args.config or _is_benchmark(settings.task):
        return settings
    return settings_for(tasks(settings), _overrides(args), name=settings.task, options=settings.options)


def _overrides(args: argparse.Namespace) -> list[str]:
    """Those of --set, and of the options that are short for one."""
    short = {"train.seeds": args.seeds, "options.metric": args.metric, "options.folds": args.folds}
    short["options.kind"] = "binary" if args.kind == "classification" else args.kind
    short["options.split"] = None if args.split == "random" else args.split
    return [*args.overrides, *(f"{name}={value}" for name, value in short.items() if value is not None)]


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
    silent = not args.config and not _overrides(args)
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
    return settings.with_overrides(_overrides(args))


def _read(config: str) -> RunSettings:
    from ..train import load_settings

    if not os.path.exists(config) and os.sep not in config and not config.endswith(".yaml"):
        from ..experiments.configs import load_config

        return load_config(config)
    try:
        return load_settings(config)
    except OSError as error:
        raise UsageError(f"cannot read --config {config}: {error.strerror or error}", alike=True) from None
