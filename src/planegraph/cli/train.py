"""``planegraph train TASK``: trains a model by typed settings, all seeds, folds and targets together, and prints the test figures.

The task is a benchmark by name, a file with molecules and targets, a packed file, or a Python function that returns a ``Task``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .messages import UsageError, remark
from .molecules import MoleculeJob, add_molecules, is_table, refuse_molecule_options
from .options import LOGGERS, TRAINING, add_command, add_data, add_device, add_overrides, add_quiet, check_device, loggers
from .sweep import is_sweep, run_job

if TYPE_CHECKING:
    from ..tasks.task import Task
    from ..train import RunSettings


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
    parser.add_argument("--config", metavar="FILE", help="YAML file with settings, or the name of a config of docs/results.md")
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
        raise UsageError("name the task of the sweep: the command that began it continues it")
    if args.out and not is_sweep(args) and os.path.exists(os.path.join(args.out, "sweep.json")):
        raise UsageError(f"{args.out} holds a sweep; choose another folder for a run")
    check_device(args.device)
    loggers(args)  # fails before the data is read if one is not installed
    return run_job(args, MoleculeJob(args) if is_table(args.task or _settings_in(args.out).task) else TaskJob(args))


class TaskJob:
    """Trains on a benchmark, a packed file or a function."""

    remarks: Sequence[str] = ()

    def __init__(self, args: argparse.Namespace) -> None:
        from ..train.tasks import short_name

        refuse_molecule_options(args, "it is for tables of molecules")
        _make_importable(os.getcwd())
        self.args, self.is_sweep = args, is_sweep(args)
        self.out = args.out or os.path.join("runs", short_name(args.task))
        self.tasks: dict[str, Task] = {}  # by their options

    def settings_for(self, overrides: Sequence[str]) -> RunSettings:
        args = argparse.Namespace(**{**vars(self.args), "overrides": list(overrides)})
        if _resumes_as_it_was(args, self.out):
            return _kept_settings(args, self.out)
        return _settings(args, self._task)

    def train(self, settings: RunSettings, folder: str | Path, chosen: bool = True) -> dict[str, Any]:
        from ..train import train

        task = self._task(settings)
        if self.is_sweep and task.targets is not None:
            names = ", ".join(task.targets)
            raise UsageError(
                f"a sweep compares one figure of each run, but {names} have a model each; choose one, by --set options.target=NAME"
            )
        resume, show = self.args.resume or self.is_sweep, not self.args.quiet
        return train(task, settings, folder, resume=resume, show=show, device=self.args.device, callbacks=loggers(self.args))

    def summary(self, result: dict[str, Any], folder: str) -> str:
        """The figures, a line each."""
        from ..report.formatting import duration, spread

        count = len(result["trials"])
        of = f", mean and standard deviation of {count} runs" if count > 1 else ""
        together = f", {result['together']} targets together" if "together" in result else ""
        lines = [f"{result['task']}, {result['model_class']}{of}; {duration(result['seconds'])} on {result['device']}{together}"]
        for part, name in (("test", "test at the best epoch"), ("val", "validation")):
            lines.append(f"{result['metric']}, {name}: {spread(result['metric'], **result[part], count=count)}")
        return "\n".join([*lines, f"kept in {folder}"]) + "\n"

    def _task(self, settings: RunSettings) -> Task:
        """The task, made once for all settings with the same options."""
        from ..train.tasks import task_of

        options = json.dumps(settings.options, sort_keys=True, default=str)
        if options not in self.tasks:
            self.tasks[options] = task_of(settings, self.args.data)
        return self.tasks[options]


def _make_importable(folder: str) -> None:
    """Lets modules of the current folder be imported, as ``python -m`` does."""
    if not {"", folder} & set(sys.path):
        sys.path.insert(0, folder)


def _is_benchmark(task: str) -> bool:
    from ..datasets import DATASETS

    return task in DATASETS


def _settings(args: argparse.Namespace, task_of: Callable[[RunSettings], Task]) -> RunSettings:
    """The settings of the command line; for your own data the others suit the size of the task."""
    from ..train import RunSettings, settings_for

    settings = _read(args.config) if args.config else _published(args) or RunSettings(args.task)
    if settings.task != args.task:
        raise UsageError(f"{args.config} is for the task {settings.task}, not {args.task}")
    settings = settings.with_overrides(_overrides(args))
    if settings.task != args.task:
        raise UsageError(f"--set makes the task {settings.task}, but {args.task} was asked for")
    if args.config or _is_benchmark(settings.task):
        return settings
    return settings_for(task_of(settings), _overrides(args), name=settings.task, options=settings.options)


def _overrides(args: argparse.Namespace) -> list[str]:
    """The overrides of --set, and of the options that abbreviate one."""
    short = {"train.seeds": args.seeds, "options.metric": args.metric, "options.folds": args.folds}
    short["options.kind"] = "binary" if args.kind == "classification" else args.kind
    short["options.split"] = None if args.split == "random" else args.split
    return [*args.overrides, *(f"{name}={value}" for name, value in short.items() if value is not None)]


def _published(args: argparse.Namespace) -> RunSettings | None:
    """The settings of the benchmark's published row, which a benchmark without further options stands for."""
    if args.overrides or args.seeds is not None or args.resume:
        return None
    from ..experiments.configs import config_names, load_config

    names = [name for name in (f"{args.task}-edges-baseplane", f"{args.task}-baseplane") if name in config_names()]
    if not names:
        return None
    remark(f"settings of {names[0]}, the published row; --set or --config choose others")
    return load_config(names[0])


def _resumes_as_it_was(args: argparse.Namespace, out: str) -> bool:
    """Returns whether the run in the folder is resumed with its settings: no task is named, or nothing but the task."""
    silent = not args.config and not _overrides(args)
    return args.task is None or (args.resume and silent and os.path.exists(os.path.join(out, "settings.yaml")))


def _kept_settings(args: argparse.Namespace, out: str) -> RunSettings:
    """The settings of the run in the folder, with the overrides of the command line."""
    settings = _settings_in(out)
    if args.task not in (None, settings.task):
        raise UsageError(f"{out} is a run on {settings.task}, not {args.task}")
    return settings.with_overrides(_overrides(args))


def _settings_in(out: str) -> RunSettings:
    """The settings of the run in a folder."""
    from ..runs.settings import load_run_settings

    if not os.path.exists(os.path.join(out, "settings.yaml")):
        raise UsageError(f"{out} holds no run")
    return load_run_settings(out)


def _read(config: str) -> RunSettings:
    from ..train import load_settings

    if not os.path.exists(config) and os.sep not in config and not config.endswith(".yaml"):
        from ..experiments.configs import load_config

        return load_config(config)
    try:
        return load_settings(config)
    except OSError as error:
        raise UsageError(f"cannot read --config {config}: {error.strerror or error}") from None
