"""``docs/results.md`` from the records: the same records give the same text, byte for byte.

Every task has a table. Records are checked while they are read, and those that no table asks for come last.
"""

from __future__ import annotations

import html
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from ..io.atomic import replace_files
from ..runs.settings import RunSettings
from .published import (
    EXPRESSIVENESS_BAR,
    MEASURE_NAMES,
    MEASURES,
    ROW_NAMES,
    TABLES,
    TIGER_BAR,
    Measured,
    Published,
    Table,
)
from .records import Record, read_records
from .verdicts import Verdict, figure, judge, judge_order

_HEAD = ("model", "ours", "paper", "bar", "verdict", "settings", "parameters", "time", "record")
_INTRO = """\
# Results

Written by `planegraph tables` from the folders in `records/`; to change it, change those. `planegraph reproduce TABLE` makes the records
of a table (docs/experiments.md).

Our figure is that of the test part at the epoch that was best on validation: mean ± standard deviation over n seeds or folds. The test
part is looked at once, after the last epoch, and never selects anything. Times are those
of the run, all seeds together, from set-up to test; imports are not counted, nor what a killed process had done since its checkpoint.
Figures "by an earlier model" are from before the model's equations changed; they are shown until the row is run again, and do not count.
"""


def write_tables(records_root: Path, out: Path) -> str:
    """Writes the file; gives its text."""
    text = results_text(records_root, out)
    out.parent.mkdir(parents=True, exist_ok=True)
    replace_files({out: text})
    return text


def results_text(records_root: Path, out: Path) -> str:
    """What the file must hold; ``out`` is where it lies, for the links. RecordError if a record is broken."""
    records = read_records(records_root)
    link = Path(os.path.relpath(records_root, out.parent)).as_posix()
    sections = [_section(table, records, link) for table in TABLES]
    sections += [_measured(measure, records.get(measure.name), link) for measure in MEASURES]
    further = [record for name, record in records.items() if name not in (*ROW_NAMES, *MEASURE_NAMES)]
    if further:
        sections.append(_further(further, link))
    return "\n".join([_INTRO, overview(records), *sections])


def table_rows(name: str, records: Mapping[str, Record]) -> list[list[str]]:
    """The first columns of a table, for a terminal."""
    for table in TABLES:
        if table.name == name:
            return [list(_HEAD[:5]), *(_cells(table, row, records.get(row.name), "")[:5] for row in table.rows)]
    measure = next(m for m in MEASURES if m.name == name)
    if measure.name not in records:
        return [["not run"]]
    return [_MEASURE_HEADS[name], *_MEASURE_ROWS[name](records[name])]


# ---- sections -------------------------------------------------------------------------------------------------------------------


def overview(records: Mapping[str, Record]) -> str:
    """How many bars of each task are reached, and what became of the others."""
    lines = [["task", "bars reached", "otherwise"]]
    for table in TABLES:
        found = [judge(table, row, records.get(row.name)) for row in table.rows if row.bar is not None]
        found += [judge_order(table, records)] if table.ordered else []  # a bar of its own
        counts = Counter(verdict.kind for verdict in found)
        reached = counts.pop("reached", 0)
        rest = ", ".join(kind if kind == "not the paper's order" else f"{count} {kind}" for kind, count in sorted(counts.items()))
        lines.append([f"[{table.name}](#{_anchor(table.title)})", f"{reached} of {len(found)}", rest])
    for measure in MEASURES:
        verdict = _measure_verdict(measure, records.get(measure.name))
        reached = "1 of 1" if verdict.kind == "reached" else "0 of 1"
        lines.append([f"[{measure.name}](#{_anchor(measure.title)})", reached, "" if verdict.kind == "reached" else verdict.text])
    return _markdown(lines)


def _section(table: Table, records: Mapping[str, Record], link: str) -> str:
    rows = [_cells(table, row, records.get(row.name), link) for row in table.rows]
    better = "lower is better" if table.better == "lower" else "higher is better"
    lines = [f"## {table.title}", "", f"{_first_upper(table.figure)}, {better}. The paper's figures: its table `{table.source}`."]
    lines += [table.notes] if table.notes else []
    lines += ["", _markdown([list(_HEAD), *rows])]
    lines += [f"- {name}: {text}" for name, text in table.others.items()]
    found = [records[row.name] for row in table.rows if row.name in records]
    lines += _notes(found)
    lines += [f"- data: {_text(note)}" for note in dict.fromkeys(r.result["notes"] for r in found if r.result.get("notes"))]
    if table.ordered:
        lines.append(f"- bar, the paper's order: {judge_order(table, records).text}")
    return "\n".join(lines) + "\n"


