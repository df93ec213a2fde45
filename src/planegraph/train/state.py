"""What a step changes: the weights of all lanes, Adam's moments, averages over the steps, and the sums of the epoch.

All weights lie in one vector, of which the parameters are views, and so do gradients and moments: an update is a dozen kernels whatever
the model. The running statistics of norms lie in another; where the weights are averaged, so are these, for they belong together. What
belongs to a lane (rate, norm of its gradient) is a value per lane, spread over the elements by ``lane_of``. Everything is a tensor that is
changed in place, so that the step can be captured and replayed; ``tensors()`` names them all for a checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from ..nn import GraphModel
from .settings import TrainSettings

_BETA1, _BETA2, _EPS = 0.9, 0.999, 1e-8
_ALIGN = 64  # elements; kernels read aligned weights faster


class State:
    """The model of a group with its optimizer.

    Args:
        model: of one lane, or a stack with as many replicas as there are lanes. Its parameters become views of ``weights``.
    """

    def __init__(self, model: GraphModel, settings: TrainSettings) -> None:
        self.model, self.settings, self.lanes = model, settings, model.replicas or 1
        named = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
        named.sort(key=lambda item: item[1].numel() % _ALIGN != 0)  # stable: what keeps the alignment stands first
        self.names, self.parameters = [n for n, _ in named], [p for _, p in named]
        self.weights = _as_views_of_one(self.parameters, self.parameters[0])
        statistics = {name: b for name, b in self.buffers().items() if b.is_floating_point()}
        self.running_names, self.running = list(statistics), _as_views_of_one(list(statistics.values()), self.weights)
        like = self.weights
        lane = torch.arange(self.lanes, device=like.device)
        sizes = [p.numel() // self.lanes for p in self.parameters]
        self.lane_of = None if self.lanes == 1 else torch.cat([lane.repeat_interleave(size) for size in sizes])
        self.first, self.second = torch.zeros_like(like), torch.zeros_like(like)
        self.average = like.clone() if settings.ema is not None else None
        self.running_average = self.running.clone() if settings.ema is not None else None
        self.count = torch.zeros(1, dtype=like.dtype, device=like.device)  # steps so far
        self.rate = torch.zeros(self.lanes, dtype=like.dtype, device=like.device)
        self.loss_sum = torch.zeros(self.lanes, dtype=torch.float64, device=like.device)
        self.graphs = torch.zeros_like(self.loss_sum)
        self.bad_step = torch.full((self.lanes,), -1.0, dtype=like.dtype, device=like.device)

    def spread(self, per_lane: Tensor) -> Tensor:
        """A value per lane as a value per element of ``weights``."""
        return per_lane if self.lane_of is None else per_lane.index_select(0, self.lane_of)

    def norms(self, gradients: list[Tensor]) -> Tensor:
        """(lanes,): the norm of each lane's gradient."""
        return torch.cat([g.reshape(self.lanes, -1) for g in gradients], dim=1).norm(dim=1)

    def views(self, vector: Tensor) -> list[Tensor]:
        """The parts of a vector like ``weights`` that belong to the parameters."""
        return _parts(vector, self.parameters)

    def update(self, gradient: Tensor) -> None:
        """One step of Adam or AdamW along the gradient (a vector like ``weights``, which is overwritten), and of the average."""
        s, rate = self.settings, self.spread(self.rate)
        if s.weight_decay and s.optimizer == "adam":
            gradient.add_(self.weights, alpha=s.weight_decay)
        elif s.weight_decay:
            self.weights.mul_(1 - rate * s.weight_decay)
        self.count.add_(1)
        self.first.lerp_(gradient, 1 - _BETA1)
        self.second.mul_(_BETA2).addcmul_(gradient, gradient, value=1 - _BETA2)
        scale = (1 - _BETA2**self.count).sqrt_()
        below = self.second.sqrt().div_(scale).add_(_EPS)
        self.weights.sub_(self.first / below * (rate / (1 - _BETA1**self.count)))
        if self.average is not None:
            decay = torch.clamp((1 + self.count) / (10 + self.count), max=s.ema)  # young averages forget the first weights quickly
            self.average.lerp_(self.weights, 1 - decay)
            self.running_average.lerp_(self.running, 1 - decay)

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
        """What is validated, by name: weights and buffers, or their averages; (lanes, ...) or without lanes. Nothing needs a gradient:
        copies that remember the parameters they came from would keep their autograd nodes alive, which spoils later captures."""
        weights, running = (self.weights, self.running) if self.average is None else (self.average, self.running_average)
        buffers = self.buffers()
        statistics = _parts(running, [buffers[name] for name in self.running_names])
        return (
            dict(zip(self.names, self.views(weights), strict=True))
            | buffers
            | dict(zip(self.running_names, statistics, strict=True))
        )


def _as_views_of_one(tensors: Sequence[Tensor], like: Tensor) -> Tensor:
    """A vector with the values of the tensors, all of type and device of ``like``, which become views of it."""
    vector = torch.cat([like.new_empty(0), *(t.detach().reshape(-1) for t in tensors)])
    for tensor, part in zip(tensors, _parts(vector, tensors), strict=True):
        tensor.data = part
    return vector


def _parts(vector: Tensor, like: Sequence[Tensor]) -> list[Tensor]:
    """The vector cut into tensors of these shapes."""
    return [part.view_as(t) for part, t in zip(vector.split([t.numel() for t in like]), like, strict=True)]
