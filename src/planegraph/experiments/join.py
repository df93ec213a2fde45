"""Several runs as one record: seeds of one row that were trained apart, as where no machine was free long enough for all of them.

The parts have the same settings but for their seeds, which follow one another. Trials and sessions are put together, seconds are added, and
means and deviations are those of all trials.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from ..runs.settings import flat
from ..train.run import spread
from .records import Record, RecordError

_OF_A_PART = ("trials", "test", "val", "seconds", "device", "torch")  # the other fields describe the task


def joined(parts: list[Record]) -> Record:
    """One record of all trials, without logs and tests; RecordError, which names the folders, if the parts do not belong together.

    Sorts the parts by their seeds.
    """
    parts.sort(key=lambda part: part.settings.train.seed)
    for part, following in pairwise(parts):
        _check_pair(part, following)
    first, last = parts[0], parts[-1]
    trials = [trial for part in parts for trial in part.result["trials"]]
    seconds = round(sum(part.result["seconds"] for part in parts), 3)
    means = {part: spread([trial[part] for trial in trials]) for part in ("test", "val")}
    train = replace(first.settings.train, seeds=sum(part.settings.train.seeds for part in parts))
    return Record(
        first.folder,
        {name: first.facts[name] for name in ("kind", "model_format", "parameters")},
        {**last.result, **means, "trials": trials, "seconds": seconds},
        [session for part in parts for session in part.sessions],
        replace(first.settings, train=train),
    )


def _check_pair(part: Record, following: Record) -> None:
    """Raises RecordError unless the two are seeds of one row that follow one another."""
    a, b = _shared(part), _shared(following)
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


def _shared(part: Record) -> dict:
    """Settings and facts that must match between parts; how often a run saves itself changes no figure."""
    values = part.settings.complete()
    values["train"] = {k: v for k, v in values["train"].items() if k not in ("seed", "seeds", "save_seconds")}
    result = {f"result {name}": value for name, value in part.result.items() if name not in _OF_A_PART}
    return flat(values) | result | {"parameters": part.facts["parameters"]}
