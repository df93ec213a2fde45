"""Jobs that write files, for the attacks that interrupt them: torture/kills.py and torture/disks.py.

A job is a command of planegraph, or a function that saves something, in its own folder. It runs in a forked child: the parent has
imported everything, which would else take most of a trial, and computes nothing, so that the child is as good as a new process. Undisturbed
runs are made once; a run that was disturbed, and repeated, must come to the same files.

A *step* of a job is what it does to a file system: opening a file for writing, a write, a sync, a renaming, a removal, a new folder. An
attack can happen at any of them, by its number.
"""

from __future__ import annotations

import builtins
import io
import mmap
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet  # noqa: F401 (it and others are imported for the children)
import sklearn.ensemble  # noqa: F401
import torch
from left_files import contents

import planegraph.predict.files
import planegraph.train.molecules  # noqa: F401
from planegraph import report, workers  # noqa: F401
from planegraph.cli import main
from planegraph.data import PackedDataset
from planegraph.graphs import families
from planegraph.nn import BasePlanE, Categorical, PlanEConfig

SECONDS = 120.0
"""After which a job that takes a few is taken to hang."""


AtStep = Callable[[int, str, str], object]


def _nothing(number: int, what: str, path: str) -> None:
    pass


@dataclass(frozen=True)
class Job:
    """``run`` works in the current folder and gives an exit code, in which another job, ``after``, was run before."""

    run: Callable[[], int]
    after: str | None = None


@dataclass(frozen=True)
class Ended:
    """A child that has ended: its exit code (or minus the number of a signal), what it said on stderr, how long it took, its steps."""

    code: int
    said: str
    seconds: float
    steps: int


# ---- what is run ----------------------------------------------------------------------------------------------------------------


def _tables() -> int:
    """Molecules to train on, and more to predict, some of which cannot be read."""
    smiles = ["C" * (1 + k % 9) + "OCNS"[k % 4] + "c1ccccc1" * (k % 2) for k in range(60)]
    Path("mols.csv").write_text("smiles,y\n" + "".join(f"{text},{len(text)}\n" for text in [*smiles, "C1CC"]))
    more = [text + "C" * (k % 7) for k in range(20) for text in smiles]
    Path("new.csv").write_text("smiles,note\n" + "".join(f"{text},{k}\n" for k, text in enumerate([*more, "C1CC", ""])))
    Path("graphs.smi").write_text("".join(f"{text}\n" for text in more))
    return 0


_SMALL = ("train.batch_size=16", "train.save_seconds=0", "train.schedule=constant", "model.hidden=8", "model.layers=1")


def _train(*options: str, settings: tuple[str, ...] = ("train.epochs=3",)) -> Callable[[], int]:
    command = ["train", "mols.csv", "--quiet", "--no-descriptors", "--device", "cpu", "--out", "run", *options]
    return lambda: main([*command, "--set", *_SMALL, *settings])


def _benchmark() -> int:
    os.environ["PLANEGRAPH_CACHE"] = "packed"
    command = ["train", "p3r", "--resume", "--quiet", "--device", "cpu", "--out", "run", "--set"]
    return main([*command, *_SMALL, "train.batch_size=256", "train.epochs=2"])


def _predict(command: str, out: str, count: int = 1) -> Callable[[], int]:
    def run() -> int:
        workers._PATIENCE = 0.0  # workers start after the first chunk
        return main([command, "run", "new.csv", "-o", out, "--quiet", "--device", "cpu", "--workers", str(count)])

    return run


def _redirected(out: str, *command: str) -> Callable[[], int]:
    """As a shell does it."""

    def run() -> int:
        os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 (open until the process ends)
        return main([*command])

    return run


def _saved(save: Callable[[], None]) -> Callable[[], int]:
    """As a command ends."""

    def run() -> int:
        try:
            save()
        except OSError as error:
            print(error, file=sys.stderr)
            return 3
        return 0

    return run


def _data(graphs: int) -> None:
    PackedDataset.from_graphs([families.random_planar(60, 0.5, seed=k) for k in range(graphs)]).save("graphs.safetensors")


def _model(seed: int) -> None:
    torch.manual_seed(seed)
    BasePlanE(PlanEConfig(Categorical([5]), hidden=48, layers=2)).save_pretrained("model")


_PLAIN = ("--no-baselines", "--ensemble")
JOBS = {
    "tables": Job(_tables),
    "pack": Job(lambda: main(["datasets", "p3r", "--pack", "--root", "raw", "--cache", "packed"])),
    "data": Job(_saved(lambda: _data(300))),
    "other data": Job(_saved(lambda: _data(400)), "data"),
    "model": Job(_saved(lambda: _model(0))),
    "other model": Job(_saved(lambda: _model(1)), "model"),
    "train": Job(_train(*_PLAIN, "2", "--log", "csv"), "tables"),
    "longer": Job(_train(*_PLAIN, "2", "--log", "csv", settings=("train.epochs=6",)), "train"),
    "one by one": Job(_train(*_PLAIN, "2", settings=("train.epochs=2", "train.together=false")), "tables"),
    "folds": Job(_train(*_PLAIN, "1", "--folds", "3"), "tables"),
    "baselines": Job(_train("--ensemble", "1"), "tables"),
    "benchmark": Job(_benchmark),
    "sweep": Job(_train(*_PLAIN, "1", settings=("train.epochs=2", "train.lr=1e-3,2e-3")), "tables"),
    "report": Job(lambda: main(["report", "run", "--svg", "figures"]), "train"),
    "predict": Job(_predict("predict", "out.csv"), "train"),
    "predict anew": Job(_predict("predict", "out.csv"), "longer"),
    "predict by workers": Job(_predict("predict", "out.tsv.gz", 2), "train"),
    "predict parquet": Job(_predict("predict", "out.parquet"), "train"),
    "canon": Job(_redirected("digests.txt", "canon", "graphs.smi"), "tables"),
    "decompose": Job(_redirected("trees.txt", "decompose", "--json", "graphs.smi"), "tables"),
    "embed": Job(_predict("embed", "out.npy"), "train"),
}


