"""``planegraph decompose``: the block-cut tree and the SPQR trees of each graph, as a tree of text or as JSON."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from ..decomposition.api import decompose
from ..decomposition.objects import Decomposition
from ..decomposition.render import render
from ..errors import MissingDependencyError, PlanegraphError
from ..graphs.formats.files import parse
from .inputs import Problems, chunks
from .messages import say
from .options import add_command, add_input, whole_number

_SPQR_NODE = ("type", "nodes", "edges", "walk", "walk_edges", "kappa", "positions", "parent", "theta", "level", "block", "is_set")


def add_parser(commands: Any) -> None:
    description = "Show the decomposition of each graph. A bad graph is named on stderr by its line and skipped."
    parser = add_command(commands, "decompose", run, "blocks, cut nodes and SPQR trees", description)
    add_input(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object a line per graph")
    parser.add_argument(
        "--on-nonplanar",
        choices=("raise", "set"),
        default="raise",
        help="report a graph that is not planar (the default), or encode its non-planar parts as plain sets",
    )
    limit = whole_number(1, sys.maxsize)
    parser.add_argument("--max-lines", type=limit, default=200, metavar="N", help="cut a longer tree off (default 200)")


def run(args: argparse.Namespace) -> int:
    problems = Problems(args.strict)
    for format, entries in chunks(args.files, args.format):
        for entry in entries:
            try:
                d = decompose(parse(format, entry.text, args.stereo), args.on_nonplanar)
            except MissingDependencyError:  # not the graph's fault
                raise
            except PlanegraphError as error:
                problems.report(entry, error)
                continue
            if args.json:
                line = {"source": entry.source, "line": entry.line, **as_json(d)}
                sys.stdout.write(json.dumps(line, separators=(",", ":")) + "\n")
            else:
                say(f"{entry.source}:{entry.line}: {render(d, args.max_lines)}\n")
    return 1 if problems.count else 0


def as_json(d: Decomposition) -> dict[str, Any]:
    """Plain lists and dicts; nodes are numbers, ``names`` are their names in the input."""
    names = d.graph.names
    return {
        "num_nodes": d.graph.num_nodes,
        "edges": d.graph.edges.tolist(),
        **({"names": names.tolist()} if names is not None else {}),
        "counts": d.counts,
        "blocks": [
            {name: getattr(b, name) for name in ("nodes", "edges", "root", "spqr_nodes", "level", "parent_cut")} for b in d.blocks
        ],
        "cut_nodes": [{name: getattr(c, name) for name in ("node", "blocks", "level", "parent_block")} for c in d.cut_nodes],
        "spqr_nodes": [
            {name: [e._asdict() for e in c.edges] if name == "edges" else getattr(c, name) for name in _SPQR_NODE}
            for c in d.spqr_nodes
        ],
    }
