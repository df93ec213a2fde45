"""BasePlanE, and with edge features E-BasePlanE: L layers, a sum over the nodes per layer, an MLP."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from .config import PlanEConfig
from .layer import PlanELayer
from .model import GraphModel
from .ops.shared import shared
from .structure import Structure


class BasePlanE(GraphModel):
    """A complete invariant of planar graphs, learned.

    >>> import planegraph as pg
    >>> from planegraph.data import PackedDataset
    >>> batch = PackedDataset.from_graphs([pg.families.cycle(6), pg.families.prism(3)])[[0, 1]]
    >>> model = BasePlanE(PlanEConfig(hidden=16, layers=2))
    >>> model(batch).shape, model.embed(batch).shape, model.node_embeddings(batch).shape
    (torch.Size([2, 1]), torch.Size([2, 32]), torch.Size([12, 16]))
    """

    def __init__(self, config: PlanEConfig, replicas: int | None = None) -> None:
        super().__init__(config, replicas)
        self.layers: Any = nn.ModuleList(PlanELayer(config, replicas) for _ in range(config.layers))
        self._add_readout()

    def run_layers(self, h: Tensor, edges: Tensor | None, s: Structure) -> list[Tensor]:
        out, edges_of = [], [None] * len(self.layers)
        if edges is not None:
            edges_of = shared(edges, *(layer.kept_dtype(edges) for layer in self.layers))
        for layer, its_edges in zip(self.layers, edges_of, strict=True):
            h = layer(h, its_edges, s)
            out.append(h)
        return out
