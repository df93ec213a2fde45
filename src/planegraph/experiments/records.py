"""Records: a folder ``records/<name>/`` for each finished run, from which every figure of the tables can be traced.

It is the folder of the run without weights and checkpoints, so code that reads runs reads records. Each file but the page has a checksum.

::

    settings.yaml                     of the run
    machine.json                      where, when, from which commit and by which commands it was trained
    result.json                       mean and standard deviation, and every trial (seed, fold)
    log.jsonl, group1/log.jsonl, ...  every epoch of every trial
    models/<trial>/test.safetensors   id, target and output of each graph of the test part
    report.html                       learning curves and predictions, for people
    record.json                       name, kind, model_format, parameters, note (if any)

A record of a measurement (kind "measure") has ``record.json``, ``machine.json`` and ``result.json`` with its rows.

``model_format`` is the number of the model's equations, ``nn.model.FORMAT``. A record of an earlier model stays readable and is shown, with
its original settings, but reaches no bar.

A record is written beside its place and moved there when it is complete, ``record.json`` last: a folder without it is not a record, and a
full disk leaves the earlier one. :meth:`Record.check` (checks.py) recomputes what can be recomputed.
"""

from __future__ import annotations

import os
import re
import shutil
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import torch

from ..errors import PlanegraphError, PlanegraphWarning
from ..io.atomic import replace_files
from ..io.checksums import json_text, read_json
from ..nn import PlanEConfig
from ..nn.model import FORMAT
from ..runs import trials
from ..runs.errors import damage_named
from ..runs.folder import Curve, Predictions, log_files, read_run, refuse_several
from ..runs.models import MODELS
from ..runs.provenance import MACHINE, read_sessions, session
from ..runs.settings import RunSettings, load_run_settings, read_run_settings, save_run_settings
from .configs import config_names, differences
from .published import MEASURE_NAMES, ROW_NAMES

_FILES = ("settings.yaml", MACHINE, "result.json", "log.jsonl", "report.html", "models", "group*")
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*")
Row = dict[str, Any]


class RecordError(PlanegraphError, ValueError):
    """A record is unfinished, damaged, or contradicts itself; the message names the file."""


@dataclass(frozen=True)
class Record:
    """A record as read from its folder; ``settings`` is None, and ``curves`` and ``tests`` are empty, for a measurement.

    ``earlier`` holds the model's settings if the record is of an earlier model, and is None otherwise; ``settings.model`` is then empty.
    """

    folder: Path
    facts: Mapping[str, Any]
    result: Mapping[str, Any]
    sessions: Sequence[Mapping[str, Any]]
    settings: RunSettings | None = None
    curves: Sequence[Curve] = ()
    tests: Mapping[str, Predictions] = field(default_factory=dict)
    earlier: Mapping[str, Any] | None = None

    @property
    def name(self) -> str:
        """The name of the folder and of the config."""
        return self.facts["name"]

    @cached_property
    def overrides(self) -> list[str]:
        """Differences from today's ``configs/<name>.yaml``; empty for an earlier model, which had other settings anyway."""
        if self.settings is None or self.earlier is not None or self.name not in config_names():
            return []
        return differences(self.settings, self.name)

    def check(self) -> None:
        """Raises RecordError unless its files agree."""
        from .checks import check_record

        check_record(self)


# ---- writing ----------------------------------------------------------------------------------------------------------------------


def write_record(
    run_folders: str | PathLike[str] | Sequence[str | PathLike[str]], records_root: str | PathLike[str], name: str, note: str = ""
) -> Path:
    """Keeps a finished run as ``records_root/name``. RecordError, and nothing is written, if it is unfinished, damaged or inconsistent.

    Args:
        run_folders: the folder of the run; or several, of runs or records, whose seeds follow one another (join.py).
        note: a remark for readers of the tables.
    """
    from .join import joined

    folder = _place(records_root, name, "train")
    parts = [_part(Path(run)) for run in ([run_folders] if isinstance(run_folders, str | PathLike) else run_folders)]
    made = joined(parts)
    note = note or "; ".join(dict.fromkeys(part.facts["note"] for part in parts if "note" in part.facts))
    facts = {"name": name, **made.facts} | ({"note": note} if note else {})
    logs = [path for part in parts for path in log_files(part.folder)]
    files = {f"group{k}/log.jsonl" if k else "log.jsonl": path.read_bytes() for k, path in enumerate(logs)}
    for part in parts:
        files |= {path: (part.folder / path).read_bytes() for path in map(_test_file, part.tests)}
    with _taking_place_of(folder) as new:
        save_run_settings(made.settings, new)
        _write(new, files | {"result.json": json_text(made.result), MACHINE: json_text({"sessions": made.sessions})})
        _add_report(parts, new)
        _write(new, {"record.json": json_text(facts)})
    return folder


