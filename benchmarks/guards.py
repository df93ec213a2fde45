"""What the checks of batches, files and models cost: steps, collation, opening and loading, with each check on and patched out.

    python benchmarks/guards.py                  all rows, about three minutes
    python benchmarks/guards.py --only step      rows whose name contains the text

Both ways run in one process by turns, A B B A ..., on the calling thread alone. A row has the median CPU time of both ways,
and the median of the quotients of neighbours, with the range that holds the true median in 95 of 100 cases. Where that range is
wide, the last column says more: the share of the time that is spent inside of the checks, with the clock itself. Graphs are
random planar ones of 23 nodes, as many as molecules have, with node labels; files are in the page cache.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from measure import machine

import planegraph as pg
from planegraph.data import PackedDataset, format
from planegraph.data.batch import PlanarBatch
from planegraph.nn import BasePlanE, model

CHECKS = {
    "the batch": [(PlanarBatch, "check")],
    "bounds of positions": [(format, "_check_bounds")],
    "seal, sizes, finite values": [(model, "check_file"), (model, "_check_room"), (model, "_check_finite")],
}
"""Those of a row, as places and names where they are patched."""


@dataclass
class Cost:
    """Milliseconds with a check and without; the quotient, what it may be, and the share of the time inside of the check."""

    task: str
    check: str
    on: float
    off: float
    ratio: float
    low: float
    high: float
    inside: float

    def __str__(self) -> str:
        quotient = f"{self.ratio:.3f} ({self.low:.3f} to {self.high:.3f})"
        return f"| {self.task} | {self.check} | {self.on:.2f} | {self.off:.2f} | {quotient} | {self.inside:.2%} |"


def cost(task: str, check: str, call: Callable[[], object], repeats: int) -> Cost:
    """Times a call by turns; who comes first changes, too."""
    on, off, inside = [], [], []
    for k in range(repeats + 3):
        for with_check in (True, False) if k % 2 else (False, True):
            seconds, checking = _timed(call, check, with_check)
            if k >= 3:
                (on if with_check else off).append(1000 * seconds)
                inside += [checking / seconds] if with_check else []
    quotients = sorted(a / b for a, b in zip(on, off, strict=True))
    spread = round(0.98 * sqrt(repeats))  # ranks beside the median: the binomial distribution has a deviation of half the root
    middle = repeats // 2
    low, high = quotients[max(middle - spread, 0)], quotients[min(middle + spread, repeats - 1)]
    return Cost(
        task,
        check,
        statistics.median(on),
        statistics.median(off),
        statistics.median(quotients),
        low,
        high,
        statistics.median(inside),
    )


def _timed(call: Callable[[], object], check: str, with_check: bool) -> tuple[float, float]:
    """Seconds of a call, and of the checks within it, which do nothing unless ``with_check``."""
    checking = 0.0

    def watched(function: Callable[..., object]) -> Callable[..., object]:
        def run(*arguments: Any) -> None:
            nonlocal checking
            start = time.thread_time()
            if with_check:
                function(*arguments)
            checking += time.thread_time() - start

        return run

    with ExitStack() as stack:
        for where, name in CHECKS[check]:
            stack.enter_context(mock.patch.object(where, name, watched(getattr(where, name))))
        start = time.thread_time()
        call()
        return time.thread_time() - start, checking


def dataset(copies: int) -> PackedDataset:
    """2,000 graphs, so many times."""
    graphs = []
    for seed in range(2000):
        g = pg.families.random_planar(23, 0.15, seed)
        graphs.append(pg.Graph(g.num_nodes, g.edges, node_labels=[(seed + v) % 9 for v in range(g.num_nodes)]))
    return PackedDataset.from_graphs(graphs * copies, y=[float(k % 7) for k in range(2000 * copies)])


def rows(folder: Path, only: str, repeats: int) -> Iterator[Cost]:
    ds = dataset(1)
    for graphs, share in ((64, 1.0), (1024, 0.2)):
        if only in (task := f"step, {graphs:,} graphs"):
            net, ids = BasePlanE.for_data(ds), list(range(graphs))
            optimizer = torch.optim.Adam(net.parameters())

            def step(net: BasePlanE = net, ids: list[int] = ids, optimizer: torch.optim.Optimizer = optimizer) -> None:
                batch = ds[ids]
                optimizer.zero_grad()
                (net(batch) - batch.y).square().mean().backward()
                optimizer.step()

            yield cost(task, "the batch", step, round(share * repeats))
    if only in (task := "forward pass, 64 graphs"):
        net, batch = BasePlanE.for_data(ds).eval(), ds[:64]
        with torch.no_grad():
            yield cost(task, "the batch", lambda: net(batch), repeats)
    for hidden in (64, 256):
        if only in (task := f"loading a model of width {hidden}"):
            BasePlanE.for_data(ds, hidden=hidden).save_pretrained(folder / "model")
            yield cost(task, "seal, sizes, finite values", lambda: BasePlanE.from_pretrained(folder / "model"), repeats)
    path = folder / "data.safetensors"
    tasks = {
        f"opening {{size}} MB, verify={verify}{', and all its graphs in batches of 64' if read else ''}": (verify, read)
        for verify, read in ((True, False), (False, False), (False, True))
    }
    if any(only in task for task in tasks):
        dataset(40).save(path)
    for task, (verify, read) in tasks.items():
        if only in task:

            def load(verify: bool = verify, read: bool = read) -> None:
                found = PackedDataset.open(path, verify=verify)
                for k in range(0, len(found) if read else 0, 64):
                    found[k : k + 64]

            task = task.format(size=path.stat().st_size // 10**6)
            yield cost(task, "bounds of positions", load, repeats if not (verify or read) else repeats // 8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="rows whose name contains this text")
    parser.add_argument("--repeats", type=int, default=200, help="of a row that is quick (200)")
    args = parser.parse_args()
    torch.set_num_threads(1)
    print(", ".join(f"{name} {value}" for name, value in machine().items()))
    print("| task | check | with, ms | without, ms | quotient | inside |\n|---|---|--:|--:|---|--:|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for row in rows(Path(folder), args.only, args.repeats):
            print(row, flush=True)


if __name__ == "__main__":
    main()
