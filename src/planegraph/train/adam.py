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

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from ..runs.settings import TrainSettings

BETA1, BETA2, EPS = 0.9, 0.999, 1e-8


class Adam:
    """The optimizer of a stack of trials: all that an update changes, w, m, v, t and a of the formula, as tensors changed in place.

    Args:
        weights: one parameter after another, each (trials, ...).
        sizes: the elements that each parameter has in one trial, in the order of the vector.

    Attributes:
        rate: (trials,) of the next step. average: None if the settings ask for none.
    """

    def __init__(self, weights: Tensor, sizes: Sequence[int], trials: int, settings: TrainSettings) -> None:
        self.weights, self.sizes, self.trials, self.settings = weights, list(sizes), trials, settings
        self.first, self.second = torch.zeros_like(weights), torch.zeros_like(weights)
        self.average = weights.clone() if settings.ema is not None else None
        self.count = weights.new_zeros(1)
        self.rate = weights.new_zeros(trials)
        self._log_betas = weights.new_tensor([math.log(BETA1), math.log(BETA2)])
        self._prepare()

    def step(self, gradient: Tensor, factor: Tensor) -> Tensor | None:
        """Changes the weights; gives (1,) the share of the new weights in their average, None if there is none.

        Args:
            gradient: a vector like ``weights``; stays as it is.
            factor: (trials,), what to multiply each trial's gradient by before it is clipped.
        """
        if self.settings.clip is not None:
            share = torch.clamp(self.settings.clip / (self.norms(gradient) * factor + 1e-6), max=1)
            factor = factor * share.to(factor.dtype)
        self.count.add_(1)
        bias = -torch.expm1(self.count * self._log_betas)  # 1 - beta^count loses half of its digits in the first steps
        # young averages forget the first weights quickly
        forget = None if self.average is None else (9 / (10 + self.count)).clamp_(min=1 - self.settings.ema)
        self._update(gradient, factor, bias, forget)
        return forget

    # ---- the rule, which FusedAdam computes in two kernels ------------------------------------------------------------------------

    def _prepare(self) -> None:
        self.lengths = [self.trials * size for size in self.sizes]
        trial = torch.arange(self.trials, device=self.weights.device)
        self.trial_of = None if self.trials == 1 else torch.cat([trial.repeat_interleave(size) for size in self.sizes])

    def norms(self, gradient: Tensor) -> Tensor:
        """(trials,) float64: the norm of each trial's gradient. A float32 gradient cannot overflow it."""
        rows = torch.cat([part.view(self.trials, -1) for part in gradient.split(self.lengths)], dim=1)
        return torch.linalg.vector_norm(rows, dim=1, dtype=torch.float64)

    def _update(self, gradient: Tensor, factor: Tensor, bias: Tensor, forget: Tensor | None) -> None:
        """One step; ``bias`` (2,): 1 - b1^t and 1 - b2^t."""
        rate, gradient = self._spread(self.rate), gradient * self._spread(factor)
        decay = self.settings.weight_decay
        if decay and self.settings.optimizer == "adam":
            gradient.add_(self.weights, alpha=decay)
        elif decay:
            self.weights.mul_(1 - rate * decay)
        self.first.lerp_(gradient, 1 - BETA1)
        self.second.mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)
        below = self.second.sqrt().div_(bias[1].sqrt()).add_(EPS)
        self.weights.sub_(self.first / below * (rate / bias[0]))
        if self.average is not None:
            self.average.lerp_(self.weights, forget)

    def _spread(self, per_trial: Tensor) -> Tensor:
        """A value per trial as a value per element."""
        return per_trial if self.trial_of is None else per_trial.index_select(0, self.trial_of)
