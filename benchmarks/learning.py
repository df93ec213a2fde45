"""The speed table of the learning library: one command, yardsticks measured in the same run, and what must be reached.

    python benchmarks/learning.py                       all rows (some minutes)
    python benchmarks/learning.py --only step           rows whose name contains the text
    python benchmarks/learning.py --json out.json       also write the numbers
    python benchmarks/learning.py --data-root FOLDER    where the data lie (else PLANEGRAPH_DATA, else shared/data beside the project)

One thread, CPU time of the whole process (so that nothing hides in a background thread), medians; ours and the yardsticks are called
by turns. "GIN" is PyG's GIN of the same width and depth on plain ``Data`` through PyG's DataLoader; "PyG" is PyG's DataLoader on the
same ``PlanarData``, in the rows of steps with that GIN behind it: against it the goals are set. A row on a GPU is wall time, loading
included; the goal is for an H200.

Rows whose data are missing are listed as not measured, and so are those that need a GPU or a package that is not there; only the
former count as missed. Exits with 1 if a row misses what it must reach.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import partial

import numpy as np
import torch
import workloads
from captured import cuda_step
from completeness import distinguished
from measure import by_turns, cpu_seconds, machine
from memory import growth_of_a_step
from steps import PlainGIN, Step, mean_square, pyg_data, root_mean_square
from table import Row, Table, arguments, report

import planegraph as pg
from planegraph.data import PackedDataset, PackedLoader
from planegraph.nn import BasePlanE, PlanEConfig

BATCH = 256
PRECISIONS = {"float32": "highest", "tf32": "high"}


class Learning(Table):
    """Each method yields the rows of one kind."""

    yardsticks = ("GIN", "PyG")

    def rows(self) -> Iterator[Row]:
        yield from self.packing()
        yield from self.collation()
        yield from self.steps()
        yield from self.tiger()
        yield from self.memory()
        yield from self.gpu()
        yield from self.completeness()

    def packing(self) -> Iterator[Row]:
        task = "pack ZINC-12k from SMILES, one core"
        smiles = self.load(lambda: workloads.zinc_smiles(self.root), task) if self.has("rdkit", task) else None
        if smiles is not None:
            seconds = cpu_seconds(lambda: PackedDataset.from_smiles(smiles, threads=1), repeats=3)
            yield Row(task, len(smiles) / seconds, unit="/s", best_elsewhere="83 /s (12 ms a molecule, authors)")
        task = "pack ZINC-12k from arrays, one core"
        arrays = self.load(lambda: workloads.zinc_arrays(self.root), task)
        if arrays is not None:
            y = workloads.zinc_targets(self.root)
            seconds = cpu_seconds(lambda: PackedDataset.from_graphs(pg.GraphBatch(**arrays), y=y, threads=1), repeats=9)
            yield Row(task, len(y) / seconds, 50_000, unit="/s", at_least=True)

    def collation(self) -> Iterator[Row]:
        task = f"collate {BATCH} ZINC molecules, one core"
        graphs = self.load(lambda: workloads.zinc(self.root, 4000), task)
        if graphs is None:
            return
        y = workloads.zinc_targets(self.root)[: len(graphs)]
        calls = {"ours": partial(next, endless(packed_loader(PackedDataset.from_graphs(graphs, y=y))))}
        if self.has("torch_geometric", f"{task}: PyG"):
            calls["PyG"] = partial(next, endless(pyg_loader(pyg_data(graphs, y, decomposed=True))))
        found = by_turns(calls, repeats=25)
        yield Row(task, found.pop("ours"), 2e-3, best_elsewhere="100-170 ms (PyG)", yardsticks=found)

    def steps(self) -> Iterator[Row]:
        """Training steps against GIN; the graphs are the validation set, which is drawn like the others."""
        goals = {64: (2.0, "6.2 x (authors)"), 128: (2.5, "7.9 x (authors)")}
        tasks = {width: f"training step, QM9_CC, 3 layers, width {width}" for width in goals}
        found = self.load(lambda: workloads.qm9_cc(self.root), *(t for task in tasks.values() for t in with_ratio(task)))
        if found is None:
            return
        graphs, y = found
        packed, plain, decomposed = (
            PackedDataset.from_graphs(graphs, y=y),
            pyg_data(graphs, y),
            pyg_data(graphs, y, decomposed=True),
        )
        for width, (must, best) in goals.items():
            if not self.wanted(*with_ratio(tasks[width])):
                continue
            torch.manual_seed(0)
            seconds = by_turns({
                "ours": Step(plane(width, 3), packed_loader(packed), root_mean_square),
                "GIN": Step(PlainGIN(width, 3), pyg_loader(plain), root_mean_square),
                "PyG": Step(PlainGIN(width, 3), pyg_loader(decomposed), root_mean_square),
            }, repeats=31)  # fmt: skip
            yield from against_gin(tasks[width], seconds, must, best)

    def tiger(self) -> Iterator[Row]:
        task = "training epoch, TIGER 25k, 1 layer, width 32"
        g = self.load(lambda: workloads.tiger(self.root, "25k"), *with_ratio(task))
        if g is None:
            return
        graphs, y = pg.GraphBatch.from_graphs([g, g]), np.array([0.0, 1.0], np.float32)
        torch.manual_seed(0)
        seconds = by_turns({
            "ours": Step(plane(32, 1), packed_loader(PackedDataset.from_graphs(graphs, y=y)), mean_square),
            "GIN": Step(PlainGIN(32, 1), pyg_loader(pyg_data(graphs, y)), mean_square),
            "PyG": Step(PlainGIN(32, 1), pyg_loader(pyg_data(graphs, y, decomposed=True)), mean_square),
        }, repeats=15)  # fmt: skip
        yield from against_gin(task, seconds, 4.0, "25 x (authors)")

    def memory(self) -> Iterator[Row]:
        """Growth of a fresh process from its first tiny step to a step of so many graphs: linear means 8-fold from 64 to 512."""
        sizes = (64, 128, 256, 512)
        tasks = [f"peak memory of training, {size} graphs, width 64" for size in sizes]
        growth = "peak memory of training, 512 graphs against 64"
        found = self.load(lambda: workloads.qm9_cc(self.root)[0], *tasks, growth)
        if found is None:
            return
        used = [growth_of_a_step(self.root, size) for size in sizes]
        for task, size in zip(tasks, used, strict=True):
            if self.wanted(task):
                yield Row(task, size / 1e6, unit="MB")
        if self.wanted(growth):
            yield Row(growth, used[-1] / used[0], 9.0, unit="x", best_elsewhere="8 x is linear")

    def gpu(self) -> Iterator[Row]:
        """A step of E-BasePlanE in plain float32, and with products in tf32."""
        tasks = {p: [f"GPU step, ZINC-12k, width 128, {p}, {how}" for how in ("eager", "replayed", "captured")] for p in PRECISIONS}
        names = [task for group in tasks.values() for task in group]
        if not self.wanted(*names):
            return
        if not torch.cuda.is_available():
            self.skip("no CUDA device", *names)
            return
        graphs = self.load(lambda: workloads.zinc(self.root), *names)
        if graphs is None:
            return
        dataset = PackedDataset.from_graphs(graphs, y=workloads.zinc_targets(self.root))
        best = {"eager": "77 ms (naive sketch)", "replayed": "", "captured": "7.6 ms (sketch, compiled and captured)"}
        on_h200 = "H200" in torch.cuda.get_device_name()
        for precision, setting in PRECISIONS.items():
            torch.set_float32_matmul_precision(setting)
            found = cuda_step(dataset, BATCH, hidden=128, layers=3)
            torch.set_float32_matmul_precision("highest")
            for task, (how, seconds) in zip(tasks[precision], found.items(), strict=True):
                if self.wanted(task):
                    yield Row(task, seconds, 5e-3 if how == "captured" and on_h200 else None, best_elsewhere=best[how])

    def completeness(self) -> Iterator[Row]:
        """All 71,885 connected planar graphs on 9 nodes, by an untrained model in float64."""
        tasks = ("completeness at 9 nodes, all embeddings", "completeness at 9 nodes, smallest relative gap")
        if self.wanted(*tasks) and self.has("pynauty", *tasks):
            count, seconds, gap = distinguished(9)
            yield Row(tasks[0], seconds, best_elsewhere=f"{count:,} graphs")
            yield Row(tasks[1], gap, 1e-8, unit="", at_least=True)


def plane(width: int, layers: int) -> BasePlanE:
    return BasePlanE(PlanEConfig(hidden=width, layers=layers))


def packed_loader(dataset: PackedDataset) -> PackedLoader:
    """Loads in the caller's thread: a batch made ahead would be charged to the yardstick."""
    return PackedLoader(dataset, BATCH, shuffle=True, drop_last=len(dataset) > BATCH, prefetch=0)


