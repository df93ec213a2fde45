"""Is a bar reached? A record against a row of published.py: what is the case, and the words for it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from .published import Published, Table
from .records import Record

Outcome = Literal[
    "reached", "reached by fewer seeds", "missed", "shown", "incomplete", "earlier model", "other settings", "not judged", "not run",
    "not the paper's order"
]  # fmt: skip


@dataclass(frozen=True)
class Verdict:
    """``shown``: there is no bar. Only ``reached`` is a success."""

    kind: Outcome
    text: str


def figure(table: Table, record: Record) -> tuple[float, float]:
    """Mean and standard deviation in the table's unit; a time has no deviation."""
    if table.value == "seconds":
        return float(record.facts["seconds"]), 0.0
    return table.factor * record.result["test"]["mean"], table.factor * record.result["test"]["std"]


def judge(table: Table, row: Published, record: Record | None) -> Verdict:
    """The verdict on a row. A mean of too few seeds can miss a bar, but not reach it; a time of too few says nothing."""
    if record is None:
        return Verdict("not run", "not run")
    said, trials = _against_bar(table, row, figure(table, record)[0]), len(record.result["trials"])
    before = f"{said.text}, but " if said.text else ""
    if record.earlier is not None:
        return Verdict("earlier model", f"by an earlier model{': ' + said.text if said.text else ''}")
    few = trials < row.repeats
    others = [o for o in record.overrides if not (few and o.startswith("train.seeds="))]
    if others:
        return Verdict("other settings", f"{before}settings differ from configs/{row.name}.yaml: {', '.join(others)}")
    unlike = _unlike(table, row, record)
    if unlike:
        return Verdict("not judged", f"not judged: {unlike}")
    if few:
        promising = said.kind == "reached" and table.value == "test"
        kind: Outcome = "missed" if said.kind == "missed" else "reached by fewer seeds" if promising else "incomplete"
        return Verdict(kind, f"{before}{trials} of {row.repeats} seeds or folds")
    return said


def _counts(table: Table, row: Published, record: Record) -> bool:
    """Whether the record is what the row asks for, whatever figure it has."""
    return not record.overrides and not _unlike(table, row, record) and len(record.result["trials"]) >= row.repeats


def _unlike(table: Table, row: Published, record: Record) -> str:
    """In what the record is not about what the bar is about: another machine, or other test graphs or another unit; empty if in nothing."""
    if row.only and not all(row.only in device for device in _devices(record)):
        return f"the bar is for an {row.only}"
    scale = record.result.get("scale") or 1.0
    if scale != row.scale:
        return f"errors are divided by {scale}, not {row.scale:g}"
    if not table.tested:
        return ""
    if not record.predictions:
        return "there are no predictions"
    counts = {sum(v is not None for v in values) for name, values in record.predictions.items() if name not in ("id", "true")}
    wrong = sorted(counts - {table.tested})
    return f"tested on {wrong[0]} graphs, not the {table.tested} of the task" if wrong else ""


def _devices(record: Record) -> set[str]:
    """Every device that the run was trained on."""
    machines = [record.facts["machine"], *(session["machine"] for session in record.facts.get("sessions", ()))]
    return {machine["device"] for machine in machines}


def _against_bar(table: Table, row: Published, mean: float) -> Verdict:
    if row.bar is None:
        return Verdict("shown", "")
    if row.exactly:
        off = abs(mean - row.bar)
        return Verdict("reached", "reached") if off < 0.05 + 1e-9 else Verdict("missed", f"missed: {_amount(off)} off")
    missing = mean - row.bar if table.better == "lower" else row.bar - mean
    if missing <= 1e-9 * abs(row.bar):
        return Verdict("reached", "reached")
    return Verdict("missed", f"missed by {_amount(missing)} ({missing / abs(row.bar):.1%})")


def judge_order(table: Table, records: Mapping[str, Record]) -> Verdict:
    """Whether the figures of an ordered table come in the paper's order, as they must, whatever bars they reach one by one.

    It is reached only by rows that count one by one, too: none of them by other settings or by fewer seeds. Rows of an earlier model are
    as if they had not been run: models are not compared with each other.
    """
    today = [row for row in table.rows if row.name in records and records[row.name].earlier is None]
    means = {row.name: figure(table, records[row.name])[0] for row in today}
    wrong = out_of_order(table, means)
    if wrong:
        return Verdict("not the paper's order", "; ".join(wrong))
    if len(means) < 2:
        return Verdict("not run", "nothing to compare")
    if len(means) < len(table.rows):
        return Verdict("incomplete", f"kept by the {len(means)} of {len(table.rows)} rows that were run")
    out = sum(not _counts(table, row, records[row.name]) for row in table.rows)
    if out:
        return Verdict("incomplete", f"kept, but {out} of the {len(table.rows)} rows do not count")
    return Verdict("reached", "kept")


def out_of_order(table: Table, means: Mapping[str, float]) -> list[str]:
    """Pairs of rows whose figures do not come in the paper's order, as text; rows that are missing count for nothing."""
    rows = [row for row in table.rows if row.name in means and row.paper is not None]
    return [
        f"{a.row} should be below {b.row}"
        for a in rows
        for b in rows
        if a.paper < b.paper and means[a.name] > means[b.name] and not math.isclose(means[a.name], means[b.name])
    ]


def _amount(value: float) -> str:
    return f"{value:.3g}"
