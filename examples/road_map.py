"""From a road map to a table of the streets whose closure cuts it in two: a million crossings in seconds.

    python examples/road_map.py                    a grid of 10^6 crossings, 15 % of the streets removed
    python examples/road_map.py --overpasses 20    with streets that cross others without a crossing: no planar graph
    python examples/road_map.py --out bridges.npz  keep the table

The table has a row per bridge: the street, its two crossings u and v, and their coordinates. It needs numpy alone. With geopandas:

    lines = np.stack([table["u_x"], table["u_y"], table["v_x"], table["v_y"]], axis=1).reshape(-1, 2, 2)
    gpd.GeoDataFrame(table, geometry=shapely.linestrings(lines))
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import planegraph as pg


def make_map(crossings: int, overpasses: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Streets as pairs of crossings, and where these are: a grid that lacks streets, numbered at random."""
    rng = np.random.default_rng(seed)
    side = round(crossings**0.5)
    grid = pg.families.grid(side, side)
    streets = grid.edges[rng.random(grid.num_edges) < 0.85]
    corner = rng.choice(grid.num_nodes - 3 * side, overpasses, replace=False)
    over = np.stack([corner, corner + 2 * side + 1], axis=1)  # past the crossings between
    number = rng.permutation(grid.num_nodes)
    xy = np.empty((grid.num_nodes, 2))
    xy[number] = np.stack(np.divmod(np.arange(grid.num_nodes), side)[::-1], axis=1) + rng.random((grid.num_nodes, 2)) / 4
    return {"streets": rng.permutation(number[np.concatenate([streets, over])]), "xy": xy}


def bridges_of(streets: np.ndarray, xy: np.ndarray) -> tuple[pg.Decomposition, dict[str, np.ndarray]]:
    """The table. ``on_nonplanar="set"`` is for overpasses: bridges are exact, planar or not."""
    d = pg.decompose(pg.Graph(len(xy), streets), on_nonplanar="set")
    u, v = d.ends(d.bridges).T
    (u_x, u_y), (v_x, v_y) = xy[u].T, xy[v].T
    return d, {"street": d.bridges, "u": u, "v": v, "u_x": u_x, "u_y": u_y, "v_x": v_x, "v_y": v_y}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--crossings", type=int, default=10**6, help="about so many (default 10^6)")
    parser.add_argument("--overpasses", type=int, default=0, help="streets that cross others (default 0)")
    parser.add_argument("--out", type=Path, help="where to keep the table")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "map.npz"
        np.savez(file, **make_map(args.crossings, args.overpasses))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.process_time()
        with np.load(file) as map:
            streets, xy = map["streets"], map["xy"]
        loaded = time.process_time()
        d, table = bridges_of(streets, xy)
        done = time.process_time()
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(repr(d))
    for k in range(min(3, len(d.bridges))):
        print(", ".join(f"{name} {column[k]}" for name, column in table.items()))
    print(f"{len(d.bridges)} bridges; load {loaded - start:.2f} s, decomposition and table {done - loaded:.2f} s of CPU time")
    print(f"memory: {after / 1024:.0f} MiB at most, {before / 1024:.0f} MiB of them before the map was loaded")
    if args.out is not None:
        np.savez(args.out, **table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
