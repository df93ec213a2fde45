"""From settings to what they train on: the only place where a run asks for a dataset."""

from __future__ import annotations

from ..datasets.task import Task
from .errors import SettingsError
from .settings import RunSettings


def task_of(settings: RunSettings, data_root: str | None = None) -> Task:
    """The task that the settings name, with their options; SettingsError if there is no such dataset or option."""
    from .. import datasets

    try:
        dataset = datasets.get(settings.task, data_root)
    except datasets.UnknownDatasetError as error:
        raise SettingsError(str(error)) from None
    try:
        return dataset.task(**settings.options)
    except TypeError as error:
        raise SettingsError(f"options of the task {settings.task}: {error}") from None