def _notes(records: Iterable[Record]) -> list[str]:
    """What readers should know of each record; what several have in common is said once."""
    names: dict[str, list[str]] = {}
    for record in records:
        if record.facts.get("note"):
            names.setdefault(record.facts["note"], []).append(record.name)
    return [f"- {', '.join(of)}: {_text(note)}" for note, of in names.items()]


def _cells(table: Table, row: Published, record: Record | None, link: str) -> list[str]:
    verdict = judge(table, row, record)
    paper = "" if row.paper is None else f"{row.paper:g}" + ("" if row.std is None else f" ± {row.std:g}")
    sign = "=" if row.exactly else "≤" if table.better == "lower" else "≥"
    bar = "" if row.bar is None else f"{sign} {row.bar:g}"
    if record is None:
        return [row.row, "", paper, bar, verdict.text, "", "", "", ""]
    return [row.row, _ours(table, record), paper, bar, verdict.text, *_about(record, link)]


def _ours(table: Table, record: Record) -> str:
    mean, std = figure(table, record)
    trials = len(record.result["trials"])
    if table.value == "seconds":
        return f"{mean:.0f} s (test {record.result['test']['mean']:.4f}, n = {trials})"
    return f"{with_spread(mean, std, trials, table.digits)} (n = {trials})"


def _about(record: Record, link: str) -> list[str]:
    """Settings, parameters, time and place, and where it is."""
    return [brief(record.settings, record.earlier), f"{record.facts['parameters']:,}", _time(record), _link(record, link)]


def _further(records: Sequence[Record], link: str) -> str:
    head = ["name", "task", "ours", "settings", "parameters", "time", "record"]
    rows = []
    for record in records:
        if record.settings is None:
            rows.append([record.name, "", f"{len(record.result['rows'])} rows", "", "", _time(record), _link(record, link)])
            continue
        test, trials = record.result["test"], len(record.result["trials"])
        ours = f"{record.result['metric']} {with_spread(test['mean'], test['std'], trials)} (n = {trials})"
        rows.append([record.name, record.result["task"], ours, *_about(record, link)])
    return "\n".join(["## Further records", "", _markdown([head, *rows])])


# ---- what is measured ----------------------------------------------------------------------------------------------------------


def _measured(measure: Measured, record: Record | None, link: str) -> str:
    verdict = _measure_verdict(measure, record)
    lines = [f"## {measure.title}", "", measure.notes, ""]
    if record is not None:
        lines += [_markdown([_MEASURE_HEADS[measure.name], *_MEASURE_ROWS[measure.name](record)])]
        lines += [f"- {_time(record)}; {_link(record, link)}"]
        lines += [f"- {_text(record.result['notes'])}"] if record.result.get("notes") else []
    return "\n".join([*lines, f"- {_BARS[measure.name]}: {_text(verdict.text)}"]) + "\n"


def _measure_verdict(measure: Measured, record: Record | None) -> Verdict:
    if record is None:
        return Verdict("not run", "not run")
    if record.earlier is not None:
        return Verdict("earlier model", "measured with an earlier model")
    rows = record.result["rows"]
    if measure.name == "tiger":
        largest = next((row for row in rows if row["graph"] == "25k"), None)
        if largest is None:
            return Verdict("incomplete", "incomplete: the 25k graph is missing")
        missing = largest["preprocessing_seconds"] - TIGER_BAR
        return Verdict("reached", "reached") if missing <= 0 else Verdict("missed", f"missed by {missing:.2g} s")
    pairs = {row["set"]: row["pairs"] for row in rows}
    short = [name for name, wanted in EXPRESSIVENESS_BAR.items() if pairs.get(name, 0) < wanted]
    if short:
        return Verdict("incomplete", f"incomplete: {', '.join(short)}")
    failed = [row["set"] for row in rows if row["baseplane_told_apart"] != row["pairs"]]
    return Verdict("missed", f"missed on {', '.join(failed)}") if failed else Verdict("reached", "reached")


def _tiger_rows(record: Record) -> list[list[str]]:
    return [
        [
            row["graph"],
            f"{row['nodes']:,}",
            f"{row['edges']:,}",
            seconds(row["preprocessing_seconds"]),
            seconds(row["baseplane_epoch_seconds"]),
            seconds(row["gin_epoch_seconds"]),
            f"{row['baseplane_epoch_seconds'] / row['gin_epoch_seconds']:.1f}",
        ]
        for row in record.result["rows"]
    ]


def _expressiveness_rows(record: Record) -> list[list[str]]:
    return [
        [
            row["set"],
            f"{row['graphs']:,}",
            f"{row['pairs']:,}",
            f"{row['baseplane_told_apart']:,}",
            f"{row['gin_told_apart']:,}",
            f"{row['baseplane_smallest_gap']:.1e}",
        ]
        for row in record.result["rows"]
    ]


