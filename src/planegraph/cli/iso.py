"""``planegraph iso A B``: are two graphs isomorphic? The exit code answers."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from ..canonical.form import isomorphism
from ..errors import NotPlanarError, PlanegraphError
from ..graphs.formats.files import parse
from ..graphs.graph import Graph
from .inputs import bad_graph, one_entry
from .messages import UsageError, repeat
from .options import add_command, add_format, add_quiet


def add_parser(commands: Any) -> None:
    description = "Say whether two planar graphs are isomorphic (for molecules: atoms, bonds and stereochemistry included)."
    parser = add_command(commands, "iso", run, "whether two graphs are isomorphic", description)
    for name in ("A", "B"):
        parser.add_argument(name, help="a file with one graph, - for standard input, or else the graph itself as text")
    add_format(parser)
    parser.add_argument("--mapping", action="store_true", help="also print the node of B for each node of A, one pair a line")
    add_quiet(parser, "print nothing; only the exit code answers")


def run(args: argparse.Namespace) -> int:
    if args.A == args.B == "-":
        raise UsageError("only one of the two graphs can come from standard input")
    g, h = (_read(name, args.format, args.stereo) for name in (args.A, args.B))
    try:
        mapping = isomorphism(g, h)
    except NotPlanarError:
        raise UsageError("planegraph decides isomorphism of planar graphs only, and one of these is not planar") from None
    if not args.quiet:
        sys.stdout.write("not isomorphic\n" if mapping is None else "isomorphic\n")
        if args.mapping and mapping is not None:
            for v, w in mapping.items() if isinstance(mapping, dict) else enumerate(mapping.tolist()):
                repeat(f"{v}\t{w}\n")
    return 1 if mapping is None else 0


def _read(argument: str, format: str | None, stereo: bool) -> Graph:
    try:
        return parse(*one_entry(argument, format), stereo)
    except PlanegraphError as error:
        raise bad_graph(argument, error) from None
