r"""Update: the new representation of a node from its neighbours, its graph, its components, its blocks and what hangs below it.

.. math::
    h_u^{(l)} = f\Big( g_1\big( h_u + \sum_{v \in N_u} h_v \big) \,\|\, g_2\big( \sum_{v \in V} h_v \big) \,\|\,
    g_3\big( h_u + \sum_{C \in \sigma_u} \hat h_C \big) \,\|\, g_4\big( h_u + \sum_{B \in \pi_u} \tilde h_B \big) \,\|\,
    \bar h_{\delta_u} \Big)

all on the right at layer l - 1 but the encodings. With edge features the neighbour sum is over g_5( h_v || e_{v, u} ).
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from .config import PlanEConfig
from .dropout import make_dropout
from .mlp import MLP, At
from .ops.incidence import add_sums
from .reset import reset_parts
from .structure import Structure

Made = Callable[[], Tensor] | None
"""Gives a tensor that was, or will be, made; None for a term that is off."""


class Update(nn.Module):
    r"""h_u = f( g1(h_u + sum of h_v) || g2(sum over V) || g3(h_u + sum of h_spqr_C) || g4(h_u + sum of h_block_B) || h_cut_u ).

    Terms that the config switches off are left out, with their maps. The sum over V is divided by ``config.graph_scale``, and g2, which
    sees a row per graph, has no norm: a batch has few graphs.

    Shapes:
        h (N, hidden), edges (F, hidden) or None, h_spqr (C, hidden), h_block (B, hidden), h_cut (K, hidden) -> (N, hidden); an encoding may
        be None if its term is off.
    """

    def __init__(self, config: PlanEConfig, replicas: int | None = None) -> None:
        super().__init__()
        d, norm = config.hidden, config.norm
        self.graph_scale = config.graph_scale
        self.g1 = MLP(d, d, norm, replicas) if config.neighbours else None
        self.g2 = MLP(d, d, "none", replicas, small=True) if config.readout else None
        self.g3 = MLP(d, d, norm, replicas) if config.triconnected else None
        self.g4 = MLP(d, d, norm, replicas) if config.biconnected else None
        self.g5 = MLP((d, d), d, norm, replicas) if config.neighbours and config.edge_features is not None else None
        self.cut, self.terms = config.cut, config.terms
        self.f = MLP([d] * len(config.terms), d, norm, replicas, ends=False)
        self.dropout = make_dropout(config.dropout, replicas)

    def forward(
        self,
        h: Tensor,
        edges: Tensor | None,
        h_spqr: Tensor | None,
        h_block: Tensor | None,
        h_cut: Tensor | None,
        s: Structure,
    ) -> Tensor:
        def of_neighbours() -> Tensor:
            return self.of_neighbours(h, h, edges, s)

        return self.combine(of_neighbours, lambda: self.of_graph(h, s), (h, h), h_spqr, lambda: h_block, lambda: h_cut, s)

    def of_neighbours(self, h_u: Tensor, h_v: Tensor, edges: Tensor | None, s: Structure) -> Tensor:
        """g1( h_u + the sum over its neighbours v )."""
        if self.g5 is None:
            sums = add_sums(h_u, s.neighbours, h_v)
        else:
            sums = self.g5(At(h_v, s.dart_source), At(edges, s.dart_row), mask=s.dart_mask, into=s.node_darts, plus=h_u)
        return self.g1(sums, mask=s.node_mask)

    def of_graph(self, h: Tensor, s: Structure) -> Tensor:
        """g2( the sum over V ), a row per graph."""
        return self.g2(s.node_graph.transposed @ h / self.graph_scale)

    def combine(
        self,
        of_neighbours: Made,
        of_graph: Made,
        h: tuple[Tensor, Tensor],
        h_spqr: Tensor | None,
        h_block: Made,
        h_cut: Made,
        s: Structure,
        plus: Tensor | None = None,
    ) -> Tensor:
        """f of all terms, with dropout, added to ``plus``. What may be made beside this is asked for where it is needed; h is the same for
        g3 and for g4: each reader has its own (ops/shared.py)."""
        of_spqr = self.g3(add_sums(h[0], s.node_spqr, h_spqr), mask=s.node_mask) if self.g3 else None
        of_block = self.g4(add_sums(h[1], s.node_block, h_block()), mask=s.node_mask) if self.g4 else None
        terms = (
            of_neighbours() if self.g1 else None,
            At(of_graph(), s.node_graph) if self.g2 else None,
            of_spqr,
            of_block,
            At(h_cut(), s.node_cut) if self.cut else None,
        )
        out = self.f(*(term for term in terms if term is not None), mask=s.node_mask)
        if self.dropout is not None:
            return self.dropout(out, plus)
        return out if plus is None else plus + out

    def reset_parameters(self) -> None:
        """New weights for all maps, and a new seed for dropout."""
        reset_parts(self)

    def __repr__(self) -> str:
        return f"Update({self.f.last.outputs}, {' || '.join(self.terms)})"
