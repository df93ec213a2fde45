"""Loggers: callbacks that write a run's records to a CSV file, TensorBoard, Weights & Biases or MLflow.

Each logs every epoch of every trial once, also if the run is resumed. Files are written again from the records of the finished epochs. A
service keeps what it has, so the folder remembers the id of its run and the epochs that were sent (``wandb.json``, ``mlflow.json``). Epochs
that were not sent, such as those before a logger was first used, are sent when the run is resumed.
"""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Mapping, Sequence
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

from ..errors import MissingDependencyError
from ..io.atomic import naming_file, replace_files
from ..io.checksums import json_text, read_json
from ..runs.errors import damage_named
from ..runs.log import FIELDS, LogRecord
from ..runs.settings import flat
from ..runs.trials import trial_name
from .callbacks import Callback, RunInfo

_NEW_RUN = "Remove it, and all epochs are sent to a new run of the service"

SCALARS = ("loss", "val", "val_loss", "rate")
"""The fields of a record that are curves."""


class CSVLogger(Callback):
    """``metrics.csv`` in the run's folder: a row for each epoch and trial, with the fields of ``log.jsonl`` as columns."""

    columns = ("target", *FIELDS)

    def on_start(self, run: RunInfo) -> None:
        self.path = run.folder / "metrics.csv"
        replace_files({self.path: ",".join(self.columns) + "\n" + self._rows(run.records)})

    def on_epoch(self, records: Sequence[LogRecord]) -> None:
        with naming_file(self.path), open(self.path, "a", encoding="utf-8", newline="") as file:
            file.write(self._rows(records))

    def _rows(self, records: Sequence[LogRecord]) -> str:
        out = io.StringIO()
        csv.DictWriter(out, self.columns, lineterminator="\n").writerows(records)
        return out.getvalue()


class TensorBoardLogger(Callback):
    """TensorBoard's event files in ``tensorboard/<trial>/`` of the folder, so that trials lie over each other in each chart.

    Costs about 0.1 ms for each epoch and trial.
    """

    def __init__(self) -> None:
        self.writer_class = _needed("torch.utils.tensorboard", "pip install 'planegraph[tensorboard]'").SummaryWriter
        self.writers: dict[str, Any] = {}

    def on_start(self, run: RunInfo) -> None:
        self.folder = run.folder / "tensorboard"
        self.on_epoch(run.records)

    def on_epoch(self, records: Sequence[LogRecord]) -> None:
        for r in records:
            writer = self._writer(_trial(r))
            for name in SCALARS:
                if r[name] is not None:
                    writer.add_scalar(name, r[name], r["epoch"])

    def close(self) -> None:
        for writer in self.writers.values():
            writer.close()
        self.writers.clear()

    def _writer(self, trial: str) -> Any:
        if trial not in self.writers:
            shutil.rmtree(self.folder / trial, ignore_errors=True)
            self.writers[trial] = self.writer_class(str(self.folder / trial))
        return self.writers[trial]


class ServiceLogger(Callback):
    """The base of loggers to a service: which epochs were sent, and how curves are named.

    With one trial a curve is named ``loss``, with several ``loss/seed0`` and so on. The result adds ``test`` and ``best_val``.
    """

    file = ""

    def open(self, run: RunInfo, known: str | None) -> str:
        """Starts a run of the service, or resumes the one with this id; gives its id."""
        raise NotImplementedError

    def send(self, values: Mapping[str, float], epoch: int) -> None:
        """Sends the curves' values after an epoch."""
        raise NotImplementedError

    def on_start(self, run: RunInfo) -> None:
        self.path, self.several, self.ended = run.folder / self.file, len(run.trials) > 1, False
        state = _read_state(self.path) if run.resumed else {}
        self.sent: dict[str, int] = dict(state.get("epochs", {}))
        self.id = self.open(run, state.get("id"))
        self._remember()
        for _, records in groupby(sorted(run.records, key=lambda r: r["epoch"]), lambda r: r["epoch"]):
            self.on_epoch(list(records))

    def on_epoch(self, records: Sequence[LogRecord]) -> None:
        new = [r for r in records if r["epoch"] > self.sent.get(_trial(r), 0)]
        if new:
            values = {self._name(r, name): r[name] for r in new for name in SCALARS if r[name] is not None}
            self.send(values, new[0]["epoch"])
            self.sent |= {_trial(r): r["epoch"] for r in new}
            self._remember()

    def on_end(self, result: Mapping[str, Any]) -> None:
        self.ended = True

    def _name(self, record: LogRecord, name: str) -> str:
        return f"{name}/{_trial(record)}" if self.several else name

    def _remember(self) -> None:
        replace_files({self.path: json_text({"id": self.id, "epochs": self.sent})})


