"""Learning on the nodes of one map: what message passing cannot see, and what it sees less well. `python examples/nodes.py`, some minutes.

Two maps of 100,000 nodes or more, trained on as a whole, and judged on their test nodes and on a second map that is drawn anew:

- `blocks`: rings and polyhedra, each joined to others by one road at every node. How many nodes has the block that a node lies on? Every
  node has three neighbours and no features, so GIN gives all nodes one output, whatever its weights.
- `closures`: streets with lengths. How much of the network is cut off when a junction is closed (the logarithm of the length in units of
  100 m)? The baselines are the mean, and GINE of the same size with three times the layers.

`planegraph train nodes:blocks`, in this folder, trains on one of them by the command, with its report.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

import planegraph as pg
from planegraph.nn import GIN, GINE, BasePlanE, GraphModel
from planegraph.tasks import Task
from planegraph.tasks.metrics import figures
from planegraph.train import settings_for, train
from planegraph.train.metrics import answers, truths

MODELS: dict[str, type[GraphModel]] = {"BasePlanE": BasePlanE, "GIN": GIN, "GINE": GINE}


# ---- blocks ---------------------------------------------------------------------------------------------------------------------


def blocks(nodes: int = 100_000, seed: int = 0) -> Task:
    """The number of nodes of the ring or polyhedron that a node lies on, from 3 to 9: classes 0 to 6."""
    graph, sizes = block_map(nodes, seed)
    return Task.from_nodes(graph, sizes - 3, kind="multiclass", name="blocks", seed=seed)


def block_map(nodes: int, seed: int) -> tuple[pg.Graph, np.ndarray]:
    """A connected planar map in which every node has three neighbours, and the size of each node's block; about so many nodes."""
    rng = np.random.default_rng(seed)
    ends = [_with_a_stub(pg.families.wheel(3)), _with_a_stub(pg.families.prism(3)), _with_a_stub(pg.families.prism(4))]
    average = np.mean([size for size, _ in ends])
    edges, sizes, open_nodes = [_ring(0, 6)], [6] * 6, list(range(6))
    while open_nodes:
        node, first = open_nodes.pop(int(rng.integers(len(open_nodes)))), len(sizes)
        if len(sizes) + average * len(open_nodes) < nodes:
            size = int(rng.integers(3, 9))
            part = _ring(0, size)
            open_nodes += range(first + 1, first + size)
        else:
            size, part = ends[int(rng.integers(len(ends)))]
        edges += [part + first, np.array([[node, first]])]
        sizes += [size] * size
    return pg.Graph(len(sizes), np.concatenate(edges)), np.array(sizes)


def _ring(first: int, size: int) -> np.ndarray:
    around = np.arange(size)
    return first + np.stack([around, (around + 1) % size], 1)


def _with_a_stub(polyhedron: pg.Graph) -> tuple[int, np.ndarray]:
    """Size and edges with one edge subdivided by a node, number 0, which has room for a third neighbour."""
    (u, v), *others = polyhedron.edges.tolist()
    return polyhedron.num_nodes + 1, np.array([*others, (u, -1), (-1, v)]) + 1


# ---- closures -------------------------------------------------------------------------------------------------------------------


def closures(side: int = 360, seed: int = 0) -> Task:
    """The logarithm of 1 + the length of the streets that are cut off when a junction is closed."""
    streets = street_map(side, seed)
    return Task.from_nodes(streets, np.log1p(cut_off(streets)), name="closures", names=["log(1 + length)"], metric="r2", seed=seed)


def street_map(side: int, seed: int) -> pg.Graph:
    """The largest connected part of a grid in which 55 % of the streets are kept; lengths are log-normal, around 100 m = 1."""
    rng, grid = np.random.default_rng(seed), pg.families.grid(side, side)
    edges = grid.edges[rng.random(grid.num_edges) < 0.55]
    part = _components(grid.num_nodes, edges)
    kept = part == np.bincount(part).argmax()
    edges, number = edges[kept[edges[:, 0]]], np.cumsum(kept) - 1
    lengths = rng.lognormal(0, 0.5, len(edges)).astype(np.float32)
    return pg.Graph(int(kept.sum()), number[edges], edge_labels=lengths)


def _components(nodes: int, edges: np.ndarray) -> np.ndarray:
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    return connected_components(coo_matrix((np.ones(len(edges)), edges.T), (nodes, nodes)), directed=False)[1]