# ---- children -------------------------------------------------------------------------------------------------------------------


class Child:
    """A job that is running in a folder, as the leader of a process group; what it starts belongs to that.

    Args:
        at_step: is called before each step, of a write in its middle, with its number, from 1, what it is, and of which path.
    """

    def __init__(self, job: str, folder: Path, at_step: AtStep = _nothing) -> None:
        self.begin, self._steps = time.monotonic(), mmap.mmap(-1, 8)
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 (closed by wait)
        self.pid = os.fork()
        if self.pid == 0:
            self._work(job, folder, at_step)
        os.setpgid(self.pid, self.pid)

    def _work(self, job: str, folder: Path, at_step: AtStep) -> None:
        code = 70
        try:
            os.setpgid(0, 0)
            os.chdir(folder)
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream, file in enumerate((nowhere, nowhere, self._said.fileno())):
                os.dup2(file, stream)
            _watch(self._steps, at_step)
            code = JOBS[job].run()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)

    def kill(self, group: bool) -> None:
        """Nothing happens if it has ended by itself."""
        (os.killpg if group else os.kill)(self.pid, signal.SIGKILL)

    def wait(self, seconds: float = SECONDS) -> Ended | None:
        """How it ended; None if it has not yet."""
        until = time.monotonic() + seconds
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > until:
                return None
            time.sleep(0.002)
        seconds = time.monotonic() - self.begin
        self._said.seek(0)
        with self._said as file:
            return Ended(os.waitstatus_to_exitcode(status), file.read().decode(errors="replace"), seconds, _number(self._steps))

    def group_is_gone(self, seconds: float) -> bool:
        """Whether all that it started ends within so many seconds."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                os.killpg(self.pid, 0)
            except ProcessLookupError:
                return True
            time.sleep(0.01)
        return False


def run(job: str, folder: Path, at_step: AtStep = _nothing) -> Ended:
    """A job from its begin to its end; TimeoutError if it hangs."""
    child = Child(job, folder, at_step)
    ended = child.wait()
    if ended is None:
        child.kill(group=True)
        raise TimeoutError(f"{job}: still running after {SECONDS:.0f} s")
    return ended


# ---- steps ----------------------------------------------------------------------------------------------------------------------


def _number(steps: mmap.mmap) -> int:
    return int.from_bytes(steps[:8], "little")


def _watch(steps: mmap.mmap, at_step: AtStep) -> None:
    """Counts the steps of this process, and calls ``at_step`` at each."""

    def step(what: str, path: Any) -> None:
        steps[:8] = (_number(steps) + 1).to_bytes(8, "little")
        at_step(_number(steps), what, str(path))

    class Raw(io.FileIO):
        error: OSError | None = None

        def write(self, data: Any) -> int:
            """As the system has it: a write that fails half-way says how far it came, and the next one fails."""
            if self.error is not None:
                error, self.error = self.error, None
                raise error
            view = memoryview(data).cast("B")
            half = len(view) // 2
            if half:
                super().write(view[:half])
            try:
                step("write", self.name)
            except OSError as error:
                if not half:
                    raise
                self.error = error
                return half
            return half + super().write(view[half:])

    usual = builtins.open

    def opened(path: Any, mode: str = "r", buffering: int = -1, encoding=None, errors=None, newline=None, **more: Any) -> Any:
        if isinstance(path, int) or (mode.startswith("r") and "+" not in mode):
            return usual(path, mode, buffering, encoding, errors, newline, **more)
        step("open", path)
        raw = io.BufferedWriter(Raw(path, mode.replace("b", "").replace("t", "")))
        return raw if "b" in mode else io.TextIOWrapper(raw, encoding, errors, newline)

    def before(function: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(path: Any, *more: Any, **options: Any) -> Any:
            step(function.__name__, more[0] if function.__name__ == "replace" else path)
            return function(path, *more, **options)

        return stepped

    builtins.open = opened
    for name in ("fsync", "replace", "unlink", "mkdir"):
        setattr(os, name, before(getattr(os, name)))


# ---- what there should be -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Undisturbed:
    """A job that nothing happened to: its folder before and after, the seconds it took, and how many steps."""

    before: Path
    after: Path
    seconds: float
    steps: int

    def fresh(self, folder: Path) -> None:
        """Makes ``folder`` as it was before the job."""
        shutil.copytree(self.before, folder, symlinks=True)


@cache
def _place() -> tempfile.TemporaryDirectory:
    return tempfile.TemporaryDirectory(prefix="planegraph-jobs-")


@cache
def undisturbed(job: str) -> Undisturbed:
    """The same in each call."""
    root = Path(_place().name, job.replace(" ", "-"))
    earlier = JOBS[job].after
    if earlier is None:
        (root / "before").mkdir(parents=True)
    else:
        shutil.copytree(undisturbed(earlier).after, root / "before")
    shutil.copytree(root / "before", root / "after")
    ended = run(job, root / "after")
    if ended.code not in (0, 1):
        raise RuntimeError(f"{job}, undisturbed, ended with {ended.code}: {ended.said}")
    contents(root / "after")
    return Undisturbed(root / "before", root / "after", ended.seconds, ended.steps)
