"""One training step and one prediction, the same code eager and captured; nothing is read back from the device.

A step: outputs of all lanes on their own graphs, the gradient of the sum of their losses (lanes do not touch each other), one exchange
between processes, the factor that makes it the gradient of the mean (or root mean square), clipping per lane, Adam.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from ..data.batch import PlanarBatch
from ..datasets.task import Task
from .distributed import World
from .losses import graph_losses, step_loss
from .state import State


def make_step(task: Task, state: State, world: World) -> Callable[[PlanarBatch], None]:
    """The function that trains on one batch at ``state.rate``."""
    lanes, clip = state.lanes, state.settings.clip

    def step(batch: PlanarBatch) -> None:
        weight = batch.attrs["weight"]
        losses = graph_losses(task, state.model(batch), batch.y)
        total = torch.where(weight > 0, losses, 0).sum(-1)
        gradients = torch.autograd.grad(total.sum(), state.parameters, allow_unused=True, materialize_grads=True)
        sums = [total.detach().reshape(lanes), weight.sum(-1).reshape(lanes).to(total.dtype)]
        everything = world.add_up(torch.cat([g.reshape(-1) for g in gradients] + sums))
        gradient, total, graphs = everything.split([len(state.weights), lanes, lanes])
        with torch.no_grad():
            loss, factor = step_loss(task, total, graphs)
            if clip is not None:
                norms = state.norms(state.views(gradient)) * factor
                factor = factor * torch.clamp(clip / (norms + 1e-6), max=1)
            state.update(gradient.mul_(state.spread(factor)))
            _remember(state, loss, total, graphs)

    return step


def _remember(state: State, loss: Tensor, total: Tensor, graphs: Tensor) -> None:
    """The sums of the epoch, and at which step a loss was first no finite number."""
    state.loss_sum.add_(total)
    state.graphs.add_(graphs)
    first = (state.bad_step < 0) & ~torch.isfinite(loss)
    state.bad_step.copy_(torch.where(first, state.count, state.bad_step))


def make_prediction(state: State) -> Callable[[PlanarBatch], Tensor]:
    """The function that gives (lanes, G, outputs) for a batch; the model must be in evaluation mode."""

    def predict(batch: PlanarBatch) -> Tensor:
        with torch.no_grad():
            out = state.model(batch)
            return out if state.model.replicas else out.unsqueeze(0)

    return predict
