"""A plot as SVG: frame, ticks, labels, a legend above, and marks.

Text and lines take the colour of the page, so a plot suits light and dark pages. It is 480 units wide and scales with the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup, escape

from .axes import Axis

COLOURS = ("#3b82c4", "#e07b22", "#2f9e6e", "#c2578f", "#8a6fc0", "#a08030")
"""Of the runs on a page: readable on white and near-black, and distinct for colour-blind readers in this order."""

OTHERS = "#98a1aa"
"""Of the runs beyond those: grey."""

WIDTH, HEIGHT, SQUARE = 480, 330, 430
LEFT, TOP, RIGHT, BOTTOM = 62, 26, 14, 50  # margins around the frame
_CHARACTER = 7.2  # average width of a character
_STANDALONE = (
    "svg{color:#20242a;background:#fff;font-family:system-ui,Helvetica,Arial,sans-serif}"
    "@media (prefers-color-scheme:dark){svg{color:#e3e6ea;background:#15181c}}"
)


def tag(name: str, /, *children: object, **attributes: object) -> Markup:
    """An SVG element; ``stroke_width`` is written ``stroke-width``.

    >>> print(tag("text", "a < b", text_anchor="middle"))
    <text text-anchor="middle">a &lt; b</text>
    """
    given = "".join(f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"' for key, value in attributes.items())
    return Markup(f"<{name}{given}>{join(children)}</{name}>" if children else f"<{name}{given}/>")


def join(children: Iterable[Any]) -> Markup:
    """Joins markup; other text is escaped."""
    return Markup("").join(children)


@dataclass(frozen=True)
class Figure:
    """A drawing: ``name`` for files, ``label`` for screen readers, ``caption`` for the page."""

    name: str
    label: str
    caption: str
    body: Markup
    width: int = WIDTH
    height: int = HEIGHT

    def svg(self, standalone: bool = False) -> Markup:
        """The SVG element; a standalone one has its own size, colours and font."""
        style = [tag("style", Markup(_STANDALONE))] if standalone else []
        size = {"width": self.width, "height": self.height} if standalone else {}
        given = {"xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {self.width} {self.height}", "role": "img"}
        return tag("svg", tag("title", self.label), *style, self.body, **given, font_size=13, fill="currentColor", **size)


@dataclass(frozen=True)
class Plot:
    """Two axes with a frame."""

    x: Axis
    y: Axis
    x_label: str
    y_label: str
    width: int = WIDTH
    height: int = HEIGHT

    @property
    def right(self) -> int:
        return self.width - RIGHT

    @property
    def bottom(self) -> int:
        return self.height - BOTTOM

    def place(self, xs: object, ys: object) -> tuple[np.ndarray, np.ndarray]:
        """Values as coordinates; y grows upwards."""
        x = LEFT + self.x.place(xs) * (self.right - LEFT)
        return x, self.bottom - self.y.place(ys) * (self.bottom - TOP)

    def line(self, xs: Any, ys: Any, colour: str, width: float = 1.0, **more: Any) -> Markup:
        """A line through points."""
        d = "M" + "L".join(self._points(xs, ys)) if np.size(xs) else ""
        return tag("path", d=d, fill="none", stroke=colour, stroke_width=width, stroke_linejoin="round", **more)

    def guide(self, xs: Any, ys: Any, **more: Any) -> Markup:
        """A thin line in the colour of the text."""
        return self.line(xs, ys, "currentColor", stroke_opacity=0.5, **more)

    def diagonal(self) -> Markup:
        """A dashed line from corner to corner."""
        return self.guide([self.x.low, self.x.high], [self.y.low, self.y.high], stroke_dasharray="4 4")

    def dots(self, xs: object, ys: object, colour: str, size: float = 3.0, **more: object) -> Markup:
        """Points, all in one element."""
        d = "".join(f"M{point}h0" for point in self._points(xs, ys))
        return tag("path", d=d, fill="none", stroke=colour, stroke_width=size, stroke_linecap="round", **more)

    def rings(self, xs: object, ys: object, colour: str) -> Markup:
        """Open circles."""
        at = (point.split() for point in self._points(xs, ys))
        return tag("g", *(tag("circle", cx=x, cy=y, r=4) for x, y in at), fill="none", stroke=colour, stroke_width=1.6)

    def figure(self, name: str, label: str, caption: str, *marks: Markup, legend: Sequence[tuple[str, str]] = ()) -> Figure:
        """The frame with its marks, and a legend of (colour, text) above."""
        body = join([self._frame(), *marks, self._labels(), self._legend(legend)])
        return Figure(name, label, caption, body, self.width, self.height)

    def has_room(self, legend: Sequence[str]) -> bool:
        """Returns whether the texts of a legend fit side by side."""
        return all(24 + _CHARACTER * len(text) <= (self.right - LEFT) / len(legend) for text in legend)

    def _points(self, xs: object, ys: object) -> list[str]:
        """Coordinates to a tenth of a unit."""
        at = zip(*(np.atleast_1d(v).tolist() for v in self.place(xs, ys)), strict=True)
        return [f"{x:.1f} {y:.1f}" for x, y in at]

    def _frame(self) -> Markup:
        lines: list[Markup] = []
        for value, text in zip(self.x.ticks, self.x.texts(), strict=True):
            at = f"{self.place(value, self.y.low)[0].item():.1f}"
            lines.append(_rule(x1=at, y1=TOP, x2=at, y2=self.bottom))
            lines.append(tag("text", text, x=at, y=self.bottom + 18, text_anchor="middle"))
        for value, text in zip(self.y.ticks, self.y.texts(), strict=True):
            y = self.place(self.x.low, value)[1].item()
            lines.append(_rule(x1=LEFT, y1=f"{y:.1f}", x2=self.right, y2=f"{y:.1f}"))
            lines.append(tag("text", text, x=LEFT - 7, y=f"{y + 4.5:.1f}", text_anchor="end"))
        size = {"width": self.right - LEFT, "height": self.bottom - TOP}
        return join([*lines, tag("rect", x=LEFT, y=TOP, **size, fill="none", stroke="currentColor", stroke_opacity=0.45)])

    def _labels(self) -> Markup:
        across, down = (LEFT + self.right) / 2, (TOP + self.bottom) / 2
        return join(
            [
                tag("text", self.x_label, x=across, y=self.height - 10, text_anchor="middle"),
                tag("text", self.y_label, x=15, y=down, text_anchor="middle", transform=f"rotate(-90 15 {down})"),
            ]
        )

    def _legend(self, entries: Sequence[tuple[str, str]]) -> Markup:
        marks = []
        for k, (colour, text) in enumerate(entries):
            x = LEFT + k * (self.right - LEFT) / len(entries)
            marks.append(tag("line", x1=f"{x:.1f}", y1=12, x2=f"{x + 18:.1f}", y2=12, stroke=colour, stroke_width=3))
            marks.append(tag("text", text, x=f"{x + 24:.1f}", y=16.5))
        return join(marks)


def run_colours(count: int) -> list[str]:
    """A colour for each run: the first ones have their own.

    >>> [colour == OTHERS for colour in run_colours(8)]
    [False, False, False, False, False, False, True, True]
    """
    return [*COLOURS[:count], *[OTHERS] * (count - len(COLOURS))]


def _rule(**ends: object) -> Markup:
    return tag("line", **ends, stroke="currentColor", stroke_opacity=0.13)
