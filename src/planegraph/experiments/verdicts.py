"""Verdicts: whether a record reaches the bar of its row, and the words for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from .published import Direction, Measured, Published, Table
from .records import Record

Outcome = Literal[
    "reached", "reached by fewer seeds", "missed", "shown", "incomplete", "earlier model", "other settings", "not judged", "not run",
    "not the best"
]  # fmt: skip


@dataclass(frozen=True)
class Verdict:
    """The outcome and its text. Only ``reached`` is a success; ``shown`` means that there is no bar."""

    kind: Outcome
    text: str


def figure(table: Table, record: Record) -> float:
    """The mean in the table's unit, or the time."""
    return float(record.result["seconds"]) if table.value == "seconds" else table.factor * record.result["test"]["mean"]


def judge(table: Table, row: Published, record: Record | None) -> Verdict:
    """The verdict on a row. A mean over too few seeds can miss a bar but not reach it; a time for too few seeds says nothing."""
    if record is None:
        return Verdict("not run", "not run")
    found, trials = _against_bar(table, row, figure(table, record)), len(record.result["trials"])
    before = f"{found.text}, but " if found.text else ""
    if record.earlier is not None:
        return Verdict("earlier model", f"by an earlier model{': ' + found.text if found.text else ''}")
    few = trials < row.repeats
    others = [o for o in record.overrides if not (few and o.startswith("train.seeds="))]
    if others:
        return Verdict("other settings", f"{before}settings differ from configs/{row.name}.yaml: {', '.join(others)}")
    unlike = _unlike(table, row, record)
    if unlike:
        return Verdict("not judged", f"not judged: {unlike}")
    if few:
        promising = found.kind == "reached" and table.value == "test"
        kind: Outcome = "missed" if found.kind == "missed" else "reached by fewer seeds" if promising else "incomplete"
        return Verdict(kind, f"{before}{trials} of {row.repeats} seeds or folds")
    return found


def _counts(table: Table, row: Published, record: Record) -> bool:
    """Returns whether the record is made as the row asks, whatever its figure."""
    return not record.overrides and not _unlike(table, row, record) and len(record.result["trials"]) >= row.repeats


def _unlike(table: Table, row: Published, record: Record) -> str:
    """Names the device, size, unit or test set in which the record differs from the bar; empty if there is none."""
    if row.parameters is not None and record.facts["parameters"] > row.parameters:
        return f"the bar is for at most {row.parameters:,} parameters"
    if row.only and not all(row.only in session["machine"]["device"] for session in record.sessions):
        return f"the bar is for an {row.only}"
    scale = record.result.get("scale") or 1.0
    if scale != row.scale:
        return f"errors are divided by {scale}, not {row.scale:g}"
    if not table.tested:
        return ""
    wrong = sorted({len(found.id) for found in record.tests.values()} - {table.tested})
    return f"tested on {wrong[0]} graphs, not the {table.tested} of the task" if wrong else ""


def _against_bar(table: Table, row: Published, mean: float) -> Verdict:
    if row.bar is None:
        return Verdict("shown", "")
    if row.exactly:
        off = abs(mean - row.bar)
        return Verdict("reached", "reached") if off < 0.05 + 1e-9 else Verdict("missed", f"missed: {_amount(off)} off")
    return _compared(mean, row.bar, table.better)


def _compared(value: float, bar: float, better: Direction) -> Verdict:
    missing = value - bar if better == "lower" else bar - value
    if missing <= 1e-9 * abs(bar):
        return Verdict("reached", "reached")
    return Verdict("missed", f"missed by {_amount(missing)} ({missing / abs(bar):.1%})")


def judge_measure(measure: Measured, record: Record | None) -> dict[str, Verdict]:
    """The verdict on each row of a measured table that has a bar."""
    if record is None:
        return dict.fromkeys(measure.bars, Verdict("not run", "not run"))
    if record.earlier is not None:
        return dict.fromkeys(measure.bars, Verdict("earlier model", "by an earlier model"))
    found = {row[measure.key]: row[measure.value] for row in record.result["rows"]}
    missing = Verdict("not run", "not run")
    return {name: _compared(found[name], bar, measure.better) if name in found else missing for name, bar in measure.bars.items()}


def judge_best(table: Table, records: Mapping[str, Record]) -> Verdict:
    """The verdict on ``table.best``, the row that must have the best figure of its table, whichever bars the rows reach.

    It is reached only if every row counts, so none has other settings or fewer seeds. Rows of an earlier model are taken as not run, as
    different models are not compared.
    """
    today = [row for row in table.rows if row.name in records and records[row.name].earlier is None]
    figures = {row.name: figure(table, records[row.name]) for row in today}
    if table.best not in figures or len(figures) < 2:
        return Verdict("not run", "nothing to compare")
    sign = 1 if table.better == "lower" else -1
    better = [row.row for row in today if sign * figures[row.name] < sign * figures[table.best]]
    if better:
        return Verdict("not the best", f"not the best: {', '.join(better)}")
    if len(figures) < len(table.rows):
        return Verdict("incomplete", f"the best of the {len(figures)} of {len(table.rows)} rows that were run")
    out = sum(not _counts(table, row, records[row.name]) for row in table.rows)
    if out:
        return Verdict("incomplete", f"the best, but {out} of the {len(table.rows)} rows do not count")
    return Verdict("reached", "reached")


def _amount(value: float) -> str:
    return f"{value:.3g}"
