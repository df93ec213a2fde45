"""Adam and AdamW on one vector with the weights of all trials, in torch operations; triton_adam.py does the same in two kernels.

With g the gradient times the factor of its trial, r the trial's rate, d the weight decay, t the number of steps including this one:

    Adam: g <- g + d w          AdamW: w <- w - r d w
    m <- m + (1 - b1) (g - m)
    v <- b2 v + (1 - b2) g^2
    w <- w - r / (1 - b1^t) m / (sqrt(v / (1 - b2^t)) + eps)
    a <- a + max(9 / (10 + t), 1 - ema) (w - a)

The vector holds one parameter after another, each (trials, ...). The cost is memory traffic: linear in the vector, whatever the number of
parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from ..runs.settings import TrainSettings

BETA1, BETA2, EPS = 0.9, 0.999, 1e-8


class Vectors(NamedTuple):
    """What an update changes: w, m, v and a of the formula; ``average`` is None if there is none."""

    weights: Tensor
    first: Tensor
    second: Tensor
    average: Tensor | None


class Pace(NamedTuple):
    """How far an update goes: ``factor`` on the gradient and ``rate``, both (trials,); ``bias`` (2,): 1 - b1^t and 1 - b2^t;
    ``forget`` (1,): the share of the new weights in the average, None if there is none."""

    factor: Tensor
    rate: Tensor
    bias: Tensor
    forget: Tensor | None


class Adam(Protocol):
    """The rule of an update, for a fixed number of trials and fixed sizes of the parameters."""

    def norms(self, gradient: Tensor) -> Tensor:
        """(trials,) float64: the norm of each trial's gradient. A float32 gradient cannot overflow it."""

    def update(self, vectors: Vectors, gradient: Tensor, pace: Pace) -> None:
        """One step; the gradient stays as it is."""


def clipped(factor: Tensor, norms: Tensor, clip: float) -> Tensor:
    """The factors on the gradients of all trials, smaller where the norm would be more than ``clip``."""
    share = torch.clamp(clip / (norms * factor + 1e-6), max=1)
    return factor * share.to(factor.dtype)


class PlainAdam:
    """The rule in torch operations.

    Args:
        weights: says on which device.
        sizes: the elements that each parameter has in one trial, in the order of the vector.
    """

    def __init__(self, weights: Tensor, sizes: Sequence[int], trials: int, settings: TrainSettings) -> None:
        self.trials, self.settings = trials, settings
        self.lengths = [trials * size for size in sizes]
        trial = torch.arange(trials, device=weights.device)
        self.trial_of = None if trials == 1 else torch.cat([trial.repeat_interleave(size) for size in sizes])

    def norms(self, gradient: Tensor) -> Tensor:
        """See :class:`Adam`."""
        rows = torch.cat([part.view(self.trials, -1) for part in gradient.split(self.lengths)], dim=1)
        return torch.linalg.vector_norm(rows, dim=1, dtype=torch.float64)  # squares of float32 numbers do not overflow there

    def update(self, vectors: Vectors, gradient: Tensor, pace: Pace) -> None:
        """See :class:`Adam`."""
        weights, first, second, average = vectors
        rate, gradient = self._spread(pace.rate), gradient * self._spread(pace.factor)
        decay = self.settings.weight_decay
        if decay and self.settings.optimizer == "adam":
            gradient.add_(weights, alpha=decay)
        elif decay:
            weights.mul_(1 - rate * decay)
        first.lerp_(gradient, 1 - BETA1)
        second.mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)
        below = second.sqrt().div_(pace.bias[1].sqrt()).add_(EPS)
        weights.sub_(first / below * (rate / pace.bias[0]))
        if average is not None:
            average.lerp_(weights, pace.forget)

    def _spread(self, per_trial: Tensor) -> Tensor:
        """A value per trial as a value per element."""
        return per_trial if self.trial_of is None else per_trial.index_select(0, self.trial_of)
