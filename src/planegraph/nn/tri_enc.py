r"""TriEnc: the representation of an SPQR component from its canonical walk.

.. math::
    \hat h_C^{(l)} = MLP\Big( \sum_{i=1}^{|\omega|} MLP\big( h_{\omega[i]}^{(l-1)} \,\|\, \hat h_{\omega[i],\omega[i+1]} \,\|\,
    p_{\kappa[i]} \,\|\, p_i \big) \Big)

The edge term is there only with edge features (E-BasePlanE). At a virtual edge the paper has a vector of ones there; here it is learned:
the edge term is 0, and one more input, 1 at virtual edges, has its own weights.
"""

from __future__ import annotations

from torch import Tensor

from .config import PlanEConfig
from .mlp import At, mlps
from .reset import Module
from .structure import Structure


class TriEnc(Module):
    r"""h_spqr_C = MLP( sum_i MLP( h_{omega[i]} || e_{omega[i], omega[i+1]} || p_{kappa[i]} || p_i ) ).

    Shapes:
        h (N, hidden), edges (F, hidden) or None -> (C, hidden), rows as in the batch.
    """

    def __init__(self, config: PlanEConfig, replicas: int | None = None) -> None:
        super().__init__()
        d, p, self.has_edges = config.hidden, config.pos_dim, config.edge_features is not None
        mlp = mlps(config, replicas)
        self.inner = mlp((d, d, 2 * p + 1) if self.has_edges else (d, 2 * p), d)
        self.outer = mlp(d, d)

    def forward(self, h: Tensor, edges: Tensor | None, s: Structure) -> Tensor:
        entry = [At(h, s.walk_node), s.walk_positions]
        if self.has_edges:
            entry = [At(h, s.walk_node), At(edges, s.walk_row), s.walk_positions_and_virtual]
        walks = self.inner(*entry, mask=s.walk_mask, into=s.spqr_walk)
        return self.outer(walks, mask=s.spqr_mask)

    def __repr__(self) -> str:
        return f"TriEnc({self.outer.last.outputs}{', with edge features' if self.has_edges else ''})"
