"""From settings to what they train on: the only place where a run asks for a dataset."""

from __future__ import annotations

from ..datasets.task import Task
from ..errors import PlanegraphError
from .settings import RunSettings


def task_of(settings: RunSettings, data_root: str | None = None) -> Task:
    """The task that the settings name, with their options; PlanegraphError if there is no such dataset or option."""
    from .. import datasets

    dataset = datasets.get(settings.task, data_root)
    try:
        return dataset.task(**settings.options)
    except TypeError as error:
        raise PlanegraphError(f"options of the task {settings.task}: {error}") from None
