"""Each part of the torture suite for a second, with the same seeds every time; ``make torture`` goes on for longer, with others."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from torture import PARTS, arrays, folders, runner

SECONDS = 1


@pytest.mark.parametrize("part", PARTS)
def test_nothing_is_found(part):
    [outcome] = runner.run_apart([part], 0, SECONDS)
    assert outcome.findings == []
    if not outcome.trials:
        pytest.skip(outcome.skipped)


def test_every_part_is_listed():
    folder = Path(import_module("torture").__file__).parent
    assert {path.stem for path in folder.glob("*.py") if "\ndef trial(" in path.read_text()} == set(PARTS)


def test_the_fuzzer_gets_past_the_first_checks():
    outcomes = {arrays.Fuzzer(seed).round() for seed in range(4000)}
    assert {"nearly_good: fine", "nearly_good: InvalidGraphError", "batch: fine"} <= outcomes


@pytest.fixture
def arrays_does(tmp_path, monkeypatch):
    """Puts another trial in the place of that of the part ``arrays``, for processes that are started then."""

    def replace(body: str) -> None:
        lines = "\n".join(f"    {line}" for line in body.splitlines())
        (tmp_path / "sitecustomize.py").write_text(
            "import os, sys, tempfile, time, types\n"
            "part = types.ModuleType('torture.arrays')\n"
            "vars(part).update(os=os, tempfile=tempfile, time=time)\n"
            f"exec({f'def trial(seed):{chr(10)}{lines}'!r}, vars(part))\n"
            "sys.modules['torture.arrays'] = part\n"
        )
        monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{Path(__file__).parent}")

    return replace


def start(*options: str) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-m", "torture", *options], stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("return 'odd seed' if seed == 12 else None", "odd seed"),
        ("assert seed != 12", "AssertionError"),
        ("seed != 12 or os.kill(os.getpid(), 9)", "the process ended with -9"),
    ],
)
def test_findings_name_their_seed(body, found, arrays_does):
    arrays_does(body)
    [outcome] = runner.run_apart(["arrays"], 10, 1)
    assert outcome.findings[0][0] == 12
    assert found in outcome.findings[0][1]
    process = start("--part", "arrays", "--seed", "12", "--seconds", "0")
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "FOUND by --part arrays --seed 12 --seconds 0" in said
    assert said.splitlines()[-1].split()[:3] == ["arrays", "1", "1"]


_HANGS = """
if seed == 10:
    return "the first"
with open(tempfile.mkstemp()[1] + ".pid", "w") as file:
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        time.sleep(600)
    open("{folder}/place", "w").write(file.name)
    open("{folder}/pid", "w").write(str(child))
time.sleep(600)
"""


def is_alive(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_part_that_hangs_leaves_nothing_behind(arrays_does, tmp_path, monkeypatch):
    arrays_does(_HANGS.format(folder=tmp_path))
    monkeypatch.setattr(runner, "_USUAL_PATIENCE", 2.0)
    [outcome] = runner.run_apart(["arrays"], 10, 2)
    assert outcome.findings == [(10, "the first"), (11, "still running after 4 s")]
    assert outcome.trials == 2
    assert not is_alive(int((tmp_path / "pid").read_text()))
    assert not Path((tmp_path / "place").read_text()).exists()


def test_what_is_done_is_told_after_an_interrupt(arrays_does, tmp_path):
    arrays_does(_HANGS.format(folder=tmp_path))
    process = start("--part", "arrays", "--seed", "10", "--seconds", "60")
    until = time.monotonic() + 60
    while not (tmp_path / "pid").exists() and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "FOUND by --part arrays --seed 10 --seconds 0\nthe first" in said
    assert said.splitlines()[-1].split()[:3] == ["arrays", "1", "1"]
    assert not is_alive(int((tmp_path / "pid").read_text()))


def test_several_parts_at_a_time(arrays_does):
    arrays_does("time.sleep(0.1)")
    begin = time.monotonic()
    outcomes = list(runner.run_apart(["arrays"] * 4, 10, 8, jobs=2))
    assert len(outcomes) == 4
    assert all(4 <= outcome.seconds < 12 for outcome in outcomes)  # 2 s more for the start of a process
    assert time.monotonic() - begin < 0.75 * sum(outcome.seconds for outcome in outcomes)


def child(code: int, said: str = "", killed: bool = False, hung: bool = False) -> SimpleNamespace:
    return SimpleNamespace(code=code, said=said, killed=killed, hung=hung)


@pytest.mark.parametrize(
    ("children", "found"),
    [
        ([child(0), child(2, "run is in use by")], None),
        ([child(-9, killed=True), child(2, "run is in use by")], None),
        ([child(2, "run is in use by")], "each was refused:\nrun is in use by"),
        ([child(-9, killed=True), child(70, "a trace")], "exit code 70: a trace"),
        ([child(70, "a trace"), child(0)], "exit code 70: a trace"),
        ([child(-9), child(0)], "exit code -9: "),
        ([child(-9, hung=True), child(0)], "still running after 120 s: "),
        ([child(2, "no such file"), child(0)], "exit code 2: no such file"),
    ],
)
def test_what_is_wrong_with_children(children, found):
    assert folders._wrong(children) == found
