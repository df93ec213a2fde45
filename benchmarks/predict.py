"""``planegraph predict`` on a large table: rows per second, CPU seconds, and peak memory of the parent and of all processes.

``python benchmarks/predict.py RUN FILE [--rows N] [--column NAME] [--workers N]`` writes N rows (a million by default), which repeat the
SMILES of FILE with a number beside each, predicts them and says what it took. Memory is the resident set, sampled four times a second from
/proc, so this needs Linux; pages that processes share count in each of them.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from planegraph.tasks.molecules.files import open_table


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("file")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--column", default="smiles")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--ending", default=".csv", help="of the file to write")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder, "table.csv"), Path(folder, "out" + args.ending)
        write_table(table, args.file, args.column, args.rows)
        command = [sys.executable, "-m", "planegraph", "predict", args.run, str(table), "-o", str(out), "--device", "cpu"]
        command += [] if args.workers is None else ["--workers", str(args.workers)]
        begin = time.monotonic()
        process = subprocess.Popen(command)
        parent, everyone = peaks(process)
        seconds, used = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = used.ru_utime + used.ru_stime
        print(f"{args.rows:,} rows, {seconds:.0f} s ({args.rows / seconds:,.0f} a second), {cpu:.0f} CPU s")
        print(f"peak memory: parent {parent / 2**20:,.0f} MB, all processes {everyone / 2**20:,.0f} MB")
        print(f"{table.stat().st_size / 2**20:,.0f} MB read, {out.stat().st_size / 2**20:,.0f} MB written")
    return process.returncode


def write_table(path: Path, source: str, column: str, rows: int) -> None:
    """A number and a SMILES in each row; the SMILES repeat."""
    smiles = [text.strip() for chunk in open_table(source).chunks() for text in chunk.values[column]]
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("id", "smiles"))
        writer.writerows(enumerate(itertools.islice(itertools.cycle(smiles), rows)))


def peaks(process: subprocess.Popen) -> tuple[int, int]:
    """Waits for the process; its peak memory in bytes, and that of it and all its descendants together."""
    parent = everyone = 0
    while process.poll() is None:
        sizes = resident(process.pid)
        parent, everyone = max(parent, sizes.get(process.pid, 0)), max(everyone, sum(sizes.values()))
        time.sleep(0.25)
    return parent, everyone


def resident(root: int) -> dict[int, int]:
    """The resident bytes of a process and of all its descendants, by process id."""
    parents, pages = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parents[int(entry.name)] = int(entry.joinpath("stat").read_text().rpartition(")")[2].split()[1])
                pages[int(entry.name)] = int(entry.joinpath("statm").read_text().split()[1])
            except OSError:  # it has ended meanwhile
                continue
    family = {root}
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    return {pid: pages[pid] * os.sysconf("SC_PAGE_SIZE") for pid in family if pid in pages}


if __name__ == "__main__":
    sys.exit(main())
