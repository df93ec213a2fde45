"""``planegraph draw GRAPH -o FILE``: a graph with its block-cut tree and SPQR trees, as a page or a still picture."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from ..drawing.drawing import SUFFIXES, Drawing, draw
from ..errors import MissingDependencyError, NotPlanarError, PlanegraphError
from ..graphs.formats.files import parse
from ..graphs.formats.molecules import mol_from_smiles
from .inputs import bad_graph, is_text, one_entry
from .messages import UsageError, complain, say
from .options import add_command, add_format, add_quiet, whole_number


def add_parser(commands: Any) -> None:
    description = (
        "Draw a planar graph with its block-cut tree and its SPQR trees: as a page to explore (.html), which loads nothing, or as a "
        "still picture (.svg). Of a graph of more than 5,000 nodes, the largest block that fits is drawn."
    )
    parser = add_command(commands, "draw", run, "a page or picture of a graph and its decomposition", description)
    text = "a SMILES, a graph in graph6, a file with one graph, or - for standard input"
    parser.add_argument("graph", metavar="GRAPH", help=text)
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="the page (.html) or the picture (.svg)")
    add_format(parser)
    parser.add_argument("--block", type=whole_number(0), metavar="B", help="draw only this block, by its number in decompose")
    parser.add_argument("--title", help="the title (default: what was given)")
    add_quiet(parser, "print nothing")


def run(args: argparse.Namespace) -> int:
    if Path(args.output).suffix.lower() not in SUFFIXES:
        raise UsageError(f"-o {args.output}: a drawing is written as .html or .svg")
    title = args.title or (
        "standard input" if args.graph == "-" else Path(args.graph).name if os.path.exists(args.graph) else args.graph
    )
    try:
        drawing = _drawing(args, title)
    except NotPlanarError:
        raise UsageError(f"{args.graph}: the graph is not planar, so it has no drawing without crossings") from None
    except MissingDependencyError:  # not the graph's fault
        raise
    except PlanegraphError as error:
        raise bad_graph(args.graph, error) from None
    drawing.save(args.output)
    if not args.quiet:
        say(f"{args.output}: {drawing.summary}\n")
    return 0


def _drawing(args: argparse.Namespace, title: str) -> Drawing:
    format, text = one_entry(args.graph, args.format)
    if args.format is None and is_text(args.graph):
        format = _guess(text, args.stereo)
    if format != "smiles":
        return draw(parse(format, text, args.stereo), block=args.block, title=title)
    words = text.decode("utf-8", "replace").split(None, 1)
    return draw(mol_from_smiles(words[0] if words else ""), block=args.block, title=title, stereo=args.stereo)


def _guess(text: bytes, stereo: bool) -> str:
    """graph6 if the text is that, as for other commands; else SMILES. A few short texts are both. No SMILES begins with a colon."""
    if text.lstrip().startswith((b":", b">>")):
        return "graph6"
    try:
        parse("graph6", text, stereo)
    except PlanegraphError:
        return "smiles"
    try:
        parse("smiles", text, stereo)
    except PlanegraphError:
        return "graph6"
    complain("read as graph6; -f smiles draws the molecule")
    return "graph6"
