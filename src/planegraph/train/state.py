"""What a step changes: the weights of all trials, Adam's moments, averages over the steps, and the sums of the epoch.

All weights lie in one vector, of which the parameters are views, and so do gradients and moments: an update is a few kernels whatever
the model (adam.py). The running statistics of norms lie in another; where the weights are averaged, so are these, for they belong
together. Everything is a tensor that is changed in place, so that the step can be captured and replayed; ``tensors()`` names them all for
a checkpoint.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from ..nn import GraphModel
from ..runs.settings import TrainSettings
from .adam import BETA1, BETA2, Adam, Pace, PlainAdam, Vectors, clipped

try:
    from . import triton_adam
except ImportError:  # no Triton: torch operations do
    triton_adam = None

_ALIGN = 64  # elements; kernels read aligned weights faster


class State:
    """The model of a group with its optimizer.

    Args:
        model: of one trial, or a stack with as many replicas as there are trials. Its parameters become views of ``weights``.
    """

    def __init__(self, model: GraphModel, settings: TrainSettings) -> None:
        self.model, self.settings, self.trials = model, settings, model.replicas or 1
        named = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
        named.sort(key=lambda item: item[1].numel() % _ALIGN != 0)  # stable: what keeps the alignment stands first
        self.names, self.parameters = [n for n, _ in named], [p for _, p in named]
        self.weights = _as_views_of_one(self.parameters, self.parameters[0])
        statistics = {name: b for name, b in self.buffers().items() if b.is_floating_point()}
        self.running_names, self.running = list(statistics), _as_views_of_one(list(statistics.values()), self.weights)
        like = self.weights
        self.adam = _make_adam(like, [p.numel() // self.trials for p in self.parameters], self.trials, settings)
        self.first, self.second = torch.zeros_like(like), torch.zeros_like(like)
        self.average = like.clone() if settings.ema is not None else None
        self.running_average = self.running.clone() if settings.ema is not None else None
        self.count = torch.zeros(1, dtype=like.dtype, device=like.device)  # steps so far
        self.log_betas = torch.tensor([math.log(BETA1), math.log(BETA2)], dtype=like.dtype, device=like.device)
        self.rate = torch.zeros(self.trials, dtype=like.dtype, device=like.device)
        self.loss_sum = torch.zeros(self.trials, dtype=torch.float64, device=like.device)
        self.graphs = torch.zeros_like(self.loss_sum)
        self.bad_step = torch.full((self.trials,), -1.0, dtype=like.dtype, device=like.device)

    def views(self, vector: Tensor) -> list[Tensor]:
        """The parts of a vector like ``weights`` that belong to the parameters."""
        return _parts(vector, self.parameters)

    def update(self, gradient: Tensor, factor: Tensor) -> None:
        """One step of Adam or AdamW, and of the average.

        Args:
            gradient: a vector like ``weights``; stays as it is.
            factor: (trials,), what to multiply each trial's gradient by before it is clipped.
        """
        s, average = self.settings, self.average
        if s.clip is not None:
            factor = clipped(factor, self.adam.norms(gradient), s.clip)
        self.count.add_(1)
        bias = -torch.expm1(self.count * self.log_betas)  # 1 - beta^count loses half of its digits in the first steps
        # young averages forget the first weights quickly
        forget = None if average is None else (9 / (10 + self.count)).clamp_(min=1 - s.ema)
        vectors = Vectors(self.weights, self.first, self.second, average)
        self.adam.update(vectors, gradient, Pace(factor, self.rate, bias, forget))
        if average is not None:
            self.running_average.lerp_(self.running, forget)

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """Inside, the model has the averages, if there are any: what is validated."""
        if self.average is None:
            yield
            return
        kept = self.weights.clone(), self.running.clone()
        self.weights.copy_(self.average)
        self.running.copy_(self.running_average)
        try:
            yield
        finally:
            self.weights.copy_(kept[0])
            self.running.copy_(kept[1])

    # ---- what is kept and compared ----------------------------------------------------------------------------------------------

    def buffers(self) -> dict[str, Tensor]:
        """What a model keeps beside its weights: the running statistics of norms, the counts of dropout."""
        kept = self.model.state_dict().keys()
        return {name: b for name, b in self.model.named_buffers() if name in kept}

    def tensors(self) -> dict[str, Tensor]:
        """All that a step changes, by name."""
        names = ("weights", "first", "second", "average", "running_average", "count", "loss_sum", "graphs", "bad_step")
        own = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return own | {f"buffer.{name}": value for name, value in self.buffers().items()}

    def chosen(self) -> dict[str, Tensor]:
        """What is validated, by name: weights and buffers, or their averages; (trials, ...) or without trials. Nothing needs a gradient:
        copies that remember the parameters they came from would keep their autograd nodes alive, which spoils later captures."""
        weights, running = (self.weights, self.running) if self.average is None else (self.average, self.running_average)
        buffers = self.buffers()
        statistics = _parts(running, [buffers[name] for name in self.running_names])
        return (
            dict(zip(self.names, self.views(weights), strict=True))
            | buffers
            | dict(zip(self.running_names, statistics, strict=True))
        )


def _make_adam(weights: Tensor, sizes: Sequence[int], trials: int, settings: TrainSettings) -> Adam:
    fused = triton_adam is not None and triton_adam.can_fuse(weights)
    return (triton_adam.FusedAdam if fused else PlainAdam)(weights, sizes, trials, settings)


def _as_views_of_one(tensors: Sequence[Tensor], like: Tensor) -> Tensor:
    """A vector with the values of the tensors, all of type and device of ``like``, which become views of it."""
    vector = torch.cat([like.new_empty(0), *(t.detach().reshape(-1) for t in tensors)])
    for tensor, part in zip(tensors, _parts(vector, tensors), strict=True):
        tensor.data = part
    return vector


def _parts(vector: Tensor, like: Sequence[Tensor]) -> list[Tensor]:
    """The vector cut into tensors of these shapes."""
    return [part.view_as(t) for part, t in zip(vector.split([t.numel() for t in like]), like, strict=True)]