def write_measure(
    rows: Sequence[Row], records_root: str | PathLike[str], name: str, seconds: float, device: torch.device | str, **more: Any
) -> Path:
    """Keeps the rows of a measurement as ``records_root/name``; ``more`` goes into ``result.json`` beside them."""
    folder = _place(records_root, name, "measure")
    facts = {"name": name, "kind": "measure", "model_format": FORMAT}
    made = Record(folder, facts, {**more, "seconds": round(seconds, 3), "rows": list(rows)}, [session(device)])
    made.check()
    with _taking_place_of(folder) as new:
        _write(new, {"result.json": json_text(made.result), MACHINE: json_text({"sessions": made.sessions})})
        _write(new, {"record.json": json_text(facts)})
    return folder


def _place(records_root: str | PathLike[str], name: str, kind: str) -> Path:
    """The folder of a record; RecordError if the name is a path, or that of a file in the root."""
    if not _NAME.fullmatch(name):
        raise RecordError(f"a record is named by letters, digits, _, - and, but not first, dots; found {name!r}")
    _refuse_kind(name, kind)
    folder = Path(records_root) / name
    if os.path.lexists(folder) and not folder.is_dir():
        raise RecordError(f"the record {name!r} would take the place of the file {folder}; choose another name")
    return folder


def _refuse_kind(name: str, kind: str) -> None:
    if name in {"measure": ROW_NAMES, "train": MEASURE_NAMES}[kind]:
        raise RecordError(f"a record named {name} cannot be of kind {kind!r}")


@contextmanager
def _taking_place_of(folder: Path) -> Iterator[Path]:
    """A new folder, whose files replace the record in ``folder`` when all are written; other files there stay."""
    folder = folder.resolve()  # renaming works within one disk
    new = folder.with_name(f".{folder.name}.new")  # names of records do not begin with a dot
    shutil.rmtree(new, ignore_errors=True)  # left by a killed process
    new.mkdir(parents=True)
    try:
        yield new
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    folder.mkdir(exist_ok=True)
    (folder / "record.json").unlink(missing_ok=True)
    for path in [path for name in _FILES for path in folder.glob(name)]:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in sorted(new.iterdir(), key=lambda path: path.name == "record.json"):
        os.replace(path, folder / path.name)
    new.rmdir()


def _part(run: Path) -> Record:
    """Reads and checks the folder of a finished run or of a record."""
    if (run / "record.json").is_file():
        found = checked_record(run)
        if found.settings is None or found.earlier is not None:
            raise RecordError(f"{run} is not a record of a run of today's model")
        return found
    if not (run / "result.json").is_file() or not (run / "settings.yaml").is_file():
        raise RecordError(f"{run} holds no finished run: result.json or settings.yaml is missing")
    refuse_several(run)
    found = _read(run, {"kind": "train", "model_format": FORMAT, "parameters": _parameters(run)})
    with damage_named(run / "result.json", RecordError):
        found.check()
    return found


def _parameters(run: Path) -> int:
    """The number of learned numbers of one trial's model."""
    result = run / "result.json"
    with damage_named(result, RecordError):
        path = run / "models" / trial_name(_json(result)["trials"][0]) / "config.json"
    config = _json(path)
    if config.get("format", FORMAT) != FORMAT:
        raise RecordError(f"{path} has format {config['format']}: the run is that of another planegraph; this one reads {FORMAT}")
    with damage_named(path, RecordError), torch.device("meta"):
        model = MODELS[config["model"]](PlanEConfig.from_dict(config["config"]))
    return sum(p.numel() for p in model.parameters())


def _add_report(parts: Sequence[Record], new: Path) -> None:
    """Adds the page of the run, or of all parts. A record is not lost because its page cannot be drawn."""
    from ..report import write_report

    page = parts[0].folder / "report.html"
    if len(parts) == 1 and page.is_file():
        _write(new, {"report.html": page.read_bytes()})
        return
    try:
        write_report(new)
    except OSError:
        raise
    except Exception as error:
        warnings.warn(f"report.html could not be written: {type(error).__name__}: {error}", PlanegraphWarning, stacklevel=3)


def _write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
    replace_files({folder / name: content for name, content in files.items()})


