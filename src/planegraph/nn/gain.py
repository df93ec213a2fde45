r"""How far linear maps stretch what they map, and messages of tree recursions that are kept from growing.

What goes up a tree passes the same maps at every level. If these stretch, it grows exponentially with the depth of the tree, and a model of
shallow trees fails on the first deep one. Divided by the norm of the map it passes, where that exceeds 1,

.. math::
    MLP(x) \;\to\; MLP(x) \,/\, \max(1, \|W_{into} W_{last}\|),

a message is at most as long as what it was made of, so what arrives at a root grows with the size of the tree. Maps that do not stretch are
left as they are.
"""

from __future__ import annotations

import torch
from torch import Tensor

from .linear import Linear, matvec
from .mlp import MLP


def gain(weight: Tensor) -> Tensor:
    r"""(\sum_i \sigma_i^{16})^{1/16} of each matrix (..., n, m), as (..., 1, 1): the spectral norm or, at most by n^{1/16}, more.

    >>> gain(torch.tensor([[3.0, 0.0], [0.0, 1.0]])).item()
    3.0
    """
    tiny = torch.finfo(weight.dtype).tiny
    square = weight.square().sum((-2, -1), keepdim=True) + tiny  # powers are taken of something of norm 1
    product = weight.mT @ weight if weight.shape[-1] <= weight.shape[-2] else weight @ weight.mT
    power = product / square
    for _ in range(2):
        power = power @ power
    return square.sqrt() * (power.square().sum((-2, -1), keepdim=True) + tiny) ** (1 / 16)


def damping(weight: Tensor, *further: Tensor) -> Tensor:
    """1 / max(1, the product of the gains), (..., 1, 1)."""
    found = gain(weight)
    for other in further:
        found = found * gain(other)
    return 1 / found.clamp(min=1)


def message_damping(into: Tensor, mlp: MLP, bounded: bool) -> Tensor | int:
    """By how much to multiply what an MLP sends to the map ``into``; 1 unless ``bounded``."""
    if not bounded:
        return 1
    return damping(into @ mlp.last.weight, *(layer.weight for layer in mlp.linears[1:-1]))


def composed(into: Tensor, last: Linear, bounded: bool) -> tuple[Tensor, Tensor]:
    """``into`` after the last map of a message's MLP: weight and bias of one map, whose message is damped if ``bounded``."""
    weight, bias = into @ last.weight, matvec(into, last.bias)
    if not bounded:
        return weight, bias
    factor = damping(weight)
    return weight * factor, bias * factor.squeeze(-1)
