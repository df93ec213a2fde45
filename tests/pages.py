"""The code of the documentation, as it stands on its pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of one language, in order; ``page`` is relative to the root of the project."""
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def run_blocks(page: str, names: dict[str, Any]) -> None:
    """Runs a page's Python blocks one after the other in one namespace."""
    for k, code in enumerate(blocks(page, "python"), start=1):
        exec(compile(code, f"{page}, block {k}", "exec"), names)
