"""Two processes on one folder or file at nearly the same time: runs, sweeps, predictions, packed datasets, models, reports.

A trial forks two children, up to half a second apart; sometimes the first is killed, or the second comes through a symbolic link, or a
lock of another host or of a recycled process id lies there. What must come out: of two that train in one folder one does, and the other
is told by whom it is in use; files that either may write are written by both, with the same bytes; and whatever remains is equal to
what one process makes undisturbed.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import tempfile
import time
from functools import cache, partial
from pathlib import Path

import numpy as np
import torch
from datasets.examples import Rings, write_lengths
from packed_check import check_dataset
from train.tasks import regression, small
from train.test_resume import outcome

from planegraph.cli import main
from planegraph.data import PackedDataset
from planegraph.nn import BasePlanE
from planegraph.report import write_report
from planegraph.runs.checkpoint import CHECKPOINT
from planegraph.runs.lock import LOCK
from planegraph.train import sweep, train
from planegraph.train.step import TrainingStep

from .children import SECONDS, Action, Child
from .sound import kept_folder, train_command, write_table

_REFUSED = ("is in use by", "already holds a run")
_LOCKS = (
    '{"pid": 1, "host": "elsewhere", "since": "2020-01-01T00:00:00+00:00", "command": "planegraph train"}\n',
    "[" * 10_000, "", "\x1b[31m", '{"pid": null}', "12345\n",
)  # fmt: skip


def trial(seed: int) -> str | None:
    rng = random.Random(seed)
    scene = rng.choice(_SCENES)
    with tempfile.TemporaryDirectory() as folder:
        found = scene(rng, Path(folder), _sound())
    return found and f"{scene.__name__}: {found}"


# ---- two at a time ---------------------------------------------------------------------------------------------------------------


def _two(rng: random.Random, first: Action, second: Action) -> list[Child]:
    """Both actions, 0 to 500 ms apart, to their ends."""
    both = [Child(first), Child(second, rng.choice((0, 0, rng.random() / 10, rng.random() / 2)))]
    for child in both:
        child.wait()
    return both


def _wrong(children: list[Child], refusals: tuple[str, ...] = _REFUSED) -> str | None:
    """A finding unless each did its work, was refused by one of these messages, or was killed; and not all were refused."""
    for child in children:
        if child.hung:
            return f"still running after {SECONDS:.0f} s: {child.said[-2000:]}"
        refused = child.code == 2 and any(words in child.said for words in refusals)
        if child.code and not refused and not child.killed:
            return f"exit code {child.code}: {child.said[-2000:]}"
    if any(child.code == 0 or child.killed for child in children):
        return None
    return "\n".join(["each was refused:", *(child.said[-500:] for child in children)])


def _left(folder: Path) -> str | None:
    """A finding if there are temporary files."""
    found = [str(path) for path in folder.rglob(".*") if path.is_file()]
    return f"left behind: {', '.join(found)}" if found else None


# ---- sound folders ----------------------------------------------------------------------------------------------------------------


@cache
def _sound() -> Path:
    """What one process makes undisturbed; made by children, as a process that has trained should not fork."""
    root = kept_folder()
    write_table(root / "table.csv")
    write_lengths(root / "raw", *range(3, 40))
    made = (
        partial(_train, root / "whole"),
        partial(_table, root / "table.csv", root / "table"),
        partial(_sweep, root / "sweep"),
        partial(_predict, root, root / "out.csv"),
        lambda: Rings(root / "raw", root / "packed", threads=1).load(),
        partial(_save, root / "data.safetensors", 0),
    )
    for action in made:
        child = Child(action)
        assert child.wait() == 0, child.said
    return root


def _train(out: Path, resume: bool = False, slow: float = 0.0) -> None:
    apply = TrainingStep.apply

    def slowly(step: TrainingStep) -> None:
        apply(step)
        time.sleep(slow)

    TrainingStep.apply = slowly
    train(regression(), small(epochs=6), out, resume=resume, device="cpu", report=False)


def _table(table: Path, out: Path) -> int:
    return main(train_command(table, out))


def _resume_table(out: Path) -> int:
    return main(["train", "--resume", "--out", str(out), "-q", "--device", "cpu", "--no-baselines"])


def _sweep(out: Path) -> None:
    def train_one(settings: object, folder: Path) -> None:
        train(regression(), settings, folder, resume=True, device="cpu", report=False)

    sweep(train_one, small(epochs=3).with_overrides, ["train.lr=1e-3,2e-3"], out)


def _predict(root: Path, out: Path) -> int:
    return main(
        ["predict", str(root / "table"), str(root / "table.csv"), "-o", str(out), "-q", "--device", "cpu", "--workers", "1"]
    )


def _dataset(which: int) -> PackedDataset:
    ds = regression(30).dataset
    return ds.with_y(ds.y + which)


def _save(path: Path, which: int, times: int = 1) -> None:
    ds = _dataset(which)
    for _ in range(times):
        ds.save(path)


# ---- runs -------------------------------------------------------------------------------------------------------------------------


def _other(run: Path, wanted: Path) -> str | None:
    """A finding unless a run is that of one process undisturbed."""
    (tensors, *rest), (others, *other_rest) = outcome(run), outcome(wanted)
    wrong = [what for what, a, b in zip(("facts", "log", "trials"), rest, other_rest, strict=True) if a != b]
    wrong += [name for name, value in others.items() if not torch.equal(value, tensors[name])]
    return f"other {', '.join(wrong)} than undisturbed" if wrong else _left(run)


def _two_runs(rng: random.Random, folder: Path, root: Path) -> str | None:
    """Train and train, train and resume, resume and resume; the second perhaps through a link."""
    run, slow = folder / "run", rng.choice((0.0, 0.01, 0.03))
    first, second = rng.choice(((False, False), (False, True), (True, True)))
    both = _two(rng, partial(_train, run, first, slow), partial(_train, _through_a_link(rng, run), second, slow))
    return _wrong(both) or _other(run, root / "whole")


def _through_a_link(rng: random.Random, run: Path) -> Path:
    if rng.random() < 0.6:
        return run
    run.mkdir()
    link = run.with_name("link")
    link.symlink_to(run, target_is_directory=True)
    return link


def _killed_run(rng: random.Random, folder: Path, root: Path) -> str | None:
    """The first is killed, so that its lock's text stays, and is resumed; perhaps by two."""
    run = folder / "run"
    first = Child(partial(_train, run, False, 0.03))
    intruder = Child(partial(_train, run, True), rng.random() / 2)
    time.sleep(rng.random())
    first.kill()
    intruder.wait()
    both = _two(rng, partial(_train, run, True), partial(_train, run, True))
    return _wrong([first, intruder]) or _wrong(both) or _unless_killed(_other(run, root / "whole"))


