"""The page: one HTML file with the three views, their data and a script; it loads nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from .markup import element, text
from .scene import Scene, as_data
from .style import STYLE
from .views import View, block_cut_view, facts, graph_view, legend, spqr_view

_FOLDER = Path(__file__).parent / "page"


def page(scene: Scene) -> str:
    """The page as text."""
    d = scene.decomposition
    head, script, style = ((_FOLDER / name).read_text(encoding="utf-8") for name in ("page.html", "page.js", "page.css"))
    values = {
        "title": text(scene.title),
        "style": STYLE + style,
        "script": script,
        "facts": " · ".join(map(text, facts(scene))),
        "digest": text(scene.digest),
        "code_bytes": f"{scene.code_bytes:,}",
        "notes": "".join(element("p", text(note), class_="note") for note in scene.notes),
        "legend": "".join(
            View(width, 24, element("g", body, transform="translate(0 12)")).svg(class_="planegraph", role="img", width=width)
            for width, body in legend()
        ),
        "graph": _view(graph_view(scene), "Drawing of the graph"),
        "blocks": _view(block_cut_view(scene), "Block-cut tree"),
        "blocks_title": "Block-cut tree" if d.components.max(initial=0) == 0 else "Block-cut trees",
        "spqr": _view(spqr_view(scene), "SPQR trees with their skeletons"),
        "spqr_title": "SPQR tree" if len(d.blocks) == 1 else "SPQR trees",
        "data": as_json(as_data(scene)),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], head)


def as_json(value: Any) -> str:
    """JSON that can stand in a script element: nothing in it can end that or open a comment.

    >>> as_json({"a": "</script><!--"})
    '{"a":"\\\\u003c/script\\\\u003e\\\\u003c!--"}'
    """
    plain = json.dumps(value, separators=(",", ":"))
    return plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _view(view: View, label: str) -> str:
    return view.svg(class_="planegraph", role="group", aria_label=label, tabindex=-1)
