"""Milliseconds of a training step on a GPU, by the engine's own loop: captured, tf32, loading included.

    python benchmarks/throughput.py                     all rows
    python benchmarks/throughput.py --only qm9          rows whose name contains the text
    python benchmarks/throughput.py --profile 30        also which kernels the time goes to
    python benchmarks/throughput.py --json out.json     also write the numbers

The first epoch, in which steps are captured, is not counted; of those that follow, the median is given, and the longest. The script runs
with earlier versions of the package too, so that two of them can be measured one after the other on the same machine: run it with the
Python that has the other one installed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import Counter
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch

from planegraph.nn import PlanEConfig
from planegraph.runs.settings import RunSettings
from planegraph.runs.trials import trials_of
from planegraph.train.environment import StopSignal, World
from planegraph.train.loop import end_epoch, train_epoch
from planegraph.train.stack import Stack
from planegraph.train.tasks import task_of

ROWS: dict[str, dict[str, Any]] = {
    "zinc12k, ten seeds, width 64, 6 layers, batch 64": {
        "task": "zinc12k",
        "model": {"hidden": 64, "layers": 6, "graph_scale": 24, "dropout": 0.1},
        "train": {"batch_size": 64, "seeds": 10},
    },
    "qm9, 13 targets, width 128, 3 layers, batch 256": {
        "task": "qm9",
        "options": {"target": "each"},
        "model": {"hidden": 128, "layers": 3, "pos_dim": 32, "graph_scale": 18, "dropout": 0.1},
        "train": {"batch_size": 256, "seeds": 1},
    },
    "molhiv, ten seeds, width 64, 3 layers, batch 256": {
        "task": "molhiv",
        "model": {"hidden": 64, "layers": 3, "graph_scale": 25, "dropout": 0.5, "dropout_readout": 0.5},
        "train": {"batch_size": 256, "seeds": 10, "ema": 0.9995},
    },
    "zinc12k, one seed, width 128, 3 layers, batch 256": {
        "task": "zinc12k",
        "model": {"hidden": 128, "layers": 3, "graph_scale": 24},
        "train": {"batch_size": 256, "seeds": 1},
    },
}
_OF_EARLIER_VERSIONS = {"g_depth": 2}  # g1 to g4 as MLPs, which they now always are
_COMMON = {"norm": "batch", "norm_momentum": 0.02, "residual": True}


def settings_of(row: dict[str, Any]) -> RunSettings:
    known = {f.name for f in fields(PlanEConfig)}
    earlier = {name: value for name, value in _OF_EARLIER_VERSIONS.items() if name in known}
    train = {"epochs": 100, "schedule": "cosine", "clip": 1, "precision": "tf32"}
    return RunSettings.from_dict(row | {"model": _COMMON | earlier | row["model"], "train": train | row["train"]})


def measure(row: dict[str, Any], epochs: int, profiled: int, precision: str) -> dict[str, Any]:
    """Step times of one row."""
    settings = settings_of(row)
    torch.set_float32_matmul_precision(precision)
    task = task_of(settings)
    stack = Stack(task, settings, trials_of(task, settings.train), torch.device("cuda"), World())
    stop, found = StopSignal(), []
    for _ in range(epochs + 1):
        torch.cuda.synchronize()
        start = time.perf_counter()
        train_epoch(stack, stop)
        torch.cuda.synchronize()
        found.append((time.perf_counter() - start) / stack.batches.steps * 1e3)
        end_epoch(stack)
    result = {
        "ms": statistics.median(found[1:]),
        "longest": max(found[1:]),
        "first epoch": found[0],
        "steps": stack.batches.steps,
        "captures": len(stack.step.steps),
        "parameters": sum(p.numel() for p in stack.model.parameters()) // len(stack.trials),
        "memory": torch.cuda.max_memory_allocated() / 2**30,
    }
    if profiled:
        result["kernels"] = kernels(stack, profiled)
    return result


def kernels(stack: Stack, steps: int) -> dict[str, Any]:
    """The number of kernels of a step and their time, in all and by name."""
    from torch.profiler import ProfilerActivity, profile

    batches = stack.batches.training(stack.epoch)
    stack.model.train()
    for _ in range(3):
        stack.step.train(next(batches))
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        start = time.perf_counter()
        for _ in range(steps):
            stack.step.train(next(batches))
        torch.cuda.synchronize()
        wall = (time.perf_counter() - start) / steps * 1e3
    counts, micros = Counter(), Counter()
    for event in profiler.events():
        name = event.name.split("(")[0][:70]
        counts[name] += 1
        micros[name] += event.device_time
    table = {name: [round(counts[name] / steps, 1), round(us / steps, 1)] for name, us in micros.most_common(40)}
    total = sum(micros.values()) / steps / 1e3
    return {"number": sum(counts.values()) / steps, "ms of kernels": total, "ms": wall, "by name": table}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--epochs", type=int, default=3, help="epochs that count")
    parser.add_argument("--profile", type=int, default=0, metavar="STEPS", help="profile so many steps")
    parser.add_argument("--precision", default="high", help="of products, as PyTorch calls it: high is tf32, medium bf16")
    parser.add_argument("--json", type=Path, help="write the numbers to this file")
    args = parser.parse_args()
    found = {}
    for name, row in ROWS.items():
        if args.only in name:
            found[name] = measure(row, args.epochs, args.profile, args.precision)
            shown = {key: round(value, 3) for key, value in found[name].items() if key != "kernels"}
            print(f"{name}: {shown}", flush=True)
            if args.profile:
                table = found[name]["kernels"]
                print(f"  {table['number']:.0f} kernels, {table['ms of kernels']:.2f} ms of kernels, {table['ms']:.2f} ms profiled")
                for kernel, (number, micros) in table["by name"].items():
                    print(f"    {micros:8.1f} us  {number:6.1f} x  {kernel}")
    if args.json:
        args.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