def _unless_killed(found: str | None) -> str | None:
    """A process that is killed may leave a temporary file."""
    return None if found and found.startswith("left behind") else found


def _strange_lock(rng: random.Random, folder: Path, root: Path) -> str | None:
    """Locks that a copy brought along: nobody holds them."""
    run = folder / "run"
    run.mkdir()
    text = rng.choice((*_LOCKS, json.dumps({"pid": os.getpid(), "host": os.uname().nodename, "since": "now", "command": "x"})))
    (run / LOCK).write_text(text)
    both = _two(rng, partial(_train, run, True, 0.01), partial(_train, run, True))
    return _wrong(both) or _other(run, root / "whole")


def _two_tables(rng: random.Random, folder: Path, root: Path) -> str | None:
    """A run on a table, which is resumed if it is there; perhaps the first is killed."""
    run = folder / "run"
    first = Child(partial(_table, root / "table.csv", run))
    second = Child(partial(_table, root / "table.csv", _through_a_link(rng, folder / "run")), rng.random() / 2)
    if rng.random() < 0.3:
        time.sleep(rng.random() / 2)
        first.kill()
    for child in (first, second):
        child.wait()
    if found := _wrong([first, second]):
        return found
    if first.killed:
        last = Child(partial(_table, root / "table.csv", run))
        if last.wait():
            return f"not resumed: {last.said[-2000:]}"
    return _other_table(run, root / "table") or (None if first.killed else _left(run))


def _other_table(run: Path, wanted: Path) -> str | None:
    a, b = (json.loads((folder / "result.json").read_text()) for folder in (run, wanted))
    if any(a[key] != b[key] for key in ("trials", "ensemble", "test")):
        return "other figures than undisturbed"
    if (run / "predictions.csv").read_bytes() != (wanted / "predictions.csv").read_bytes():
        return "other predictions than undisturbed"
    for name in ("seed0", "seed1"):
        states = [BasePlanE.from_pretrained(folder / "models" / name).state_dict() for folder in (run, wanted)]
        if not all(torch.equal(value, states[1][key]) for key, value in states[0].items()):
            return f"other weights of {name} than undisturbed"
    return None


def _resume_and_predict(rng: random.Random, folder: Path, root: Path) -> str | None:
    """A finished run is resumed, which rewrites its result, while it predicts: the same predictions as ever."""
    home = folder / "home"
    home.mkdir()
    shutil.copytree(root / "table", home / "table")
    shutil.copy(root / "table.csv", home)
    both = _two(rng, partial(_resume_table, home / "table"), partial(_predict, home, folder / "out.csv"))
    if found := _wrong(both, ()):
        return found
    same = (folder / "out.csv").read_bytes() == (root / "out.csv").read_bytes()
    return _other_table(home / "table", root / "table") if same else "other predictions than undisturbed"


