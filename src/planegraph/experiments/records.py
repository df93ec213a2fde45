"""Records: what is kept of a finished run, a folder ``records/<name>/`` from which every figure of the tables can be traced.

::

    settings.yaml     of the run
    result.json       as training wrote it: mean and standard deviation, and every trial (seed, fold)
    log.csv           a row for each trial and epoch: epoch, seed, fold, loss, rate, val, val_loss, seconds
    predictions.csv   id and target of each graph of the test part, and what each trial predicts: its output or, of classes, the class;
                      not for tasks with several outputs
    report.html       learning curves and predictions, for people
    record.json       name, kind, model_format, commit, date, command, machine, seconds, trials, parameters, sessions, note (if any); the
                      command trains by settings.yaml, what was typed stands in sessions

A record of something measured (kind "measure") has ``record.json`` and ``result.json`` with its rows. Numbers in CSV have six significant
digits.

``model_format`` is the number of the model's equations, ``nn.model.FORMAT`` (1 where it is missing). A record of an earlier model stays
readable and is shown, with its settings as they were, but reaches no bar.

A record is written beside its place and moved there when it is whole, ``record.json`` last: a folder without it is no record, and a
full disk leaves the earlier one. :meth:`Record.check` (checks.py) recomputes what can be recomputed.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import torch

from ..errors import PlanegraphError, PlanegraphWarning
from ..io.atomic import replace_files
from ..io.checksums import read_json
from ..nn.model import FORMAT
from ..runs import trials
from ..runs.folder import Run, damage_named, refuse_several
from ..runs.log import read_log
from ..runs.models import MODELS
from ..runs.provenance import MACHINE, read_sessions, session
from ..runs.settings import RunSettings, load_run_settings, load_settings, read_yaml, save_settings
from .configs import config_names, differences
from .published import MEASURE_NAMES

_FILES = ("settings.yaml", "result.json", "log.csv", "predictions.csv", "report.html")
LOG = ("epoch", "seed", "fold", "loss", "rate", "val", "val_loss", "seconds")
_WHOLE = ("epoch", "seed", "fold")
_SESSION = ("commit", "dirty", "date", "command", "machine")
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*")
Row = dict[str, Any]


class RecordError(PlanegraphError, ValueError):
    """A record is unfinished, damaged, or contradicts itself; the message names the file."""


@dataclass(frozen=True)
class Record:
    """A record as it was read; ``settings`` is None, and ``log`` and ``predictions`` are empty, if it was measured.

    ``earlier`` is None, or of a record of an earlier model the settings that this one had; those of ``settings`` are then empty.
    """

    folder: Path
    facts: Mapping[str, Any]
    result: Mapping[str, Any]
    settings: RunSettings | None = None
    log: Sequence[Row] = ()
    predictions: Mapping[str, Sequence[float | None]] = field(default_factory=dict)
    earlier: Mapping[str, Any] | None = None

    @property
    def name(self) -> str:
        """That of the folder and of the config."""
        return self.facts["name"]

    @cached_property
    def overrides(self) -> list[str]:
        """What differs from today's ``configs/<name>.yaml``; empty if nothing does, or if an earlier model had other settings anyway."""
        if self.settings is None or self.earlier is not None or self.name not in config_names():
            return []
        return differences(self.settings, self.name)

    def check(self) -> None:
        """Raises RecordError unless log, result and predictions agree."""
        from .checks import check_record

        check_record(self)


# ---- writing ----------------------------------------------------------------------------------------------------------------------


def write_record(
    run_folders: str | PathLike[str] | Sequence[str | PathLike[str]], records_root: str | PathLike[str], name: str, note: str = ""
) -> Path:
    """Keeps a finished run as ``records_root/name``; RecordError, and nothing written, if it is not finished, damaged, or does not
    add up.

    Args:
        run_folders: that of the run; or several whose seeds follow one another, each that of a run or of a record (join.py).
        note: what a reader of the tables should know of this run.
    """
    from .join import joined, run_of

    runs = [Path(run) for run in ([run_folders] if isinstance(run_folders, str | PathLike) else run_folders)]
    folder = _place(records_root, name)
    parts = [read_record(run) if (run / "record.json").is_file() else _of_run(run, folder, name) for run in runs]
    made = parts[0] if len(parts) == 1 else joined(parts)
    facts = {"name": name, "command": _command(made.settings, folder)} | ({"note": note} if note else {})
    made = replace(made, folder=folder, facts={**made.facts, **facts})
    with damage_named(runs[0] / "result.json", RecordError):
        made.check()
    texts = {"result.json": _json(made.result), "log.csv": _csv(LOG, ([r[c] for c in LOG] for r in made.log))}
    if made.predictions:
        columns = list(made.predictions)
        texts["predictions.csv"] = _csv(columns, zip(*made.predictions.values(), strict=True))
    is_run = len(runs) == 1 and not (runs[0] / "record.json").is_file()
    with _taking_place_of(folder) as new:
        save_settings(made.settings, new / "settings.yaml")
        _write(new, texts)
        _report(runs[0] if is_run else run_of(made), new / "report.html")
        _write(new, {"record.json": _json(made.facts)})
    return folder


