"""A folder of the package knows only those before it (tools/layers.py)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
import layers


def test_a_folder_knows_only_those_before_it():
    assert layers.violations() == []


@pytest.mark.parametrize(
    ("file", "line", "message"),
    [
        (
            "graphs/graph.py",
            "from ..data.packed import PackedDataset",
            "graphs/graph.py:1: graphs imports data, which comes after it",
        ),
        ("nn/mlp.py", "def f():\n    import planegraph.train.run", "nn/mlp.py:2: nn imports train, which comes after it"),
        ("graphs/formats/pyg.py", "from ... import cli", "graphs/formats/pyg.py:1: graphs imports cli, which comes after it"),
        ("helpers/__init__.py", "", "helpers is in no layer; add it to LAYERS"),
    ],
)
def test_what_breaks_the_rule_is_named(tmp_path, file, line, message):
    (tmp_path / file).parent.mkdir(parents=True)
    (tmp_path / file).write_text(line)
    assert layers.violations(tmp_path) == [message]


def test_what_keeps_the_rule_is_silent(tmp_path):
    (tmp_path / "nn" / "ops").mkdir(parents=True)
    (tmp_path / "nn" / "ops" / "sums.py").write_text(
        "from ... import _core\nfrom ...data import batch\nfrom ..mlp import MLP\nimport torch\n"
    )
    assert layers.violations(tmp_path) == []
