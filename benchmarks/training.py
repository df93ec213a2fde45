"""The speed table of training: whole runs on a GPU, epochs on a CPU and what loading takes of them, and the start with a large dataset.

    python benchmarks/training.py                      all rows: some minutes, with a GPU some twenty
    python benchmarks/training.py --only epoch         rows whose name contains the text
    python benchmarks/training.py --epochs 20          a quick look at the runs on a GPU, which then do not count as passed
    python benchmarks/training.py --json out.json      also write the numbers
    python benchmarks/training.py --data-root FOLDER   where the data lie (else PLANEGRAPH_DATA, else shared/data beside the project)

A run on a GPU is ``planegraph train`` with its file in configs/, in a separate process, timed from start to end: imports,
opening the data, capture, 500 epochs with their validation, the test, checkpoints and the report. Its goal is for an H200.

An epoch is one of the engine's own loop, validation included; ours and GINE's of the same width (if it can be had here) by turns, medians.
Its wall time is that of all cores and means little while others use them. What loading takes is given twice: as the part of the wall time
in which the training thread waits for a batch, and as the share of the CPU time, in epochs with one thread, that goes into collation
(in another thread, so a loop that never waits may still pay for it).

A start is a fresh process on a packed dataset: from opening it to its first batch of 256 random graphs, the imports apart, and without the
checksums that a run compares before it trains; median.

Rows whose data are missing, or not packed yet, are listed as not measured and count as missed; rows that need a GPU or a package that is
not there do not. Exits with 1 if a row misses what it must reach.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import torch
from epochs import Epoch, Epochs, epochs_by_turns
from first_batch import BATCH, in_a_fresh_process
from measure import machine
from table import Row, Table, arguments, report

from planegraph import datasets
from planegraph.runs.log import read_log
from planegraph.train import RunSettings, load_settings

CONFIGS = Path(__file__).resolve().parents[1] / "configs"
WIDTH = 64
SHARE = 2.0
"""Percent that loading may take."""


class Training(Table):
    """Each method yields the rows of one kind.

    Args:
        epochs: of the runs on a GPU; None: as their files say, and only then a row can pass.
        turns: how many epochs on the CPU, and how many starts, are measured.
    """

    yardsticks = ("GINE",)

    def __init__(self, root: Path, only: str, epochs: int | None = None, turns: int = 5) -> None:
        super().__init__(root, only)
        self.epochs, self.turns = epochs, turns

    def rows(self) -> Iterator[Row]:
        yield from self.runs()
        yield from self.cpu_epochs()
        yield from self.starts()

    def runs(self) -> Iterator[Row]:
        """500 epochs, one seed and ten."""
        what = "ZINC-12k, edge features, width 128, 500 epochs"
        one, ten = f"{what}, one seed, GPU", f"{what}, ten seeds together, GPU"
        ratio = f"{what}, ten seeds together against one, GPU"
        if not self.wanted(one, ten, ratio):
            return
        if not torch.cuda.is_available():
            self.skip("no CUDA device", *filter(self.wanted, (one, ten, ratio)))
            return
        if self.load(lambda: datasets.get("zinc12k", self.root).task(), one, ten, ratio) is None:  # packs it, if need be
            return
        found: dict[str, Row] = {}
        goals = {one: ("time-one-seed", 300.0, "8 hours on 4 CPU cores (authors)"), ten: ("time-ten-seeds", 900.0, "")}
        for task, (config, must, best) in goals.items():
            if self.wanted(task, ratio):
                rows = list(self.run(task, CONFIGS / f"{config}.yaml", must, best))
                found[task] = rows[0]
                yield from rows
        if self.wanted(ratio):
            yield Row(
                ratio, found[ten].value / found[one].value, unit="x", best_elsewhere="10 x is one after another", but=found[ten].but
            )

    def run(self, task: str, config: Path, must: float, best: str, device: str = "cuda") -> Iterator[Row]:
        """A run from the start of its process to the end, and what an epoch of it took; the rest is set-up, test and report."""
        wanted = load_settings(config).train.epochs
        epochs = wanted if self.epochs is None else self.epochs
        but = "" if epochs == wanted else f"{epochs} of {wanted} epochs only"
        on_h200 = device == "cuda" and "H200" in torch.cuda.get_device_name()
        seconds, each = timed_run(config, epochs, self.root, device)
        yield Row(task, seconds, must if on_h200 else None, best_elsewhere=best, but=but)
        yield Row(f"{task}: an epoch", each)
        yield Row(f"{task}: all but the epochs", seconds - epochs * each)

    def cpu_epochs(self) -> Iterator[Row]:
        """One seed, width 64; first with all cores, then with one thread, whose CPU time does not depend on what else runs here."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        what = f"ZINC-12k epoch, edge features, width {WIDTH}"
        wall, waited = f"{what}, {cores} CPU cores", f"{what}, share spent waiting for batches"
        cpu, collated = f"{what}, CPU time, one thread", f"{what}, share of the CPU time spent on collation"
        if not self.wanted(wall, waited, cpu, collated):
            return
        task = self.load(lambda: datasets.get("zinc12k", self.root).task(edge_features=True), wall, waited, cpu, collated)
        if task is None:
            return
        base = load_settings(CONFIGS / "time-one-seed.yaml").with_overrides([f"model.hidden={WIDTH}", "train.precision=float32"])
        runs = {"ours": Epochs(task, base)}
        try:
            runs["GINE"] = Epochs(task, plain(base))
        except ImportError as error:
            self.skip(str(error), f"{wall}: GINE", f"{cpu}: GINE")
        if self.wanted(wall, waited):
            found = epochs_by_turns(runs, self.turns, cores)
            if self.wanted(wall):
                seconds = medians(found, lambda e: e.wall)
                yield Row(wall, seconds.pop("ours"), best_elsewhere="58 s (authors, width 128, 4 cores)", yardsticks=seconds)
            if self.wanted(waited):
                yield Row(waited, medians(found, lambda e: 100 * e.waited / e.wall)["ours"], SHARE, unit="%")
        if self.wanted(cpu, collated):
            found = epochs_by_turns(runs, max(1, self.turns // 2), 1, warm_up=0)
            if self.wanted(cpu):
                seconds = medians(found, lambda e: e.cpu)
                yield Row(cpu, seconds.pop("ours"), yardsticks=seconds)
            if self.wanted(collated):
                yield Row(collated, medians(found, lambda e: 100 * e.collated / e.cpu)["ours"], SHARE, unit="%")

    def starts(self) -> Iterator[Row]:
        """ZINC-full: exact sizes, and padded to static shapes, whose capacity is chosen from all graphs first."""
        what = f"packed ZINC-full to a batch of {BATCH}"
        imports = f"{what}: the imports before it"
        kinds = {what: {}, f"{what}, from the disk": {"cold": True}, f"{what}, padded": {"padded": True}}
        kinds[f"{what}, padded, from the disk"] = {"padded": True, "cold": True}
        ready = self.load(lambda: self.packed("zincfull"), *kinds, imports)
        if ready is None:
            return
        for task, how in kinds.items():
            if not self.wanted(task, *([] if how else [imports])):
                continue
            if how.get("cold") and not hasattr(os, "posix_fadvise"):
                self.skip("this system cannot be asked to forget a file", task)
                continue
            found = [in_a_fresh_process(ready, self.root, **how) for _ in range(self.turns)]
            if self.wanted(task):
                must = None if how.get("cold") else 1.0  # what a disk takes is not ours
                yield Row(task, median(found, "all"), must, best_elsewhere=f"{found[0]['graphs']:,} graphs")
            if not how and self.wanted(imports):
                yield Row(imports, median(found, "imports"), best_elsewhere="mostly PyTorch")

    def packed(self, name: str) -> str:
        """The name of a dataset that is packed already; packing a large one is not part of a benchmark."""
        found = datasets.get(name, self.root)
        if not found.packed_path().is_file() or found.status != "ready":
            raise FileNotFoundError(f"{name} is not packed ({found.status}): planegraph datasets {name} --pack")
        return name


def plain(settings: RunSettings) -> RunSettings:
    """The same run with GINE, with its width and depth but none of our other settings."""
    sizes = {name: settings.model[name] for name in ("hidden", "layers")}
    return RunSettings(settings.task, settings.options, sizes, "GINE", settings.train)


def timed_run(config: Path, epochs: int, root: Path, device: str) -> tuple[float, float]:
    """Seconds of ``planegraph train`` as a process, and the median of an epoch in it, by its log."""
    task = load_settings(config).task
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        command = [sys.executable, "-m", "planegraph", "train", task, "--config", str(config), "--set", f"train.epochs={epochs}"]
        command += ["--out", str(out), "--data", str(root), "--device", device]
        if not sys.stderr.isatty():
            command.append("--quiet")
        start = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        seconds = time.perf_counter() - start
        ends = sorted({(record["epoch"], record["seconds"]) for record in read_log(out / "log.jsonl")})
    times = [after - before for (_, before), (_, after) in pairwise(ends)] or [ends[0][1]]
    return seconds, statistics.median(times)


def median(found: list[dict[str, float]], figure: str) -> float:
    return statistics.median(one[figure] for one in found)


def medians(found: dict[str, list[Epoch]], figure: Callable[[Epoch], float]) -> dict[str, float]:
    return {name: statistics.median(map(figure, epochs)) for name, epochs in found.items()}


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--epochs", type=int, metavar="N", help="of the runs on a GPU, for a quick look; they do not count then")
    parser.add_argument("--turns", type=int, default=5, metavar="N", help="epochs and starts to measure (default: 5)")
    args = parser.parse_args()
    where = machine() | {"torch": torch.__version__, "load": " ".join(f"{x:.2f}" for x in os.getloadavg())}
    if torch.cuda.is_available():
        where["gpu"] = torch.cuda.get_device_name()
    return report(Training(args.data_root, args.only, args.epochs, args.turns), where, args.json)


if __name__ == "__main__":
    sys.exit(main())
