"""Every epoch of every trial once, wherever it is logged to, also after a resumed run."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from planegraph.cli import main
from planegraph.errors import FormatError, MissingDependencyError
from planegraph.runs.errors import Stopped
from planegraph.runs.log import read_log
from planegraph.train import CSVLogger, MLflowLogger, RunInfo, TensorBoardLogger, WandbLogger, train
from planegraph.train.signals import StopWish

from .tasks import regression, small


def interrupted_and_resumed(folder: Path, settings, make, monkeypatch) -> list[dict]:
    """A run that is stopped after its second epoch, and resumed with another logger; gives the log."""
    asked = iter([False] * 4 + [True] * 100)
    with monkeypatch.context() as patch:
        patch.setattr(StopWish, "asked", property(lambda self: next(asked), lambda self, value: None), raising=False)
        with pytest.raises(Stopped):
            train(regression(), settings, folder, callbacks=[make()], device="cpu")
    train(regression(), settings, folder, callbacks=[make()], resume=True, device="cpu")
    return [r for path in (folder / "log.jsonl", folder / "group1" / "log.jsonl") for r in read_log(path)]


# ---- a CSV file -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("together", [True, False])
def test_csv(tmp_path, together, monkeypatch):
    records = interrupted_and_resumed(tmp_path, small(seeds=2, eval_every=2, together=together), CSVLogger, monkeypatch)
    with open(tmp_path / "metrics.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(records) == 8
    key = {(r["seed"], r["epoch"]): r for r in records}
    for row in rows:
        record = key.pop((int(row["seed"]), int(row["epoch"])))
        assert float(row["loss"]) == record["loss"]
        assert row["val"] == ("" if record["val"] is None else str(record["val"]))
        assert row["target"] == row["fold"] == ""
    assert not key


# ---- TensorBoard ----------------------------------------------------------------------------------------------------------------


def scalars(folder: Path, tag: str) -> list[tuple[int, float]]:
    """All events as they lie in the files, without TensorBoard's own repairs."""
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

    found = []
    for path in sorted(folder.glob("events.*")):
        for event in EventFileLoader(str(path)).Load():
            found += [(event.step, v.tensor.float_val[0]) for v in event.summary.value if v.tag == tag]
    return found


def needs_tensorboard() -> None:
    pytest.importorskip("tensorboard", reason="tensorboard is not installed: pip install 'planegraph[tensorboard]'")


@pytest.mark.parametrize("together", [True, False])
def test_tensorboard(tmp_path, together, monkeypatch):
    needs_tensorboard()
    records = interrupted_and_resumed(tmp_path, small(seeds=2, eval_every=2, together=together), TensorBoardLogger, monkeypatch)
    assert len(records) == 8
    for seed in (0, 1):
        for tag in ("loss", "val", "val_loss", "rate"):
            wanted = [(r["epoch"], r[tag]) for r in records if r["seed"] == seed and r[tag] is not None]
            found = scalars(tmp_path / "tensorboard" / f"seed{seed}", tag)
            assert [step for step, _ in found] == ([2, 4] if tag.startswith("val") else [1, 2, 3, 4])
            assert [value for _, value in found] == pytest.approx([value for _, value in wanted], rel=1e-6)


def test_tensorboard_of_a_run_that_is_finished(tmp_path):
    needs_tensorboard()
    train(regression(), small(seeds=2, together=False), tmp_path, device="cpu")
    assert not (tmp_path / "tensorboard").exists()
    train(regression(), small(seeds=2, together=False), tmp_path, callbacks=[TensorBoardLogger()], resume=True, device="cpu")
    for seed in (0, 1):
        assert [step for step, _ in scalars(tmp_path / "tensorboard" / f"seed{seed}", "loss")] == [1, 2, 3, 4]


