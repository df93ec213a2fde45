r"""BiEnc: the representation of a block from its SPQR tree, bottom-up.

.. math::
    \tilde h_{\gamma_C}^{(l)} = MLP\Big( \hat h_C^{(l)} + \sum_{C' \in \chi(C)} MLP\big( \tilde h_{\gamma_{C'}}^{(l)} \,\|\,
    p_{\theta(C, C')} \big) \Big), \qquad \tilde h_B = \tilde h_{\gamma_{root}}
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .config import PlanEConfig
from .gain import composed, message_damping
from .incidence import Incidence, Rows
from .linear import linear
from .mapped import Mapped
from .mlp import MLP
from .recursion import Step, alternate
from .structure import Structure


class BiEnc(nn.Module):
    r"""tilde h_C = MLP( hat h_C + sum over children C' of MLP( tilde h_C' || p_theta(C, C') ) ); a block takes its root's.

    Shapes:
        hat (C, hidden) -> (B, hidden), rows as in the batch; a tensor or :class:`Mapped` in, Mapped out.
    """

    def __init__(self, config: PlanEConfig, replicas: int | None = None) -> None:
        super().__init__()
        d, options = config.hidden, {"depth": config.mlp_depth, "replicas": replicas}
        self.inner = MLP(d + config.pos_dim, d, config.width, **options)
        self.outer = MLP(d, d, config.width, **options)
        self.widths, self.bounded = (d, config.pos_dim), config.bounded_trees

    def forward(self, hat: Mapped | Tensor, s: Structure) -> Mapped:
        hat = Mapped.of(hat, s.layout.num_spqr, "hat")
        return self._composed(hat, s) if self.outer.is_simple else Mapped(self._plain(hat.value(), s))

    def _composed(self, hat: Mapped, s: Structure) -> Mapped:
        """Two linear maps in a row become one: y_C is the hidden layer of the outer MLP, x_C that of the message to its parent."""
        outer_in, outer_out = self.outer.linears
        inner_in, inner_out = self.inner.linears
        w_child, w_theta = inner_in.weight.split(self.widths, dim=-1)
        y = hat.map(outer_in.weight, outer_in.bias)
        if s.roots[0] == 0:  # no SPQR tree has more than its root
            return Mapped(torch.relu(y), outer_out.weight, outer_out.bias).settled()
        to_parent, per_child = composed(outer_in.weight, inner_out, self.bounded)
        to_message, constant = composed(w_child, outer_out, self.bounded)
        y = y + s.spqr_children * per_child.unsqueeze(-2)
        x = linear(s.child_positions, w_theta, inner_in.bias + constant)
        values = alternate(y, x, to_parent, to_message, s.spqr_steps)
        return Mapped(values[..., slice(*s.roots), :], outer_out.weight, outer_out.bias).settled()

    def _plain(self, hat: Tensor, s: Structure) -> Tensor:
        """The same for MLPs of any depth, level by level."""
        values = messages = None
        w_child, _ = self.inner.first.weight.split(self.widths, dim=-1)
        to_parent = message_damping(self.outer.first.weight, self.inner, self.bounded)
        to_message = message_damping(w_child, self.outer, self.bounded)
        for step in s.spqr_steps:
            if step.into_a:
                values = hat[..., slice(*step.rows), :]
                if messages is not None:
                    values = values + local_children(step) @ messages
                values = self.outer(values)
            else:
                child = torch.cat([to_message * values, s.child_positions[..., slice(*step.rows), :]], dim=-1)
                messages = to_parent * self.inner(child)
        return values


def local_children(step: Step) -> Incidence:
    """Rows by sources of one step, both counted from the start of their slices."""
    start, parents = step.sources[0], step.parents.index
    rows = Rows(None, (step.children.begin - start).clamp(min=0), (step.children.end - start).clamp(min=0))
    return Incidence(rows, Rows(torch.where(parents < 0, -1, parents - step.rows[0]).to(torch.int32)))
