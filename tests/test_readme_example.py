"""The programs of the README's section on learning run as they stand there, one after the other, and the model learns.

The README's other examples are doctests.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("torch_geometric")

README = Path(__file__).resolve().parents[1] / "README.md"


def programs() -> list[str]:
    section = README.read_text(encoding="utf-8").split("\n## Learning\n")[1].split("\n## ")[0]
    return re.findall(r"```python\n(.*?)```", section, re.DOTALL)


def test_the_programs_run(tmp_path, monkeypatch, capsys):
    import torch

    monkeypatch.chdir(tmp_path)
    first, second = programs()
    names: dict = {"__name__": "readme"}
    exec(compile(first, "README.md, training with PyG", "exec"), names)
    error = float(re.search(r"off by (\S+) triangles", capsys.readouterr().out)[1])
    y = names["dataset"].y
    constant = float((y - y.median()).abs().mean())
    assert error < constant / 2
    before = names["model"]
    exec(compile(second, "README.md, the packed route", "exec"), names)
    batch = names["packed"][:10]
    assert torch.equal(names["model"](batch), before.eval()(batch))


def test_the_example_is_short():
    assert len([line for line in programs()[0].splitlines() if line.strip()]) <= 30
