"""kill -9 at random moments of packing, training, saving, resuming, reporting, predicting and embedding.

A job (tests/jobs.py) is killed once or several times, at a random time or at one of its steps, in the middle of a write, too. Whatever is
there then must be sound and whole. The same command, once more, must then come to the files of a run that was not killed, and leave
nothing else: figures, models and predictions equal to the last bit. Processes that it started must end with it.
"""

from __future__ import annotations

import os
import random
import signal
import tempfile
from pathlib import Path

from jobs import SECONDS, Child, Ended, Undisturbed, run, undisturbed
from left_files import differences, leftovers, unsound

_JOBS = (
    "data", "other data", "other model", "pack", "train", "train", "longer", "longer", "one by one", "benchmark", "folds",
    "baselines", "sweep", "sweep", "report", "predict", "predict anew", "predict by workers", "predict parquet", "embed",
)  # fmt: skip
_END = 10.0  # seconds that workers may live on


def trial(seed: int) -> str | None:
    rng = random.Random(seed)
    job = rng.choice(_JOBS)
    with tempfile.TemporaryDirectory() as root:
        found = _attack(job, undisturbed(job), Path(root, "here"), rng)
        return found and f"{job}: {found}"


def _attack(job: str, whole: Undisturbed, folder: Path, rng: random.Random) -> str | None:
    whole.fresh(folder)
    for count in range(1, rng.choice((1, 1, 2, 4)) + 1):
        child, ended = _killed(job, folder, rng, whole)
        if ended is None:
            return f"still running {SECONDS:.0f} s after it was to be killed"
        if ended.code not in (0, 1, -signal.SIGKILL):
            return f"before kill {count} it ended with {ended.code}: {ended.said}"
        if not child.group_is_gone(_END):
            child.kill(group=True)
            return f"after kill {count} a process that it started went on for {_END:.0f} s"
        if found := unsound(folder, whole.before, whole.after):
            return f"after kill {count}, at step {ended.steps}: {found}"
    ended = run(job, folder)
    if ended.code not in (0, 1):
        return f"when repeated after {count} kills it ended with {ended.code}: {ended.said}"
    if found := differences(folder, whole.after):
        return f"when repeated after {count} kills: {found}"
    if left := leftovers(folder):
        return f"when repeated after {count} kills it left {left}"
    return None


def _killed(job: str, folder: Path, rng: random.Random, whole: Undisturbed) -> tuple[Child, Ended | None]:
    """By itself at one of its steps, which leaves its workers alone; or, with these, at some time."""
    if rng.random() < 0.6:
        last = rng.randint(1, whole.steps)
        child = Child(job, folder, lambda number, what, path: number == last and os.kill(os.getpid(), signal.SIGKILL))
        return child, child.wait()
    child = Child(job, folder)
    ended = child.wait(rng.uniform(0.0, 1.05 * whole.seconds))
    if ended is None:
        child.kill(group=rng.random() < 0.7)
        ended = child.wait()
    return child, ended
