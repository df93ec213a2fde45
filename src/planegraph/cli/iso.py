"""``planegraph iso A B``: are two graphs isomorphic? The exit code answers."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from ..canonical.form import isomorphism
from ..errors import NotPlanarError, PlanegraphError
from ..graphs.graph import Graph
from .formats import UsageError, add_format_argument, chunks, parse
from .messages import repeat


def add_parser(commands: argparse._SubParsersAction, epilog: str) -> None:
    parser = commands.add_parser(
        "iso",
        help="whether two graphs are isomorphic",
        description="Say whether two planar graphs are isomorphic (for molecules: atoms, bonds and stereochemistry included).",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for name in ("A", "B"):
        parser.add_argument(name, help="a file with one graph, - for standard input, or else the graph itself as text")
    add_format_argument(parser)
    parser.add_argument("--mapping", action="store_true", help="also print the node of B for each node of A, one pair a line")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing; only the exit code answers")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    if args.A == args.B == "-":
        raise UsageError("only one of the two graphs can come from standard input")
    (g, g_names), (h, h_names) = (_read(name, args.format, args.stereo) for name in (args.A, args.B))
    try:
        mapping = isomorphism(g, h)
    except NotPlanarError:
        raise UsageError("planegraph decides isomorphism of planar graphs only, and one of these is not planar") from None
    if not args.quiet:
        sys.stdout.write("not isomorphic\n" if mapping is None else "isomorphic\n")
        if args.mapping and mapping is not None:
            for v, w in enumerate(mapping.tolist()):
                repeat(f"{g_names[v] if g_names else v}\t{h_names[w] if h_names else w}\n")
    return 1 if mapping is None else 0


def _read(argument: str, format: str | None, stereo: bool) -> tuple[Graph, list[str] | None]:
    try:
        if argument == "-" or (os.path.exists(argument) and not Path(argument).is_dir()):
            return _read_file(argument, format, stereo)
        return parse(format or "graph6", os.fsencode(argument), stereo)
    except PlanegraphError as error:
        raise UsageError(f"{argument}: {error}") from None


def _read_file(name: str, format: str | None, stereo: bool) -> tuple[Graph, list[str] | None]:
    records = [(kind, record) for kind, chunk in chunks([name], format) for record in chunk]
    if len(records) != 1:
        raise UsageError(f"{name} must hold one graph; found {len(records)}")
    kind, record = records[0]
    return parse(kind, record.text, stereo)
