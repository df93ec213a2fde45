"""One process at a time in the folder of a run."""

from __future__ import annotations

import errno
import json
import os
import re
import time

import pytest

from planegraph.errors import PlanegraphWarning
from planegraph.runs import lock as lock_module
from planegraph.runs.checkpoint import CHECKPOINT
from planegraph.runs.errors import FolderError
from planegraph.runs.lock import LOCK, FolderLock
from planegraph.tasks.molecules.task import MoleculeOptions, read_molecule_task
from planegraph.train import Callback, molecules, sweep, train
from planegraph.train.molecules import molecule_settings, train_molecules

from .tasks import regression, small
from .test_resume import assert_same, contents, start, wait_for_epoch, whole  # noqa: F401 - a fixture
from .test_targets import settings_for, several


@pytest.fixture
def holder(tmp_path):
    """Another process that holds ``tmp_path / "run"``."""
    process, until = start(tmp_path / "run", "hold"), time.monotonic() + 60
    while not process.said():
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.02)
    assert process.said() == "None\n"
    yield process
    process.kill()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_leaves_the_text_of_its_parent(tmp_path):
    """A child that unwound the block emptied it, and others were told of "another process"."""
    with FolderLock(tmp_path) as lock:
        assert lock.take(tmp_path) is None
        child = os.fork()
        if child == 0:
            try:
                lock.__exit__()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        assert json.loads((tmp_path / LOCK).read_text())["pid"] == os.getpid()
        assert f"process {os.getpid()} on" in FolderLock(tmp_path).take(tmp_path)


def test_a_lock_is_held_to_the_end_of_the_outermost_block(tmp_path):
    """Training in a locked folder leaves it locked, for what the lock's holder writes afterwards."""
    with FolderLock(tmp_path) as lock:
        train(regression(), small(epochs=1), lock, device="cpu", report=False)
        assert "is in use by" in FolderLock(tmp_path).take(tmp_path)
    with FolderLock(tmp_path) as other:
        assert other.take(tmp_path) is None


@pytest.mark.parametrize("resume", [False, True])
def test_a_folder_in_use_is_refused_and_left_as_it_is(tmp_path, holder, resume):
    before = contents(tmp_path)
    told = rf"run is in use by process {holder.pid} on .+ since \d{{4}}-.+ \(.+\)\. Wait until that ends, or choose another folder"
    with pytest.raises(FolderError, match=told):
        train(regression(), small(), tmp_path / "run", resume=resume, device="cpu")
    assert contents(tmp_path) == before


def test_the_lock_of_a_dead_process_is_taken_over(tmp_path, holder):
    holder.kill()
    assert json.loads((tmp_path / "run" / LOCK).read_text())["pid"] == holder.pid  # its text is there still
    train(regression(), small(), tmp_path / "run", device="cpu")
    assert not (tmp_path / "run" / LOCK).read_text()


def test_two_processes_that_start_together(tmp_path, whole):  # noqa: F811
    """One of them trains, as if it were alone; the other is refused, whether it comes at once or later."""
    folder = tmp_path / "run"
    both = [start(folder, "resume") for _ in range(2)]
    errors = {process.wait(120): process.communicate(0)[1] for process in both}
    assert sorted(errors) == [0, 1]
    assert re.search(r"FolderError: .* is in use by process \d+", errors[1])
    assert_same(folder, whole)


def test_a_killed_run_is_resumed(tmp_path, whole):  # noqa: F811
    process = start(tmp_path, "slow")
    wait_for_epoch(process, tmp_path, 3)
    with pytest.raises(FolderError, match=f"in use by process {process.pid}"):
        train(regression(), small(), tmp_path, resume=True, device="cpu")
    process.kill()
    assert start(tmp_path, "resume").wait(120) == 0
    assert_same(tmp_path, whole)


def test_the_folder_is_free_after_an_error(tmp_path):
    train(regression(), small(), tmp_path, device="cpu")
    for _ in range(2):
        with pytest.raises(FolderError, match="already holds a run"):
            train(regression(), small(), tmp_path, device="cpu")


def test_the_folder_of_a_target_is_held_with_the_others(tmp_path):
    """Also before there is a checkpoint, by which its run is known as a part of another."""

    class Intruder(Callback):
        def on_start(self, run):
            with pytest.raises(FolderError, match=f"small is in use by process {os.getpid()}"):
                train(regression(), small(), run.folder / "small", resume=True, device="cpu")

    train(several(), settings_for(None), tmp_path, device="cpu", callbacks=[Intruder()])


def test_a_table_of_molecules_is_held_to_its_last_file(tmp_path, monkeypatch):
    """The baselines are trained, and their figures written, when the models are ready."""
    table, tried = tmp_path / "table.csv", []
    table.write_text("smiles,y\n" + "".join(f"{'C' * n}O,{n}\n" for n in range(1, 31)))

    def intrude(*_):
        with FolderLock(tmp_path / "run") as other:
            tried.append(other.take(tmp_path / "run"))
        return {"skipped": "a test"}

    monkeypatch.setattr(molecules, "baseline_figures", intrude)
    found = read_molecule_task(str(table), MoleculeOptions(descriptors=False))
    settings = molecule_settings(found, {}, 1, ["train.epochs=1", "model.hidden=4", "model.layers=1"])
    train_molecules(found, settings, tmp_path / "run", device="cpu")
    assert len(tried) == 1
    assert "is in use by process" in tried[0]


def test_a_sweep_holds_its_folder(tmp_path, holder):
    before = contents(tmp_path)
    with pytest.raises(FolderError, match=f"run is in use by process {holder.pid}"):
        sweep(lambda *_: None, small().with_overrides, ["train.lr=1e-3,2e-3"], tmp_path / "run")
    assert contents(tmp_path) == before


def test_a_file_system_without_locks(tmp_path, monkeypatch):
    def refuse(file):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(lock_module, "_lock", refuse)
    with pytest.warns(PlanegraphWarning, match="cannot be locked .No locks available."):
        train(regression(), small(), tmp_path, device="cpu")
    assert (tmp_path / CHECKPOINT).exists()
