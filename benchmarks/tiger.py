"""The running times of BasePlanE and GIN on TIGER-Alaska's graphs: from edge lists to packed arrays, then epochs by turns.

An epoch is one training step on a batch of two copies of the graph, as in the paper's code: the next batch, forward, mean squared error,
backward, Adam; one layer, width 32, no norm. Preprocessing runs on one core. All figures are medians of wall times; on a CPU with one
thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from measure import by_turns

from planegraph import GraphBatch
from planegraph.data import PackedDataset, PackedLoader
from planegraph.datasets.files import fetch
from planegraph.datasets.tiger import SIZES, TigerAlaska
from planegraph.nn import GIN, BasePlanE, GraphModel, PlanEConfig

Say = Callable[[str], None]


def measure(
    data_root: str | None, device: torch.device, say: Say, sizes: tuple[str, ...] = tuple(SIZES), repeats: int = 15
) -> tuple[list[dict[str, Any]], str]:
    """A row for each graph, and a note for readers."""
    dataset = TigerAlaska(data_root)
    graphs = dataset.read(fetch(dataset.files, dataset.root, dataset.name, dataset.download)).batch
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        rows = []
        for size in sizes:
            rows.append({"graph": size} | _row(graphs[list(SIZES).index(size)], device, repeats))
            say(", ".join(f"{name} {value}" for name, value in rows[-1].items()))
        return rows, f"medians of {repeats} repeats; an epoch is a step on two copies of the graph"
    finally:
        torch.set_num_threads(threads)


def _row(graph: Any, device: torch.device, repeats: int) -> dict[str, Any]:
    both = GraphBatch.from_graphs([graph, graph])
    one = GraphBatch.from_graphs([graph])

    def clock() -> float:
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        return time.perf_counter()

    packing = by_turns({"pack": lambda: PackedDataset.from_graphs(one, threads=1)}, repeats, clock=clock)["pack"]
    dataset = PackedDataset.from_graphs(both, y=np.array([0.0, 1.0], np.float32))
    torch.manual_seed(0)
    config = PlanEConfig(hidden=32, layers=1, norm="none", residual=False)
    epochs = {cls.__name__: _Epoch(cls(config).to(device), dataset, device) for cls in (BasePlanE, GIN)}
    found = by_turns(epochs, repeats, clock=clock)
    return {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "preprocessing, ms": 1e3 * packing,
        "epoch of BasePlanE, ms": 1e3 * found["BasePlanE"],
        "epoch of GIN, ms": 1e3 * found["GIN"],
        "BasePlanE / GIN": found["BasePlanE"] / found["GIN"],
    }


class _Epoch:
    """Each call is one epoch over the dataset in a single batch, loading included."""

    def __init__(self, model: GraphModel, dataset: PackedDataset, device: torch.device) -> None:
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters())
        self.loader = PackedLoader(dataset, len(dataset), shuffle=True, device=device, prefetch=0)

    def __call__(self) -> None:
        for batch in self.loader:
            self.optimizer.zero_grad()
            (self.model(batch).squeeze(-1) - batch.y).square().mean().backward()
            self.optimizer.step()
