"""What can go wrong with a run."""

from __future__ import annotations

from ..errors import PlanegraphError


class SettingsError(PlanegraphError, ValueError):
    """A setting is unknown or has a wrong value; the message names it as ``--set`` would."""


class DivergedError(PlanegraphError, ArithmeticError):
    """A loss is no longer a finite number; the message says whose, where, and since when."""


class Stopped(PlanegraphError):  # noqa: N818 (not a mistake: somebody asked for it)
    """The run was interrupted, and saved first."""
