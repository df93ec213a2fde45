"""The look of a page: one HTML file with its style inside; light or dark as the reader's system is; one column on a phone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ..io.atomic import replace_files
from .markup import Markup, join, tag
from .plot import Figure

_STYLE = """
:root{color-scheme:light dark;--back:#fff;--text:#20242a;--soft:#5c6670;--line:#d9dee3;--card:#f5f7f9}
@media (prefers-color-scheme:dark){:root{--back:#15181c;--text:#e3e6ea;--soft:#9aa4ae;--line:#343a41;--card:#1d2126}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:72rem;padding:1rem 1rem 4rem;background:var(--back);color:var(--text);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
h1{font-size:1.6rem;line-height:1.25;margin:.5rem 0}
h2{font-size:1.15rem;margin:2.2rem 0 .6rem}
h3{font-size:1rem;margin:.6rem 0}
p{margin:.3rem 0;max-width:48rem}
.soft,figcaption{color:var(--soft);font-size:.875rem}
.result{display:flex;flex-wrap:wrap;gap:.8rem;margin:1rem 0}
.result div{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.7rem 1rem;flex:1 1 14rem}
.result strong{display:block;font-size:1.7rem;line-height:1.3;font-variant-numeric:tabular-nums}
.note{border-left:4px solid #e07b22;background:var(--card);padding:.6rem .9rem;margin:1rem 0}
.figures{display:grid;align-items:start;grid-template-columns:repeat(auto-fill,minmax(min(100%,25rem),1fr));gap:1rem}
.figures>div{min-width:0}
details{margin:.6rem 0}
figure{margin:0;background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.6rem}
figure svg{display:block;width:100%;height:auto;max-width:44rem;margin:0 auto}
figcaption{margin:.3rem .4rem 0}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{padding:.25rem .8rem;border-bottom:1px solid var(--line);text-align:left;white-space:nowrap}
td.number,th.number{text-align:right}
tr.sum td{font-weight:600;border-top:2px solid var(--line)}
td.text{white-space:normal;overflow-wrap:anywhere}
summary{cursor:pointer;color:var(--soft)}
@media print{.figures{display:block}figure{break-inside:avoid;margin-bottom:1rem}}
"""


def write_page(path: Path, title: str, *body: Markup | None) -> None:
    """Writes a page as a whole."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        tag("style", Markup(_STYLE)),
    )
    html = "<!DOCTYPE html>\n" + tag("html", head, "\n", tag("body", *body), lang="en") + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_files({path: html})


def section(title: str, *body: Markup | None) -> Markup | None:
    """A heading with what is under it, or nothing if nothing is."""
    return join(tag("h2", title), *body, "\n") if any(part for part in body) else None


def figures(found: Iterable[Figure]) -> Markup | None:
    """Figures beside each other, as far as the screen is wide."""
    made = [tag("figure", figure.svg(), tag("figcaption", figure.caption)) for figure in found]
    return tag("div", *made, class_="figures") if made else None


def cards(entries: Iterable[tuple[str, str]]) -> Markup:
    """Large figures, each with what it is."""
    return tag(
        "div", *(tag("div", tag("strong", value), tag("span", what, class_="soft")) for value, what in entries), class_="result"
    )


def table(head: Sequence[str], rows: Iterable[Sequence[object]], words: int = 1, last: Sequence[str] | None = None) -> Markup:
    """A table whose first ``words`` columns are words and whose others are numbers; ``last``: a row of totals."""

    def row(cells: Sequence[object], kind: str, **more: object) -> Markup:
        made = (tag(kind, cell, class_=None if i < words else "number") for i, cell in enumerate(cells))
        return tag("tr", *made, **more)

    body = [row(cells, "td") for cells in rows]
    if last is not None:
        body.append(row(last, "td", class_="sum"))
    return tag("div", tag("table", tag("thead", row(head, "th")), tag("tbody", *body)), class_="wide")


def swatch(colour: str, text: object) -> Markup:
    """A text with a dot of its colour in the plots."""
    return join(tag("span", "●", style=f"color:{colour}"), " ", text)


def facts(values: Mapping[str, object]) -> Markup:
    """Names and values, a row each; lists and tables as they would be written in one line."""
    rows = (tag("tr", tag("th", name), tag("td", text(value), class_="text")) for name, value in values.items())
    return tag("div", tag("table", tag("tbody", *rows)), class_="wide")


def text(value: object) -> str:
    """A value of the settings or of a machine; nothing is a dash."""
    if value is None or value == {} or value == []:
        return "-"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {text(v)}" for key, v in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(text(v) for v in value)
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