def test_event_files_of_an_earlier_run_are_replaced(tmp_path):
    needs_tensorboard()
    values = {"seed": 0, "fold": 3, "target": None, "loss": 0.5, "rate": 0.1, "val": None, "val_loss": None}
    for last in (5, 2):
        board = TensorBoardLogger()
        board.on_start(RunInfo(tmp_path, "counting", small(), ("seed0-fold3",), records=[{"epoch": 1} | values]))
        for epoch in range(2, last + 1):
            board.on_epoch([{"epoch": epoch} | values])
        board.close()
        assert [step for step, _ in scalars(tmp_path / "tensorboard" / "seed0-fold3", "loss")] == list(range(1, last + 1))


# ---- services -------------------------------------------------------------------------------------------------------------------


class FakeWandb:
    """``wandb`` as far as it is called; keeps what its server would. Calls that W&B does not know fail."""

    def __init__(self) -> None:
        self.runs: dict[str, SimpleNamespace] = {}

    def init(self, *, project, dir, name, config, id, resume, mode=None):
        assert resume == "allow"
        assert Path(dir).is_dir()
        run = self.runs.setdefault(id or f"run{len(self.runs)}", SimpleNamespace(rows=[], summary={}, starts=0))
        run.id = next(key for key, value in self.runs.items() if value is run)
        run.project, run.name, run.config, run.mode, run.exit_code = project, name, config, mode, None
        run.starts += 1
        run.define_metric = lambda name, step_metric=None: setattr(run, "step_metric", step_metric)
        run.log = lambda data: run.rows.append(data)
        run.finish = lambda exit_code: setattr(run, "exit_code", exit_code)
        return run


class FakeMLflow:
    """``mlflow`` as far as it is called."""

    def __init__(self) -> None:
        self.runs: dict[str, SimpleNamespace] = {}
        self.active, self.experiment, self.uri = None, None, None

    def set_tracking_uri(self, uri):
        self.uri = uri

    def set_experiment(self, name):
        self.experiment = name

    def active_run(self):
        return self.active

    def start_run(self, run_id=None, run_name=None, nested=False):
        assert self.active is None or nested
        run_id = run_id or f"run{len(self.runs)}"
        new = SimpleNamespace(info=SimpleNamespace(run_id=run_id), metrics=[], params={}, status="RUNNING", name=run_name)
        self.active = self.runs.setdefault(run_id, new)
        return self.active

    def log_params(self, params):
        assert not self.active.params, "params cannot change"
        self.active.params = params

    def log_metrics(self, metrics, step=None):
        self.active.metrics += [(name, step, value) for name, value in metrics.items()]

    def end_run(self, status):
        self.active.status, self.active = status, None


@pytest.mark.parametrize("together", [True, False])
def test_wandb(tmp_path, together, monkeypatch):
    fake = FakeWandb()
    monkeypatch.setitem(sys.modules, "wandb", fake)
    settings = small(seeds=2, eval_every=2, together=together)
    records = interrupted_and_resumed(tmp_path, settings, lambda: WandbLogger("rings", mode="offline"), monkeypatch)
    (run,) = fake.runs.values()
    assert (run.project, run.name, run.mode, run.starts, run.exit_code) == ("rings", tmp_path.name, "offline", 2, 0)
    assert run.step_metric == "epoch"
    assert run.config["train"]["epochs"] == 4
    found = [(name, row["epoch"], value) for row in run.rows for name, value in row.items() if name != "epoch"]
    wanted = [
        (f"{name}/seed{r['seed']}", r["epoch"], r[name])
        for r in records
        for name in ("loss", "val", "val_loss", "rate")
        if r[name] is not None
    ]
    assert sorted(found) == sorted(wanted)
    result = json.loads((tmp_path / "result.json").read_text())
    assert run.summary == {"test": result["test"]["mean"], "best_val": result["val"]["mean"]}


