"""A run as a page: result, learning curves, predictions against truth, settings, machine. Self-contained HTML, no scripts.

Reads only the files of the run's folder, and works before a run is finished. The parts: run_files.py (reads the folder), markup.py
(escaped HTML and SVG), axes.py and plot.py (a plot), thin.py (fewer points), curves.py, scatter.py, roc.py and confusion.py (the
figures), page.py (the look of a page), run_page.py, compare.py and sweep_page.py (the three pages), setting_plots.py (figures of a sweep).

>>> from planegraph import report
>>> report.write_report("no/such/run")
Traceback (most recent call last):
...
planegraph.errors.PlanegraphError: no/such/run holds no run: settings.yaml is missing
"""

from __future__ import annotations

from .compare import side_by_side
from .run_page import write_report, write_svgs
from .sweep_page import is_sweep, write_sweep

__all__ = ["is_sweep", "side_by_side", "write_report", "write_svgs", "write_sweep"]
