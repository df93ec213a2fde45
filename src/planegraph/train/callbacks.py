"""Callbacks: code that a run calls when it starts, after each epoch, and when it ends. The progress display (display.py) and the loggers
(loggers.py) are callbacks.

A run calls them in its first process, in the order given: ``on_start`` once, ``on_epoch`` after each epoch, ``on_end`` with the result, and
``close`` always, whether the run ended, was stopped or failed.

An exception in ``on_start`` ends the run before it begins. A later one cannot lose the run: it becomes a warning, the callback is left out
(only ``close`` is still called), and training continues.

On resuming, ``on_start`` gets the records of the epochs up to the checkpoint. Epochs after it are trained again, so ``on_epoch`` may
repeat an epoch that an earlier process has reported.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import PlanegraphError, PlanegraphWarning
from ..runs.log import Record
from ..runs.settings import RunSettings


@dataclass(frozen=True)
class RunInfo:
    """What is known when a run starts.

    Attributes:
        folder: of the run. task: its name. settings: all of them.
        trials: the names of the seeds, folds and targets that are trained, such as ``seed0-fold3``.
        resumed: whether the folder may hold a part of this run already.
        records: of the epochs that are done then, as in ``log.jsonl``; each with its ``target``.
    """

    folder: Path
    task: str
    settings: RunSettings
    trials: tuple[str, ...]
    resumed: bool = False
    records: Sequence[Record] = ()


class Callback:
    """Does nothing; override what you need. ``train(..., callbacks=[...])`` takes any number of them.

    >>> class Worst(Callback):
    ...     def on_epoch(self, records):
    ...         self.loss = max(record["loss"] for record in records)
    """

    def on_start(self, run: RunInfo) -> None:
        """Before the first epoch. An exception here ends the run; nothing was trained."""

    def on_epoch(self, records: Sequence[Record]) -> None:
        """After an epoch of trials that are trained together: a record for each, with the fields of ``log.jsonl`` and ``target``."""

    def on_end(self, result: Mapping[str, Any]) -> None:
        """When the run is complete; ``result`` is what ``result.json`` holds."""

    def close(self) -> None:
        """At the end in any case, and last."""


class Callbacks:
    """Calls all of them; one that raises after ``start`` is left out, with a warning. A context that closes them."""

    def __init__(self, callbacks: Sequence[Callback]) -> None:
        self.started: list[Callback] = []
        self.sound = list(callbacks)

    def start(self, run: RunInfo) -> None:
        for callback in self.sound:
            self.started.append(callback)
            try:
                callback.on_start(run)
            except PlanegraphError:
                raise
            except Exception as error:
                if isinstance(error, OSError) and error.filename is not None:
                    raise  # a full disk, say; it names the file
                raise PlanegraphError(f"callback {_said(callback, error, 'on_start')}; nothing was trained") from error

    def epoch(self, records: Sequence[Record]) -> None:
        for callback in list(self.sound):
            self._call(callback, "on_epoch", records)

    def end(self, result: Mapping[str, Any]) -> None:
        for callback in list(self.sound):
            self._call(callback, "on_end", result)

    def __enter__(self) -> Callbacks:
        return self

    def __exit__(self, *_: object) -> None:
        for callback in self.started:
            self._call(callback, "close")

    def _call(self, callback: Callback, method: str, *values: Any) -> None:
        try:
            getattr(callback, method)(*values)
        except Exception as error:
            if callback in self.sound:
                self.sound.remove(callback)
            message = f"callback {_said(callback, error, method)} and is left out; the run continues without it"
            warnings.warn(message, PlanegraphWarning, stacklevel=4)


def _said(callback: Callback, error: Exception, method: str) -> str:
    return f"{type(callback).__name__} failed in {method} ({type(error).__name__}: {error})"
