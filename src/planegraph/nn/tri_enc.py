r"""TriEnc: the representation of an SPQR component from its canonical walk.

.. math::
    \hat h_C^{(l)} = MLP\Big( \sum_{i=1}^{|\omega|} MLP\big( h_{\omega[i]}^{(l-1)} \,\|\, \hat h_{\omega[i],\omega[i+1]} \,\|\,
    p_{\kappa[i]} \,\|\, p_i \big) \Big)

The edge term is there only with edge features (E-BasePlanE); at a virtual edge it is the ones vector, or a learned one.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .config import PlanEConfig
from .linear import linear, matvec
from .mapped import Mapped
from .mlp import MLP, SumOfMLP
from .relu_sum import can_fuse, relu_sum
from .structure import Structure

_TYPES = 4  # S, P, Q, R


class TriEnc(nn.Module):
    r"""hat h_C = MLP( sum_i MLP( h_{omega[i]} || e_{omega[i], omega[i+1]} || p_{kappa[i]} || p_i ) ).

    Shapes:
        h (N, hidden), edges (F, hidden) or None -> (C, hidden), rows as in the batch; tensors or :class:`Mapped` in, Mapped out.
    """

    def __init__(self, config: PlanEConfig, replicas: int | None = None) -> None:
        super().__init__()
        d, self.has_edges = config.hidden, config.edge_features is not None
        options = {"depth": config.mlp_depth, "norm": config.inner_norm, "replicas": replicas}
        widths = (d, d, 2 * config.pos_dim) if self.has_edges else (d, 2 * config.pos_dim)
        self.inner = SumOfMLP(widths, d, config.width, dropout=config.dropout_walk, **options)
        if config.mlp_per_type:
            self.outer = nn.ModuleList(MLP(d, d, config.width, **options) for _ in range(_TYPES))
        else:
            self.outer = MLP(d, d, config.width, **options)
        self.virtual = None
        if self.has_edges and config.virtual_edge == "learned":
            self.virtual = nn.Parameter(torch.empty(*(() if replicas is None else (replicas,)), d))
            nn.init.normal_(self.virtual)

    def forward(self, h: Mapped | Tensor, edges: Mapped | Tensor | None, s: Structure) -> Mapped:
        h = Mapped.of(h, s.layout.num_nodes, "h")
        edges = None if not self.has_edges else Mapped.of(edges, s.layout.num_rows, "edges")
        total = self.inner.finish(self._sums(h, edges, s))
        if isinstance(self.outer, nn.ModuleList):
            masks = [s.batch.spqr_type == t for t in range(_TYPES)]
            parts = [self._outer(mlp, total, s, m).value() for mlp, m in zip(self.outer, masks, strict=True)]
            return Mapped(sum(torch.where(m.unsqueeze(-1), part, 0) for part, m in zip(parts, masks, strict=True)))
        return self._outer(self.outer, total, s, s.batch.spqr_mask)

    @staticmethod
    def _outer(mlp: MLP, total: Mapped, s: Structure, mask: Tensor | None) -> Mapped:
        """The outer MLP of the sums over walks; the bias of the inner one counts once per entry."""
        first = mlp.first
        x = linear(total.x, total.compose(first.weight), first.bias)
        if total.bias is not None:
            x = x + s.walk_length * total.shift(first.weight).unsqueeze(-2)
        return mlp.after_first(x, mask)

    def _sums(self, h: Mapped, edges: Mapped | None, s: Structure) -> Tensor:
        """The sums over walks that the last map of the inner MLP gets; nodes, edges and positions are mapped where they are."""
        w_node, *w_edge, w_position = self.inner.parts_of_first()
        nodes, bias = h.map(w_node), self.inner.first.bias
        virtual = None
        if w_edge:
            virtual = w_edge[0].sum(-1) if self.virtual is None else matvec(w_edge[0], self.virtual)
        if self.inner.is_simple and can_fuse(nodes):
            kappa, position = w_position.split(s.pos_dim, dim=-1)
            tables = [nodes, linear(s.positions, kappa, bias), linear(s.positions, position)]
            indices = [s.batch.walk_node, s.batch.walk_kappa, s.batch.walk_pos]
            if w_edge:
                tables.append(torch.cat([edges.map(w_edge[0]), virtual.unsqueeze(-2)], dim=-2))
                indices.append(s.walk_row_or_virtual)
            return relu_sum(tables, indices, s.spqr_walk.rows)
        if not w_edge:
            entries = linear(s.walk_positions, w_position, bias) + s.walk_node @ nodes
        else:
            weight = torch.cat([w_position, F.pad(virtual.unsqueeze(-1), (0, 7))], dim=-1)
            entries = linear(s.walk_positions_and_virtual, weight, bias) + s.walk_node @ nodes
            entries = entries + s.walk_row @ edges.map(w_edge[0])
        return self.inner.sums(entries, s.spqr_walk, s.batch.walk_mask)
