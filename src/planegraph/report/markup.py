"""Elements of HTML and SVG as text. What is not already markup is escaped, so no text can become an element.

Everything written here is well-formed XML too, which is what the tests parse.
"""

from __future__ import annotations

from html import escape

_EMPTY = {"br", "circle", "line", "meta", "path", "rect"}  # all others need an end tag in HTML
_CONTROL = {i: "\N{REPLACEMENT CHARACTER}" for i in range(32) if chr(i) not in "\t\n\r"} | {127: "\N{REPLACEMENT CHARACTER}"}


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


def tag(name: str, /, *children: object, **attributes: object) -> Markup:
    """An element; attributes that are None are left out, ``stroke_width`` is written ``stroke-width`` and ``class_`` ``class``.

    >>> tag("td", "a < b", class_="number")
    '<td class="number">a &lt; b</td>'
    """
    given = "".join(f' {_attribute(key)}="{_escaped(value)}"' for key, value in attributes.items() if value is not None)
    if name in _EMPTY and not children:
        return Markup(f"<{name}{given}/>")
    return Markup(f"<{name}{given}>{join(*children)}</{name}>")


def join(*children: object) -> Markup:
    """Markup one after another; None is nothing."""
    return Markup("".join(c if isinstance(c, Markup) else _escaped(c) for c in children if c is not None))


def _attribute(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def _escaped(value: object) -> str:
    return escape(str(value).translate(_CONTROL))  # XML has no way to write control characters
