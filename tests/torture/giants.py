"""Huge inputs: 10^7 tiny graphs in one batch, and single graphs of 10^7 nodes.

Seeds below 1,000 take 4,000 instead of 10^7, so that the tests, which count from seed 0, need seconds; ``make torture`` starts at a random
seed below 10^9. A trial is a separate process with limited memory. One in three has too little: it may end in a MemoryError, but must
stay alive, and must work as before when it has memory again. The others have what was measured to be enough, or 80 % of the machine's if
that is less; with enough, all answers must be right.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import planegraph as pg
from planegraph.graphs import families as f

SMALL_SEEDS = 1000
_LARGE, _SMALL = 10**7, 4000
_ENOUGH = 14 * 2**30  # bytes beyond those of an idle process, for 10^7 of anything here; docs/reliability.md has the peaks
_SPARE = 2**28  # more for all that does not depend on the size
_SECONDS = 1800
_TOO_LITTLE = "too little memory, as was said"

_SINGLE: dict[str, Callable[[int, int], pg.Graph]] = {
    "path": lambda n, seed: f.path(n),
    "star": lambda n, seed: f.star(n),
    "fan": lambda n, seed: f.fan(n),
    "K2,n": lambda n, seed: f.k2n(n),
    "grid": lambda n, seed: f.grid(int(n**0.5), int(n**0.5)),
    "tree": lambda n, seed: f.random_tree(n, seed),
    "cactus": lambda n, seed: f.cactus(n, seed),
    "triangles in a chain": lambda n, seed: _chain_of_triangles(n // 2),
    "prism": lambda n, seed: f.prism(n // 2),
    "nested K4": lambda n, seed: f.nested_k4(n // 2),
    "random planar": lambda n, seed: f.random_planar(n, 0.6, seed),
    "triangulation": lambda n, seed: f.apollonian(n, seed),
}
_COUNTS: dict[str, Callable[[int], dict[str, int]]] = {
    "path": lambda n: {"blocks": n - 1, "Q": n - 1},
    "star": lambda n: {"blocks": n, "Q": n},
    "fan": lambda n: {"blocks": 1, "S": n - 1, "P": n - 2},
    "K2,n": lambda n: {"blocks": 1, "S": n, "P": 1},
    "grid": lambda n: {"blocks": 1, "S": 4, "R": 1},
    "tree": lambda n: {"blocks": n - 1, "Q": n - 1},
    "triangles in a chain": lambda n: {"blocks": n // 2, "S": n // 2},
    "prism": lambda n: {"blocks": 1, "R": 1},
    "nested K4": lambda n: {"blocks": 1, "R": n // 2},
}
NAMES = (*_SINGLE, "tiny graphs", "tiny graphs, packed", "not planar")


def trial(seed: int) -> str | None:
    rng = random.Random(seed)
    name, size = rng.choice(NAMES), _SMALL if seed < SMALL_SEEDS else _LARGE
    enough = _ENOUGH * size // _LARGE
    if rng.random() < 1 / 3:
        return attack(name, size, seed, int(rng.uniform(0.01, 0.6) * enough), too_little=True)
    return attack(name, size, seed, enough + _SPARE, too_little=False)


def attack(name: str, size: int, seed: int, limit: int, too_little: bool) -> str | None:
    """What is wrong with a process that takes this on with ``limit`` bytes more than it begins with."""
    free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * 4 // 5
    limit, too_little = min(limit, free), too_little or limit > free
    program = "import sys; from torture import giants; giants.child(sys.argv[1], *map(int, sys.argv[2:]))"
    command = [sys.executable, "-c", program, name, str(size), str(seed), str(limit)]
    path = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])])
    said = f"{name}, {size:,}, {limit / 2**30:.3f} GB"
    try:
        ended = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            # one thread of other libraries, and no memory that they set aside for each thread
            env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"},
        )
    except subprocess.TimeoutExpired:
        return f"{said}: still running after {_SECONDS} s"
    answer = ended.stdout.strip().splitlines()[-1:]
    if ended.returncode == 0 and (answer == ["right"] or (answer == [_TOO_LITTLE] and too_little)):
        return None
    return f"{said}: exit code {ended.returncode}\n{ended.stdout[-500:]}{ended.stderr[-2000:]}"


def child(name: str, size: int, seed: int, limit: int) -> None:
    """What the process does: ends with a word on stdout, and exit code 0."""
    work = {"tiny graphs": tiny, "tiny graphs, packed": packed, "not planar": not_planar}.get(name, single)
    work(name, 100, seed)  # loads libraries while there is memory for them
    before = pg.canonical_form(f.grid(5, 7)).code
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + limit, hard))
    try:
        work(name, size, seed)
        word = "right"
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and "can't allocate memory" not in str(error):  # PyTorch's words
            raise
        word = _TOO_LITTLE
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    assert pg.canonical_form(f.grid(5, 7)).code == before
    print(word)


# ---- single graphs ----------------------------------------------------------------------------------------------------------


def single(name: str, size: int, seed: int) -> None:
    """Planarity, decomposition, and the code of two numberings, which rebuilds the graph."""
    at = _Clock()
    g = f.shuffled(_SINGLE[name](size, seed), seed)
    at("made")
    assert pg.is_planar(g)
    at("is_planar")
    d = pg.decompose(g)
    if name in _COUNTS:
        assert d.counts == {"blocks": 0, "S": 0, "P": 0, "Q": 0, "R": 0} | _COUNTS[name](size), d
    walked = d.arrays["walk_edge"]
    assert np.bincount(walked[walked >= 0], minlength=g.num_edges).min() > 0
    if size <= _SMALL:
        d.check()
    at("decompose")
    assert max(len(repr(d)), len(str(d))) < 10**5
    at("str")
    del d
    form = pg.canonical_form(g)
    at("canonical_form")
    assert form.graph() == g.relabel(form.labelling)
    at("graph")
    assert pg.canonical_form(f.shuffled(g, seed + 1)).code == form.code
    at("canonical_form of another numbering")


def not_planar(name: str, size: int, seed: int) -> None:
    """Witnesses in a subdivided K5 or K3,3, in a grid with many edges too many, and in a smaller one with one edge too many, at most."""
    from oracles import is_kuratowski_subdivision

    at, rng, side = _Clock(), np.random.default_rng(seed), int(size**0.5)
    g = f.shuffled(_subdivided(f.complete(5) if seed % 2 else f.complete_bipartite(3, 3), size), seed)
    assert not pg.is_planar(g)
    assert np.array_equal(pg.kuratowski_witness(g), g.edges)  # nothing less will do
    at("witness of all edges")
    for rows, more in ((side, side), (side // 3, 1)):
        g = f.shuffled(_with_more_edges(f.grid(rows, rows), more, rng), seed)
        witness = pg.kuratowski_witness(g)
        assert pg.is_planar(g) == (witness is None)
        if witness is not None:
            assert is_kuratowski_subdivision(witness) is not None
            assert not _pairs(g, witness) - _pairs(g, g.edges[np.isin(g.edges, witness).all(axis=1)])
        at(f"witness of {0 if witness is None else len(witness):,} edges")


def _pairs(g: pg.Graph, edges: np.ndarray) -> set[int]:
    return {*(np.sort(edges, axis=1) @ [g.num_nodes, 1]).tolist()}


def _chain_of_triangles(count: int) -> pg.Graph:
    i = np.arange(count)
    corners = 2 * i[:, None] + [0, 1, 2]
    return pg.Graph(2 * count + 1, np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [0, 2]]]))


def _subdivided(core: pg.Graph, nodes: int) -> pg.Graph:
    """Each edge becomes a path."""
    inner = nodes // core.num_edges
    new = core.num_nodes + np.arange(core.num_edges * inner).reshape(core.num_edges, inner)
    path = np.concatenate([core.edges[:, :1], new, core.edges[:, 1:]], axis=1)
    return pg.Graph(core.num_nodes + new.size, np.stack([path[:, :-1].ravel(), path[:, 1:].ravel()], axis=1))


def _with_more_edges(g: pg.Graph, count: int, rng: np.random.Generator) -> pg.Graph:
    both = np.concatenate([g.edges, rng.integers(g.num_nodes, size=(count, 2))])
    both = np.sort(both[both[:, 0] != both[:, 1]], axis=1)
    return pg.Graph(g.num_nodes, np.unique(both, axis=0))


# ---- tiny graphs ------------------------------------------------------------------------------------------------------------

TINY = (
    *(f.path(n) for n in range(4)), f.cycle(3), f.cycle(4), f.star(3), f.complete(4), f.k2n(3), f.disjoint_union(f.path(2), f.path(1)),
)  # fmt: skip


def _batch(size: int, rng: np.random.Generator) -> tuple[pg.GraphBatch, np.ndarray]:
    """So many graphs out of ``TINY``, and which each is."""
    which = rng.integers(len(TINY), size=size)
    return pg.GraphBatch.from_graphs(TINY)[which], which


def tiny(name: str, size: int, seed: int) -> None:
    """Planarity, codes and tables of all are those of each alone."""
    at = _Clock()
    batch, which = _batch(size, np.random.default_rng(seed))
    alone = pg.decompose_batch(pg.GraphBatch.from_graphs(TINY), threads=1)
    at("made")
    assert pg.planar_mask(batch).all()
    at("planar_mask")
    codes, expected = pg.canonical_codes(batch), [pg.canonical_form(g).code for g in TINY]
    assert all(code == expected[k] for code, k in zip(codes, which.tolist(), strict=True))
    at("canonical_codes")
    del codes
    found = pg.decompose_batch(batch)
    at("decompose_batch")
    for table in ("walk", "spqr", "block", "cut", "node_spqr", "node_block"):
        counts = np.diff(getattr(found, f"{table}_ptr"))
        assert np.array_equal(counts, np.diff(getattr(alone, f"{table}_ptr"))[which]), table
    for g in (0, size // 2, size - 1):
        for column, values in found[g].arrays.items():
            assert np.array_equal(values, alone[int(which[g])].arrays[column]), (g, column)
        found[g].check()


def packed(name: str, size: int, seed: int) -> None:
    """A dataset packed, saved, opened and batched: batches are those of a small dataset."""
    from planegraph.data import PackedDataset

    at, rng = _Clock(), np.random.default_rng(seed)
    batch, which = _batch(size, rng)
    alone = PackedDataset.from_graphs(TINY, y=np.arange(len(TINY)))
    with tempfile.TemporaryDirectory() as folder:
        ds = PackedDataset.from_graphs(batch, y=which)
        at("from_graphs")
        ds.save(f"{folder}/tiny.safetensors")
        at("save")
        del ds, batch
        ds = PackedDataset.open(f"{folder}/tiny.safetensors")
        at("open")
        assert len(ds) == size
        for ids in (np.arange(64), np.arange(size - 64, size), rng.integers(size, size=1000)):
            assert (ds[ids].index == alone[which[ids]].index).all()
            assert (ds[ids].y.numpy() == which[ids]).all()
        at("batches")


class _Clock:
    """Says on stderr, which is read when something was found, what was done and what it took."""

    def __init__(self) -> None:
        self.begin = time.monotonic()

    def __call__(self, what: str) -> None:
        now, peak = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"{what}: {now - self.begin:.1f} s, peak {peak:.2f} GB", file=sys.stderr)
        self.begin = now