def pyg_loader(graphs: list) -> Iterator:
    from torch_geometric.loader import DataLoader

    return DataLoader(graphs, BATCH, shuffle=True, drop_last=len(graphs) > BATCH)


def endless(loader) -> Iterator:
    while True:
        yield from loader


def with_ratio(task: str) -> tuple[str, str, str]:
    return task, f"{task}, times GIN on the same data", f"{task}, times GIN on plain Data"


def against_gin(task: str, seconds: dict[str, float], must: float, best: str) -> Iterator[Row]:
    """The time of a step, and its ratio to GIN's.

    The goals were set against a GIN whose step includes loading the same decomposed data; plain ``Data`` is shown beside it.
    """
    ours = seconds.pop("ours")
    time, same, plain = with_ratio(task)
    yield Row(time, ours, yardsticks=seconds)
    yield Row(same, ours / seconds["PyG"], must, unit="x", best_elsewhere=best)
    yield Row(plain, ours / seconds["GIN"], unit="x")


def main() -> int:
    args = arguments(__doc__).parse_args()
    torch.set_num_threads(1)
    where = machine() | {"torch": torch.__version__, "load": " ".join(f"{x:.2f}" for x in os.getloadavg())}
    if torch.cuda.is_available():
        where["gpu"] = torch.cuda.get_device_name()
    return report(Learning(args.data_root, args.only), where, args.json)


if __name__ == "__main__":
    sys.exit(main())
