"""GCN, GIN and GINE on the same batches, features, pooling and readout as PlanE: comparisons share everything but the layers.

The layers are PyG's own ``GCNConv``, ``GINConv`` and ``GINEConv``; they read only the neighbours.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from ..errors import MissingDependencyError
from .config import PlanEConfig
from .mapped import Mapped
from .mlp import MLP
from .model import GraphModel
from .structure import Structure


def _convolutions() -> Any:
    try:
        from torch_geometric.nn import conv
    except ImportError:
        raise MissingDependencyError("the baselines are PyG's layers: pip install torch-geometric") from None
    return conv


class Baseline(GraphModel):
    """Message passing along edges; subclasses say with which layer."""

    reads_edges = False

    def __init__(self, config: PlanEConfig, replicas: int | None = None) -> None:
        if replicas is not None:
            raise ValueError(f"{type(self).__name__} is made of PyG's layers, which have no replicas")
        if self.reads_edges and config.edge_features is None:
            raise ValueError(f"{type(self).__name__} reads edge features; the config has none. Use GIN")
        super().__init__(config)
        if not self.reads_edges:
            self.edge_encoder = None
        self.layers = nn.ModuleList(self.make_layer(config) for _ in range(config.layers))
        self._add_readout()

    def make_layer(self, config: PlanEConfig) -> nn.Module:
        """One of PyG's layers."""
        raise NotImplementedError

    @staticmethod
    def _mlp(config: PlanEConfig) -> MLP:
        return MLP(config.hidden, config.hidden, config.width, depth=config.mlp_depth, norm=config.norm)

    def run_layers(self, h: Mapped, edges: Mapped | None, s: Structure) -> list[Mapped]:
        if s.layout.padded:
            raise ValueError("the baselines read batches without padding")
        edge_index = torch.stack([s.batch.dart_source, s.batch.dart_target]).long()
        of_darts = () if edges is None else (edges.value().index_select(0, s.batch.dart_row),)
        x, out = h.value(), []
        for layer in self.layers:
            x = torch.relu(layer(x, edge_index, *of_darts))
            out.append(Mapped(x))
        return out


class GCN(Baseline):
    """h_u = relu( W sum over v in N_u and u of h_v / sqrt(d_u d_v) )."""

    def make_layer(self, config: PlanEConfig) -> nn.Module:
        return _convolutions().GCNConv(config.hidden, config.hidden)


class GIN(Baseline):
    """h_u = relu( MLP( (1 + eps) h_u + sum over v in N_u of h_v ) )."""

    def make_layer(self, config: PlanEConfig) -> nn.Module:
        return _convolutions().GINConv(self._mlp(config), train_eps=True)


class GINE(Baseline):
    """h_u = relu( MLP( (1 + eps) h_u + sum over v in N_u of relu(h_v + e_vu) ) )."""

    reads_edges = True

    def make_layer(self, config: PlanEConfig) -> nn.Module:
        return _convolutions().GINEConv(self._mlp(config), train_eps=True)
