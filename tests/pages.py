"""The code of the documentation, as it stands on its pages: the README and docs/*.md."""

from __future__ import annotations

import doctest
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "CONTRIBUTING.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")))


@dataclass(frozen=True)
class Block:
    """A fenced block: its page, the number of its first line of code, its language and its code."""

    page: str
    line: int
    language: str
    code: str

    def __str__(self) -> str:
        return f"{self.page}, line {self.line}"

    def run(self, names: dict[str, Any]) -> None:
        """Runs Python code in a namespace; doctests must print what the page says."""
        if not self.code.startswith(">>>"):
            exec(compile("\n" * (self.line - 1) + self.code, self.page, "exec"), names)
            return
        test = doctest.DocTestParser().get_doctest(self.code, names, self.page, self.page, self.line - 1)
        found: list[str] = []
        doctest.DocTestRunner(verbose=False).run(test, out=found.append, clear_globs=False)
        assert not found, "".join(found)
        names.update(test.globs)


def blocks(page: str, language: str | None = None) -> list[Block]:
    """The fenced blocks of a page in order, of one language or of all; ``page`` is relative to the root of the project."""
    text = (ROOT / page).read_text(encoding="utf-8")
    fences = re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    found = [Block(page, text.count("\n", 0, fence.start()) + 2, fence[1], fence[2]) for fence in fences]
    return [block for block in found if language in (None, block.language)]


def run_all(blocks: Iterable[Block], names: dict[str, Any] | None = None) -> dict[str, Any]:
    """Runs Python blocks one after the other in one namespace, and gives it back."""
    names = {"__name__": "page"} if names is None else names
    for block in blocks:
        block.run(names)
    return names
