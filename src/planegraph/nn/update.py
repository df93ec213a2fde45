r"""Update: the new representation of a node from its neighbours, its graph, its components, its blocks and what hangs below it.

.. math::
    h_u^{(l)} = f\Big( g_1\big( h_u + \sum_{v \in N_u} h_v \big) \,\|\, g_2\big( \sum_{v \in V} h_v \big) \,\|\,
    g_3\big( h_u + \sum_{C \in \sigma_u} \hat h_C \big) \,\|\, g_4\big( h_u + \sum_{B \in \pi_u} \tilde h_B \big) \,\|\,
    \bar h_{\delta_u} \Big)

all on the right at layer l - 1 but the encodings. With edge features the neighbour sum is over g_5( h_v || e_{v, u} ).
"""

from __future__ import annotations

from torch import Tensor

from .config import PlanEConfig
from .dropout import make_dropout
from .mlp import MLP, At, mlps
from .ops.incidence import add_sums
from .ops.shared import shared
from .reset import Module
from .streams import made
from .structure import Structure


class Update(Module):
    r"""h_u = f( g1(h_u + sum of h_v) || g2(sum over V) || g3(h_u + sum of h_spqr_C) || g4(h_u + sum of h_block_B) || h_cut_u ).

    Terms that the config switches off are left out, with their maps. The sum over V is divided by ``config.graph_scale``, and g2, which
    sees a row per graph, has no norm: a batch has few graphs.

    Shapes:
        h (N, hidden), edges (F, hidden) or None, h_spqr (C, hidden), h_block (B, hidden), h_cut (K, hidden) -> (N, hidden); an encoding may
        be None if its term is off.
    """

    def __init__(self, config: PlanEConfig, replicas: int | None = None) -> None:
        super().__init__()
        d, mlp = config.hidden, mlps(config, replicas)
        self.graph_scale = config.graph_scale
        self.g1 = mlp(d, d) if config.neighbours else None
        self.g2 = MLP(d, d, replicas=replicas) if config.readout else None
        self.g3 = mlp(d, d) if config.triconnected else None
        self.g4 = mlp(d, d) if config.biconnected else None
        self.g5 = mlp((d, d), d) if config.neighbours and config.edge_features is not None else None
        self.cut, self.terms = config.cut, config.terms
        self.f = mlp([d] * len(config.terms), d, ends=False)
        self.dropout = make_dropout(config.dropout, replicas)

    def forward(
        self, h: Tensor, edges: Tensor | None, h_spqr: Tensor | None, h_block: Tensor | None, h_cut: Tensor | None, s: Structure
    ) -> Tensor:
        # h for each of its readers, whose gradients are then added in one pass
        h_u, h_v, h_all, h_u3, h_u4 = shared(h, *[h.dtype] * 5)
        terms, real = [], s.node_mask
        if self.g1:
            terms.append(self.g1(self.with_neighbours(h_u, h_v, edges, s), mask=real))
        if self.g2:
            terms.append(At(self.g2(s.node_graph.transposed @ h_all / self.graph_scale), s.node_graph))
        if self.g3:
            terms.append(self.g3(add_sums(h_u3, s.node_spqr, made(h_spqr)), mask=real))
        if self.g4:
            terms.append(self.g4(add_sums(h_u4, s.node_block, made(h_block)), mask=real))
        if self.cut:
            terms.append(At(made(h_cut), s.node_cut))
        out = self.f(*terms, mask=real)
        return out if self.dropout is None else self.dropout(out)

    def with_neighbours(self, h_u: Tensor, h_v: Tensor, edges: Tensor | None, s: Structure) -> Tensor:
        """h_u plus the sum over its neighbours v."""
        if self.g5 is None:
            return add_sums(h_u, s.neighbours, h_v)
        return self.g5(At(h_v, s.dart_source), At(edges, s.dart_row), mask=s.dart_mask, into=s.node_darts, plus=h_u)

    def __repr__(self) -> str:
        return f"Update({self.f.last.outputs}, {' || '.join(self.terms)})"
