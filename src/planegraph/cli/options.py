"""Options that several commands have, and how each command is declared."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable
from typing import Any

from ..graphs.formats.files import FORMATS
from ..processes import process_count
from ..workers import core_count
from .messages import UsageError

EXIT_CODES = """\
exit codes:
  0    all went well; for iso: isomorphic; for filter: and some graph has the properties
  1    some graphs were bad or not planar (see stderr), the others were handled; for iso: not
       isomorphic; for filter: or no graph has the properties; for tables --check: the file does
       not agree with the records
  2    wrong usage, an unreadable file, or a bad graph under --strict; for iso: a bad graph
  3    no answer: input or output is closed or fails (a full disk), a run diverged, or planegraph itself fails
  130  interrupted (Ctrl-C); train and reproduce save first
  141  output pipe closed
  143  train and reproduce: stopped by SIGTERM, and saved
"""

TRAINING = """\
exit codes:
  0    all went well
  2    wrong usage or settings, or a missing, unreadable or unsuitable file or run
  3    no answer: a run diverged (other runs are complete), input or output fails (a full disk), or planegraph itself does
  130  stopped by Ctrl-C; what was trained is saved
  141  output pipe closed
  143  stopped by SIGTERM; what was trained is saved
"""
"""Of ``train`` and ``reproduce``."""


def add_command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], int], help: str, description: str, epilog: str = EXIT_CODES
) -> argparse.ArgumentParser:
    """Declares a command; ``run`` returns its exit code."""
    about = "\n\n".join(textwrap.fill(part, 100) for part in description.split("\n\n"))
    parser = commands.add_parser(
        name, help=help, description=about, epilog=epilog, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.set_defaults(run=run)
    return parser


def add_input(parser: argparse.ArgumentParser) -> None:
    """``FILE ...`` and the options of commands that read many graphs."""
    parser.add_argument("files", nargs="*", metavar="FILE", help="files to read, - for standard input (the default)")
    add_format(parser)
    parser.add_argument("--strict", action="store_true", help="stop at the first bad graph with exit code 2")


def add_format(parser: argparse.ArgumentParser) -> None:
    """``--format`` and ``--no-stereo``."""
    parser.add_argument(
        "-f",
        "--format",
        choices=FORMATS,
        help="graph6 (or sparse6) and smiles: a graph a line; edges: a graph a line as u-v pairs; edgelist: an edge a line, a "
        "blank line between graphs; planar_code: of plantri (default: by the file's suffix .g6 .s6 .smi .edges .edgelist .pc, "
        "else graph6)",
    )
    parser.add_argument(
        "--no-stereo", dest="stereo", action="store_false", help="smiles: ignore stereochemistry, so that mirror images are equal"
    )


def add_device(parser: argparse.ArgumentParser) -> None:
    """``--device``, None by default."""
    parser.add_argument("--device", help="cpu, cuda, cuda:1 (default: a GPU if there is one; each process its own)")


def check_device(device: str | None) -> None:
    """UsageError, which lists the devices, unless this machine has the device. None is its default, and cpu:0 is cpu."""
    import torch

    there = ["cpu", *(["cuda"] if torch.cuda.is_available() else []), *(f"cuda:{k}" for k in range(torch.cuda.device_count()))]
    if device not in (None, "cpu:0", *there):
        raise UsageError(f"--device {device} is not available; available: {', '.join(there)}")


LOGGERS = ("csv", "tensorboard", "wandb", "mlflow")  # as in train/loggers.py, which needs PyTorch


def loggers(args: argparse.Namespace) -> list[Any]:
    """The callbacks of ``--log``."""
    from ..train.loggers import LOGGERS as classes

    return [classes[name]() for name in dict.fromkeys(args.log)]


def add_workers(parser: Any) -> None:
    """``--workers``: processes that read molecules. The processes of torchrun share the cores."""
    parser.add_argument(
        "--workers",
        metavar="N",
        type=whole_number(),
        default=max(1, core_count() // process_count()),
        help="processes that read molecules (default: one for each core)",
    )


def add_overrides(parser: argparse.ArgumentParser, help: str) -> None:
    """``--set KEY=VALUE ...`` as ``overrides``, in their order, however often the option is given."""
    parser.add_argument("--set", metavar="KEY=VALUE", action="extend", nargs="+", default=[], dest="overrides", help=help)


def add_quiet(parser: argparse.ArgumentParser, help: str = "show no progress") -> None:
    """``--quiet``."""
    parser.add_argument("-q", "--quiet", action="store_true", help=help)


def add_data(parser: argparse.ArgumentParser, *names: str) -> None:
    """``--data``; ``names``: its earlier names in this command."""
    text = "folder of the datasets' raw files (default: PLANEGRAPH_DATA, else the user's cache)"
    parser.add_argument("--data", *names, metavar="DIR", help=text)


def whole_number(least: int = 1, most: int | None = None) -> Callable[[str], int]:
    """The type of an argument that must be a whole number in this range."""

    def parse_number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least or (most is not None and value > most):
            limits = f"{least} on" if most is None else f"{least} to {most}"
            raise argparse.ArgumentTypeError(f"must be a whole number from {limits}; found {text[:40]!r}")
        return value

    return parse_number
