r"""BiEnc: the representation of a block from its SPQR tree, bottom-up.

.. math::
    \tilde h_{\gamma_C}^{(l)} = MLP\Big( \hat h_C^{(l)} + \sum_{C' \in \chi(C)} MLP\big( \tilde h_{\gamma_{C'}}^{(l)} \,\|\,
    p_{\theta(C, C')} \big) \Big), \qquad \tilde h_B = \tilde h_{\gamma_{root}}

These MLPs have no norms, and the message of a child is log(1 + MLP(...)), so that depth does not multiply (ops/tree.py).
"""

from __future__ import annotations

from torch import Tensor

from .config import PlanEConfig
from .mlp import MLP, bottom_up
from .reset import Module
from .structure import Structure


class BiEnc(Module):
    r"""h_block_C = MLP( h_spqr_C + sum over children C' of log(1 + MLP( h_block_C' || p_theta(C, C') )) ); a block takes its root's.

    Shapes:
        h_spqr (C, hidden) -> (B, hidden), rows as in the batch.
    """

    def __init__(self, config: PlanEConfig, replicas: int | None = None) -> None:
        super().__init__()
        d = config.hidden
        self.inner = MLP((d, config.pos_dim), d, replicas=replicas)
        self.outer = MLP(d, d, replicas=replicas)

    def forward(self, h_spqr: Tensor, s: Structure) -> Tensor:
        p_theta = s.child_positions
        return bottom_up(s.spqr_tree, self.outer, h_spqr, self.inner, beside=p_theta, rows=s.roots)

    def __repr__(self) -> str:
        return f"BiEnc({self.outer.last.outputs})"
