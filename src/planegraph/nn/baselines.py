"""GCN, GIN and GINE on the same batches, features, pooling and readout as PlanE: comparisons share everything but the layers.

The layers read only the neighbours. They are the functions of PyG's ``GCNConv``, ``GINConv`` and ``GINEConv``, down to the names of the
weights, made of the sums and maps of this folder: they take padded batches and replicas, and nothing waits for a device. A layer costs
O(darts * hidden) and the product of its maps. GCN and GIN read no edge features, whatever the config and the batch have; GINE does.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from .config import PlanEConfig
from .dropout import make_dropout
from .mlp import MLP
from .model import GraphModel
from .ops.linear import linear
from .structure import Structure


class GCNLayer(nn.Module):
    """W times the sum over v in N_u and u of h_v / sqrt(d_u d_v), plus b; d counts the node itself.

    Shapes:
        h (N, hidden) -> (N, hidden).
    """

    def __init__(self, config: PlanEConfig, replicas: int | None = None) -> None:
        super().__init__()
        d, lead = config.hidden, () if replicas is None else (replicas,)
        self.lin = nn.ParameterDict({"weight": nn.Parameter(torch.empty(*lead, d, d))})
        self.bias = nn.Parameter(torch.empty(*lead, d))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weights uniform within sqrt(3 / hidden), as Glorot and Bengio draw them, biases 0."""
        bound = math.sqrt(3 / self.bias.shape[-1])
        nn.init.uniform_(self.lin["weight"], -bound, bound)
        nn.init.zeros_(self.bias)

    def __repr__(self) -> str:
        return f"GCNLayer({self.bias.shape[-1]})"

    def forward(self, h: Tensor, edges: Tensor | None, s: Structure) -> Tensor:
        scale = torch.rsqrt(s.degree + 1)
        x = linear(h, self.lin["weight"]) * scale
        return torch.addcmul(self.bias.unsqueeze(-2), x + s.neighbours @ x, scale)


class GINLayer(nn.Module):
    """MLP( (1 + eps) h_u + sum over v in N_u of h_v ); eps is learned, and 0 at first.

    Shapes:
        h (N, hidden), edges (F, hidden) or None -> (N, hidden).
    """

    def __init__(self, config: PlanEConfig, replicas: int | None = None) -> None:
        super().__init__()
        self.nn = MLP(config.hidden, config.hidden, config.norm, replicas, momentum=config.norm_momentum, ends=False)
        self.eps = nn.Parameter(torch.zeros(*(() if replicas is None else (replicas,)), 1))

    def reset_parameters(self) -> None:
        """A new MLP; eps is 0 again."""
        self.nn.reset_parameters()
        nn.init.zeros_(self.eps)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.nn})"

    def forward(self, h: Tensor, edges: Tensor | None, s: Structure) -> Tensor:
        own = 1 + self.eps.unsqueeze(-1)
        return self.nn(torch.addcmul(self.neighbours(h, edges, s), h, own), mask=s.node_mask)

    def neighbours(self, h: Tensor, edges: Tensor | None, s: Structure) -> Tensor:
        """The sum over the neighbours of each node."""
        return s.neighbours @ h


class GINELayer(GINLayer):
    """MLP( (1 + eps) h_u + sum over v in N_u of relu(h_v + e_vu) )."""

    def neighbours(self, h: Tensor, edges: Tensor | None, s: Structure) -> Tensor:
        return s.node_darts @ torch.relu(s.dart_source @ h + s.dart_row @ edges)


class Baseline(GraphModel):
    """Message passing along edges, a ReLU (and dropout) after each layer, added to h if residual; subclasses say with which layer."""

    layer: type[nn.Module]
    reads_edges = reads_walks = False

    def __init__(self, config: PlanEConfig, replicas: int | None = None) -> None:
        super().__init__(config, replicas)
        if self.reads_edges and config.edge_features is None:
            raise ValueError(f"{type(self).__name__} reads edge features; the config has none. Use GIN")
        self.layers = nn.ModuleList(self.layer(config, replicas) for _ in range(config.layers))
        self.dropout = make_dropout(config.dropout, replicas)
        self._add_readout()

    def run_layers(self, h: Tensor, edges: Tensor | None, s: Structure) -> list[Tensor]:
        out = []
        for layer in self.layers:
            x = torch.relu(layer(h, edges, s))
            x = x if self.dropout is None else self.dropout(x)
            h = h + x if self.config.residual else x
            out.append(h)
        return out


class GCN(Baseline):
    """h_u = relu( W sum over v in N_u and u of h_v / sqrt(d_u d_v) + b )."""

    layer = GCNLayer


class GIN(Baseline):
    """h_u = relu( MLP( (1 + eps) h_u + sum over v in N_u of h_v ) )."""

    layer = GINLayer


class GINE(Baseline):
    """h_u = relu( MLP( (1 + eps) h_u + sum over v in N_u of relu(h_v + e_vu) ) )."""

    layer, reads_edges = GINELayer, True
