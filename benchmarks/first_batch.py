"""Opens a packed dataset in this fresh process and prints, as JSON, the seconds of the imports and from opening to the first batch.

python benchmarks/first_batch.py NAME DATA_ROOT exact|padded
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

BATCH = 256


def in_a_fresh_process(name: str, root: Path, padded: bool = False, cold: bool = False) -> dict[str, float]:
    """Runs this file and returns what it prints; ``cold``: after the system dropped its cache of the packed file."""
    if cold:
        _forget(name, root)
    command = [sys.executable, __file__, name, str(root), "padded" if padded else "exact"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def _forget(name: str, root: Path) -> None:
    from planegraph import datasets

    with open(datasets.get(name, root).packed_path(), "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def main(name: str, root: str, kind: str) -> None:
    """The dataset is opened as a training run does it, and the first batch is one of random molecules, collated by the loader.

    The checksums of the file, which a run compares before it trains, are not compared here.
    """
    begun = time.perf_counter()
    from planegraph import datasets
    from planegraph.data import PackedLoader

    dataset = datasets.get(name, root)  # imports its module
    imported = time.perf_counter()
    task = dataset.task()
    opened = time.perf_counter()
    batch = next(iter(PackedLoader(task.dataset, BATCH, shuffle=True, pad=kind == "padded")))
    there = time.perf_counter()
    if batch.num_graphs != min(BATCH, len(task.dataset)):
        raise RuntimeError(f"the first batch of {name} has {batch.num_graphs} graphs, not {BATCH}")
    found = {"imports": imported - begun, "open": opened - imported, "batch": there - opened, "all": there - imported}
    print(json.dumps(found | {"graphs": len(task.dataset)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
