"""Each part of the torture suite for some seconds, with the same seeds every time; ``make torture`` goes on for longer, with others."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from torture import PARTS, arrays, runner

SECONDS = 4


@pytest.mark.parametrize("part", PARTS)
def test_nothing_is_found(part):
    outcome = runner.run_apart(part, 0, SECONDS)
    if outcome.skipped:
        pytest.skip(outcome.skipped)
    assert outcome.findings == []
    assert outcome.trials


def test_every_part_is_listed():
    folder = Path(import_module("torture").__file__).parent
    assert {path.stem for path in folder.glob("*.py")} - {"__init__", "__main__", "runner", "bounds", "sound"} == set(PARTS)


def test_the_fuzzer_gets_past_the_first_checks():
    outcomes = {arrays.Fuzzer(seed).round() for seed in range(4000)}
    assert {"nearly_good: fine", "nearly_good: InvalidGraphError", "batch: fine"} <= outcomes


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("return 'odd seed' if seed == 12 else None", "odd seed"),
        ("assert seed != 12", "AssertionError"),
        ("seed != 12 or os.kill(os.getpid(), 9)", "the process ended with -9"),
    ],
)
def test_findings_name_their_seed(body, found, tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys, types\n"
        "part = types.ModuleType('torture.arrays')\n"
        f"exec('''def trial(seed):\\n    {body}''', {{'os': os}}, vars(part))\n"
        "sys.modules['torture.arrays'] = part\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    outcome = runner.run_apart("arrays", 10, 1)
    assert outcome.findings[0][0] == 12
    assert found in outcome.findings[0][1]
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{Path(__file__).parent}")
    command = [sys.executable, "-m", "torture", "--part", "arrays", "--seed", "12", "--seconds", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "FOUND by --part arrays --seed 12 --seconds 0" in done.stdout
    assert done.stdout.splitlines()[-1].split()[:3] == ["arrays", "1", "1"]
