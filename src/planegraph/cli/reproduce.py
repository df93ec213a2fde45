"""``planegraph reproduce TABLE`` trains what a table of the paper holds, and keeps a record of each row;
``planegraph tables`` writes docs/results.md from the records."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import PlanegraphError
from ..io.text import columns
from ..processes import first_process
from .messages import UsageError, complain, remark, say
from .options import EXIT_CODES, TRAINING, add_command, add_data, add_device, add_overrides, add_quiet, check_device

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


def add_parsers(commands: Any) -> None:
    """Declares both commands."""
    parser = add_command(
        commands,
        "reproduce",
        run,
        "regenerate a table of the paper",
        "Train the rows of a table that have no record yet, write a record of each (records/NAME), then the tables "
        "(docs/results.md). An interrupted run is resumed.",
        _EXAMPLES + TRAINING,
    )
    parser.add_argument("table", nargs="?", metavar="TABLE", help="a table, or all; --list shows them")
    parser.add_argument("--list", action="store_true", help="show the tables, their configs, and which have records")
    parser.add_argument("--only", metavar="NAME", help="only this row of the table")
    _add_places(parser)
    parser.add_argument("--runs", metavar="DIR", default="runs", help="folder of the runs (default: runs)")
    add_data(parser, "--data-root")
    add_device(parser)
    add_overrides(parser, "replace settings; the tables say so")
    parser.add_argument("--again", action="store_true", help="also train rows that have a record")
    parser.add_argument(
        "--from-run",
        metavar="RUN",
        nargs="+",
        help="make a record of a finished run's folder, and train nothing; of several (runs or records) if their seeds follow one another",
    )
    parser.add_argument("--name", metavar="NAME", help="with --from-run: the record's name, that of its config")
    parser.add_argument("--note", metavar="TEXT", default="", help="with --from-run: a remark for readers of the tables")
    add_quiet(parser)
    tables = add_command(
        commands,
        "tables",
        run_tables,
        "write the results from the records",
        "Write the tables of results from the records, each of which is checked. With --check write nothing: exit with 1 if the file "
        "does not agree with the records.",
        EXIT_CODES,
    )
    _add_places(tables)
    tables.add_argument("--check", action="store_true", help="compare, and write nothing")


def _add_places(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--records", metavar="DIR", default="records", help="folder of the records (default: records)")
    parser.add_argument("--out", metavar="FILE", default="docs/results.md", help="file of the tables (default: docs/results.md)")


def run_tables(args: argparse.Namespace) -> int:
    from ..experiments.tables import difference, write_tables

    records, out = Path(args.records), Path(args.out)
    if args.check:
        found = difference(records, out)
        if found:
            complain(found)
            return 1
        say(f"{out} agrees with the records in {records}\n")
    else:
        write_tables(records, out)
        say(f"wrote {out}\n")
    return 0


def run(args: argparse.Namespace) -> int:
    if args.list:
        say(_listing(Path(args.records)))
        return 0
    if args.from_run or args.name:
        return _from_run(args)
    if args.note:
        raise UsageError("--note goes with --from-run RUN; a record that is trained here has none")
    if not args.table:
        raise UsageError("which table? planegraph reproduce --list shows them")
    return _reproduce(args)


def _reproduce(args: argparse.Namespace) -> int:
    from ..experiments.reproduce import jobs_of, names_of, reproduce, settings_of
    from ..runs.errors import DivergedError, Stopped

    plan, failed = _plan(args), 0
    try:
        jobs = jobs_of(names_of(args.table, args.only))
        for config in jobs:
            settings_of(config, plan)
    except PlanegraphError as error:
        raise UsageError(str(error)) from None
    for k, (config, rows) in enumerate(jobs.items()):
        if len(jobs) > 1:
            plan.say(f"{k + 1} of {len(jobs)}")
        try:
            reproduce(config, rows, plan)
        except Stopped as stop:
            raise Stopped(str(stop).replace("--resume continues it", "the same command continues it"), stop.signal) from None
        except (DivergedError, PlanegraphError) as error:
            if len(jobs) == 1 and not isinstance(error, DivergedError):
                raise
            complain(f"{config}: {error}")
            failed = 3 if isinstance(error, DivergedError) else failed or 2
    if first_process():
        say(_tables(args))
    return failed


def _plan(args: argparse.Namespace) -> Plan:
    from ..experiments.reproduce import Plan

    check_device(args.device)
    return Plan(
        Path(args.records),
        Path(args.runs),
        args.data,
        args.device,
        args.overrides,
        args.again,
        not args.quiet,
        (lambda text: None) if args.quiet else remark,
    )


def _tables(args: argparse.Namespace) -> str:
    """Writes the tables, and returns the rows of this one for the terminal."""
    from ..experiments.published import TABLE_NAMES
    from ..experiments.records import read_records
    from ..experiments.tables import table_rows, write_tables

    root = Path(args.records)
    write_tables(root, Path(args.out))
    records = read_records(root)
    shown = TABLE_NAMES if args.table == "all" else (args.table,)
    return "\n".join(f"{name}\n{columns(table_rows(name, records))}" for name in shown)


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

    rows = [["table", "config", "record"]]
    for table in TABLE_NAMES:
        for k, name in enumerate(names_of(table)):
            there = str(records / name) if (records / name / "record.json").is_file() else ""
            if there and not has_record(records, name):
                there += ", of an earlier model"
            rows.append([table if k == 0 else "", name, there])
    return columns(rows)
