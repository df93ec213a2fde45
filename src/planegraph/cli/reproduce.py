"""``planegraph reproduce TABLE``: trains and measures what a table of the paper holds, and keeps a record of each row."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import PlanegraphError
from ..processes import first_process
from .device import add_device, check_device
from .formats import UsageError
from .messages import complain, say
from .overrides import add_overrides

if TYPE_CHECKING:
    from ..experiments.reproduce import Plan

_EXAMPLES = """\
examples:
  planegraph reproduce --list                          tables, their configs, and which have records
  planegraph reproduce p3r                             every row of a table that has no record yet
  planegraph reproduce zinc12k --only zinc12k-gin      one row
  planegraph reproduce --from-run runs/x --name NAME   a record of a run that was trained elsewhere
  planegraph reproduce --from-run a b c --name NAME    one record of seeds that were trained apart

"""


def add_parser(commands: argparse._SubParsersAction, epilog: str) -> None:
    parser = commands.add_parser(
        "reproduce",
        help="regenerate a table of the paper",
        description="Train and measure the rows of a table that have no record yet, write a record of each (records/NAME), then the "
        "tables (docs/results.md). An interrupted run is resumed.",
        epilog=_EXAMPLES + epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("table", nargs="?", metavar="TABLE", help="a table, or all; --list shows them")
    parser.add_argument("--list", action="store_true", help="show the tables, their configs, and which have records")
    parser.add_argument("--only", metavar="NAME", help="only this row of the table")
    parser.add_argument("--records", metavar="DIR", default="records", help="folder of the records (default: records)")
    parser.add_argument("--runs", metavar="DIR", default="runs", help="folder of the runs (default: runs)")
    parser.add_argument("--out", metavar="FILE", default="docs/results.md", help="the tables (default: docs/results.md)")
    parser.add_argument("--data-root", metavar="DIR", help="folder of the datasets (default: as planegraph datasets says)")
    add_device(parser)
    add_overrides(parser, "replace settings; the tables say so")
    parser.add_argument(
        "--nodes", metavar="N", type=int, default=9, help="expressiveness: planar graphs of up to N nodes, 2 to 10 (default: 9)"
    )
    parser.add_argument("--resume", action=argparse.BooleanOptionalAction, default=True, help="resume an interrupted run")
    parser.add_argument("--again", action="store_true", help="run what has a record, too")
    parser.add_argument(
        "--from-run",
        metavar="RUN",
        nargs="+",
        help="make a record of a finished run's folder, and train nothing; of several (runs or records) if their seeds follow one another",
    )
    parser.add_argument("--name", metavar="NAME", help="with --from-run: the record's name, that of its config")
    parser.add_argument("--note", metavar="TEXT", default="", help="with --from-run: what readers of the tables should know")
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    try:
        if args.list:
            say(_listing(Path(args.records)))
            return 0
        if args.from_run or args.name:
            return _from_run(args)
        if args.note:
            raise UsageError("--note goes with --from-run RUN; a record that is trained here has none", alike=True)
        if not args.table:
            raise UsageError("which table? planegraph reproduce --list shows them", alike=True)
        return _reproduce(args)
    except PlanegraphError as error:
        raise UsageError(str(error), error.alike) from None


def _reproduce(args: argparse.Namespace) -> int:
    from ..experiments.reproduce import check_overrides, names_of, reproduce, reproduce_together, stacks_of
    from ..runs.errors import DivergedError, Stopped

    plan, failed = _plan(args), 0
    try:
        wanted = names_of(args.table, args.only)
        check_overrides(wanted, plan)
    except PlanegraphError as error:
        raise UsageError(str(error), alike=True) from None
    stacks = stacks_of(wanted, plan)
    for k, names in enumerate(stacks):
        name = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
        if len(stacks) > 1:
            plan.say(f"{k + 1} of {len(stacks)}")
        try:
            if len(names) > 1:
                reproduce_together(names, plan)
            else:
                reproduce(name, plan)
        except Stopped as stop:
            complain(str(stop).replace("--resume continues it", "the same command continues it"), alike=True)
            return 128 + (stop.signal or 2)
        except (DivergedError, PlanegraphError) as error:
            if len(stacks) == 1 and not isinstance(error, DivergedError):
                raise
            complain(f"{name}: {error}", error.alike)
            failed = 3 if isinstance(error, DivergedError) else failed or 2
    if first_process():
        say(_tables(args))
    return failed


def _plan(args: argparse.Namespace) -> Plan:
    from ..experiments.exhaustive import COUNTS
    from ..experiments.reproduce import Plan

    check_device(args.device)
    if not 2 <= args.nodes <= len(COUNTS):
        raise UsageError(f"--nodes must be from 2 to {len(COUNTS)}; found {args.nodes}", alike=True)
    return Plan(
        Path(args.records),
        Path(args.runs),
        args.data_root,
        args.device,
        args.overrides,
        args.resume,
        args.again,
        not args.quiet,
        {"expressiveness": {"nodes": args.nodes}},
        (lambda text: None) if args.quiet else partial(complain, alike=True),
    )


def _tables(args: argparse.Namespace) -> str:
    """Writes the tables, and gives the rows of this one for the terminal."""
    from ..experiments.published import TABLE_NAMES
    from ..experiments.records import read_records
    from ..experiments.tables import plain_table, read_reasons, table_rows, write_tables

    root = Path(args.records)
    write_tables(root, Path(args.out))
    records, reasons = read_records(root), read_reasons(root)
    shown = TABLE_NAMES if args.table == "all" else (args.table,)
    return "\n".join(f"{name}\n{plain_table(table_rows(name, records, reasons))}" for name in shown)


def _from_run(args: argparse.Namespace) -> int:
    from ..experiments.configs import config_names
    from ..experiments.records import write_record
    from ..experiments.tables import write_tables

    if not (args.from_run and args.name):
        raise UsageError("--from-run RUN and --name NAME go together")
    if args.table:
        raise UsageError("--from-run makes one record; leave TABLE out")
    given = {"--set": args.overrides, "--only": args.only, "--again": args.again}
    idle = [option for option, value in given.items() if value]
    if idle:
        raise UsageError(f"--from-run trains nothing; leave {', '.join(idle)} out")
    folder = write_record(args.from_run, args.records, args.name, note=args.note)
    write_tables(Path(args.records), Path(args.out))
    known = "" if args.name in config_names() else f" (there is no configs/{args.name}.yaml)"
    say(f"recorded in {folder}{known}\n")
    return 0


def _listing(records: Path) -> str:
    from ..experiments.published import TABLE_NAMES
    from ..experiments.records import has_record
    from ..experiments.reproduce import names_of
    from ..experiments.tables import plain_table

    rows = [["table", "config", "record"]]
    for table in TABLE_NAMES:
        for k, name in enumerate(names_of(table)):
            there = str(records / name) if (records / name / "record.json").is_file() else ""
            if there and not has_record(records, name):
                there += ", of an earlier model"
            rows.append([table if k == 0 else "", name, there])
    return plain_table(rows)
