"""Renders pages: templates filled by Jinja, which escapes every text that is not markup already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ..io.atomic import replace_files

_CONTROL = dict.fromkeys([i for i in range(32) if chr(i) not in "\t\n\r"] + [127], "\N{REPLACEMENT CHARACTER}")


@dataclass(frozen=True)
class Table:
    """A table whose first ``words`` columns are words and whose others are numbers; ``last``: a row of totals."""

    head: Sequence[object]
    rows: Sequence[Sequence[object]]
    words: int = 1
    last: Sequence[object] | None = None


def write_page(path: Path, template: str, **values: object) -> Path:
    """Fills a template and writes the page as a whole."""
    folder = FileSystemLoader(Path(__file__).parent / "templates")
    pages = Environment(loader=folder, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    pages.filters["setting"] = setting
    write_files({path: pages.get_template(template).render(values) + "\n"})
    return path


def write_files(texts: Mapping[Path, str]) -> None:
    """Writes HTML or SVG; replaces control characters, which neither can express."""
    for path in texts:
        path.parent.mkdir(parents=True, exist_ok=True)
    replace_files({path: text.translate(_CONTROL) for path, text in texts.items()})


def swatch(colour: str, text: object) -> Markup:
    """A text behind a dot in its colour in the plots."""
    return Markup('<span style="color:{}">●</span> {}').format(colour, text)


def setting(value: object) -> str:
    """The value of a setting as text.

    >>> setting({"lr": [0.1, 0.2], "clip": None, "residual": True})
    'lr: 0.1, 0.2, clip: -, residual: yes'
    """
    if value is None or value == {} or value == []:
        return "-"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {setting(v)}" for key, v in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(setting, value))
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
