"""What a process may do while threads are in the core: fork, spawn, end with daemon threads at work, call the core as it ends.

A trial is a separate process that does one of these. It must end by itself, with exit code 0 and without a word.
"""

from __future__ import annotations

import random
import subprocess
import sys

_SECONDS = 60  # for a process that needs one or two

_BEGIN = """
import atexit, os, random, signal, sys, threading, time, warnings
import numpy as np
import planegraph as pg
from planegraph import _core

warnings.simplefilter("ignore")  # Python 3.12 and later advise against fork with threads
rng = random.Random(int(sys.argv[1]))
call, threads, count = sys.argv[2], rng.choice((1, 2, 4)), rng.randint(1, 4)
graphs = [pg.families.random_planar(rng.randint(3, 40), rng.random(), seed=k) for k in range(400)]
batch = pg.GraphBatch.from_graphs(graphs)
small = batch[:20]
expected = pg.canonical_codes(small, 1)
empty = np.zeros(16_385, np.int64), np.zeros(16_385, np.int64), np.zeros((0, 2), np.int64)  # four chunks that cost nothing
if call == "collate":  # without PyTorch in the threads: its own threads abort at exit, as those of this core did
    from planegraph.data import PackedDataset
    tables, ids = _core.Tables(PackedDataset.from_graphs(graphs).tables), np.arange(len(graphs))

def work():
    while not done:
        if call == "decompose":
            pg.decompose_batch(batch, threads)
        elif call == "codes":
            pg.canonical_codes(batch, threads)
        elif call == "planar":
            pg.planar_mask(batch)
            pg.is_planar(graphs[0])
        elif call == "collate":
            _core.collate(tables, ids, 0)
        else:
            _core.run(*empty, walks=False, threads=threads)

done = False
workers = [threading.Thread(target=work, daemon=True) for _ in range(count)]
for worker in workers:
    worker.start()
"""

_KINDS = {
    "fork": """
for k in range(60):
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # ends a child that waits for a lock
        os._exit(0 if pg.canonical_codes(small, 1 + k % 2) == expected else 1)
    status = os.waitpid(child, 0)[1]
    if status:
        print(f"child {k} of a fork ended with status {status}")
        break
done = True
for worker in workers:
    worker.join()
""",
    "spawn": """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

with ProcessPoolExecutor(2, get_context("spawn")) as pool:
    if any(codes != expected for codes in pool.map(pg.canonical_codes, [small] * 4)):
        print("another code in a spawned process")
""",
    "daemon": """
time.sleep(0.3 * rng.random())
if rng.random() < 0.3:
    sys.exit(0)
""",
    "exit": """
atexit.register(lambda: pg.canonical_codes(small, threads) == expected or print("another code at exit"))
threading.Thread(target=lambda: [pg.canonical_codes(batch, threads) for _ in range(5)]).start()  # is waited for
""",
}
KINDS = tuple(_KINDS)
CALLS = ("decompose", "codes", "planar", "empty", "collate")


def trial(seed: int) -> str | None:
    rng = random.Random(seed)
    return attack(rng.choice(KINDS), rng.choice(CALLS), seed)


def attack(kind: str, call: str, seed: int) -> str | None:
    """What is wrong with a process in which threads are in this call of the core."""
    command = [sys.executable, "-c", _BEGIN + _KINDS[kind], str(seed), call]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, errors="replace")
    except subprocess.TimeoutExpired:
        return f"{kind}, {call}: still running after {_SECONDS} s"
    if ended.returncode or ended.stdout or ended.stderr:
        return f"{kind}, {call}: exit code {ended.returncode}\n{ended.stdout[-500:]}{ended.stderr[-2000:]}"
    return None
