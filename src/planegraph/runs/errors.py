"""What can go wrong with a run."""

from __future__ import annotations

from ..errors import PlanegraphError


class SettingsError(PlanegraphError, ValueError):
    """A setting is unknown or has a wrong value; the message names it as ``--set`` would."""

    alike = True


class FolderError(PlanegraphError):
    """The folder of a run contains files that would be overwritten."""

    alike = True


class DivergedError(PlanegraphError, ArithmeticError):
    """A loss is no longer a finite number; the message says whose, where, and since when."""

    alike = True  # sums over all processes are compared


class Stopped(PlanegraphError):
    """The run was interrupted by a signal, whose number is ``signal``, and saved first."""

    alike = True  # all processes stop if one is asked to

    def __init__(self, message: str, signal: int | None = None) -> None:
        super().__init__(message)
        self.signal = signal
