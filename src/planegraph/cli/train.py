"""``planegraph train TASK``: trains a model by typed settings, all seeds, folds and targets together, and prints the test figures."""

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
        description="Train a model. Settings come from a YAML file and --set; the run is kept in a folder and can be resumed. "
        "Several processes: torchrun --nproc-per-node K -m planegraph train ...",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("task", metavar="TASK", help="the name of a dataset (see planegraph datasets)")
    parser.add_argument("--config", metavar="FILE", help="YAML file with settings; without it, the defaults")
    add_overrides(parser, "settings, as in --set model.hidden=128 train.lr=0.001")
    parser.add_argument("--seeds", metavar="N", type=int, help="train N seeds together (the same as --set train.seeds=N)")
    parser.add_argument("--resume", action="store_true", help="go on with the run in the folder")
    parser.add_argument("--out", metavar="DIR", help="folder of the run (default: runs/TASK)")
    parser.add_argument("--data", metavar="DIR", help="folder of the datasets (default: as planegraph datasets says)")
    add_device(parser)
    parser.add_argument("--tensorboard", action="store_true", help="also write TensorBoard's event files into DIR/tensorboard")
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from ..train import train
    from ..train.errors import DivergedError, Stopped
    from ..train.run import runs_of
    from ..train.tasks import task_of

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
