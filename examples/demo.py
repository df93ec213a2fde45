"""The main job on built-in data: BasePlanE and GIN learn to tell nine graphs apart, side by side. `make demo`, three to four minutes.

The nine connected cubic planar graphs on 10 nodes look alike to message passing: every node has three neighbours. Both models are trained
on the ten folds of P3R by configs/p3r-baseplane.yaml and configs/p3r-gin.yaml, each in its own process, which is `planegraph train`;
what is shown here is read from their logs. Ctrl-C saves both runs, and the next start resumes them. The exit code is 0 only if
BasePlanE has every test graph of every fold right.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import planegraph as pg

HERE = Path(__file__).resolve().parents[1]
MODELS = {"BasePlanE": "p3r-baseplane", "GIN": "p3r-gin"}
Record = dict[str, Any]


# ---- the task -------------------------------------------------------------------------------------------------------------------


def show_task() -> int:
    """What there is to learn, and what the core says to it; gives the number of folds. Packs the dataset on first use."""
    from planegraph import datasets

    dataset = datasets.get("p3r")
    task, graphs = dataset.task(), dataset.read({}).batch
    start = time.perf_counter()
    codes = pg.canonical_codes(graphs)
    micros = 1e6 * (time.perf_counter() - start) / len(graphs)
    print("P3R: which of the nine connected cubic planar graphs on 10 nodes is it?")
    print(f"  {len(graphs)} graphs, each a random renumbering; every node of every graph has three neighbours")
    print(f"  canonical codes by the core: {len(set(codes))} different ones, {micros:.0f} us a graph; the answer is exact")
    first = pg.decompose(graphs[codes.index(min(codes))])
    first.check()
    print("  one of the nine, decomposed:")
    print("".join(f"    {line}\n" for line in str(first).splitlines()))
    return len(task.folds)


# ---- one training process -------------------------------------------------------------------------------------------------------


@dataclass
class Trainer:
    """`planegraph train` for one model, and what its logs say so far."""

    name: str
    config: Path
    folder: Path
    overrides: Sequence[str]
    folds: int
    process: subprocess.Popen | None = None
    latest: dict[tuple[int, int], Record] = field(default_factory=dict)
    seen: dict[Path, tuple[int, int]] = field(default_factory=dict)
    epochs_before: int = 0
    stopped: bool = False  # by us
    begun: tuple[float, int] | None = None  # when the first epochs of this start were done, and how many there were then

    def __post_init__(self) -> None:
        from planegraph.train import load_settings

        self.settings = load_settings(self.config).with_overrides(self.overrides)
        self.epochs = self.settings.train.epochs * self.folds * self.settings.train.seeds

    @property
    def errors(self) -> Path:
        """What the process writes to stderr."""
        return self.folder.with_suffix(".err")

    @property
    def epochs_done(self) -> int:
        """Of all folds."""
        return sum(record["epoch"] for record in self.latest.values())

    @property
    def finished(self) -> bool:
        return (self.folder / "result.json").exists()

    def can_go_on(self) -> bool:
        """Whether the folder holds a run of the same settings, begun or finished."""
        from planegraph.train import load_settings

        with contextlib.suppress(OSError, pg.PlanegraphError):
            saved = self.finished or (self.folder / "checkpoint.safetensors").exists()
            return saved and load_settings(self.folder / "settings.yaml") == self.settings
        return False

    def start(self, threads: int) -> None:
        """Starts the process, unless the run is finished; its folder must be empty or hold a run that can go on."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.epochs_before = self.epochs
        self.update()
        self.epochs_before = self.epochs_done
        if self.finished:
            return
        command = [sys.executable, "-m", "planegraph", "train", "p3r", "--config", str(self.config), "--out", str(self.folder)]
        command += [word for override in self.overrides for word in ("--set", override)]
        env = os.environ | {"OMP_NUM_THREADS": str(threads)}
        with open(self.errors, "wb") as errors:
            self.process = subprocess.Popen(
                [*command, "--resume", "--quiet", "--device", "cpu"],
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,  # Ctrl-C reaches it through this process only, once
            )

    def update(self) -> None:
        """Reads the logs that have changed."""
        from planegraph.runs.log import read_log

        for path in [self.folder / "log.jsonl", *self.folder.glob("group*/log.jsonl")]:
            with contextlib.suppress(FileNotFoundError):
                seen = path.stat().st_mtime_ns, path.stat().st_size
                if self.seen.get(path) != seen:
                    self.seen[path] = seen
                    self.latest |= {(record["seed"], record["fold"]): record for record in read_log(path)}
        if self.begun is None and self.epochs_done > self.epochs_before:
            self.begun = time.monotonic(), self.epochs_done

    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def stop(self) -> None:
        """Asks the process to save and end."""
        if self.running():
            self.stopped = True
            self.process.terminate()

    def seconds_left(self) -> float | None:
        at, done = self.begun or (0.0, self.epochs_done)
        if self.epochs_done <= done:
            return None
        return (time.monotonic() - at) / (self.epochs_done - done) * (self.epochs - self.epochs_done)

    def row(self) -> tuple[str, ...]:
        """For the table: model, share done, epochs, loss, validation, folds whose validation graphs are all right, time left."""
        records = list(self.latest.values())
        mean = {key: sum(r[key] or 0.0 for r in records) / max(1, len(records)) for key in ("loss", "best")}
        right = sum(r["best"] == 1 for r in records)
        left = self.seconds_left()
        time_left = "done" if self.finished else "starting" if left is None else f"{left:.0f} s"
        measured = (f"{mean['loss']:.4f}", f"{100 * mean['best']:.1f} %", f"{right} of {self.folds}") if records else ("", "", "")
        return (self.name, f"{self.epochs_done / self.epochs:.0%}", f"{self.epochs_done}/{self.epochs}", *measured, time_left)


