"""A million nodes on the default stack of 8 MB: no recursion, no crash. Each graph in its own process."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

SCRIPT = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_STACK, (8 << 20, 8 << 20))
import planegraph as pg
name, n = sys.argv[1], int(sys.argv[2])
f = pg.families
g = {
    "path": lambda: f.path(n),
    "star": lambda: f.star(n),
    "cycle": lambda: f.cycle(n),
    "ladder": lambda: f.ladder(n // 2),
    "wheel": lambda: f.wheel(n),
    "prism": lambda: f.prism(n // 2),
    "fan": lambda: f.fan(n),
    "K2,n": lambda: f.k2n(n),
    "caterpillar": lambda: f.caterpillar(n // 3, 2),
    "nested K4": lambda: f.nested_k4(n // 2),
    "cactus": lambda: f.cactus(n),
}[name]()
packed = pg.decompose_batch(pg.GraphBatch.from_graphs([f.shuffled(g, 1), f.shuffled(g, 2)]), threads=1, codes=True)
a, b = packed.codes()
h = f.shuffled(g, 3)
print(json.dumps({"same": a == b, "counts": packed[0].counts, "planar": pg.is_planar(h)}))
"""


def run(name: str, n: int) -> dict:
    done = subprocess.run(
        ["bash", "-c", 'ulimit -s 8192; exec "$0" -c "$1" "$2" "$3"', sys.executable, SCRIPT, name, str(n)],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, f"{name} with {n} nodes: exit code {done.returncode}\n{done.stderr[-2000:]}"
    return json.loads(done.stdout)


def expected_counts(name: str, n: int) -> dict[str, int]:
    counts = {
        "path": {"blocks": n - 1, "Q": n - 1},
        "star": {"blocks": n, "Q": n},
        "cycle": {"blocks": 1, "S": 1},
        "ladder": {"blocks": 1, "S": n // 2 - 1, "P": n // 2 - 2},
        "wheel": {"blocks": 1, "R": 1},
        "prism": {"blocks": 1, "R": 1},
        "fan": {"blocks": 1, "S": n - 1, "P": n - 2},
        "K2,n": {"blocks": 1, "S": n, "P": 1},
        "caterpillar": {"blocks": n // 3 * 3 - 1, "Q": n // 3 * 3 - 1},
        "nested K4": {"blocks": 1, "R": n // 2},
    }[name]
    return {"blocks": 0, "S": 0, "P": 0, "Q": 0, "R": 0} | counts


NAMES = ["path", "star", "cycle", "ladder", "wheel", "prism", "fan", "K2,n", "caterpillar", "nested K4", "cactus"]


def assert_big(name: str, n: int) -> None:
    found = run(name, n)
    assert found["same"], f"two numberings of {name}, {n} nodes, give different codes"
    assert found["planar"]
    if name != "cactus":
        assert found["counts"] == expected_counts(name, n)


@pytest.mark.parametrize("name", NAMES)
def test_a_hundred_thousand_nodes(name):
    assert_big(name, 100_000)


def test_a_path_of_a_million_nodes():
    assert_big("path", 1_000_000)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_million_nodes(name):
    assert_big(name, 1_000_000)
