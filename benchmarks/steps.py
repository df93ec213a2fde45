"""Training steps as learning.py times them: the next batch, forward, loss, backward, Adam; ours, and GIN as PyG's users write it.

Needs torch; PyG only for the yardsticks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

import planegraph as pg

Loss = Callable[[Tensor, Tensor], Tensor]


def root_mean_square(output: Tensor, target: Tensor) -> Tensor:
    """The loss of QM9_CC."""
    return (torch.sigmoid(output) - target).square().mean().sqrt()


def mean_square(output: Tensor, target: Tensor) -> Tensor:
    return (output - target).square().mean()


class Step:
    """Each call is one training step on the loader's next batch, loading included; epochs follow one another."""

    def __init__(self, model: nn.Module, loader: Iterable[Any], loss: Loss) -> None:
        self.model, self.loss = model, loss
        self.optimizer = torch.optim.Adam(model.parameters(), fused=True)
        self.batches = self._endless(loader)

    @staticmethod
    def _endless(loader: Iterable[Any]) -> Iterator[Any]:
        while True:
            yield from loader

    def __call__(self) -> None:
        batch = next(self.batches)
        self.optimizer.zero_grad()
        self.loss(self.model(batch).squeeze(-1), batch.y).backward()
        self.optimizer.step()


class PlainGIN(nn.Module):
    """PyG's GIN on graphs without features: a learned vector at every node, sum pooling, a linear map."""

    def __init__(self, hidden: int, layers: int) -> None:
        from torch_geometric.nn import GIN, global_add_pool

        super().__init__()
        self.constant = nn.Parameter(torch.randn(hidden))
        self.layers, self.pool, self.out = GIN(hidden, hidden, layers), global_add_pool, nn.Linear(hidden, 1)

    def forward(self, data: Any) -> Tensor:
        h = self.layers(self.constant.expand(data.num_nodes, -1), data.edge_index)
        return self.out(self.pool(h, data.batch, data.num_graphs))


def pyg_data(batch: pg.GraphBatch, y: np.ndarray, decomposed: bool = False) -> list[Any]:
    """The graphs as PyG's ``Data``, labels as features; or, decomposed, as ``PlanarData``."""
    from torch_geometric.data import Data

    from planegraph.transforms import Planar

    transform = Planar() if decomposed else None
    found = []
    for i, g in enumerate(batch):
        both = np.concatenate([g.edges, g.edges[:, ::-1]]).T
        data = Data(edge_index=torch.from_numpy(np.ascontiguousarray(both)), num_nodes=g.num_nodes, y=torch.tensor([float(y[i])]))
        if g.node_labels is not None:
            data.x = torch.tensor(g.node_labels)
        if g.edge_labels is not None:
            data.edge_attr = torch.from_numpy(np.concatenate([g.edge_labels, g.edge_labels]))
        found.append(data if transform is None else transform(data))
    return found
