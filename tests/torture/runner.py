"""Runs parts of the torture suite: trial after trial until the time is over, and a table of what came out.

Each part runs in a separate process, which leads a session and has its own folder for temporary files. When it ends, hangs or is
interrupted, all processes of the session are killed and the folder is removed.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from . import PARTS

_MOST = 20  # findings of one part, after which it ends
_PATIENCE = {"giants": 2400.0, "sanitizers": 1200.0}  # seconds beyond its time after which a part is taken to hang
_USUAL_PATIENCE = 300.0
_POLL = 0.05


@dataclass
class Outcome:
    """What a part did: its first seed, how many trials, the findings by seed, and what was skipped and why: the whole, or some attacks."""

    part: str
    seed: int
    trials: int = 0
    seconds: float = 0.0
    findings: list[tuple[int, str]] = field(default_factory=list)
    skipped: str = ""


# ---- in the process of a part ---------------------------------------------------------------------------------------------------


def run_part(part: str, seed: int, seconds: float, tell: Callable[[Outcome], object] = lambda outcome: None) -> Outcome:
    """Trials of one part in this process, at least one unless it says what it misses; ``tell`` is called before each and at the end."""
    module, outcome, begin = import_module(f".{part}", __package__), Outcome(part, seed), time.monotonic()
    outcome.skipped = getattr(module, "missing", str)()
    if not outcome.skipped:
        outcome.skipped = getattr(module, "without", str)()
        while outcome.trials == 0 or (time.monotonic() - begin < seconds and len(outcome.findings) < _MOST):
            tell(outcome)
            now = seed + outcome.trials
            try:
                found = module.trial(now)
            except Exception:
                found = traceback.format_exc()
            if found:
                outcome.findings.append((now, found))
            outcome.trials += 1
    tell(outcome)
    return outcome


def run_and_tell(part: str, seed: int, seconds: int, progress: str, findings: str) -> None:
    """What the process of an :class:`Apart` does: ``progress`` is the number of trials that have ended, ``findings`` what they found."""
    told = None

    def tell(outcome: Outcome) -> None:
        nonlocal told
        if told != len(outcome.findings):
            told = len(outcome.findings)
            new = Path(f"{findings}.new")
            new.write_text(json.dumps({"findings": outcome.findings, "skipped": outcome.skipped}))
            new.replace(findings)
        os.pwrite(file.fileno(), b"%020d" % outcome.trials, 0)

    with open(progress, "wb", buffering=0) as file:
        run_part(part, seed, seconds, tell)


# ---- from outside ---------------------------------------------------------------------------------------------------------------


class Apart:
    """A part in a separate process: one that dies or hangs is a finding of the trial that it was at."""

    def __init__(self, part: str, seed: int, seconds: float) -> None:
        self.part, self.seed, self._begin = part, seed, time.monotonic()
        self._limit = seconds + _PATIENCE.get(part, _USUAL_PATIENCE)
        self._folder = tempfile.TemporaryDirectory(prefix="torture-", ignore_cleanup_errors=True)
        self._progress, self._findings, temporary = (Path(self._folder.name, name) for name in ("progress", "findings", "tmp"))
        temporary.mkdir()
        program = "import sys; from torture.runner import run_and_tell; run_and_tell(sys.argv[1], *map(int, sys.argv[2:4]), *sys.argv[4:])"
        told = (part, str(seed), str(max(int(seconds), 0)), str(self._progress), str(self._findings))
        path = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])])
        env = {**os.environ, "PYTHONPATH": path, "TMPDIR": str(temporary)}
        self._process = subprocess.Popen([sys.executable, "-c", program, *told], env=env, start_new_session=True)

    def ended(self) -> Outcome | None:
        """What came out; None while it is running."""
        code, seconds = self._process.poll(), time.monotonic() - self._begin
        if code is None and seconds <= self._limit:
            return None
        outcome = self.so_far()
        if code != 0:
            what = f"still running after {self._limit:.0f} s" if code is None else f"the process ended with {code}"
            outcome.findings.append((self.seed + outcome.trials, what))
            outcome.trials += 1
        return outcome

    def so_far(self) -> Outcome:
        trials = int(self._progress.read_text() or 0) if self._progress.exists() else 0
        told = json.loads(self._findings.read_text()) if self._findings.exists() else {"findings": [], "skipped": ""}
        findings = [(at, found) for at, found in told["findings"]]
        return Outcome(self.part, self.seed, trials, time.monotonic() - self._begin, findings, told["skipped"])

    def close(self) -> None:
        """Ends what is running still, and removes what it has left."""
        _kill_session(self._process.pid)
        self._process.wait()
        self._folder.cleanup()


def _kill_session(leader: int) -> None:
    """Kills all processes of a session, its groups being many: again, while there are some, as one may have forked meanwhile."""
    until = time.monotonic() + 10
    while (found := _session(leader)) and time.monotonic() < until:
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_POLL)


def _session(leader: int) -> list[int]:
    """Its processes that are not zombies; without /proc, the leader's group has to do."""
    if not Path("/proc/self/stat").exists():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)
        return []
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, _, session = path.read_text(errors="replace").rpartition(")")[2].split()[:4]
            if int(session) == leader and state not in "ZX":
                found.append(int(path.parent.name))
    return found


def run_apart(parts: Sequence[str], seed: int, seconds: float, jobs: int = 1) -> Iterator[Outcome]:
    """The outcome of each part as soon as it ends, ``jobs`` of them at a time, in about so many seconds for all.

    Interrupted by Ctrl-C, it gives what the running parts have done, and then raises KeyboardInterrupt.
    """
    jobs = min(jobs, len(parts))
    waiting, running = list(parts), []
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(Apart(waiting.pop(0), seed, seconds * jobs / len(parts)))
            for apart in running.copy():
                if outcome := apart.ended():
                    running.remove(apart)
                    apart.close()
                    yield outcome
            time.sleep(_POLL)
    except KeyboardInterrupt:
        yield from [apart.so_far() for apart in running]
        raise
    finally:
        for apart in running:
            apart.close()


# ---- what is told ---------------------------------------------------------------------------------------------------------------


_WIDTHS = (max(map(len, PARTS)), 9, 8, 7, 10)


def table(outcomes: Sequence[Outcome]) -> str:
    """One line for each part."""
    return "\n".join([_line("part", "trials", "findings", "seconds", "seed"), *map(row, outcomes)])


def row(o: Outcome) -> str:
    skipped = f"  skipped: {o.skipped}" if o.skipped else ""
    return _line(o.part, f"{o.trials:,}", str(len(o.findings)), f"{o.seconds:.0f}", str(o.seed)) + skipped


def _line(part: str, *numbers: str) -> str:
    return "  ".join([part.ljust(_WIDTHS[0]), *map(str.rjust, numbers, _WIDTHS[1:])])