def _command(settings: RunSettings, folder: Path) -> str:
    """What trains by the settings of a record."""
    return f"planegraph train {settings.task} --config {folder.parent.resolve().name}/{folder.name}/settings.yaml"


def write_measure(
    rows: Sequence[Row], records_root: str | PathLike[str], name: str, seconds: float, device: torch.device | str, **more: Any
) -> Path:
    """Keeps the rows of something measured as ``records_root/name``; ``more`` goes into ``result.json`` beside them."""
    folder = _place(records_root, name)
    facts = {"name": name, "kind": "measure", "model_format": FORMAT, **session(device), "seconds": round(seconds, 3), "trials": 0}
    made = Record(folder, facts, {**more, "rows": list(rows)})
    made.check()
    with _taking_place_of(folder) as new:
        _write(new, {"result.json": _json(made.result), "record.json": _json(facts)})
    return folder


def _place(records_root: str | PathLike[str], name: str) -> Path:
    """The folder of a record; its name is that of a folder in the root, and neither a path nor a file that lies there."""
    if not _NAME.fullmatch(name):
        raise RecordError(f"a record is named by letters, digits, _, - and, not as the first, dots; found {name!r}")
    folder = Path(records_root) / name
    if os.path.lexists(folder) and not folder.is_dir():
        raise RecordError(f"the record {name!r} would take the place of the file {folder}; choose another name")
    return folder


@contextmanager
def _taking_place_of(folder: Path) -> Iterator[Path]:
    """A new folder, whose files take the place of the record in ``folder`` when all are written; what else lies there stays."""
    folder = folder.resolve()  # what is renamed must lie on the same disk
    new = folder.with_name(f".{folder.name}.new")  # names of records do not begin with a dot
    shutil.rmtree(new, ignore_errors=True)  # of a process that was killed
    new.mkdir(parents=True)
    try:
        yield new
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    folder.mkdir(exist_ok=True)
    (folder / "record.json").unlink(missing_ok=True)
    for name in (*_FILES, "record.json"):
        if (new / name).exists():
            os.replace(new / name, folder / name)
        else:
            (folder / name).unlink(missing_ok=True)
    new.rmdir()


def _of_run(run: Path, folder: Path, name: str) -> Record:
    """The record that a run's folder gives."""
    if not (run / "result.json").is_file() or not (run / "settings.yaml").is_file():
        raise RecordError(f"{run} holds no finished run: result.json or settings.yaml is missing")
    refuse_several(run)
    with damage_named(run / "settings.yaml", RecordError):
        settings = load_run_settings(run)
    sessions = _sessions(run)
    log, result = _log(run), _read_json(run / "result.json")
    with damage_named(run / "result.json", RecordError):
        facts = {
            "name": name,
            "kind": "train",
            "model_format": FORMAT,
            **{key: sessions[-1][key] for key in _SESSION},
            "dirty": any(s["dirty"] for s in sessions),
            "command": _command(settings, folder),
            "seconds": result["seconds"],
            "trials": len(result["trials"]),
            "parameters": _parameters(run, result),
            "sessions": sessions,
        }
        return Record(folder, facts, result, settings, log, _predictions(run, result))


def _sessions(run: Path) -> list[dict[str, Any]]:
    """The sessions of a run, at least one, each of which says where it was made."""
    from .checks import sessions_problem

    with damage_named(run / MACHINE, RecordError):
        found = read_sessions(run)
        problem = sessions_problem(found) if found else "no session says where the run was made; resuming the run adds one"
    if problem:
        raise RecordError(f"{run / MACHINE}: {problem}")
    return found


