"""``planegraph canon``: one canonical code or digest per graph; or the first graph of each isomorphism class; or how many."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from ..canonical.form import canonical_codes, digest
from ..decomposition.api import planar_mask
from ..errors import NotPlanarError
from .formats import Problems, Record, add_input_arguments, chunks, read_chunk, whole_number
from .messages import repeat


def add_parser(commands: argparse._SubParsersAction, epilog: str) -> None:
    parser = commands.add_parser(
        "canon",
        help="canonical codes; unique graphs; number of classes",
        description="Print the canonical digest of each graph, one a line: equal exactly when the graphs are isomorphic (atoms, bonds and "
        "stereochemistry of molecules included). A bad graph is named on stderr by its line and skipped.",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_input_arguments(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--digest", dest="code", action="store_false", help="print 32 hex digits per graph (the default)")
    form.add_argument("--code", action="store_true", help="print the whole code in hex; it rebuilds the graph")
    parser.add_argument("--with-input", action="store_true", help="print a tab and the input line after each code")
    parser.add_argument("--unique", action="store_true", help="print the first input line of each isomorphism class instead")
    parser.add_argument(
        "--count", action="store_true", help="print the number of classes instead; with --unique, the size of each before it"
    )
    parser.add_argument("--threads", type=whole_number(1, 4096), metavar="N", help="default: all cores")
    parser.set_defaults(run=run, code=False)


def run(args: argparse.Namespace) -> int:
    problems = Problems(args.strict)
    coded = _codes(args, problems)
    if args.unique or args.count:
        _classes(coded, args.unique, args.count)
    else:
        for code, record in coded:
            text = code.hex() if args.code else digest(code)
            _print(f"{text}\t{_one_line(record)}" if args.with_input else text)
    return 1 if problems.count else 0


def _codes(args: argparse.Namespace, problems: Problems) -> Iterator[tuple[bytes, Record]]:
    """Code and record of each good graph, in the order of the input; the bad ones are reported in their place."""
    for kind, records in chunks(args.files, args.format):
        batch, where, errors = read_chunk(kind, records, args.stereo)
        try:
            codes = canonical_codes(batch, args.threads)
        except NotPlanarError as error:
            planar = planar_mask(batch)
            errors |= dict.fromkeys(where[~planar].tolist(), error)
            batch, where = batch[planar], where[planar]
            codes = canonical_codes(batch, args.threads)
        code_at = dict(zip(where.tolist(), codes, strict=True))
        for i, record in enumerate(records):
            if i in errors:
                problems.report(record, errors[i])
            else:
                yield code_at[i], record


def _classes(coded: Iterator[tuple[bytes, Record]], unique: bool, count: bool) -> None:
    sizes: dict[bytes, int] = {}
    first: list[Record] = []
    for code, record in coded:
        known = sizes.get(code, 0)
        sizes[code] = known + 1
        if known == 0 and unique:
            if count:
                first.append(record)
            else:
                _print(_one_line(record))
    if unique and count:
        for size, record in zip(sizes.values(), first, strict=True):
            _print(f"{size}\t{_one_line(record)}")
    elif count:
        _print(str(len(sizes)))


def _one_line(record: Record) -> str:
    return record.shown().replace("\n", "; ")


def _print(text: str) -> None:
    repeat(text + "\n")
