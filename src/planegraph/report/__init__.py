"""Reports of runs and sweeps: self-contained HTML without scripts.

They read the files of a run's folder only, and work before the run is finished. ``run_page``, ``compare`` and ``sweep_page`` each prepare
the data of one page, which ``page`` renders through ``templates``; ``curves``, ``predictions`` and ``sweep_plots`` make the figures, each
an SVG drawn by ``plot`` on ``axes``.

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
