"""A speed table: its rows, which of them are wanted, how they are printed and kept, and what counts as a miss."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeVar

DATA = Path(os.environ.get("PLANEGRAPH_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
Data = TypeVar("Data")


@dataclass
class Row:
    """One line of the table. ``value`` and ``must`` are seconds unless ``unit`` says otherwise; without ``must`` it only informs."""

    task: str
    value: float
    must: float | None = None
    unit: str = "s"
    at_least: bool = False  # the value must reach ``must`` from below, not stay under it
    best_elsewhere: str = ""
    yardsticks: dict[str, float | None] = field(default_factory=dict)
    but: str = ""  # why the row does not count as passed, whatever its value

    @property
    def passed(self) -> bool:
        if self.but:
            return False
        if self.must is None:
            return True
        return self.value >= self.must if self.at_least else self.value <= self.must


class Table:
    """Generates the rows whose names were asked for; a subclass says which there are."""

    yardsticks: Sequence[str] = ()  # the columns beside ours

    def __init__(self, root: Path, only: str) -> None:
        self.root = root
        self.only = only.lower()
        self.not_measured: list[str] = []

    def rows(self) -> Iterator[Row]:
        raise NotImplementedError

    def wanted(self, *names: str) -> bool:
        return any(self.only in name.lower() for name in names)

    def load(self, read: Callable[[], Data], *tasks: str) -> Data | None:
        """Calls ``read`` for these tasks; None if none is wanted, or if the data are missing, so that they are not measured."""
        wanted = [task for task in tasks if self.wanted(task)]
        if not wanted:
            return None
        try:
            return read()
        except FileNotFoundError as error:
            self.skip(f"{error.filename} is missing" if error.filename else str(error).splitlines()[0], *wanted)
            self.not_measured += wanted
            return None

    def has(self, package: str, *tasks: str) -> bool:
        """Returns whether a package is installed; if not, prints what is left out."""
        try:
            __import__(package)
        except ImportError:
            self.skip(f"{package} is not installed", *tasks)
            return False
        return True

    def skip(self, why: str, *tasks: str) -> None:
        """Prints that the tasks cannot be measured here, which does not count as a miss."""
        for task in filter(self.wanted, tasks):
            print(f"{task:54} not measured: {why}", flush=True)


def shown(value: float | None, unit: str = "s") -> str:
    if value is None:
        return "-"
    if unit != "s":
        return f"{value:,.0f} {unit}" if value >= 1000 else f"{value:.3g} {unit}"
    for scale, name in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if value >= scale:
            return f"{value / scale:.3g} {name}"
    return f"{value / 1e-9:.3g} ns"


def line(row: Row, yardsticks: Sequence[str]) -> str:
    must = "" if row.must is None else ("≥ " if row.at_least else "≤ ") + shown(row.must, row.unit)
    verdict = "look" if row.but else "    " if row.must is None else "ok  " if row.passed else "MISS"
    cells = [f"{row.task:54}", f"{shown(row.value, row.unit):>9}", f"{must:>10}", verdict]
    for name in yardsticks:
        yard = row.yardsticks.get(name)
        ratio = f"x{row.value / yard:.3g}" if yard else ""
        cells.append(f"{shown(yard, row.unit):>8} {ratio:<7}")
    return " ".join(cells) + ", ".join(filter(None, (row.best_elsewhere, row.but)))


def header(yardsticks: Sequence[str]) -> str:
    names = " ".join(f"{name + ' x ours/it':<16}" for name in yardsticks)
    return f"{'task':54} {'ours':>9} {'must':>10}      {names}best known elsewhere"


def arguments(description: str | None) -> argparse.ArgumentParser:
    """The options that every table has."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="TEXT", help="only rows whose name contains this text")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the numbers to this file")
    parser.add_argument("--data-root", type=Path, default=DATA, help=f"the benchmark data (default: {DATA})")
    return parser


def report(table: Table, where: dict[str, str], out: Path | None = None, complete: bool = True) -> int:
    """Measures and prints the rows; 1 if one misses what it must reach, if there is none, or (``complete``) if one was not measured."""
    print("  ".join(f"{key}: {value}" for key, value in where.items()))
    print(header(table.yardsticks))
    rows = []
    for row in table.rows():
        rows.append(row)
        print(line(row, table.yardsticks), flush=True)
    missing = table.not_measured
    if out:
        result = {"machine": where, "rows": [asdict(r) | {"passed": r.passed} for r in rows], "not_measured": missing}
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(result, indent=1) + "\n")
    missed = [row for row in rows if not row.passed]
    print(f"{len(rows) - len(missed)} of {len(rows)} rows reach what they must")
    for row in missed:
        print(f"  does not count, {row.but}: {row.task}" if row.but else f"  missed: {row.task}")
    if missing:
        print(f"{len(missing)} not measured: no data in {table.root}; set PLANEGRAPH_DATA or give --data-root")
    unmeasured = bool(missing) and complete
    return 1 if missed or unmeasured or not (rows or missing) else 0
