"""One training step of a stack, and all that it changes: weights, Adam's moments, averages, running statistics, the sums of the epoch.

A step: outputs of all trials on their own graphs, the gradient of the sum of their losses (trials do not touch each other), one all_reduce
between processes, the factor that makes it the gradient of the mean (or root mean square), clipping per trial, Adam. Where trials have
their own targets, each reads its column of y.

All weights lie in one vector, of which the parameters are views, and so do gradients and moments: an update is a few kernels whatever
the model (adam.py). The running statistics of norms lie in another; where the weights are averaged, so are these, for they belong
together. Everything is a tensor that is changed in place, and nothing is read back from the device, so that the step can be captured and
replayed (capture.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from ..data.batch import PlanarBatch
from ..nn import GraphModel
from ..nn.ops.aside import gradients_aside
from ..runs.settings import TrainSettings
from ..tasks.losses import graph_losses, step_loss
from ..tasks.task import Task
from .adam import Adam
from .batches import StepGraphs, join
from .environment import World

try:
    from . import triton_adam
except ImportError:  # no Triton: torch operations do
    triton_adam = None

_ALIGN = 64  # elements; kernels read aligned weights faster


class TrainingStep:
    """The model of a stack with its optimizer.

    Args:
        model: of one trial, or a stack with as many replicas as there are trials. Its parameters become views of ``adam.weights``.
        columns: (trials,) the column of y that each trial learns; None: all.

    Attributes:
        sums: what processes exchange: the gradient of the sum of all losses, then that sum and the number of graphs of each trial.
        loss_sum, graphs: (trials,) the same two over the epoch. bad_step: the first step whose loss was not a finite number, or -1.
    """

    def __init__(
        self, task: Task, model: GraphModel, settings: TrainSettings, world: World | None = None, columns: Tensor | None = None
    ) -> None:
        self.task, self.model, self.world, self.columns = task, model, world or World(), columns
        self.trials = model.replicas or 1
        named = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
        named.sort(key=lambda item: item[1].numel() % _ALIGN != 0)  # stable: what keeps the alignment stands first
        self.names, self.parameters = [n for n, _ in named], [p for _, p in named]
        weights = _as_views_of_one(self.parameters, self.parameters[0])
        statistics = {name: b for name, b in self.buffers().items() if b.is_floating_point()}
        self.running_names, self.running = list(statistics), _as_views_of_one(list(statistics.values()), weights)
        self.running_average = self.running.clone() if settings.ema is not None else None
        self.adam = _make_adam(weights, [p.numel() // self.trials for p in self.parameters], self.trials, settings)
        self.device = weights.device
        self.sums = weights.new_zeros(len(weights) + 2 * self.trials)
        self.loss_sum = torch.zeros(self.trials, dtype=torch.float64, device=weights.device)
        self.graphs = torch.zeros_like(self.loss_sum)
        self.bad_step = weights.new_full((self.trials,), -1.0)

    def train(self, graphs: StepGraphs) -> None:
        """One step on the graphs of all trials, at the rates ``adam.rate``."""
        self.differentiate(join(graphs, self.device))
        self.world.all_reduce(self.sums)
        self.apply()

    def differentiate(self, batch: PlanarBatch) -> None:
        """Fills ``sums`` from a batch."""
        weight = batch.attrs["weight"]
        losses = graph_losses(self.task, self.model(batch), self._wanted(batch.y))
        if "sample_weight" in batch.attrs:
            losses = losses * batch.attrs["sample_weight"].to(losses.dtype)
        total = torch.where(weight > 0, losses, 0).sum(-1)
        with gradients_aside(total.device):
            gradients = torch.autograd.grad(total.sum(), self.parameters, allow_unused=True, materialize_grads=True)
        counts = weight.sum(-1).to(total.dtype)
        torch.cat([part.detach().reshape(-1) for part in (*gradients, total, counts)], out=self.sums)

    def _wanted(self, y: Tensor) -> Tensor:
        """The targets of each trial, of those of all ((trials,) G, columns)."""
        if self.columns is None:
            return y
        which = self.columns.view(*self.columns.shape[: y.dim() - 2], 1, 1)
        return y.gather(-1, which.expand(*y.shape[:-1], 1))

    @torch.no_grad()
    def apply(self) -> None:
        """Changes the weights by ``sums``, which stay as they are, and adds to the sums of the epoch."""
        gradient, total, graphs = self.sums.split([len(self.adam.weights), self.trials, self.trials])
        loss, factor = step_loss(self.task, total, graphs)
        forget = self.adam.step(gradient, factor)
        if forget is not None:
            self.running_average.lerp_(self.running, forget)
        self.loss_sum.add_(total)
        self.graphs.add_(graphs)
        first = (self.bad_step < 0) & ~torch.isfinite(loss)
        self.bad_step.copy_(torch.where(first, self.adam.count, self.bad_step))

    @torch.no_grad()
    def predict(self, batch: PlanarBatch) -> Tensor:
        """(trials, G, outputs), good until the next call; the model must be in evaluation mode."""
        out = self.model(batch)
        return out if self.model.replicas else out.unsqueeze(0)

    # ---- what is validated, saved and compared ------------------------------------------------------------------------------------

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """Inside, the model has the averages, if there are any: what is validated."""
        if self.adam.average is None:
            yield
            return
        kept = self.adam.weights.clone(), self.running.clone()
        self.adam.weights.copy_(self.adam.average)
        self.running.copy_(self.running_average)
        try:
            yield
        finally:
            self.adam.weights.copy_(kept[0])
            self.running.copy_(kept[1])

    def validated(self) -> dict[str, Tensor]:
        """What is validated, by name: weights and buffers, or their averages; (trials, ...) or without trials. Nothing needs a gradient:
        copies that remember the parameters they came from would keep their autograd nodes alive, which spoils later captures."""
        averages = (self.adam.average, self.running_average)
        weights, running = (self.adam.weights, self.running) if self.adam.average is None else averages
        buffers = self.buffers()
        statistics = _parts(running, [buffers[name] for name in self.running_names])
        return (
            dict(zip(self.names, self.views(weights), strict=True))
            | buffers
            | dict(zip(self.running_names, statistics, strict=True))
        )

    def views(self, vector: Tensor) -> list[Tensor]:
        """The parts of a vector like the weights that belong to the parameters."""
        return _parts(vector, self.parameters)

    def buffers(self) -> dict[str, Tensor]:
        """What a model keeps beside its weights: the running statistics of norms, the counts of dropout."""
        kept = self.model.state_dict().keys()
        return {name: b for name, b in self.model.named_buffers() if name in kept}

    def tensors(self) -> dict[str, Tensor]:
        """All that a step changes, by name."""
        own = {name: getattr(self.adam, name) for name in ("weights", "first", "second", "average")}
        own |= {"running_average": self.running_average, "count": self.adam.count}
        own |= {name: getattr(self, name) for name in ("loss_sum", "graphs", "bad_step")}
        own = {name: value for name, value in own.items() if value is not None}
        return own | {f"buffer.{name}": value for name, value in self.buffers().items()}


def _make_adam(weights: Tensor, sizes: Sequence[int], trials: int, settings: TrainSettings) -> Adam:
    fused = triton_adam is not None and triton_adam.can_fuse(weights)
    return (triton_adam.FusedAdam if fused else Adam)(weights, sizes, trials, settings)


def _as_views_of_one(tensors: Sequence[Tensor], like: Tensor) -> Tensor:
    """A vector with the values of the tensors, all of type and device of ``like``, which become views of it."""
    vector = torch.cat([like.new_empty(0), *(t.detach().reshape(-1) for t in tensors)])
    for tensor, part in zip(tensors, _parts(vector, tensors), strict=True):
        tensor.data = part
    return vector


def _parts(vector: Tensor, like: Sequence[Tensor]) -> list[Tensor]:
    """The vector cut into tensors of these shapes."""
    return [part.view_as(t) for part, t in zip(vector.split([t.numel() for t in like]), like, strict=True)]
