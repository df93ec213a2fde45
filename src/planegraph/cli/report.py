"""``planegraph report RUN``: the folder of a run or a sweep as an HTML page, and the figures of a run as SVG files."""

from __future__ import annotations

import argparse
import os
from typing import Any

from .messages import UsageError, say
from .options import add_command


def add_parser(commands: Any) -> None:
    parser = add_command(
        commands,
        "report",
        run,
        "a run as an HTML page",
        "Write the report of a run, finished or not: result, learning curves, predictions, settings, machine. One HTML file without "
        "scripts. Several runs of one task are compared on one page, for which --out is needed. The folder of a sweep gets sweep.html "
        "and sweep.csv.",
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help="the folder of a run, or of a sweep")
    parser.add_argument("--out", metavar="FILE", help="the page (default: report.html in the run's folder, or sweep.html)")
    parser.add_argument("--svg", metavar="DIR", help="also write the figures of the run as SVG files into this folder")


def run(args: argparse.Namespace) -> int:
    several = len(args.runs) > 1
    if several and (args.out is None or args.svg is not None):
        raise UsageError("several runs make one page: name it by --out; --svg takes one run")
    from ..report import is_sweep, side_by_side, write_report, write_svgs, write_sweep

    if not several and is_sweep(args.runs[0]):
        if args.svg is not None:
            raise UsageError(f"{args.runs[0]} is a sweep; --svg takes one of its runs")
        written = write_sweep(args.runs[0], args.out)
    else:
        written = [side_by_side(args.runs, args.out) if several else write_report(args.runs[0], args.out)]
    if args.svg is not None:
        written += write_svgs(args.runs[0], args.svg)
    say("".join(f"{path}\n" for path in written))
    return 0


def where_report(out: str) -> str:
    """A line with the path of a run's report; nothing if it could not be written, about which there was a warning."""
    from ..report.run_page import NAME

    path = os.path.join(out, NAME)
    return f"report: {path}\n" if os.path.exists(path) else ""
