"""Validation by setting: for each setting of a sweep a plot with a column for each value, and a dot for each run.

The runs of a value are side by side, and a bar marks their mean. Runs without a figure are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from ..io.text import counted
from ..runs.sweeps import SweepRun, short_names, value_text
from .axes import axis_for, named, padded
from .formatting import metric_name, percent
from .plot import LEFT, RIGHT, WIDTH, Figure, Plot, run_colours

_CHARACTER = 8  # width of a character, with some room
_SPREAD = 0.5  # the part of a column that its dots take


def setting_plots(runs: Sequence[SweepRun]) -> list[Figure]:
    """A figure for each setting that varies among the finished runs, which are in order of validation."""
    finished = [run for run in runs if np.isfinite(run.error)]
    if len(finished) < 2:
        return []
    titles = short_names(list(finished[0].values))
    return [_by_setting(finished, key, title) for key, title in titles.items() if len(_values(finished, key)) > 1]


def _by_setting(runs: Sequence[SweepRun], key: str, title: str) -> Figure:
    metric = runs[0].result["metric"]
    scale = 100.0 if percent(metric) else 1.0
    means, stds = (scale * np.array([run.result["val"][what] for run in runs]) for what in ("mean", "std"))
    values, colours = _values(runs, key), run_colours(len(runs))
    unit = " (%)" if scale > 1 else ""
    figures_axis = padded(axis_for([*means, *(means - stds), *(means + stds)], log=False if scale > 1 else None))
    plot = Plot(named(_labels(values)), figures_axis, title, f"validation {metric_name(metric)}{unit}")
    marks: list[Markup] = []
    for column, value in enumerate(values):
        mine = [k for k, run in enumerate(runs) if value_text(run.values[key]) == value]
        mean = float(means[mine].mean())
        marks.append(plot.line([column - 0.36, column + 0.36], [mean, mean], "currentColor", 1.5, stroke_opacity=0.6))
        for at, k in zip(_places(column, len(mine)), sorted(mine, key=lambda k: _others(runs[k], key)), strict=True):
            if stds[k] > 0:
                marks.append(plot.line([at, at], [means[k] - stds[k], means[k] + stds[k]], colours[k], 1.2))
            marks.append(plot.dots([at], [means[k]], colours[k], 7.0))
    return plot.figure(f"by-{title}", f"validation by {title}", _caption(runs, plot.y.log), *marks)


def _values(runs: Sequence[SweepRun], key: str) -> list[str]:
    """The values that occur, numbers in increasing order."""
    found = {value_text(run.values[key]): run.values[key] for run in runs}
    return sorted(found, key=lambda text: _rank(found[text]))


def _rank(value: Any) -> tuple[bool, float, str]:
    """A sort key: numbers by size, before words."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return (not number, float(value) if number else 0.0, value_text(value))


def _others(run: SweepRun, key: str) -> list[tuple[bool, float, str]]:
    """The order of runs within a column: by their other settings, so that it is the same in each."""
    return [_rank(value) for name, value in run.values.items() if name != key]


def _places(column: int, count: int) -> np.ndarray:
    return column + (np.linspace(-_SPREAD / 2, _SPREAD / 2, count) if count > 1 else np.zeros(1))


def _labels(values: Sequence[str]) -> list[str]:
    """The labels as far as there is room; some of them if they are very many.

    >>> _labels(["0.001", "0.002"]), _labels(["x" * 60, "y"])[0]
    (['0.001', '0.002'], 'xxxxxxxxxxxxxxxxxxxxxxxx…')
    """
    room = (WIDTH - LEFT - RIGHT) // _CHARACTER // len(values)
    every = 1 if room >= 4 else -(-4 // max(room, 1))
    room *= every
    return [("" if k % every else text if len(text) <= room else text[: room - 1] + "…") for k, text in enumerate(values)]


def _caption(runs: Sequence[SweepRun], log: bool) -> str:
    trials = max(len(run.result["trials"]) for run in runs)
    parts = [f"Each dot is one of {counted(len(runs), 'run')}, coloured as in the table; bars: the mean of a value"]
    if trials > 1:
        parts.append("lines: one standard deviation over the trials of a run")
    if log:
        parts.append("logarithmic axis")
    return "; ".join(parts) + "."
