"""``planegraph train TASK``: trains a model by typed settings, all seeds, folds and targets together, and prints the test figures.

The task is a benchmark by name, a file with molecules and targets, a packed file, or a Python function that returns a ``Task``.
"""

from __future__ import annotations

import argparse
import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from ..processes import first_process
from .messages import UsageError, complain, say
from .molecules import add_molecules, is_table, refuse_molecule_options, run_molecules
from .options import TRAINING, add_command, add_data, add_device, add_overrides, add_quiet, check_device
from .report import where_report
from .sweep import Tasks, is_sweep, run_sweep, task_sweep

if TYPE_CHECKING:
    from ..train import RunSettings


LOGGERS = ("csv", "tensorboard", "wandb", "mlflow")  # those of train/loggers.py, which needs PyTorch


def add_parser(commands: Any) -> None:
    parser = add_command(
        commands,
        "train",
        run,
        "train a model on a task",
        "Train a model on a benchmark, on a file with molecules and targets, or on your own graphs. Settings come from a YAML file and "
        "--set; the run is kept in a folder and can be resumed.\n\nSeveral processes: torchrun --nproc-per-node K -m planegraph train ...",
        TRAINING,
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
    parser.add_argument("--resume", action="store_true", help="resume the run in the folder")
    parser.add_argument("--out", metavar="DIR", help="folder of the run (default: runs/TASK)")
    add_data(parser)
    add_device(parser)
    parser.add_argument("--log", action="append", default=[], choices=LOGGERS, help="also log to this; may be given several times")
    add_quiet(parser)
    add_molecules(parser)


def run(args: argparse.Namespace) -> int:
    if args.task is None and not (args.resume and args.out):
        raise UsageError("name a benchmark, a file or module:function; --resume --out DIR alone resumes the run in DIR")
    if args.task is None and is_sweep(args):
        raise UsageError("name the task of the sweep: the command that began it continues it", alike=True)
    if args.out and not is_sweep(args) and os.path.exists(os.path.join(args.out, "sweep.json")):
        raise UsageError(f"{args.out} holds a sweep; choose another folder for a run")
    check_device(args.device)
    on_table = is_table(args.task or _settings_in(args.out).task)
    return run_molecules(args, partial(_loggers, args)) if on_table else _run_task(args)


def _loggers(args: argparse.Namespace) -> list[Any]:
    from ..train.loggers import LOGGERS as classes

    return [classes[name]() for name in dict.fromkeys(args.log)]


def _run_task(args: argparse.Namespace) -> int:
    """A benchmark, a packed file or a function."""
    from ..train import train
    from ..train.run import runs_of
    from ..train.tasks import short_name

    refuse_molecule_options(args, "it is for tables of molecules")
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
            say(summary(of_target, str(folder)) + where_report(str(folder)))
    return 0


def _make_importable(folder: str) -> None:
    """As ``python -m`` does it: modules of the current folder can be imported."""
    if not {"", folder} & set(sys.path):
        sys.path.insert(0, folder)


def _is_benchmark(task: str) -> bool:
    from ..datasets import DATASETS

    return task in DATASETS


def summary(result: dict[str, Any], out: str) -> str:
    """The figures in a line each."""
    count = len(result["trials"])
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
    settings = _settings_in(out)
    if args.task not in (None, settings.task):
        raise UsageError(f"{out} is a run on {settings.task}, not {args.task}", alike=True)
    return settings.with_overrides(_overrides(args))


def _settings_in(out: str) -> RunSettings:
    """Those of the run in a folder."""
    from ..runs.settings import load_run_settings

    if not os.path.exists(os.path.join(out, "settings.yaml")):
        raise UsageError(f"{out} holds no run", alike=True)
    return load_run_settings(out)


def _read(config: str) -> RunSettings:
    from ..train import load_settings

    if not os.path.exists(config) and os.sep not in config and not config.endswith(".yaml"):
        from ..experiments.configs import load_config

        return load_config(config)
    try:
        return load_settings(config)
    except OSError as error:
        raise UsageError(f"cannot read --config {config}: {error.strerror or error}", alike=True) from None