def test_mlflow(tmp_path, monkeypatch):
    fake = FakeMLflow()
    monkeypatch.setitem(sys.modules, "mlflow", fake)
    records = interrupted_and_resumed(tmp_path, small(), lambda: MLflowLogger("rings", "file:///tmp/nowhere"), monkeypatch)
    (run,) = fake.runs.values()
    assert (fake.experiment, fake.uri, run.status, run.name) == ("rings", "file:///tmp/nowhere", "FINISHED", tmp_path.name)
    assert run.params["train.epochs"] == 4
    wanted = [(name, r["epoch"], r[name]) for r in records for name in ("loss", "val", "val_loss", "rate")]
    result = json.loads((tmp_path / "result.json").read_text())
    assert run.metrics == [*wanted, ("test", None, result["test"]["mean"]), ("best_val", None, result["val"]["mean"])]


def test_a_run_of_the_users_own_stays_active(tmp_path, monkeypatch):
    fake = FakeMLflow()
    monkeypatch.setitem(sys.modules, "mlflow", fake)
    fake.start_run(run_name="sweep")
    train(regression(), small(), tmp_path / "run", callbacks=[MLflowLogger()], device="cpu")
    assert len(fake.runs) == 2


def test_epochs_from_before_a_logger_was_asked_for_are_sent(tmp_path, monkeypatch):
    fake = FakeWandb()
    monkeypatch.setitem(sys.modules, "wandb", fake)
    train(regression(), small(), tmp_path, device="cpu")
    for _ in range(2):  # the second time there is nothing new
        train(regression(), small(), tmp_path, callbacks=[WandbLogger()], resume=True, device="cpu")
        assert [row["epoch"] for row in fake.runs["run0"].rows] == [1, 2, 3, 4]


def test_epochs_that_are_trained_again_are_not_sent_again(tmp_path, monkeypatch):
    """A process that is killed has told epochs that its checkpoint does not have."""
    fake = FakeWandb()
    monkeypatch.setitem(sys.modules, "wandb", fake)
    values = {"seed": 0, "fold": None, "target": None, "loss": 0.5, "rate": 0.1, "val": 0.5, "val_loss": 0.5}
    for resumed, told in ((False, (1, 2, 3)), (True, (2, 3, 4))):
        logger = WandbLogger()
        logger.on_start(RunInfo(tmp_path, "counting", small(), ("seed0",), resumed, [values | {"epoch": 1}] if resumed else []))
        for epoch in told:
            logger.on_epoch([values | {"epoch": epoch}])
        logger.close()
        assert fake.runs["run0"].exit_code == 1  # not ended
    assert [row["epoch"] for row in fake.runs["run0"].rows] == [1, 2, 3, 4]
    logger = WandbLogger()
    logger.on_start(RunInfo(tmp_path, "counting", small(), ("seed0",)))  # another run in the same folder
    assert sorted(fake.runs) == ["run0", "run1"]
    (tmp_path / "wandb.json").write_text("{}")
    with pytest.raises(FormatError, match=r"wandb\.json is damaged: .* Remove it, and all epochs are sent to a new run"):
        WandbLogger().on_start(RunInfo(tmp_path, "counting", small(), ("seed0",), resumed=True))


# ---- what is not installed ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "module", "install"),
    [
        ("tensorboard", "torch.utils.tensorboard", "pip install 'planegraph[tensorboard]'"),
        ("wandb", "wandb", "pip install wandb"),
        ("mlflow", "mlflow", "pip install mlflow"),
    ],
)
def test_not_installed(tmp_path, monkeypatch, capsys, name, module, install):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependencyError) as caught:
        {"tensorboard": TensorBoardLogger, "wandb": WandbLogger, "mlflow": MLflowLogger}[name]()
    assert str(caught.value) == f"this logger needs {name}, which is not installed: {install}"
    assert main(["train", "p3r", "--log", name, "--out", str(tmp_path / "run"), "--device", "cpu", "-q"]) == 2
    assert install in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_logger_that_there_is_not(capsys):
    assert main(["train", "p3r", "--log", "paper"]) == 2
    assert "invalid choice: 'paper'" in capsys.readouterr().err
