"""``planegraph tables``: writes docs/results.md from the records, or says whether it is what they give."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..errors import MissingDependencyError, PlanegraphError
from .formats import UsageError
from .messages import complain, say


def add_parser(commands: argparse._SubParsersAction, epilog: str) -> None:
    parser = commands.add_parser(
        "tables",
        help="write the results from the records",
        description="Write the tables of results from the records, each of which is checked. With --check write nothing: exit with 1 if "
        "the file is not what the records give.",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--records", metavar="DIR", default="records", help="folder of the records (default: records)")
    parser.add_argument("--out", metavar="FILE", default="docs/results.md", help="the file (default: docs/results.md)")
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from ..experiments.records import RecordError
    from ..experiments.tables import check_file, refuse_stale, write_tables

    try:
        refuse_stale(Path(args.records))
        if args.check:
            check_file(Path(args.records), Path(args.out))
            say(f"{args.out} is what the records in {args.records} give\n")
        else:
            write_tables(Path(args.records), Path(args.out))
            say(f"wrote {args.out}\n")
    except (RecordError, MissingDependencyError) as error:
        raise UsageError(str(error)) from None
    except PlanegraphError as error:
        if not args.check:
            raise UsageError(str(error)) from None
        complain(str(error))
        return 1
    return 0
