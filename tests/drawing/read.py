"""Reads a page as a browser would: its elements by their ids, and its data."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import numpy as np

import planegraph as pg

_ALONE = {"meta", "link", "input"}
ROW = ("type", "block", "parent", "theta", "nodes", "points", "edges", "bends", "walk", "walk_edges", "positions")

_EDGES = [
    *((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 4), (4, 3), (2, 3), (3, 5), (5, 6), (6, 3)),
    *((6, 7), (7, 8), (7, 9), (9, 10), (10, 7), (11, 12)),
]
MIXED = pg.Graph(14, _EDGES)
"""S, P, Q and R, cut nodes, an isolated node."""


class Page(HTMLParser):
    """``ids`` maps ids to (tag, attributes); ``scripts`` are the texts of script elements. Fails unless elements are nested well."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: dict[str, tuple[str, dict[str, str | None]]] = {}
        self.tags: list[str] = []
        self.scripts: list[str] = []
        self.titles: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        given = dict(attrs)
        self.tags.append(tag)
        assert not any(name.startswith("on") for name in given), given
        if "id" in given:
            assert given["id"] not in self.ids, given["id"]
            self.ids[given["id"]] = (tag, given)
        if tag not in _ALONE:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _ALONE:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, text: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts.append(text)
        if self.open and self.open[-1] == "h1":
            self.titles.append(text)

    @property
    def data(self) -> dict[str, Any]:
        """The data of the script, rows of SPQR nodes by name."""
        data = json.loads(self.scripts[0])
        data["spqr"] = [dict(zip(ROW, row, strict=True)) for row in data["spqr"]]
        return data

    def parts(self, kind: str) -> set[int]:
        """The numbers of the parts of a kind: v, e, k, r, b, c or s."""
        return {int(found[1]) for found in map(re.compile(rf"{kind}(\d+)").fullmatch, self.ids) if found}


def views(html: str) -> list[ElementTree.Element]:
    """The SVG elements of a page, which must be well-formed."""
    return [ElementTree.fromstring(text) for text in re.findall(r"<svg xmlns.*?</svg>", html, re.DOTALL)]


def swap(g: pg.Graph) -> pg.Graph:
    """With the numbers of the nodes reversed."""
    return g.relabel(np.arange(g.num_nodes)[::-1])
