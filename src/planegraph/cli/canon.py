"""``planegraph canon``: one canonical code or digest per graph; or the first graph of each isomorphism class; or how many."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from ..canonical.form import canonical_codes, digest
from ..decomposition.api import planar_mask
from ..errors import NotPlanarError
from ..graphs.formats.files import Entry, read_chunk
from .inputs import Problems, chunks
from .messages import repeat
from .options import add_command, add_input, whole_number


def add_parser(commands: Any) -> None:
    parser = add_command(
        commands,
        "canon",
        run,
        "canonical codes; unique graphs; number of classes",
        "Print the canonical digest of each graph, one a line: equal exactly when the graphs are isomorphic (atoms, bonds and "
        "stereochemistry of molecules included). A bad graph is named on stderr by its line and skipped.",
    )
    add_input(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--digest", dest="code", action="store_false", help="print 32 hex digits per graph (the default)")
    form.add_argument("--code", action="store_true", help="print the whole code in hex; it rebuilds the graph")
    parser.add_argument("--with-input", action="store_true", help="print a tab and the input line after each code")
    parser.add_argument("--unique", action="store_true", help="print the first input line of each isomorphism class instead")
    parser.add_argument(
        "--count", action="store_true", help="print the number of classes instead; with --unique, the size of each before it"
    )
    parser.add_argument("--threads", type=whole_number(1, 4096), metavar="N", help="default: all cores")
    parser.set_defaults(code=False)


def run(args: argparse.Namespace) -> int:
    problems = Problems(args.strict)
    coded = _codes(args, problems)
    if args.unique or args.count:
        _classes(coded, args.unique, args.count)
    else:
        for code, entry in coded:
            text = code.hex() if args.code else digest(code)
            _print(f"{text}\t{_one_line(entry)}" if args.with_input else text)
    return 1 if problems.count else 0


def _codes(args: argparse.Namespace, problems: Problems) -> Iterator[tuple[bytes, Entry]]:
    """Code and entry of each good graph, in the order of the input; the bad ones are reported in their place."""
    for format, entries in chunks(args.files, args.format):
        batch, where, errors = read_chunk(format, entries, args.stereo)
        try:
            codes = canonical_codes(batch, args.threads)
        except NotPlanarError as error:
            planar = planar_mask(batch)
            errors |= dict.fromkeys(where[~planar].tolist(), error)
            batch, where = batch[planar], where[planar]
            codes = canonical_codes(batch, args.threads)
        code_at = dict(zip(where.tolist(), codes, strict=True))
        for i, entry in enumerate(entries):
            if i in errors:
                problems.report(entry, errors[i])
            else:
                yield code_at[i], entry


def _classes(coded: Iterator[tuple[bytes, Entry]], unique: bool, count: bool) -> None:
    sizes: dict[bytes, int] = {}
    first: list[Entry] = []
    for code, entry in coded:
        known = sizes.get(code, 0)
        sizes[code] = known + 1
        if known == 0 and unique:
            if count:
                first.append(entry)
            else:
                _print(_one_line(entry))
    if unique and count:
        for size, entry in zip(sizes.values(), first, strict=True):
            _print(f"{size}\t{_one_line(entry)}")
    elif count:
        _print(str(len(sizes)))


def _one_line(entry: Entry) -> str:
    return entry.shown().replace("\n", "; ")


def _print(text: str) -> None:
    repeat(text + "\n")