class WandbLogger(ServiceLogger):
    """A run of Weights & Biases, with the settings as its config.

    Args:
        project: of W&B.
        options: more arguments of ``wandb.init``, such as ``mode="offline"``, ``entity`` or ``tags``.
    """

    file = "wandb.json"

    def __init__(self, project: str = "planegraph", **options: Any) -> None:
        self.wandb = _needed("wandb", "pip install wandb")
        self.options = {"project": project, **options}
        self.run: Any = None

    def open(self, run: RunInfo, known: str | None) -> str:
        given = {"dir": str(run.folder), "name": run.folder.name, "config": run.settings.to_dict(), **self.options}
        self.run = self.wandb.init(id=known, resume="allow", **given)
        self.run.define_metric("epoch")
        self.run.define_metric("*", step_metric="epoch")  # not W&B's own count of steps: trials may be trained one after another
        return self.run.id

    def send(self, values: Mapping[str, float], epoch: int) -> None:
        self.run.log({"epoch": epoch, **values})

    def on_end(self, result: Mapping[str, Any]) -> None:
        self.run.summary.update(_figures(result))
        super().on_end(result)

    def close(self) -> None:
        if self.run is not None:
            self.run.finish(exit_code=0 if self.ended else 1)


class MLflowLogger(ServiceLogger):
    """A run of MLflow, with the settings as its params; nested, if a run of yours is active.

    Args:
        experiment: of MLflow. tracking_uri: where to; by default as MLflow is configured (``MLFLOW_TRACKING_URI``).
    """

    file = "mlflow.json"

    def __init__(self, experiment: str = "planegraph", tracking_uri: str | None = None) -> None:
        self.mlflow = _needed("mlflow", "pip install mlflow")
        self.experiment, self.tracking_uri = experiment, tracking_uri
        self.run: Any = None

    def open(self, run: RunInfo, known: str | None) -> str:
        if self.tracking_uri is not None:
            self.mlflow.set_tracking_uri(self.tracking_uri)
        self.mlflow.set_experiment(self.experiment)
        nested = self.mlflow.active_run() is not None
        self.run = self.mlflow.start_run(run_id=known, run_name=None if known else run.folder.name, nested=nested)
        if known is None:  # params cannot change, and a resumed run may have more epochs
            self.mlflow.log_params(flat(run.settings.to_dict()))
        return self.run.info.run_id

    def send(self, values: Mapping[str, float], epoch: int) -> None:
        self.mlflow.log_metrics(dict(values), step=epoch)

    def on_end(self, result: Mapping[str, Any]) -> None:
        self.mlflow.log_metrics(_figures(result))
        super().on_end(result)

    def close(self) -> None:
        if self.run is not None:
            self.mlflow.end_run("FINISHED" if self.ended else "KILLED")


LOGGERS = {"csv": CSVLogger, "tensorboard": TensorBoardLogger, "wandb": WandbLogger, "mlflow": MLflowLogger}
"""By the names of ``planegraph train --log``."""


def _trial(record: LogRecord) -> str:
    return trial_name(record["seed"], record["fold"], record["target"])


def _figures(result: Mapping[str, Any]) -> dict[str, float]:
    """The mean test figure and that of validation, by target if each has a model."""
    named = {"": result} if "targets" not in result else {f"/{target}": of for target, of in result["targets"].items()}
    return {
        f"{name}{of}": found[part]["mean"] for of, found in named.items() for name, part in (("test", "test"), ("best_val", "val"))
    }


def _read_state(path: Path) -> dict[str, Any]:
    """What an earlier process wrote; empty if there was none."""
    if not path.exists():
        return {}
    with damage_named(path, advice=_NEW_RUN):
        found = read_json(path, _NEW_RUN)
        return {"id": str(found["id"]), "epochs": {str(trial): int(epoch) for trial, epoch in found["epochs"].items()}}


def _needed(module: str, install: str) -> Any:
    """The module, or an error that says how to get it."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingDependencyError(f"this logger needs {module.rpartition('.')[2]}, which is not installed: {install}") from None
