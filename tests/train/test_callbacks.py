"""Callbacks are told all of a run, and cannot spoil it."""

from __future__ import annotations

import errno

import pytest

from planegraph.errors import PlanegraphError, PlanegraphWarning
from planegraph.io.checksums import read_json
from planegraph.runs.errors import Stopped
from planegraph.runs.lock import LOCK
from planegraph.runs.log import read_log
from planegraph.train import Callback, RunInfo, train

from .tasks import regression, small, stopped_at


class Told(Callback):
    """Remembers its calls; raises where it is told to."""

    def __init__(self, fails: str = "") -> None:
        self.calls: list[tuple[str, object]] = []
        self.fails = fails

    def _note(self, name: str, value: object = None) -> None:
        self.calls.append((name, value))
        if name == self.fails:
            raise RuntimeError("broken pipe")

    def on_start(self, run: RunInfo) -> None:
        self._note("on_start", run)

    def on_epoch(self, records) -> None:
        self._note("on_epoch", list(records))

    def on_end(self, result) -> None:
        self._note("on_end", result)

    def close(self) -> None:
        self._note("close")

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.calls]


def test_all_of_a_run(tmp_path):
    told = Told()
    result = train(regression(), small(seeds=2, epochs=3), tmp_path, callbacks=[told], device="cpu")
    assert told.names == ["on_start", *["on_epoch"] * 3, "on_end", "close"]
    run = told.calls[0][1]
    assert (run.folder, run.task, run.trials, run.resumed, list(run.records)) == (
        tmp_path,
        "counting",
        ("seed0", "seed1"),
        False,
        [],
    )
    assert run.settings.train.batch_size == 10
    records = [r for name, value in told.calls if name == "on_epoch" for r in value]
    assert [{k: v for k, v in r.items() if k != "target"} for r in records] == read_log(tmp_path / "log.jsonl")
    assert told.calls[-2][1] == result == read_json(tmp_path / "result.json")


def test_groups_targets_and_resumed_runs(tmp_path):
    """Trials one after another are one run; a resumed one begins with the records of the checkpoint."""
    task, settings = regression(targets=2), small(together=False, epochs=3)
    task = type(task)(task.name, task.dataset, task.splits, node_features=task.node_features, targets=("a", "b"))
    first, second = Told(), Told()

    def run(told, **options):
        return train(task, settings, tmp_path, callbacks=[told], device="cpu", **options)

    with pytest.raises(Stopped):
        stopped_at(5, lambda: run(first), group=1)
    assert first.names == ["on_start", *["on_epoch"] * 4, "close"]  # three of a; the second of b was not finished
    result = run(second, resume=True)
    records = second.calls[0][1].records
    assert [(r["target"], r["epoch"]) for r in records] == [("a", 1), ("a", 2), ("a", 3), ("b", 1)]
    assert [(r["target"], r["epoch"]) for _, (r,) in second.calls[1:3]] == [("b", 2), ("b", 3)]
    assert second.calls[3] == ("on_end", result)
    assert (tmp_path / "a" / "report.html").exists()
    third = Told()
    run(third, resume=True)  # it is finished
    assert third.names == ["on_start", "on_end", "close"]
    assert len(third.calls[0][1].records) == 6


@pytest.mark.parametrize("where", ["on_epoch", "on_end", "close"])
def test_one_that_raises_is_left_out(tmp_path, where):
    alone = train(regression(), small(), tmp_path / "alone", device="cpu")
    broken, sound = Told(where), Told()
    with pytest.warns(PlanegraphWarning, match=rf"callback Told failed in {where} \(RuntimeError: broken pipe\) and is left out"):
        result = train(regression(), small(), tmp_path / "run", callbacks=[broken, sound], device="cpu")
    assert {k: v for k, v in result.items() if k != "seconds"} == {k: v for k, v in alone.items() if k != "seconds"}
    assert sound.names == ["on_start", *["on_epoch"] * 4, "on_end", "close"]
    assert broken.names == {"on_epoch": ["on_start", "on_epoch", "close"]}.get(where, sound.names)


def test_one_that_cannot_start_ends_the_run_before_it_begins(tmp_path):
    first, broken = Told(), Told("on_start")
    with pytest.raises(
        PlanegraphError, match=r"callback Told failed in on_start \(RuntimeError: broken pipe\); nothing was trained"
    ):
        train(regression(), small(), tmp_path / "run", callbacks=[first, broken], device="cpu")
    assert first.names == broken.names == ["on_start", "close"]
    assert [path.name for path in (tmp_path / "run").iterdir()] == [LOCK]
    train(regression(), small(), tmp_path / "run", device="cpu")  # the folder is free


def test_a_full_disk_at_the_start_is_none_of_the_callbacks(tmp_path):
    """The command then ends with exit code 3, as for all files; it was 2, for wrong usage."""

    class Writes(Callback):
        def on_start(self, run: RunInfo) -> None:
            raise OSError(errno.ENOSPC, "No space left on device", "some.csv")

    with pytest.raises(OSError, match=r"No space left on device: 'some\.csv'") as found:
        train(regression(), small(), tmp_path, callbacks=[Writes()], device="cpu")
    assert found.value.errno == errno.ENOSPC


def test_the_report_is_part_of_a_run(tmp_path):
    for report in (True, False):
        train(regression(), small(epochs=1), tmp_path / str(report), report=report, device="cpu")
        assert (tmp_path / str(report) / "report.html").exists() == report
