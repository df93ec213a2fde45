"""A plot as SVG: frame, ticks, labels, a legend above, and marks.

Text and lines take the colour of the page, so that they are right in light and dark.

A figure is 480 wide whatever the screen, and scales with it. Marks are placed by the axes, inside ``left..right`` and ``top..bottom``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .axes import Axis
from .markup import Markup, join, tag

COLOURS = ("#3b82c4", "#e07b22", "#2f9e6e", "#c2578f", "#8a6fc0", "#a08030")
"""Of the runs on a page: readable on white and on near-black, and apart for colour-blind readers in this order."""

OTHERS = "#98a1aa"
"""Of the runs beyond those: grey, as readable."""

WIDTH, HEIGHT = 480, 330
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 14, 26, 50
_CHARACTER = 7.2  # the width of a character, about
_ALONE = (
    "svg{color:#20242a;background:#fff;font-family:system-ui,Helvetica,Arial,sans-serif}"
    "@media (prefers-color-scheme:dark){svg{color:#e3e6ea;background:#15181c}}"
)


@dataclass(frozen=True)
class Figure:
    """A drawing: ``name`` for files, ``label`` for readers who cannot see it, ``caption`` for the page."""

    name: str
    label: str
    caption: str
    body: Markup
    width: int = WIDTH
    height: int = HEIGHT

    def svg(self, alone: bool = False) -> Markup:
        """The SVG element; ``alone``: for a file of its own, with colours and fonts of its own."""
        size = {"width": self.width, "height": self.height} if alone else {}
        return tag(
            "svg",
            tag("title", self.label),
            tag("style", Markup(_ALONE)) if alone else None,
            self.body,
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 0 {self.width} {self.height}",
            role="img",
            font_size=13,
            fill="currentColor",
            **size,
        )


@dataclass(frozen=True)
class Plot:
    """Two axes with a frame; ``height`` as in a figure."""

    x: Axis
    y: Axis
    x_label: str
    y_label: str
    width: int = WIDTH
    height: int = HEIGHT

    @property
    def left(self) -> float:
        return _LEFT

    @property
    def right(self) -> float:
        return self.width - _RIGHT

    @property
    def top(self) -> float:
        return _TOP

    @property
    def bottom(self) -> float:
        return self.height - _BOTTOM

    def place(self, xs: object, ys: object) -> tuple[np.ndarray, np.ndarray]:
        """Values as coordinates; y grows upwards."""
        x = self.left + self.x.place(xs) * (self.right - self.left)
        return x, self.bottom - self.y.place(ys) * (self.bottom - self.top)

    def line(self, xs: object, ys: object, colour: str, width: float = 1.0, **more: object) -> Markup:
        """A line through points."""
        return tag(
            "path", d=path(*self.place(xs, ys)), fill="none", stroke=colour, stroke_width=width, stroke_linejoin="round", **more
        )

    def dots(self, xs: object, ys: object, colour: str, size: float = 3.0, **more: object) -> Markup:
        """Points, all in one element."""
        at = zip(*(v.tolist() for v in self.place(xs, ys)), strict=True)
        d = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in at)
        return tag("path", d=d, fill="none", stroke=colour, stroke_width=size, stroke_linecap="round", **more)

    def rings(self, xs: object, ys: object, colour: str, radius: float = 4.0) -> Markup:
        """Open circles."""
        at = zip(*(v.tolist() for v in self.place(xs, ys)), strict=True)
        found = (tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=radius) for x, y in at)
        return tag("g", *found, fill="none", stroke=colour, stroke_width=1.6)

    def drawn(self, *marks: Markup, legend: Sequence[tuple[str, str]] = ()) -> Markup:
        """Frame, marks, and a legend of (colour, text) above."""
        return join(self._grid(), *marks, self._labels(), self._legend(legend))

    def _grid(self) -> Markup:
        lines: list[Markup] = []
        for value, text in zip(self.x.ticks, self.x.texts(), strict=True):
            at = self.place(value, self.y.low)[0].item()
            lines.append(_rule(at, self.top, at, self.bottom))
            lines.append(tag("text", text, x=f"{at:.1f}", y=self.bottom + 18, text_anchor="middle"))
        for value, text in zip(self.y.ticks, self.y.texts(), strict=True):
            at = self.place(self.x.low, value)[1].item()
            lines.append(_rule(self.left, at, self.right, at))
            lines.append(tag("text", text, x=self.left - 7, y=f"{at + 4.5:.1f}", text_anchor="end"))
        frame = tag(
            "rect",
            x=self.left,
            y=self.top,
            width=self.right - self.left,
            height=self.bottom - self.top,
            fill="none",
            stroke="currentColor",
            stroke_opacity=0.45,
        )
        return join(*lines, frame)

    def _labels(self) -> Markup:
        across, down = (self.left + self.right) / 2, (self.top + self.bottom) / 2
        return join(
            tag("text", self.x_label, x=across, y=self.height - 10, text_anchor="middle"),
            tag("text", self.y_label, x=15, y=down, text_anchor="middle", transform=f"rotate(-90 15 {down})"),
        )

    def has_room(self, legend: Sequence[str]) -> bool:
        """Whether texts of a legend fit into its row."""
        return all(24 + _CHARACTER * len(text) <= (self.right - self.left) / len(legend) for text in legend)

    def _legend(self, entries: Sequence[tuple[str, str]]) -> Markup:
        """In one row, of equal parts."""
        marks = []
        for k, (colour, text) in enumerate(entries):
            x = self.left + k * (self.right - self.left) / len(entries)
            marks.append(tag("line", x1=f"{x:.1f}", y1=12, x2=f"{x + 18:.1f}", y2=12, stroke=colour, stroke_width=3))
            marks.append(tag("text", text, x=f"{x + 24:.1f}", y=16.5))
        return join(*marks)


def run_colours(count: int) -> list[str]:
    """A colour for each run: the first ones have their own.

    >>> [colour == OTHERS for colour in run_colours(8)]
    [False, False, False, False, False, False, True, True]
    """
    return [*COLOURS[:count], *[OTHERS] * (count - len(COLOURS))]


def path(xs: np.ndarray, ys: np.ndarray) -> str:
    """Coordinates as the data of a path, to a tenth of a unit."""
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in zip(xs.tolist(), ys.tolist(), strict=True)) if len(xs) else ""


def _rule(x1: float, y1: float, x2: float, y2: float) -> Markup:
    at = {"x1": f"{x1:.1f}", "y1": f"{y1:.1f}", "x2": f"{x2:.1f}", "y2": f"{y2:.1f}"}
    return tag("line", **at, stroke="currentColor", stroke_opacity=0.13)
