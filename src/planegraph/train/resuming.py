"""May a run go on from a checkpoint? Only if going on gives what one uninterrupted run of these settings on these data would have given."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from ..datasets.task import Task
from .errors import SettingsError
from .lanes import Lane
from .settings import RunSettings, flat

_FREE = ("train.epochs", "train.save_seconds")  # the former has rules of its own, the latter does not change the numbers


def check_settings(path: Path, facts: Mapping[str, Any], settings: RunSettings) -> None:
    """Raises SettingsError unless the checkpoint's settings are these; the number of epochs may differ where rates do not follow it."""
    made_with = RunSettings.from_dict(facts["settings"])
    mine, theirs = flat(settings.complete()), flat(made_with.complete())
    for name in sorted((mine.keys() | theirs.keys()) - set(_FREE)):
        if mine.get(name) != theirs.get(name):
            there = f"with {name}={theirs[name]!r}" if name in theirs else f"without {name}"
            wanted = repr(mine[name]) if name in mine else "without"
            raise SettingsError(f"{path} was made {there}, not {wanted}; nothing was changed")
    before, now = made_with.train, settings.train
    if now.epochs == before.epochs:
        return
    change = f"{path} was made with train.epochs={before.epochs}, not {now.epochs}"
    if facts["epoch"] > now.epochs or (facts["epoch"] == now.epochs and facts["step"]):
        raise SettingsError(f"{change}, and is in epoch {facts['epoch'] + bool(facts['step'])} already; nothing was changed")
    if now.schedule.follows_epochs:
        raise SettingsError(f"{change}; the rates follow the number of epochs, so that is another run: choose another folder")
    if facts["epoch"] == before.epochs and before.epochs % now.eval_every:
        raise SettingsError(
            f"{change}; its last epoch was validated out of turn (train.eval_every={now.eval_every}), so that is another run: "
            "choose another folder"
        )


def check_lanes(path: Path, facts: Mapping[str, Any], lanes: Sequence[Lane], processes: int, digest: str) -> None:
    """Raises SettingsError unless the checkpoint is of these lanes, as many processes, and the data with this digest."""
    if facts["lanes"] != [lane.name for lane in lanes]:
        raise SettingsError(f"{path} holds {', '.join(facts['lanes'])}, not {', '.join(lane.name for lane in lanes)}")
    if facts["world"] != processes:
        raise SettingsError(f"{path} was made by {facts['world']} processes, not {processes}")
    if facts["data"] != digest:
        raise SettingsError(
            f"{path} was made of other data: graphs, targets, split or measure are not those of today's task. Go on with the data "
            "of then, or choose another folder; nothing was changed"
        )


def check_shapes(path: Path, found: Mapping[str, Tensor], own: Mapping[str, Tensor]) -> None:
    """Raises SettingsError unless the checkpoint has each of the state's tensors in its shape."""
    for name, value in own.items():
        there = None if name not in found else tuple(found[name].shape)
        if there != tuple(value.shape):
            what = f"has no {name}" if there is None else f"has {name} of shape {there}"
            raise SettingsError(f"{path} {what}; this model needs {tuple(value.shape)}. Nothing was changed")


def data_digest(task: Task, lanes: Sequence[Lane]) -> str:
    """Of everything a task decides: how answers are judged, the sizes and features of the graphs, the targets, who is trained on."""
    found = hashlib.sha256()
    judged = (task.name, task.node_features, task.edge_features, task.kind, task.loss, task.metric, task.outputs, task.output)
    found.update(repr((*judged, task.scale, task.targets)).encode())
    dataset = task.dataset
    arrays = [dataset.tables.node_ptr, dataset.tables.edges, dataset.x, dataset.edge_attr, dataset.y]
    for lane in lanes:
        arrays += [lane.split[part] for part in sorted(lane.split)]
    for values in arrays:
        found.update(b"none" if values is None else np.ascontiguousarray(values))
    return found.hexdigest()
