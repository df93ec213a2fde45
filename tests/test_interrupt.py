"""Ctrl-C during a long batch ends it promptly, with KeyboardInterrupt and not with a crash."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

SCRIPT = """
import sys
import numpy as np
import planegraph as pg
what, threads = sys.argv[1], int(sys.argv[2])
n, copies = (24, 400_000) if what == "molecules" else (20_000, 400)
g = pg.families.random_planar(n, 0.6, seed=1)
batch = pg.GraphBatch(
    np.arange(copies + 1) * n, np.arange(copies + 1) * g.num_edges, np.tile(g.edges, (copies, 1))
)
print("ready", flush=True)
try:
    if what == "planarity":
        from planegraph.decomposition.api import planar_mask
        while True:
            planar_mask(batch)
    if what == "symmetries":
        while True:
            pg.automorphism_batch(batch, threads=threads)
    if what == "drawing":
        large = pg.families.grid(1000, 500)
        while True:
            pg.embedding(large, pg.planar_layout(large))
    if what == "crossings":  # two hubs, each joined to the same nodes: pairs that no box separates
        side = np.random.default_rng(1).uniform(-1, 1, (150_000, 2))
        hubs = pg.Graph(150_002, np.stack([np.arange(300_000) % 2, 2 + np.arange(300_000) // 2], 1))
        points = np.concatenate([[(0, 0), (1e-9, 0)], side])
        while True:
            pg.planarize(hubs, points)
    while True:
        pg.decompose_batch(batch, threads=threads, codes=True)
except KeyboardInterrupt:
    print("stopped", flush=True)
    # the library still works afterwards
    assert pg.is_isomorphic(pg.families.wheel(5), pg.families.shuffled(pg.families.wheel(5)))
    print("fine", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")
@pytest.mark.parametrize(
    ("what", "threads"),
    [
        ("molecules", 1),
        ("molecules", 2),
        ("maps", 1),
        ("maps", 2),
        ("planarity", 1),
        ("drawing", 1),
        ("crossings", 1),
        ("symmetries", 2),
    ],
)
def test_ctrl_c(what, threads):
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, what, str(threads)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.7)
        assert process.poll() is None, "the batch was over before it could be interrupted"
        start = time.perf_counter()
        process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            pytest.fail(f"{what}, {threads} threads: still running 20 s after Ctrl-C")
        took = time.perf_counter() - start
    assert out == "stopped\nfine\n", err[-2000:]
    assert process.returncode == 0
    assert took < 3, f"{what}, {threads} threads: ended only after {took:.1f} s"


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")
def test_tests_can_run_in_the_background():
    """Where SIGINT is ignored, as by a shell's ``&`` in a script."""
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"{__file__}::test_ctrl_c[molecules-1]"],
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        check=True,
        timeout=120,
    )
