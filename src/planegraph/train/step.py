"""One training step and one prediction, the same code eager and captured; nothing is read back from the device.

A step: outputs of all trials on their own graphs, the gradient of the sum of their losses (trials do not touch each other), one exchange
between processes, the factor that makes it the gradient of the mean (or root mean square), clipping per trial, Adam. Where trials have
targets of their own, each reads its column of y.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from ..data.batch import PlanarBatch
from ..nn.ops.aside import gradients_aside
from ..tasks.losses import graph_losses, step_loss
from ..tasks.task import Task
from .distributed import World
from .state import State


class TrainingStep:
    """Trains on one batch at ``state.rate``, in two parts with the exchange between them.

    Args:
        columns: (trials,) the column of y that each trial learns; None: all.

    ``sums`` is what processes exchange: the gradient of the sum of all losses, then that sum and the number of graphs of each trial.
    """

    def __init__(self, task: Task, state: State, world: World, columns: Tensor | None = None) -> None:
        self.task, self.state, self.world, self.columns = task, state, world, columns
        self.sums = state.weights.new_zeros(len(state.weights) + 2 * state.trials)

    def __call__(self, batch: PlanarBatch) -> None:
        self.differentiate(batch)
        self.exchange()
        self.apply()

    def differentiate(self, batch: PlanarBatch) -> None:
        """Fills ``sums`` from a batch."""
        state, weight = self.state, batch.attrs["weight"]
        losses = graph_losses(self.task, state.model(batch), self._wanted(batch.y))
        if "sample_weight" in batch.attrs:
            losses = losses * batch.attrs["sample_weight"].to(losses.dtype)
        total = torch.where(weight > 0, losses, 0).sum(-1)
        with gradients_aside(total.device):
            gradients = torch.autograd.grad(total.sum(), state.parameters, allow_unused=True, materialize_grads=True)
        counts = weight.sum(-1).to(total.dtype)
        torch.cat([part.detach().reshape(-1) for part in (*gradients, total, counts)], out=self.sums)

    def _wanted(self, y: Tensor) -> Tensor:
        """The targets of each trial, of those of all ((trials,) G, columns)."""
        if self.columns is None:
            return y
        which = self.columns.view(*self.columns.shape[: y.dim() - 2], 1, 1)
        return y.gather(-1, which.expand(*y.shape[:-1], 1))

    def exchange(self) -> None:
        """Adds up ``sums`` over the processes."""
        self.world.add_up(self.sums)

    @torch.no_grad()
    def apply(self) -> None:
        """Changes the weights by ``sums``, which stay as they are."""
        state = self.state
        gradient, total, graphs = self.sums.split([len(state.weights), state.trials, state.trials])
        loss, factor = step_loss(self.task, total, graphs)
        state.update(gradient, factor)
        _remember(state, loss, total, graphs)


def _remember(state: State, loss: Tensor, total: Tensor, graphs: Tensor) -> None:
    """The sums of the epoch, and at which step a loss was first no finite number."""
    state.loss_sum.add_(total)
    state.graphs.add_(graphs)
    first = (state.bad_step < 0) & ~torch.isfinite(loss)
    state.bad_step.copy_(torch.where(first, state.count, state.bad_step))


def make_prediction(state: State) -> Callable[[PlanarBatch], Tensor]:
    """The function that gives (trials, G, outputs) for a batch; the model must be in evaluation mode."""

    def predict(batch: PlanarBatch) -> Tensor:
        with torch.no_grad():
            out = state.model(batch)
            return out if state.model.replicas else out.unsqueeze(0)

    return predict
