"""Runs parts of the torture suite: trial after trial until the time is over, and a table of what came out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path

_MOST = 20  # findings of one part, after which it ends
_PATIENCE = {"giants": 2400.0, "sanitizers": 1200.0}  # seconds beyond its time after which a part is taken to hang
_USUAL_PATIENCE = 300.0


@dataclass
class Outcome:
    """What a part did: its first seed, how many trials, and the findings by seed; or why it was skipped."""

    part: str
    seed: int
    trials: int = 0
    seconds: float = 0.0
    findings: list[tuple[int, str]] = field(default_factory=list)
    skipped: str = ""


def run_part(part: str, seed: int, seconds: float, at: Callable[[int], object] = lambda seed: None) -> Outcome:
    """Trials of one part in this process, at least one unless it says what it misses; ``at`` is told each seed before its trial."""
    module, outcome, begin = import_module(f".{part}", __package__), Outcome(part, seed), time.monotonic()
    trial, outcome.skipped = module.trial, getattr(module, "missing", str)()
    if outcome.skipped:
        return outcome
    while outcome.trials == 0 or (time.monotonic() - begin < seconds and len(outcome.findings) < _MOST):
        now = seed + outcome.trials
        at(now)
        try:
            found = trial(now)
        except Exception:
            found = traceback.format_exc()
        if found:
            outcome.findings.append((now, found))
        outcome.trials += 1
    outcome.seconds = time.monotonic() - begin
    return outcome


def run_apart(part: str, seed: int, seconds: float) -> Outcome:
    """The same in a process of its own: one that dies or hangs is a finding of the trial that it was at."""
    begin, limit = time.monotonic(), seconds + _PATIENCE.get(part, _USUAL_PATIENCE)
    with tempfile.TemporaryDirectory() as folder:
        progress, result = Path(folder, "seed"), Path(folder, "result.json")
        program = "import sys; from torture.runner import run_and_tell; run_and_tell(sys.argv[1], *map(int, sys.argv[2:4]), *sys.argv[4:])"
        command = [sys.executable, "-c", program, part, str(seed), str(max(int(seconds), 0)), str(progress), str(result)]
        path = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])])
        try:
            code = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, timeout=limit).returncode
            if code == 0:
                return Outcome(**json.loads(result.read_text()))
            what = f"the process ended with {code}"
        except subprocess.TimeoutExpired:
            what = f"still running after {limit:.0f} s"
        last = int(progress.read_text() or seed) if progress.exists() else seed
        return Outcome(part, seed, last - seed + 1, time.monotonic() - begin, [(last, what)])


def run_and_tell(part: str, seed: int, seconds: int, progress: str, result: str) -> None:
    """What the process of :func:`run_apart` does."""
    with open(progress, "wb", buffering=0) as file:
        outcome = run_part(part, seed, seconds, lambda now: os.pwrite(file.fileno(), b"%020d" % now, 0))
    Path(result).write_text(json.dumps(asdict(outcome)))


def table(outcomes: Sequence[Outcome]) -> str:
    """One line for each part."""
    rows = [("part", "trials", "findings", "seconds", "seed")]
    rows += [(o.part, f"{o.trials:,}", str(len(o.findings)), f"{o.seconds:.0f}", str(o.seed)) for o in outcomes]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows]
    return "\n".join(lines) + "\n"
