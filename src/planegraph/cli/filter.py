"""``planegraph filter`` prints the graphs that have a property; ``planegraph count`` prints how many have it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..decomposition.api import decompose_batch, planar_mask
from ..graphs.batch import GraphBatch
from ..graphs.formats.files import Entry, read_chunk
from .inputs import Problems, chunks
from .messages import repeat
from .options import add_command, add_input, add_quiet, whole_number

PROPERTIES: dict[str, str] = {
    "planar": "it can be drawn without crossings",
    "connected": "it has one component; a single node has, too",
    "biconnected": "it has two or more nodes, is connected, and stays so without any one node",
    "triconnected": "it has four or more nodes, is connected, and stays so without any two nodes",
}


def add_parsers(commands: Any) -> None:
    """Of both commands: they differ in what they print."""
    graphs = "A graph counts if it has all the properties that you name. A bad graph is named on stderr by its line and skipped."
    selecting = add_command(
        commands,
        "filter",
        run_filter,
        "graphs that are planar, biconnected, ...",
        f"Print the graphs that have a property. {graphs}",
    )
    counting = add_command(
        commands,
        "count",
        run_count,
        "how many graphs are planar, biconnected, ...",
        f"Print the number of graphs that have a property; without a property, the number of graphs and of those with each. {graphs}",
    )
    for parser in (selecting, counting):
        add_input(parser)
        for name, meaning in PROPERTIES.items():
            parser.add_argument(f"--{name}", dest="properties", action="append_const", const=name, default=[], help=meaning)
        parser.add_argument("--invert", action="store_true", help="the graphs that lack one of the properties")
        parser.add_argument("--threads", type=whole_number(1, 4096), metavar="N", help="default: all cores")
    add_quiet(selecting, "print nothing; only the exit code says whether there is such a graph")


def run_filter(args: argparse.Namespace) -> int:
    problems, passed = Problems(args.strict), False
    for entry, has in _judged(args, problems, args.properties):
        if all(has.values()) != args.invert:
            passed = True
            if not args.quiet:
                repeat(entry.shown() + ("\n\n" if "\n" in entry.shown() else "\n"))
    return 0 if passed and not problems.count else 1


def run_count(args: argparse.Namespace) -> int:
    problems, names = Problems(args.strict), args.properties or list(PROPERTIES)
    graphs, each, together = 0, dict.fromkeys(names, 0), 0
    for _, has in _judged(args, problems, names):
        graphs += 1
        together += all(has.values())
        for name in names:
            each[name] += has[name]
    if args.properties:
        repeat(f"{graphs - together if args.invert else together}\n")
    else:
        repeat(
            f"{graphs}\tgraphs\n"
            + "".join(f"{graphs - n if args.invert else n}\t{'not ' * args.invert}{name}\n" for name, n in each.items())
        )
    return 1 if problems.count else 0


def _judged(args: argparse.Namespace, problems: Problems, names: list[str]) -> Iterator[tuple[Entry, dict[str, bool]]]:
    """The good graphs in the order of the input, with the properties that they have; the bad ones are reported in their place."""
    for format, entries in chunks(args.files, args.format):
        batch, where, errors = read_chunk(format, entries, args.stereo)
        has = {name: mask.tolist() for name, mask in _properties(batch, names, args.threads).items()}
        row_of = {position: row for row, position in enumerate(where.tolist())}
        for i, entry in enumerate(entries):
            if i in errors:
                problems.report(entry, errors[i])
            else:
                yield entry, {name: mask[row_of[i]] for name, mask in has.items()}


def _properties(batch: GraphBatch, names: list[str], threads: int | None) -> dict[str, np.ndarray]:
    masks = {"planar": planar_mask(batch)} if "planar" in names else {}
    if set(names) - {"planar"}:
        connectivity = decompose_batch(batch, threads, "set").node_connectivity
        masks["connected"] = (connectivity > 0) | (np.diff(batch.node_ptr) == 1)
        masks["biconnected"] = (connectivity > 1) | ((connectivity == 1) & (np.diff(batch.node_ptr) == 2))
        masks["triconnected"] = connectivity > 2
    return {name: masks[name] for name in names}
