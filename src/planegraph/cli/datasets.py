"""``planegraph datasets``: which datasets there are, what they are made of, and whether they are ready."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from ..errors import PlanegraphError
from ..io.text import columns
from .messages import UsageError, complain, say
from .options import add_command, add_data

if TYPE_CHECKING:
    from ..datasets import Dataset

_HEAD = ("name", "graphs", "nodes", "edges", "planar", "blocks", "S", "P", "R", "SPQR height", "block-cut height", "status")


def add_parser(commands: Any) -> None:
    parser = add_command(
        commands,
        "datasets",
        run,
        "the datasets: sizes, components, whether they are ready",
        "List the datasets: numbers of graphs, nodes and edges, how many graphs are planar, blocks, S, P and R nodes per graph, the "
        "largest heights of SPQR and block-cut trees, and whether the dataset is ready to be loaded. With names and --pack, make them "
        "ready: find or download their raw files and pack them; damaged files are packed again.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="these datasets only (default: all)")
    add_data(parser, "--root")
    parser.add_argument(
        "--cache", metavar="DIR", help="folder of the packed files (default: PLANEGRAPH_CACHE, else the user's cache)"
    )
    parser.add_argument(
        "--pack", action="store_true", help="pack those that are not ready or damaged; a missing raw file is an error"
    )
    parser.add_argument("--no-download", action="store_true", help="with --pack: use only raw files that are there")
    parser.add_argument("--json", action="store_true", help="one JSON object a line per dataset")


def run(args: argparse.Namespace) -> int:
    from ..datasets import DATASETS, get

    names = args.names or list(DATASETS)
    unknown = [name for name in names if name not in DATASETS]
    if unknown:
        raise UsageError(f"there is no dataset {unknown[0]!r}; there are {', '.join(DATASETS)}")
    found = [get(name, args.data, cache=args.cache, download=not args.no_download) for name in names]
    failed = sum(not _ready(dataset) for dataset in found) if args.pack else 0
    if args.json:
        for dataset in found:
            sys.stdout.write(json.dumps(as_json(dataset), separators=(",", ":")) + "\n")
    else:
        say(columns([_HEAD, *map(_row, found)], right=range(1, len(_HEAD) - 1)))
        _write_missing(found, explain=bool(args.names) and not args.pack)  # --pack has explained it on stderr
    return 1 if failed else 0


def as_json(dataset: Dataset) -> dict[str, Any]:
    """A dataset as a JSON object; ``summary`` is null until it is packed."""
    return {
        "name": dataset.name,
        "title": dataset.title,
        "status": dataset.status,
        "packed": str(dataset.packed_path()),
        "summary": dataset.summary,
    }


def _ready(dataset: Dataset) -> bool:
    """Packs the dataset if it is not packed or damaged, with and without edge features where it has any; returns whether that worked."""
    try:
        for edge_features in (True, False) if dataset.has_edge_features else (False,):
            damage = dataset.discard_damaged(edge_features)
            if damage:
                complain(f"{damage}. Packing it again")
            dataset.load(edge_features)
    except PlanegraphError as error:
        complain(str(error))
        return False
    return True


def _row(dataset: Dataset) -> tuple[str, ...]:
    s = dataset.summary
    if s is None:
        return (dataset.name, *[""] * (len(_HEAD) - 2), dataset.status)
    per_graph = [f"{s[what] / max(s['graphs'], 1):,.1f}" for what in ("blocks", "S", "P", "R")]
    all_planar, all_graphs = s.get("published_planar", s["planar"]), s.get("published_graphs", s["graphs"])
    planar = "all" if all_planar == all_graphs else f"{all_planar:,} of {all_graphs:,}"
    sizes = [f"{s[what]:,}" for what in ("graphs", "nodes", "edges")]
    return (dataset.name, *sizes, planar, *per_graph, str(s["spqr_height"]), str(s["block_cut_height"]), dataset.status)


def _write_missing(datasets: list[Dataset], explain: bool) -> None:
    """Prints what to fetch for datasets that were named; otherwise how to name one."""
    missing = [d for d in datasets if d.status != "ready" and d.how_to_get]
    if missing and not explain:
        say(f"\nplanegraph datasets {missing[0].name} says what to fetch and where to put it; --pack makes datasets ready\n")
    for dataset in missing if explain else []:
        say(f"\n{dataset.how_to_get}\n")
