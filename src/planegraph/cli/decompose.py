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
from .formats import Problems, add_input_arguments, chunks, parse, whole_number
from .messages import say


def add_parser(commands: argparse._SubParsersAction, epilog: str) -> None:
    parser = commands.add_parser(
        "decompose",
        help="blocks, cut nodes and SPQR trees",
        description="Show the decomposition of each graph. A bad graph is named on stderr by its line and skipped.",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_input_arguments(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object a line per graph")
    parser.add_argument(
        "--on-nonplanar",
        choices=("raise", "set"),
        default="raise",
        help="report a graph that is not planar (the default), or encode its non-planar parts as plain sets",
    )
    limit = whole_number(1, sys.maxsize)
    parser.add_argument("--max-lines", type=limit, default=200, metavar="N", help="cut a longer tree off (default 200)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    problems = Problems(args.strict)
    for kind, records in chunks(args.files, args.format):
        for record in records:
            try:
                graph, names = parse(kind, record.text, args.stereo)
                d = decompose(graph, args.on_nonplanar)
            except MissingDependencyError:  # no fault of the graph
                raise
            except PlanegraphError as error:
                problems.report(record, error)
                continue
            if args.json:
                line = {"source": record.source, "line": record.line, **as_json(d, names)}
                sys.stdout.write(json.dumps(line, separators=(",", ":")) + "\n")
            else:
                title = f"{record.source}:{record.line}"
                say(f"{title}: {render(d, names, args.max_lines)}\n")
    return 1 if problems.count else 0


def as_json(d: Decomposition, names: list[str] | None = None) -> dict[str, Any]:
    """Plain lists and dicts; nodes are numbers, ``names`` tells what they were called in the input."""
    return {
        "num_nodes": d.graph.num_nodes,
        "edges": d.graph.edges.tolist(),
        **({"names": names} if names is not None else {}),
        "counts": d.counts,
        "blocks": [
            {
                "nodes": b.nodes,
                "edges": b.edges,
                "root": b.root,
                "spqr_nodes": b.spqr_nodes,
                "level": b.level,
                "parent_cut": b.parent_cut,
            }
            for b in d.blocks
        ],
        "cut_nodes": [{"node": c.node, "blocks": c.blocks, "level": c.level, "parent_block": c.parent_block} for c in d.cut_nodes],
        "spqr_nodes": [
            {
                "type": c.type,
                "nodes": c.nodes,
                "edges": [e._asdict() for e in c.edges],
                "walk": c.walk,
                "walk_edges": c.walk_edges,
                "kappa": c.kappa,
                "positions": c.positions,
                "parent": c.parent,
                "theta": c.theta,
                "level": c.level,
                "block": c.block,
                "is_set": c.is_set,
            }
            for c in d.spqr_nodes
        ],
    }