def _two_sweeps(rng: random.Random, folder: Path, root: Path) -> str | None:
    out = folder / "sweep"
    both = _two(rng, partial(_sweep, out), partial(_sweep, _through_a_link(rng, out)))
    runs = ("lr=0.001", "lr=0.002")
    return _wrong(both) or next(filter(None, (_other(out / run, root / "sweep" / run) for run in runs)), None)


def _sweep_and_run(rng: random.Random, folder: Path, root: Path) -> str | None:
    """A run of a sweep is also resumed by itself: one of the two waits for nobody, and is told so."""
    out = folder / "sweep"

    def intrude() -> None:
        while not (out / "lr=0.001" / CHECKPOINT).exists():
            time.sleep(0.01)
        settings = small(epochs=3).with_overrides(["train.lr=1e-3"])
        train(regression(), settings, out / "lr=0.001", resume=True, device="cpu", report=False)

    both = _two(rng, partial(_sweep, out), intrude)
    if found := _wrong(both):
        return found
    if both[0].code:
        last = Child(partial(_sweep, out))
        if last.wait():
            return f"not continued: {last.said[-2000:]}"
    return next(filter(None, (_other(out / run, root / "sweep" / run) for run in ("lr=0.001", "lr=0.002"))), None)


def _report_while_training(rng: random.Random, folder: Path, root: Path) -> str | None:
    run = folder / "run"

    def report() -> None:
        while not (run / "settings.yaml").exists():
            time.sleep(0.002)
        for _ in range(5):
            write_report(run)

    both = _two(rng, partial(_train, run, False, 0.01), report)
    return _wrong(both, ()) or _other(run, root / "whole")


# ---- files ------------------------------------------------------------------------------------------------------------------------


def _two_predictions(rng: random.Random, folder: Path, root: Path) -> str | None:
    """To one output: both write the same bytes; what is read meanwhile is whole."""
    out = folder / "out.csv"
    both = _two(rng, partial(_predict, root, out), partial(_predict, root, out))
    same = out.exists() and out.read_bytes() == (root / "out.csv").read_bytes()
    return _wrong(both, ()) or _left(folder) or (None if same else "other predictions than undisturbed")


def _two_packings(rng: random.Random, folder: Path, root: Path) -> str | None:
    """Of one file of data, by two processes that find it missing or out of date."""
    shutil.copytree(root / "raw", folder / "raw")
    if rng.random() < 0.5:
        shutil.copytree(root / "packed", folder / "packed")
        write_lengths(folder / "raw", 3, 4, 5)

    def load() -> int:
        found = np.diff(Rings(folder / "raw", folder / "packed", threads=1).load(verify=True).tables.node_ptr)
        wanted = (folder / "raw" / "rings" / "lengths.txt").read_text().split()
        return 0 if found.tolist() == [int(n) for n in wanted] else 70

    both = _two(rng, load, load)
    if found := _wrong(both, ()):
        return found
    again = Child(load)
    return again.said[-2000:] or "other graphs" if again.wait() else _left(folder)


def _save_and_open(rng: random.Random, folder: Path, root: Path) -> str | None:
    """One saves, the other opens or saves other data: whoever opens has one of the two as a whole."""
    path = folder / "data.safetensors"
    shutil.copy(root / path.name, path)

    def look() -> int:
        for _ in range(100):
            ds = PackedDataset.open(path, verify=rng.random() < 0.5)
            check_dataset(ds)
            if float(ds.y[0, 0]) not in firsts:
                return 70
        return 0

    first = float(PackedDataset.open(path).y[0, 0])
    firsts = {float(np.float32(first + k)) for k in (0, 1)}
    both = _two(rng, partial(_save, path, 1, 20), rng.choice((look, partial(_save, path, 0, 20))))
    last = PackedDataset.open(path)
    return _wrong(both, ()) or _left(folder) or (None if float(last.y[0, 0]) in firsts else "data of neither")


def _save_and_load_a_model(rng: random.Random, folder: Path, root: Path) -> str | None:
    torch.manual_seed(0)
    models = [BasePlanE.for_data(PackedDataset.open(root / "data.safetensors"), hidden=h, layers=2) for h in (4, 6)]
    models[0].save_pretrained(folder / "model")

    def save() -> None:
        for k in range(20):
            models[k % 2].save_pretrained(folder / "model")

    def look() -> int:
        for _ in range(30):
            found = BasePlanE.from_pretrained(folder / "model")
            sound = models[found.config.hidden == 6].state_dict()
            if not all(torch.equal(value, sound[name]) for name, value in found.state_dict().items()):
                return 70
        return 0

    return _wrong(_two(rng, save, rng.choice((save, look))), ()) or _left(folder)


_SCENES = (
    *(_two_runs, _two_runs, _killed_run, _killed_run, _strange_lock, _two_tables, _two_tables, _resume_and_predict),
    *(_two_sweeps, _sweep_and_run, _report_while_training, _two_predictions, _two_packings, _save_and_open, _save_and_load_a_model),
)