def trial_name(trial: Mapping[str, Any]) -> str:
    """The name of a trial of ``result.json``."""
    return trials.trial_name(trial["seed"], trial["fold"])


# ---- reading ----------------------------------------------------------------------------------------------------------------------


def read_record(folder: str | PathLike[str]) -> Record:
    """The record in a folder, not yet checked; RecordError if there is none."""
    folder = Path(folder)
    path = folder / "record.json"
    if not path.is_file():
        raise RecordError(f"{folder} is not a record: record.json, which is written last, is missing")
    facts = _json(path)
    if facts.get("name") != folder.name:
        raise RecordError(f"{path} is about {facts.get('name')!r}, not {folder.name!r}")
    if facts.get("kind") not in ("train", "measure"):
        raise RecordError(f"{path}: kind must be train or measure; found {facts.get('kind')!r}")
    if facts.get("model_format") not in range(1, FORMAT + 1):
        raise RecordError(f"{path}: model_format must be a whole number from 1 to {FORMAT}; found {facts.get('model_format')!r}")
    _refuse_kind(folder.name, facts["kind"])
    return _read(folder, facts)


def _read(folder: Path, facts: Mapping[str, Any]) -> Record:
    """Reads the folder of a run as a record."""
    result, sessions = _json(folder / "result.json"), _sessions(folder)
    is_earlier = facts["model_format"] != FORMAT
    if facts["kind"] == "measure":
        return Record(folder, facts, result, sessions, earlier={} if is_earlier else None)
    with damage_named(folder / "settings.yaml", RecordError):
        settings, earlier = _settings(folder, is_earlier)
    with damage_named(folder, RecordError):
        run = read_run(folder)
    with damage_named(folder / "result.json", RecordError):
        names = [trial_name(trial) for trial in result["trials"]]
    for name in names:
        if name not in run.tests:
            raise RecordError(f"{folder / _test_file(name)} is missing")
    return Record(folder, facts, result, sessions, settings, run.curves, {name: run.tests[name] for name in names}, earlier)


def _settings(folder: Path, is_earlier: bool) -> tuple[RunSettings, dict[str, Any] | None]:
    """The settings and None; for an earlier model the settings without the model's, and the model's as plain values."""
    if not is_earlier:
        return load_run_settings(folder), None
    values = read_run_settings(folder)
    return RunSettings.from_dict(values | {"model": {}}), dict(values["model"])


def _sessions(folder: Path) -> list[dict[str, Any]]:
    """At least one; each says where and from what the run was made."""
    path = folder / MACHINE
    with damage_named(path, RecordError):
        found = read_sessions(folder)
        if not found:
            raise RecordError(f"{path}: no session says where the run was made; resuming the run adds one")
        for k, entry in enumerate(found):
            texts = (entry["date"], entry["command"], entry["commit"] or "", entry["machine"]["device"], entry["machine"]["cpu"])
            if not all(isinstance(text, str) for text in texts):
                raise RecordError(f"{path}: session {k}: date, command, commit, device and cpu must be texts; found {texts}")
    return found


def _test_file(trial: str) -> str:
    return f"models/{trial}/test.safetensors"


def _json(path: Path) -> dict[str, Any]:
    try:
        with damage_named(path, RecordError):
            return read_json(path)
    except FileNotFoundError:
        raise RecordError(f"{path} is missing") from None


def has_record(root: str | PathLike[str], name: str) -> bool:
    """Returns whether today's model has a record of this name, sound or broken."""
    path = Path(root) / name / "record.json"
    try:
        return path.is_file() and _json(path).get("model_format") == FORMAT
    except RecordError:  # reading the record raises it again
        return True


def checked_record(folder: str | PathLike[str]) -> Record:
    """The record in a folder, checked; RecordError whatever else its files hold."""
    try:
        with damage_named(folder, RecordError):
            record = read_record(folder)
            record.check()
            return record
    except RecordError as error:
        name = Path(folder).name
        how = "planegraph reproduce --again" if name in config_names() else f"planegraph reproduce --from-run RUN --name {name}"
        how = f"python benchmarks/measured.py {name}" if name in MEASURE_NAMES else how
        raise RecordError(f"{error}; {how} makes it again") from None


def read_records(root: str | PathLike[str]) -> dict[str, Record]:
    """All records in a folder by name, checked."""
    if not Path(root).is_dir():
        raise RecordError(f"there is no folder {root} of records; planegraph reproduce TABLE makes one")
    folders = [path for path in sorted(Path(root).iterdir()) if path.is_dir() and not path.name.startswith(".")]
    return {path.name: checked_record(path) for path in folders}
