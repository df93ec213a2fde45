"""The speed table of the core: one command, yardsticks measured in the same run, and what must be reached.

    python benchmarks/core.py                    all rows (about ten minutes)
    python benchmarks/core.py --quick            families at 10^5 nodes at most
    python benchmarks/core.py --only tiger       rows whose name contains the text
    python benchmarks/core.py --json out.json    also write the numbers

One core, CPU time of the calling thread, medians. "All of it" is ``pg.decompose_batch(b, threads=1, codes=True)``: decomposition, walks,
canonical labelling and code. The data lie in --data-root, else in the folder that PLANEGRAPH_DATA names, else in shared/data beside
the project; rows whose data are missing are listed as not measured. Exits with 1 if a row misses what it must reach or, unless
--quick, was not measured.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import workloads
from measure import cpu_seconds, machine, wall_seconds
from table import Row, Table, arguments, report
from yardsticks import YARDSTICKS, measure_all

import planegraph as pg


def everything(batch: pg.GraphBatch, codes: bool = True, threads: int = 1) -> pg.PackedDecomposition:
    return pg.decompose_batch(batch, threads=threads, codes=codes)


def time_everything(batch: pg.GraphBatch, codes: bool = True, repeats: int = 5) -> float:
    """CPU seconds of one call on this thread."""
    return cpu_seconds(lambda: everything(batch, codes), repeats=repeats)


def single(g: pg.Graph) -> pg.GraphBatch:
    return pg.GraphBatch.from_graphs([g])


class Core(Table):
    """Each method yields the rows of one kind."""

    yardsticks = tuple(YARDSTICKS)

    def __init__(self, root: Path, only: str, largest: int) -> None:
        super().__init__(root, only)
        self.largest = largest

    def rows(self) -> Iterator[Row]:
        yield from self.molecules()
        yield from self.tiger()
        yield from self.families()
        yield from self.copies_and_cactus()
        yield from self.threads()
        yield from self.memory()

    def molecules(self) -> Iterator[Row]:
        tasks = ("ZINC molecule, decomposition with walks", "ZINC molecule, canonical code included")
        batch = self.load(lambda: workloads.zinc(self.root), *tasks)
        if batch is None:
            return
        yards = measure_all(list(batch))
        goals = ((8e-6, "28 µs (OGDF, no walks)"), (12e-6, "7.9 µs (nauty, code only)"))
        for task, codes, (must, best) in zip(tasks, (False, True), goals, strict=True):
            if self.wanted(task):
                seconds = time_everything(batch, codes, repeats=9) / len(batch)
                yield Row(task, seconds, must, best_elsewhere=best, yardsticks=yards)

    def tiger(self) -> Iterator[Row]:
        goals = {"1k": (0.7e-3, "3.3 ms (OGDF)"), "10k": (8e-3, "64 ms (OGDF)"), "25k": (20e-3, "280 ms (OGDF)")}
        for size, (must, best) in goals.items():
            task, with_code = f"TIGER {size}, decomposition with walks", f"TIGER {size}, canonical code included"
            tasks = (task, with_code) if size == "25k" else (task,)
            g = self.load(lambda size=size: workloads.tiger(self.root, size), *tasks)
            if g is None:
                continue
            batch, yards = single(g), measure_all([g])
            if self.wanted(task):
                seconds = time_everything(batch, codes=False, repeats=15)
                yield Row(task, seconds, must, best_elsewhere=best, yardsticks=yards)
            if with_code in tasks and self.wanted(with_code):
                seconds = time_everything(batch, repeats=15)
                yield Row(with_code, seconds, 30e-3, best_elsewhere="114 ms (Traces, code only)", yardsticks=yards)

    def families(self) -> Iterator[Row]:
        elsewhere = {
            "Delaunay": ("2.9 s", "37 s (OGDF, decomposition only)"),
            "random planar": ("", "32 s (OGDF)"),
            "prism": ("", "9.1 s (Traces, code only)"),
            "grid": ("", "3.9 s (Traces, code only)"),
            "K2,n": ("", "220 ms (Traces, code only)"),
            "star": ("", "150 ms (Traces, code only)"),
        }
        for name in workloads.FAMILIES:
            small, large, growth = f"{name}, 10^5 nodes", f"{name}, 10^6 nodes", f"{name}, growth from 10^5 to 10^6"
            if not self.wanted(small, large, growth):
                continue
            best = elsewhere.get(name, ("", ""))
            first = self.family(name, 10**5, Row(small, 0, 0.3 if name == "Delaunay" else None, best_elsewhere=best[0]))
            yield first
            if self.largest >= 10**6:
                second = self.family(name, 10**6, Row(large, 0, 4.0, best_elsewhere=best[1]))
                yield second
                yards = {k: b / a for k, a in first.yardsticks.items() if a and (b := second.yardsticks[k])}
                yield Row(growth, second.value / first.value, 16, unit="x", yardsticks=yards)

    @staticmethod
    def family(name: str, n: int, row: Row) -> Row:
        g = workloads.family(name, n)
        batch = single(g)
        row.value = time_everything(batch, repeats=15 if n <= 10**5 else 5)
        row.yardsticks = measure_all([g])
        return row

    def copies_and_cactus(self) -> Iterator[Row]:
        task = "400 disjoint copies of one molecule"
        molecules = self.load(lambda: workloads.zinc(self.root, 1000), task)
        if molecules is not None:
            yield self.tenth(task, workloads.copies_of_a_molecule(molecules), "4.6 s (Traces)")
        if self.wanted("cactus, 10^5 nodes"):
            g = pg.families.shuffled(pg.families.cactus(10**5), seed=1)
            yield self.tenth("cactus, 10^5 nodes", g, "9.6 s (Traces)")

    @staticmethod
    def tenth(task: str, g: pg.Graph, best: str) -> Row:
        batch = single(g)
        return Row(task, time_everything(batch), 0.1, best_elsewhere=best, yardsticks=measure_all([g]))

    def threads(self) -> Iterator[Row]:
        task = "two threads against one, 10,000 molecules (wall time)"
        batch = self.load(lambda: workloads.zinc(self.root, 10_000), task)
        if batch is not None:
            one, two = (wall_seconds(lambda t=t: everything(batch, threads=t), repeats=15) for t in (1, 2))
            yield Row(task, one / two, 1.7, unit="x", at_least=True)

    def memory(self) -> Iterator[Row]:
        name = "Delaunay"
        task = f"{name}, {'10^6' if self.largest >= 10**6 else '10^5'} nodes, peak memory"
        if self.wanted(task):
            yield Row(task, peak_bytes(workloads.family(name, min(self.largest, 10**6))) / 1e9, 1.0, unit="GB")


def peak_bytes(g: pg.Graph) -> float:
    """Peak memory of a process that reads this graph and does all of it: interpreter, numpy, input and output included.

    On Linux this is VmHWM: ru_maxrss of a child begins at what its parent had.
    """
    script = (
        "import resource, sys, pathlib, numpy as np, planegraph as pg;"
        "g = pg.Graph(int(sys.argv[2]), np.load(sys.argv[1]));"
        "p = pg.decompose_batch(pg.GraphBatch.from_graphs([g]), threads=1, codes=True);"
        "status = pathlib.Path('/proc/self/status');"
        "lines = status.read_text().splitlines() if status.exists() else [];"
        "high = [int(x.split()[1]) * 1024 for x in lines if x.startswith('VmHWM')];"
        "scale = 1 if sys.platform == 'darwin' else 1024;"
        "print(high[0] if high else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale)"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges.npy"
        np.save(path, g.edges)
        done = subprocess.run([sys.executable, "-c", script, path, str(g.num_nodes)], capture_output=True, text=True, check=True)
    return int(done.stdout)


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--quick", action="store_true", help="families at 10^5 nodes only")
    args = parser.parse_args()
    table = Core(args.data_root, args.only, 10**5 if args.quick else 10**6)
    return report(table, machine(), args.json, complete=not args.quick)


if __name__ == "__main__":
    sys.exit(main())
