"""The documentation site builds without a warning, and its pages fetch nothing from other hosts."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mkdocstrings_handlers.python")

ROOT = Path(__file__).resolve().parents[1]
# what a browser loads by itself, unlike the links of a page
LOADED = re.compile(r"""<(?:script|img|iframe|link)\b[^>]*?\b(?:src|href)=["']?(https?:)?//|url\(["']?(https?:)?//""")


def test_the_site_builds_and_fetches_nothing(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    pages = {path.relative_to(tmp_path).as_posix(): path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.html")}
    assert "planegraph.decompose" in pages["api/planegraph/index.html"]
    assert "canonical_form" in pages["index.html"]
    styles = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.css")}
    assert not {name for name, text in (pages | styles).items() if LOADED.search(text)}
