"""The page of a run, written when it is complete: the only place where training names the report, which is built on top of it.

The report reads the folder of a finished run as anyone could, so training needs nothing of it before that, and imports it no earlier.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path

from ..errors import PlanegraphWarning


def write_reports(folders: Iterable[Path]) -> None:
    """Writes ``report.html`` into each folder; a run is not lost because that fails."""
    from ..report import write_report

    for folder in folders:
        try:
            write_report(folder)
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            message = f"the run is complete, but its report could not be written ({what}); planegraph report {folder}"
            warnings.warn(message, PlanegraphWarning, stacklevel=3)