def _log(run: Path) -> list[Row]:
    """The rows of all groups, by seed, fold and epoch."""
    found: list[Row] = []
    for path in [run / "log.jsonl", *sorted(run.glob("group*/log.jsonl"))]:
        with damage_named(path, RecordError):
            found += [{c: _rounded(c, r[c]) for c in LOG} for r in read_log(path)]
    return sorted(found, key=lambda r: (r["seed"], -1 if r["fold"] is None else r["fold"], r["epoch"]))


def _parameters(run: Path, result: Mapping[str, Any]) -> int:
    """How many numbers one trial's model learns."""
    from .. import nn

    path = run / "models" / trial_name(result["trials"][0]) / "config.json"
    config = _read_json(path)
    if config.get("format", FORMAT) != FORMAT:
        raise RecordError(f"{path} has format {config['format']}: the run is that of another planegraph; this one reads {FORMAT}")
    with damage_named(path, RecordError), torch.device("meta"):
        model = MODELS[config["model"]](nn.PlanEConfig.from_dict(config["config"]))
    return sum(p.numel() for p in model.parameters())


def _predictions(run: Path, result: Mapping[str, Any]) -> dict[str, list[float | None]]:
    """Columns id, true and one for each trial, over all graphs that some trial is tested on; else None. Of classes that with
    the largest output, the first of equals."""
    from ..runs.checkpoint import load_checkpoint

    if not keeps_predictions(result):
        return {}
    true: dict[int, float] = {}
    by_trial: dict[str, dict[int, float]] = {}
    for trial in result["trials"]:
        path = run / "models" / trial_name(trial) / "test.safetensors"
        if not path.is_file():
            raise RecordError(f"{path} is missing")
        with damage_named(path, RecordError):
            found, _ = load_checkpoint(path)
            answers = found["predicted"].argmax(-1) if result.get("kind") == "multiclass" else found["predicted"]
            ids, predicted, y = (values.flatten().tolist() for values in (found["id"], answers, found["true"]))
            true |= dict(zip(ids, y, strict=True))
            by_trial[trial_name(trial)] = dict(zip(ids, predicted, strict=True))
    ids = sorted(true)
    columns: dict[str, list[Any]] = {"id": ids, "true": [_six(true[i]) for i in ids]}
    return columns | {name: [_six(values.get(i)) for i in ids] for name, values in by_trial.items()}


def keeps_predictions(result: Mapping[str, Any]) -> bool:
    """Whether a record of this result has predictions: a number or a class for each graph.

    >>> keeps_predictions({"kind": "multiclass", "outputs": 9}), keeps_predictions({"kind": "regression", "outputs": 13})
    (True, False)
    """
    return result.get("kind") == "multiclass" or result.get("outputs", 1) == 1


def _report(run: Path | Run, path: Path) -> None:
    """The page for people; a record is not lost because there is something in the run that it cannot show."""
    from ..report import write_report

    try:
        write_report(run, path)
    except OSError:
        raise
    except Exception as error:
        warnings.warn(f"{path.name} could not be written: {type(error).__name__}: {error}", PlanegraphWarning, stacklevel=3)


def trial_name(trial: Mapping[str, Any]) -> str:
    """The name of a trial of ``result.json``."""
    return trials.trial_name(trial["seed"], trial["fold"])


# ---- reading ----------------------------------------------------------------------------------------------------------------------


def read_record(folder: str | PathLike[str]) -> Record:
    """The record of a folder; RecordError if it is none. What it says is not yet checked."""
    folder = Path(folder)
    if not (folder / "record.json").is_file():
        raise RecordError(f"{folder} is no record: record.json, which is written last, is missing")
    facts, result = _read_json(folder / "record.json"), _read_json(folder / "result.json")
    if facts.get("name") != folder.name:
        raise RecordError(f"{folder / 'record.json'} is about {facts.get('name')!r}, not {folder.name!r}")
    is_earlier = facts.get("model_format", 1) != FORMAT
    if facts.get("kind") == "measure":
        return Record(folder, facts, result, earlier={} if is_earlier else None)
    if facts.get("kind") != "train":
        raise RecordError(f"{folder / 'record.json'}: kind must be train or measure; found {facts.get('kind')!r}")
    if not (folder / "settings.yaml").is_file():
        raise RecordError(f"{folder / 'settings.yaml'} is missing")
    settings, earlier = _read_settings(folder / "settings.yaml", is_earlier)
    rows = _read_csv(folder / "log.csv")
    if not rows or tuple(rows[0]) != LOG:
        raise RecordError(f"{folder / 'log.csv'} must begin with the columns {', '.join(LOG)}")
    log = [dict(zip(LOG, row, strict=True)) for row in _numbers(folder / "log.csv", LOG, rows[1:])]
    return Record(folder, facts, result, settings, log, _read_predictions(folder / "predictions.csv"), earlier)