_MEASURE_ROWS = {"tiger": _tiger_rows, "expressiveness": _expressiveness_rows}
_MEASURE_HEADS = {
    "tiger": ["graph", "nodes", "edges", "preprocessing", "epoch, BasePlanE", "epoch, GIN", "BasePlanE / GIN"],
    "expressiveness": ["set", "graphs", "pairs", "told apart by BasePlanE", "told apart by GIN", "smallest gap, BasePlanE"],
}
_BARS = {"tiger": f"bar, 25k: preprocessing under {TIGER_BAR:g} s", "expressiveness": "bar: BasePlanE tells all pairs apart"}


# ---- text ------------------------------------------------------------------------------------------------------------------------


def brief(settings: RunSettings, earlier: Mapping[str, Any] | None = None) -> str:
    """The settings in a line; ``earlier``: those of the model, if it was an earlier one.

    >>> brief(RunSettings("p3r", model={"hidden": 32}).for_graphs(72))
    'width 32, 3 layers, pe 16, norm batch, residual, graph_scale 20; 100 epochs, batch 64, adam 0.002, cosine, clip 1'
    """
    train = settings.train
    words = _words_of_model(settings.model) if earlier is None else [_words(name, value) for name, value in earlier.items()]
    rate = (
        f"{train.epochs} epochs, batch {train.batch_size}, {train.optimizer} {train.lr:g}, {type(train.schedule).__name__.lower()}"
    )
    extra = [f"{name} {getattr(train, name):g}" for name in ("weight_decay", "clip", "ema") if getattr(train, name)]
    extra += [train.precision] if train.precision != "float32" else []
    return "; ".join([", ".join(words), ", ".join([rate, *extra])])


def _words_of_model(model: Mapping[str, Any]) -> list[str]:
    """Sizes, norm, residual and scale always, the others where they are not the defaults."""
    from ..nn.config import PlanEConfig

    config, plain = PlanEConfig(**model), PlanEConfig()
    always = ("hidden", "layers", "pos_dim", "norm", "residual", "graph_scale")
    others = [f.name for f in fields(config) if f.name not in always and getattr(config, f.name) != getattr(plain, f.name)]
    return [_words(name, getattr(config, name)) for name in (*always, *others)]


def _words(name: str, value: object) -> str:
    if name == "layers":
        return f"{value} layers"
    if isinstance(value, bool):
        return name if value else f"no {name}"
    short = {"hidden": "width", "pos_dim": "pe"}.get(name, name)
    return f"{short} {value:g}" if isinstance(value, float) else f"{short} {value}"


def with_spread(mean: float, std: float, count: int, digits: int = 4) -> str:
    """The mean and, if it is that of several, the standard deviation.

    >>> with_spread(0.07612, 0.00312, 10), with_spread(0.5, 0.0, 1, digits=1)
    ('0.0761 ± 0.0031', '0.5')
    """
    return f"{mean:.{digits}f}" + (f" ± {std:.{digits}f}" if count > 1 else "")


def seconds(value: float) -> str:
    """A time with three digits.

    >>> seconds(0.0123), seconds(75)
    ('12.3 ms', '75 s')
    """
    return f"{value:.3g} s" if value >= 1 else f"{1e3 * value:.3g} ms"


def _time(record: Record) -> str:
    machine = record.facts["machine"]
    where = machine["device"] if machine["device"] != "cpu" else f"CPU: {machine['cpu']}, {machine['cores']} cores"
    together = f" ({record.result['together']} targets together)" if "together" in record.result else ""
    return f"{record.facts['seconds']:,.0f} s{together}, {where}"


def _link(record: Record, link: str) -> str:
    commit = (record.facts["commit"] or "unknown commit")[:9]
    return f"[{record.name}]({link}/{record.name}/), {commit}{' with changes' if record.facts['dirty'] else ''}"


def _markdown(lines: Sequence[Sequence[str]]) -> str:
    head, *rows = lines
    bars = ["---"] * len(head)
    return "\n".join("| " + " | ".join(map(_text, line)) + " |" for line in (head, bars, *rows)) + "\n"


def _text(words: str) -> str:
    """In a line, and with nothing in it that HTML or a table of Markdown would take for its own."""
    return html.escape(_line(words), quote=False).replace("|", "\\|")


def _line(words: str) -> str:
    return " ".join(words.split())


def _anchor(title: str) -> str:
    """As GitHub makes it from a heading."""
    return "".join(c for c in title.lower().replace(" ", "-") if c.isalnum() or c in "-_")


def _first_upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def difference(records_root: Path, out: Path) -> str:
    """How the file differs from what the records give; empty if it does not."""
    text = results_text(records_root, out)
    if not out.exists():
        return f"{out} is missing; planegraph tables writes it"
    return (
        ""
        if out.read_bytes() == text.encode()
        else f"{out} is not what the records in {records_root} give; planegraph tables writes it"
    )
