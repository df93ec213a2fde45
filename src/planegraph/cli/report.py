"""``planegraph report RUN``: the folder of a run or a sweep as an HTML page, and the figures of a run as SVG files."""

from __future__ import annotations

import argparse
import os

from ..errors import PlanegraphError
from .formats import UsageError
from .messages import say


def add_parser(commands: argparse._SubParsersAction, epilog: str) -> None:
    parser = commands.add_parser(
        "report",
        help="a run as an HTML page",
        description="Write the report of a run, finished or not: result, learning curves, predictions, settings, machine. "
        "One HTML file without scripts. Several runs of one task are compared on one page, for which --out is needed. The folder of a "
        "sweep gets sweep.html and sweep.csv.",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help="the folder of a run, or of a sweep")
    parser.add_argument("--out", metavar="FILE", help="the page (default: report.html in the run's folder, or sweep.html)")
    parser.add_argument("--svg", metavar="DIR", help="also write the figures of the run as SVG files into this folder")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    several = len(args.runs) > 1
    if several and (args.out is None or args.svg is not None):
        raise UsageError("several runs make one page: name it by --out; --svg takes one run")
    try:
        from ..report import is_sweep, side_by_side, write_report, write_svgs, write_sweep

        if not several and is_sweep(args.runs[0]):
            if args.svg is not None:
                raise UsageError(f"{args.runs[0]} is a sweep; --svg takes one of its runs")
            written = write_sweep(args.runs[0], args.out)
        else:
            written = [side_by_side(args.runs, args.out) if several else write_report(args.runs[0], args.out)]
        if args.svg is not None:
            written += write_svgs(args.runs[0], args.svg)
    except PlanegraphError as error:
        raise UsageError(str(error)) from None
    say("".join(f"{path}\n" for path in written))
    return 0


def where_report(out: str) -> str:
    """A line that says where the report of a run is; nothing if it could not be written, which a warning has said."""
    from ..report.run_page import NAME

    path = os.path.join(out, NAME)
    return f"report: {path}\n" if os.path.exists(path) else ""
