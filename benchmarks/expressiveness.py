"""The paper's theorem on untrained models: ceil(log2 n) + 1 layers of BasePlanE distinguish all planar graphs; GIN for comparison.

The layers are the paper's: no norms, not residual. Weights are initial, in float64. The gap of two graphs is
|a - b| / max(|a|, |b|) of their embeddings; they are distinguished if it exceeds 1e-8, far above rounding, which makes gaps of 1e-15.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from closest import closest_pair, count_close
from connected_planar import COUNTS, up_to

from planegraph import datasets
from planegraph.data import PackedDataset, PackedLoader
from planegraph.data.sizes import Features
from planegraph.nn import GIN, BasePlanE, GraphModel, PlanEConfig

GAP = 1e-8
_BATCH = 2048
Say = Callable[[str], None]


def measure(data_root: str | None, device: torch.device, say: Say, nodes: int = 9) -> tuple[list[dict[str, Any]], str]:
    """A row for each set of graphs, and a note for readers."""
    rows = []
    for name, title in (("exp", "EXP"), ("cexp", "CEXP, planar pairs"), ("brec", "BREC, planar pairs")):
        task = datasets.get(name, data_root).task()
        rows.append({"set": title} | _pairs(task.dataset, task.node_features, device))
        say(_line(rows[-1]))
    batch = up_to(nodes)
    if len(batch) != sum(COUNTS[:nodes]):
        raise ValueError(f"found {len(batch)} connected planar graphs of up to {nodes} nodes, not {sum(COUNTS[:nodes])}: a bug")
    rows.append({"set": f"all connected planar graphs of up to {nodes} nodes"} | _all(PackedDataset.from_graphs(batch), device))
    say(_line(rows[-1]))
    return rows, "width 32, ceil(log2 n) + 1 layers for graphs of up to n nodes, no norm, not residual"


def untrained(cls: type[GraphModel], nodes: int, features: Features, device: torch.device) -> GraphModel:
    """A model for graphs of up to so many nodes, with its initial weights."""
    torch.manual_seed(0)
    layers = math.ceil(math.log2(nodes)) + 1
    config = PlanEConfig(node_features=features, hidden=32, layers=layers, norm="none", residual=False)
    return cls(config).double().eval().to(device)


def embeddings(model: GraphModel, dataset: PackedDataset, device: torch.device) -> np.ndarray:
    """A row for each graph."""
    with torch.no_grad():
        rows = [model.embed(batch).cpu() for batch in PackedLoader(dataset, _BATCH, device=device, prefetch=0)]
    return torch.cat(rows).numpy()


def _pairs(dataset: PackedDataset, features: Features, device: torch.device) -> dict[str, Any]:
    """Graphs 2i and 2i + 1 are a pair."""
    row: dict[str, Any] = {"graphs": len(dataset), "pairs": len(dataset) // 2}
    for cls in (BasePlanE, GIN):
        found = embeddings(untrained(cls, _largest(dataset), features, device), dataset, device)
        a, b = found[::2], found[1::2]
        gaps = np.linalg.norm(a - b, axis=1) / np.maximum(np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1))
        row |= _found(cls, int((gaps > GAP).sum()), float(gaps.min()))
    return row


def _all(dataset: PackedDataset, device: torch.device) -> dict[str, Any]:
    """Compares every graph with every other."""
    pairs = len(dataset) * (len(dataset) - 1) // 2
    row: dict[str, Any] = {"graphs": len(dataset), "pairs": pairs}
    for cls in (BasePlanE, GIN):
        found = embeddings(untrained(cls, _largest(dataset), None, device), dataset, device)
        row |= _found(cls, pairs - count_close(found, GAP), closest_pair(found).gap)
    return row


def _found(cls: type[GraphModel], pairs: int, gap: float) -> dict[str, Any]:
    return {f"distinguished by {cls.__name__}": pairs, f"smallest gap, {cls.__name__}": gap}


def _largest(dataset: PackedDataset) -> int:
    return int(np.diff(dataset.tables["node_ptr"]).max())


def _line(row: dict[str, Any]) -> str:
    found = ", ".join(f"{name} {row[f'distinguished by {name}']:,}" for name in ("BasePlanE", "GIN"))
    return f"{row['set']}, of {row['pairs']:,} pairs: {found}"