def _read_settings(path: Path, is_earlier: bool) -> tuple[RunSettings, dict[str, Any] | None]:
    """The settings and None; or, as this planegraph may not know those of an earlier model, the others and these as they are written."""
    if not is_earlier:
        return load_settings(path), None
    values = read_yaml(path)
    return RunSettings.from_dict(values | {"model": {}}), dict(values["model"])


def has_record(root: str | PathLike[str], name: str) -> bool:
    """Whether there is a record of this name by today's model, sound or broken."""
    path = Path(root) / name / "record.json"
    try:
        return path.is_file() and _read_json(path).get("model_format", 1) == FORMAT
    except RecordError:  # which reading the record says
        return True


def checked_record(folder: str | PathLike[str]) -> Record:
    """The record of a folder, checked; RecordError, whatever its files hold instead of one."""
    try:
        with damage_named(folder, RecordError):
            record = read_record(folder)
            record.check()
            return record
    except RecordError as error:
        name = Path(folder).name
        how = "--again" if name in (*config_names(), *MEASURE_NAMES) else f"--from-run RUN --name {name}"
        raise RecordError(f"{error}; planegraph reproduce {how} makes it anew") from None


def read_records(root: str | PathLike[str]) -> dict[str, Record]:
    """All records of a folder by name, each of them checked."""
    if not Path(root).is_dir():
        raise RecordError(f"there is no folder {root} of records; planegraph reproduce TABLE makes one")
    folders = [path for path in sorted(Path(root).iterdir()) if path.is_dir() and not path.name.startswith(".")]
    return {path.name: checked_record(path) for path in folders}


def _read_predictions(path: Path) -> dict[str, list[float | None]]:
    if not path.is_file():
        return {}
    head, *rows = _read_csv(path)
    if head[:2] != ["id", "true"]:
        raise RecordError(f"{path} must begin with the columns id, true; found {', '.join(head[:2])}")
    if len(set(head)) != len(head):
        raise RecordError(f"{path} has a column twice")
    return dict(zip(head, map(list, zip(*_numbers(path, head, rows), strict=True)), strict=True))


def _read_json(path: Path) -> dict[str, Any]:
    try:
        with damage_named(path, RecordError):
            return read_json(path)
    except FileNotFoundError:
        raise RecordError(f"{path} is missing") from None


def _read_csv(path: Path) -> list[list[str]]:
    try:
        with open(path, newline="", encoding="utf-8") as file:
            return list(csv.reader(file))
    except FileNotFoundError:
        raise RecordError(f"{path} is missing") from None


def _numbers(path: Path, head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterable[list[float | None]]:
    for line, row in enumerate(rows, start=2):
        if len(row) != len(head):
            raise RecordError(f"{path}, line {line}: {len(row)} cells, not {len(head)}")
        try:
            yield [_number(name, cell) for name, cell in zip(head, row, strict=True)]
        except ValueError as error:
            raise RecordError(f"{path}, line {line}: {error}") from None


def _number(name: str, cell: str) -> float | int | None:
    if not cell:
        return None
    return int(cell) if name in (*_WHOLE, "id") else float(cell)


# ---- text ------------------------------------------------------------------------------------------------------------------------


def _six(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


def _rounded(name: str, value: float | None) -> float | None:
    if name not in _WHOLE:
        return _six(value)
    if not isinstance(value, int) and (value is not None or name != "fold"):
        raise TypeError(f"{name} must be a whole number; found {value!r}")
    return value


def _csv(head: Sequence[str], rows: Iterable[Sequence[float | None]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(["" if v is None else v if isinstance(v, int) else f"{v:.6g}" for v in row] for row in rows)
    return out.getvalue()


def _json(values: Mapping[str, Any]) -> str:
    return json.dumps(values, indent=1) + "\n"


def _write(folder: Path, texts: Mapping[str, str]) -> None:
    replace_files({folder / name: text for name, text in texts.items()})
