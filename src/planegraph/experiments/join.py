"""Several records as one: seeds of one row that were trained apart, as where no machine was free long enough for all of them.

The parts have the same settings but for their seeds, which follow one another. Trials, logs, predictions and sessions are put together,
seconds are added, and means and deviations are those of all trials, so the record that they give is checked like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from ..runs.folder import Predictions, Run, curve_of
from ..runs.settings import RunSettings, flat
from ..train.run import spread
from .records import Record, RecordError, trial_name

_OF_A_PART = ("trials", "test", "val", "seconds", "device", "torch")  # the rest of a result is that of the task


def joined(parts: Sequence[Record]) -> Record:
    """One record of all trials; RecordError, which names the folders, if the parts do not belong together."""
    parts = sorted(parts, key=lambda part: part.settings.train.seed)
    for part, following in pairwise(parts):
        _check_pair(part, following)
    first, last = parts[0], parts[-1]
    trials = [trial for part in parts for trial in part.result["trials"]]
    seconds = round(sum(part.result["seconds"] for part in parts), 3)
    train = replace(first.settings.train, seeds=sum(part.settings.train.seeds for part in parts))
    result = {**last.result, "trials": trials, "seconds": seconds}
    facts = {
        **last.facts,
        "dirty": any(part.facts["dirty"] for part in parts),
        "seconds": seconds,
        "trials": len(trials),
        "sessions": [session for part in parts for session in part.facts["sessions"]],
    }
    notes = list(dict.fromkeys(part.facts["note"] for part in parts if part.facts.get("note")))
    return replace(
        first,
        facts=facts | ({"note": "; ".join(notes)} if notes else {}),
        result=result | {part: spread([trial[part] for trial in trials]) for part in ("test", "val")},
        settings=replace(first.settings, train=train),
        log=[row for part in parts for row in part.log],
        predictions=_predictions(parts),
    )


def _check_pair(part: Record, following: Record) -> None:
    """Raises RecordError unless the two are seeds of one row that follow one another."""
    a, b = flat(_of_any_seed(part.settings)), flat(_of_any_seed(following.settings))
    a |= {f"result {name}": value for name, value in part.result.items() if name not in _OF_A_PART}
    b |= {f"result {name}": value for name, value in following.result.items() if name not in _OF_A_PART}
    a["parameters"], b["parameters"] = part.facts["parameters"], following.facts["parameters"]
    for name in (*a, *b):
        if a.get(name) != b.get(name):
            raise RecordError(
                f"{part.folder} and {following.folder} cannot be one record: {name} is {a.get(name)!r} and {b.get(name)!r}"
            )
    end, begin = part.settings.train.seed + part.settings.train.seeds, following.settings.train.seed
    if end != begin:
        raise RecordError(
            f"{part.folder} ends before seed {end}, {following.folder} begins with seed {begin}: give all seeds, each once"
        )


def _of_any_seed(settings: RunSettings) -> dict:
    """What parts of one row share; how often a run saves itself is nothing that a figure depends on."""
    values = settings.complete()
    return values | {"train": {k: v for k, v in values["train"].items() if k not in ("seed", "seeds", "save_seconds")}}


def _predictions(parts: Sequence[Record]) -> dict[str, list[float | None]]:
    """The columns of all parts, over all graphs that some part has."""
    true: dict[float, float] = {}
    for part in parts:
        for graph, value in zip(*(part.predictions.get(name, ()) for name in ("id", "true")), strict=True):
            if true.setdefault(graph, value) != value:
                raise RecordError(
                    f"{part.folder / 'predictions.csv'}: graph {graph} has the target {value}, and {true[graph]} elsewhere"
                )
    ids = sorted(true)
    columns: dict[str, list[float | None]] = {"id": ids, "true": [true[graph] for graph in ids]} if ids else {}
    for part in parts:
        for name in list(part.predictions)[2:]:
            by_graph = dict(zip(part.predictions["id"], part.predictions[name], strict=True))
            columns[name] = [by_graph.get(graph) for graph in ids]
    return columns


def run_of(record: Record) -> Run:
    """What the page of a run shows, as far as a record keeps it: of classes it has no outputs, so these are not shown."""
    curves, tests = [], {}
    for trial in record.result["trials"]:
        rows = [row for row in record.log if (row["seed"], row["fold"]) == (trial["seed"], trial["fold"])]
        name = trial_name(trial)
        curves.append(curve_of(name, rows, float(rows[-1]["seconds"]), trial["best_epoch"]))
        if name in record.predictions and record.result.get("kind") != "multiclass":
            predicted = np.array(record.predictions[name], np.float64)
            there = ~np.isnan(predicted)
            ids, true = (np.array(record.predictions[key])[there] for key in ("id", "true"))
            tests[name] = Predictions(ids, predicted[there, None], true[:, None])
    return Run(record.folder, record.settings.to_dict(), record.result, curves, tests, record.facts["sessions"])
