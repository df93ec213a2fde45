"""What can go wrong with a run, and with its files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import FormatError, PlanegraphError


class SettingsError(PlanegraphError, ValueError):
    """A setting is unknown or has a wrong value; the message names it as ``--set`` would."""


class FolderError(PlanegraphError):
    """The folder of a run contains files that would be overwritten."""


class DivergedError(PlanegraphError, ArithmeticError):
    """A loss is no longer a finite number; the message says whose, where, and since when."""


class Stopped(PlanegraphError):
    """The run was interrupted by a signal, whose number is ``signal``, and saved first."""

    def __init__(self, message: str, signal: int | None = None) -> None:
        super().__init__(message)
        self.signal = signal


@contextmanager
def damage_named(what: object, kind: type[PlanegraphError] = FormatError, advice: str = "") -> Iterator[None]:
    """Whatever a file, or one of a folder's, holds instead of what it should becomes an error of this kind that names it, and
    says what to do.

    >>> with damage_named("runs/x/result.json"):
    ...     {}["trials"]
    Traceback (most recent call last):
    ...
    planegraph.errors.FormatError: runs/x/result.json is damaged: KeyError 'trials'
    """
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        if isinstance(error, kind):
            raise
        if isinstance(error, PlanegraphError):  # it says what is wrong, and where
            raise kind(str(error)) from None
        found = f"{type(error).__name__} {' '.join(str(error).split())}"
        raise kind(f"{what} is damaged: {found}{advice and '. '}{advice}") from None