# ---- what one sees --------------------------------------------------------------------------------------------------------------

_HEAD = ("model", "done", "epochs of all folds", "loss", "validation", "folds at 100 %", "left")


@contextlib.contextmanager
def display(trainers: Sequence[Trainer]) -> Iterator[Any]:
    """A function that shows how far they are: a table on a terminal, lines every ten seconds elsewhere."""
    if sys.stdout.isatty():
        from rich.live import Live

        with Live(refresh_per_second=4) as live:
            yield lambda: live.update(_table(trainers))
        return
    last, told = 0.0, set()

    def lines() -> None:
        nonlocal last
        due = time.monotonic() - last >= 10
        for t in trainers:
            if t.name not in told and (due or t.finished):
                print("  ".join(f"{name} {cell}" for name, cell in zip(_HEAD, t.row(), strict=True) if cell), flush=True)
            if t.finished:
                told.add(t.name)
        last = time.monotonic() if due else last

    yield lines


def _table(trainers: Sequence[Trainer]) -> Any:
    from rich.table import Table

    table = Table(caption="Ctrl-C saves both; the next start goes on")
    for k, name in enumerate(_HEAD):
        table.add_column(name, justify="right" if k else "left")
    for t in trainers:
        table.add_row(*t.row())
    return table


# ---- together -------------------------------------------------------------------------------------------------------------------


class Interrupted(Exception):
    """A signal came."""


def train_both(trainers: Sequence[Trainer]) -> None:
    """Trains all at once, each on its share of the cores. On a signal all are saved and Interrupted is raised."""
    asked: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if hasattr(signal, "SIGHUP") else (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, lambda number, frame: asked.append(number)) for number in numbers}
    threads = max(1, (os.cpu_count() or 1) // len(trainers))
    try:
        for t in trainers:
            t.start(threads)
        with display(trainers) as show:
            while any(t.running() for t in trainers):
                failed = any(t.process and t.process.poll() for t in trainers)
                if asked or failed:
                    break
                for t in trainers:
                    t.update()
                show()
                time.sleep(0.5)
            for t in trainers:
                t.stop()
            for t in trainers:
                if t.process is not None:
                    t.process.wait()
                t.update()
            show()
    finally:
        for t in trainers:
            t.stop()
        for number, handler in before.items():
            signal.signal(number, handler)
    for t in trainers:
        code = t.process.returncode if t.process else 0
        if code and not ((asked or t.stopped) and code in (130, 143, -signal.SIGTERM)):  # not by itself
            raise SystemExit(f"{t.name}: planegraph train ended with exit code {code}:\n{t.errors.read_text().strip()}")
    if asked and not all(t.finished for t in trainers):
        raise Interrupted


def verdict(results: dict[str, Record]) -> tuple[str, bool]:
    """The table of the results, and whether BasePlanE is right everywhere."""
    lines = [f"{'model':12}{'test accuracy':>20}{'validation':>20}{'folds all right':>18}{'seconds':>10}"]
    for name, r in results.items():
        parts = [f"{100 * r[part]['mean']:.1f} ± {100 * r[part]['std']:.1f} %" for part in ("test", "val")]
        right = f"{sum(trial['test'] == 1 for trial in r['trials'])} of {len(r['trials'])}"
        lines.append(f"{name:12}{parts[0]:>20}{parts[1]:>20}{right:>18}{r['seconds']:>10.0f}")
    wrong = [trial for trial in results["BasePlanE"]["trials"] if trial["test"] != 1]
    if wrong:
        folds = ", ".join(f"fold {trial['fold']}: {100 * trial['test']:.1f} %" for trial in wrong)
        lines.append(f"\nFAILED: BasePlanE must have all test graphs right; {folds}")
    else:
        lines.append("\nBasePlanE distinguishes all nine graphs. Message passing cannot: one in nine is chance.")
    return "\n".join(lines), not wrong


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--out", type=Path, default=HERE / "build" / "demo", help="folder of the runs and the report (default: build/demo)"
    )
    parser.add_argument("--configs", type=Path, default=HERE / "configs", help="folder of the settings (default: configs)")
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], dest="overrides", help="a setting, for both")
    args = parser.parse_args(argv)
    from planegraph.report import side_by_side

    print(f"planegraph {pg.__version__}", flush=True)
    folds = show_task()
    try:
        trainers = [
            Trainer(name, args.configs / f"{config}.yaml", args.out / config, args.overrides, folds)
            for name, config in MODELS.items()
        ]
    except (pg.PlanegraphError, OSError) as error:
        raise SystemExit(f"the settings of the demo cannot be read: {error}") from None
    _make_room(trainers)
    try:
        train_both(trainers)
    except Interrupted:
        again = "make demo" if args.out == HERE / "build" / "demo" else "the same command"
        print(f"\nInterrupted; both runs are saved in {args.out}, and {again} resumes them.")
        return 130
    text, right = verdict({t.name: json.loads((t.folder / "result.json").read_text()) for t in trainers})
    print(f"\n{text}\nreport: {side_by_side([t.folder for t in trainers], args.out / 'report.html')}")
    return 0 if right else 1


def _make_room(trainers: Sequence[Trainer]) -> None:
    """Resumes runs that were interrupted; otherwise removes what an earlier demo left."""
    over = all(t.finished for t in trainers)
    for t in trainers:
        if over or not t.can_go_on():
            shutil.rmtree(t.folder, ignore_errors=True)
        else:
            print(f"{t.name}: {'finished before' if t.finished else 'resuming the interrupted run'} in {t.folder}")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:  # before or after the training
        sys.exit(130)
