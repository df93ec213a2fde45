r"""CutEnc: the representation of a subtree of the block-cut tree, bottom-up.

.. math::
    \bar h_{\delta_u}^{(l)} = MLP\Big( h_u^{(l-1)} + \sum_{B \in \chi(u)} MLP\big( \tilde h_B^{(l)} + \sum_{v \in \chi(B)}
    \bar h_{\delta_v}^{(l)} \big) \Big) \text{ at a cut node } u, \quad 0 \text{ elsewhere}

These MLPs have no norms, and the message of a block is log(1 + MLP(...)), so that depth does not multiply (ops/tree.py).
"""

from __future__ import annotations

from torch import Tensor

from .config import PlanEConfig
from .mlp import MLP, bottom_up
from .reset import Module
from .structure import Structure


class CutEnc(Module):
    r"""h_cut_u = MLP( h_u + sum over child blocks B of log(1 + MLP( h_block_B + sum over child cut nodes v of B of h_cut_v )) ).

    Shapes:
        h (N, hidden), h_block (B, hidden) -> (K, hidden): a row per cut node, as in the batch.
    """

    def __init__(self, config: PlanEConfig, replicas: int | None = None) -> None:
        super().__init__()
        self.inner = MLP(config.hidden, config.hidden, replicas=replicas)
        self.outer = MLP(config.hidden, config.hidden, replicas=replicas)

    def forward(self, h: Tensor, h_block: Tensor, s: Structure) -> Tensor:
        h_u = s.node_cut.transposed @ h  # of cut nodes
        return bottom_up(s.block_cut_tree, self.outer, h_u, self.inner, plus=h_block)

    def __repr__(self) -> str:
        return f"CutEnc({self.outer.last.outputs})"
