"""The model of a lane: built from the settings and the task's features, its first weights drawn from the lane's seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from .. import nn
from ..datasets.task import Task
from ..nn.config import features_of_sizes
from .errors import SettingsError
from .lanes import Lane
from .settings import RunSettings

MODELS: dict[str, type[nn.GraphModel]] = {model.__name__: model for model in (nn.BasePlanE, nn.GIN, nn.GINE, nn.GCN)}


def model_class(settings: RunSettings) -> type[nn.GraphModel]:
    """The class that the settings name."""
    return MODELS[settings.model_class]


def config_of(task: Task, settings: RunSettings) -> nn.PlanEConfig:
    """All settings of the model, the task's part included."""
    nodes, edges = (features_of_sizes(f) for f in (task.node_features, task.edge_features))
    given = {"outputs": task.outputs, "descriptors": task.descriptors, **settings.model}
    return nn.PlanEConfig(node_features=nodes, edge_features=edges, **given)


def make_models(task: Task, settings: RunSettings, lanes: Sequence[Lane]) -> nn.GraphModel:
    """The model of one lane, or the stack of the models of several."""
    config, models = config_of(task, settings), []
    for lane in lanes:
        torch.manual_seed(lane.seed)
        try:
            models.append(model_class(settings)(config))
        except ValueError as error:  # a model that cannot do with the task's features
            raise SettingsError(f"model_class {settings.model_class} on {task.name}: {error}") from None
        if task.seen is not None:
            forget_unseen(models[-1], task.seen)
    model = models[0] if len(models) == 1 else model_class(settings).stack(models)
    return model.double() if settings.train.precision == "float64" else model


@torch.no_grad()
def forget_unseen(model: nn.GraphModel, seen: Mapping[str, Sequence[Sequence[int]]]) -> None:
    """Embeddings of categories that training never sees start as 0, and stay that: then they add nothing, instead of noise.

    Args:
        seen: the categories of each column of x and of edge_attr that occur in training.
    """
    for encoder, columns in ((model.node_encoder, seen["x"]), (model.edge_encoder, seen["edge_attr"])):
        encoder = getattr(encoder, "categorical", encoder)
        for table, categories in zip(getattr(encoder, "tables", ()), columns, strict=True):
            unseen = torch.ones(len(table), dtype=torch.bool)
            unseen[list(categories)] = False
            table[unseen] = 0
