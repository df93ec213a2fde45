"""The model of a trial: built from the settings and the task's features, its first weights drawn from the trial's seed or copied."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import torch
from torch import Tensor

from .. import nn
from ..tasks.task import Task
from .errors import SettingsError
from .settings import RunSettings
from .trials import Trial

MODELS: dict[str, type[nn.GraphModel]] = {model.__name__: model for model in (nn.BasePlanE, nn.GIN, nn.GINE, nn.GCN)}


def model_class(settings: RunSettings) -> type[nn.GraphModel]:
    """The class that the settings name."""
    return MODELS[settings.model_class]


def config_of(task: Task, settings: RunSettings) -> nn.PlanEConfig:
    """All settings of the model, the task's part included."""
    given = {"outputs": task.outputs, "level": task.level, "descriptors": task.descriptors, **settings.model}
    return nn.PlanEConfig(node_features=task.node_features, edge_features=task.edge_features, **given)


def make_models(
    task: Task, settings: RunSettings, trials: Sequence[Trial], start: Callable[[nn.GraphModel, int], None] | None = None
) -> nn.GraphModel:
    """The model of one trial, or the stack of the models of several; ``start`` changes the first weights of the k-th seed's models."""
    config, models = config_of(task, settings), []
    for trial in trials:
        torch.manual_seed(trial.seed)
        try:
            models.append(model_class(settings)(config))
        except ValueError as error:  # a model that cannot do with the task's features
            raise SettingsError(f"model_class {settings.model_class} on {task.name}: {error}") from None
        if task.seen is not None:
            forget_unseen(models[-1], task.seen)
        if start is not None:
            start(models[-1], trial.seed - settings.train.seed)
    model = models[0] if len(models) == 1 else model_class(settings).stack(models)
    return model.double() if settings.train.precision == "float64" else model


@torch.no_grad()
def forget_unseen(model: nn.GraphModel, seen: Mapping[str, Sequence[Sequence[int]]]) -> None:
    """Embeddings of categories that training never sees start as 0, and stay that: then they add nothing, instead of noise.

    Args:
        seen: the categories of each column of x and of edge_attr that occur in training.
    """
    for tables, columns in zip(_embeddings(model), (seen["x"], seen["edge_attr"]), strict=True):
        for table, categories in zip(tables, columns, strict=bool(tables)):  # a model that reads no bonds has no tables of theirs
            unseen = torch.ones(len(table), dtype=torch.bool)
            unseen[list(categories)] = False
            table[unseen] = 0


@torch.no_grad()
def copy_weights(source: nn.GraphModel, model: nn.GraphModel, last: bool) -> None:
    """Copies every tensor whose name and shape fit; ``last``: with the last map of the readout.

    What dropout has drawn is not copied, nor are embeddings of 0, which ``source`` never saw.
    """
    own = model.state_dict()
    kept = [table.clone() for tables in _embeddings(model) for table in tables]
    for name, value in source.state_dict().items():
        fits = name in own and own[name].shape == value.shape and value.is_floating_point()
        if fits and (last or not name.startswith("readout.last.")):
            own[name].copy_(value)
    tables = [table for tables in _embeddings(model) for table in tables]
    for table, before in zip(tables, kept, strict=True):
        unseen = (table == 0).all(-1)
        table[unseen] = before[unseen]


def _embeddings(model: nn.GraphModel) -> Iterator[Sequence[Tensor]]:
    """The tables of nodes, then those of edges: one for each column of categories."""
    for encoder in (model.node_encoder, model.edge_encoder):
        yield getattr(getattr(encoder, "categorical", encoder), "tables", ())
