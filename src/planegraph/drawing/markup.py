"""Elements of SVG and HTML as text. Text from outside is escaped here, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

import numpy as np

from ..io.text import printable

LONGEST = 80  # characters of a name that are shown


def shown(name: object) -> str:
    r"""A name as it can be shown: escapes for control characters, and an end if it is long.

    >>> shown("a\0b"), shown("x" * 1000) == "x" * 79 + "…"
    ('a\\x00b', True)
    """
    text = printable(str(name)).replace("\n", " ").replace("\t", " ")
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def text(words: object) -> str:
    """Text between tags."""
    return escape(printable(str(words)))


def element(tag: str, /, *children: str, **attributes: object) -> str:
    """An element around markup; ``stroke_width`` is written ``stroke-width``, and attributes that are None are left out.

    >>> element("text", text("a < b"), text_anchor="middle")
    '<text text-anchor="middle">a &lt; b</text>'
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(number(value))}"' for key, value in attributes.items() if value is not None
    )
    return f"<{tag}{given}>{''.join(children)}</{tag}>" if children else f"<{tag}{given}/>"


def number(value: Any) -> str:
    """A number with at most one digit after the point; anything else as it is.

    >>> number(2.0), number(1.26), number("x")
    ('2', '1.3', 'x')
    """
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def line(points: Iterable[Iterable[float]], closed: bool = False) -> str:
    """Path data through points.

    >>> line([(0, 0), (1.5, 2)])
    'M0 0L1.5 2'
    """
    at = [f"{number(float(x))} {number(float(y))}" for x, y in points]
    return "M" + "L".join(at) + ("Z" if closed else "") if at else ""


def dots(points: np.ndarray) -> str:
    """Path data of a dot at each point, for a stroke with round ends."""
    return "".join(f"M{number(float(x))} {number(float(y))}h0" for x, y in points.tolist())
