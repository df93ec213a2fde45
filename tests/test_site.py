"""The documentation site builds without a warning, and its pages fetch nothing from other hosts (docs/hooks.py), as `make site` checks."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("mkdocstrings_handlers.python")

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(
    ("name", "text", "fetches"),
    [
        ("a.html", '<a href="https://example.org">there</a><script src="a.js"></script>', False),
        ("a.html", '<script src="https://example.org/a.js"></script>', True),
        ("a.html", '<link rel="stylesheet" href=//example.org/a.css>', True),
        ("a.css", "@font-face { src: url('https://example.org/a.woff') }", True),
    ],
)
def test_what_a_page_fetches_is_noticed(name, text, fetches, tmp_path):
    spec = importlib.util.spec_from_file_location("hooks", ROOT / "docs/hooks.py")
    hooks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hooks)
    (tmp_path / name).write_text(text)
    with pytest.raises(RuntimeError, match=re.escape(name)) if fetches else nullcontext():
        hooks.on_post_build(SimpleNamespace(site_dir=tmp_path))


@pytest.mark.slow  # where the tests run, `make site` runs too
def test_the_site_builds(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "planegraph.decompose" in (tmp_path / "api/planegraph/index.html").read_text(encoding="utf-8")
    assert "canonical_form" in (tmp_path / "index.html").read_text(encoding="utf-8")
