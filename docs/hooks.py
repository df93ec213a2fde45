"""What `mkdocs.yml` cannot say: pages from the root of the repository, links to its other files, Sphinx's markup in docstrings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import griffe
import latex2mathml.converter
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
FROM_ROOT = ("README.md", "CONTRIBUTING.md")
# what a browser loads by itself, unlike the links of a page
LOADED = re.compile(r"""<(?:script|img|iframe|link)\b[^>]*?\b(?:src|href)=["']?(https?:)?//|url\(["']?(https?:)?//""")


def on_files(files: Any, config: Any) -> Any:
    """Pages from the root: the README becomes ``index.html``. Their links are rewritten as seen from docs/."""
    for name in FROM_ROOT:
        text = (ROOT / name).read_text(encoding="utf-8")
        text = re.sub(r"\]\((?!https?:|#)([^)]+)\)", lambda link: f"]({_from_docs(link[1])})", text)
        files.append(File.generated(config, name, content=text))
    return files


def _from_docs(path: str) -> str:
    if path in FROM_ROOT:
        return path
    return path.removeprefix("docs/") if path.startswith("docs/") else f"../{path}"


def on_page_markdown(markdown: str, config: Any, **_: Any) -> str:
    """Links such as ``../examples/molecules.csv`` lead to the file in the repository."""

    def link(match: re.Match) -> str:
        if not (ROOT / match[1]).exists():
            raise FileNotFoundError(f"a page links to {match[1]}, which is not in the repository")
        return f"]({config.repo_url}/blob/main/{match[1]})"

    return re.sub(r"\]\(\.\./([^)#]+)\)", link, markdown)


def on_post_build(config: Any) -> None:
    """Pages and styles fetch nothing from other hosts."""
    files = [path for path in Path(config.site_dir).rglob("*") if path.suffix in (".html", ".css")]
    if loading := [path.name for path in files if LOADED.search(path.read_text(encoding="utf-8"))]:
        raise RuntimeError(f"the site loads something from another host: {', '.join(loading)}")


class SphinxMarkup(griffe.Extension):
    """Docstrings as Markdown: ``:class:`Graph``` is a link if the site has the name; doctests, tables and what follows ``::`` are code."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        def link(role: re.Match) -> str:
            return f'<autoref identifier="{_full_name(obj, role[1])}" optional><code>{role[1]}</code></autoref>'

        if obj.docstring:
            text = re.sub(r":math:`([^`]+)`", _inline_math, obj.docstring.value)
            text = re.sub(r":\w+:`~?([\w.]+)`", link, text)
            text = re.sub(r"^\.\. math::\n((?:\n| +.+\n)+)", _math, text, flags=re.MULTILINE)
            text = re.sub(r"^=[= ]+\n(.+\n)+?=[= ]+$", _fenced, text, flags=re.MULTILINE)
            text = re.sub(r"`([^`<]+) <(https?:[^>]+)>`_", r"[\1](\2)", text)
            text = re.sub(r"::$", ":", text, flags=re.MULTILINE)
            obj.docstring.value = re.sub(r"^>>> (?:.+\n?)+", _fenced, text, flags=re.MULTILINE)


def _fenced(found: re.Match) -> str:
    """A doctest, or a table in columns of characters."""
    return f"```{'pycon' if found[0].startswith('>>>') else 'text'}\n{found[0].rstrip()}\n```\n"


def _math(found: re.Match) -> str:
    """MathML, which browsers set without a script."""
    return f"{latex2mathml.converter.convert(' '.join(found[1].split()), display='block')}\n\n"


def _inline_math(found: re.Match) -> str:
    return f"<span>{latex2mathml.converter.convert(found[1])}</span>"  # Markdown takes math at the start of a line for a block


def _full_name(obj: griffe.Object, name: str) -> str:
    try:
        return obj.resolve(name)
    except griffe.NameResolutionError:
        return name
