"""Numbers, times and names of metrics as text."""

from __future__ import annotations

import math

from ..tasks.metrics import METRICS

_NAMES = {name: metric.title for of_kind in METRICS.values() for name, metric in of_kind.items()} | {
    "mae": "mean absolute error",
    "accuracy": "accuracy",
    "logloss": "log loss",
    "calibration": "calibration error",
}


def metric_name(metric: str | None) -> str:
    """The name of a metric in words.

    >>> metric_name("rocauc"), metric_name(None)
    ('ROC-AUC', 'metric')
    """
    return _NAMES.get(metric or "", metric or "metric")


def percent(metric: str | None) -> bool:
    """Returns whether the metric is a share."""
    return metric in ("accuracy", "rocauc")


def figure(metric: str | None, value: float | None) -> str:
    """One value of a metric.

    >>> figure("accuracy", 1 / 9), figure("mae", 0.00231234)
    ('11.11 %', '0.002312')
    """
    if value is None or not math.isfinite(value):
        return "-" if value is None else str(value)
    return f"{100 * value:.2f} %" if percent(metric) else number(value)


def spread(metric: str | None, mean: float, std: float, count: int) -> str:
    """Mean and standard deviation, with the digits that the latter allows.

    >>> spread("accuracy", 1.0, 0.0, 10), spread("mae", 0.07612, 0.00312, 10), spread("mae", 0.5, 0.0, 1)
    ('100.00 ± 0.00 %', '0.0761 ± 0.0031', '0.5000')
    """
    if count < 2:
        return figure(metric, mean)
    if percent(metric):
        return f"{100 * mean:.2f} ± {100 * std:.2f} %"
    if not (math.isfinite(mean) and math.isfinite(std)) or std == 0:
        return f"{number(mean)} ± {number(std)}"
    digits = max(0, 1 - math.floor(math.log10(std)))
    return f"{mean:.{digits}f} ± {std:.{digits}f}" if digits <= 8 else f"{mean:.4g} ± {std:.2g}"


def number(value: float) -> str:
    """Four significant digits.

    >>> number(0.5), number(1234567.0), number(0.0)
    ('0.5000', '1.235e+06', '0')
    """
    return "0" if value == 0 else f"{value:#.4g}".rstrip(".")


def duration(seconds: float) -> str:
    """A time.

    >>> duration(0.0123), duration(3.21), duration(75), duration(7265)
    ('12.3 ms', '3.2 s', '1 min 15 s', '2 h 1 min')
    """
    if 0 < seconds < 0.9995:
        return f"{1000 * seconds:.3g} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
