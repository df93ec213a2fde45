r"""CutEnc: the representation of a subtree of the block-cut tree, bottom-up.

.. math::
    \bar h_{\delta_u}^{(l)} = MLP\Big( h_u^{(l-1)} + \sum_{B \in \chi(u)} MLP\big( \tilde h_B^{(l)} + \sum_{v \in \chi(B)}
    \bar h_{\delta_v}^{(l)} \big) \Big) \text{ at a cut node } u, \quad 0 \text{ elsewhere}
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .bi_enc import local_children
from .config import PlanEConfig
from .gain import composed, message_damping
from .mapped import Mapped
from .mlp import MLP
from .recursion import alternate
from .structure import Structure


class CutEnc(nn.Module):
    r"""bar h_u = MLP( h_u + sum over child blocks B of MLP( tilde h_B + sum over child cut nodes v of B of bar h_v ) ).

    Shapes:
        h (N, hidden), tilde (B, hidden) -> (K, hidden): a row per cut node, as in the batch; tensors or :class:`Mapped` in, Mapped out.
    """

    def __init__(self, config: PlanEConfig, replicas: int | None = None) -> None:
        super().__init__()
        options = {"depth": config.mlp_depth, "replicas": replicas}
        self.inner = MLP(config.hidden, config.hidden, config.width, **options)
        self.outer = MLP(config.hidden, config.hidden, config.width, **options)
        self.bounded = config.bounded_trees

    def forward(self, h: Mapped | Tensor, tilde: Mapped | Tensor, s: Structure) -> Mapped:
        h, tilde = Mapped.of(h, s.layout.num_nodes, "h"), Mapped.of(tilde, s.layout.num_blocks, "tilde")
        at_cuts = h.take(s.node_cut.transposed)
        if self.outer.is_simple:
            return self._composed(at_cuts, tilde, s)
        return Mapped(self._plain(at_cuts.value(), tilde.value(), s))

    def _composed(self, at_cuts: Mapped, tilde: Mapped, s: Structure) -> Mapped:
        """Two linear maps in a row become one: a cut node's value is the hidden layer of the outer MLP, a block's that of the inner."""
        outer_in, outer_out = self.outer.linears
        inner_in, inner_out = self.inner.linears
        to_cuts, per_block = composed(outer_in.weight, inner_out, self.bounded)
        to_blocks, per_cut = composed(inner_in.weight, outer_out, self.bounded)
        cuts = at_cuts.map(outer_in.weight, outer_in.bias) + s.cut_children * per_block.unsqueeze(-2)
        blocks = tilde.map(inner_in.weight, inner_in.bias) + s.block_children * per_cut.unsqueeze(-2)
        values = alternate(cuts, blocks, to_cuts, to_blocks, s.block_cut_steps)
        return Mapped(values, outer_out.weight, outer_out.bias).settled()

    def _plain(self, at_cuts: Tensor, tilde: Tensor, s: Structure) -> Tensor:
        """The same for MLPs of any depth, level by level."""
        levels, below, messages = [], None, None
        from_block = message_damping(self.outer.first.weight, self.inner, self.bounded)
        from_cut = message_damping(self.inner.first.weight, self.outer, self.bounded)
        for step in s.block_cut_steps:
            values = (at_cuts if step.into_a else tilde)[..., slice(*step.rows), :]
            sources = messages if step.into_a else below
            if sources is not None:
                values = values + local_children(step) @ sources
            if step.into_a:
                levels.append(self.outer(values))
                below = from_cut * levels[-1]
            else:
                messages = from_block * self.inner(values)
        return torch.cat(levels, dim=-2) if levels else at_cuts
