r"""Update: the new representation of a node from its neighbours, its graph, its components, its blocks and what hangs below it.

.. math::
    h_u^{(l)} = f\Big( g_1\big( h_u + \sum_{v \in N_u} h_v \big) \,\|\, g_2\big( \sum_{v \in V} h_v \big) \,\|\,
    g_3\big( h_u + \sum_{C \in \sigma_u} \hat h_C \big) \,\|\, g_4\big( h_u + \sum_{B \in \pi_u} \tilde h_B \big) \,\|\,
    \bar h_{\delta_u} \Big)

all on the right at layer l - 1 but the encodings. With edge features the neighbour sum is over g_5( h_v || e_{v, u} ).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .config import PlanEConfig
from .encoded import Encoded, map_edges
from .linear import linear, matvec
from .mlp import MLP, SumOfMLP
from .relu_sum import can_fuse, relu_sum
from .structure import Structure

_G = {"neighbours": "g1", "readout": "g2", "triconnected": "g3", "biconnected": "g4"}


class Update(nn.Module):
    r"""h_u = f( g1(h_u + sum of h_v) || g2(sum over V) || g3(h_u + sum of hat h_C) || g4(h_u + sum of tilde h_B) || bar h_u ).

    Terms that the config switches off are left out, with their maps.

    Shapes:
        h (N, hidden), edges (F, hidden) or None, hat (C, hidden), tilde (B, hidden), bar (K, hidden) -> (N, hidden); an encoding may
        be None if its term is off.
    """

    def __init__(self, config: PlanEConfig, replicas: int | None = None) -> None:
        super().__init__()
        d, self.terms, self.dropout = config.hidden, config.terms, config.dropout
        options = {"depth": config.mlp_depth, "norm": config.norm, "replicas": replicas}
        for term in self.terms:
            if term in _G:
                self.add_module(_G[term], MLP(d, d, config.width, **options))
        self.g5 = None
        if config.neighbours and config.edge_features is not None:
            self.g5 = SumOfMLP((d, d), d, config.width, **options)
        self.f = MLP(len(self.terms) * d, d, config.width, **options)

    def forward(
        self,
        h: Tensor,
        edges: Tensor | Encoded | None,
        hat: Tensor | None,
        tilde: Tensor | None,
        bar: Tensor | None,
        s: Structure,
    ) -> Tensor:
        weights = dict(zip(self.terms, self.f.first.weight.split(h.shape[-1], dim=-1), strict=True))
        x = self._node_terms(weights, h, edges, hat, tilde, s)
        if "readout" in weights:
            of_graph = self.g2(s.node_graph.transposed @ h, s.batch.graph_mask)
            x = x + s.node_graph @ linear(of_graph, weights["readout"])
        if "cut" in weights:
            x = x + s.node_cut @ linear(bar, weights["cut"])
        x = self.f.after_first(x, s.batch.node_mask)
        return F.dropout(x, self.dropout, self.training) if self.dropout else x

    def _node_terms(
        self,
        weights: dict[str, Tensor],
        h: Tensor,
        edges: Tensor | Encoded | None,
        hat: Tensor | None,
        tilde: Tensor | None,
        s: Structure,
    ) -> Tensor:
        """What the first map of f makes of g1, g3 and g4, bias included: the last map of each g and the first of f are one map."""
        inputs = {}
        if "neighbours" in weights:
            inputs["neighbours"] = h + self._neighbours(h, edges, s)
        if "triconnected" in weights:
            inputs["triconnected"] = h + s.node_spqr @ hat
        if "biconnected" in weights:
            inputs["biconnected"] = h + s.node_block @ tilde
        bias, hidden, maps = self.f.first.bias, [], []
        for term, value in inputs.items():
            g: MLP = getattr(self, _G[term])
            if len(g.linears) == 1:
                hidden.append(g(value))
                maps.append(weights[term])
                continue
            hidden.append(g.before_last(g.first(value), s.batch.node_mask))
            maps.append(weights[term] @ g.last.weight)
            bias = bias + matvec(weights[term], g.last.bias)
        if not hidden:
            return bias.unsqueeze(-2).expand(*h.shape[:-1], bias.shape[-1])
        return linear(torch.cat(hidden, dim=-1), torch.cat(maps, dim=-1), bias)

    def _neighbours(self, h: Tensor, edges: Tensor | Encoded | None, s: Structure) -> Tensor:
        if self.g5 is None:
            return s.neighbours @ h
        w_node, w_edge = self.g5.parts_of_first()
        of_nodes, of_edges = linear(h, w_node, self.g5.first.bias), map_edges(edges, w_edge)
        if self.g5.is_simple and can_fuse(h):
            sums = relu_sum([of_nodes, of_edges], [s.batch.dart_source, s.batch.dart_row], s.node_darts.rows)
        else:
            sums = self.g5.sums(s.dart_source @ of_nodes + s.dart_row @ of_edges, s.node_darts, s.batch.dart_mask)
        return self.g5.finish(sums, s.degree)
