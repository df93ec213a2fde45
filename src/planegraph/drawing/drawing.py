"""Draws a graph with its decomposition: ``planegraph.draw``.

What draws is imported when something is drawn: it is a fifth of what ``import planegraph`` would take.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..decomposition.api import decompose
from ..decomposition.objects import Decomposition
from ..graphs.formats.convert import as_graph
from ..graphs.formats.molecules import from_rdkit
from ..io.atomic import replace_files

if TYPE_CHECKING:
    from .scene import Scene

SUFFIXES = (".html", ".svg")


class Drawing:
    """A graph, its block-cut tree and its SPQR trees; a notebook shows it as the last value of a cell.

    >>> import planegraph as pg
    >>> drawing = pg.draw(pg.families.wheel(5))
    >>> drawing
    Drawing(Graph(6 nodes, 10 edges))
    >>> "<svg" in drawing.svg(), "<html" in drawing.html()
    (True, True)
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    def html(self) -> str:
        """The page to explore, as text: one file that loads nothing."""
        from .page import page

        return page(self._scene)

    def svg(self) -> str:
        """The still picture, as text."""
        from .views import picture

        return picture(self._scene)

    @property
    def summary(self) -> str:
        """What is drawn, in words."""
        from .views import facts

        return " · ".join(facts(self._scene))

    def save(self, path: str | Path) -> Path:
        """Writes the page (.html) or the still picture (.svg)."""
        path = Path(path)
        if path.suffix.lower() not in SUFFIXES:
            raise ValueError(f"a drawing is saved as .html or .svg; found {path.name!r}")
        replace_files({path: self.svg() if path.suffix.lower() == ".svg" else self.html()})
        return path

    def _repr_html_(self) -> str:
        """The page in a frame, so that its script and style meet no others."""
        from html import escape

        return (
            f'<iframe srcdoc="{escape(self.html())}" style="width:100%;height:46rem;border:0" sandbox="allow-scripts" '
            'title="A graph and its decomposition"></iframe>'
        )

    def __repr__(self) -> str:
        return f"Drawing({self._scene.graph!r})"


def draw(
    graph: Any,
    *,
    positions: Any = None,
    labels: Any = None,
    block: int | None = None,
    title: str | None = None,
    stereo: bool = True,
) -> Drawing:
    """Draws a planar graph with its block-cut tree and its SPQR trees.

    The page has the three views linked: a part that is pointed at lights up in all of them. It steps along canonical walks and
    renumbers the graph. Of a graph of more than 5,000 nodes, the largest block that fits is drawn.

    Args:
        graph: a :class:`Decomposition`, an RDKit molecule, or any graph that :func:`planegraph.as_graph` reads.
        positions: points of the nodes, as of a map: shape (n, 2), or a dict by node. The default is a drawing without crossings;
            RDKit's layout of a molecule.
        labels: what to write at the nodes instead of names or numbers: in their order, or a dict by node.
        block: draws only this block, by its number in ``Decomposition.blocks``.
        title: of the page.
        stereo: whether the stereochemistry of a molecule counts.

    >>> import planegraph as pg
    >>> pg.draw(pg.families.prism(3), labels="abcdef").html().startswith("<!DOCTYPE html>")
    True
    """
    from .molecules import drawn
    from .scene import make_scene

    lines, node_word = None, "node"
    if isinstance(graph, Decomposition):
        d = graph
    elif hasattr(graph, "GetAtoms"):
        points, symbols, lines = drawn(graph)
        positions = points if positions is None else positions
        labels = symbols if labels is None else labels
        d, node_word = decompose(from_rdkit(graph, stereo)), "atom"
    else:
        d = decompose(as_graph(graph))
    return Drawing(make_scene(d, title, positions, labels, lines, block, node_word))