def cut_off(streets: pg.Graph) -> np.ndarray:
    """For each node the length of all streets outside the largest part that is left without it: from the block-cut tree, O(n)."""
    d, lengths = pg.decompose(streets), streets.edge_labels[:, 0].astype(float)
    a = d.arrays
    below = np.bincount(d.edge_block, lengths, len(a["block_level"]))  # of each block with all that hangs below it
    hanging, most = np.zeros(len(a["cut_node"])), np.zeros(len(a["cut_node"]))  # below each cut node, and the largest part of it
    for level in range(max(a["block_level"].max(), a["cut_level"].max(initial=0)) + 1):
        cuts = np.flatnonzero((a["cut_level"] == level) & (a["cut_parent_block"] >= 0))
        np.add.at(below, a["cut_parent_block"][cuts], hanging[cuts])
        rows = np.flatnonzero((a["block_level"] == level) & (a["block_parent_cut"] >= 0))
        np.add.at(hanging, a["block_parent_cut"][rows], below[rows])
        np.maximum.at(most, a["block_parent_cut"][rows], below[rows])
    found = np.zeros(streets.num_nodes)
    found[a["cut_node"]] = lengths.sum() - np.maximum(most, lengths.sum() - hanging)
    return found


# ---- training and judging -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A model on a task: its figure on the test nodes of the map, and on all nodes of another map."""

    task: str
    model: str
    parameters: int
    metric: str
    test: float
    other: float
    seconds: float


def compare(
    make: Callable[..., Task], size: int, models: dict[str, list[str]], metric: str, device: str | None = None
) -> list[Row]:
    """Trains each model, with its settings, on the map of seed 0, and judges it there and on that of seed 1."""
    task, other, rows = make(size), make(size, seed=1), [_constant(make(size), make(size, seed=1), metric)]
    for name, overrides in models.items():
        settings = settings_for(task, [f"model_class={name}", *overrides])
        with tempfile.TemporaryDirectory() as folder:
            result = train(task, settings, folder, device=device, show=True, report=False)
            model = MODELS[name].from_pretrained(Path(folder) / "models" / "seed0")
        count = sum(p.numel() for p in model.parameters())
        rows.append(Row(task.name, name, count, metric, result["test"]["mean"], _judged(model, other, metric), result["seconds"]))
    return rows


def _judged(model: GraphModel, task: Task, metric: str) -> float:
    """On all nodes of a map. The model's answers are in units, as those of the map it was trained on."""
    with torch.no_grad():
        raw = model(task.dataset[:]).double()
    found = raw.numpy() if task.kind == "regression" else answers(task, raw)
    return figures(task.kind, truths(task, torch.from_numpy(task.y))[:, 0], found if task.kind == "multiclass" else found[:, 0])[
        metric
    ]


def _constant(task: Task, other: Task, metric: str) -> Row:
    """The best answer that is the same for all nodes: the most frequent class of the training nodes, or their mean."""
    y, z = (truths(t, torch.from_numpy(t.y))[:, 0] for t in (task, other))
    known = y[task.splits["train"]]

    def judged(true: np.ndarray) -> float:
        if task.kind == "regression":
            return figures(task.kind, true, np.full(len(true), known.mean()))[metric]
        return float((true == np.bincount(known.astype(int)).argmax()).mean())

    return Row(task.name, "a constant", 0, metric, judged(y[task.splits["test"]]), judged(z), 0.0)


def table(rows: list[Row]) -> str:
    lines = ["| task | model | parameters | figure | test nodes | another map | training |", "|---|---|--:|---|--:|--:|--:|"]
    for r in rows:
        seconds = f"{r.seconds:.0f} s" if r.seconds else "-"
        lines.append(f"| {r.task} | {r.model} | {r.parameters:,} | {r.metric} | {r.test:.3f} | {r.other:.3f} | {seconds} |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> list[Row]:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--blocks", type=int, default=100_000, metavar="NODES", help="nodes of the first maps, about")
    parser.add_argument("--side", type=int, default=360, help="of the grid that the second maps are cut from")
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--device", help="cpu or cuda; by default a GPU if there is one")
    args = parser.parse_args(arguments)
    common = [f"train.epochs={args.epochs}", "train.eval_every=5"]
    plane = [["model.hidden=32", f"model.layers={layers}", *common] for layers in (1, 2)]
    others = [["model.hidden=32", "model.layers=9", *common], ["model.hidden=60", "model.layers=6", *common]]  # of about that size
    one, two = {"BasePlanE": plane[0], "GIN": others[0]}, {"BasePlanE": plane[1], "GINE": others[1]}
    rows = compare(blocks, args.blocks, one, "accuracy", args.device) + compare(closures, args.side, two, "r2", args.device)
    print(table(rows))
    return rows


if __name__ == "__main__":
    main()
