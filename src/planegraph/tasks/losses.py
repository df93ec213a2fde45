"""Losses per graph (or node, where nodes have targets), and how their sum becomes the loss of a step.

A step differentiates the plain sum over graphs of each trial. The mean, or the root of the mean square, of all graphs of the step is then
a factor on that gradient, so that trials, padding and processes that share a step need nothing but sums.

Weights of graphs (``sample_weight``, of mean 1 over the training graphs) multiply the losses that are summed. The sum is still divided by
the number of graphs, so the loss of an epoch is the weighted mean over all training graphs, and each step estimates its gradient.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from .task import Task


def graph_losses(task: Task, raw: Tensor, y: Tensor) -> Tensor:
    """(..., G): the loss of each graph or node, given the outputs (..., G, outputs); mean over targets, of which a missing one counts 0."""
    if task.loss == "ce":
        return F.cross_entropy(raw.flatten(0, -2), y.reshape(-1).long(), reduction="none").view(raw.shape[:-1])
    wanted = y.reshape(raw.shape).to(raw.dtype)
    if not task.missing:
        return _losses(task, raw, wanted).mean(-1)
    measured = ~torch.isnan(wanted)
    return torch.where(measured, _losses(task, raw, torch.where(measured, wanted, 0)), 0).mean(-1)


def _losses(task: Task, raw: Tensor, wanted: Tensor) -> Tensor:
    if task.loss == "bce":
        return F.binary_cross_entropy_with_logits(raw, wanted, reduction="none")
    error = activate(task, raw) - wanted
    return error.abs() if task.loss == "l1" else error.square()


def activate(task: Task, raw: Tensor) -> Tensor:
    """The prediction: what the task applies to the model's output. Cross entropies read the output itself."""
    return torch.sigmoid(raw) if task.output == "sigmoid" else raw


def step_loss(task: Task, total: Tensor, count: Tensor) -> tuple[Tensor, Tensor]:
    """The loss of a step from the sum over its graphs and their number, and its derivative by that sum."""
    count = count.clamp(min=1)
    mean = total / count
    if task.loss != "rmse":
        return mean, 1 / count
    root = mean.sqrt()
    return root, 0.5 / (count * root.clamp(min=1e-12))


def mean_loss(task: Task, total: float, count: float) -> float:
    """The same for sums on the host."""
    mean = total / max(count, 1.0)
    return float(np.sqrt(mean)) if task.loss == "rmse" else float(mean)
